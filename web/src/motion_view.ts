// Motions on the screen: views side by side, time, panels and charts.
import { DARK, EVENT_COLOURS, LIGHT, MODE_COLOURS, NOT_UNIQUE, type Theme } from './colours';
import type { Motion } from './data';
import { el, number, tabs } from './dom';
import { saveFilm, savePng } from './export';
import { bodiesPanel, contactsPanel, eventsPanel, eventWords, jointsPanel, reportPanel } from './panels';
import { Player } from './player';
import { Chart, choices, comparisons } from './plots';
import { Stage, type Shown } from './stage';

/** Views that are drawn at once. */
const MOST_VIEWS = 9;
/** Charts that are there from the beginning. */
const FIRST_CHARTS = ['energy, J', 'contact forces, N', 'positions', 'overlap, m', 'residual'];

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
  private readonly panelBodies: Record<string, HTMLElement> = {};
  private theme: Theme = LIGHT;
  private main = 0;
  private panel = '';
  private dirty = true;
  private panelFrame = -1;
  private hash = '';
  private readonly ended = new AbortController();

  constructor(private readonly title: string, private motions: Motion[]) {
    const longest = motions.reduce((a, b) => (b.frames > 0 && (b.time[b.frames - 1] ?? 0) > (a.time[a.frames - 1] ?? -1) ? b : a));
    this.main = motions.indexOf(longest);
    this.player = new Player(longest.time);
    this.player.onChange = () => (this.dirty = true);
    this.build();
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
          host.append(el('p', { class: 'message' }, `Nothing is drawn here: ${error instanceof Error ? error.message : String(error)}. Tables and charts work without.`));
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
    for (const motion of this.motions) {
      if (motion.failure) left.append(el('p', { class: 'message bad', role: 'alert' }, `The run ended early: ${motion.failure}`));
      if (motion.running) left.append(el('p', { class: 'message' }, 'The run goes on; this is what there is of it.'));
    }
    if (this.motion.frames === 0) left.append(el('p', { class: 'message bad', role: 'alert' }, 'There is no frame in this file: the run made no step that could be written.'));
    left.append(views, ...(this.root.classList.contains('flat') ? [] : [this.legend()]), this.transport(), this.timeline());
    this.root.append(left, this.side(), this.chartSection());
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
    const [from, length] = [player.start, Math.max(player.end - player.start, 1e-12)];
    this.marks.replaceChildren(...motion.events.slice(0, 1500).map((event) => {
      const mark = el('button', { type: 'button', tabindex: '-1', title: `${number(event.t)} s: ${eventWords(event)}`, onclick: () => player.seek(event.t) });
      mark.style.left = `${(100 * (event.t - from)) / length}%`;
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
        el('button', { type: 'button', onclick: () => {
          const canvas = stage()?.canvas;
          if (canvas) saveFilm(canvas, this.player, this.title, (text) => (this.status.textContent = text));
        } }, 'Save WebM')),
      el('p', { class: 'muted' }, 'Drag turns, two fingers or the wheel zoom, the right button moves. Space plays, ← and → step, Shift with them makes ten steps. A click on a body selects it.'),
    );
  }

  private chartSection(): HTMLElement {
    // Of motions without bodies, side by side means in one chart.
    const beside = this.motions.length > 1 ? comparisons(this.motions) : [];
    const flat = this.motions.every((motion) => motion.bodies.length === 0);
    const all = flat ? [...beside, ...choices(this.motion)] : [...choices(this.motion), ...beside];
    const add = (name: string) => {
      const choice = all.find((c) => c.name === name);
      if (!choice || this.charts.some((c) => c.title === name)) return;
      const chart = new Chart(name, this.motion.time, choice.make(), this.motion.events, (t) => {
        this.player.playing = false;
        this.player.seek(t);
      }, () => {
        this.charts.splice(this.charts.indexOf(chart), 1);
        chart.root.remove();
      });
      this.charts.push(chart);
      this.chartHost.insertBefore(chart.root, more);
      this.dirty = true;
    };
    const pick = el('select', { 'aria-label': 'Add a chart' }, el('option', { value: '' }, 'Add a chart …'), ...all.map((c) => el('option', { value: c.name }, c.name)));
    pick.addEventListener('change', () => {
      add(pick.value);
      pick.value = '';
    });
    const more = el('div', { class: 'more' }, pick);
    this.chartHost.append(more);
    const tells = (name: string) => all.find((c) => c.name === name)?.make().some((line) => Array.from(line.values).some((v) => v !== 0));
    const first = beside.filter((c) => flat && / · (positions|contact forces, N|energy, J), all motions$/.test(c.name)).slice(0, 8).map((c) => c.name);
    if (this.motion.frames > 1) [...first, ...(first.length ? [] : FIRST_CHARTS)].filter(tells).forEach(add);
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
  }

  private markMain(): void {
    this.hosts.forEach((host, i) => {
      host.classList.toggle('main', this.motions.length > 1 && i === this.main);
      host.querySelector('.view-name')?.setAttribute('aria-pressed', String(i === this.main));
    });
  }

  select(body: number): void {
    this.stages[this.main]?.select(body);
    this.panelFrame = -1;
    this.dirty = true;
  }

  private setFollow(on: boolean): void {
    for (const stage of this.stages) if (stage) stage.following = on;
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

  private png(): void {
    const stage = this.stages[this.main];
    stage?.render();
    if (stage) savePng(stage.canvas, this.title);
  }

  /** Views side by side look from the same place. */
  private align(from: number): void {
    const source = this.stages[from];
    if (!source) return;
    this.stages.forEach((stage, i) => {
      if (!stage || i === from) return;
      stage.camera.position.copy(source.camera.position);
      stage.camera.quaternion.copy(source.camera.quaternion);
      stage.controls.target.copy(source.controls.target);
    });
  }

  private key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || ['SELECT', 'TEXTAREA'].includes(target.tagName)) return;
    const typing = target instanceof HTMLInputElement && target.type !== 'checkbox' && target !== this.slider;
    if (typing) return;
    const onButton = target.tagName === 'BUTTON' || target instanceof HTMLInputElement;
    const { player } = this;
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
      h: () => this.stages[this.main]?.home(),
      f: () => this.setFollow(!this.stages[this.main]?.following),
      p: () => this.png(),
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
    this.clock.textContent = `${player.t.toFixed(3)} s of ${number(player.end)} s`;
    this.speed.textContent = `${number(player.speed)}×`;
    this.playButton.textContent = player.playing ? 'Pause' : 'Play';
    this.playButton.setAttribute('aria-pressed', String(player.playing));
    this.slider.value = String(player.frame);
    this.slider.setAttribute('aria-valuetext', `${number(player.t)} seconds, frame ${frame + 1} of ${motion.frames}`);
    for (const chart of this.charts) chart.show(frame, player.t, this.theme);
    this.showPanel(frame);
    Object.assign(document.documentElement.dataset, { frame: String(frame), time: String(motion.time[frame] ?? ''), ready: 'yes' });
    this.remember();
  }

  private showPanel(frame: number): void {
    if (frame === this.panelFrame || this.motion.frames === 0) return;
    this.panelFrame = frame;
    const body = this.panelBodies[this.panel];
    const { motion } = this;
    const selected = this.stages[this.main]?.selected ?? -1;
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
    if (this.player.playing) return;
    const stage = this.stages[this.main];
    const parts = [`t=${Number(this.player.t.toPrecision(9))}`];
    if (stage) {
      const { camera, controls } = stage;
      const round = (x: number) => Number(x.toPrecision(5));
      parts.push(`c=${[...camera.position.toArray(), ...controls.target.toArray()].map(round).join(',')}`);
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
    if (location.hash === this.hash || location.hash.length < 2) return;
    const read = new URLSearchParams(location.hash.slice(1));
    const t = Number(read.get('t'));
    const view = (read.get('c') ?? '').split(',').map(Number);
    const stage = this.stages[this.main];
    if (stage && view.length === 6 && view.every(Number.isFinite)) {
      stage.camera.position.set(view[0], view[1], view[2]);
      stage.controls.target.set(view[3], view[4], view[5]);
      stage.controls.update();
    }
    const body = read.get('b');
    if (stage && body !== null && this.motion.bodies[Number(body)]) stage.select(Number(body));
    if (Number.isFinite(t)) this.player.seek(t);
  }
}
