// 5,000 spheres in 300 frames with as many contacts as a page keeps: its size, and what a frame costs.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { folder, launch, open, ROOT } from './browser.mjs';

const [BALLS, FRAMES, CONTACTS] = [5000, 300, 500];

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

/** Arrays as the program writes them: planes of bytes. */
class Arrays {
  parts = [];
  at = 0;

  put(type, values) {
    const size = values.BYTES_PER_ELEMENT;
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const planes = new Uint8Array(bytes.length);
    for (let k = 0; k < size; k++) for (let i = 0; i < values.length; i++) planes[k * values.length + i] = bytes[i * size + k];
    const ref = { type, at: this.at, length: values.length };
    this.parts.push(planes);
    this.at += planes.length;
    return ref;
  }

  packed() {
    return deflateSync(Buffer.concat(this.parts)).toString('base64');
  }
}

function page() {
  let seed = 1;
  const random = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32) - 0.5;
  const arrays = new Arrays();
  const quantum = 2 ** -18;
  const zigzag = (x) => ((x << 1) ^ (x >> 31)) >>> 0;
  const positions = new Uint32Array(3 * BALLS * FRAMES);
  const rotations = new Uint16Array(3 * BALLS * FRAMES);
  for (let b = 0; b < BALLS; b++) {
    for (let axis = 0; axis < 3; axis++) {
      const place = [b % 17, Math.floor(b / 17) % 17, Math.floor(b / 289)][axis];
      for (let f = 0; f < FRAMES; f++) {
        // A centimetre a frame at most, at random: worse than any pile.
        positions[(3 * b + axis) * FRAMES + f] = zigzag(Math.round((f ? 0.01 * random() : 0.12 * place) / quantum));
        rotations[(3 * b + axis) * FRAMES + f] = zigzag(Math.round(1500 * random())) & 0xffff;
      }
    }
  }
  const total = CONTACTS * FRAMES;
  const single = (of) => arrays.put('f32', Float32Array.from({ length: total }, of));
  const half = (of) => arrays.put('u16', Uint16Array.from({ length: total }, of));
  const word = (of, n = total) => arrays.put('u32', Uint32Array.from({ length: n }, of));
  const small = (of) => arrays.put('u8', Uint8Array.from({ length: total }, of));
  const place = () => Math.round(2 * (random() + 0.5) / quantum);
  const bodies = Array.from({ length: BALLS }, (_, b) => ({
    name: `ball${b}`, fixed: false, mass: 1, radius: 0.05, frame: [0, 0, 0, 0, 0, 0, 1],
    shapes: [{ kind: 'sphere', radius: 0.05, pose: [0, 0, 0, 0, 0, 0, 1] }],
  }));
  const motion = {
    name: 'many', time: arrays.put('f64', Float64Array.from({ length: FRAMES }, (_, f) => f / 60)), series: [], events: [], notes: [],
    failure: null, running: false, report: null, bodies, gravity: [0, 0, -9.81], plane: null, quantum,
    positions: arrays.put('u32', positions), left_out: arrays.put('u8', new Uint8Array(BALLS * FRAMES).fill(3)), rotations: arrays.put('u16', rotations),
    joints: [], joint_forces: arrays.put('f32', new Float32Array()),
    contacts: {
      counts: word(() => CONTACTS, FRAMES), ends: word((_, f) => f * CONTACTS, FRAMES + 1), a: word((_, i) => i % BALLS), b: word((_, i) => (i + 7) % BALLS),
      number: half(() => 0), x: word(place), y: word(place), z: word(place), nx: half(() => 0), ny: half(() => 0), nz: half(() => 32767),
      force: single(() => 5 + random()), fx: single(random), fy: single(random), fz: single(() => 0), mu: single(() => 0.5),
      mode: small((_, i) => 1 + (i % 2)), unique: small(() => 1), least: single(() => 0), largest: single(() => 0),
    },
  };
  const text = JSON.stringify({ title: 'many', version: '', motions: [motion] });
  const data = `<script type="application/json" id="delassus-document">${text}</script>\n<script type="text/plain" id="delassus-arrays">${arrays.packed()}</script>`;
  return readFileSync(join(ROOT, 'crates/delassus-page/src/viewer.html'), 'utf8').replace('<!--delassus-data-->', () => data);
}

test('5,000 spheres in 300 frames: below 30 MB, and a frame takes its script less than a thirtieth of a second', { timeout: 300_000 }, async () => {
  const path = join(folder, 'many.html');
  writeFileSync(path, page());
  const size = statSync(path).size;
  assert.ok(size < 30e6, `${size} bytes`);
  const { page: tab, trouble, close } = await open(browser, path);
  const metrics = await tab.context().newCDPSession(tab);
  await metrics.send('Performance.enable', { timeDomain: 'threadTicks' });
  const script = async () => (await metrics.send('Performance.getMetrics')).metrics.find((m) => m.name === 'ScriptDuration').value;
  const begin = await script();
  const frames = await tab.evaluate(() => new Promise((done) => {
    document.querySelector('button.play').click();
    let count = 0;
    const start = performance.now();
    const next = () => {
      count++;
      if (performance.now() - start > 6000) done({ count, seconds: (performance.now() - start) / 1000 });
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }));
  const cost = ((await script()) - begin) / frames.count;
  // Here the processor draws, too; a graphics card does that beside the script.
  console.log(`${(size / 1e6).toFixed(1)} MB, ${(1000 * cost).toFixed(1)} ms of script a frame, ${(frames.count / frames.seconds).toFixed(1)} frames a second drawn by the processor`);
  assert.ok(cost < 1 / 30, `${cost} s of script a frame`);
  assert.deepEqual(trouble, []);
  await close();
});
