// Motions on the screen: views side by side, time, panels and charts.
import { DARK, EVENT_COLOURS, LIGHT, MODE_COLOURS, NOT_UNIQUE, type Theme } from './colours';
import type { Motion } from './data';
import { el, number, tabs } from './dom';
import { columnsOf, compose, saveFilm, savePng, type Shot } from './export';
import { bodiesPanel, contactsPanel, eventsPanel, eventWords, jointsPanel, reportPanel } from './panels';
import { Player } from './player';
import { Chart, choices, comparisons, type Line } from './plots';
import { Stage, type Shown } from './stage';

/** Views that are drawn at once. */
const MOST_VIEWS = 9;
/** How far a key turns a view. */
const TURN = Math.PI / 24;
/** Charts that are there from the beginning. */
const FIRST_CHARTS = ['energy, J', 'contact forces, N', 'positions', 'overlap, m', 'residual'];

/** What somebody has chosen in a view. */
export interface ViewState {
  t: number; atEnd: boolean; playing: boolean; speed: number; main: string; panel: string; charts: string[];
  view: { eye: number[]; target: number[] } | null; selected: number; following: boolean; shown: Shown;
}

export class MotionView {
  readonly root = el('main', { class: 'motion' });
  readonly player: Player;
  private readonly stages: (Stage | null)[] = [];
  private readonly hosts: HTMLElement[] = [];
  private readonly shown: Shown = { forces: true, cones: false, joints: true, bodies: true, scale: 1 };
  private readonly charts: Chart[] = [];
  private readonly chartHost = el('section', { class: 'charts', 'aria-label': 'Charts' });
  private readonly clock = el('output', { class: 'clock', 'aria-live': 'off' });
  private readonly slider = el('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Time' });
  private readonly marks = el('div', { class: 'marks', 'aria-hidden': 'true' });
  private readonly playButton = el('button', { type: 'button', class: 'play' }, 'Play');
  private readonly speed = el('output', { class: 'speed' });
  private readonly status = el('p', { class: 'status', role: 'status' });
  private readonly messages = el('div', { class: 'messages' });
  /** Why motions with bodies are not drawn. */
  private readonly undrawn: string[] = [];
  /** The body that panels speak of where there is no view. */
  private chosen = -1;
  private readonly panelBodies: Record<string, HTMLElement> = {};
  private theme: Theme = LIGHT;
  private main = 0;
  private panel = '';
  private dirty = true;
  private panelFrame = -1;
  private hash = '';
  private filming = false;
  /** Told of what was drawn, where a film is made of it. */
  private onShown: () => void = () => {};
  /** Told which motion panels and charts speak of. */
  onMain: (motion: number) => void = () => {};
  private readonly ended = new AbortController();

  /** `addressed`: time and camera stand in the address of the page. */
  constructor(private readonly title: string, private motions: Motion[], private readonly addressed = true) {
    const longest = longestOf(motions);
    this.main = motions.indexOf(longest);
    this.player = new Player(longest.time);
    this.player.onChange = () => (this.dirty = true);
    this.build();
  }

  /** Shows more of the same motions, as a run that goes on writes them; whether they are the same. */
  update(motions: Motion[]): boolean {
    const same = motions.length === this.motions.length && motions.every((motion, i) => isAlike(motion, this.motions[i]));
    if (!same || this.filming) return same;
    try {
      this.stages.forEach((stage, i) => stage?.update(motions[i]));
    } catch {
      // It has become too wide to be drawn: another view says so.
      return false;
    }
    this.motions = motions;
    this.player.extend(longestOf(motions).time);
    this.slider.max = String(Math.max(this.player.times.length - 1, 0));
    this.panelFrame = -1;
    for (const [name, body] of Object.entries(this.panelBodies)) if (name !== 'View') body.replaceChildren();
    this.charts.forEach((chart, k) => {
      const anew = this.makeChart(chart.title);
      if (!anew) return;
      chart.root.replaceWith(anew.root);
      this.charts[k] = anew;
    });
    this.markEvents();
    this.tellMessages();
    this.dirty = true;
    return true;
  }

  /** Begins, once it stands on the page: the size is known. */
  start(): void {
    this.resize();
    this.restore();
    const { signal } = this.ended;
    addEventListener('hashchange', () => this.restore(), { signal });
    addEventListener('resize', () => this.resize(), { signal });
    addEventListener('keydown', (e) => this.key(e), { signal });
    requestAnimationFrame((now) => this.loop(now));
  }

  /** What somebody has chosen here, for a view that takes this one's place. */
  state(): ViewState {
    const stage = this.stages[this.main];
    return {
      t: this.player.t, atEnd: this.player.t >= this.player.end, playing: this.player.playing, speed: this.player.speed,
      main: this.motion.name, panel: this.panel, charts: this.charts.map((chart) => chart.title),
      view: stage?.turned ? stage.view : null, selected: stage?.selected ?? this.chosen, following: stage?.following ?? false, shown: { ...this.shown },
    };
  }

  resume(before: ViewState): void {
    const main = this.motions.findIndex((motion) => motion.name === before.main);
    if (main >= 0) this.setMain(main);
    for (const key of ['forces', 'cones', 'joints', 'bodies'] as const) if (this.shown[key] !== before.shown[key]) this.toggle(key);
    this.shown.scale = before.shown.scale;
    const stage = this.stages[this.main];
    if (before.view) stage?.look(before.view);
    else stage?.home();
    if (this.motion.bodies[before.selected]) this.select(before.selected);
    if (before.following) this.setFollow(true);
    for (const name of before.charts) this.addChart(name);
    [...this.root.querySelectorAll<HTMLElement>('.side [role=tab]')].find((tab) => tab.textContent === before.panel)?.click();
    this.player.speed = before.speed;
    this.player.seek(before.atEnd && !before.playing ? this.player.end : before.t);
    if (before.playing) this.player.toggle();
  }

  /** Ends, and gives back what the views hold of the graphics card. */
  dispose(): void {
    this.ended.abort();
    this.stages.forEach((stage) => stage?.dispose());
    this.root.remove();
  }

  private get motion(): Motion {
    return this.motions[this.main];
  }

  private build(): void {
    const views = el('div', { class: this.motions.length > 1 ? 'views several' : 'views' });
    this.motions.slice(0, MOST_VIEWS).forEach((motion, i) => {
      const host = el('div', { class: 'view' });
      if (this.motions.length > 1) {
        host.append(el('button', { type: 'button', class: 'view-name', onclick: () => this.setMain(i) }, motion.name));
      }
      this.hosts.push(host);
      views.append(host);
      let stage: Stage | null = null;
      if (motion.bodies.length && motion.frames) {
        try {
          stage = new Stage(host, motion, `Bodies of ${motion.name} in space; the tables and charts say the same in numbers`);
        } catch (error) {
          this.undrawn[i] = `Nothing is drawn here: ${error instanceof Error ? error.message : String(error)}. Tables and charts work without.`;
          host.append(el('p', { class: 'message' }, this.undrawn[i]));
        }
      }
      if (stage) {
        stage.onPick = (body) => {
          this.setMain(i);
          this.select(body);
        };
        stage.onMove = () => {
          this.dirty = true;
          this.align(i);
        };
      }
      this.stages.push(stage);
    });
    this.markMain();
    if (this.stages.every((s) => !s)) this.root.classList.add('flat');
    const left = el('div', { class: 'left' });
    this.tellMessages();
    left.append(this.messages, views, ...(this.root.classList.contains('flat') ? [] : [this.legend()]), this.transport(), this.timeline());
    this.root.append(left, this.side(), this.chartSection());
  }

  /** What a user should know before anything else. */
  private tellMessages(): void {
    const bad = (text: string) => el('p', { class: 'message bad', role: 'alert' }, text);
    const list: HTMLElement[] = [];
    this.motions.forEach((motion, i) => {
      if (motion.failure) list.push(bad(`The run ended early: ${motion.failure}`));
      if (motion.running) list.push(el('p', { class: 'message' }, 'The run goes on; this is what there is of it.'));
      const remark = this.undrawn[i] ?? this.stages[i]?.remark;
      if (remark) list.push(el('p', { class: 'message' }, remark));
    });
    if (this.motions.every((motion) => motion.bodies.length === 0 && motion.series.every((s) => s.group !== 'positions'))) {
      list.push(el('p', { class: 'message' }, 'Nothing is in this scene that could move: there are no bodies.'));
    }
    if (this.motion.frames === 0) list.push(bad('There is no frame in this file: the run made no step that could be written.'));
    this.messages.replaceChildren(...list);
  }

  private legend(): HTMLElement {
    const entry = (colour: string, text: string) => {
      const swatch = el('span', { class: 'dot', 'aria-hidden': 'true' });
      swatch.style.background = colour;
      return el('span', { class: 'entry' }, swatch, text);
    };
    return el('div', { class: 'scene-legend' }, entry(MODE_COLOURS[0], 'open'), entry(MODE_COLOURS[1], 'sticks'), entry(MODE_COLOURS[2], 'slides'), entry(NOT_UNIQUE, 'not unique, with its interval'));
  }

  private transport(): HTMLElement {
    const { player } = this;
    const button = (text: string, label: string, act: () => void) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
    this.playButton.addEventListener('click', () => player.toggle());
    return el('div', { class: 'transport', role: 'toolbar', 'aria-label': 'Playing' },
      button('«', 'To the start (Home)', () => player.seek(player.start)),
      button('‹', 'One frame back (←)', () => player.step(-1)),
      this.playButton,
      button('›', 'One frame on (→)', () => player.step(1)),
      button('»', 'To the end (End)', () => player.seek(player.end)),
      el('span', { class: 'group' }, button('−', 'Slower (-)', () => player.faster(0.5)), this.speed, button('+', 'Faster (+)', () => player.faster(2))),
      this.clock,
    );
  }

  private timeline(): HTMLElement {
    const { player, slider } = this;
    slider.max = String(Math.max(player.times.length - 1, 0));
    slider.addEventListener('input', () => {
      player.playing = false;
      player.seek(player.times[Number(slider.value)] ?? 0);
    });
    this.markEvents();
    return el('div', { class: 'timeline' }, slider, this.marks, this.status);
  }

  /** The events of the motion that panels speak of, under the slider. */
  private markEvents(): void {
    const { motion, player } = this;
    this.marks.replaceChildren(...motion.events.slice(0, 1500).map((event) => {
      const mark = el('button', { type: 'button', tabindex: '-1', title: `${number(event.t)} s: ${eventWords(event)}`, onclick: () => player.seek(event.t) });
      mark.style.left = `${100 * player.along(event.t)}%`;
      mark.style.background = EVENT_COLOURS[event.kind] ?? '#888';
      return mark;
    }));
  }

  private side(): HTMLElement {
    const has = (name: string) => {
      const body = el('div', { class: 'panel' });
      this.panelBodies[name] = body;
      return { name, body };
    };
    const parts = [has('Run'), has('Contacts'), has(this.motion.bodies.length ? 'Bodies' : 'State'), has('Joints'), has('Events'), has('View')];
    this.panelBodies.View.append(this.viewPanel());
    return el('aside', { class: 'side', 'aria-label': 'Numbers' }, tabs(parts, 'Numbers', (name) => {
      this.panel = name;
      this.panelFrame = -1;
      this.dirty = true;
    }));
  }

  private viewPanel(): HTMLElement {
    const { shown } = this;
    const check = (text: string, key: 'forces' | 'cones' | 'joints' | 'bodies') => {
      const box = el('input', { type: 'checkbox', 'data-key': key });
      box.checked = shown[key];
      box.addEventListener('change', () => {
        shown[key] = box.checked;
        this.dirty = true;
      });
      return el('label', { class: 'check' }, box, text);
    };
    const scale = el('input', { type: 'range', min: -2, max: 2, step: 0.1, value: 0, 'aria-label': 'Length of arrows' });
    scale.addEventListener('input', () => {
      shown.scale = 10 ** Number(scale.value);
      this.dirty = true;
    });
    const follow = el('input', { type: 'checkbox', 'data-key': 'follow' });
    follow.addEventListener('change', () => this.setFollow(follow.checked));
    const stage = () => this.stages[this.main];
    return el('div', { class: 'view-panel' },
      check('Contact forces (A)', 'forces'), check('Friction cones (C)', 'cones'), check('Reactions of joints (J)', 'joints'), check('Bodies (B)', 'bodies'),
      el('label', { class: 'check' }, follow, 'Follow the selected body (F)'),
      el('label', { class: 'range' }, 'Length of arrows', scale),
      el('div', { class: 'buttons' },
        el('button', { type: 'button', onclick: () => stage()?.home() }, 'Whole scene (H)'),
        el('button', { type: 'button', onclick: () => this.png() }, 'Save PNG (P)'),
        el('button', { type: 'button', onclick: () => this.film() }, 'Save WebM')),
      el('p', { class: 'muted' }, 'Drag turns, two fingers or the wheel zoom, the right button moves. Space plays, ← and → step, Shift with them makes ten steps. A click on a body selects it. Q and E turn, W and S tilt, Z and X go nearer and away.'),
    );
  }

  /** What there is to be plotted; of motions without bodies, side by side means in one chart. */
  private offers(): { name: string; make: () => Line[] }[] {
    const beside = this.motions.length > 1 ? comparisons(this.motions) : [];
    return this.isFlat ? [...beside, ...choices(this.motion)] : [...choices(this.motion), ...beside];
  }

  private get isFlat(): boolean {
    return this.motions.every((motion) => motion.bodies.length === 0);
  }

  private makeChart(name: string): Chart | null {
    const choice = this.offers().find((c) => c.name === name);
    if (!choice) return null;
    const chart: Chart = new Chart(name, this.motion.time, choice.make(), this.motion.events, (t) => {
      this.player.playing = false;
      this.player.seek(t);
    }, () => {
      const at = this.charts.indexOf(chart);
      if (at >= 0) this.charts.splice(at, 1);
      chart.root.remove();
    });
    return chart;
  }

  private addChart(name: string): void {
    if (this.charts.some((c) => c.title === name)) return;
    const chart = this.makeChart(name);
    if (!chart) return;
    this.charts.push(chart);
    this.chartHost.insertBefore(chart.root, this.chartHost.lastElementChild);
    this.dirty = true;
  }

  private chartSection(): HTMLElement {
    const all = this.offers();
    const add = (name: string) => this.addChart(name);
    const pick = el('select', { 'aria-label': 'Add a chart' }, el('option', { value: '' }, 'Add a chart …'), ...all.map((c) => el('option', { value: c.name }, c.name)));
    pick.addEventListener('change', () => {
      add(pick.value);
      pick.value = '';
    });
    const more = el('div', { class: 'more' }, pick);
    this.chartHost.append(more);
    const tells = (name: string) => all.find((c) => c.name === name)?.make().some((line) => Array.from(line.values).some((v) => v !== 0));
    const together = all.filter((c) => this.isFlat && / · (positions|contact forces, N|energy, J), all motions$/.test(c.name)).slice(0, 8).map((c) => c.name);
    if (this.motion.frames > 1) [...together, ...(together.length ? [] : FIRST_CHARTS)].filter(tells).forEach(add);
    return this.chartHost;
  }

  /** Panels and charts speak of this motion from now on. */
  setMain(index: number): void {
    if (index === this.main) return;
    const before = this.player.t;
    this.main = index;
    this.panelFrame = -1;
    this.charts.splice(0);
    this.chartHost.replaceChildren();
    this.chartSection();
    this.markEvents();
    this.markMain();
    this.player.seek(before);
    this.dirty = true;
    this.onMain(index);
  }

  private markMain(): void {
    this.hosts.forEach((host, i) => {
      host.classList.toggle('main', this.motions.length > 1 && i === this.main);
      host.querySelector('.view-name')?.setAttribute('aria-pressed', String(i === this.main));
    });
  }

  select(body: number): void {
    this.stages[this.main]?.select(body);
    this.chosen = body;
    this.panelFrame = -1;
    this.dirty = true;
  }

  private setFollow(on: boolean): void {
    for (const stage of this.stages) if (stage) stage.following = on;
    if (on) this.stages[this.main]?.approach();
    if (on && (this.stages[this.main]?.selected ?? -1) < 0) this.say('Select a body to be followed: click it, or its name under Bodies.');
    const box = this.root.querySelector<HTMLInputElement>('[data-key=follow]');
    if (box) box.checked = on;
    this.dirty = true;
  }

  private toggle(key: 'forces' | 'cones' | 'joints' | 'bodies'): void {
    this.shown[key] = !this.shown[key];
    const box = this.root.querySelector<HTMLInputElement>(`[data-key=${key}]`);
    if (box) box.checked = this.shown[key];
    this.dirty = true;
  }

  private say(text: string): void {
    this.status.textContent = text;
  }

  /** What is shown, onto one canvas: all views, or all charts where there are none. One view is its own canvas. */
  private picture(there?: HTMLCanvasElement): HTMLCanvasElement | null {
    const views = this.stages.flatMap((stage, i) => (stage ? [{ stage, host: this.hosts[i], title: this.motions[i].name }] : []));
    if (views.length === 1) return views[0].stage.canvas;
    const shots: Shot[] = views.length ? views.map(({ stage, title }) => ({ canvas: stage.canvas, title })) : this.charts.map((chart) => chart.shot());
    const roots = views.length ? views.map((view) => view.host) : this.charts.map((chart) => chart.root);
    return shots.length ? compose(shots, columnsOf(roots), this.theme, there) : null;
  }

  private png(): void {
    this.show();
    const picture = this.picture();
    if (picture) savePng(picture, this.title, (text) => this.say(text));
    else this.say('There is no view and no chart that could be saved: add a chart first.');
  }

  private film(): void {
    if (this.filming) return this.say('A film is being recorded already.');
    const picture = this.picture();
    if (!picture) return this.say('There is no view and no chart that could be filmed: add a chart first.');
    this.filming = true;
    this.onShown = () => void this.picture(picture);
    saveFilm(picture, this.player, this.title, (text) => this.say(text), () => {
      this.filming = false;
      this.onShown = () => {};
    });
  }

  /** Views side by side look from the same place. */
  private align(from: number): void {
    const source = this.stages[from];
    if (!source) return;
    this.stages.forEach((stage, i) => {
      if (!stage || i === from) return;
      stage.copyView(source);
    });
  }

  private key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || ['SELECT', 'TEXTAREA'].includes(target.tagName)) return;
    const typing = target instanceof HTMLInputElement && target.type !== 'checkbox' && target !== this.slider;
    if (typing) return;
    const onButton = target.tagName === 'BUTTON' || target instanceof HTMLInputElement;
    const { player } = this;
    const stage = this.stages[this.main];
    const keys: Record<string, () => void> = {
      ' ': () => player.toggle(),
      ArrowLeft: () => player.step(e.shiftKey ? -10 : -1),
      ArrowRight: () => player.step(e.shiftKey ? 10 : 1),
      Home: () => player.seek(player.start),
      End: () => player.seek(player.end),
      '+': () => player.faster(2),
      '-': () => player.faster(0.5),
      a: () => this.toggle('forces'),
      c: () => this.toggle('cones'),
      j: () => this.toggle('joints'),
      b: () => this.toggle('bodies'),
      h: () => stage?.home(),
      f: () => this.setFollow(!stage?.following),
      p: () => this.png(),
      q: () => stage?.turn(-TURN, 0, 1),
      e: () => stage?.turn(TURN, 0, 1),
      w: () => stage?.turn(0, TURN, 1),
      s: () => stage?.turn(0, -TURN, 1),
      z: () => stage?.turn(0, 0, 1.2),
      x: () => stage?.turn(0, 0, 1 / 1.2),
    };
    const act = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act || (e.key === ' ' && onButton)) return;
    e.preventDefault();
    act();
  }

  setTheme(dark: boolean): void {
    this.theme = dark ? DARK : LIGHT;
    this.stages.forEach((stage) => stage?.setTheme(this.theme));
    this.dirty = true;
  }

  resize(): void {
    this.stages.forEach((stage, i) => stage?.resize(this.hosts[i].clientWidth, this.hosts[i].clientHeight));
    this.dirty = true;
  }

  private loop(now: number): void {
    if (this.ended.signal.aborted) return;
    this.player.tick(now);
    if (this.dirty) {
      this.dirty = false;
      this.show();
    }
    requestAnimationFrame((next) => this.loop(next));
  }

  private show(): void {
    const { player, motion } = this;
    this.stages.forEach((stage, i) => {
      if (!stage) return;
      const shown = this.motions[i];
      const frame = shown.frameAt(player.t);
      const [a, b] = [shown.time[frame], shown.time[Math.min(frame + 1, shown.frames - 1)]];
      const part = b > a ? Math.min(Math.max((player.t - a) / (b - a), 0), 1) : 0;
      stage.show(frame, part > 1e-6 ? part : 0, this.shown);
      stage.render();
    });
    const frame = motion.frameAt(player.t);
    const now = player.end < 0.1 ? number(Number(player.t.toPrecision(4))) : player.t.toFixed(3);
    this.clock.textContent = `${now} s of ${number(player.end)} s`;
    this.speed.textContent = `${number(Number(player.speed.toPrecision(3)))}×`;
    this.playButton.textContent = player.playing ? 'Pause' : 'Play';
    this.playButton.setAttribute('aria-pressed', String(player.playing));
    this.slider.value = String(player.frame);
    this.slider.setAttribute('aria-valuetext', `${number(player.t)} seconds, frame ${frame + 1} of ${motion.frames}`);
    for (const chart of this.charts) chart.show(frame, player.t, this.theme);
    this.showPanel(frame);
    this.onShown();
    Object.assign(document.documentElement.dataset, { frame: String(frame), time: String(motion.time[frame] ?? ''), ready: 'yes' });
    this.remember();
  }

  private showPanel(frame: number): void {
    if (frame === this.panelFrame || this.motion.frames === 0) return;
    this.panelFrame = frame;
    const body = this.panelBodies[this.panel];
    const { motion } = this;
    const selected = this.stages[this.main]?.selected ?? this.chosen;
    switch (this.panel) {
      case 'Run':
        if (!body.hasChildNodes() || this.motions.length > 1) body.replaceChildren(reportPanel(motion));
        break;
      case 'Contacts':
        body.replaceChildren(contactsPanel(motion, frame));
        break;
      case 'Joints':
        body.replaceChildren(jointsPanel(motion, frame));
        break;
      case 'Events':
        if (!body.hasChildNodes() || this.motions.length > 1) body.replaceChildren(eventsPanel(motion, (t) => this.player.seek(t)));
        break;
      case 'Bodies':
      case 'State':
        body.replaceChildren(bodiesPanel(motion, frame, selected, (b) => this.select(b)));
        break;
    }
  }

  /** Time and camera in the address, so that a link shows the same. */
  private remember(): void {
    if (this.player.playing || !this.addressed) return;
    const stage = this.stages[this.main];
    const parts = [`t=${Number(this.player.t.toPrecision(15))}`];
    if (this.motions.length > 1) parts.push(`m=${this.main}`);
    if (stage) {
      const { eye, target } = stage.view;
      // Digits enough for the distance between the two, wherever they are.
      const away = Math.max(Math.hypot(...eye.map((x, k) => x - target[k])), 1e-300);
      const round = (x: number) => Number(x.toPrecision(Math.min(Math.max(5 + Math.ceil(Math.log10(Math.abs(x) / away || 1)), 5), 17)));
      parts.push(`c=${[...eye, ...target].map(round).join(',')}`);
      if (stage.selected >= 0) parts.push(`b=${stage.selected}`);
    }
    const hash = `#${parts.join('&')}`;
    if (hash === this.hash) return;
    this.hash = hash;
    try {
      history.replaceState(null, '', hash);
    } catch {
      // Some places do not let a page change its address; it works without.
    }
  }

  private restore(): void {
    if (!this.addressed || location.hash === this.hash || location.hash.length < 2) return;
    const read = new URLSearchParams(location.hash.slice(1));
    const t = Number(read.get('t'));
    const view = (read.get('c') ?? '').split(',').map(Number);
    const motion = read.get('m');
    if (motion !== null && this.motions[Number(motion)]) this.setMain(Number(motion));
    const stage = this.stages[this.main];
    if (stage && view.length === 6 && view.every(Number.isFinite)) stage.look({ eye: view.slice(0, 3), target: view.slice(3) });
    const body = read.get('b');
    if (stage && body !== null && this.motion.bodies[Number(body)]) stage.select(Number(body));
    if (read.get('t') !== null && Number.isFinite(t)) this.player.seek(t);
  }
}

function longestOf(motions: Motion[]): Motion {
  return motions.reduce((a, b) => (b.frames > 0 && (b.time[b.frames - 1] ?? 0) > (a.time[a.frames - 1] ?? -1) ? b : a));
}

/** Whether two motions are of the same bodies, one of them longer. */
function isAlike(a: Motion, b: Motion): boolean {
  const words = ({ bodies, joints, series }: Motion) =>
    JSON.stringify([bodies, joints, series.map((s) => [s.name, s.group])], (key, value) => (key === 'points' || key === 'triangles' ? value?.length : value));
  return a.frames > 0 && b.frames > 0 && words(a) === words(b);
}
