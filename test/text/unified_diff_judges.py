#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""git and patch judge our differences: what they make of one text with the diff has to be the other text, byte for byte.

PRINT_DIFFS names the program that prints ours.
"""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

ROUNDS, FILES = 12, 60
ENDS = [b"\n"] * 6 + [b"\r\n", b"\r\r\n", b" \n"]
LINES = [b"", b"{", b"}", b"return 0;", b"--- a", b"+++ b", b"@@ -1 +1 @@", b"\\ No newline at end of file", b"-", b"+x", b"\t",
         "文字".encode(), b"\xff\xfe", b"diff --git a/x b/x", b"From 0", b"*** a", b"\x1b[0m", b"\x0c"]
NAMES = ["x", "x y", "文", 'quo"te', "back\\slash", "tab\there", "line\nbreak", "bell\x07", " lead", "trail "]


class OtherProgramsDecide(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(30)
        memory = pathlib.Path("/dev/shm")
        self.top = pathlib.Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
        self.addCleanup(shutil.rmtree, self.top)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.top), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
                            "GIT_CEILING_DIRECTORIES": str(self.top.parent)}

    def lines(self, count):
        return [self.random.choice(LINES) + self.random.choice([b"", b"%d" % self.random.randrange(9)]) + self.random.choice(ENDS)
                for _ in range(count)]

    def texts(self):
        before = self.lines(self.random.choice([0, 1, 2, 5, 40, 200]))
        after = list(before)
        for _ in range(self.random.randrange(8)):
            at = self.random.randint(0, len(after))
            after[at:at + self.random.randrange(4)] = self.lines(self.random.randrange(4))
        return [b"".join(lines)[:-1 if self.random.random() < 0.3 else None] for lines in (before, after)]

    def write(self, round_number):
        """Directories before and after, and the names that both have."""
        before, after = self.top / f"before{round_number}", self.top / f"after{round_number}"
        names = []
        for directory in (before, after):
            directory.mkdir()
        for i in range(FILES):
            name = f"{i} {self.random.choice(NAMES)}"
            texts = self.texts()
            (before / name).write_bytes(texts[0])
            (after / name).write_bytes(texts[1])
            # An emptied file is a deleted one to patch, and git tells an empty file from none by a line that we leave to others.
            if texts[0] and texts[1]:
                names.append(name)
        return before, after, names

    def judge(self, command, context):
        for number in range(ROUNDS):
            before, after, names = self.write(f"{command[0]}{context}-{number}")
            diff = subprocess.run([os.environ["PRINT_DIFFS"], before, after, str(context), *names], capture_output=True, check=True).stdout
            self.assertGreater(diff.count(b"\n@@ "), FILES / 4)
            ran = subprocess.run(command, cwd=before, input=diff, capture_output=True, env=self.environment)
            self.assertEqual(ran.returncode, 0, ran.stderr + ran.stdout)
            for name in names:
                self.assertEqual((before / name).read_bytes(), (after / name).read_bytes(), name)

    def test_git(self):
        for context in (0, 1, 3):
            with self.subTest(context=context):
                self.judge(["git", "apply", "--whitespace=nowarn"] + (["--unidiff-zero"] if context == 0 else []), context)

    @unittest.skipUnless(shutil.which("patch"), "there is no patch")
    def test_patch(self):
        for context in (0, 1, 3):
            with self.subTest(context=context):
                self.judge(["patch", "-p1", "--binary", "--no-backup-if-mismatch", "-s"], context)

    def test_a_wrong_diff_is_refused(self):
        """The control: a diff of which a line of context was changed fits nowhere."""
        before, after, names = self.write("wrong")
        diff = subprocess.run([os.environ["PRINT_DIFFS"], before, after, "3", *names], capture_output=True, check=True).stdout
        wrong = diff.replace(b"\n {", b"\n {{")
        self.assertNotEqual(wrong, diff)
        ran = subprocess.run(["git", "apply"], cwd=before, input=wrong, capture_output=True, env=self.environment)
        self.assertNotEqual(ran.returncode, 0)


if __name__ == "__main__":
    unittest.main()
