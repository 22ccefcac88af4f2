// A box of parameters in proved and refuted cells: a click on a cell shows the state in its middle and its verdict.
import { AnalysisView, type Analysis } from './analysis';
import { BOTTOM, drawFrame, EMPTY, entry, LEFT, prepared, RIGHT, stateThere, TOP } from './axes';
import { DARK, LIGHT, type Theme } from './colours';
import { unpack, type ArrayRef } from './data';
import { el, number } from './dom';
import { pngButton } from './export';

interface Axis { name: string; label: string; factor: number; range: [number, number] }

export interface PavingDocument {
  axes: Axis[];
  reasons: { word: string; meaning: string; share: number }[];
  words: string[];
  design: number[];
  certified: [number, number][] | null;
  counterexample: { point: number[]; meaning: string } | null;
  /** How many cells at most have an analysis, the largest ones. */
  analyzed: number;
  /** Bounds of the cells, one parameter after the other. */
  lo: ArrayRef;
  hi: ArrayRef;
  /** The reason of each cell, a number. */
  cells: ArrayRef;
  /** Analyses as JSON, one after the other, and where they end. */
  states: ArrayRef;
  ends: ArrayRef;
}

/** In the order of the reasons. */
const COLOURS = ['#9ecae1', '#c7e9c0', '#cb181d', '#fdae61', '#cb181d', '#8a8f98', ''];
/** Points along a range that a slider has. */
const STEPS = 1000;

export class PavingView {
  readonly root: HTMLElement;
  private readonly canvas = el('canvas', { tabindex: '0', role: 'img' });
  private readonly state = el('p', { class: 'state', role: 'status' });
  private readonly here = el('div', { class: 'card map-state' });
  private readonly lo: Float64Array;
  private readonly hi: Float64Array;
  private readonly cells: Uint8Array;
  private readonly texts: Uint8Array;
  private readonly ends: Uint32Array;
  private readonly analysis: AnalysisView;
  private theme: Theme = LIGHT;
  /** The point that is looked at; of more than two parameters the slice that is drawn. */
  private point: number[];
  private cell = -1;
  private started = false;

