// Pages of maps and of all motions: a click shows what holds there.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { delassus, folder, launch, open } from './browser.mjs';

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

const PULLED = 'scenes/painleve-rod-pulled.toml';

/** Clicks the middle of a cell of a map. */
async function click(page, column, row, columns, rows) {
  const box = await page.locator('.map-card canvas').boundingBox();
  const [left, right, top, bottom] = [62, 12, 10, 40];
  const x = left + ((column + 0.5) / columns) * (box.width - left - right);
  const y = top + (1 - (row + 0.5) / rows) * (box.height - top - bottom);
  await page.locator('.map-card canvas').click({ position: { x, y } });
}

test('a click on a cell of a map shows the verdict of analyze there, with state and cone', async () => {
  const path = join(folder, 'map.html');
  const ranges = ['--x', 'angle=5deg:90deg:12', '--y', 'omega=0:5.5:8'];
  const map = JSON.parse(delassus('map', PULLED, ...ranges, '--show', 'solutions', '--json', '-o', path));
  assert.ok(statSync(path).size < 2e6, `${statSync(path).size} bytes`);
  const { page, trouble, close } = await open(browser, path);
  const seen = new Set();
  for (const [column, row] of [[0, 0], [3, 5], [5, 7], [8, 2], [11, 0], [6, 0]]) {
    await click(page, column, row, 12, 8);
    const [angle, omega] = [map.x.values[column], map.y.values[row]];
    const report = JSON.parse(delassus('analyze', PULLED, '--json', '--set', `angle=${angle}`, '--set', `omega=${omega}`));
    assert.match(await page.locator('.state').innerText(), new RegExp(`: ${map.values[row][column]}$`));
    const words = await page.locator('.verdict strong').allInnerTexts();
    assert.deepEqual(words.map((w) => w.replace(/^(yes|no), /, '')), [report.existence, report.acceleration_unique, report.forces_unique]);
    assert.deepEqual(await page.locator('.reasons li').allInnerTexts(), report.reasons);
    assert.equal(await page.locator('.cones canvas').count(), 1);
    const state = await page.locator('.map-state dd').nth(2).innerText();
    assert.ok(Math.abs(Number(state.split(',')[0].replace('−', '-')) - angle) < 1e-5, `${state} against ${angle}`);
    seen.add(words.join());
  }
  assert.ok(seen.size > 1, 'the map is the same everywhere');
  // Keys go from cell to cell, and the address remembers the one that is shown.
  await page.locator('.map-card canvas').focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => location.hash === '#cell=5,0');
  const said = await page.locator('.state').innerText();
  await close();
  const again = await open(browser, path, { hash: '#cell=5,0' });
  assert.equal(await again.page.locator('.state').innerText(), said);
  assert.deepEqual([...trouble, ...again.trouble], []);
  await again.close();
});

