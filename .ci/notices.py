#!/usr/bin/env python3
"""Prints the licences and notices of the crates that are linked into a package, for releases:

    .ci/notices.py MANIFEST TARGET PACKAGE... > THIRD-PARTY-NOTICES.txt

The crates are those that `cargo tree` lists for the target, without build scripts, procedural macros and tests. Cargo has to have
fetched them. Features are those of a release: `--features turnstone/cluster` where the package `turnstone` is one of them.
"""

import json
import pathlib
import re
import subprocess
import sys

NAMES = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|COPYRIGHT|UNLICENSE)", re.IGNORECASE)


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], check=True, capture_output=True, text=True).stdout


def main(manifest: str, target: str, packages: list[str]) -> None:
    chosen = [option for package in packages for option in ("--package", package)]
    chosen += ["--features", "turnstone/cluster"] if "turnstone" in packages else []
    tree = cargo("tree", "--locked", "--manifest-path", manifest, "--target", target, "--edges", "normal,no-proc-macro",
                 "--prefix", "none", "--format", "{p}", *chosen)  # fmt: skip
    linked = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    described = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--manifest-path", manifest))["packages"]
    texts: dict[str, list[str]] = {}
    without = []
    for package in sorted(described, key=lambda each: (each["name"], each["version"])):
        if package["source"] is None or (package["name"], f"v{package['version']}") not in linked:
            continue
        title = f"{package['name']} {package['version']} ({package['license']})"
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(path for path in folder.iterdir() if path.is_file() and NAMES.match(path.name))
        for path in files:
            texts.setdefault(path.read_text("utf-8", "replace").strip(), []).append(title)
        if not files:
            without.append(f"{title}, {', '.join(package['authors'])}, {package['repository']}")
    if not texts:
        sys.exit(f"notices.py: no crate of {manifest} was found")
    print("This program contains the crates below, under these licences.")
    for text, titles in texts.items():
        print("\n" + "=" * 100 + "\n" + "\n".join(titles) + "\n" + "-" * 100 + "\n\n" + text)
    print("\n" + "=" * 100 + "\nCrates whose packages contain no text of their licence:\n\n" + "\n".join(without))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
