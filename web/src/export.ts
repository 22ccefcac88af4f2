// The view as a picture or a film.
import { download } from './dom';
import type { Player } from './player';

/** A name that every file system takes. */
export function fileName(title: string, ending: string): string {
  const plain = title.normalize('NFKD').replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '').toLowerCase();
  return `${plain || 'motion'}.${ending}`;
}

export function savePng(canvas: HTMLCanvasElement, title: string): void {
  canvas.toBlob((blob) => blob && download(blob, fileName(title, 'png')), 'image/png');
}

/** Plays the motion from its start and records what is seen; tells when it is done, or why it cannot be. */
export function saveFilm(canvas: HTMLCanvasElement, player: Player, title: string, say: (text: string) => void): void {
  const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find(
    (name) => typeof MediaRecorder !== 'undefined' && MediaRecorder.isTypeSupported(name),
  );
  if (!type || !canvas.captureStream) {
    say('This browser records no WebM.');
    return;
  }
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (e) => parts.push(e.data);
  recorder.onstop = () => {
    download(new Blob(parts, { type: 'video/webm' }), fileName(title, 'webm'));
    say('The film is saved.');
  };
  player.playing = false;
  player.seek(player.start);
  recorder.start();
  say('Recording one pass …');
  player.toggle();
  const wait = () => {
    if (player.playing) setTimeout(wait, 100);
    else setTimeout(() => recorder.stop(), 200);
  };
  wait();
}
