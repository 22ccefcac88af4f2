// Light and dark: what the system wants, until somebody chooses.
import { el } from './dom';

/** The button between them; `apply` is told at once, and with every change. */
export function themeButton(apply: (dark: boolean) => void): HTMLElement {
  const stored = () => {
    try {
      return localStorage.getItem('delassus-theme');
    } catch {
      return null;
    }
  };
  let dark = stored() ? stored() === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const button = el('button', { type: 'button', class: 'theme' });
  const change = () => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    button.textContent = dark ? 'Light' : 'Dark';
    button.setAttribute('aria-label', dark ? 'Light colours' : 'Dark colours');
    apply(dark);
  };
  button.addEventListener('click', () => {
    dark = !dark;
    try {
      localStorage.setItem('delassus-theme', dark ? 'dark' : 'light');
    } catch {
      // Not remembered where nothing may be stored.
    }
    change();
  });
  change();
  return button;
}
