// Pictures of all pages in a folder, each at two fifths of its motion.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { launch, open } from './tests/browser.mjs';

const folder = process.argv[2];
const browser = await launch();
let failed = 0;
for (const name of readdirSync(folder).filter((n) => n.endsWith('.html') && n !== 'index.html').sort()) {
  const { page, trouble, close } = await open(browser, join(folder, name), { viewport: { width: 1200, height: 760 } });
  const slider = page.getByRole('slider', { name: 'Time' });
  if (await slider.count()) {
    const last = Number(await slider.getAttribute('max'));
    if (last > 0) await slider.fill(String(Math.round(0.4 * last)));
    await slider.blur();
  }
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(folder, `${basename(name, '.html')}.png`) });
  if (trouble.length) {
    failed++;
    console.error(name, trouble);
  }
  await close();
}
await browser.close();
process.exit(failed ? 1 : 0);
