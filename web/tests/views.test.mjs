// What breaks where numbers are large, where a run goes on, and where there is nothing to be drawn.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { delassus, folder, launch, open, PROGRAM, ROOT } from './browser.mjs';

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

/** A box and a ball that slide over a plane, at a place. */
function world(name, [x, y, z], more = '') {
  const scene = join(folder, `${name}.toml`);
  writeFileSync(scene, `[world]
name = "${name}"
gravity = [0, 0, -9.81]
[[body]]
name = "ground"
fixed = true
position = [${x}, ${y}, ${z}]
shape = [{ type = "plane" }]
[[body]]
name = "box"
position = [${x}, ${y}, ${z + 0.25}]
velocity = [1, 0, 0]
shape = [{ type = "box", half_extents = [0.5, 0.25, 0.25], density = 500 }]
[[body]]
name = "ball"
position = [${x + 1}, ${y + 1}, ${z + 0.25}]
${more}
shape = [{ type = "sphere", radius = 0.25, density = 500 }]
[[friction]]
between = ["*", "*"]
mu = 0.5
[simulation]
dt = 1e-3
t_end = 0.2
`);
  const path = join(folder, `${name}.html`);
  delassus('run', scene, '-o', path);
  return path;
}

/** The pixels of the view. */
const pixels = (page) => page.evaluate(() => {
  const canvas = document.querySelector('.view canvas');
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const c = copy.getContext('2d');
  c.drawImage(canvas, 0, 0);
  return Array.from(c.getImageData(0, 0, copy.width, copy.height).data);
});

/** Until what is asked for is drawn. */
const drawn = (page) => page.evaluate(() => new Promise((done) => {
  let left = 4;
  const next = () => (left-- > 0 ? requestAnimationFrame(next) : done());
  next();
}));

/** The share of pixels that differ by more than what rounding makes. */
function differing(a, b) {
  assert.equal(a.length, b.length);
  let count = 0;
  for (let i = 0; i < a.length; i += 4) if (Math.max(...[0, 1, 2].map((k) => Math.abs(a[i + k] - b[i + k]))) > 24) count++;
  return (4 * count) / a.length;
}

test('what is far from the origin is drawn as what is near', async () => {
  const shots = [];
  for (const [name, place] of [['near', [0, 0, 0]], ['far', [131072, -262144, 65536]], ['farther', [-134217728, 0, 0]]]) {
    const { page, trouble, close } = await open(browser, world(name, place), { viewport: { width: 900, height: 700 } });
    await page.locator('canvas').first().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('a');
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 0.19);
    await drawn(page);
    shots.push(await pixels(page));
    // A link to the same view shows the same.
    const hash = await page.evaluate(() => location.hash);
    await close();
    const again = await open(browser, world(name, place), { viewport: { width: 900, height: 700 }, hash });
    await again.page.keyboard.press('a');
    await drawn(again.page);
    const part = differing(shots.at(-1), await pixels(again.page));
    assert.ok(part < 0.002, `${name}: a link shows something else in ${part} of the pixels`);
    assert.deepEqual([...trouble, ...again.trouble], []);
    await again.close();
  }
  for (const k of [1, 2]) assert.ok(differing(shots[0], shots[k]) < 0.005, `${k}: ${differing(shots[0], shots[k])} of the pixels differ`);
});

test('a motion that is wide says how its bodies are seen, and following one shows it', async () => {
  const path = world('wide', [0, 0, 0], 'velocity = [0, 0, 3e6]');
  const { page, trouble, close } = await open(browser, path);
  assert.match(await page.locator('.message').first().innerText(), /^The motion is .* m wide, its bodies at most .* follow it/);
  const colours = async () => new Set((await pixels(page)).reduce((list, x, i, all) => (i % 4 ? list : (list.push((x << 16) | (all[i + 1] << 8) | all[i + 2]), list)), [])).size;
  await page.keyboard.press('End');
  await page.getByRole('tab', { name: 'Bodies' }).click();
  await page.locator('.picks button').getByText('ball', { exact: true }).click();
  await page.getByRole('tab', { name: 'View' }).click();
  await page.getByLabel('Follow the selected body (F)').check();
  await page.waitForTimeout(400);
  const seen = await colours();
  assert.ok(seen > 50, `${seen} colours`);
  assert.deepEqual(trouble, []);
  await close();
});

