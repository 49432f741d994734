#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C++ programs of README.md and the pages of docs/, word for word.

usage: readme_examples.py extract PAGE... -- OUTPUT...   writes them, in their order, one to each output
       readme_examples.py run NAME PROGRAM [SERVER]      runs one in a new directory and looks at what it did
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CANNOT_RUN_HERE = 77 # what a test says that skips itself


def extract(*arguments):
    pages, outputs = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    examples = [example for page in pages
                for example in re.findall(r"^```cpp\n(.*?)^```", pathlib.Path(page).read_text(), re.M | re.S)]
    if len(examples) != len(outputs):
        raise SystemExit(f"the pages have {len(examples)} C++ examples; test/consumer/meson.build names {len(outputs)}")
    for example, output in zip(examples, outputs):
        pathlib.Path(output).write_text(example)


def printed(program, workspace, *arguments, stdin=""):
    done = subprocess.run([program, *arguments], cwd=workspace, input=stdin, capture_output=True, text=True, timeout=60)
    if done.returncode == 125: # the command example: this system cannot confine
        print(done.stderr, end="")
        raise SystemExit(CANNOT_RUN_HERE)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def equal(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def files(program, workspace):
    equal(printed(program, workspace), "escapes_root\n")
    equal((workspace / "notes/today.md").read_text(), "- build a fence\n")


def command(program, workspace):
    equal(printed(program, workspace), "refused\n")
    equal((workspace / "result").read_text(), "kept\n")
    assert not pathlib.Path("/usr/result").exists()


def server(program, workspace):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    calls = [("shout", {"text": "mend, \u00e9!"}), ("shout", {"text": "x" * 1001}), ("writeTextFile", {"path": "a", "text": "b"})]
    lines = [json.dumps({"jsonrpc": "2.0", "id": at, "method": "tools/call",
                         "params": {"name": name, "arguments": arguments, "_meta": meta}})
             for at, (name, arguments) in enumerate(calls)]
    lines.append(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": meta}}))
    out = printed(program, workspace, stdin="\n".join(lines) + "\n")
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, out.splitlines())}
    equal(answers[0]["structuredContent"], {"text": "MEND, \u00e9!"})
    assert answers[1]["isError"] and "1001 characters" in answers[1]["content"][0]["text"], answers[1]
    equal((workspace / "a").read_text(), "b")
    names = [tool["name"] for tool in answers[3]["tools"]]
    assert "exec" not in names and names[-1] == "shout" and len(names) > 10, names


def frontmatter(program, workspace):
    equal(printed(program, workspace), "pdf: Reads PDF files.\n")


def skills(program, workspace):
    assert "\n- **notes**: notes \u2014 Keeps notes for people." in printed(program, workspace)
    assert (workspace / ".agents/skills/notes/SKILL.md").read_text().startswith("---\nname: notes\n")


def client(program, workspace, adapter):
    equal(json.loads(printed(program, workspace, adapter)),
          {"todos": [{"id": 0, "title": "Mend the fence", "completed": False}]})
    failed = subprocess.run([program, "/nonexistent"], cwd=workspace, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 1 and failed.stderr, failed


def search(program, workspace):
    (workspace / ".gitignore").write_text("left_out\n")
    for name in ("notes.txt", "left_out"):
        (workspace / name).write_text("first\na fence\n")
    equal(printed(program, workspace), "notes.txt:2:a fence\n")


def undo(program, workspace):
    (workspace / "notes.txt").write_text("by a person\n")
    with tempfile.TemporaryDirectory() as stores:
        equal(printed(program, workspace, stores), "restored notes.txt\n")
    equal((workspace / "notes.txt").read_text(), "by a person\n")


def coding(program, workspace):
    written, edited, *found = printed(program, workspace).splitlines()
    equal((workspace / "notes.txt").read_text(), "paint the fence\n")
    equal((json.loads(written)["bytes"], json.loads(edited)["applied"]), (len("mend the fence\n"), True))
    assert any("paint the fence" in line for line in found), found


def run(name, program, *more):
    examples = {f.__name__: f for f in (files, command, server, frontmatter, skills, client, search, undo, coding)}
    with tempfile.TemporaryDirectory() as scratch:
        examples[name](pathlib.Path(program).resolve(), pathlib.Path(scratch), *(str(pathlib.Path(p).resolve()) for p in more))


if __name__ == "__main__":
    {"extract": extract, "run": run}[sys.argv[1]](*sys.argv[2:])
