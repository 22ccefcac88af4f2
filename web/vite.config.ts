// Each page as one file: `npm run build` writes the viewer where the program embeds it, `npm run playground` the
// playground with the engine in it.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const PAGES = {
  viewer: { entry: 'src/main.ts', template: here('viewer.html'), target: process.env.VIEWER_OUT ?? here('../crates/delassus-page/src/viewer.html') },
  playground: { entry: 'src/playground/main.ts', template: here('playground/index.html'), target: here('dist/playground/index.html') },
};

/** Puts script, style and the engine into the template. */
function oneFile({ template, target }: { template: string; target: string }): Plugin {
  return {
    name: 'one-file',
    writeBundle(_options, bundle) {
      let script = '';
      let style = '';
      for (const part of Object.values(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (part.fileName.endsWith('.css')) style += String(part.source);
      }
      // A text in the script may not end the element that holds it.
      script = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
      const engine = process.env.DELASSUS_WASM ? gzipSync(readFileSync(process.env.DELASSUS_WASM), { level: 9 }).toString('base64') : '';
      const page = readFileSync(template, 'utf8')
        .replace('/*style*/', () => style.trim())
        .replace('/*engine*/', () => engine)
        .replace('/*script*/', () => script.trim());
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, page);
    },
  };
}

export default defineConfig(({ mode }) => {
  const page = mode === 'playground' ? PAGES.playground : PAGES.viewer;
  return {
    plugins: [oneFile(page)],
    logLevel: 'warn',
    build: {
      outDir: 'dist/parts',
      target: 'es2022',
      modulePreload: false,
      chunkSizeWarningLimit: 1000,
      lib: { entry: page.entry, formats: ['iife'], name: 'page', fileName: () => 'page.js', cssFileName: 'page' },
    },
    define: { 'process.env.NODE_ENV': '"production"' },
  };
});
