// The playground: a scene as text, its parameters as sliders, its verdict while they are dragged.
import '../style.css';
import './playground.css';
import { AnalysisView, type Analysis } from '../analysis';
import { readPage } from '../data';
import { el, number } from '../dom';
import { MotionView } from '../motion_view';
import { themeButton } from '../theme';
import type { Answer, EngineError } from './engine';
import { EngineThread } from './thread';

const SCENES = import.meta.glob('../../../scenes/*.{toml,xml}', { query: '?raw', import: 'default', eager: true }) as Record<string, string>;
const FIRST = 'painleve-rod.toml';
/** After how long a verdict that is under way is shown to be, in milliseconds. */
const LATE = 200;
/** A verdict that takes longer than this comes after a first look, in milliseconds, … */
const SLOW = 50;
/** … and is asked for where nothing has changed for so long. */
const QUIET = 250;
/** First looks are shown after so long, where there is no verdict yet. */
const FLICKER = 25;

async function wasm(): Promise<Uint8Array> {
  const text = atob(document.getElementById('delassus-engine')?.textContent?.trim() ?? '');
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Playground {
  private readonly editor = el('textarea', { spellcheck: 'false', 'aria-label': 'The scene', wrap: 'off' });
  private readonly note = el('div', { class: 'line-note', 'aria-hidden': 'true' });
  private noted = 0;
  private readonly message = el('div', { class: 'editor-message', role: 'status' });
  private readonly sliders = el('div', { class: 'sliders', 'aria-label': 'Parameters' });
  private readonly time = el('p', { class: 'muted' });
  private readonly moving = el('section', { class: 'moving' });
  private readonly result = el('section', {});
  private readonly move = el('button', { type: 'button', class: 'play', disabled: true, onclick: () => this.run() }, 'Move it');
  private analysis: AnalysisView | null = null;
  private motion: MotionView | null = null;
  private set: Record<string, number> = {};
  private asked = 0;
  /** Whether a question is under way, and whether a motion is. */
  private asking = false;
  private running = false;
  /** Whether the verdicts of this scene are long in coming. */
  private slow = true;
  /** The question that was answered last, and the one that is glanced at. */
  private known = 0;
  private glancingAt = 0;
  /** The text whose parameters the sliders show. */
  private slidersOf: string | null = null;

  constructor(private readonly engine: EngineThread, private readonly glancing: EngineThread, app: HTMLElement) {
    const names = Object.keys(SCENES).map((path) => path.split('/').at(-1) as string).sort();
    const pick = el('select', { 'aria-label': 'Built-in scenes' }, ...names.map((name) => el('option', { value: name }, name)));
    pick.value = FIRST;
    pick.addEventListener('change', () => this.open(pick.value));
    this.editor.addEventListener('input', () => this.ask(true));
    this.editor.addEventListener('scroll', () => this.placeNote());
    app.replaceChildren(
      el('header', {}, el('h1', {}, 'Playground'), el('span', { class: 'brand' }, 'Delassus in the browser'), themeButton((dark) => this.setTheme(dark))),
      el('main', { class: 'playground' },
        el('section', { class: 'edit card' }, el('div', { class: 'buttons' }, pick, this.move), el('div', { class: 'editor-box' }, this.editor, this.note), this.message),
        el('div', { class: 'right' }, el('section', { class: 'card' }, el('h2', {}, 'Parameters'), this.sliders, this.time), this.moving, this.result)),
    );
    this.open(FIRST);
  }

  private setTheme(dark: boolean): void {
    this.analysis?.setTheme(dark);
    this.motion?.setTheme(dark);
  }

  private open(name: string): void {
    const path = Object.keys(SCENES).find((p) => p.endsWith(`/${name}`));
    this.editor.value = path ? SCENES[path] : '';
    this.ask(true);
  }

  /** Asks for the verdict; of many questions at once the last one counts. A motion is that of another scene now. */
  private ask(newScene: boolean): void {
    const mine = ++this.asked;
    this.still();
    if (newScene) {
      [this.set, this.slidersOf] = [{}, null];
      // A verdict beside another text is not that of what is shown.
      this.stale();
      this.slow = true;
    } else setTimeout(() => mine === this.asked && this.asking && !this.slow && this.stale(), LATE);
    // What takes long for values that are not those of the sliders any more is not waited for.
    if (this.asking && this.slow) this.engine.stop('The scene has changed.');
    setTimeout(() => this.begin(mine, newScene), newScene ? 150 : 0);
  }

  private async begin(mine: number, newScene: boolean): Promise<void> {
    if (this.slow && mine === this.asked) this.glance();
    if (this.slow && !newScene) await new Promise((resolve) => setTimeout(resolve, QUIET));
    // While one question is under way the next ones wait, and the last of them is asked.
    while (this.asking && mine === this.asked) await new Promise((resolve) => setTimeout(resolve, 5));
    if (mine !== this.asked) return;
    this.asking = true;
    const begin = performance.now();
    const text = this.editor.value;
    const answer = await this.engine.ask({ do: 'analyze', text, set: this.set });
    this.asking = false;
    if (mine !== this.asked && (answer.stopped || text !== this.editor.value)) return;
    const took = performance.now() - begin;
    // What ended a motion has ended this question too: it is asked again.
    if (answer.stopped) this.ask(newScene);
    else if (mine === this.asked || !this.slow) {
      this.slow = took > SLOW;
      this.answered(answer, `Analyzed in ${took.toFixed(1)} ms.`, text);
      Object.assign(document.documentElement.dataset, { took: took.toFixed(2) });
      this.known = mine;
    }
  }

  /** Shows forces at once, where verdicts take longer. While one look is under way others wait, and the last of them is asked for. */
  private async glance(): Promise<void> {
    if (this.glancingAt) return;
    let mine = 0;
    while (mine !== this.asked && this.slow && this.known !== this.asked) {
      mine = this.glancingAt = this.asked;
      const begin = performance.now();
      const text = this.editor.value;
      const answer = await this.glancing.ask({ do: 'glance', text, set: this.set });
      const took = performance.now() - begin;
      // The verdict may be quicker; errors are its own.
      if (mine === this.asked) await new Promise((resolve) => setTimeout(resolve, FLICKER - took));
      if (text !== this.editor.value || this.known >= mine || answer.stopped || answer.error) continue;
      this.answered({ ...answer, analysis: { ...(answer.analysis as Analysis), going: true } }, `Forces in ${took.toFixed(1)} ms; analyzing …`, text);
      Object.assign(document.documentElement.dataset, { glance: took.toFixed(2) });
    }
    this.glancingAt = 0;
  }

  /** Says that the verdict is not yet that of the text. */
  private stale(): void {
    this.result.classList.add('stale');
    this.time.textContent = 'Analyzing …';
    document.documentElement.dataset.existence = '';
  }

  private answered(answer: Answer, words: string, text: string): void {
    this.explain(answer.error);
    this.move.disabled = !!answer.error || answer.moves === false;
    this.move.title = answer.moves === false ? 'A [system] has no bodies to show: `delassus run` moves it' : '';
    if (answer.error) {
      document.documentElement.dataset.ready = 'yes';
      return;
    }
    if (this.slidersOf !== text) {
      this.makeSliders(answer.parameters ?? {});
      this.slidersOf = text;
    }
    this.time.textContent = words;
    const analysis = answer.analysis as Analysis;
    if (this.analysis) this.analysis.update(analysis);
    else {
      this.analysis = new AnalysisView(analysis);
      this.result.append(this.analysis.root);
      this.analysis.start();
    }
    Object.assign(document.documentElement.dataset, analysis.going ? { existence: 'going on' } : { ready: 'yes', existence: analysis.existence });
  }

  /** Takes the motion away, also one that is under way. */
  private still(): void {
    if (this.running) this.engine.stop('The motion was ended.');
    this.motion?.dispose();
    this.motion = null;
  }

  /** The engine's own message, under the line that it speaks of. */
  private explain(error: EngineError | undefined): void {
    this.message.textContent = error ? (error.rendered ?? error.message) : '';
    this.message.classList.toggle('bad', !!error);
    this.result.classList.toggle('stale', !!error);
    this.noted = Math.min(error?.line ?? 0, this.editor.value.split('\n').length);
    this.note.textContent = error?.message ?? '';
    if (this.noted) {
      if (document.activeElement !== this.editor) this.editor.scrollTop = Math.max(0, (this.noted - 1) * this.lineHeight() - 100);
      this.message.dataset.line = String(this.noted);
    } else delete this.message.dataset.line;
    this.placeNote();
  }

  private lineHeight(): number {
    return parseFloat(getComputedStyle(this.editor).lineHeight) || 18;
  }

  /** The message stands right under its line, and scrolls with the text. */
  private placeNote(): void {
    const top = (parseFloat(getComputedStyle(this.editor).paddingTop) || 0) + this.noted * this.lineHeight() - this.editor.scrollTop;
    this.note.hidden = this.noted === 0 || top < 0 || top > this.editor.clientHeight;
    this.note.style.top = `${top}px`;
  }

  private makeSliders(parameters: Record<string, number>): void {
    this.sliders.replaceChildren(...Object.entries(parameters).slice(0, 24).map(([name, value]) => {
      const shown = el('output', {}, number(value));
      const most = value === 0 ? 1 : 3 * Math.abs(value);
      const slider = el('input', { type: 'range', min: value < 0 ? -most : 0, max: most, step: 'any', 'aria-label': name });
      slider.value = String(value);
      slider.addEventListener('input', () => {
        this.set[name] = Number(slider.value);
        shown.textContent = number(Number(Number(slider.value).toPrecision(4)));
        this.ask(false);
      });
      return el('label', { class: 'slider' }, el('span', {}, name), slider, shown);
    }));
    if (!this.sliders.hasChildNodes()) this.sliders.append(el('p', { class: 'muted' }, 'The scene has no parameters.'));
  }

  /** Moves the scene where that is asked for; asked again while it goes on, ends it. */
  private async run(): Promise<void> {
    const was = this.running;
    this.still();
    if (was) return;
    this.running = true;
    this.move.textContent = 'Stop';
    const answer = await this.engine.ask({ do: 'run', text: this.editor.value, set: this.set });
    this.running = false;
    this.move.textContent = 'Move it';
    if (answer.stopped) return;
    this.explain(answer.error);
    if (answer.error || !answer.document) return;
    const page = await readPage(JSON.stringify(answer.document), answer.arrays ?? '');
    this.motion = new MotionView(page.title, page.motions, false);
    this.moving.replaceChildren(this.motion.root);
    this.motion.setTheme(document.documentElement.dataset.theme === 'dark');
    this.motion.start();
  }
}

async function begin(): Promise<void> {
  const app = document.getElementById('app') ?? document.body;
  // Before there is anything to choose from.
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  try {
    const bytes = await wasm();
    const engine = await EngineThread.from(bytes);
    // First looks do not wait for verdicts, where there are threads.
    const glancing = engine.apart ? await EngineThread.from(bytes) : engine;
    // For scripts and the console.
    Object.assign(window, { delassusEngine: engine, delassusGlance: glancing });
    new Playground(engine, glancing, app);
  } catch (error) {
    app.replaceChildren(el('p', { class: 'message bad', role: 'alert' }, `The engine does not start here: ${error instanceof Error ? error.message : String(error)}`));
    document.documentElement.dataset.ready = 'failed';
  }
}

begin();
