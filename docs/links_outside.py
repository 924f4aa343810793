#!/usr/bin/env python3
"""A preprocessor of mdBook: links from docs/ to files outside of it lead to the repository.

The repository's address is taken from the environment of a GitHub workflow; without it such links become plain text.
`links_outside.py --check` tests the rewriting.
"""

import json
import os
import posixpath
import re
import sys

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def repository():
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    commit = os.environ.get("GITHUB_SHA", "HEAD")
    return f"{server}/{name}/blob/{commit}" if server and name else None


def rewritten(text, path, base):
    """The text of the page docs/`path` with its links outside of docs/ replaced."""

    def replace(match):
        label, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if ":" in target:
            return match.group(0)
        file = posixpath.normpath(posixpath.join("docs", posixpath.dirname(path), target))
        if file.startswith("docs/"):
            return match.group(0)
        return f"[{label}]({base}/{file}{anchor})" if base else label

    return LINK.sub(replace, text)


def walk(items, base):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            chapter["content"] = rewritten(chapter["content"], chapter.get("path") or "", base)
            walk(chapter["sub_items"], base)


def check():
    page = "[a](arena.md#x) [b](../env/src/svg.rs) [c](https://example.org) ![d](../x.svg) [e](../README.md#y)"
    plain = "[a](arena.md#x) b [c](https://example.org) ![d](../x.svg) e"
    assert rewritten(page, "training.md", None) == plain
    linked = rewritten(page, "training.md", "B")
    assert "[b](B/env/src/svg.rs)" in linked and "[e](B/README.md#y)" in linked, linked
    assert rewritten("[a](../arena.md) [b](../../x.md)", "lab/y.md", None) == "[a](../arena.md) b"


def main():
    if sys.argv[1:2] == ["--check"]:
        check()
    elif sys.argv[1:2] != ["supports"]:
        _, book = json.load(sys.stdin)
        walk(book.get("sections") or book.get("items") or [], repository())
        json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
