#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command that README.md and the pages of docs/ show to a shell, run as it stands there in a directory that has
what it speaks of.

usage: readme_commands.py DIRECTORY_OF_THE_PROGRAMS PAGE...

A command that the table below does not know fails the test, so a new one must be given a way to be run. What a
```console shows is compared to the letter, and the fence's part in it is tried: the same command without
`paddock exec --` must end in another way.
"""
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SKILL = "---\nname: Notes\ndescription: Takes notes.\n---\n# Notes\n"
EXPERT = '[experts.helper]\ninstruction = "Help."\n'
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
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
    "paddock ps": ({}, ""),
    "paddock search -i": ({}, "it works"),
    "paddock search -F": ({}, "two"),
    "paddock find": ({}, "perstack.toml"),
    "paddock map": ({}, "perstack.toml"),
    "paddock apply": ({}, "would edit a.txt +1 -1"),
    "paddock changes": ({}, "since checkpoint"),
    "paddock diff": ({}, ""),
    "paddock undo": ({}, "Nothing to undo."),
    "paddock checkpoint": ({}, "Checkpoint"),
    "paddock history list": ({}, "start"),
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
    "tools/dev/arm64": "whoever has the packages for aarch64",
    "tools/dev/kernels": "whoever has qemu",
    "meson setup": "tools/run",
    "meson install": "the test 'use from other builds'",
    "c++ ": "the test 'use from other builds'",
}
# These serve until they are asked to end.
SERVERS = "paddock-mcp --workspace DIR --http"
PR_SET_CHILD_SUBREAPER = 36
NEEDS = {"paddock exec -- make": "make"}
# These are about a history that somebody has begun.
WITH_HISTORY = {"paddock changes", "paddock diff", "paddock undo", "paddock history list"}


def commands(page):
    for block in re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if command := re.sub(r"\s+#.*", "", line).strip():
                yield command


def prepare(directory):
    for name, text in {"a.txt": "one\ntwo\n", "notes.md": "# Notes\n", "changes.patch": PATCH, "perstack.toml": EXPERT, "Makefile": "test:\n\t@echo it works\n",
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
        if known in WITH_HISTORY:
            subprocess.run([f"{programs}/paddock", "checkpoint"], cwd=directory, capture_output=True, check=True, timeout=120)
        if known.startswith(SERVERS):
            return serve(command, directory)
        return subprocess.run(["bash", "-c", command], cwd=directory, capture_output=True, encoding="utf-8",
                              stdin=subprocess.DEVNULL, timeout=120)


def transcripts(page):
    """For each ```console the commands in it, with what they print."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S):
        yield [tuple(part.partition("\n")[::2]) for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


def end_all_in(directory):
    """Ends the processes whose directory it is; true if there were some."""
    left = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(directory):
                left.append(int(process.name))
        except OSError: # it has ended, or is another user's
            continue
    for number in left:
        os.kill(number, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(number, 0)
    return bool(left)


def replay(transcript, programs):
    """(command, whether it prints what it should, what it prints) of each, in one directory."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) # what the controls leave behind is reaped here
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C"}
    with tempfile.TemporaryDirectory(prefix="paddock-readme-") as name, tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        directory = pathlib.Path(name).resolve() / "outer/workspace" # deep enough for the ways out
        directory.mkdir(parents=True)

        def printed(command):
            out.seek(0)
            out.truncate()
            subprocess.run(["bash", "-c", command], cwd=directory, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                           timeout=120, env=environment)
            out.seek(0)
            return out.read()

        for command, expected in transcript:
            found = printed(command)
            yield command, found == expected and not end_all_in(directory), found
            if "paddock exec -- " in command:
                unfenced = command.replace("paddock exec -- ", "")
                found = printed(unfenced)
                left = end_all_in(directory)
                yield f"control: {unfenced}", left or found != expected, found


def check_transcripts(pages, programs):
    """(passed, skipped because of, description, output) of each line."""
    for transcript in (found for page in pages for found in transcripts(page)):
        missing = [program for program in ("pgrep", "bash") if not shutil.which(program)]
        if missing:
            yield True, f"{missing[0]} is not installed", "transcript", ""
            continue
        lines = list(replay(transcript, programs))
        confined = not any("confinement_unavailable" in found or "layer" in found for _, _, found in lines)
        for command, good, found in lines:
            yield good, None if good or confined else "this system cannot confine commands", command, found


def check_commands(found, programs):
    """The same of each command, and the commands that are known and nowhere shown."""
    used = set()
    for command in found:
        plain = command.replace("build/tools/", "")
        known = next((start for start in [*COMMANDS, *ELSEWHERE] if plain.startswith(start)), None)
        used.add(known)
        if known in ELSEWHERE:
            yield True, f"run by {ELSEWHERE[known]}", command, ""
        elif known in NEEDS and not shutil.which(NEEDS[known]):
            yield True, f"{NEEDS[known]} is not installed", command, ""
        elif known is None:
            yield False, None, f"{command}: no way to run it is known", ""
        else:
            words, shown = COMMANDS[known]
            done = run(known, command, programs, words)
            good = done.returncode == 0 and shown in done.stdout + done.stderr
            unconfined = "confinement_unavailable" in done.stderr
            yield good, "this system cannot confine commands" if unconfined else None, command, \
                f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    unused = sorted({*COMMANDS, *ELSEWHERE} - used)
    yield not unused, None, f"the pages show all that can be run {unused or ''}", ""


def main(programs, *paths):
    pages = [pathlib.Path(path).read_text() for path in paths]
    programs = pathlib.Path(programs).resolve()
    found = [command for page in pages for command in commands(page)]
    results = [*check_commands(found, programs), *check_transcripts(pages, programs)]
    assert any(command.startswith("control: ") or skipped for _, skipped, command, _ in results), "no page shows the fence"
    print(f"1..{len(results)}")
    for number, (good, skipped, description, output) in enumerate(results, 1):
        comment = f" # SKIP {skipped}" if skipped else ""
        print(f"{'ok' if good or skipped else 'not ok'} {number} - {description.replace('#', '')}{comment}")
        if not good and output:
            print("# " + output.rstrip().replace("\n", "\n# "))


main(*sys.argv[1:])
