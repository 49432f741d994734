#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds README.md to its word: each sentence under "Guaranteed" has a row in .github/SECURITY.md that names the tests
which would fail if it were false, and these tests exist.

A row is `| the sentence, word for word | file.cpp: Suite.Name, Suite.Name; other_test.py: name |`, between the markers
`<!-- guarantees -->` and `<!-- /guarantees -->`. `Suite.Name` is a GoogleTest case, whatever parameters it takes; for
other files the name is any text that stands in it.
"""
import pathlib
import re
import sys

from sources import report

ROW = re.compile(r"^\| (.+?) \| (.+?) \|$")


def words(text):
    """Links become their texts, white space one space."""
    return re.sub(r"\s+", " ", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)).strip()


def sentences(readme):
    """Of the list under "Guaranteed"."""
    listed = re.search(r"\*\*Guaranteed\*\*[^\n]*\n(.*?)\n\*\*Not guaranteed\*\*", readme, re.DOTALL)
    if not listed:
        raise SystemExit('README.md: there is no list under "**Guaranteed**" that ends before "**Not guaranteed**"')
    for bullet in re.split(r"\n- ", "\n" + listed[1].strip())[1:]:
        yield from re.split(r"(?<=\.) (?=[A-Z`])", words(bullet))


def has_test(path, name):
    text = path.read_text()
    if path.suffix != ".cpp":
        return name in text
    suite, _, case = name.partition(".")
    return re.search(rf"^TEST(?:_[FP])?\(\s*{re.escape(suite)},\s*{re.escape(case)}\)", text, re.MULTILINE) is not None


def check_tests(top, sentence, tests, problems):
    for group in tests.split(";"):
        file, _, names = group.strip().strip("`").partition(":")
        found = sorted((top / "test").rglob(file)) if file else []
        found = [path for path in found if "node_modules" not in path.parts]
        if len(found) != 1 or not names.strip():
            problems.append(f".github/SECURITY.md: \"{sentence[:60]}…\": `{group.strip()}` is not FILE: NAME of one file under test/")
            continue
        for name in names.split(","):
            if not has_test(found[0], name.strip()):
                problems.append(f".github/SECURITY.md: {found[0].relative_to(top)} has no test {name.strip()}")


def main(top):
    top, problems = pathlib.Path(top), []
    security = (top / ".github/SECURITY.md").read_text()
    table = re.search(r"<!-- guarantees -->\n(.*?)<!-- /guarantees -->", security, re.DOTALL)
    rows = [m.groups() for m in map(ROW.match, (table[1] if table else "").splitlines()) if m]
    proven = {words(sentence): tests for sentence, tests in rows[1:]}
    promised = list(sentences((top / "README.md").read_text()))
    problems += [f"README.md promises, but .github/SECURITY.md names no test for it: {s}" for s in promised if s not in proven]
    problems += [f".github/SECURITY.md: README.md does not promise: {s}" for s in proven if s not in promised]
    for sentence, tests in proven.items():
        check_tests(top, sentence, tests, problems)
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
