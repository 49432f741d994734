#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bounds the length of functions (70 lines) and of files (350 non-blank lines of a public header, 600 of a source;
rows of a table do not count).

A function is an outermost block whose introduction ends like one: `)` and what may follow it. Lambdas count to
the function around them. The scanner knows no grammar beyond that, and the house style needs no more.
"""
import pathlib
import re
import sys

from sources import code_only, files, report, without_preprocessor

FUNCTION_LINES_MAX = 70
HEADER_LINES_MAX = 350
SOURCE_LINES_MAX = 600

CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum)\b[^()=]*$|^extern\s*\"\s*\"$")
TABLE_ROW = re.compile(r"\s*\{.*\},?\s*(?://.*)?$|\s*X\(.*\)\s*\\?$")
FUNCTION = re.compile(r"\)\s*(?:const|noexcept|override|final|mutable|&&?|requires\b.*|->.*|\s)*$|\btry$", re.DOTALL)


def functions(text):
    """Yields (first line, number of lines, introduction) of every outermost function body."""
    code = without_preprocessor(code_only(text))
    introduction_at, stack, function = 0, [], None
    for at, character in enumerate(code):
        if character == "{":
            introduction = code[introduction_at:at].strip()
            kind = "other"
            if CONTAINER.search(introduction) and not introduction.endswith(")"):
                kind = "container"
            elif function is None and (not introduction or FUNCTION.search(introduction)):
                kind = "function"
                start = introduction_at + len(code[introduction_at:at]) - len(code[introduction_at:at].lstrip())
                function = (start, introduction)
            stack.append(kind)
            introduction_at = at + 1
        elif character == "}":
            kind = stack.pop() if stack else "other"
            if kind == "function":
                start, introduction = function
                yield code.count("\n", 0, start) + 1, code.count("\n", start, at) + 1, introduction
                function = None
            introduction_at = at + 1
        elif character == ";":
            introduction_at = at + 1


def main(top):
    top, problems = pathlib.Path(top), []
    for path in files(top, ["include", "src", "tools"], {".hpp", ".cpp"}):
        text, relative = path.read_text(), path.relative_to(top)
        lines = sum(1 for line in text.splitlines() if line.strip() and not TABLE_ROW.match(line))
        is_public = relative.parts[0] == "include"
        if lines > (HEADER_LINES_MAX if is_public else SOURCE_LINES_MAX):
            guide = "a public header has 60 to 250, at most 350" if is_public else "a source has 100 to 400, at most 600"
            problems.append(f"{relative}: {lines} lines; {guide}: split it by meaning")
        for first, length, introduction in functions(text):
            if length > FUNCTION_LINES_MAX:
                name = re.findall(r"([\w:~]+)\s*\(", introduction)
                problems.append(f"{relative}:{first}: {name[0] if name else 'a block'} has {length} lines, at most 70")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
