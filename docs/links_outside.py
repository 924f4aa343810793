#!/usr/bin/env python3
"""A preprocessor of mdBook: links from a book to the other one lead there, and links to other files to the repository.

docs/ is the book for users, docs/lab/ the one for developers, which is built into the folder `developers` of the first. The
repository's address is taken from the environment of a GitHub workflow; without it links to it become plain text.
`links_outside.py --check` tests the rewriting, `links_outside.py --built FOLDER` the links of a built book.
"""

import html.parser
import json
import os
import pathlib
import posixpath
import re
import sys
import urllib.parse

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")

# The folder of each book's pages, and its address within the users' book.
USERS, DEVELOPERS = ("docs", ""), ("docs/lab", "developers")


def repository():
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    commit = os.environ.get("GITHUB_SHA", "HEAD")
    return f"{server}/{name}/blob/{commit}" if server and name else None


def book_of(file):
    """The book that has this file of the repository, if one has."""
    return next((book for book in (DEVELOPERS, USERS) if file.startswith(book[0] + "/")), None)


def rewritten(text, book, path, base):
    """The text of a page of a book, with its links outside of the book replaced."""

    def replace(match):
        label, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if ":" in target:
            return match.group(0)
        page = posixpath.join(book[0], path)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        # A link to the folder is one to its first page.
        other = book_of(file + "/README.md" if file in ("docs", "docs/lab") else file)
        if other == book and file not in (book[0], f"{book[0]}/README.md"):
            return match.group(0)
        if other and (file.endswith(".md") or file == other[0]):
            pages = posixpath.relpath(file, other[0]) if file.endswith(".md") else "index.html"
            name = re.sub(r"\.md$", ".html", re.sub(r"README\.md$", "index.md", pages))
            address = posixpath.join("/", other[1], name)
            here = posixpath.join("/", book[1], posixpath.dirname(path))
            return f"[{label}]({posixpath.relpath(address, here)}{anchor})"
        return f"[{label}]({base}/{file}{anchor})" if base else label

    return LINK.sub(replace, text)


def walk(items, book, base):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            chapter["content"] = rewritten(chapter["content"], book, chapter.get("path") or "", base)
            walk(chapter["sub_items"], book, base)


def check():
    page = "[a](arena.md#x) [b](../env/src/svg.rs) [c](https://example.org) ![d](../x.svg) [e](../README.md#y) [f](lab/z.md#w)"
    plain = "[a](arena.md#x) b [c](https://example.org) ![d](../x.svg) e [f](developers/z.html#w)"
    assert rewritten(page, USERS, "training.md", None) == plain, rewritten(page, USERS, "training.md", None)
    linked = rewritten(page, USERS, "training.md", "B")
    assert "[b](B/env/src/svg.rs)" in linked and "[e](B/README.md#y)" in linked, linked
    below = rewritten("[a](../arena.md) [b](../../x.md) [c](../lab/y.md)", USERS, "games/y.md", None)
    assert below == "[a](../arena.md) b [c](../developers/y.html)", below
    lab = rewritten("[a](../arena.md#b) [b](y.md) [c](../../env/x.rs) [d](../) [e](../games/z.md)", DEVELOPERS, "q.md", "B")
    assert lab == "[a](../arena.html#b) [b](y.md) [c](B/env/x.rs) [d](../index.html) [e](../games/z.html)", lab
    first = rewritten("[a](README.md#b)", DEVELOPERS, "q.md", None), rewritten("[a](../README.md)", USERS, "games/q.md", None)
    assert first == ("[a](index.html#b)", "[a](../index.html)"), first


class Page(html.parser.HTMLParser):
    """The links of a built page, and the places in it that links can lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, _, attributes):
        for key, value in attributes:
            if key == "id":
                self.places.add(value)
            elif key in ("href", "src") and value:
                self.links.append(value)


def broken(folder):
    """The links of a built book that lead nowhere."""
    pages = {page: Page(page.read_text(encoding="utf-8")) for page in pathlib.Path(folder).resolve().rglob("*.html")}
    for page, content in pages.items():
        # These have the links of all pages, or of none.
        for link in content.links if page.name not in ("print.html", "toc.html", "404.html") else []:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / urllib.parse.unquote(address.path)).resolve() if address.path else page
            place = urllib.parse.unquote(address.fragment)
            if not target.is_file() or place and target in pages and place not in pages[target].places:
                yield f"{page.relative_to(pathlib.Path(folder).resolve())}: {link}: leads nowhere"


def main():
    if sys.argv[1:2] == ["--check"]:
        check()
    elif sys.argv[1:2] == ["--built"]:
        if faults := list(broken(sys.argv[2])):
            sys.exit("\n".join(faults))
    elif sys.argv[1:2] != ["supports"]:
        context, book = json.load(sys.stdin)
        of_developers = context["config"]["book"]["title"].endswith("developers' notes")
        of_book = DEVELOPERS if of_developers else USERS
        walk(book.get("sections") or book.get("items") or [], of_book, repository())
        json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
