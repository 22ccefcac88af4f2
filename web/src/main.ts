// The page: a head, and what the document in it has.
import './style.css';
import { AnalysisView, type Analysis } from './analysis';
import { load, type Page } from './data';
import { el } from './dom';
import { MapView, type MapDocument } from './map_view';
import { MotionView } from './motion_view';
import { PavingView, type PavingDocument } from './paving_view';
import { TreeView, type TreeDocument } from './tree_view';

const app = document.getElementById('app') ?? document.body;

/** What every part of a page can do. */
export interface Part { root: HTMLElement; setTheme(dark: boolean): void; start(): void }

function themeButton(parts: Part[]): HTMLElement {
  const stored = () => {
    try {
      return localStorage.getItem('delassus-theme');
    } catch {
      return null;
    }
  };
  let dark = stored() ? stored() === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const button = el('button', { type: 'button', class: 'theme' });
  const apply = () => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    button.textContent = dark ? 'Light' : 'Dark';
    button.setAttribute('aria-label', dark ? 'Light colours' : 'Dark colours');
    parts.forEach((part) => part.setTheme(dark));
  };
  button.addEventListener('click', () => {
    dark = !dark;
    try {
      localStorage.setItem('delassus-theme', dark ? 'dark' : 'light');
    } catch {
      // Not remembered where nothing may be stored.
    }
    apply();
  });
  apply();
  return button;
}

function parts(page: Page): Part[] {
  const out: Part[] = [];
  const motion = page.motions.length ? new MotionView(page.title, page.motions) : null;
  if (page.tree) out.push(new TreeView(page.tree as TreeDocument, (index) => motion?.setMain(index)));
  if (page.analysis) out.push(new AnalysisView(page.analysis as Analysis));
  if (page.map) out.push(new MapView(page.map as MapDocument, page.blob));
  if (page.paving) out.push(new PavingView(page.paving as PavingDocument, page.blob));
  if (motion) out.push(motion);
  return out;
}

function show(page: Page): void {
  document.title = page.title;
  const all = parts(page);
  const head = el('header', {}, el('h1', {}, page.title), el('span', { class: 'brand' }, 'Delassus'), themeButton(all));
  app.replaceChildren(head, ...all.map((part) => part.root));
  if (all.length === 0) app.append(el('p', { class: 'message', role: 'alert' }, 'There is nothing in this file yet: the run that writes it has just begun.'));
  all.forEach((part) => part.start());
  if (page.motions.length === 0) document.documentElement.dataset.ready ??= 'yes';
}

function fail(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  app.replaceChildren(el('p', { class: 'message bad', role: 'alert' }, `This page cannot be shown: ${text}`));
  document.documentElement.dataset.ready = 'failed';
}

/** A page that `delassus view` serves is shown anew where its file changed. */
function follow(page: Page): void {
  const goes = page.motions.length === 0 || page.motions.some((motion) => motion.running);
  if (!location.protocol.startsWith('http') || !goes) return;
  let seen = '';
  const look = async () => {
    try {
      const stamp = await (await fetch('stamp', { cache: 'no-store' })).text();
      if (seen && stamp !== seen && stamp !== 'gone') {
        location.reload();
        return;
      }
      seen = stamp;
    } catch {
      // The server is gone: what is shown stays.
      return;
    }
    setTimeout(look, 1000);
  };
  look();
}

load(document).then((page) => {
  show(page);
  follow(page);
}).catch(fail);
