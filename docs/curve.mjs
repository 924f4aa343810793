#!/usr/bin/env node
// Takes one chart out of a report, for the pages: `docs/curve.mjs runs/mu_torere/report.html Losses > docs/boards/curve.svg`.
import { readFileSync } from 'node:fs';

const STYLE = `
svg { --soft: #6b665c; --rule: #e2ddd2; --c1: #2f6fb0; --c2: #d9772b; font: 11.5px system-ui, sans-serif; fill: var(--soft); }
@media (prefers-color-scheme: dark) { svg { --soft: #a29c90; --rule: #33373d; --c1: #6aa9e6; --c2: #ef9a55; } }
.c1 { --c: var(--c1); } .c2 { --c: var(--c2); }
.grid { stroke: var(--rule); fill: none; } .axis { stroke: var(--soft); fill: none; }
.line { stroke: var(--c); fill: none; stroke-width: 1.7; stroke-linejoin: round; }
.band { fill: var(--c); opacity: .17; } .dot, .name { fill: var(--c); }
`;

const [path, label] = process.argv.slice(2);
const script = readFileSync(new URL('../arena/src/page/chart.js', import.meta.url), 'utf8');
const chart = new Function(`${script}\nreturn chart;`)();
const figures = [...readFileSync(path, 'utf8').matchAll(/<figure[^>]*><script[^>]*>(.*?)<\/script>/gs)];
const data = figures.map(([, json]) => JSON.parse(json)).find(({ title, series }) => title === label && series);
if (!data) {
  console.error(`${path}: no chart ${label}`);
  process.exit(1);
}
const names = data.series.map(({ name }, i) => `<text class="name c${i + 1}" x="360" y="${16 + 16 * (i + 1)}" text-anchor="end">${name}</text>`);
console.log(chart(data)
  .replace(/<rect class="tip".*?<\/rect>|<path class="cursor"\/>/gs, '')
  .replace('class="chart"', 'xmlns="http://www.w3.org/2000/svg"')
  .replace('>', `><style>${STYLE}</style>`)
  .replace('</svg>', `${names.join('')}</svg>`));
