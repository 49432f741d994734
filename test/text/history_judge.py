#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes that people made judge how patches are read and made: of each commit of a repository, its patch has to turn the files
before into those after, byte for byte. Where the patch says wrong lines, or has lost its white space, it has to do the same or be
refused; never something else.

APPLY_PATCH names the program that applies a patch as we read it. Tests take some commits of the repository that they are in, and of
one that is made for them. `history_judge.py --repository DIR [--commits N]` takes others, and says what it found.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CONTEXTS = ["-U0", "-U1", "-U3", "-U3", "-U8"]


class Unreadable(Exception):
    """git lacks an object: not all clones have all files."""


class Repository:
    def __init__(self, path, top):
        self.path, self.top, self.tree = path, top, top / "tree"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(top), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        self.random = random.Random(70)
        self.found = {}

    def git(self, *arguments, given=None):
        ran = subprocess.run(["git", "-c", "safe.directory=*", "-C", self.path, *arguments], input=given, capture_output=True, env=self.environment)
        if ran.returncode != 0:
            raise Unreadable(ran.stderr) if b"unable to read" in ran.stderr else RuntimeError(ran.stderr)
        return ran.stdout

    def commits(self, most):
        return self.git("rev-list", "--no-merges", "--min-parents=1", f"--max-count={most}", "HEAD").decode().split()

    def texts(self, commit, paths):
        """path -> bytes, of all that exist there."""
        if not paths:
            return {}
        out, texts = self.git("cat-file", "--batch", given=b"".join(commit.encode() + b":" + path + b"\n" for path in paths)), {}
        for path in paths:
            head, _, rest = out.partition(b"\n")
            if head.endswith(b" missing"):
                out = rest
                continue
            size = int(head.split()[-1])
            texts[path], out = rest[:size], rest[size + 1:]
        return texts

    def apply(self, patch, before, *words):
        """What we make of it; nothing when it is refused."""
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir()
        for path, text in before.items():
            where = self.tree / os.fsdecode(path)
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_bytes(text)
        (self.top / "patch").write_bytes(patch)
        ran = subprocess.run([os.environ["APPLY_PATCH"], self.tree, self.top / "patch", *words], capture_output=True)
        if ran.returncode not in (0, 1, 3):
            raise RuntimeError((ran.returncode, ran.stderr))
        if ran.returncode != 0:
            return None
        return {os.fsencode(path.relative_to(self.tree)): path.read_bytes() for path in self.tree.rglob("*") if path.is_file()}

    def count(self, what):
        self.found[what] = self.found.get(what, 0) + 1

    def judge(self, commit):
        """The words of the kind that differs; nothing where all is as it was."""
        context = self.random.choice(CONTEXTS)
        names = self.git("diff-tree", "-r", "-M", "--raw", "-z", "--no-commit-id", commit).split(b"\0")
        before, after, at = [], [], 0
        while at + 1 < len(names):
            words = names[at].split()
            if any(mode[-6:-3] in (b"120", b"160") for mode in words[:2]):
                return self.count("with links or modules, left out")
            pair = names[at + 1:at + 3] if words[4][:1] in b"RC" else names[at + 1:at + 2] * 2
            before += pair[:1] * (words[4][:1] != b"A")
            after += pair[1:] * (words[4][:1] != b"D")
            at += 3 if words[4][:1] in b"RC" else 2
        try:
            patch = self.git("diff-tree", "-r", "-p", "-M", "--no-commit-id", "--no-color", "--no-ext-diff", "--no-textconv", context, commit)
        except Unreadable:
            return self.count("with files that are not there, left out")
        if not patch or re.search(rb"^(GIT binary patch|Binary files )", patch, re.M) or b"\n" in b"".join(before + after):
            return self.count("without text, left out")
        old, new = self.texts(commit + "^", before), self.texts(commit, after)
        if self.apply(patch, old) != new:
            return "as it is"
        self.count("made")
        if context == "-U0":
            return None
        moved = re.sub(rb"^@@ -\d+", b"@@ -700000", patch, flags=re.M)
        loose = re.sub(rb"^([ -])(?!-- )([ \t]*)(?=[^ \t\r\n\\])", lambda line: line[1] + line[2].expandtabs(3) + b" ", moved, flags=re.M)
        for kind, wrong, words in (("with wrong lines", moved, ()), ("without its white space", loose, ("white_space",))):
            made = self.apply(wrong, old, *words)
            # How new lines are indented then is for white_space_judge.py to say.
            same = (lambda files: {name: re.sub(rb"[ \t]+", b"", text) for name, text in files.items()}) if words else dict
            if made is not None and same(made) != same(new):
                return kind
            self.count(kind + (", made" if made is not None else ", refused"))
        return None


