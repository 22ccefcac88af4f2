// The tree of all motions: each with its beginning and its end; a click shows it.
import { el, number } from './dom';

export interface TreeNode { label: string; end: string; from: number; to: number; motion: number | null; children: TreeNode[] }

export interface TreeDocument { root: TreeNode; words: string; notes: string[] }

export class TreeView {
  readonly root: HTMLElement;
  private readonly buttons: [HTMLElement, number][] = [];

  constructor(tree: TreeDocument, private readonly choose: (motion: number) => void) {
    this.root = el('section', { class: 'card tree', 'aria-label': 'All motions' },
      el('h2', {}, tree.words), ...tree.notes.map((note) => el('p', { class: 'note' }, note)), el('ul', {}, this.node(tree.root, tree.root)));
  }

  private node(node: TreeNode, top: TreeNode): HTMLElement {
    const out = el('li', {});
    const words = el('span', {}, el('strong', {}, node.label), el('span', { class: 'muted' }, ` · ${node.end}`));
    if (node.motion === null) out.append(words);
    else {
      const index = node.motion;
      const button = el('button', { type: 'button', onclick: () => this.select(index) }, words);
      this.buttons.push([button, index]);
      out.append(button);
    }
    const end = Math.max(...reach(top));
    const bar = el('span', { class: 'bar', title: `${number(node.from)} to ${number(node.to)} s`, 'aria-hidden': 'true' });
    bar.style.marginLeft = `${(100 * node.from) / Math.max(end, 1e-12)}%`;
    bar.style.width = `${(100 * (node.to - node.from)) / Math.max(end, 1e-12)}%`;
    out.append(el('div', { class: 'track' }, bar));
    if (node.children.length) out.append(el('ul', {}, ...node.children.map((child) => this.node(child, top))));
    return out;
  }

  select(index: number): void {
    this.mark(index);
    this.choose(index);
  }

  /** Shows which motion is looked at. */
  mark(index: number): void {
    for (const [button, motion] of this.buttons) button.setAttribute('aria-pressed', String(motion === index));
  }

  setTheme(): void {}

  start(): void {
    const first = this.buttons[0];
    if (first) this.select(first[1]);
  }
}

function reach(node: TreeNode): number[] {
  return [node.to, ...node.children.flatMap(reach)];
}
