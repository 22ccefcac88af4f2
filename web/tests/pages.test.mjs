// Pages of scenes, as a person uses them: what is shown is what the run computed.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { delassus, folder, launch, open, ROOT } from './browser.mjs';

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

const WORLDS = [
  ['table.toml', '0.1'], ['stack.toml', '0.2'], ['dominoes.toml', '0.3'], ['cradle.toml', '0.5'], ['four-bar.toml', '0.5'],
  ['ragdoll.xml', '0.2'], ['rolling-sphere.toml', '0.5'], ['sphere-pile.toml', '0.1'], ['slider-crank.toml', '0.3'],
  ['bennett.toml', '0.5'], ['chain.toml', '0.3'], ['painleve-rod-world.toml', '0.2'],
];
const SYSTEMS = [['painleve-rod-pulled.toml', '0.3'], ['woodpecker.toml', '0.3'], ['bouncing-ball.toml', '1']];

function run(scene, end, ...more) {
  const path = join(folder, `${scene}-${end}.html`);
  const report = JSON.parse(delassus('run', join('scenes', scene), '--t-end', end, '--json', '-o', path, ...more));
  return { path, report };
}

/** A number as the page writes it. */
const read = (text) => Number(text.replaceAll('−', '-').replace('∞', 'Infinity'));

/** What a chart says beside a name. */
async function reading(page, chart, name) {
  const figure = page.locator('figure.chart', { has: page.getByRole('heading', { name: chart, exact: true }) });
  const entry = figure.locator('.legend .entry', { hasText: name }).first();
  return read(await entry.locator('.value').innerText());
}

function near(found, expected, tolerance, what) {
  assert.ok(Math.abs(found - expected) <= tolerance, `${what}: shown ${found}, computed ${expected}`);
}

const frame = (page) => page.evaluate(() => Number(document.documentElement.dataset.frame));
const time = (page) => page.evaluate(() => Number(document.documentElement.dataset.time));

for (const [scene, end] of WORLDS) {
  test(`the page of ${scene} shows the numbers of the run`, async () => {
    const { path, report } = run(scene, end);
    const { page, trouble, close } = await open(browser, path);
    assert.equal(await page.title(), report.name || 'motion');
    await page.locator('canvas').first().focus();
    await page.keyboard.press('End');
    await page.waitForFunction((t) => Math.abs(Number(document.documentElement.dataset.time) - t) < 1e-9, report.t_end);
    // The energy at the end, to the six digits that are shown.
    near(await reading(page, 'energy, J', 'total'), report.energy.end, 6e-6 * Math.abs(report.energy.end) + 1e-12, 'energy');
    // Where a body is at the end: six digits, and the quantum of positions.
    await page.getByRole('tab', { name: 'Bodies' }).click();
    const name = Object.keys(report.bodies).find((body) => report.bodies[body].velocity.some((v) => v !== 0)) ?? Object.keys(report.bodies).at(-1);
    await page.locator('.picks button').getByText(name, { exact: true }).click();
    const shown = await page.locator('.panel:not([hidden]) dd').nth(1).innerText();
    const found = shown.replace(/[()]/g, '').split(',').map(read);
    report.bodies[name].position.forEach((x, k) => near(found[k], x, 1e-5 * Math.abs(x) + 1e-4, `${name} ${k}`));
    assert.deepEqual(trouble, []);
    await close();
  });
}

for (const [scene, end] of SYSTEMS) {
  test(`the page of the system ${scene} shows the numbers of the run`, async () => {
    const { path, report } = run(scene, end);
    const { page, trouble, close } = await open(browser, path);
    await page.getByRole('button', { name: 'To the end (End)' }).click();
    await page.getByRole('tab', { name: 'State' }).click();
    const [name, value] = Object.entries(report.final.position)[0];
    const term = page.locator('.panel:not([hidden]) dt').getByText(name, { exact: true });
    const shown = read(await term.locator('xpath=following-sibling::dd[1]').innerText());
    if (report.ending === 'done') near(shown, value, 1e-5 * Math.abs(value) + 1e-9, name);
    assert.deepEqual(trouble, []);
    await close();
  });
}

