// Bundles the page: scripts from page/src, the WebAssembly module from generated/, and the static files.
//
//   node build.mjs FOLDER [--compressed]    compressed: as `turnstone serve` embeds and sends it

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import zopfli from '@gfx/zopfli';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [out, compressed] = process.argv.slice(2);

/** The files that the page is built from, with their checksums: what `apps/serve/page/sources.txt` holds. */
export function sources() {
  const files = [];
  const walk = (folder) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) walk(path);
      else files.push(path);
    }
  };
  for (const folder of ['src', 'page']) walk(join(here, folder));
  files.push(...['build.mjs', 'build.sh', 'Cargo.toml', 'package-lock.json'].map((name) => join(here, name)));
  const line = (path) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${relative(here, path)}`;
  return files.map(line).join('\n') + '\n';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await build({
    entryPoints: { page: join(here, 'page/src/main.ts'), worker: join(here, 'page/src/worker.ts'), offline: join(here, 'page/src/offline.ts') },
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    // The module's own default address is not used: the page hands the compiled module over.
    define: { 'import.meta.url': '"turnstone.wasm"' },
    legalComments: 'none',
  });
  copyFileSync(join(here, 'generated/turnstone_web_bg.wasm'), join(out, 'turnstone.wasm'));
  for (const name of ['index.html', 'style.css', 'icon.svg', 'icon-192.png', 'manifest.webmanifest']) copyFileSync(join(here, 'page', name), join(out, name));
  if (compressed) {
    for (const name of ['page.js', 'worker.js', 'offline.js', 'style.css', 'turnstone.wasm']) {
      const path = join(out, name);
      // A twentieth smaller than gzip at its best, and for every browser, which Brotli is not without encryption.
      writeFileSync(`${path}.gz`, await zopfli.gzipAsync(readFileSync(path), { numiterations: 15 }));
      rmSync(path);
    }
  }
  writeFileSync(join(out, 'sources.txt'), sources());
}