test('what no graphics card can draw has a message, and its numbers are there', async () => {
  const path = world('huge', [0, 0, 0], 'velocity = [0, 0, 1e300]');
  const { page, trouble, close } = await open(browser, path);
  assert.match(await page.locator('.message:visible').first().innerText(), /Nothing is drawn here: the motion is .* m wide/);
  await page.getByRole('tab', { name: 'Bodies' }).click();
  await page.locator('.picks button').getByText('ball', { exact: true }).click();
  await page.keyboard.press('End');
  await page.waitForFunction(() => /e299/.test(document.querySelector('.panel:not([hidden])').textContent));
  assert.deepEqual(trouble, []);
  await close();
});

test('motions of microseconds can be watched, and scenes without bodies say so', async () => {
  const scene = join(folder, 'short.toml');
  writeFileSync(scene, `[world]
name = "short"
gravity = [0, 0, -9.81]
[[body]]
name = "ball"
velocity = [1, 0, 0]
shape = [{ type = "sphere", radius = 1e-6, density = 500 }]
[simulation]
dt = 1e-8
t_end = 3e-6
`);
  const path = join(folder, 'short.html');
  delassus('run', scene, '-o', path);
  const { page, trouble, close } = await open(browser, path);
  await page.getByRole('slider', { name: 'Time' }).fill('100');
  await page.waitForFunction(() => /^1\.000e-6 s of 3\.000e-6 s$/.test(document.querySelector('.clock').textContent));
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.waitForTimeout(700);
  assert.equal(await page.locator('button.play').innerText(), 'Pause', 'over at once');
  assert.deepEqual(trouble, []);
  await close();
  const nothing = join(folder, 'nothing.toml');
  writeFileSync(nothing, '[world]\nname = "nothing"\ngravity = [0, 0, -9.81]\n[simulation]\ndt = 1e-3\nt_end = 0.01\n');
  const bare = join(folder, 'nothing.html');
  delassus('run', nothing, '-o', bare);
  const empty = await open(browser, bare);
  assert.match(await empty.page.locator('.message').innerText(), /there are no bodies/);
  assert.deepEqual(empty.trouble, []);
  await empty.close();
});

test('marks of events stand where the slider goes, whatever the times of the frames', async () => {
  const path = join(folder, 'marks.html');
  delassus('run', 'scenes/bouncing-ball.toml', '-o', path);
  const { page, trouble, close } = await open(browser, path);
  const places = await page.evaluate(async () => {
    const slider = document.querySelector('.timeline input');
    const out = [];
    for (const mark of [...document.querySelectorAll('.marks button')].slice(0, 12)) {
      mark.click();
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      out.push([parseFloat(mark.style.left), (100 * Number(slider.value)) / Number(slider.max), 100 / Number(slider.max)]);
    }
    return out;
  });
  assert.ok(places.length > 2, `${places.length} events`);
  for (const [mark, thumb, frame] of places) assert.ok(mark >= thumb - 1e-6 && mark <= thumb + frame + 1e-6, `${mark} %, the slider ${thumb} %`);
  assert.deepEqual(trouble, []);
  await close();
});