  constructor(private readonly paving: PavingDocument, blob: Uint8Array) {
    this.lo = unpack(blob, paving.lo) as Float64Array;
    this.hi = unpack(blob, paving.hi) as Float64Array;
    this.cells = unpack(blob, paving.cells) as Uint8Array;
    this.texts = unpack(blob, paving.states) as Uint8Array;
    this.ends = unpack(blob, paving.ends) as Uint32Array;
    this.point = [...paving.design];
    const [x, y] = paving.axes;
    this.canvas.setAttribute('aria-label', `Cells over ${x.name}${y ? ` and ${y.name}` : ''}; arrow keys go from cell to cell`);
    this.analysis = new AnalysisView(EMPTY);
    const more = paving.axes.slice(2).map((axis, k) => this.slider(axis, k + 2));
    this.root = el('main', { class: 'map paving' },
      el('div', { class: 'map-left' }, el('div', { class: 'card map-card' },
        el('p', { class: `headline ${paving.certified ? 'good' : 'caution'}` }, this.headline()),
        this.canvas, this.legend(), ...more, this.state,
        el('p', { class: 'muted' }, `The dot is the design${paving.certified ? ', the frame the certified box around it' : ''}${paving.counterexample ? ', the cross the nearest counterexample' : ''}. A click on a cell, or the arrow keys, show what holds in its middle.`),
        pngButton(() => [{ canvas: this.canvas }], () => this.theme),
        el('details', {}, el('summary', {}, 'The report'), ...paving.words.map((line) => el('p', { class: 'muted' }, line)))),
      this.here), this.analysis.root);
    this.canvas.addEventListener('pointerdown', (e) => this.pick(e));
    this.canvas.addEventListener('keydown', (e) => {
      const moves: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 1], ArrowDown: [1, -1] };
      const move = moves[e.key];
      if (!move || move[0] >= paving.axes.length) return;
      e.preventDefault();
      this.step(...move);
    });
  }

  private get n(): number {
    return this.paving.axes.length;
  }

  private shown(k: number, x: number): string {
    const axis = this.paving.axes[k];
    return `${number(Number((x / axis.factor).toPrecision(6)))}${axis.label.slice(axis.name.length).replace(/^,/, '')}`;
  }

  private headline(): string {
    const { certified, axes } = this.paving;
    if (!certified) return 'Nothing is certified around the design';
    return `Certified around the design: ${certified.map(([a, b], k) => `${this.shown(k, a)} ≤ ${axes[k].name} ≤ ${this.shown(k, b)}`).join(', ')}`;
  }

  private legend(): HTMLElement {
    const out = el('div', { class: 'legend' });
    this.paving.reasons.forEach(({ meaning, share }, k) => {
      if (share > 0) out.append(entry(COLOURS[k] || 'transparent', `${meaning} ${number(Math.round(1000 * share) / 10)} %`));
    });
    return out;
  }

  /** The value of a parameter that is not drawn. */
  private slider(axis: Axis, k: number): HTMLElement {
    const [lo, hi] = axis.range;
    const value = el('output', {}, this.shown(k, this.point[k]));
    const input = el('input', { type: 'range', min: 0, max: STEPS, value: Math.round((STEPS * (this.point[k] - lo)) / (hi - lo)), 'aria-label': axis.label });
    input.addEventListener('input', () => {
      this.point[k] = lo + ((hi - lo) * Number(input.value)) / STEPS;
      value.textContent = this.shown(k, this.point[k]);
      this.look(this.point);
    });
    return el('label', { class: 'slice' }, axis.name, input, value);
  }

  /** Whether a cell has a point between its bounds; on a face, those on both sides. */
  private has(cell: number, point: number[], from = 0): boolean {
    for (let k = from; k < this.n; k++) {
      const i = cell * this.n + k;
      if (!(this.lo[i] <= point[k] && point[k] <= this.hi[i])) return false;
    }
    return true;
  }

  /** Looks at a point: the cell that has it. */
  private look(point: number[]): void {
    this.point = point.map((x, k) => Math.min(Math.max(x, this.paving.axes[k].range[0]), this.paving.axes[k].range[1]));
    let found = -1;
    for (let cell = 0; cell < this.cells.length && found < 0; cell++) if (this.has(cell, this.point)) found = cell;
    this.cell = found;
    const read = this.read();
    this.analysis.root.hidden = !read;
    if (read) this.analysis.update(read);
    this.here.replaceChildren(...(read ? stateThere(read) : [el('p', {}, this.nothing())]));
    this.say();
    this.draw();
    if (!this.started) return;
    try {
      history.replaceState(null, '', `#at=${this.point.map((x) => Number(x.toPrecision(9))).join(',')}`);
    } catch {
      // Some places do not let a page change its address.
    }
  }

  private nothing(): string {
    const { analyzed } = this.paving;
    const many = this.cells.length > analyzed;
    return `There is no analysis of this cell: the file poses no state in its middle${many ? `, or it is not among the ${analyzed} largest cells` : ''}.`;
  }

  /** The analysis in the middle of the cell. */
  private read(): Analysis | null {
    if (this.cell < 0) return null;
    const [from, to] = [this.cell ? this.ends[this.cell - 1] : 0, this.ends[this.cell]];
    return to > from ? (JSON.parse(new TextDecoder().decode(this.texts.subarray(from, to))) as Analysis) : null;
  }

  private say(): void {
    if (this.cell < 0) return;
    const { axes, reasons } = this.paving;
    const sides = axes.map(({ name }, k) => `${name} from ${this.shown(k, this.lo[this.cell * this.n + k])} to ${this.shown(k, this.hi[this.cell * this.n + k])}`);
    this.state.textContent = `Cell ${sides.join(', ')}: ${reasons[this.cells[this.cell]].meaning}`;
  }

  /** To the cell beyond a face, across its middle. */
  private step(k: number, sign: number): void {
    if (this.cell < 0) return;
    const at = (i: number) => 0.5 * (this.lo[this.cell * this.n + i] + this.hi[this.cell * this.n + i]);
    const point = this.point.map((x, i) => (i < 2 ? at(i) : x));
    const [lo, hi] = this.paving.axes[k].range;
    const face = sign > 0 ? this.hi[this.cell * this.n + k] : this.lo[this.cell * this.n + k];
    point[k] = face + sign * 1e-9 * (hi - lo);
    if (point[k] > lo && point[k] < hi) this.look(point);
  }

  private pick(e: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const parts = [(e.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT), 1 - (e.clientY - box.top - TOP) / (box.height - TOP - BOTTOM)];
    const value = (k: number) => this.paving.axes[k].range[0] + parts[k] * (this.paving.axes[k].range[1] - this.paving.axes[k].range[0]);
    this.look(this.point.map((x, k) => (k < 2 ? value(k) : x)));
  }

  start(): void {
    addEventListener('resize', () => this.draw());
    addEventListener('hashchange', () => this.restore());
    this.look(this.point);
    this.restore();
    this.started = true;
    document.documentElement.dataset.ready = 'yes';
  }

  /** The point that the address names. */
  private restore(): void {
    const point = (new URLSearchParams(location.hash.slice(1)).get('at') ?? '').split(',').map(Number);
    if (location.hash && point.length === this.n && point.every(Number.isFinite)) this.look(point);
  }

  setTheme(dark: boolean): void {
    this.theme = dark ? DARK : LIGHT;
    this.analysis.setTheme(dark);
    this.draw();
  }

  private draw(): void {
    const { axes, certified, design, counterexample } = this.paving;
    const [x, y] = axes;
    const on = prepared(this.canvas, !y);
    if (!on) return;
    const { c, width, height, ratio } = on;
    const part = (k: number, v: number) => (v - axes[k].range[0]) / (axes[k].range[1] - axes[k].range[0]);
    const across = (v: number) => LEFT + part(0, v) * (width - LEFT - RIGHT);
    const up = (v: number) => height - BOTTOM - part(1, v) * (height - TOP - BOTTOM);
    const bounds = (cell: number) => {
      const i = cell * this.n;
      const [left, right] = [across(this.lo[i]), across(this.hi[i])];
      return y ? [left, up(this.hi[i + 1]), right, up(this.lo[i + 1])] : [left, TOP, right, height - BOTTOM];
    };
    // Whole pixels: no seam between cells.
    const at = (v: number) => Math.round(v * ratio) / ratio;
    for (let cell = 0; cell < this.cells.length; cell++) {
      if (!this.has(cell, this.point, 2)) continue;
      const [left, top, right, bottom] = bounds(cell).map(at);
      c.fillStyle = COLOURS[this.cells[cell]] || this.theme.paper;
      c.fillRect(left, top, right - left, bottom - top);
    }
    const drawn = ({ label, range: [lo, hi], factor }: Axis) => ({
      label, marks: [0, 0.25, 0.5, 0.75, 1].map((p) => ({ at: p, text: number(Number(((lo + p * (hi - lo)) / factor).toPrecision(3))) })),
    });
    drawFrame(c, this.theme, width, height, drawn(x), y ? drawn(y) : null);
    c.strokeStyle = '#000';
    c.lineWidth = 1.5;
    if (certified) {
      const [[a, b], side] = certified;
      const [top, bottom] = side ? [up(side[1]), up(side[0])] : [TOP, height - BOTTOM];
      c.strokeRect(across(a), top, across(b) - across(a), bottom - top);
    }
    const middle = 0.5 * (TOP + height - BOTTOM);
    const place = (p: number[]): [number, number] => [across(p[0]), y ? up(p[1]) : middle];
    c.fillStyle = '#000';
    c.beginPath();
    c.arc(...place(design), 4, 0, 2 * Math.PI);
    c.fill();
    if (counterexample) {
      const [px, py] = place(counterexample.point);
      c.lineWidth = 2;
      c.beginPath();
      for (const s of [-1, 1]) {
        c.moveTo(px - 5, py - 5 * s);
        c.lineTo(px + 5, py + 5 * s);
      }
      c.stroke();
    }
    if (this.cell < 0) return;
    const [left, top, right, bottom] = bounds(this.cell);
    c.strokeStyle = this.theme.ink;
    c.lineWidth = 2;
    c.strokeRect(left - 1, top - 1, Math.max(right - left, 3) + 2, Math.max(bottom - top, 3) + 2);
  }
}
