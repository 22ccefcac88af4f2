// The engine on a thread of its own: first its module comes as bytes, then requests with a number.
import { Engine } from './engine';

export interface Question { id: number; request: Record<string, unknown> }

let engine: Promise<Engine> | null = null;

addEventListener('message', async (event: MessageEvent<Question | Uint8Array>) => {
  if (event.data instanceof Uint8Array) {
    engine = Engine.from(event.data);
    await engine;
    postMessage('ready');
    return;
  }
  const { id, request } = event.data;
  if (engine) postMessage({ id, answer: await (await engine).ask(request) });
});