test('pages without bodies are saved as pictures and films of their charts, several views as one', async () => {
  const path = join(folder, 'flat.html');
  delassus('run', 'scenes/bouncing-ball.toml', '--t-end', '0.5', '-o', path);
  const { page, trouble, close } = await open(browser, path);
  await page.getByRole('tab', { name: 'View' }).click();
  const save = async (page, name) => {
    const waiting = page.waitForEvent('download', { timeout: 60_000 });
    await page.getByRole('button', { name }).click();
    return readFileSync(await (await waiting).path());
  };
  const size = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];
  const png = await save(page, 'Save PNG (P)');
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.ok(size(png)[0] > 400 && size(png)[1] > 150, String(size(png)));
  assert.match(await page.locator('.status').innerText(), /saved/);
  const webm = await save(page, 'Save WebM');
  assert.deepEqual([...webm.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3]);
  assert.ok(webm.length > 3000, `${webm.length} bytes`);
  // Where there is nothing it says so.
  const remove = page.getByRole('button', { name: /^Remove the chart/ });
  while (await remove.count()) await remove.first().click();
  for (const name of ['Save PNG (P)', 'Save WebM']) {
    await page.getByRole('button', { name }).click();
    assert.match(await page.locator('.status').innerText(), /add a chart first/);
  }
  assert.deepEqual(trouble, []);
  await close();
  const tree = join(folder, 'views.html');
  delassus('explore', 'scenes/painleve-rod-pulled-world.toml', '-o', tree);
  const several = await open(browser, tree);
  await several.page.getByRole('tab', { name: 'View' }).click();
  const all = size(await save(several.page, 'Save PNG (P)'));
  const one = await several.page.locator('.view canvas').first().evaluate((c) => c.clientWidth);
  assert.ok(all[0] > 1.8 * one, `${all} beside one view of ${one}`);
  assert.deepEqual(several.trouble, []);
  await several.close();
  const still = join(folder, 'still.html');
  delassus('run', 'scenes/table.toml', '--t-end', '0', '-o', still);
  const frame = await open(browser, still);
  await frame.page.getByRole('tab', { name: 'View' }).click();
  await frame.page.getByRole('button', { name: 'Save WebM' }).click();
  assert.match(await frame.page.locator('.status').innerText(), /one frame only/);
  await frame.close();
  const map = join(folder, 'map-png.html');
  delassus('map', 'scenes/painleve-rod-pulled.toml', '--x', 'angle=5deg:90deg:12', '--y', 'omega=0:5.5:8', '--show', 'solutions', '-o', map);
  const cells = await open(browser, map);
  const waiting = cells.page.waitForEvent('download');
  await cells.page.locator('.map-card').getByRole('button', { name: 'Save PNG' }).click();
  assert.equal(readFileSync(await (await waiting).path()).subarray(1, 4).toString(), 'PNG');
  assert.deepEqual(cells.trouble, []);
  await cells.close();
});

test('the address remembers which of several motions is looked at', async () => {
  const path = join(folder, 'which.html');
  delassus('explore', 'scenes/painleve-rod-pulled-world.toml', '-o', path);
  const { page, close } = await open(browser, path);
  await page.locator('.tree button').nth(1).click();
  await page.waitForFunction(() => location.hash.includes('m=1'));
  const hash = await page.evaluate(() => location.hash);
  await close();
  const again = await open(browser, path, { hash });
  assert.equal(await again.page.locator('.tree button').nth(1).getAttribute('aria-pressed'), 'true');
  assert.equal(await again.page.locator('.view.main .view-name').innerText(), await again.page.locator('.view-name').nth(1).innerText());
  // The name of a view leads there as the tree does.
  await again.page.locator('.view-name').first().click();
  assert.equal(await again.page.locator('.tree button').first().getAttribute('aria-pressed'), 'true');
  await again.page.waitForFunction(() => location.hash.includes('m=0'));
  assert.deepEqual(again.trouble, []);
  await again.close();
});