test('playing, stepping, scrubbing, events, keys and the address', async () => {
  const { path, report } = run('cradle.toml', '0.5');
  const { page, trouble, close } = await open(browser, path);
  for (let k = 0; k < 5; k++) await page.getByRole('button', { name: 'Slower (-)' }).click();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 5);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'To the start (Home)' }).click();
  await page.waitForFunction(() => document.documentElement.dataset.frame === '0');
  await page.getByRole('button', { name: 'One frame on (→)' }).click();
  await page.waitForFunction(() => document.documentElement.dataset.frame === '1');
  await page.locator('canvas').first().focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.waitForFunction(() => document.documentElement.dataset.frame === '11');
  await page.getByRole('slider', { name: 'Time' }).fill('40');
  await page.waitForFunction(() => document.documentElement.dataset.frame === '40');
  // An event: a click goes to its time.
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.locator('.events button').first().click();
  const t = report.events[0].t;
  await page.waitForFunction((t) => Number(document.documentElement.dataset.time) <= t + 1e-9, t);
  assert.ok((await time(page)) <= t + 1e-9 && t - (await time(page)) < 2e-3);
  // The address has the time; a page that is opened there shows it.
  await page.waitForFunction((t) => location.hash.includes(`t=${Number(t.toPrecision(15))}`), t);
  const hash = await page.evaluate(() => location.hash);
  const at = await frame(page);
  await close();
  const again = await open(browser, path, { hash });
  assert.equal(await frame(again.page), at);
  assert.deepEqual([...trouble, ...again.trouble], []);
  await again.close();
});

