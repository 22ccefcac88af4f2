// Charts over time on canvases, in step with the view; a click goes there.
import { LINES, type Theme } from './colours';
import { frameAt, type Motion, type MotionEvent } from './data';
import { EVENT_COLOURS } from './colours';
import { el, number } from './dom';
import type { Shot } from './export';

/** Values over the times of the chart, or over times of its own. */
export interface Line { name: string; values: ArrayLike<number>; times?: ArrayLike<number> }

/** A chart that is drawn anew where something changed. */
export class Chart {
  readonly root: HTMLElement;
  private readonly canvas = el('canvas', { height: 130 });
  private readonly legend = el('div', { class: 'legend' });
  private readonly reading = new Map<string, HTMLElement>();
  private now = 0;
  private theme: Theme | null = null;

  constructor(
    readonly title: string,
    private readonly times: ArrayLike<number>,
    private readonly lines: Line[],
    private readonly events: MotionEvent[],
    seek: (t: number) => void,
    remove?: () => void,
  ) {
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${title} over time: ${lines.map((l) => l.name).join(', ')}`);
    lines.forEach((line, i) => {
      const value = el('span', { class: 'value' });
      this.reading.set(line.name, value);
      const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = LINES[i % LINES.length];
      this.legend.append(el('span', { class: 'entry' }, swatch, `${line.name} `, value));
    });
    const head = el('div', { class: 'chart-head' }, el('h3', {}, title));
    if (remove) head.append(el('button', { type: 'button', class: 'quiet', 'aria-label': `Remove the chart ${title}`, onclick: remove }, '×'));
    this.root = el('figure', { class: 'chart' }, head, this.canvas, this.legend);
    const go = (e: PointerEvent) => {
      const box = this.canvas.getBoundingClientRect();
      const [from, to] = this.range();
      const x = (e.clientX - box.left - LEFT) / Math.max(box.width - LEFT - RIGHT, 1);
      seek(from + Math.min(Math.max(x, 0), 1) * (to - from));
    };
    this.canvas.addEventListener('pointerdown', (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      go(e);
    });
    this.canvas.addEventListener('pointermove', (e) => {
      if (e.buttons) go(e);
    });
  }

  /** The chart for a picture: its title, and its lines with their values now. */
  shot(): Shot {
    const legend = this.lines.map((line, i) => ({ colour: LINES[i % LINES.length], text: `${line.name} ${this.reading.get(line.name)?.textContent ?? ''}` }));
    return { canvas: this.canvas, title: this.title, legend };
  }

  private range(): [number, number] {
    let [from, to] = [Infinity, -Infinity];
    for (const times of [this.times, ...this.lines.flatMap((line) => (line.times ? [line.times] : []))]) {
      if (times.length === 0) continue;
      from = Math.min(from, times[0]);
      to = Math.max(to, times[times.length - 1]);
    }
    return from <= to ? [from, to > from ? to : from + Math.max(1e-12 * Math.abs(from), 1e-12)] : [0, 1];
  }

  show(frame: number, t: number, theme: Theme): void {
    for (const line of this.lines) {
      const value = this.reading.get(line.name);
      if (value) value.textContent = number(line.values[line.times ? frameAt(line.times, t) : frame]);
    }
    this.now = t;
    this.theme = theme;
    this.draw();
  }

  /** Values from many orders of magnitude, none below zero, are drawn by their logarithm. */
  private isLogarithmic(): boolean {
    let [low, high] = [Infinity, 0];
    for (const line of this.lines) {
      for (let i = 0; i < line.values.length; i++) {
        const x = line.values[i];
        if (x < 0) return false;
        if (x > 0 && Number.isFinite(x)) {
          low = Math.min(low, x);
          high = Math.max(high, x);
        }
      }
    }
    return high > 1e4 * low && high < 1;
  }

  draw(): void {
    const { theme, canvas } = this;
    const width = canvas.clientWidth;
    const height = 130;
    if (!theme || width < 10) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const c = canvas.getContext('2d');
    if (!c) return;
    c.scale(ratio, ratio);
    c.clearRect(0, 0, width, height);
    const logarithmic = this.isLogarithmic();
    const value = (x: number) => (logarithmic ? (x > 0 ? Math.log10(x) : NaN) : x);
    let [low, high] = [Infinity, -Infinity];
    for (const line of this.lines) {
      for (let i = 0; i < line.values.length; i++) {
        const y = value(line.values[i]);
        if (!Number.isFinite(y)) continue;
        low = Math.min(low, y);
        high = Math.max(high, y);
      }
    }
    if (!(high >= low)) [low, high] = [0, 1];
    if (high - low < 1e-12 * Math.max(Math.abs(high), 1e-300)) {
      const room = Math.abs(high) > 0 ? 0.5 * Math.abs(high) : 1;
      [low, high] = [low - room, high + room];
    }
    const [from, to] = this.range();
    const x = (t: number) => LEFT + ((t - from) / (to - from)) * (width - LEFT - RIGHT);
    const y = (v: number) => height - BOTTOM - ((v - low) / (high - low)) * (height - BOTTOM - TOP);
    c.font = '11px system-ui, sans-serif';
    c.lineWidth = 1;
    for (const mark of ticks(low, high)) {
      c.strokeStyle = theme.grid;
      c.beginPath();
      c.moveTo(LEFT, y(mark));
      c.lineTo(width - RIGHT, y(mark));
      c.stroke();
      c.fillStyle = theme.muted;
      c.textAlign = 'right';
      c.textBaseline = 'middle';
      c.fillText(logarithmic ? `1e${number(mark)}` : short(mark), LEFT - 5, y(mark));
    }
    c.textAlign = 'center';
    c.textBaseline = 'alphabetic';
    for (const mark of ticks(from, to)) {
      const half = 0.5 * c.measureText(short(mark)).width;
      c.fillText(short(mark), Math.min(x(mark), width - half - 1), height - 3);
    }
    for (const event of this.events.slice(0, 400)) {
      c.strokeStyle = EVENT_COLOURS[event.kind] ?? theme.muted;
      c.globalAlpha = 0.13;
      c.beginPath();
      c.moveTo(x(event.t), TOP);
      c.lineTo(x(event.t), height - BOTTOM);
      c.stroke();
    }
    c.globalAlpha = 1;
    this.lines.forEach((line, i) => {
      const times = line.times ?? this.times;
      c.strokeStyle = LINES[i % LINES.length];
      c.lineWidth = 1.4;
      c.beginPath();
      let drawing = false;
      for (let k = 0; k < line.values.length; k++) {
        const v = value(line.values[k]);
        if (!Number.isFinite(v)) {
          drawing = false;
          continue;
        }
        if (drawing) c.lineTo(x(times[k]), y(v));
        else c.moveTo(x(times[k]), y(v));
        drawing = true;
      }
      c.stroke();
    });
    c.strokeStyle = theme.ink;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x(this.now), TOP - 3);
    c.lineTo(x(this.now), height - BOTTOM);
    c.stroke();
  }
}

const LEFT = 56;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 18;

function ticks(low: number, high: number): number[] {
  const raw = (high - low) / 3.5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  const out: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step && out.length < 12; k++) out.push(k * step);
  return out;
}

function short(x: number): string {
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return x.toExponential(1).replace('e+', 'e');
  return String(Number(x.toPrecision(4)));
}

/** What can be plotted of a motion: groups of series, and quantities of bodies, pairs and joints. */
export function choices(motion: Motion): { name: string; make: () => Line[] }[] {
  const out: { name: string; make: () => Line[] }[] = [];
  const groups = new Map<string, Line[]>();
  for (const s of motion.series) {
    const list = groups.get(s.group) ?? [];
    if (list.length === 0) groups.set(s.group, list);
    // A line that is zero throughout says nothing beside others.
    list.push(s);
  }
  for (const [name, lines] of groups) {
    const telling = lines.filter((l) => Array.from(l.values).some((v) => v !== 0));
    for (let at = 0; at < Math.max(telling.length, 1); at += LINES.length) {
      const part = telling.length ? telling.slice(at, at + LINES.length) : lines.slice(0, 1);
      out.push({ name: at ? `${name} (${at / LINES.length + 1})` : name, make: () => part });
    }
  }
  const over = (of: (frame: number) => number) => Float64Array.from({ length: motion.frames }, (_, f) => of(f));
  motion.bodies.forEach((body, b) => {
    if (body.fixed || out.length > 400) return;
    out.push({
      name: `position of ${body.name}, m`,
      make: () => ['x', 'y', 'z'].map((axis, k) => ({ name: axis, values: over((f) => motion.written(b, f)[k]) })),
    });
    if (motion.velocities) {
      out.push({
        name: `velocity of ${body.name}, m/s`,
        make: () => ['x', 'y', 'z'].map((axis, k) => ({ name: axis, values: over((f) => motion.velocity(b, f)?.[k] ?? NaN) })),
      });
    }
    if (motion.hasContacts) {
      out.push({
        name: `contact force on ${body.name}, N`,
        make: () => [{
          name: 'sum of normal forces',
          values: over((f) => motion.contactsAt(f).reduce((sum, c) => sum + (c.a === b || c.b === b ? c.force : 0), 0)),
        }],
      });
    }
  });
  motion.joints.forEach((joint, j) => {
    if (out.length > 800) return;
    out.push({
      name: `reaction of ${joint.name}`,
      make: () => [
        { name: 'force, N', values: over((f) => Math.hypot(...motion.jointForce(j, f).slice(0, 3))) },
        { name: 'moment, N m', values: over((f) => Math.hypot(...motion.jointForce(j, f).slice(3))) },
      ],
    });
  });
  if (motion.hasContacts) {
    out.push({ name: 'number of contacts', make: () => [{ name: 'contacts', values: over((f) => motion.contactCount(f)) }] });
  }
  return out;
}

/** The numbers of several motions, each in one chart: a line a motion. */
export function comparisons(motions: Motion[]): { name: string; make: () => Line[] }[] {
  const names = new Map<string, string>();
  for (const motion of motions) for (const s of motion.series) names.set(`${s.name} · ${s.group}`, s.name);
  return [...names].map(([name, of]) => ({
    name: `${name}, all motions`,
    make: () => motions.flatMap((motion) => {
      const found = motion.series.find((s) => `${s.name} · ${s.group}` === name && s.name === of);
      return found ? [{ name: motion.name, values: found.values, times: motion.time }] : [];
    }),
  }));
}
