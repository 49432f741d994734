#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Refuses what has no place in a finished tree: reminders, paths of one machine, a second copy of the version,
host names of a package registry in the lock file. Holds habits of translated English, and metaphors as names, to a budget
per folder that only falls."""
import pathlib
import re
import sys

from sources import files, report

WORDS = re.compile(r"\bTODO\b|\bFIXME\b|\bXXX\b|\bstub(?:bed|s)?\b|not implemented|(?<!\w)/home/\w+/")
HABITS = re.compile(r"\b(?:what (?:is|was|has|had)|so that|as far as|of which|tells? of|told|those (?:that|which|of)"
                    r"|who(?:ever)? (?:has|is|was|comes|makes|looks|calls)|looks whether|to go on"
                    r"|carr(?:y|ies|ied)(?: \w+){0,4} to (?:its|their) end|(?:is|are) carried to"
                    r"|what stands?|stands? (?:at|in|before|behind)|seems? to be made)\b", re.IGNORECASE)
METAPHORS = re.compile(r"(?<![a-zA-Z])(?:desks?|attendants?|spots?|trails?|voice|stir|deeds?|misfits)(?![a-zA-Z])")
# folder: (habits, metaphors). Lower them when a folder has fewer; never raise one.
BUDGETS = {"docs": (24, 0), "include": (283, 6), "src": (1069, 99), "tools": (163, 5)}
TEXT = {".hpp", ".cpp", ".in", ".py", ".mjs", ".js", ".html", ".css", ".sh", ".md", ".build", ".txt", ".cmake", ".json",
        ".wrap", ""}


def top_level(top):
    return [path for path in sorted(top.iterdir()) if path.is_file() and path.suffix in TEXT and path.name != ".git"]


def over_budget(top, budgets):
    """What is above its budget, or so far below that the budget has to follow."""
    for folder, budget in budgets.items():
        texts = [path.read_text(errors="replace") for path in files(top, [folder], {".hpp", ".cpp", ".md"})]
        for name, pattern, most in zip(("translated phrases", "metaphors"), (HABITS, METAPHORS), budget):
            count = sum(len(pattern.findall(text)) for text in texts)
            if count > most:
                yield f"{folder}: {count} {name}, more than {most}: write subject, verb, object, and the usual term"
            elif count < most * 9 // 10:
                yield f"{folder}: {count} {name}: lower the budget of {most} in test/lint/words.py"


def check_habits(top, budgets=BUDGETS):
    return report(list(over_budget(top, budgets)))


def main(top, version):
    top, problems = pathlib.Path(top), []
    here = str(top.resolve())
    second_version = re.compile(rf"(?<![\d.]){re.escape(version)}(?![\d.])")
    for path in [*files(top, ["docs", "include", "src", "tools", "test", "bench"], TEXT), *top_level(top)]:
        relative = path.relative_to(top)
        if path == pathlib.Path(__file__).resolve() or path.name == "package-lock.json":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if found := WORDS.search(line):
                problems.append(f"{relative}:{number}: {found[0]!r} has no place here")
            if len(here) > 4 and here in line:
                problems.append(f"{relative}:{number}: the path of this checkout has no place here")
            if relative.parts[0] in ("docs", "include", "src", "tools", "README.md") and second_version.search(line):
                problems.append(f"{relative}:{number}: the version is written in meson.build only")
    lock = top / "test/client/package-lock.json"
    if '"resolved"' in lock.read_text():
        problems.append(f"{lock.relative_to(top)}: remove the \"resolved\" members, they name a host")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) | check_habits(sys.argv[1]))
