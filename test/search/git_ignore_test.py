#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""git judges our ignore rules: `git check-ignore` has to name the same rule for every path, in random trees with random rules.

IGNORE_VERDICTS names the program that says what our rules say.
"""
import collections
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

NAMES = ["a", "b", "ab", "abc", "a.b", "x.o", "b.o", ".a", "foo", "-", "a-b", "[", "é", "ba]", "a b", "*", "\\", "!a", "#", "a\\"]
PARTS = ["a", "b", ".o", "*", "**", "?", "/", "/", "**/", "/**", "[ab]", "[!a]", "[^b-]", "[]a]", "[a/b]", "[[:alpha:]]",
         "[[:bogus:]]", "[a-", "\\", "\\*", "\\/", " ", "é", "ab", "foo", ".a", "-", "[[:]", "[--a]", "[\\]a]", "[a-\\c]",
         "***", "x", "[é]", "#", "!", "\r"]
ROUNDS, PATHS_MIN = 330, 100_000


class GitDecides(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(20)
        memory = pathlib.Path("/dev/shm")
        self.top = pathlib.Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
        self.addCleanup(shutil.rmtree, self.top)
        # Nothing that the user has configured takes part.
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.top / "home"), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        self.git("init", "-q")
        self.paths = []  # relative; directories with a slash at the end
        self.grow("", 0)
        self.directories = [""] + [path[:-1] for path in self.paths if path.endswith("/")]

    def git(self, *arguments, text=b""):
        ran = subprocess.run(["git", "-C", self.top, *arguments], input=text, capture_output=True, env=self.environment)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        return ran.stdout

    def grow(self, directory, depth):
        for name in self.random.sample(NAMES, 9 if depth < 2 else 5):
            if depth < 3 and self.random.random() < 0.5:
                (self.top / directory / name).mkdir()
                self.paths.append(f"{directory}{name}/")
                self.grow(f"{directory}{name}/", depth + 1)
            else:
                (self.top / directory / name).touch()
                self.paths.append(directory + name)

    def pattern(self):
        kind = self.random.random()
        if kind < 0.15:
            pattern = self.random.choice(NAMES)
        elif kind < 0.45:
            letters = list(self.random.choice(self.paths))
            for _ in range(self.random.randint(0, 3)):
                letters[self.random.randrange(len(letters))] = self.random.choice(PARTS)
            pattern = "".join(letters)
        else:
            pattern = "".join(self.random.choice(PARTS) for _ in range(self.random.randint(1, 6)))
        before = self.random.choice(["", "", "", "", "/", "!", "!"])
        return before + pattern + self.random.choice(["", "", "", "", "/"])

    def rules(self):
        """A round's ignore files: content by directory."""
        lines = lambda: "\n".join(self.pattern() for _ in range(self.random.randint(1, 6)))
        return {directory: (lines() + self.random.choice(["\n", "", "\r\n"])).encode()
                for directory in ["", *self.random.sample(self.directories, 2)]}

    def of_git(self, rules):
        for directory, content in rules.items():
            (self.top / directory / ".gitignore").write_bytes(content)
        text = b"\0".join(path.rstrip("/").encode() for path in self.paths) + b"\0"
        fields = self.git("check-ignore", "--no-index", "-v", "-n", "-z", "--stdin", text=text).split(b"\0")
        for directory in rules:
            (self.top / directory / ".gitignore").unlink()
        return [f"{fields[i].decode()}:{fields[i + 1].decode()}" if fields[i] else "-" for i in range(0, len(fields) - 1, 4)]

    def ours(self, rounds):
        asked = b""
        for rules in rounds:
            asked += b"rules\0" + b"".join(directory.encode() + b"\0" + content + b"\0" for directory, content in rules.items())
            asked += b"end\0" + b"".join(path.encode() + b"\0" for path in self.paths) + b"\0"
        ran = subprocess.run([os.environ["IGNORE_VERDICTS"]], input=asked, capture_output=True, check=True)
        answers = ran.stdout.decode().splitlines()
        self.assertEqual(len(rounds) * len(self.paths), len(answers))
        return [answers[i:i + len(self.paths)] for i in range(0, len(answers), len(self.paths))]

    def test_every_rule_that_git_names_is_ours(self):
        rounds = [self.rules() for _ in range(max(ROUNDS, -(-PATHS_MIN // len(self.paths))))]
        verdicts = collections.Counter()
        for rules, ours in zip(rounds, self.ours(rounds)):
            for path, git, own in zip(self.paths, self.of_git(rules), ours):
                self.assertEqual(git, own, (path, rules))
                verdicts["none" if git == "-" else "some"] += 1
        self.assertGreaterEqual(verdicts.total(), PATHS_MIN)
        self.assertGreater(verdicts["some"], verdicts.total() // 20)

    def test_a_difference_would_be_seen(self):
        """The control: with a rule that git does not get, the answers differ."""
        self.assertNotEqual(self.of_git({"": b"a\n"}), self.ours([{"": b"a\n*\n"}])[0])


if __name__ == "__main__":
    unittest.main()
