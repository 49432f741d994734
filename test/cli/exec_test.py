#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""paddock exec as people and scripts use it: what it reads, and what it says when nothing was run."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PADDOCK = os.environ["PADDOCK"]


class Exec(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-exec-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()

    def run_it(self, *command, options=("--best-effort",), **more):
        place = () if "-w" in options else ("-w", str(self.workspace))
        return subprocess.run([PADDOCK, "exec", *place, *options, "--", *command], capture_output=True, timeout=60,
                              **more)

    def test_what_it_is_given_the_command_reads(self):
        for options in [("--best-effort",), ("--host",)]:
            done = self.run_it("sh", "-c", "read a; read b; echo $b $a; cat", input=b"one\ntwo\nrest", options=options)
            self.assertEqual((0, b"two one\nrest"), (done.returncode, done.stdout), done.stderr)

    def test_more_than_a_pipe_holds(self):
        text = os.urandom(3_000_000)
        done = self.run_it("sh", "-c", "cat", input=text)
        self.assertEqual(text, done.stdout)

    def test_a_command_that_reads_none_of_it(self):
        done = self.run_it("true", input=b"x" * 1_000_000)
        self.assertEqual(0, done.returncode, done.stderr)
        done = self.run_it("sh", "-c", "exec <&-; echo on", input=b"x" * 1_000_000)
        self.assertEqual((0, b"on\n"), (done.returncode, done.stdout), done.stderr)

    def test_who_gives_nothing(self):
        self.assertEqual(b"0\n", self.run_it("sh", "-c", "wc -c", stdin=subprocess.DEVNULL).stdout)
        closed = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", PADDOCK, "exec", "-w", str(self.workspace),
                                 "--best-effort", "--", "wc", "-c"], capture_output=True, timeout=60)
        self.assertEqual(b"0\n", closed.stdout)

    def test_it_waits_for_nobody_who_gives_nothing(self):
        reader, writer = os.pipe()  # open until the command has ended
        self.addCleanup(os.close, writer)
        done = self.run_it("echo", "done", stdin=reader)
        os.close(reader)
        self.assertEqual(b"done\n", done.stdout)

    def test_a_file_that_is_read_stays_as_it_is(self):
        file = self.folder / "file"
        file.write_text("kept\n")
        with file.open("r+") as given:
            done = self.run_it("sh", "-c", "cat; echo changed > /proc/self/fd/0; echo changed >&0; true", stdin=given)
        self.assertEqual(b"kept\n", done.stdout)
        self.assertEqual("kept\n", file.read_text())

    def test_a_directory_leads_nowhere(self):
        (self.folder / "secret").write_text("SECRET")
        directory = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, directory)
        done = self.run_it("sh", "-c", "cat /proc/self/fd/0/secret; ls /proc/self/fd/0/", stdin=directory)
        self.assertNotIn(b"SECRET", done.stdout)
        self.assertNotIn(b"secret", done.stdout)

    def test_json_when_nothing_was_run(self):
        cases = [(["no-such-program"], (), 127, "there is no program no-such-program"),
                 ([""], (), 127, "empty name"),
                 (["true"], ("--network", "all", "--host"), 2, "contradict each other"),
                 (["true"], ("-w", str(self.folder / "absent")), 125, "absent cannot be used"),
                 (["true"], ("--read", str(self.folder / "absent")), 125, "standard error says why")]
        for command, options, code, told in cases:
            done = self.run_it(*command, options=("--json", *options), stdin=subprocess.DEVNULL)
            with self.subTest(command=command, options=options):
                self.assertEqual(code, done.returncode)
                said = json.loads(done.stdout)
                self.assertEqual(code, said["exitCode"])
                self.assertIn(told, said["error"])
                self.assertNotEqual(b"", done.stderr)
        done = self.run_it("true", options=("--json", "--best-effort"), stdin=subprocess.DEVNULL)  # the control
        self.assertNotIn("error", json.loads(done.stdout))

    def test_a_call_says_that_its_process_ends(self):
        call = [PADDOCK, "call", "-w", str(self.workspace), "--tools", "coding", "--history", "off",
                "--exec", "best-effort"]
        done = subprocess.run([*call, "startProcess", json.dumps({"command": "sleep", "args": ["1000"], "waitMs": 0})],
                              capture_output=True, encoding="utf-8", timeout=60)
        self.assertEqual("running", json.loads(done.stdout)["state"])
        self.assertIn("the process ends now", done.stderr)
        done = subprocess.run([*call, "startProcess", json.dumps({"command": "true", "waitMs": 30000})],
                              capture_output=True, encoding="utf-8", timeout=60)  # the control
        self.assertNotIn("ends now", done.stderr)

    def test_an_empty_id_is_told(self):
        for command in ["logs", "stop"]:
            done = subprocess.run([PADDOCK, command, ""], capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual(1, done.returncode)
            self.assertIn("the id is empty", done.stderr)


if __name__ == "__main__":
    unittest.main()
