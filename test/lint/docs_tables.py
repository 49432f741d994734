#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tables of docs/ with the tables in the headers they are made from; `--write` renews them.

`<!-- limits -->` … `<!-- /limits -->` in docs/limits.md comes from limits.hpp, and so do protected names from theirs. Errors and the keys of configurations are in the manual
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
    yield "| limit | default | least | name |"
    yield "|---|---|---|---|"
    for _, value, least, option, text in rows(top / "include/paddock/base/limits.hpp", "PADDOCK_LIMITS", 5):
        yield f"| {text} | {number(value)} | {number(least)} | `{option}` |"


def protected_names_table(top):
    found = rows(top / "include/paddock/path/protected_names.hpp", "PADDOCK_PROTECTED_NAMES", 3)
    yield "| names | mode | where |"
    yield "|---|---|---|"
    for mode, is_git, where in (
            ("hidden", False, "at every depth"),
            ("read-only", True, "in every repository, also those of submodules and worktrees, bare ones and those a `.git` file names"),
            ("read-only", False, "at the top of the workspace and beside every `.git`")):
        names = [f"`{name}`" for name, each, _ in found if (each.replace("_", "-"), name.startswith(".git/")) == (mode, is_git)]
        yield f"| {', '.join(names)} | {mode} | {where} |"


TABLES = {"limits": ("docs/limits.md", limits_table), "protected names": ("docs/confinement.md", protected_names_table)}


def renewed(page, text, name, lines):
    block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if len(block.findall(text)) != 1:
        raise SystemExit(f"{page}: the markers <!-- {name} --> and <!-- /{name} --> are missing or doubled")
    return block.sub(lambda m: m[1] + "".join(line + "\n" for line in lines) + m[2], text)


def main(top, write):
    stale = False
    for name, (page, table) in TABLES.items():
        old = (top / page).read_text()
        new = renewed(page, old, name, table(top))
        if new == old:
            continue
        if write:
            (top / page).write_text(new)
            continue
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, "headers"))
        print(f"{page} differs from the headers: run test/lint/docs_tables.py --write")
        stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent.parent, "--write" in sys.argv[1:]))
