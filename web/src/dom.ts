// Elements by hand. What comes from a scene becomes text, never markup.

type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | ((e: Event) => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') out.addEventListener(key.replace(/^on/, ''), value);
    else if (value === true) out.setAttribute(key, '');
    else if (value !== false) out.setAttribute(key, String(value));
  }
  for (const child of children) if (child) out.append(child);
  return out;
}

/** A number as people read it: six digits, no more than needed. */
export function number(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'not a number' : x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text = size >= 1e-4 && size < 1e6 ? String(Number(x.toPrecision(6))) : x.toExponential(3).replace('e+', 'e');
  return text.replace(/^-/, '−');
}

export function vector(list: ArrayLike<number>): string {
  return `(${Array.from(list, number).join(', ')})`;
}

/** Rows of a table; the first cell of each is its head. */
export function table(head: string[], rows: (string | Node)[][], caption: string): HTMLTableElement {
  const cell = (content: string | Node) => el('td', {}, content);
  return el('table', {},
    el('caption', { class: 'hidden' }, caption),
    el('thead', {}, el('tr', {}, ...head.map((text) => el('th', { scope: 'col' }, text)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map(cell)))),
  );
}

/** A heading, a list of names and what they are. */
export function facts(list: [string, string | Node][]): HTMLElement {
  const out = el('dl', {});
  for (const [name, value] of list) out.append(el('dt', {}, name), el('dd', {}, value));
  return out;
}

/** Tabs over panels, for mouse, keyboard and screen readers. */
export function tabs(parts: { name: string; body: HTMLElement }[], label: string, onSelect: (name: string) => void = () => {}): HTMLElement {
  const bar = el('div', { role: 'tablist', 'aria-label': label, class: 'tabs' });
  const out = el('div', { class: 'tabbed' }, bar);
  const buttons: HTMLButtonElement[] = [];
  const select = (index: number, focus: boolean) => {
    parts.forEach((part, i) => {
      part.body.hidden = i !== index;
      buttons[i].setAttribute('aria-selected', String(i === index));
      buttons[i].tabIndex = i === index ? 0 : -1;
    });
    if (focus) buttons[index].focus();
    onSelect(parts[index].name);
  };
  parts.forEach((part, i) => {
    const id = `tab-${label}-${i}`.replace(/\W+/g, '-');
    const button = el('button', { role: 'tab', type: 'button', id, 'aria-controls': `${id}-body`, onclick: () => select(i, false) }, part.name);
    button.addEventListener('keydown', (e) => {
      const to = e.key === 'ArrowRight' ? i + 1 : e.key === 'ArrowLeft' ? i - 1 : -1;
      if (to < 0 && e.key !== 'ArrowLeft') return;
      e.preventDefault();
      e.stopPropagation();
      select((to + parts.length) % parts.length, true);
    });
    part.body.id = `${id}-body`;
    part.body.setAttribute('role', 'tabpanel');
    part.body.setAttribute('aria-labelledby', id);
    buttons.push(button);
    bar.append(button);
    out.append(part.body);
  });
  if (parts.length) select(0, false);
  return out;
}

/** Offers a file to be saved. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
