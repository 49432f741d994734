#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bounds what a person pays for each public header: preprocessed lines, and no heavy header behind its back.

Lines are those that are not blank or line markers after `-E`. Vocabulary and pure headers have the smallest budget;
headers whose interface needs <functional>, <chrono> or <memory> the largest, because those alone cost most of it.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compile_command import headers_command, run_options

from sources import files, report

PURE_ROOMS = {"base", "frontmatter", "mime", "text", "todo"}
KERNEL_ROOMS = {"file", "path"}
# The others have callbacks in their interfaces: exec, skill, and everything of the protocol.

PURE_LINES_MAX = 27_000
LINES_MAX = 32_500
CALLBACK_LINES_MAX = 60_000
UMBRELLA_LINES_MAX = 72_000  # <algorithm> beside those
FORBIDDEN = re.compile(r"/(simdjson\.h|fcntl\.h|unistd\.h|sys/stat\.h|dirent\.h|spawn\.h|linux/openat2\.h"
                       r"|filesystem|iostream|regex|gsl/gsl)$")
MARKER = re.compile(r'# \d+ "([^"]*)"((?: \d)*)$')


def budget_of(header):
    room = header.parts[0]
    if len(header.parts) == 1:
        return UMBRELLA_LINES_MAX
    if room in PURE_ROOMS:
        return PURE_LINES_MAX
    return LINES_MAX if room in KERNEL_ROOMS else CALLBACK_LINES_MAX


def measure(command, build, include):
    """Counts the lines; names the forbidden headers that come in by another way than through the C++ library."""
    source = f"#include <paddock/{include}>\n"
    expanded = subprocess.run(command + ["-O0", "-E", "-x", "c++", "-"], input=source, check=True, **run_options(build)).stdout
    lines, heavy, opened = 0, set(), []
    for line in expanded.splitlines():
        marker = MARKER.match(line)
        if not marker:
            lines += bool(line.strip())
        elif "1" in marker[2].split():
            if FORBIDDEN.search(marker[1]) and not any("/c++/" in outer for outer in opened):
                heavy.add(marker[1])
            opened.append(marker[1])
        elif "2" in marker[2].split():
            opened.pop()
    return lines, sorted(heavy)


def main(top, build):
    folder = pathlib.Path(top, "include/paddock")
    headers = [header.relative_to(folder) for header in files(folder, ["."], {".hpp"})]
    command, problems = headers_command(build), []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = pool.map(lambda header: measure(command, build, header.as_posix()), headers)
        for header, (lines, heavy) in zip(headers, measured):
            print(f"{lines:7} of {budget_of(header)}  {header}")
            if lines > budget_of(header):
                problems.append(f"{header}: {lines} preprocessed lines, the budget is {budget_of(header)}")
            problems += [f"{header}: brings {origin}" for origin in heavy]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
