// Pages in a real browser: Debian's Chromium, or the one that CHROMIUM names.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const PROGRAM = process.env.DELASSUS_PROGRAM ?? join(ROOT, 'target/debug/delassus');
const BROWSER = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const folder = mkdtempSync(join(tmpdir(), 'delassus-pages-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Runs the program; what it prints, whatever its exit code. */
export function delassus(...args) {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: cargo build`);
  try {
    return execFileSync(PROGRAM, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
  } catch (error) {
    if (typeof error.status === 'number') return error.stdout;
    throw error;
  }
}

export async function launch() {
  return chromium.launch({
    executablePath: BROWSER,
    args: [
      '--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  });
}

/** Opens a file; every error and warning of the console is kept, and every request that leaves the file. */
export async function open(browser, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on('console', (message) => {
    // Drivers of software renderers warn of themselves.
    if (message.type() === 'error') trouble.push(message.text());
  });
  page.on('pageerror', (error) => trouble.push(String(error)));
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url())) trouble.push(`request ${request.url()}`);
  });
  await page.goto(path.startsWith('http') ? path : pathToFileURL(path).href + (options.hash ?? ''));
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined, null, { timeout: 60_000 });
  return { page, trouble, close: () => context.close() };
}
