#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md and the pages of docs/ and .github/: each link and anchor leads somewhere, README.md leads to every page of
docs/, and README.md is short. Lines have at most 120 columns; in docs/, rows of tables may be longer. Sources that
comments in C++ name are there.
"""
import pathlib
import re
import sys

from sources import files, report

COLUMNS, LINES = 120, 150
LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(text):
    """(number, line) of what is not code; code within a line is blanked."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`", lambda m: re.sub(r"[\[\]()]", " ", m[0]), line)


def anchors(text):
    """Of the headings, as GitHub makes them."""
    seen = {}
    for _, line in prose(text):
        if heading := re.match(r"#{1,6} +(.+)", line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            count = seen[anchor] = seen.get(anchor, -1) + 1
            yield f"{anchor}-{count}" if count else anchor


def follow(top, page, link):
    """The file that a link leads to, and what is wrong with it."""
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if top not in target.parents:
        return target, "leads out of the tree"
    if not target.exists() or anchor and anchor not in anchors(target.read_text()):
        return target, "leads nowhere"
    return target, None


def named_sources(top):
    """What comments name, such as `detail/table.hpp`, and no file is called."""
    known = [path.as_posix() for path in files(top, ["include", "src", "tools", "test", "bench"], {".cpp", ".hpp"})]
    for path in files(top, ["include", "src", "tools"], {".cpp", ".hpp"}):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in re.findall(r"[\w/]+\.[ch]pp\b", line.partition("//")[2]):
                if not any(each.endswith("/" + name) for each in known):
                    yield f"{path.relative_to(top)}:{number}: there is no {name}"


def main(top):
    top = pathlib.Path(top).resolve()
    readme = top / "README.md"
    documents = sorted((top / "docs").glob("*.md"))
    problems, reached = [], set()
    for page in [readme, *documents, *sorted((top / ".github").glob("*.md"))]:
        text, relative = page.read_text(), page.relative_to(top)
        for number, line in prose(text):
            for link in LINK.findall(line):
                if re.match(r"[a-z]+:", link):
                    continue
                target, wrong = follow(top, page, link)
                if wrong:
                    problems.append(f"{relative}:{number}: {link} {wrong}")
                if page == readme:
                    reached.add(target)
        if page.parent == top / ".github":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS and (page == readme or not line.startswith("|")):
                problems.append(f"{relative}:{number}: {len(line)} columns, more than {COLUMNS}")
    if (lines := len(readme.read_text().splitlines())) > LINES:
        problems.append(f"README.md has {lines} lines, more than {LINES}: the rest belongs into docs/")
    problems += [f"{page.relative_to(top)}: no link in README.md leads to it" for page in documents if page not in reached]
    return report(problems + list(named_sources(top)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
