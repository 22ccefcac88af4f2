// Pages of analyses: what they say is what the program says.
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { spawn } from 'node:child_process';
import { delassus, folder, launch, open, PROGRAM, ROOT } from './browser.mjs';

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

test('an analysis shows its verdicts, reasons and solutions', async () => {
  for (const [scene, headline] of [['painleve-rod', 'No solution'], ['painleve-rod-pulled', '2 solutions'], ['ladder', null], ['table', 'Forces not unique']]) {
    const path = join(folder, `analysis-${scene}.html`);
    const report = JSON.parse(delassus('analyze', `scenes/${scene}.toml`, '--json', '-o', path));
    const { page, trouble, close } = await open(browser, path);
    if (headline) assert.equal(await page.locator('.headline').innerText(), headline);
    const words = await page.locator('.verdict strong').allInnerTexts();
    assert.deepEqual(words.map((w) => w.replace(/^(yes|no), /, '')), [report.existence, report.acceleration_unique, report.forces_unique]);
    assert.deepEqual(await page.locator('.reasons li').allInnerTexts(), report.reasons);
    const shown = await page.locator('.solutions h3').count();
    assert.equal(shown, Math.min(report.solutions.list.length, 12));
    const holds = report.certificates.filter((c) => c.outcome === 'holds').length;
    assert.equal(await page.locator('.certificates li').count(), holds);
    assert.deepEqual(trouble, []);
    await close();
  }
});

test('view serves the page to who has the token, and to nobody else', async () => {
  const path = join(folder, 'viewed.html');
  delassus('run', 'scenes/table.toml', '--t-end', '0.02', '-o', path);
  const server = spawn(PROGRAM, ['view', path, '--no-browser'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const address = await new Promise((resolve) => server.stdout.once('data', (text) => resolve(String(text).trim())));
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
    const status = async (url, headers = {}) => (await fetch(url, { headers })).status;
    assert.equal(await status(address), 200);
    assert.equal(await status(new URL('/', address)), 404);
    assert.equal(await status(address, { origin: 'http://evil.example' }), 403);
    const context = await browser.newContext();
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(address);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
    assert.equal(await page.title(), 'table on four feet');
    // A run that goes on writes its page anew; what is open follows, and ends to ask with the run.
    const done = readFileSync(path, 'utf8');
    writeFileSync(path, done.replace('"running":false', '"running":true'));
    await page.reload();
    await page.getByText('The run goes on').waitFor();
    writeFileSync(`${path}.part`, done);
    renameSync(`${path}.part`, path);
    await page.getByText('The run goes on').waitFor({ state: 'detached', timeout: 30_000 });
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
    assert.deepEqual(errors, []);
    await context.close();
  } finally {
    server.kill();
  }
});
