// What is shown as a picture or a film.
import type { Theme } from './colours';
import { download, el } from './dom';
import type { Player } from './player';

/** A canvas of the page with its words. */
export interface Shot { canvas: HTMLCanvasElement; title?: string; legend?: { colour: string; text: string }[] }

/** Heights of the lines of words above and below a canvas, and the space around it, in CSS pixels. */
const [TITLE, LEGEND, SPACE] = [22, 18, 8];

/** A name that every file system takes. */
export function fileName(title: string, ending: string): string {
  const plain = title.normalize('NFKD').replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '').toLowerCase().slice(0, 100);
  return `${plain || 'motion'}.${ending}`;
}

/** Draws canvases and their words onto one, row by row; onto one that there is, in its size. */
export function compose(shots: Shot[], columns: number, theme: Theme, there?: HTMLCanvasElement): HTMLCanvasElement {
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.max(1, ...shots.map((s) => s.canvas.clientWidth));
  const height = (s: Shot) => (s.title ? TITLE : 0) + s.canvas.clientHeight + LEGEND * (s.legend?.length ?? 0) + SPACE;
  const rows = Array.from({ length: Math.ceil(shots.length / columns) }, (_, i) => shots.slice(i * columns, (i + 1) * columns));
  const heights = rows.map((row) => Math.max(...row.map(height)));
  const onto = there ?? el('canvas', {
    width: Math.ceil(ratio * (columns * (wide + SPACE) + SPACE)), height: Math.ceil(ratio * (SPACE + heights.reduce((a, b) => a + b, 0))),
  });
  const c = onto.getContext('2d');
  if (!c) return onto;
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.fillStyle = theme.paper;
  c.fillRect(0, 0, onto.width, onto.height);
  c.scale(ratio, ratio);
  let top = SPACE;
  rows.forEach((row, i) => {
    row.forEach((shot, k) => draw(c, shot, SPACE + k * (wide + SPACE), top, theme));
    top += heights[i];
  });
  return onto;
}

function draw(c: CanvasRenderingContext2D, { canvas, title, legend }: Shot, left: number, top: number, theme: Theme): void {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const from = top + (title ? TITLE : 0);
  c.textBaseline = 'middle';
  c.fillStyle = theme.ink;
  c.font = '600 13px system-ui, sans-serif';
  if (title) c.fillText(title, left, top + 0.5 * TITLE, width);
  if (canvas.width && canvas.height) c.drawImage(canvas, left, from, width, height);
  c.font = '12px system-ui, sans-serif';
  legend?.forEach(({ colour, text }, i) => {
    const y = from + height + (i + 0.5) * LEGEND;
    c.fillStyle = colour;
    c.fillRect(left, y - 2, 12, 4);
    c.fillStyle = theme.ink;
    c.fillText(text, left + 18, y, width - 18);
  });
}

/** How many elements stand beside each other in the first row. */
export function columnsOf(list: HTMLElement[]): number {
  const top = list[0]?.getBoundingClientRect().top;
  return Math.max(1, list.filter((e) => Math.abs(e.getBoundingClientRect().top - top) < 2).length);
}

/** Offers the picture; says what came of it. */
export function savePng(canvas: HTMLCanvasElement, title: string, say: (text: string) => void): void {
  if (!canvas.width || !canvas.height) {
    say('There is nothing to be saved here.');
    return;
  }
  canvas.toBlob((blob) => {
    if (blob) download(blob, fileName(title, 'png'));
    say(blob ? 'The picture is saved.' : 'This browser could not make the picture: it may be too large.');
  }, 'image/png');
}

/** A button that saves what stands on canvases, and says what came of it. */
export function pngButton(shots: () => Shot[], theme: () => Theme): HTMLElement {
  const said = el('span', { class: 'muted', role: 'status' });
  const save = () => {
    const list = shots().filter((shot) => shot.canvas.clientWidth > 0);
    if (list.length === 0) said.textContent = ' There is no picture to be saved.';
    else savePng(compose(list, 1, theme()), document.title, (text) => (said.textContent = ` ${text}`));
  };
  return el('p', { class: 'save' }, el('button', { type: 'button', onclick: save }, 'Save PNG'), said);
}

/** Plays the motion from its start and records what is seen; says when it is done, or why it cannot be. */
export function saveFilm(canvas: HTMLCanvasElement, player: Player, title: string, say: (text: string) => void, done: () => void): void {
  const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find(
    (name) => typeof MediaRecorder !== 'undefined' && MediaRecorder.isTypeSupported(name),
  );
  const fail = (text: string) => {
    say(text);
    done();
  };
  if (!type || !canvas.captureStream) return fail('This browser records no WebM.');
  if (player.times.length < 2) return fail('There is one frame only, nothing moves: a PNG keeps it.');
  let recorder: MediaRecorder;
  try {
    recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 });
  } catch (error) {
    return fail(`This browser cannot record the view: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parts: Blob[] = [];
  let broken = '';
  recorder.ondataavailable = (e) => parts.push(e.data);
  recorder.onerror = () => (broken = 'Recording failed in this browser.');
  recorder.onstop = () => {
    if (!broken) download(new Blob(parts, { type: 'video/webm' }), fileName(title, 'webm'));
    fail(broken || 'The film is saved.');
  };
  player.playing = false;
  player.seek(player.start);
  recorder.start();
  say('Recording one pass; pause ends it …');
  player.toggle();
  const wait = () => {
    if (player.playing && !broken) setTimeout(wait, 100);
    else setTimeout(() => recorder.state !== 'inactive' && recorder.stop(), 200);
  };
  wait();
}
