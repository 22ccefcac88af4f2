// A map over one or two parameters: a click on a cell shows the state there and its verdict.
import { AnalysisView, type Analysis } from './analysis';
import { BOTTOM, drawFrame, EMPTY, entry, LEFT, MEANINGS, prepared, RIGHT, stateThere, TOP } from './axes';
import { DARK, LIGHT, type Theme } from './colours';
import { unpack, type ArrayRef } from './data';
import { el, number } from './dom';
import { pngButton } from './export';

interface Axis { name: string; label: string; values: number[]; shown: number[] }

export interface MapDocument {
  show: string;
  label: string;
  x: Axis;
  y: Axis | null;
  /** Row by row from the least y: a number, a word, or null. */
  cells: (number | string | null)[];
  /** Analyses as JSON, one after the other, and where they end. */
  states: ArrayRef;
  ends: ArrayRef;
  /** Analyses of every so many columns and rows are in the file. */
  stride: number;
  /** What `safe` found along x. */
  safe?: { words: string[]; certified: boolean; interval: [number, number] | null; present: number };
}

const OTHERS = ['#41ab5d', '#807dba', '#fed976', '#6baed6', '#fb6a4a', '#bdbdbd'];
/** From dark blue over green to yellow, the same steps everywhere in lightness. */
function ramp(part: number): string {
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(at), stops.length - 2);
  const mix = stops[k].map((a, i) => Math.round(a + (at - k) * (stops[k + 1][i] - a)));
  return `rgb(${mix.join(',')})`;
}

export class MapView {
  readonly root: HTMLElement;
  private readonly canvas = el('canvas', { tabindex: '0', role: 'img' });
  private readonly state = el('p', { class: 'state', role: 'status' });
  private readonly here = el('div', { class: 'card map-state' });
  private readonly texts: Uint8Array;
  private readonly ends: Uint32Array;
  private readonly analysis: AnalysisView;
  private readonly colours = new Map<string, string>();
  private theme: Theme = LIGHT;
  private column = 0;
  private row = 0;
  private started = false;
  private low = Infinity;
  private high = -Infinity;

  constructor(private readonly map: MapDocument, blob: Uint8Array) {
    this.texts = unpack(blob, map.states) as Uint8Array;
    this.ends = unpack(blob, map.ends) as Uint32Array;
    const words = [...new Set(map.cells.filter((c): c is string => typeof c === 'string'))].sort();
    let others = 0;
    for (const word of words) this.colours.set(word, MEANINGS[word] ?? OTHERS[others++ % OTHERS.length]);
    for (const x of map.cells) {
      if (typeof x !== 'number') continue;
      this.low = Math.min(this.low, x);
      this.high = Math.max(this.high, x);
    }
    this.canvas.setAttribute('aria-label', `Map of ${map.label} over ${map.x.name}${map.y ? ` and ${map.y.name}` : ''}; arrow keys go from cell to cell`);
    [this.column, this.row] = [Math.floor(this.columns / 2), Math.floor(this.rows / 2)];
    this.analysis = new AnalysisView(this.read() ?? EMPTY);
    const safe = map.safe ? el('div', {}, el('p', { class: `headline ${map.safe.certified ? 'good' : 'caution'}` }, map.safe.words[0]),
      ...map.safe.words.slice(1).map((line) => el('p', { class: 'muted' }, line))) : null;
    this.root = el('main', { class: 'map' },
      el('div', { class: 'map-left' }, el('div', { class: 'card map-card' }, safe, this.canvas, this.legend(), this.state,
        el('p', { class: 'muted' }, 'A click on a cell, or the arrow keys, show what holds there.'), pngButton(() => [{ canvas: this.canvas }], () => this.theme)),
      this.here), this.analysis.root);
    this.canvas.addEventListener('pointerdown', (e) => this.pick(e));
    this.canvas.addEventListener('keydown', (e) => {
      const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const move = moves[e.key];
      if (!move) return;
      e.preventDefault();
      this.choose(this.column + move[0], this.row + move[1]);
    });
  }

  private get columns(): number {
    return this.map.x.values.length;
  }

  private get rows(): number {
    return this.map.y?.values.length ?? 1;
  }

