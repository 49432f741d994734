#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""git judges how patches are read and applied: what it writes between two random trees has to turn the one into the other, and of
patches with bytes changed none may give another tree than git's.

APPLY_PATCH names the program that applies a patch as we read it; or PADDOCK the one that does so in all files or in none, with TOOL
through the tool of that name.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

STEP = int(os.environ.get("PADDOCK_CAMPAIGN_STEP", "1"))  # one of so many cases is tried
ROUNDS, CHANGED = max(30 // STEP, 3), 12
LINES = ["", "{", "}", "-- a", "++ b", "-- ", "@@ -1 +1 @@", "diff --git a/x b/x", "文字", "\tx", "return 0;"]
NAMES = ["b", "d/a", "d/e/f", "x y", "ä", 'quo"te', "tab\tx", "a/a", "-x"]
OPTIONS = [[], ["-U0"], ["-U1"], ["-M"], ["-M", "-C", "--find-copies-harder"], ["--no-prefix"], ["--patience", "-U10"]]


class GitDecides(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(40)
        memory = pathlib.Path("/dev/shm")
        self.top = pathlib.Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
        self.addCleanup(shutil.rmtree, self.top)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.top), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
                            "GIT_CEILING_DIRECTORIES": str(self.top)}

    def git(self, directory, *arguments):
        return subprocess.run(["git", "-C", directory, *arguments], capture_output=True, env=self.environment)

    def text(self):
        count = self.random.choice([0, 1, 3, 20, 60])
        lines = [self.random.choice(LINES) + str(self.random.randrange(4)) + self.random.choice(["\n"] * 9 + ["\r\n"]) for _ in range(count)]
        return "".join(lines).encode()[:-1 if self.random.random() < 0.2 else None]

    def changed(self, text):
        lines = text.splitlines(keepends=True)
        for _ in range(self.random.randrange(4)):
            at = self.random.randint(0, len(lines))
            lines[at:at + self.random.randrange(3)] = self.text().splitlines(keepends=True)[:self.random.randrange(3)]
        return b"".join(lines)

    def write(self, directory, files):
        for name, (text, mode) in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            path.chmod(mode)

    def read(self, directory):
        paths = [path for path in directory.rglob("*") if path.is_file() and ".git" not in path.parts]
        return {str(path.relative_to(directory)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in paths}

    def trees(self):
        chosen = self.random.sample(NAMES, 6)
        before = {name: (self.text(), self.random.choice([0o644, 0o755])) for name in chosen}
        after = {}
        for name, (text, mode) in before.items():
            kind = self.random.random()
            if kind < 0.15:
                continue
            to = name if kind < 0.8 else name + "-moved"
            for other in [to] + [name + "-copied"] * (self.random.random() < 0.2):
                changed_mode = self.random.choice([0o644, 0o755])
                after[other] = (text if self.random.random() < 0.3 else self.changed(text), mode if self.random.random() < 0.7 else changed_mode)
        for i in range(self.random.randrange(3)):
            after[f"new/{i}"] = (self.text(), 0o644)
        return before, after

    def diff(self, number, options=OPTIONS):
        """A directory with the tree before, what it is to become, and git's patch."""
        before, after = self.trees()
        directory = self.top / f"tree{number}"
        directory.mkdir()
        self.write(directory, before)
        self.git(directory, "init", "-q")
        self.git(directory, "config", "core.autocrlf", "false")
        self.git(directory, "add", "-A")
        tree = self.git(directory, "write-tree").stdout.strip()
        for path in self.read(directory):
            (directory / path).unlink()
        self.write(directory, after)
        self.git(directory, "add", "-A")
        patch = self.git(directory, "diff", "--cached", "--no-color", *self.random.choice(options), tree).stdout
        shutil.rmtree(directory)
        directory.mkdir()
        self.write(directory, before)
        return directory, before, after, patch

    def apply(self, directory, patch):
        (self.top / "patch").write_bytes(patch)
        if "TOOL" in os.environ:
            words = ["call", os.environ["TOOL"], "-", "--tools", "coding", "--exec", "off", "--workspace", directory]
            return subprocess.run([os.environ["PADDOCK"], *words], input=json.dumps({"patch": patch.decode("utf-8", "ignore")}).encode(), capture_output=True)
        if "PADDOCK" in os.environ:
            return subprocess.run([os.environ["PADDOCK"], "apply", "--workspace", directory, self.top / "patch"], capture_output=True)
        return subprocess.run([os.environ["APPLY_PATCH"], directory, self.top / "patch"], capture_output=True)

    def test_patches_of_git(self):
        seen = 0
        for number in range(ROUNDS * 5):
            directory, before, after, patch = self.diff(number)
            if not patch:
                continue
            seen += 1
            ran = self.apply(directory, patch)
            self.assertEqual(ran.returncode, 0, ran.stderr + patch)
            self.assertEqual(self.read(directory), after, patch)
        self.assertGreater(seen, ROUNDS * 3)

    def test_links_and_submodules(self):
        """git makes a link of such a patch; here a file must not come of it, nor anything else of the same patch."""
        for mode in ("120000", "160000", "100644"):
            directory = self.top / f"links{mode}"
            self.write(directory, {"a": (b"one\n", 0o644)})
            self.git(directory, "init", "-q")
            self.git(directory, "add", "-A")
            tree = self.git(directory, "write-tree").stdout.strip()
            blob = self.git(directory, "hash-object", "-w", "a").stdout.strip().decode()
            self.git(directory, "update-index", "--add", "--cacheinfo", f"{mode},{blob},b/new")
            patch = self.git(directory, "diff", "--cached", tree).stdout
            self.assertIn(b"new file mode " + mode.encode(), patch)
            ran = self.apply(directory, b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+2\n" + patch)
            if mode == "100644":
                self.assertEqual((ran.returncode, self.read(directory)["b/new"][0]), (0, b"one\n"), ran.stderr)
                continue
            self.assertEqual(ran.returncode, 1, patch)
            self.assertIn(mode, (ran.stdout + ran.stderr).decode())
            self.assertEqual(self.read(directory), {"a": (b"one\n", 0o644)})

    def test_changed_patches(self):
        """What both take gives the same tree; and most of what git refuses we do (counts are passed over here)."""
        both = refused = 0
        for number in range(ROUNDS):
            # Without context git goes by the line afterwards, which lines that are missing before it shift.
            directory, before, _, patch = self.diff(f"c{number}", [words for words in OPTIONS if words != ["-U0"]])
            if not patch:
                continue
            for _ in range(CHANGED):
                lines = patch.splitlines(keepends=True)
                # Heads that are damaged mean what each program makes of them.
                hunks = [i for i, line in enumerate(lines) if line[:1] in b" +-" and line[:3] not in (b"---", b"+++")]
                if not hunks:
                    break
                at = self.random.choice(hunks)
                if self.random.random() < 0.5:
                    del lines[at]
                else:
                    lines.insert(at, lines[self.random.choice(hunks)])
                wrong = b"".join(lines)
                ours, gits = self.top / "ours", self.top / "gits"
                for copy in (ours, gits):
                    shutil.rmtree(copy, ignore_errors=True)
                    shutil.copytree(directory, copy)
                ran = self.apply(ours, wrong)
                (self.top / "patch").write_bytes(wrong)
                level = "-p0" if b"diff --git a/" not in patch else "-p1"
                judged = self.git(gits, "apply", "--recount", "--unidiff-zero", "--whitespace=nowarn", level, self.top / "patch")
                self.assertIn(ran.returncode, (0, 1, 3), ran.stderr + wrong)
                if ran.returncode == 0 and judged.returncode == 0:
                    both += 1
                    one, other = self.read(ours), self.read(gits)
                    differing = [name for name in one | other if one.get(name) != other.get(name)]
                    self.assertEqual(one, other, (differing, wrong))
                elif ran.returncode != 0:
                    refused += 1
                    self.assertEqual(self.read(ours), before)
        self.assertGreater(both, 20 // STEP)
        self.assertGreater(refused, 100 // STEP)

    def test_counts_that_are_wrong(self):
        """What git makes with the right ones, or nothing."""
        taken = refused = 0
        for number in range(ROUNDS):
            directory, before, after, patch = self.diff(f"n{number}")
            heads = list(re.finditer(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", patch, re.MULTILINE))
            for _ in range(CHANGED if heads else 0):
                wrong, counted = bytearray(patch), self.random.sample(heads, min(len(heads), self.random.choice([1, 1, 2, 5])))
                for head in sorted(counted, key=re.Match.start, reverse=True):
                    first, old, then, new = (1 if each is None else int(each) for each in head.groups())
                    old, new = (max(0, each + self.random.choice([0, -1, 1, 2, -3, 9])) for each in (old, new))
                    wrong[head.start():head.end()] = b"@@ -%d,%d +%d,%d @@" % (first, old, then, new)
                ours = self.top / "ours"
                shutil.rmtree(ours, ignore_errors=True)
                shutil.copytree(directory, ours)
                if self.apply(ours, bytes(wrong)).returncode == 0:
                    taken += 1
                    self.assertEqual(self.read(ours), after, bytes(wrong))
                else:
                    refused += 1
                    self.assertEqual(self.read(ours), before)
        self.assertGreater(taken, 20 // STEP)
        self.assertGreater(refused, 20 // STEP)

    def test_patches_that_were_cut_off(self):
        """As a model's answer is at its limit. What git refuses is refused, and what both take gives the same tree."""
        cuts = refused = 0
        for number in range(ROUNDS):
            directory, before, _, patch = self.diff(f"o{number}", [[], ["-U1"], ["-M"], ["-U10"]])
            if not patch:
                continue
            lines = [sum(map(len, patch.splitlines(keepends=True)[:count])) for count in range(1, patch.count(b"\n"))]
            for at in self.random.sample(lines, min(len(lines), CHANGED)) + [self.random.randrange(1, len(patch)) for _ in range(CHANGED)]:
                cut = patch[:at]
                ours, gits = self.top / "ours", self.top / "gits"
                for copy in (ours, gits):
                    shutil.rmtree(copy, ignore_errors=True)
                    shutil.copytree(directory, copy)
                ran = self.apply(ours, cut)
                # Of a last line without its end git takes none; we do where the file shows that it is whole.
                (self.top / "patch").write_bytes(cut if cut.endswith(b"\n") else cut + b"\n")
                judged = self.git(gits, "apply", "--whitespace=nowarn", self.top / "patch")
                cuts += 1
                self.assertIn(ran.returncode, (0, 1, 3), ran.stderr + cut)
                if ran.returncode != 0:
                    refused += 1
                    self.assertEqual(self.read(ours), before)
                    continue
                if b"removal patch leaves file contents" in judged.stderr: # here the file's name is enough
                    continue
                self.assertEqual(judged.returncode, 0, judged.stderr + b"\n" + cut)
                self.assertEqual(self.read(ours), self.read(gits), cut)
        self.assertGreater(cuts, ROUNDS * 10)
        self.assertGreater(refused, cuts * 2 // 3)

    def test_each_byte_of_one_patch(self):
        directory = self.top / "bytes"
        self.write(directory, {"a": (b"1\n2\n3\n4\n5\n6\n7\n8\n9\n", 0o644), "b": (b"x\n", 0o644), "c": (b"y\n", 0o644)})
        before = self.read(directory)
        patch = (b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\n@@ -6,4 +6,5 @@\n 6\n-7\n+seven\n+and\n 8\n 9\n"
                 b"diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+z\n\\ No newline at end of file\n"
                 b"diff --git a/c b/d\nsimilarity index 100%\nrename from c\nrename to d\n")
        taken = []
        ends = [patch.index(b"@@ -6"), patch.index(b"diff --git a/b"), patch.index(b"\\ No newline"), patch.index(b"diff --git a/c")]
        ends = sorted(ends + [ends[0] - 1, ends[1] - 1, ends[3] - 1])  # and without the last newline, but for a line that comes
        for at in sorted({*range(1, len(patch), STEP), *ends}):
            copy = self.top / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(directory, copy)
            if self.apply(copy, patch[:at]).returncode == 0:
                taken.append(patch[:at])
            else:
                self.assertEqual(self.read(copy), before)
        self.assertEqual(taken, [patch[:at] for at in ends])


if __name__ == "__main__":
    unittest.main()
