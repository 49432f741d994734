#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""What looks for its workspace upwards, as git does: search, find, map and checkpoint in a subdirectory.

The judges are git and, where there is one, ripgrep.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PADDOCK = os.environ["PADDOCK"]
FILES = {".gitignore": "*.log\n/build/\n/a/b/left.txt\n", "a/.ignore": "extra*\n", "a/b/.gitignore": "!kept.log\n"}
WORDS = ["top.txt", "top.log", "build/out.txt", "a/f.txt", "a/f.log", "a/extra.txt", "a/b/f.txt", "a/b/left.txt", "a/b/kept.log",
         "a/b/c/f.txt", "a/b/c/f.md", "a/c/f.txt", "other/f.txt", "other/extra.txt"]


class Subdirectory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-subdirectory-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(os.path.realpath(folder.name), "top")
        self.state = str(self.top.parent / "state")
        for name, text in [*FILES.items(), *[(name, "word\n") for name in WORDS]]:
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            (self.top / name).write_text(text)

    def run_in(self, directory, *words):
        return subprocess.run(words, cwd=self.top / directory, capture_output=True, encoding="utf-8", timeout=60,
                              env={**os.environ, "XDG_STATE_HOME": self.state, "HOME": self.state})

    def paddock(self, directory, *words):
        return self.run_in(directory, PADDOCK, *words)

    def searched(self, directory, *words):
        done = self.paddock(directory, "search", "-l", "word", *words)
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.splitlines())

    def repository(self):
        self.run_in(".", "git", "init", "-q", ".").check_returncode()

    def test_rules_above_count_as_in_ripgrep(self):
        self.repository()
        self.assertEqual(self.searched("a/b"), ["c/f.md", "c/f.txt", "f.txt", "kept.log"])
        self.assertEqual(self.searched("a/b", ".."), ["../c/f.txt", "../f.txt", "c/f.md", "c/f.txt", "f.txt", "kept.log"])
        self.assertEqual(self.searched("a/b", "left.txt"), ["left.txt"])  # it is named
        self.assertEqual(self.searched("build"), ["out.txt"])
        self.assertEqual(self.searched("a/b", "--workspace", "../b"), ["c/f.md", "c/f.txt", "f.txt", "kept.log", "left.txt"])
        if shutil.which("rg"):
            for directory, *words in [["a/b"], ["a"], ["."], ["build"], ["a/b", "left.txt"], ["a", "b/c"], ["a", "-g", "*.md"],
                                      ["a/b", "-g", "c/*.txt"], ["a/b", "-g", "/f.txt"], ["a/b", "-g", "!c"],
                                      ["a/b", "-g", "!{c/*.md,c/f.txt}"], ["a", "-g", "**/c/*"]]:
                with self.subTest(directory=directory, words=words):
                    judged = self.run_in(directory, "rg", "--no-config", "--hidden", "-l", "word", *words)
                    self.assertEqual(self.searched(directory, *words), sorted(judged.stdout.splitlines()))

    def test_find_lists_what_git_does_not_ignore(self):
        self.repository()
        (self.top / "a/.ignore").unlink()
        for directory in ".", "a", "a/b", "other":
            with self.subTest(directory=directory):
                judged = self.run_in(directory, "git", "ls-files", "-co", "--exclude-standard")
                self.assertEqual(sorted(self.paddock(directory, "find", "*", "-t", "file").stdout.splitlines()),
                                 sorted(judged.stdout.splitlines()))
        self.assertEqual(self.paddock("a/b", "find", "c", "..").stdout, "c\n../c\n")
        told = self.paddock("a/b", "find", "left.txt")
        self.assertIn("by /a/b/left.txt in ../../.gitignore:3", told.stderr)
        self.assertIn("left.txt\n", self.paddock("a/b", "find", "left.txt", "--no-ignore").stdout)
        self.assertIn("… 1 file, 5 B, ignored\n", self.paddock("a/b", "map").stdout)

    def test_json_has_paths_from_here(self):
        self.repository()
        self.assertEqual(json.loads(self.paddock("a/b", "find", "f.*", "--json").stdout)["paths"], ["c/f.md", "c/f.txt", "f.txt"])
        found = json.loads(self.paddock("a/b", "search", "-l", "word", "..", "--json").stdout)
        self.assertIn("../c/f.txt", found["files"])

    def test_a_workspace_with_a_history_is_found(self):
        self.assertEqual(self.searched("a/b"), ["c/f.md", "c/f.txt", "f.txt", "kept.log", "left.txt"])  # nothing is above
        self.assertEqual(self.paddock(".", "checkpoint").returncode, 0)
        self.assertEqual(self.searched("a/b"), ["c/f.md", "c/f.txt", "f.txt", "kept.log"])

    def test_what_leads_out_or_is_hidden(self):
        self.repository()
        out = self.paddock("a/b", "search", "word", "../../..")
        self.assertEqual((out.returncode, out.stdout), (2, ""))
        self.assertIn("../../..: ", out.stderr)
        self.assertEqual(self.paddock(".git", "find", "HEAD").stdout, "HEAD\n")  # whoever goes there looks there alone

    def test_a_checkpoint_begins_the_history_of_the_repository(self):
        self.assertIn(f"history of {self.top}/other.", self.paddock("other", "checkpoint").stdout)  # there is none
        shutil.rmtree(self.state)
        self.repository()
        self.assertIn(f"This starts the history of {self.top}.", self.paddock("a/b", "checkpoint", "one").stdout)
        (self.top / "a/b/new").write_text("1")
        self.assertIn("created  new  not by an agent, ", self.paddock("a/b", "changes").stdout)
        self.assertIn("created  ../a/b/new ", self.paddock("other", "changes").stdout)
        named = self.paddock("a/b", "checkpoint", "-w", str(self.top / "a"))
        self.assertIn(f"history of {self.top}/a.", named.stdout)


if __name__ == "__main__":
    unittest.main()