test('a map of numbers, one of one parameter, and cells without a state', async () => {
  for (const [name, args] of [
    ['numbers', ['--x', 'angle=5deg:90deg:9', '--y', 'mu=0:2:6', '--show', 'mu_jam']],
    ['strip', ['--x', 'mu=0:3:40', '--show', 'existence']],
    ['holes', ['--x', 'l=-1:1:9', '--show', 'solutions']],
  ]) {
    const path = join(folder, `map-${name}.html`);
    delassus('map', PULLED, ...args, '-o', path);
    const { page, trouble, close } = await open(browser, path, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${name}: ${wide} px too wide`);
    await page.locator('.map-card canvas').focus();
    for (let k = 0; k < 6; k++) await page.keyboard.press('ArrowLeft');
    assert.deepEqual(trouble, [], name);
    await close();
  }
});

test('a safe interval is drawn over the states along its parameter', async () => {
  const path = join(folder, 'safe.html');
  const found = JSON.parse(delassus('safe', 'scenes/painleve-rod.toml', '--over', 'mu', '--within', '0:4', '--json', '-o', path));
  assert.ok(found.certified);
  const { page, trouble, close } = await open(browser, path);
  assert.match(await page.locator('.headline').first().innerText(), /^CERTIFIED\s+0 ≤ mu ≤ 1\.66666/);
  // 241 states from 0 to 4, one of them at the very end, 5/3, where nothing is decided: its neighbours are.
  const end = Math.floor((found.interval[1] / 4) * 240);
  for (const [cell, verdict] of [[end, 'yes, proved'], [end + 1, 'unknown'], [end + 2, 'no, refuted']]) {
    await page.evaluate((cell) => (location.hash = `#cell=${cell},0`), cell);
    await page.waitForFunction((mu) => document.querySelector('.state').textContent.includes(`mu = ${mu}`), String(Number(((4 * cell) / 240).toPrecision(6))));
    assert.equal(await page.locator('.verdict strong').first().innerText(), verdict);
  }
  assert.deepEqual(trouble, []);
  await close();
});

test('a paving shows its cells, and a click the state in the middle of one', async () => {
  const path = join(folder, 'paving.html');
  const args = ['--over', 'length=0.2:1', '--over', 'mu=0.1:1.2', '--set', 'mu=0.4', '--boxes', '2000'];
  const found = JSON.parse(delassus('safe', 'scenes/drawer.toml', ...args, '--json', '-o', path));
  assert.ok(found.certified_box && found.counterexample);
  assert.ok(statSync(path).size < 4e6, `${statSync(path).size} bytes`);
  const { page, trouble, close } = await open(browser, path);
  assert.match(await page.locator('.headline').first().innerText(), /^Certified around the design: 0.4 ≤ length ≤ 1, 0.1 ≤ mu ≤ 0\.6/);
  const canvas = page.locator('.map-card canvas');
  const box = await canvas.boundingBox();
  const [left, right, top, bottom] = [62, 12, 10, 40];
  const seen = new Set();
  for (const [length, mu] of [[0.9, 0.2], [0.25, 1.1], [0.5, 0.5], [0.7, 1.19], [0.31, 0.9]]) {
    const x = left + ((length - 0.2) / 0.8) * (box.width - left - right);
    const y = top + (1 - (mu - 0.1) / 1.1) * (box.height - top - bottom);
    await canvas.click({ position: { x, y } });
    const cell = found.cells.find(({ lo, hi }) => lo[0] <= length && length <= hi[0] && lo[1] <= mu && mu <= hi[1]);
    const words = { 'every-load': 'one solution, whatever the load', 'no-solution': 'no solution: it jams', undecided: 'undecided' };
    assert.match(await page.locator('.state').innerText(), new RegExp(`: ${words[cell.reason]}$`), `${length}, ${mu}`);
    const middle = cell.lo.map((lo, k) => 0.5 * (lo + cell.hi[k]));
    const report = JSON.parse(delassus('analyze', 'scenes/drawer.toml', '--json', '--set', `length=${middle[0]}`, '--set', `mu=${middle[1]}`));
    const shown = await page.locator('.verdict strong').allInnerTexts();
    assert.deepEqual(shown.map((w) => w.replace(/^(yes|no), /, '')), [report.existence, report.acceleration_unique, report.forces_unique]);
    seen.add(cell.reason);
  }
  assert.ok(seen.has('every-load') && seen.has('no-solution'), [...seen].join());
  // Keys go to the cell beyond a face; the address remembers the point.
  const before = await page.locator('.state').innerText();
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  const said = await page.locator('.state').innerText();
  assert.notEqual(said, before);
  const hash = await page.evaluate(() => location.hash);
  await close();
  const again = await open(browser, path, { hash, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  assert.equal(await again.page.locator('.state').innerText(), said);
  const wide = await again.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  assert.deepEqual([...trouble, ...again.trouble], []);
  await again.close();
});

test('pavings of one parameter and of three, whose third has a slider', async () => {
  for (const [name, args] of [
    ['strip', ['scenes/painleve-rod.toml', '--over', 'mu=0:3']],
    ['slices', ['scenes/drawer.toml', '--over', 'length=0.2:1', '--over', 'mu=0.1:1.2', '--over', 'width=0.4:0.8']],
  ]) {
    const path = join(folder, `paving-${name}.html`);
    const found = JSON.parse(delassus('safe', ...args, '--boxes', '1500', '--json', '-o', path));
    const { page, trouble, close } = await open(browser, path);
    assert.equal(await page.getByRole('slider').count(), found.parameters.length > 2 ? 1 : 0);
    if (found.parameters.length > 2) {
      const before = await page.locator('.state').innerText();
      await page.getByRole('slider').fill('950');
      assert.notEqual(await page.locator('.state').innerText(), before);
    }
    assert.deepEqual(trouble, [], name);
    await close();
  }
});

test('all motions of a world stand side by side, and the tree leads to them', async () => {
  const path = join(folder, 'tree-world.html');
  const report = JSON.parse(delassus('explore', 'scenes/painleve-rod-pulled-world.toml', '--json', '-o', path));
  assert.ok(report.branches > 1);
  const { page, trouble, close } = await open(browser, path);
  assert.equal(await page.locator('.tree h2').innerText(), `${report.branches} motions`);
  assert.equal(await page.locator('.view canvas').count(), report.branches);
  assert.equal(await page.locator('.tree button').count(), report.branches);
  // Each shows its own end.
  await page.locator('.view canvas').first().focus();
  await page.keyboard.press('End');
  const ends = [];
  for (const button of await page.locator('.tree button').all()) {
    await button.click();
    await page.getByRole('tab', { name: 'Bodies' }).click();
    await page.locator('.picks button').getByText('rod', { exact: true }).click();
    ends.push(await page.locator('.panel:not([hidden]) dd').nth(1).innerText());
    await page.locator('.picks button').getByText('rod', { exact: true }).click();
  }
  assert.ok(new Set(ends).size > 1, ends.join(' '));
  assert.deepEqual(trouble, []);
  await close();
});

test('all motions of a system are lines of the same charts', async () => {
  const path = join(folder, 'tree-system.html');
  const report = JSON.parse(delassus('explore', PULLED, '--json', '-o', path));
  const { page, trouble, close } = await open(browser, path);
  assert.equal(await page.locator('.tree button').count(), report.branches);
  const chart = page.locator('figure.chart', { hasText: 'y · positions, all motions' });
  assert.equal(await chart.locator('.legend .entry').count(), report.branches);
  await page.getByRole('button', { name: 'To the end (End)' }).click();
  await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 0);
  const shown = (await chart.locator('.legend .value').allInnerTexts()).map((text) => Number(text.replace('−', '-')));
  report.tree.branches.forEach((branch, k) => {
    const y = branch.final.position.y;
    assert.ok(Math.abs(shown[k] - y) < 1e-5 * Math.abs(y) + 1e-9, `${k}: shown ${shown[k]}, computed ${y}`);
  });
  assert.deepEqual(trouble, []);
  await close();
});

test('a run that is not the only one shows the others beside it', async () => {
  const path = join(folder, 'others.html');
  const report = JSON.parse(delassus('run', PULLED, '--json', '-o', path));
  const event = report.events.find((e) => e.kind === 'indeterminate');
  assert.ok(event && event.answers > 1);
  const { page, trouble, close } = await open(browser, path);
  const chart = page.locator('figure.chart', { hasText: 'y · positions, all motions' });
  const names = await chart.locator('.legend .entry').allInnerTexts();
  assert.ok(names.length >= event.answers, names.join('; '));
  assert.ok(names.slice(1).every((name) => name.startsWith('Possible too')), names.join('; '));
  assert.deepEqual(trouble, []);
  await close();
});