def made_repository(path, environment):
    """Texts of other scripts and encodings, line ends of both kinds, files that end without one."""
    choose = random.Random(71)
    words = ["函数", "返回值", "テスト", "한국어", "naïve", "return 0;", "\tif (a)", "  end", "", "{", "}", "🐎"]
    ends = {"a.c": "\n", "文件.txt": "\r\n", "d/ja.txt": "\n", "mixed": None, "no end": "\n"}
    codes = {"d/ja.txt": "shift_jis", "文件.txt": "gbk"}

    def git(*arguments):
        subprocess.run(["git", "-C", path, "-c", "user.name=x", "-c", "user.email=x", "-c", "core.autocrlf=false", *arguments],
                       check=True, capture_output=True, env=environment)

    path.mkdir()
    git("init", "-q")
    texts = {name: [] for name in ends}
    for number in range(40):
        for name in choose.sample(list(ends), 2):
            lines = texts[name]
            for _ in range(choose.randrange(1, 4)):
                at = choose.randint(0, len(lines))
                lines[at:at + choose.randrange(3)] = [choose.choice(words) + str(choose.randrange(3)) + (ends[name] or choose.choice(["\n", "\r\n"]))
                                                      for _ in range(choose.randrange(6))]
            text = "".join(lines).encode(codes.get(name, "utf-8"), errors="ignore")
            if name == "no end" and choose.random() < 0.7:
                text = text.rstrip(b"\n")
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_bytes(text)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", str(number))


class PeopleDecide(unittest.TestCase):
    def setUp(self):
        memory = pathlib.Path("/dev/shm")
        self.top = pathlib.Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
        self.addCleanup(shutil.rmtree, self.top)

    def judge(self, path, most):
        repository = Repository(path, self.top)
        for commit in repository.commits(most):
            self.assertIsNone(repository.judge(commit), commit)
        return repository.found

    def test_commits_of_this_repository(self):
        if not (TOP / ".git").exists():
            self.skipTest("the tests are in no repository")
        found = self.judge(TOP, 40)
        self.assertGreater(sum(found.values()), 0)

    def test_texts_of_all_kinds(self):
        made_repository(self.top / "made", Repository(self.top, self.top).environment)
        found = self.judge(self.top / "made", 100)
        self.assertGreater(found["made"], 20)
        self.assertGreater(found["without its white space, made"], 5)

    def test_another_text_is_found_out(self):
        """The control: a commit whose file before was another one."""
        made_repository(self.top / "made", Repository(self.top, self.top).environment)
        repository = Repository(self.top / "made", self.top)
        texts = repository.texts
        repository.texts = lambda commit, paths: {path: text + b"x" * (not commit.endswith("^")) for path, text in texts(commit, paths).items()}
        self.assertEqual(repository.judge(repository.commits(1)[0]), "as it is")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=pathlib.Path)
    parser.add_argument("--commits", type=int, default=5000)
    options, rest = parser.parse_known_args()
    if options.repository is None:
        unittest.main(argv=sys.argv[:1] + rest)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as top:
        repository = Repository(options.repository, pathlib.Path(top))
        wrong = [(commit, kind) for commit in repository.commits(options.commits) if (kind := repository.judge(commit))]
    for commit, kind in wrong:
        print(f"{commit}: other files, {kind}")
    for what, count in sorted(repository.found.items()):
        print(f"{count:6} {what}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
