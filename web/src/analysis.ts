// The analysis of a state: verdicts, reasons, cones, solutions, certificates in words.
import { ConeScene } from './cone_scene';
import { DARK, LIGHT } from './colours';
import { el, facts, number, table } from './dom';
import { pngButton, type Shot } from './export';

export interface ContactReport {
  name: string;
  state: string;
  gap?: number;
  normal_velocity?: number;
  slip_velocity: number[];
  mu: number;
  mu_jam: number | null;
  mu_crit: number | null;
  locking_angle_deg: number | null;
  jams: boolean;
}

export interface Force { normal: number; tangential: number[]; mode?: string }

interface Intervals { contacts?: Record<string, { normal: (number | null)[] }> }

export interface Solution {
  acceleration: Record<string, number>;
  contacts: Record<string, Force>;
  joints: Record<string, unknown>;
  /** Of the continuum that it stands for; null where that is not known. */
  dimension: number | null;
  intervals?: Intervals;
}

export interface Certificate { id: string; outcome: string; verified: boolean; meaning: string; claims: Record<string, boolean | null> }

export interface Analysis {
  name: string;
  existence: string;
  acceleration_unique: string;
  forces_unique: string;
  reasons: string[];
  solutions: { kind: string; complete?: boolean; partial?: boolean; list: Solution[]; intervals?: Intervals | null };
  impact?: unknown;
  contacts: ContactReport[];
  certificates?: Certificate[];
  /** A first look: forces of one solution, and verdicts to come. */
  going?: boolean;
  /** In maps. */
  state?: { position: Record<string, number>; velocity: Record<string, number> };
}

const QUESTIONS: [keyof Analysis, string, Record<string, string>][] = [
  ['existence', 'Does an answer exist?', { proved: 'yes, proved', refuted: 'no, refuted', unknown: 'unknown' }],
  ['acceleration_unique', 'Is the acceleration the only one?', { proved: 'yes, proved', refuted: 'no, refuted', unknown: 'unknown' }],
  ['forces_unique', 'Are the forces the only ones?', { proved: 'yes, proved', refuted: 'no, refuted', unknown: 'unknown' }],
];

/** Contacts whose cones are drawn. */
const CONES = 8;

const TINT: Record<string, string> = { proved: 'good', refuted: 'bad', unknown: 'caution' };

/** How many answers there are, in a word. */
export function headline(a: Analysis): { text: string; tint: string } {
  const n = a.solutions.list.length;
  if (a.going) return { text: n ? 'Forces found, verdicts to come …' : 'Analyzing …', tint: 'caution' };
  if (a.impact) return { text: 'An impact comes first', tint: 'bad' };
  if (a.existence === 'refuted') return { text: 'No solution', tint: 'bad' };
  if (a.existence === 'unknown') return { text: 'Undecided', tint: 'caution' };
  if (a.acceleration_unique === 'proved' && a.forces_unique === 'proved') return { text: 'One solution', tint: 'good' };
  if (a.solutions.kind === 'infinite') return { text: a.forces_unique === 'refuted' ? 'Forces not unique' : 'A solution', tint: 'caution' };
  if (n > 1) return { text: `${n} solutions${a.solutions.partial ? ' found' : ''}`, tint: 'caution' };
  return { text: 'A solution', tint: 'caution' };
}

function interval(range: (number | null)[] | undefined): string {
  if (!range) return '';
  const [low, high] = [range[0] ?? -Infinity, range[1] ?? Infinity];
  return high - low > 1e-9 * (1 + Math.min(Math.abs(low), Math.abs(high))) ? `${number(low)} to ${number(high)}` : 'unique';
}

function verdicts(a: Analysis): HTMLElement {
  const out = el('div', { class: 'verdicts' });
  for (const [key, question, words] of QUESTIONS) {
    const verdict = String(a[key]);
    out.append(el('div', { class: `verdict ${TINT[verdict] ?? ''}` }, el('span', {}, question), el('strong', {}, a.going ? 'being decided …' : words[verdict] ?? verdict)));
  }
  return out;
}

function contactTable(a: Analysis): HTMLElement {
  const or = (x: number | null | undefined) => (x === null || x === undefined ? '–' : number(x));
  const rows = a.contacts.map((c) => [
    c.name,
    c.state === 'touching' ? (c.slip_velocity.some((v) => v !== 0) ? `slides with ${number(Math.hypot(...c.slip_velocity))} m/s` : 'touches') : c.state,
    number(c.mu), or(c.mu_jam), or(c.mu_crit), c.jams ? 'jams' : '',
  ]);
  return table(['contact', 'state', 'friction', 'jamming from', 'critical from', ''], rows, 'Contacts');
}

