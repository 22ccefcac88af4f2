// The playground, where it was built: `cargo xtask web --playground`.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { delassus, launch, open, ROOT } from './browser.mjs';

const PAGE = fileURLToPath(new URL('../dist/playground/index.html', import.meta.url));
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
    if (worst > 0) differ.push([name, worst]);
  }
  console.log(`scenes whose documents differ: ${JSON.stringify(differ)}`);
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
