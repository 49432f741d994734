#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""Nothing that an agent has named or written commands the terminal of a person: on a terminal, with and without colours, and
where what is printed for people goes through a pipe. What is for programs is exact there."""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Server, folder_of  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
EVIL = "\x1b[31m\x1b]0;evil\x07\x1b[2J\u009b5m\u202eflip\x08\r\x7f"
OWN = re.compile(rb"\x1b\[(?:0|1|2|31|32)m")  # the styles of the programs
HARM = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]|\r|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def harm_in(printed, has_colours):
    """What would command a terminal; the line ends of a terminal are its own."""
    printed = printed.replace(b"\r\n", b"\n")
    return HARM.findall(OWN.sub(b"", printed) if has_colours else printed)


class Terminal(unittest.TestCase):
    def setUp(self):
        self.top = folder_of(self)
        self.workspace = self.top / f"work{EVIL}"
        self.workspace.mkdir()
        self.variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        self.variables.update(XDG_STATE_HOME=str(self.top / "state"), HOME=str(self.top), TERM="xterm")
        self.server = Server(self.workspace, environment=self.variables).until_the_end_of(self)
        (self.workspace / "theirs").write_text("one\n")
        self.server.call("exec", command="sh", args=["-c", "echo start"])
        script = f"# {EVIL}\nprintf '%s\\n' \"$1\" > \"f$1\"; printf '%s\\n' \"$1\" >> theirs; mkdir \"d$1\"; echo x > \"d$1/in$1\"; " \
                 "mkdir -p skills/bad; printf -- '---\\nname: bad\\ndescription: \"%s\"\\n---\\n%s\\n' \"$1\" \"$1\" > skills/bad/SKILL.md"
        self.server.call("exec", command="sh", args=["-c", script, "sh", EVIL])
        self.server.call("todo", newTodos=[{"title": EVIL}])
        self.server.call("checkpoint", label=EVIL)
        started = self.server.call("startProcess", command="sh", args=["-c", "printf '%s\\n' \"$1\"; echo ready; sleep 100", "sh", EVIL],
                            until="ready", waitMs=20000)
        self.id = started["process"]
        self.patch = self.top / f"patch{EVIL.replace(chr(0), '')}"
        self.patch.write_text(f"--- a/f{EVIL}\n+++ b/f{EVIL}\n@@ -1 +1 @@\n-no such {EVIL}\n+x\n")

    def on_terminal(self, words, **more):
        mine, its = pty.openpty()
        process = subprocess.Popen([PADDOCK, *words], stdin=subprocess.DEVNULL, stdout=its, stderr=its, env={**self.variables, **more},
                                   cwd=self.workspace)
        os.close(its)
        printed = b""
        while True:
            try:
                part = os.read(mine, 65536)
            except OSError:
                break
            if not part:
                break
            printed += part
        os.close(mine)
        process.wait(timeout=60)
        return printed

    def through_pipe(self, words):
        told = subprocess.run([PADDOCK, *words], stdin=subprocess.DEVNULL, capture_output=True, env=self.variables, cwd=self.workspace,
                              timeout=60)
        return told.stdout + told.stderr

    def commands(self):
        """Of a person, with what an agent may have named in it."""
        return {"words": [["ps"], ["changes"], ["changes", f"d{EVIL}"], ["undo", "-n"], ["undo", "-n", f"no{EVIL}"], ["history", "list"],
                          ["history", "verify"], ["checkpoint", EVIL], ["changes", "--since", EVIL], ["diff", f"no{EVIL}"], ["map"],
                          ["apply", str(self.patch)], ["apply", "-n", str(self.patch)], ["stop", f"no{EVIL}"], ["logs", f"no{EVIL}"],
                          ["changes", "--workspace", f"no{EVIL}"], ["skills", "list", "--root", "skills"], [f"no{EVIL}"],
                          ["skills", "validate", "--root", "skills"], ["skills", "validate", "skills/bad"], ["call", f"no{EVIL}"],
                          ["call", "readTextFile", "--arg", f"path=no{EVIL}"], ["call", "todo", "--arg", f"newTodos=[{EVIL}"],
                          ["changes", "--json"], ["ps", "--json"], ["history", "list", "--json"], ["find", "*", "--json"],
                          ["call", "listDirectory", "--arg", "path=."], ["exec", f"no{EVIL}"], ["tools", f"no{EVIL}"]],
                "content": [["diff"], ["logs", self.id], ["search", "e"], ["search", "-l", "e"], ["search", "-c", "e"], ["find", "*"],
                            ["skills", "show", "bad", "--root", "skills"], ["skills", "prompt", "--root", "skills"]]}

    def test_on_a_terminal(self):
        for words in sum(self.commands().values(), []):
            for name, more in (("colours", {}), ("no colours", {"NO_COLOR": "1"})):
                with self.subTest(f"{name}: {words!r}"):
                    self.assertEqual(harm_in(self.on_terminal(words, **more), not more), [])

    def test_through_a_pipe(self):
        for words in sum(self.commands().values(), []):
            with self.subTest(repr(words)):
                self.assertEqual(harm_in(self.through_pipe(words), False), [])

    def test_control_what_is_for_programs_is_exact(self):
        self.assertIn(EVIL.split("\r")[0].encode(), self.through_pipe(["diff", "--raw"]))
        self.assertIn(EVIL.split("\r")[0].encode(), self.through_pipe(["logs", "--raw", self.id]))
        self.assertIn(EVIL.split("\r")[0].encode(), self.through_pipe(["find", "f*", "-0"]))
        listed = json.loads(self.through_pipe(["changes", "--json"]))
        self.assertTrue(any("flip" in each["path"] for each in listed["changes"]), listed)

    def test_git_applies_what_is_printed(self):
        """Through a pipe everything but control characters is exact; with --raw these are, too."""
        for words, content in ((["diff"], "one\r\n\ufeffBOM \u200d \u00ad\r\n".encode() + b"latin \xe9\n"),
                               (["diff", "--raw"], EVIL.encode() + b"\x9b2J\xc2\n")):
            with self.subTest(repr(words)):
                (self.workspace / "source").write_bytes(content)
                self.server.call("exec", command="cp", args=["source", "theirs"])
                told = subprocess.run([PADDOCK, *words, "theirs"], stdin=subprocess.DEVNULL, capture_output=True, env=self.variables,
                                      cwd=self.workspace, timeout=60)
                self.assertEqual(told.stderr, b"")
                place = self.top / "applied"
                place.mkdir(exist_ok=True)
                (place / "theirs").write_text("one\n")
                subprocess.run(["git", "apply"], input=told.stdout, cwd=place, check=True, capture_output=True)
                self.assertEqual((place / "theirs").read_bytes(), content)
        told = subprocess.run([PADDOCK, "diff", "theirs"], stdin=subprocess.DEVNULL, capture_output=True, env=self.variables,
                              cwd=self.workspace, timeout=60)
        self.assertIn(b"--raw", told.stderr)

    def test_control_the_judge_finds_what_commands(self):
        for each in (b"\x1b[2J", b"\x1b]0;x\x07", b"a\rb", "\u009b".encode(), "\u202e".encode(), b"\x7f", b"\x08"):
            self.assertNotEqual(harm_in(each, True), [])
        self.assertEqual(harm_in(b"\x1b[31ma\x1b[0m\tb\r\n", True), [])
        self.assertNotEqual(harm_in(b"\x1b[31ma\x1b[0m\r\n", False), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