test('forces that are not unique are shown with their interval', async () => {
  const { path } = run('table.toml', '0.1');
  const { page, trouble, close } = await open(browser, path);
  await page.locator('canvas').first().focus();
  await page.keyboard.press('End');
  await page.getByRole('tab', { name: 'Contacts' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.panel table tbody tr').length === 4);
  const cells = await page.locator('.panel:not([hidden]) tbody tr').first().locator('td').allInnerTexts();
  assert.match(cells[4], /^[\d.]+ to [\d.]+ N$/);
  // All four together carry the weight: 20 kg.
  const rows = await page.locator('.panel:not([hidden]) tbody tr').all();
  let sum = 0;
  for (const row of rows) sum += read(await row.locator('td').nth(2).innerText());
  near(sum, 20 * 9.81, 1e-3, 'weight');
  await page.keyboard.press('c');
  await page.getByRole('tab', { name: 'View' }).click();
  assert.ok(await page.getByLabel('Friction cones (C)').isChecked());
  assert.deepEqual(trouble, []);
  await close();
});

test('a picture and a film are saved', async () => {
  const { path } = run('stack.toml', '0.2');
  const { page, trouble, close } = await open(browser, path);
  await page.getByRole('tab', { name: 'View' }).click();
  const picture = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save PNG (P)' }).click();
  const png = readFileSync(await (await picture).path());
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.length > 5_000, `${png.length} bytes`);
  const film = page.waitForEvent('download', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Save WebM' }).click();
  const webm = readFileSync(await (await film).path());
  assert.deepEqual([...webm.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3]);
  assert.deepEqual(trouble, []);
  await close();
});

test('a phone shows everything in its width', async () => {
  const { path } = run('table.toml', '0.1');
  const { page, trouble, close } = await open(browser, path, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  await page.getByRole('button', { name: 'Play', exact: true }).tap();
  await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 0);
  const small = await page.locator('.transport button').evaluateAll((list) => list.filter((b) => b.getBoundingClientRect().height < 40).length);
  assert.equal(small, 0);
  assert.deepEqual(trouble, []);
  await close();
});

test('names of scenes are text, never markup', async () => {
  const name = '<script>window.broken=1</script><img src=x onerror=window.broken=1>';
  const text = readFileSync(join(ROOT, 'scenes/table.toml'), 'utf8').replaceAll('"table"', JSON.stringify(name)).replace('"table on four feet"', JSON.stringify(name));
  const scene = join(folder, 'markup.toml');
  writeFileSync(scene, text);
  const path = join(folder, 'markup.html');
  delassus('run', scene, '--t-end', '0.01', '-o', path);
  const { page, trouble, close } = await open(browser, path);
  assert.equal(await page.locator('h1').innerText(), name);
  for (const tab of ['Contacts', 'Bodies', 'Joints', 'Events', 'Run']) await page.getByRole('tab', { name: tab }).click();
  await page.getByRole('tab', { name: 'Bodies' }).click();
  await page.locator('.picks button').getByText(name, { exact: true }).click();
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.deepEqual(trouble, []);
  await close();
});

test('a run without frames, a page that was cut off and numbers that are none show a message', async () => {
  const { path } = run('table.toml', '0');
  const empty = await open(browser, path);
  assert.equal(await frame(empty.page), 0);
  assert.deepEqual(empty.trouble, []);
  await empty.close();
  const html = readFileSync(path, 'utf8');
  const cut = join(folder, 'cut.html');
  const arrays = html.indexOf('id="delassus-arrays">');
  writeFileSync(cut, `${html.slice(0, arrays + 60)}</script>${html.slice(html.indexOf('</script>', arrays) + 9)}`);
  const broken = await open(browser, cut);
  assert.match(await broken.page.locator('[role=alert]').innerText(), /cannot be shown/);
  await broken.close();
  const none = join(folder, 'none.html');
  writeFileSync(none, html.replace('id="delassus-document">', 'id="other">'));
  const missing = await open(browser, none);
  assert.match(await missing.page.locator('[role=alert]').innerText(), /no data/);
  await missing.close();
});

test('numbers that are not finite, brackets without end and arrays that are not there show a message', async () => {
  const scene = join(folder, 'huge.toml');
  writeFileSync(scene, `[world]
[[body]]
name = "block"
velocity = [1e200, 0, 0]
angular_velocity = [1e160, 1e160, 3e170]
shape = [{ type = "box", half_extents = [1, 0.2, 0.1], density = 1000 }]
[simulation]
dt = 1e-3
t_end = 0.01
`);
  const path = join(folder, 'huge.html');
  delassus('run', scene, '-o', path);
  const huge = await open(browser, path);
  assert.match(await huge.page.locator('[role=alert]').first().innerText(), /ended early: .*not finite/);
  for (const tab of await huge.page.getByRole('tab').all()) await tab.click();
  assert.deepEqual(huge.trouble, []);
  await huge.close();
  // A document that is not one.
  const html = readFileSync(run('table.toml', '0').path, 'utf8');
  const begin = html.indexOf('id="delassus-document">') + 'id="delassus-document">'.length;
  const end = html.indexOf('</script>', begin);
  for (const [name, text] of [
    ['brackets', '['.repeat(10_000_000)],
    ['arrays', html.slice(begin, end).replace(/("time":\{"type":"f64","at":)\d+/, '$19000000')],
    ['nothing', '{}'],
    ['null', 'null'],
  ]) {
    const bad = join(folder, `bad-${name}.html`);
    writeFileSync(bad, html.slice(0, begin) + text + html.slice(end));
    const { page, close } = await open(browser, bad);
    assert.match(await page.locator('[role=alert]').first().innerText(), /cannot be shown/, name);
    await close();
  }
});

test('light and dark, and files stay small', async () => {
  const { path } = run('dominoes.toml', '0.3');
  assert.ok(statSync(path).size < 3e6, `${statSync(path).size} bytes`);
  const { page, trouble, close } = await open(browser, path, { colorScheme: 'dark' });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.getByRole('button', { name: 'Light colours' }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  assert.deepEqual(trouble, []);
  await close();
});

test('bodies without shapes are drawn, and nothing lies over the view', async () => {
  const { path } = run('gear-pair.toml', '0.1');
  const { page, trouble, close } = await open(browser, path);
  // Balls are shaded: an empty view has a few colours.
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector('.view canvas');
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const c = copy.getContext('2d');
    c.drawImage(canvas, 0, 0);
    const seen = new Set();
    const { data } = c.getImageData(0, 0, copy.width, copy.height);
    for (let i = 0; i < data.length; i += 4) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return seen.size;
  });
  assert.ok(colours > 50, `${colours} colours`);
  const over = await page.evaluate(() => {
    const view = document.querySelector('.view').getBoundingClientRect();
    const legend = document.querySelector('.scene-legend').getBoundingClientRect();
    return legend.top < view.bottom && legend.bottom > view.top;
  });
  assert.equal(over, false);
  assert.deepEqual(trouble, []);
  await close();
});
