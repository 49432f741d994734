#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One name, one definition: what the compiler sees only one file at a time.

- A macro of a public header is called PADDOCK_..., and the entry of a table is undefined where the table ends: a user's
  own X survives.
- Two types or constants of one namespace do not share a name, wherever they stand. In one program that is undefined
  behaviour which no compiler reports; in two it misleads.
"""
import collections
import pathlib
import re
import sys

from sources import code_only, files, report, without_preprocessor

FOLDERS = ["include", "src", "tools"]
SCOPE = re.compile(r"namespace\s*(?P<name>[\w:]*)\s*\{|(?P<open>\{)|(?P<close>\})|(?P<end>;)")
TYPE = re.compile(r"(?:^|>)\s*(?:struct|class|union|enum(?:\s+class)?)\s+(?:\[\[.*?\]\]\s*|alignas\(\w+\)\s*)*(\w+)(?:\s+final)?\s*(?::(?!:).*)?$",
                  re.DOTALL)
CONSTANT = re.compile(r"^\s*(?:inline\s+|static\s+|extern\s+)*constexpr\s+(?!.*\()[^=]*?\b(\w+)(?:\[\w*\])?\s*(?:=|$)", re.DOTALL)


def macros(path, text):
    """What a public header leaves behind in its user's file, or takes away from it."""
    defined = {match[1]: text.count("\n", 0, match.start()) + 1
               for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE)}
    for name, line in defined.items():
        if not name.startswith("PADDOCK_"):
            yield f"{path}:{line}: the macro {name} does not begin with PADDOCK_"
    for use in re.finditer(r"^[ \t]*#[ \t]*(define|undef)[ \t]+(PADDOCK_ENTRY)\b", text, re.MULTILINE):
        rest = re.search(r"^[ \t]*#[ \t]*(define|undef)[ \t]+PADDOCK_ENTRY\b", text[use.end():], re.MULTILINE)
        if use[1] == "define" and (not rest or rest[1] != "undef"):
            yield f"{path}:{text.count(chr(10), 0, use.start()) + 1}: {use[2]} is not undefined after its table"


def definitions(code):
    """(namespace, name, line) of each type and constant that other files could name."""
    scopes, begin = [], 0  # a namespace's name, "" for one without, None for any other brace
    for match in SCOPE.finditer(code):
        statement, line = code[begin:match.start()], code.count("\n", 0, match.start()) + 1
        outside = None not in scopes and "" not in scopes
        begin = match.end()
        if match["close"]:
            if scopes:
                scopes.pop()
            continue
        if outside and match["name"] is None:
            if found := (TYPE.search(statement) if match["open"] else None) or CONSTANT.search(statement):
                if not re.match(r"\s*template\s*<\s*>", statement):
                    yield "::".join(scopes), found[1], line
        if match["name"] is not None:
            scopes.append(match["name"])
        elif match["open"]:
            scopes.append(None)


def main(top):
    problems, places = [], collections.defaultdict(list)
    for path in files(top, FOLDERS, {".hpp", ".cpp"}):
        text = path.read_text()
        relative = path.relative_to(top)
        if relative.parts[0] == "include":
            problems += macros(relative, text)
        for namespace, name, line in definitions(without_preprocessor(code_only(text))):
            places[namespace, name].append(f"{relative}:{line}")
    if len(places) < 3:
        problems.append(f"only {len(places)} definitions were found")
    for (namespace, name), where in sorted(places.items()):
        if len(where) > 1:
            problems.append(f"{where[0]}: {namespace}::{name} is defined here and at {', '.join(where[1:])}")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
