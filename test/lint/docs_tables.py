#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tables of README.md with the tables in the headers they are made from; `--write` renews them.

`<!-- limits -->` … `<!-- /limits -->` comes from limits.hpp. Errors and the keys of configurations are in the manual
pages, which are made from their tables too.
"""
import difflib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "man"))
from tables import rows


def number(expression):
    """The value of `15u * 1024 * 1024`, readable."""
    factors = [int(f.strip().rstrip("uUlL").replace("'", "")) for f in expression.split("*")]
    value = 1
    for factor in factors:
        value *= factor
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if value >= unit and value % unit == 0:
            return f"{value // unit} {name}"
    return f"{value:,}"


def limits_table(top):
    yield "| limit | default | least | option |"
    yield "|---|---|---|---|"
    for _, value, least, option, text in rows(top / "include/paddock/base/limits.hpp", "PADDOCK_LIMITS", 5):
        yield f"| {text} | {number(value)} | {number(least)} | `{option}` |"


def renewed(readme, name, lines):
    block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if len(block.findall(readme)) != 1:
        raise SystemExit(f"README.md: the markers <!-- {name} --> and <!-- /{name} --> are missing or doubled")
    return block.sub(lambda m: m[1] + "".join(line + "\n" for line in lines) + m[2], readme)


def main(top, write):
    path = top / "README.md"
    old = path.read_text()
    new = old
    for name, table in (("limits", limits_table),):
        new = renewed(new, name, table(top))
    if new == old:
        return 0
    if write:
        path.write_text(new)
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "README.md", "headers"))
    print("README.md differs from the headers: run test/lint/docs_tables.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent.parent, "--write" in sys.argv[1:]))
