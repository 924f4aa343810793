#!/usr/bin/env python3
"""Writes the tables and charts of the pages from docs/results.toml and the ladders of the games:

    docs/results.py            # after a change of a figure
    docs/results.py --check    # whether every page has them

A table stands in a page below the comment `<!-- results: NAME -->` and an empty line.
"""

import pathlib
import re
import sys
import tomllib

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
DATA = tomllib.loads((DOCS / "results.toml").read_text(encoding="utf-8"))
PAGES = ["README.md", "configs/README.md", "docs/results.md", "docs/performance.md", "docs/levels.md", "docs/python-games.md"]
GAMES = {
    "mu_torere": ("Mu Torere", "block to win"),
    "mancala": ("Mancala", "Kalah sowing"),
    "morris": ("Morris", "18 points, with hopping"),
    "konane": ("Konane", "Hawaiian checkers, 8x8"),
    "morabaraba": ("Morabaraba", "MAIC 2022 rules"),
}


def table(columns, rows):
    lines = ["".join(f"| {cell} " if cell != "" else "| " for cell in line) + "|\n" for line in [columns, *rows]]
    return lines[0] + "|---" * len(columns) + "|\n" + "".join(lines[1:])


def readme():
    def brief(game, figure):
        found = [row["brief"].format(**row) for row in DATA["strength"] if row["config"] == game and "brief" in row and figure in row]
        return "; ".join(found)

    columns = ["game", "training", "moves that keep the exact value", "score against alpha-beta"]
    return table(columns, [
        [f"[{name}](docs/games/{game}.md): {about}", DATA["training"][game], brief(game, "kept"), brief(game, "score")]
        for game, (name, about) in GAMES.items()
    ])


def strength():
    rows, seen = [], set()
    for row in DATA["strength"]:
        config = row["config"]
        training = "" if config in seen else DATA["training"][config]
        seen.add(config)
        command = f"`{row['command']}`" + (f" after `{row['after']}`" if "after" in row else "")
        rows.append([row.get("agent", ""), training, row["against"], row["result"].format(**row), command])
    return table(["game", "training", "against", "result", "command"], rows)


def configs():
    names = {game: name for game, (name, _) in GAMES.items()}
    names |= {"konane": "Konane 8x8", "konane_10x10": "Konane 10x10", "konane_6x6": "Konane 6x6, whose exact value is known"}
    rows = [[f"`{config}.toml`", names[config], time] for config, time in DATA["training"].items()]
    return table(["config", "game", "training"], [
        ["`smoke.toml`", "small Mancala", "seconds; checks that everything works"],
        *rows,
        ["`gpu/konane_8x8.toml` to `gpu/konane_16x16.toml`", "Konane with towers of convolutions", "for [a GPU](../docs/gpu.md)"],
    ])


def ladder(game):
    """The levels of a game: agent, Elo and the ends of its interval."""
    return list(tomllib.loads((ROOT / f"games/src/{game}/ladder.toml").read_text(encoding="utf-8"))["levels"].values())


def levels():
    ladders = [ladder(game) for game in GAMES]
    rows = [[number + 1, *(levels[number][1] for levels in ladders)] for number in range(len(ladders[0]))]
    reaches = [[max(high - elo, elo - low) for _, elo, low, high in levels] for levels in ladders]
    intervals = [f"±{min(reach)} to {max(reach)}" for reach in reaches]
    search = [re.search("sims=([0-9]+)", levels[-1][0]).group(1) for levels in ladders]
    columns = ["level", *(name for name, _ in GAMES.values())]
    first = [DATA["level_1"].get(game, "less") for game in GAMES]
    rows += [["95 % interval", *intervals], ["simulations of level 8", *search], ["level 1 against `alphabeta:depth=2`", *first]]
    return table(columns, rows)


STYLE = """<style>
svg { font: 12px system-ui, sans-serif; fill: #55514a; }
.rule { stroke: #e2ddd2; fill: none; } .c0 { --c: #2f6fb0; } .c1 { --c: #b4622a; } .c2 { --c: #3c8a4e; } .c3 { --c: #8a4fa0; } .c4 { --c: #9a7b12; }
.mark { stroke: #8a8478; stroke-dasharray: 3; } .line { stroke: var(--c); stroke-width: 1.8; fill: none; } .fill { fill: var(--c); } .small { font-size: 10.5px; }
@media (prefers-color-scheme: dark) {
svg { fill: #b0aaa0; } .rule { stroke: #3a3e45; }
.c0 { --c: #6aa9e6; } .c1 { --c: #ef9a55; } .c2 { --c: #74c486; } .c3 { --c: #c78fdc; } .c4 { --c: #d6b84a; } }
</style>"""


def svg(width, height, label, *parts):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    return "\n".join([head + STYLE, *parts, "</svg>\n"])


