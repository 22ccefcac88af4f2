// What maps and pavings share: colours of verdicts, the frame around cells, the state of one of them.
import type { Analysis } from './analysis';
import type { Theme } from './colours';
import { el, facts, number } from './dom';

export const MEANINGS: Record<string, string> = {
  'one solution': '#9ecae1', 'no solution': '#cb181d', 'several solutions': '#fdae61', 'infinitely many solutions': '#9e9ac8',
  proved: '#9ecae1', refuted: '#cb181d', unknown: '#fdae61', holds: '#9ecae1', fails: '#cb181d',
};

/** Space around the cells, for names and numbers. */
export const LEFT = 62;
export const RIGHT = 12;
export const TOP = 10;
export const BOTTOM = 40;

export const EMPTY: Analysis = {
  name: '', existence: 'unknown', acceleration_unique: 'unknown', forces_unique: 'unknown', reasons: [],
  solutions: { kind: 'unknown', list: [] }, contacts: [],
};

/** An axis as it is drawn: its name, and numbers at parts of its length. */
export interface Drawn { label: string; marks: { at: number; text: string }[] }

/** Makes the canvas as large as it is shown; what draws on it, in CSS pixels, or null where there is no room. */
export function prepared(canvas: HTMLCanvasElement, strip: boolean): { c: CanvasRenderingContext2D; width: number; height: number; ratio: number } | null {
  const width = canvas.clientWidth;
  const height = strip ? 150 : Math.min(0.72 * width, 460);
  if (width < 40) return null;
  canvas.style.height = `${height}px`;
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const c = canvas.getContext('2d');
  c?.scale(ratio, ratio);
  return c && { c, width, height, ratio };
}

/** The frame with the names and numbers of its axes. */
export function drawFrame(c: CanvasRenderingContext2D, theme: Theme, width: number, height: number, x: Drawn, y: Drawn | null): void {
  const [w, h] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
  c.strokeStyle = theme.muted;
  c.lineWidth = 1;
  c.strokeRect(LEFT, TOP, w, h);
  c.fillStyle = theme.muted;
  c.font = '12px system-ui, sans-serif';
  c.textAlign = 'center';
  for (const { at, text } of x.marks) c.fillText(text, LEFT + at * w, height - BOTTOM + 15);
  c.fillText(x.label, LEFT + 0.5 * w, height - 6);
  if (!y) return;
  c.textAlign = 'right';
  for (const { at, text } of y.marks) c.fillText(text, LEFT - 6, height - BOTTOM - at * h + 4);
  c.save();
  c.translate(13, TOP + 0.5 * h);
  c.rotate(-Math.PI / 2);
  c.textAlign = 'center';
  c.fillText(y.label, 0, 0);
  c.restore();
}

/** Coordinates and velocities of a state. */
export function stateThere(found: Analysis): HTMLElement[] {
  if (!found.state) return [];
  const { position, velocity } = found.state;
  const list = Object.keys(position).slice(0, 40).map((name): [string, string] => [name, `${number(position[name])}, velocity ${number(velocity[name] ?? 0)}`]);
  return [el('h2', {}, 'The state there'), facts(list)];
}

/** A swatch with a word. */
export function entry(colour: string, word: string): HTMLElement {
  const swatch = el('span', { class: 'dot', 'aria-hidden': 'true' });
  swatch.style.background = colour;
  if (colour === 'transparent') swatch.style.boxShadow = 'inset 0 0 0 1px';
  return el('span', { class: 'entry' }, swatch, word);
}
