// The playground: a scene as text, its parameters as sliders, its verdict while they are dragged.
import '../style.css';
import './playground.css';
import { AnalysisView, type Analysis } from '../analysis';
import { readPage } from '../data';
import { el, number } from '../dom';
import { MotionView } from '../motion_view';
import { Engine, type EngineError } from './engine';

const SCENES = import.meta.glob('../../../scenes/*.{toml,xml}', { query: '?raw', import: 'default', eager: true }) as Record<string, string>;
const FIRST = 'painleve-rod.toml';

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
  private analysis: AnalysisView | null = null;
  private set: Record<string, number> = {};
  private asked = 0;

  constructor(private readonly engine: Engine, app: HTMLElement) {
    const names = Object.keys(SCENES).map((path) => path.split('/').at(-1) as string).sort();
    const pick = el('select', { 'aria-label': 'Built-in scenes' }, ...names.map((name) => el('option', { value: name }, name)));
    pick.value = FIRST;
    pick.addEventListener('change', () => this.open(pick.value));
    this.editor.addEventListener('input', () => {
      this.set = {};
      this.ask(true);
    });
    this.editor.addEventListener('scroll', () => this.placeNote());
    const run = el('button', { type: 'button', class: 'play', onclick: () => this.run() }, 'Move it');
    app.replaceChildren(
      el('header', {}, el('h1', {}, 'Playground'), el('span', { class: 'brand' }, 'Delassus in the browser')),
      el('main', { class: 'playground' },
        el('section', { class: 'edit card' }, el('div', { class: 'buttons' }, pick, run), el('div', { class: 'editor-box' }, this.editor, this.note), this.message),
        el('div', { class: 'right' }, el('section', { class: 'card' }, el('h2', {}, 'Parameters'), this.sliders, this.time), this.result, this.moving)),
    );
    this.open(FIRST);
  }

  private open(name: string): void {
    const path = Object.keys(SCENES).find((p) => p.endsWith(`/${name}`));
    this.editor.value = path ? SCENES[path] : '';
    this.set = {};
    this.moving.replaceChildren();
    this.ask(true);
  }

  /** Asks for the verdict; of many questions at once the last one counts. */
  private ask(newScene: boolean): void {
    const mine = ++this.asked;
    setTimeout(async () => {
      if (mine !== this.asked) return;
      const begin = performance.now();
      const answer = await this.engine.ask({ do: 'analyze', text: this.editor.value, set: this.set });
      const took = performance.now() - begin;
      this.explain(answer.error);
      if (answer.error) {
        document.documentElement.dataset.ready = 'yes';
        return;
      }
      if (newScene) this.makeSliders(answer.parameters ?? {});
      this.time.textContent = `Analyzed in ${took.toFixed(1)} ms.`;
      const analysis = answer.analysis as Analysis;
      if (this.analysis) this.analysis.update(analysis);
      else {
        this.analysis = new AnalysisView(analysis);
        this.result.append(this.analysis.root);
        this.analysis.start();
      }
      Object.assign(document.documentElement.dataset, { ready: 'yes', took: took.toFixed(2), existence: analysis.existence });
    }, newScene ? 150 : 0);
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

  private async run(): Promise<void> {
    const answer = await this.engine.ask({ do: 'run', text: this.editor.value, set: this.set });
    this.explain(answer.error);
    if (answer.error || !answer.document) return;
    const page = await readPage(JSON.stringify(answer.document), answer.arrays ?? '');
    const view = new MotionView(page.title, page.motions);
    this.moving.replaceChildren(view.root);
    view.setTheme(document.documentElement.dataset.theme === 'dark');
    view.start();
  }
}

async function begin(): Promise<void> {
  const app = document.getElementById('app') ?? document.body;
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  try {
    const engine = await Engine.from(await wasm());
    // For scripts and the console.
    Object.assign(window, { delassusEngine: engine });
    new Playground(engine, app);
  } catch (error) {
    app.replaceChildren(el('p', { class: 'message bad', role: 'alert' }, `The engine does not start here: ${error instanceof Error ? error.message : String(error)}`));
    document.documentElement.dataset.ready = 'failed';
  }
}

begin();
