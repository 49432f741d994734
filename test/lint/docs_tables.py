#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tables of README.md with the tables in the headers they are made from; `--write` renews them.

`<!-- limits -->` … `<!-- /limits -->` comes from limits.hpp, `<!-- errors -->` … `<!-- /errors -->` from error.hpp,
`<!-- config -->` … `<!-- /config -->` from src/skill_manager/config_keys.hpp.
"""
import difflib
import pathlib
import re
import sys


def rows(header, macro):
    """The rows of an X-macro table: a list of its arguments, string literals without their quotes."""
    text = pathlib.Path(header).read_text().replace("\\\n", "\n")
    table = text.split(f"#define {macro}(X)", 1)[1].split("// clang-format on", 1)[0]
    argument = r'\s*("(?:[^"\\]|\\.)*"|[^,()"]+?)\s*'
    found = re.findall(r"^\s*X\(" + ",".join([argument] * 4) + r"\)\s*$", table, re.MULTILINE)
    if len(found) != len(re.findall(r"^\s*X\(", table, re.MULTILINE)):
        raise SystemExit(f"{header}: a row of {macro} does not have four arguments on one line")
    return [[a.strip('"').replace('\\"', '"') for a in row] for row in found]


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
    yield "| limit | default | option |"
    yield "|---|---|---|"
    for _, value, option, text in rows(top / "include/paddock/limits.hpp", "PADDOCK_LIMITS"):
        yield f"| {text} | {number(value)} | `{option}` |"


def errors_table(top):
    yield "| error | what happened | what to do next |"
    yield "|---|---|---|"
    for _, wire, text, advice in rows(top / "include/paddock/error.hpp", "PADDOCK_ERROR_CODES"):
        yield f"| `{wire}` | {text} | {advice} |"


def config_table(top):
    """What Paddock itself uses, once where several kinds of skills have the same."""
    titles = {"file": "the file", "expert": "`experts.NAME`", "stdio": "`mcpStdioSkill`", "http": "`mcpSseSkill`",
              "interactive": "`interactiveSkill`", "tool": "its `tools.NAME`", "limits": "`limits`"}
    places = {}
    for where, key, _, text in rows(top / "src/skill_manager/config_keys.hpp", "PADDOCK_CONFIG_KEYS"):
        if where in titles:
            places.setdefault((key, text), []).append(titles[where])
    yield "| key | of | what it is |"
    yield "|---|---|---|"
    for (key, text), of in places.items():
        yield f"| `{key}` | {', '.join(of)} | {text} |"


def renewed(readme, name, lines):
    block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if len(block.findall(readme)) != 1:
        raise SystemExit(f"README.md: the markers <!-- {name} --> and <!-- /{name} --> are missing or doubled")
    return block.sub(lambda m: m[1] + "".join(line + "\n" for line in lines) + m[2], readme)


def main(top, write):
    path = top / "README.md"
    old = path.read_text()
    new = old
    for name, table in (("limits", limits_table), ("errors", errors_table), ("config", config_table)):
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
