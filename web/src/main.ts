// The page: a head, and what the document in it has.
import './style.css';
import { AnalysisView, type Analysis } from './analysis';
import { load, type Page } from './data';
import { el } from './dom';
import { MapView, type MapDocument } from './map_view';
import { MotionView } from './motion_view';
import { PavingView, type PavingDocument } from './paving_view';
import { themeButton } from './theme';
import { TreeView, type TreeDocument } from './tree_view';

const app = document.getElementById('app') ?? document.body;

/** What every part of a page can do. */
export interface Part { root: HTMLElement; setTheme(dark: boolean): void; start(): void }

function parts(page: Page, motion: MotionView | null): Part[] {
  const out: Part[] = [];
  if (page.tree) {
    const tree = new TreeView(page.tree as TreeDocument, (index) => motion?.setMain(index));
    if (motion) motion.onMain = (index) => tree.mark(index);
    out.push(tree);
  }
  if (page.analysis) out.push(new AnalysisView(page.analysis as Analysis));
  if (page.map) out.push(new MapView(page.map as MapDocument, page.blob));
  if (page.paving) out.push(new PavingView(page.paving as PavingDocument, page.blob));
  if (motion) out.push(motion);
  return out;
}

/** Shows a page; the motion in it, where there is one. */
function show(page: Page): MotionView | null {
  document.title = page.title;
  const motion = page.motions.length ? new MotionView(page.title, page.motions) : null;
  const all = parts(page, motion);
  const head = el('header', {}, el('h1', {}, page.title), el('span', { class: 'brand' }, 'Delassus'), themeButton((dark) => all.forEach((part) => part.setTheme(dark))));
  app.replaceChildren(head, ...all.map((part) => part.root));
  if (all.length === 0) app.append(el('p', { class: 'message', role: 'alert' }, 'There is nothing in this file yet: the run that writes it has just begun.'));
  all.forEach((part) => part.start());
  if (page.motions.length === 0) document.documentElement.dataset.ready ??= 'yes';
  return motion;
}

function fail(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  app.replaceChildren(el('p', { class: 'message bad', role: 'alert' }, `This page cannot be shown: ${text}`));
  document.documentElement.dataset.ready = 'failed';
}

/** Whether a page has motions and nothing else, or nothing yet. */
const isMotion = (page: Page) => !page.tree && !page.analysis && !page.map && !page.paving;

/** A page that `delassus view` serves goes on where its file changes: view, time and charts stay as they are. */
function follow(page: Page, motion: MotionView | null): void {
  if (!location.protocol.startsWith('http')) return;
  // What goes on may have been written anew since it was read.
  let seen: string | null = isMotion(page) && (page.motions.length === 0 || page.motions.some((m) => m.running)) ? '' : null;
  const get = async (path: string) => {
    const answer = await fetch(path, { cache: 'no-store' });
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.text();
  };
  const renew = async () => {
    const next = await load(new DOMParser().parseFromString(await get(location.pathname), 'text/html'));
    if (!isMotion(page) || !isMotion(next)) {
      location.reload();
      return;
    }
    page = next;
    if (next.motions.length && motion?.update(next.motions)) return;
    const before = motion?.state();
    motion?.dispose();
    motion = show(next);
    if (before) motion?.resume(before);
  };
  const look = async () => {
    let stamp = '';
    try {
      stamp = await get('stamp');
    } catch {
      // The server is gone: what is shown stays.
      return;
    }
    try {
      if (seen !== null && stamp !== seen && stamp !== 'gone') await renew();
      if (stamp !== 'gone') seen = stamp;
    } catch {
      // What cannot be read now is asked for again.
    }
    setTimeout(look, 1000);
  };
  look();
}

load(document).then((page) => follow(page, show(page))).catch(fail);
