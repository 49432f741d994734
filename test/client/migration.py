#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/migration.md's way from server-filesystem leaves out none of its tools, and leads to tools and options that there are.

usage: migration.py MIGRATION.md PADDOCK_MCP SERVER_FILESYSTEM_INDEX_JS
"""
import pathlib
import re
import subprocess
import sys

page, server, theirs = sys.argv[1:]
if not pathlib.Path(theirs).exists():
    print("server-filesystem is not installed in test/client")
    sys.exit(77)


def run(*arguments):
    return subprocess.run([server, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


text = pathlib.Path(page).read_text()
rows = [row.strip("|").split("|") for row in text.split("| `server-filesystem` |")[1].splitlines() if row.startswith("| ")]
named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row[0].split("(")[0])}
registered = set(re.findall(r'registerTool\("([a-z_]+)"', pathlib.Path(theirs).read_text()))
assert len(registered) > 10, "the tools of server-filesystem are registered in another way now"
assert named == registered, f"only one of both has {sorted(named ^ registered)}"

base = {line.split()[0] for line in run("--list-tools").splitlines()}
coding = {line.split()[0] for line in run("--tools", "coding", "--list-tools").splitlines()}
used = set()
for row in rows:
    ours = coding if "--tools coding" in row[1] else base
    answers = {name for name in re.findall(r"`([a-zA-Z]+)`", row[1]) if re.search("[A-Z]", name) or name in ("exec", "todo")}
    assert answers <= ours, f"there is no tool {sorted(answers - ours)}"
    used |= answers
assert len(used) > 10 and used - base, "the table names few tools, or none of those that are for coding"
options = set(re.findall(r"--[a-z][a-z-]+", text))
missing = {option for option in options if not re.search(rf"{option}(?![\w-])", run("--help-all"))}
assert options and not missing, f"there is no option {sorted(missing)}"