  private legend(): HTMLElement {
    const out = el('div', { class: 'legend' });
    for (const [word, colour] of this.colours) out.append(entry(colour, word));
    if (this.high >= this.low) {
      const bar = el('span', { class: 'ramp', 'aria-hidden': 'true' });
      bar.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(ramp).join(',')})`;
      out.append(el('span', { class: 'entry' }, `${this.map.label}: ${number(this.low)} `, bar, ` ${number(this.high)}`));
    }
    return out;
  }

  /** The analysis of the cell that is chosen. */
  private read(): Analysis | null {
    const k = this.row * this.columns + this.column;
    const [from, to] = [k ? this.ends[k - 1] : 0, this.ends[k]];
    if (!(to > from)) return null;
    return JSON.parse(new TextDecoder().decode(this.texts.subarray(from, to))) as Analysis;
  }

  private pick(e: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const x = (e.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    const y = 1 - (e.clientY - box.top - TOP) / (box.height - TOP - BOTTOM);
    this.choose(Math.floor(x * this.columns), Math.floor(y * this.rows));
  }

  private choose(column: number, row: number): void {
    this.column = Math.min(Math.max(column, 0), this.columns - 1);
    this.row = Math.min(Math.max(row, 0), this.rows - 1);
    const found = this.read();
    this.analysis.root.hidden = !found;
    if (found) this.analysis.update(found);
    this.here.replaceChildren(...this.stateThere(found));
    this.say();
    this.draw();
    try {
      if (location.hash !== `#cell=${this.column},${this.row}` && this.started) history.replaceState(null, '', `#cell=${this.column},${this.row}`);
    } catch {
      // Some places do not let a page change its address.
    }
  }

  /** Coordinates and velocities of the cell that is chosen. */
  private stateThere(found: Analysis | null): HTMLElement[] {
    const { stride } = this.map;
    if (!found && (this.column % stride || this.row % stride)) {
      return [el('p', {}, `Analyses of every ${stride}th column and row are in this file; this cell has none. A map of fewer cells has all.`)];
    }
    if (!found) return [el('p', {}, 'There is no such state.')];
    return stateThere(found);
  }

  private say(): void {
    const { x, y, cells, label } = this.map;
    const value = cells[this.row * this.columns + this.column];
    const place = (axis: Axis, k: number) => `${axis.name} = ${number(axis.shown[k])}${axis.label.slice(axis.name.length).replace(/^,/, '')}`;
    const at = [place(x, this.column)];
    if (y) at.push(place(y, this.row));
    const what = value === null ? 'no value' : typeof value === 'number' ? number(value) : value;
    this.state.textContent = `At ${at.join(', ')}: ${typeof value === 'number' ? `${label} = ` : ''}${what}`;
  }

  start(): void {
    addEventListener('resize', () => this.draw());
    addEventListener('hashchange', () => this.restore());
    this.choose(this.column, this.row);
    this.restore();
    this.started = true;
    document.documentElement.dataset.ready = 'yes';
  }

  /** The cell that the address names. */
  private restore(): void {
    const cell = (new URLSearchParams(location.hash.slice(1)).get('cell') ?? '').split(',').map(Number);
    if (cell.length === 2 && cell.every(Number.isInteger) && (cell[0] !== this.column || cell[1] !== this.row)) this.choose(cell[0], cell[1]);
  }

  setTheme(dark: boolean): void {
    this.theme = dark ? DARK : LIGHT;
    this.analysis.setTheme(dark);
    this.draw();
  }

  private colour(value: number | string | null): string {
    if (value === null) return this.theme.grid;
    if (typeof value === 'string') return this.colours.get(value) ?? this.theme.muted;
    return ramp(this.high > this.low ? (value - this.low) / (this.high - this.low) : 0.5);
  }

  private draw(): void {
    const { canvas, map, theme } = this;
    const on = prepared(canvas, !map.y);
    if (!on) return;
    const { c, width, height, ratio } = on;
    const [w, h] = [(width - LEFT - RIGHT) / this.columns, (height - TOP - BOTTOM) / this.rows];
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        c.fillStyle = this.colour(map.cells[row * this.columns + column]);
        // Whole pixels: no seam between cells.
        const at = (x: number) => Math.round(x * ratio) / ratio;
        const [left, top] = [at(LEFT + column * w), at(height - BOTTOM - (row + 1) * h)];
        c.fillRect(left, top, at(LEFT + (column + 1) * w) - left, at(height - BOTTOM - row * h) - top);
      }
    }
    const drawn = (axis: Axis) => {
      const n = axis.shown.length;
      const marks = [...new Set([0, 0.25, 0.5, 0.75, 1].map((p) => Math.round(p * (n - 1))))];
      return { label: axis.label, marks: marks.map((k) => ({ at: (k + 0.5) / n, text: number(Number(axis.shown[k].toPrecision(3))) })) };
    };
    drawFrame(c, theme, width, height, drawn(map.x), map.y && drawn(map.y));
    this.drawSafe(c, w, height);
    c.strokeStyle = theme.ink;
    c.lineWidth = 2;
    c.strokeRect(LEFT + this.column * w - 1, height - BOTTOM - (this.row + 1) * h - 1, Math.max(w, 3) + 2, Math.max(h, 3) + 2);
  }

  /** The certified interval as a bracket under the strip. */
  private drawSafe(c: CanvasRenderingContext2D, w: number, height: number): void {
    const { safe, x } = this.map;
    if (!safe) return;
    const n = this.columns - 1;
    const place = (v: number) => LEFT + ((v - x.values[0]) / (x.values[n] - x.values[0])) * n * w + 0.5 * w;
    if (safe.interval) {
      c.strokeStyle = '#047a55';
      c.lineWidth = 4;
      c.beginPath();
      c.moveTo(place(safe.interval[0]), TOP + 6);
      c.lineTo(place(safe.interval[1]), TOP + 6);
      c.stroke();
    }
    c.strokeStyle = this.theme.ink;
    c.lineWidth = 1;
    c.setLineDash([4, 3]);
    c.beginPath();
    c.moveTo(place(safe.present), TOP);
    c.lineTo(place(safe.present), height - BOTTOM);
    c.stroke();
    c.setLineDash([]);
  }
}
