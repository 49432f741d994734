#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command that README.md shows to a shell, run as it stands there in a directory that has what it speaks of.

usage: readme_commands.py README.md DIRECTORY_OF_THE_PROGRAMS

A command that the table below does not know fails the test, so a new one must be given a way to be run.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKILL = "---\nname: Notes\ndescription: Takes notes.\n---\n# Notes\n"
EXPERT = '[experts.helper]\ninstruction = "Help."\n'
# Beginning of the command -> what its words stand for here, and what its output has.
COMMANDS = {
    "paddock-mcp --check": ({"DIR": "."}, "workspace"),
    "paddock-mcp --print-config": ({"DIR": "."}, '"command"'),
    "paddock-mcp --workspace DIR --http 127.0.0.1": ({"DIR": ".", "127.0.0.1:8931": "127.0.0.1:0"},
                                                     "listening on http://127.0.0.1:"),
    "paddock-mcp --workspace DIR --http unix:": ({"DIR": ".", "unix:/run/user/1000/p.sock": "unix:$PWD/p.sock"},
                                                "listening on unix:"),
    "paddock-mcp --workspace DIR --http 0.0.0.0": ({"DIR": ".", "0.0.0.0:8931": "127.0.0.1:0", "TOKEN": "token"},
                                                   "listening on http://"),
    "paddock call listDirectory": ({"DIR": "."}, '"a.txt"'),
    "paddock call readTextFile": ({}, '"content":"one'),
    "paddock tools": ({"[NAME]": "todo"}, "Arguments (JSON Schema)"),
    "paddock exec -- make": ({}, "it works"),
    "paddock skills list": ({}, "notes"),
    "paddock skills validate": ({"[PATH]": ".agents/skills/notes"}, ""),
    "paddock skills add": ({"ID": "more", "N": "More", "D": "'More notes.'"}, "more"),
    "paddock skills import": ({"SOURCE": "elsewhere/other"}, "other"),
    "paddock skills prompt": ({}, "Takes notes."),
    "paddock experts list": ({}, "helper"),
    "paddock experts check": ({}, "helper"),
    "paddock experts tools": ({}, "readTextFile"),
    "paddock experts call": ({"TOOL": "todo", """'{"a": 1}'""": "{}", "NAME": "helper"}, "todos"),
    "paddock demo": ({"DIR": "."}, "{}"),
    "paddock doctor": ({}, "openat2"),
}
# Commands that need a machine of their own, and what runs them.
ELSEWHERE = {
    "./tools/run": "tools/dev/check, on a fresh clone",
    "./tools/test": "whoever reads this",
    "c++ ": "the test 'use from other builds'",
}
# These serve until they are asked to end.
SERVERS = "paddock-mcp --workspace DIR --http"
NEEDS = {"paddock exec -- make": "make"}


def commands(readme):
    for block in re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S):
        for line in block.splitlines():
            if command := re.sub(r"\s+#.*", "", line).strip():
                yield command


def prepare(directory):
    for name, text in {"a.txt": "one\ntwo\n", "perstack.toml": EXPERT, "Makefile": "test:\n\t@echo it works\n",
                       ".agents/skills/notes/SKILL.md": SKILL,
                       "elsewhere/other/SKILL.md": SKILL.replace("Notes", "Other")}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    token = directory / "token"
    token.touch(mode=0o600)
    token.write_text("0123456789abcdef0123456789abcdef\n")


def serve(command, directory):
    """Ends the server as soon as it says that it listens."""
    with subprocess.Popen(["bash", "-c", "exec " + command], cwd=directory, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        first = server.stderr.readline()
        server.terminate()
        out, err = server.communicate(timeout=60)
        return subprocess.CompletedProcess(command, server.returncode, out, first + err)


def run(known, command, programs, words):
    for word, value in words.items():
        command = re.sub(rf"(?<!\S){re.escape(word)}(?!\S)", lambda _: value, command)
    with tempfile.TemporaryDirectory(prefix="paddock-readme-") as name:
        directory = pathlib.Path(name)
        prepare(directory)
        command = command.replace("build/tools/", f"{programs}/")
        if known.startswith(SERVERS):
            return serve(command, directory)
        return subprocess.run(["bash", "-c", command], cwd=directory, capture_output=True, encoding="utf-8",
                              stdin=subprocess.DEVNULL, timeout=120)


def main(readme, programs):
    found = list(commands(pathlib.Path(readme).read_text()))
    print(f"1..{len(found) + 1}")
    used = set()
    for number, command in enumerate(found, 1):
        plain = command.replace("build/tools/", "")
        known = next((start for start in [*COMMANDS, *ELSEWHERE] if plain.startswith(start)), None)
        used.add(known)
        if known in ELSEWHERE:
            print(f"ok {number} - {command} # SKIP run by {ELSEWHERE[known]}")
        elif known in NEEDS and not shutil.which(NEEDS[known]):
            print(f"ok {number} - {command} # SKIP {NEEDS[known]} is not installed")
        elif known is None:
            print(f"not ok {number} - {command}: no way to run it is known")
        else:
            words, shown = COMMANDS[known]
            done = run(known, command, programs, words)
            good = done.returncode == 0 and shown in done.stdout + done.stderr
            unconfined = "confinement_unavailable" in done.stderr
            skipped = " # SKIP this system cannot confine commands" if unconfined else ""
            print(f"{'ok' if good or unconfined else 'not ok'} {number} - {command}{skipped}")
            if not good:
                print(f"# exit {done.returncode}\n{done.stdout}{done.stderr}".replace("\n", "\n# "))
    unused = set(COMMANDS) - used
    print(f"{'not ok' if unused else 'ok'} {len(found) + 1} - README.md shows all that can be run {sorted(unused) or ''}")


main(*sys.argv[1:])
