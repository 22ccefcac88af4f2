// The playground, where it was built: `cargo xtask web --playground`.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { delassus, launch, open, ROOT } from './browser.mjs';

const PAGE = fileURLToPath(new URL('../dist/playground/index.html', import.meta.url));
/** Scenes whose forces are not unique and come from cone programs. */
const CONE_PROGRAMS = ['arch.toml', 'incline.toml', 'stack.toml'];
const skip = existsSync(PAGE) ? false : 'the playground was not built';

test('the verdict changes as friction is dragged', { skip }, async () => {
  const browser = await launch();
  const { page, trouble } = await open(browser, PAGE);
  assert.equal(await page.locator('.headline').innerText(), 'No solution');
  const slider = page.getByRole('slider', { name: 'mu', exact: true });
  await slider.fill('1.6');
  await page.waitForFunction(() => document.documentElement.dataset.existence === 'proved');
  assert.equal(await page.locator('.headline').innerText(), 'One solution');
  await slider.fill('1.7');
  await page.waitForFunction(() => document.documentElement.dataset.existence === 'refuted');
  await page.getByLabel('The scene').fill('[system]\ncoordinates = ["x"]\nwrong = 1\n');
  await page.waitForFunction(() => document.querySelector('.editor-message')?.dataset.line === '3');
  // The message stands under the third line: below its top by one line, no more than two.
  const [note, box, height] = await page.evaluate(() => {
    const editor = document.querySelector('textarea');
    return [document.querySelector('.line-note').getBoundingClientRect().top, editor.getBoundingClientRect().top, parseFloat(getComputedStyle(editor).lineHeight)];
  });
  assert.ok(note - box >= 3 * height - 1 && note - box <= 4.5 * height, `${note - box} px below the top, lines of ${height} px`);
  // Ten million brackets are refused in words.
  const refused = await page.evaluate(() => window.delassusEngine.ask({ do: 'analyze', text: '['.repeat(10_000_000) }));
  assert.ok(refused.error.message.length > 5);
  await page.getByLabel('Built-in scenes').selectOption('table.toml');
  await page.waitForFunction(() => document.querySelector('.headline')?.textContent === 'Forces not unique');
  await page.getByRole('button', { name: 'Move it' }).click();
  await page.waitForFunction(() => document.querySelector('.view canvas'));
  assert.deepEqual(trouble, []);
  await browser.close();
});

test('the engine in the browser gives the verdicts of the native one on all scenes', { skip }, async () => {
  const browser = await launch();
  const { page } = await open(browser, PAGE);
  let differ = [];
  for (const name of readdirSync(join(ROOT, 'scenes')).filter((n) => n.endsWith('.toml'))) {
    const native = JSON.parse(delassus('analyze', `scenes/${name}`, '--json') || 'null');
    const answer = await page.evaluate((text) => window.delassusEngine.ask({ do: 'analyze', text }), readFileSync(join(ROOT, 'scenes', name), 'utf8'));
    if (native === null) continue;
    for (const key of ['existence', 'acceleration_unique', 'forces_unique']) assert.equal(answer.analysis[key], native[key], `${name} ${key}`);
    const worst = compare(native, answer.analysis);
    // Elementary functions and sums of products are rounded otherwise; forces and intervals that come from cone
    // programs are as exact as these.
    assert.ok(worst < (CONE_PROGRAMS.includes(name) ? 2e-6 : 1e-10), `${name} differs by ${worst}`);
    if (worst > 0) differ.push(name);
  }
  console.log(`scenes whose last digits differ: ${differ.join(', ')}`);
  await browser.close();
});

/** The largest relative difference of numbers; infinite where anything else differs. */
function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 0 : Math.abs(a - b) / Math.max(1, Math.abs(a), Math.abs(b));
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b ? 0 : Infinity;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return Infinity;
  return Math.max(0, ...keys.map((key) => (key in b ? compare(a[key], b[key]) : Infinity)));
}

test('the verdict of a small scene takes less than 50 ms, and a small world moves in real time', { skip }, async () => {
  const browser = await launch();
  const { page } = await open(browser, PAGE);
  for (const name of ['painleve-rod.toml', 'painleve-rod-pulled.toml', 'ladder.toml', 'woodpecker.toml', 'rocking-block.toml']) {
    const text = readFileSync(join(ROOT, 'scenes', name), 'utf8');
    const took = await page.evaluate(async (text) => {
      const times = [];
      for (let k = 0; k < 5; k++) {
        const begin = performance.now();
        await window.delassusEngine.ask({ do: 'analyze', text });
        times.push(performance.now() - begin);
      }
      return Math.min(...times);
    }, text);
    assert.ok(took < 50, `${name}: ${took} ms`);
  }
  for (const [name, seconds] of [['table.toml', 1], ['cradle.toml', 1], ['rolling-sphere.toml', 1]]) {
    const text = readFileSync(join(ROOT, 'scenes', name), 'utf8');
    // The least of some: what other programs do is not ours.
    const took = await page.evaluate(async ([text, t_end]) => {
      const times = [];
      while (times.length < 6 && !(Math.min(...times) < 1000 * t_end)) {
        const begin = performance.now();
        await window.delassusEngine.ask({ do: 'run', text, t_end });
        times.push(performance.now() - begin);
      }
      return Math.min(...times);
    }, [text, seconds]);
    console.log(`${name}: ${seconds} s of motion in ${(took / 1000).toFixed(3)} s`);
    assert.ok(took < 1000 * seconds, `${name}: ${seconds} s of motion take ${took} ms`);
  }
  await browser.close();
});