function solutionList(a: Analysis): HTMLElement {
  const out = el('div', { class: 'solutions' });
  a.solutions.list.slice(0, 12).forEach((solution, i) => {
    const rows = Object.entries(solution.contacts).map(([name, f]) => [
      name, f.mode ?? '', number(f.normal), f.tangential.map(number).join(', '),
      a.going ? '' : interval(solution.intervals?.contacts?.[name]?.normal),
    ]);
    const heading = a.solutions.list.length > 1 ? `Solution ${i + 1}` : 'Solution';
    const freedom = solution.dimension ? `: ${solution.dimension} of freedom in the forces, least norm shown` : '';
    out.append(el('h3', {}, heading + freedom));
    const wide = rows.some((row) => row[4] !== '');
    const head = ['contact', 'mode', 'normal, N', 'friction, N', ...(wide ? ['normal force between'] : [])];
    if (rows.length) out.append(table(head, rows.map((row) => row.slice(0, head.length)), heading));
    out.append(facts(Object.entries(solution.acceleration).slice(0, 24).map(([name, x]) => [`${name}″`, number(x)])));
  });
  if (a.solutions.list.length > 12) out.append(el('p', { class: 'muted' }, `… and ${a.solutions.list.length - 12} more.`));
  return out;
}

function certificates(a: Analysis): HTMLElement {
  const holds = (a.certificates ?? []).filter((c) => c.outcome === 'holds');
  if (holds.length === 0) return el('p', { class: 'muted' }, 'No proposition applies here.');
  const list = el('ul', { class: 'certificates' });
  for (const c of holds) {
    list.append(el('li', {}, c.meaning, ' ', el('span', { class: 'muted' }, `(${c.id})`), ' ', c.verified ? el('strong', { class: 'good' }, 'verified in exact arithmetic') : ''));
  }
  return list;
}

/** The analysis as a part of a page; drawn where it is started. */
export class AnalysisView {
  readonly root: HTMLElement;
  private scene: ConeScene | null = null;
  private readonly host = el('div', { class: 'cones' });

  constructor(private analysis: Analysis, tag: 'main' | 'section' = 'section') {
    this.root = el(tag, { class: 'analysis' });
    this.fill();
  }

  private fill(): void {
    const a = this.analysis;
    const { text, tint } = headline(a);
    const reasons = el('ul', { class: 'reasons' }, ...(a.going ? [] : a.reasons).map((reason) => el('li', {}, reason)));
    const drawn = a.contacts.filter((c) => c.state === 'touching');
    this.root.replaceChildren(...[
      el('div', { class: 'answer' }, el('p', { class: `headline ${tint}`, role: 'status' }, text), verdicts(a), reasons),
      drawn.length ? el('figure', { class: 'cone-figure' }, this.host, el('figcaption', { class: 'muted' },
        'Forces of the solutions in the friction cones of the contacts: the normal points up, blue is the friction cone, red the cone from which on the contact can jam, the grey arrow the direction of sliding. Drag to turn.' + (drawn.length > CONES ? ` The first ${CONES} of ${drawn.length} contacts that touch are drawn.` : '')),
      pngButton(() => this.shots(drawn), () => (document.documentElement.dataset.theme === 'dark' ? DARK : LIGHT))) : '',
      a.contacts.length ? el('div', { class: 'card' }, el('h2', {}, 'Contacts'), contactTable(a)) : '',
      a.solutions.list.length ? el('div', { class: 'card' }, el('h2', {}, 'Solutions'), solutionList(a)) : '',
      a.certificates && !a.going ? el('div', { class: 'card' }, el('h2', {}, 'Why this can be trusted'), certificates(a)) : '',
    ].filter((part) => part !== ''));
  }

  /** The cones with the names of their contacts, which stand beside the canvas. */
  private shots(drawn: ContactReport[]): Shot[] {
    const canvas = this.host.querySelector('canvas');
    const left = 'Friction cones, from left to right:';
    return canvas ? [{ canvas, title: `${left} ${drawn.slice(0, CONES).map((c) => c.name).join(', ')}` }] : [];
  }

  /** Shows another state in the same place. */
  update(analysis: Analysis): void {
    this.analysis = analysis;
    this.fill();
    this.start();
  }

  start(): void {
    const drawn = this.analysis.contacts.filter((c) => c.state === 'touching').slice(0, CONES);
    if (drawn.length) {
      try {
        this.scene ??= new ConeScene(this.host);
        this.scene.show(drawn, this.analysis.solutions.list.slice(0, 12));
      } catch (error) {
        this.host.replaceChildren(el('p', { class: 'message' }, `Nothing is drawn here: ${error instanceof Error ? error.message : String(error)}`));
      }
      this.scene?.setTheme(document.documentElement.dataset.theme === 'dark');
    }
  }

  setTheme(dark: boolean): void {
    this.scene?.setTheme(dark);
  }
}

