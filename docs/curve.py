#!/usr/bin/env python3
"""Takes one chart out of a report, for the pages: `docs/curve.py runs/mu_torere/report.html Losses > docs/boards/curve.svg`."""

import re
import sys

STYLE = """
svg { --soft: #6b665c; --rule: #e2ddd2; --c1: #2f6fb0; --c2: #d9772b; font: 11.5px system-ui, sans-serif; fill: var(--soft); }
@media (prefers-color-scheme: dark) { svg { --soft: #a29c90; --rule: #33373d; --c1: #6aa9e6; --c2: #ef9a55; } }
.c1 { --c: var(--c1); } .c2 { --c: var(--c2); }
.grid { stroke: var(--rule); fill: none; } .axis { stroke: var(--soft); fill: none; }
.line { stroke: var(--c); fill: none; stroke-width: 1.7; stroke-linejoin: round; }
.band { fill: var(--c); opacity: .17; } .dot, .name { fill: var(--c); }
"""


def main():
    path, label = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        report = file.read()
    found = re.search(rf'<ul class="legend">((?:(?!</ul>).)*)</ul>\s*(<svg class="chart" [^>]*aria-label="{label}".*?</svg>)', report, re.S)
    if not found:
        sys.exit(f"{path}: no chart {label}")
    names = [re.sub(r"<b>.*?</b>", "", name).strip() for name in re.findall(r"</i>(.*?)</li>", found[1], re.S)]
    legend = "".join(f'<text class="name c{i}" x="360" y="{16 + 16 * i}" text-anchor="end">{name}</text>' for i, name in enumerate(names, 1))
    chart = re.sub(r'<rect class="tip".*?</rect>', "", found[2], flags=re.S).replace('class="chart"', 'xmlns="http://www.w3.org/2000/svg"', 1)
    print(chart.replace(">", f"><style>{STYLE}</style>", 1).replace("</svg>", legend + "</svg>"))


if __name__ == "__main__":
    main()