test('keys turn the view, and every control has a name', async () => {
  const { page, trouble, close } = await open(browser, world('keys', [0, 0, 0]));
  const camera = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('c')?.split(',').map(Number));
  await page.keyboard.press('h');
  await page.waitForFunction(() => location.hash.includes('c='));
  const distance = (c) => Math.hypot(...[0, 1, 2].map((k) => c[k] - c[k + 3]));
  let before = await camera();
  for (const key of ['q', 'e', 'w', 's', 'z', 'x']) {
    await page.keyboard.press(key);
    await page.waitForFunction((old) => new URLSearchParams(location.hash.slice(1)).get('c') !== old, before.join(','));
    const now = await camera();
    const ratio = { z: 1 / 1.2, x: 1.2 }[key] ?? 1;
    assert.ok(Math.abs(distance(now) / distance(before) - ratio) < 1e-3, key);
    before = now;
  }
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas, [role=tab], [role=slider]')]
    .filter((e) => !e.closest('[aria-hidden=true]'))
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || [...(e.labels ?? [])].map((l) => l.textContent).join('')))
    .map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  assert.deepEqual(trouble, []);
  await close();
});

test('certificates speak of constraints by their names', async () => {
  const path = join(folder, 'names.html');
  const report = JSON.parse(delassus('analyze', 'scenes/painleve-rod.toml', '--json', '-o', path));
  assert.ok(report.certificates.every((c) => !/constraint \d/.test(c.meaning)), JSON.stringify(report.certificates));
  const { page, close } = await open(browser, path);
  assert.match(await page.locator('.certificates').innerText(), /`tip` jams and is pushed together/);
  await close();
});

test('a run that goes on is followed: the page stays and grows, an idle connection delays nobody', async () => {
  const path = join(folder, 'live.html');
  const run = (end, going) => {
    const other = join(folder, 'live-next.html');
    delassus('run', 'scenes/dominoes.toml', '--t-end', end, '-o', other);
    const text = readFileSync(other, 'utf8');
    writeFileSync(`${path}.part`, going ? text.replace('"running":false', '"running":true') : text);
    renameSync(`${path}.part`, path);
  };
  run('0.1', true);
  const server = spawn(PROGRAM, ['view', path, '--no-browser'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const idle = [];
  try {
    const address = await new Promise((resolve) => server.stdout.once('data', (text) => resolve(String(text).trim())));
    for (let k = 0; k < 5; k++) idle.push(connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {}));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const begin = Date.now();
    assert.equal((await fetch(`${address}stamp`)).status, 200);
    assert.ok(Date.now() - begin < 2500, `${Date.now() - begin} ms beside idle connections`);
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(address);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
    // What somebody has chosen.
    await page.getByRole('tab', { name: 'Bodies' }).click();
    await page.locator('.picks button').nth(2).click();
    await page.getByLabel('Add a chart').selectOption('number of contacts');
    await page.keyboard.press('End');
    const box = await page.locator('.view canvas').boundingBox();
    await page.mouse.move(box.x + 200, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 260, box.y + 130, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes('c='));
    await page.waitForTimeout(300);
    const view = await page.evaluate(() => {
      window.stays = document.querySelector('.view canvas');
      return new URLSearchParams(location.hash.slice(1)).get('c');
    });
    run('0.2', true);
    await page.waitForFunction(() => Math.abs(Number(document.documentElement.dataset.time) - 0.2) < 1e-3, null, { timeout: 30_000 });
    assert.equal(await page.evaluate(() => document.querySelector('.view canvas') === window.stays), true, 'the view was built anew');
    assert.equal(await page.locator('figure.chart', { hasText: 'number of contacts' }).count(), 1);
    assert.equal(await page.getByRole('tab', { name: 'Bodies' }).getAttribute('aria-selected'), 'true');
    assert.equal(await page.locator('.picks button[aria-pressed=true]').count(), 1);
    assert.equal(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('c')), view);
    // Who has gone back to look at something stays there.
    await page.locator('.view canvas').focus();
    await page.keyboard.press('Home');
    run('0.3', false);
    await page.getByText('The run goes on').waitFor({ state: 'detached', timeout: 30_000 });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.frame), '0');
    await page.keyboard.press('End');
    await page.waitForFunction(() => Math.abs(Number(document.documentElement.dataset.time) - 0.3) < 1e-3);
    assert.equal(await page.locator('.message.bad').count(), 0);
    assert.deepEqual(errors, []);
    await context.close();
  } finally {
    idle.forEach((socket) => socket.destroy());
    server.kill();
  }
});
