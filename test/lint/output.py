#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the programs print goes through tools/common/output.hpp: nothing of an agent's commands a terminal."""
import pathlib
import re
import sys

from sources import report

CALLS = re.compile(r"\b(?:std::)?(?:v?f?printf|puts|fputs|fputc|putc|putchar|fwrite|perror|psignal)\s*\(|std::(?:cout|cerr|clog)\b")
STREAM = re.compile(r"::write\(\s*(?:1|2|STDOUT_FILENO|STDERR_FILENO)\b")
# Those print what is their own, or write to a file.
ALLOWED = {
    "tools/common/output.cpp": None,
    "tools/cli/progress_line.cpp": None,  # moves the cursor itself; its name is the program's
    "tools/cli/skills/skills_change.cpp": 2,  # so does its own line, of numbers
    "tools/common/host_config.cpp": 4,  # what a person gave the options, for a file
    "tools/adapter/audit_log.cpp": 1,  # a file, of JSON
    "tools/page/application.cpp": 1,  # the address of the page
}


def main(top):
    problems = []
    for path in sorted((top / "tools").rglob("*.[ch]pp")):
        name = str(path.relative_to(top))
        text = re.sub(r"//[^\n]*", "", path.read_text())
        met = [match for pattern in (CALLS, STREAM) for match in pattern.finditer(text)]
        allowed = ALLOWED.get(name, 0)
        if allowed is not None and len(met) > allowed:
            line = text.count("\n", 0, met[-1].start()) + 1
            problems.append(f"{name}:{line}: prints past tools/common/output.hpp; use print_words, print_problem, print_json_line, "
                            "print_content or pass_on")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