def text(x, y, content, anchor="start", kind=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{content}</text>'


def levels_chart():
    def at(level, elo):
        return 40 + level * 46, 244 - elo * 0.12

    parts = [text(34, 14, "Elo", "end")]
    for elo in range(0, 1801, 300):
        _, y = at(0, elo)
        parts += [f'<path class="rule" d="M40 {y:g}H408"/>', text(34, y + 4, elo, "end")]
    parts += [text(at(level, 0)[0], 262, f"level {level}" if level else "random", "middle") for level in range(9)]
    for number, (game, (name, _)) in enumerate(GAMES.items()):
        points = [at(0, 0), *(at(level, elo) for level, (_, elo, *_) in enumerate(ladder(game), 1))]
        parts.append(f'<path class="line c{number}" d="M{"L".join(f"{x:g} {y:g}" for x, y in points)}"/>')
        parts.append(text(414, points[-1][1] + 4, name, kind=f"fill c{number}"))
    return svg(500, 268, "Elo of the eight levels of each game, random play at 0", *parts)


def peers_chart():
    inference, search = ({row[0]: row for row in DATA["tables"][name]["rows"]} for name in ["inference", "search"])
    self_play = DATA["tables"]["self_play"]["rows"]
    bars = [
        ("self-play, f32, equal network", "OpenSpiel's C++ AlphaZero", float(self_play[1][4].split()[0])),
        ("self-play, i8", "OpenSpiel's C++ AlphaZero", float(self_play[0][4].split()[0])),
        ("tree search with a network, f32", "mctx on pgx", search["connect_four, Gumbel, 100 simulations, MLP 2x128, f32"][3]),
        ("tree search with playouts", "OpenSpiel's MCTSBot in C++", search["mancala, random playouts, tree"][3]),
        ("environments", "pgx", search["connect_four, `VecEnv`"][3]),
        ("inference, f32, batch 128", "onnxruntime", inference["mancala, batch 128"][2]),
        ("inference, i8, batch 128", "onnxruntime", inference["mancala, batch 128"][5]),
    ]
    parts = []
    for number, (what, peer, ratio) in enumerate(bars):
        y = 8 + 26 * number
        parts += [text(196, y + 13, what, "end"), f'<rect class="fill c0" x="204" y="{y}" width="{26 * ratio:g}" height="18" rx="2"/>']
        parts.append(text(210 + 26 * ratio, y + 13, f"{ratio:.1f} × {peer}"))
    bottom = 8 + 26 * len(bars)
    parts.append(f'<path class="mark" d="M230 2V{bottom}"/>' + text(230, bottom + 10, "1", "middle"))
    return svg(640, bottom + 16, "How many times as fast as other programs Turnstone is", *parts)


def loop_chart():
    boxes = [
        (4, 4, "self-play", "search with the network"),
        (196, 4, "replay window", "positions, policies, results"),
        (388, 4, "learner", "steps on random batches"),
        (196, 76, "network", "averaged weights"),
        (4, 76, "matches, grades", "is it stronger?"),
    ]
    parts = ['<defs><marker id="tip" markerWidth="5" markerHeight="5" refX="7" refY="4" viewBox="0 0 8 8" orient="auto">'
             '<path class="fill c0" d="M0 0L8 4L0 8Z"/></marker></defs>']
    for x, y, name, about in boxes:
        parts += [f'<rect class="line c0" x="{x}" y="{y}" width="148" height="44" rx="6"/>']
        parts += [text(x + 74, y + 19, name, "middle", "fill c0"), text(x + 74, y + 35, about, "middle", "small")]
    arrows = ["M152 26H194", "M344 26H386", "M462 48V98H346", "M196 86L130 50", "M196 104H154"]
    parts += [f'<path class="line c0" marker-end="url(#tip)" d="{arrow}"/>' for arrow in arrows]
    return svg(540, 124, "The training loop: self-play fills the replay window, the learner learns from it, its network plays on", *parts)


TABLES = {"readme": readme, "strength": strength, "configs": configs, "levels": levels}
TABLES |= {name: lambda given=given: table(given["columns"], given["rows"]) for name, given in DATA["tables"].items()}
CHARTS = {"levels": levels_chart, "loop": loop_chart, "peers": peers_chart}


def written():
    """The pages and charts as they should be, by path."""
    files, used = {}, set()
    for page in PAGES:
        parts = re.split(r"(<!-- results: (\w+) -->\n\n)", (ROOT / page).read_text(encoding="utf-8"))
        content = parts[0]
        for mark, name, rest in zip(parts[1::3], parts[2::3], parts[3::3]):
            _, rest = rest.split("\n\n", 1)
            content += f"{mark}{TABLES[name]()}\n{rest}"
            used.add(name)
        files[ROOT / page] = content
    if unused := TABLES.keys() - used:
        sys.exit(f"docs/results.py: no page has {', '.join(sorted(unused))}")
    return files | {DOCS / f"boards/{name}.svg": chart() for name, chart in CHARTS.items()}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for config, time in DATA["training"].items():
        if f": {time} on two cores" not in (ROOT / f"configs/{config}.toml").open(encoding="utf-8").readline():
            sys.exit(f"configs/{config}.toml: the first line does not say `: {time} on two cores`")
    for path, content in written().items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(content, encoding="utf-8")
    if check and stale:
        sys.exit(f"{', '.join(stale)}: not what docs/results.toml says; docs/results.py writes them")


if __name__ == "__main__":
    main()
