// Where the engine works: on a thread of its own, or on that of the page where a browser allows no other.
import { Engine, type Answer } from './engine';
import EngineWorker from './worker?worker&inline';

/** How long a thread may take until it works, in milliseconds; then the page does without. */
const START = 20_000;

type Request = Record<string, unknown>;

interface Thread { worker: Worker; ready: Promise<void> }

/** Starts a thread; fails where there is none. */
function start(bytes: Uint8Array): Thread {
  const worker = new EngineWorker();
  const ready = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the thread does not answer')), START);
    worker.addEventListener('error', (event) => reject(new Error(event.message || 'the thread stopped')));
    worker.addEventListener('message', function first(event: MessageEvent<unknown>) {
      if (event.data !== 'ready') return;
      clearTimeout(late);
      worker.removeEventListener('message', first);
      resolve();
    });
  });
  worker.postMessage(bytes);
  return { worker, ready };
}

export class EngineThread {
  private readonly waiting = new Map<number, { request: Request; give: (answer: Answer) => void }>();
  private count = 0;
  private thread: Thread | null = null;
  /** On the page itself, where there is no thread. */
  private here: Engine | null = null;

  private constructor(private readonly bytes: Uint8Array) {}

  static async from(bytes: Uint8Array): Promise<EngineThread> {
    const engine = new EngineThread(bytes);
    await engine.begin();
    return engine;
  }

  /** Whether the page goes on while the engine works. */
  get apart(): boolean {
    return this.thread !== null;
  }

  private async begin(): Promise<void> {
    let mine: Thread | null = null;
    this.thread = null;
    try {
      mine = this.thread = start(this.bytes);
      mine.worker.addEventListener('message', (event: MessageEvent<{ id: number; answer: Answer } | 'ready'>) => {
        if (event.data !== 'ready') this.give(event.data.id, event.data.answer);
      });
      await mine.ready;
      mine.worker.addEventListener('error', () => this.thread === mine && this.stop('The engine stopped and was started anew.'));
    } catch {
      // One that was ended while it started has another in its place.
      if (this.thread !== mine) return;
      mine?.worker.terminate();
      this.thread = null;
      this.here = await Engine.from(this.bytes);
      for (const [id, { request }] of [...this.waiting]) this.give(id, await this.here.ask(request));
    }
  }

  private give(id: number, answer: Answer): void {
    this.waiting.get(id)?.give(answer);
    this.waiting.delete(id);
  }

  /** Asks; requests are answered in their order. */
  ask(request: Request): Promise<Answer> {
    if (this.here) return this.here.ask(request);
    const id = ++this.count;
    return new Promise((give) => {
      this.waiting.set(id, { request, give });
      this.thread?.worker.postMessage({ id, request });
    });
  }

  /** Ends what is under way: whoever waits for it hears why. On the page itself nothing is under way between two calls. */
  stop(why: string): void {
    if (!this.thread) return;
    this.thread.worker.terminate();
    for (const id of [...this.waiting.keys()]) this.give(id, { stopped: true, error: { message: why } });
    void this.begin();
  }
}
