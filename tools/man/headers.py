#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the manual page of the library: usage: headers.py VERSION PAGE.in INCLUDE HEADER...

In the page @VERSION@ is replaced, and @HEADERS@ by the first paragraph of every header's opening comment.
"""
import pathlib
import re
import sys

from roff import bold, item


def first_paragraph(text):
    """Of the comment that opens a public header, joined to one line."""
    lines = []
    for line in re.split(r"^#pragma once\n", text, flags=re.MULTILINE)[1].lstrip().splitlines():
        if not line.startswith("/// "):
            break
        lines.append(line[4:].strip())
    return " ".join(lines)


def main(version, page, include, *headers):
    include, items = pathlib.Path(include).resolve(), []
    for header in sorted(map(pathlib.Path, headers)):
        name = header.resolve().relative_to(include)
        if "detail" in name.parts:
            continue
        opening = first_paragraph(header.read_text())
        if not opening:
            raise SystemExit(f"{name} has no opening comment")
        items.append(item(bold(str(name)), opening))
    print(pathlib.Path(page).read_text().replace("@VERSION@", version).replace("@HEADERS@\n", "".join(items)), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
