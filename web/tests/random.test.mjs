// Pages of a hundred random scenes: whatever a scene has, its page opens, plays and says nothing on the console.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { delassus, folder, launch, open } from './browser.mjs';

const COUNT = Number(process.env.DELASSUS_SCENES ?? 100);

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

/** Numbers from a seed, the same in every run. */
function dice(seed) {
  let state = BigInt(seed) * 2654435761n + 12345n;
  const next = () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
  const between = (low, high) => low + (high - low) * next();
  return { between, whole: (n) => Math.floor(n * next()), pick: (list) => list[Math.floor(list.length * next())], chance: (p) => next() < p };
}

const NAMES = ['ball', 'Würfel', '<b>bold</b>', 'a "quoted" one', "l'arbre", '箱', 'x\\y', 'body with a long name that goes on and on', '</script>', '&amp;'];
const text = (x) => JSON.stringify(x);
const list = (xs) => `[${xs.map((x) => (Array.isArray(x) ? list(x) : Number(x.toPrecision(6)))).join(', ')}]`;

function shape(d, size) {
  const r = size * d.between(0.4, 1);
  switch (d.whole(6)) {
    case 0: return `{ type = "sphere", radius = ${r}, density = 500 }`;
    case 1: return `{ type = "box", half_extents = ${list([r, size * d.between(0.2, 1), size * d.between(0.2, 1)])}, density = 500 }`;
    case 2: return `{ type = "capsule", radius = ${0.5 * r}, half_height = ${r}, density = 500 }`;
    case 3: return `{ type = "cylinder", radius = ${r}, half_height = ${size * d.between(0.2, 1)}, density = 500 }`;
    case 4: return `{ type = "cone", radius = ${r}, half_height = ${r}, density = 500 }`;
    default: {
      const points = Array.from({ length: 8 + d.whole(8) }, () => [0, 0, 0].map(() => size * d.between(-1, 1)));
      return `{ type = "convex", points = ${list(points)}, density = 500 }`;
    }
  }
}

function ground(d) {
  if (d.chance(0.25)) {
    const heights = Array.from({ length: 6 }, () => Array.from({ length: 7 }, () => d.between(-0.15, 0.05)));
    return `{ type = "heightfield", heights = ${list(heights)}, extent = [6, 5] }`;
  }
  return d.chance(0.15) ? '{ type = "box", half_extents = [3, 3, 0.1], position = [0, 0, -0.1] }' : '{ type = "plane" }';
}

function world(seed) {
  const d = dice(seed);
  const names = [];
  const name = () => {
    const found = `${d.pick(NAMES)} ${names.length}`;
    names.push(found);
    return found;
  };
  let out = `[world]\nname = ${text(`${d.pick(NAMES)} of ${seed}`)}\ngravity = ${list([d.chance(0.2) ? 1 : 0, 0, d.chance(0.1) ? 0 : -9.81])}\n`;
  out += `[[body]]\nname = "ground"\nfixed = true\nshape = [${ground(d)}]\n`;
  const count = d.whole(7);
  for (let k = 0; k < count; k++) {
    const position = [d.between(-1, 1), d.between(-1, 1), 0.5 + 0.6 * k];
    out += `[[body]]\nname = ${text(name())}\nposition = ${list(position)}\n`;
    out += `velocity = ${list([0, 0, 0].map(() => d.between(-1, 1)))}\nangular_velocity = ${list([0, 0, 0].map(() => d.between(-3, 3)))}\n`;
    out += `euler_deg = ${list([0, 0, 0].map(() => d.between(-180, 180)))}\n`;
    out += `shape = [${Array.from({ length: d.chance(0.2) ? 2 : 1 }, () => shape(d, 0.25)).join(', ')}]\n`;
    if (d.chance(0.35)) {
      const other = k > 0 && d.chance(0.5) ? names[k - 1] : 'world';
      const type = d.pick(['revolute', 'ball', 'prismatic', 'universal', 'cylindrical', 'fixed']);
      const axis = ['ball', 'fixed'].includes(type) ? '' : type === 'universal' ? 'axis = [1, 0, 0]\naxis2 = [0, 1, 0]\n' : 'axis = [0, 1, 0]\n';
      out += `[[joint]]\nname = ${text(`joint <i>${k}</i>`)}\ntype = ${text(type)}\nbodies = [${text(other)}, ${text(names[k])}]\nanchor = ${list(position)}\n${axis}`;
    }
  }
  out += `[[friction]]\nbetween = ["*", "*"]\nmu = ${d.between(0, 1)}\nrestitution = ${d.chance(0.5) ? 0 : d.between(0, 0.9)}\n`;
  out += '[simulation]\ndt = 2e-3\nt_end = 0.4\n';
  return out;
}

async function lookAround(page) {
  await page.keyboard.press('End');
  for (const key of ['c', 'j', 'a', 'b', 'h', 'Home', ' ']) await page.keyboard.press(key);
  for (const tab of await page.getByRole('tab').all()) await tab.click();
}

test(`pages of ${COUNT} random scenes open without an error`, { timeout: 1_800_000 }, async () => {
  let opened = 0;
  const refused = [];
  for (let seed = 1; seed <= COUNT; seed++) {
    const scene = join(folder, `random-${seed}.toml`);
    writeFileSync(scene, world(seed));
    const path = join(folder, `random-${seed}.html`);
    delassus(...(seed % 10 === 0 ? ['analyze', scene, '-o', path] : ['run', scene, '-o', path]));
    if (!existsSync(path)) {
      refused.push(seed);
      continue;
    }
    const { page, trouble, close } = await open(browser, path, seed % 3 ? {} : { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
    await lookAround(page);
    assert.deepEqual(trouble, [], `scene ${seed}`);
    assert.equal(await page.locator('.message.bad', { hasText: 'cannot be shown' }).count(), 0, `scene ${seed}`);
    await close();
    opened++;
  }
  // What the program refuses has a message of its own; nearly all are scenes.
  assert.ok(opened >= 0.95 * COUNT, `${opened} of ${COUNT} made a page; refused: ${refused}`);
});
