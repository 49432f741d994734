#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""`paddock diff --raw | git apply` makes of the workspace as it was what it is now, or the rest is named.

The judge compares trees: names, kinds, contents, targets of links, and modes as far as git has them.
"""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Server, folder_of  # noqa: E402

PADDOCK = os.environ["PADDOCK"]


def write(path, data, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if mode is not None:
        path.chmod(mode)


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def tree(top):
    """What git would have of it."""
    out = {}
    for folder, names, files in os.walk(os.fsencode(top)):
        for name in [*names, *files]:
            path = os.path.join(folder, name)
            about = os.lstat(path)
            if stat.S_ISDIR(about.st_mode):
                continue
            held = os.readlink(path) if stat.S_ISLNK(about.st_mode) else pathlib.Path(os.fsdecode(path)).read_bytes()
            out[os.path.relpath(path, os.fsencode(top))] = stat.S_IFMT(about.st_mode), bool(about.st_mode & 0o100), held
    return out


LINES = b"".join(b"line %d\n" % i for i in range(30))
EDITED = LINES.replace(b"line 15\n", b"another\n")
ODD_NAMES = ["with space", 'q"uote', "new\nline", "t\tab", "back\\slash", os.fsdecode(b"l\xe9"), "-dash", "end ", "x b/x b", "caf\u00e9",
             "c\x01\x7f", "\uefe9", "'single", "a => b", "{x,y}"]


def nothing(_):
    pass


def named(work):
    """The same with each name."""
    def each(top):
        for name in ODD_NAMES:
            work(top / name)
    return each


# what it is called: what was there, what is done
CASES = {
    "create": (nothing, lambda t: write(t / "f", LINES)),
    "delete": (lambda t: write(t / "f", LINES), lambda t: (t / "f").unlink()),
    "modify": (lambda t: write(t / "f", LINES), lambda t: write(t / "f", EDITED)),
    "mode": (lambda t: write(t / "f", LINES), lambda t: (t / "f").chmod(0o755)),
    "mode back": (lambda t: write(t / "f", LINES, 0o755), lambda t: (t / "f").chmod(0o644)),
    "mode and text": (lambda t: write(t / "f", LINES), lambda t: write(t / "f", EDITED, 0o755)),
    "new executable": (nothing, lambda t: write(t / "f", LINES, 0o755)),
    "edited executable": (lambda t: write(t / "f", LINES, 0o755), lambda t: write(t / "f", EDITED)),
    "deleted executable": (lambda t: write(t / "f", LINES, 0o755), lambda t: (t / "f").unlink()),
    "new link": (nothing, lambda t: link(t / "l", "to/there")),
    "dangling link with odd target": (nothing, lambda t: link(t / "l", "to\nthere\n")),
    "changed link": (lambda t: link(t / "l", "one"), lambda t: link(t / "l", "two")),
    "deleted link": (lambda t: link(t / "l", "one"), lambda t: (t / "l").unlink()),
    "new empty file": (nothing, lambda t: write(t / "f", b"")),
    "new empty executable": (nothing, lambda t: write(t / "f", b"", 0o755)),
    "deleted empty file": (lambda t: write(t / "f", b""), lambda t: (t / "f").unlink()),
    "emptied": (lambda t: write(t / "f", LINES), lambda t: write(t / "f", b"")),
    "filled": (lambda t: write(t / "f", b""), lambda t: write(t / "f", LINES)),
    "rename": (lambda t: write(t / "f", LINES), lambda t: (t / "f").rename(t / "g")),
    "rename into a new directory": (lambda t: write(t / "f", LINES),
                                    lambda t: ((t / "d/e").mkdir(parents=True), (t / "f").rename(t / "d/e/f"))),
    "rename and edit": (lambda t: write(t / "f", LINES), lambda t: ((t / "f").rename(t / "g"), write(t / "g", EDITED))),
    "rename and mode": (lambda t: write(t / "f", LINES), lambda t: ((t / "f").rename(t / "g"), (t / "g").chmod(0o755))),
    "renamed empty": (lambda t: write(t / "f", b""), lambda t: (t / "f").rename(t / "g")),
    "renamed link": (lambda t: link(t / "f", "x"), lambda t: (t / "f").rename(t / "g")),
    "renamed directory": (lambda t: (write(t / "d/e/f", LINES), write(t / "d/g", b"g"), write(t / "d/h", b"h")),
                          lambda t: ((t / "d").rename(t / "new"), (t / "new/g").chmod(0o755), write(t / "new/h", b"i"))),
    "swapped": (lambda t: (write(t / "f", LINES), write(t / "g", b"g\n")),
                lambda t: ((t / "f").rename(t / "h"), (t / "g").rename(t / "f"), (t / "h").rename(t / "g"))),
    "moved over": (lambda t: (write(t / "f", LINES), write(t / "g", b"g\n")), lambda t: (t / "f").replace(t / "g")),
    "file to directory": (lambda t: write(t / "f", LINES), lambda t: ((t / "f").unlink(), write(t / "f/1", b"new\n"))),
    "file into its place": (lambda t: write(t / "f", LINES),
                            lambda t: ((t / "f").rename(t / "g"), (t / "f").mkdir(), (t / "g").rename(t / "f/f"))),
    "directory to file": (lambda t: (write(t / "d/1", LINES), write(t / "d/e/2", b"2")), lambda t: (shutil.rmtree(t / "d"), write(t / "d", b"new\n"))),
    "file to link": (lambda t: write(t / "f", LINES), lambda t: link(t / "f", "x")),
    "link to file": (lambda t: link(t / "f", "x"), lambda t: ((t / "f").unlink(), write(t / "f", LINES))),
    "link to directory": (lambda t: link(t / "f", "x"), lambda t: ((t / "f").unlink(), write(t / "f/1", LINES))),
    "directory to link": (lambda t: write(t / "f/1", LINES), lambda t: (shutil.rmtree(t / "f"), link(t / "f", "x"))),
    "CRLF": (lambda t: write(t / "f", LINES.replace(b"\n", b"\r\n")), lambda t: write(t / "f", EDITED.replace(b"\n", b"\r\n"))),
    "line ends": (lambda t: write(t / "f", LINES), lambda t: write(t / "f", LINES.replace(b"\n", b"\r\n"))),
    "CR alone": (lambda t: write(t / "f", b"a\rb\r"), lambda t: write(t / "f", b"a\rc\r")),
    "no newline at the end": (lambda t: write(t / "f", LINES), lambda t: write(t / "f", LINES + b"end")),
    "newline at the end": (lambda t: write(t / "f", LINES + b"end"), lambda t: write(t / "f", LINES + b"end\n")),
    "trailing blanks": (lambda t: write(t / "f", LINES), lambda t: write(t / "f", EDITED + b" \t\n\n\n")),
    "UTF-16": (lambda t: write(t / "f", "one\ntwo\n".encode("utf-16")), lambda t: write(t / "f", "one\n\u00fcber\u0a0a\n".encode("utf-16"))),
    "byte order mark": (lambda t: write(t / "f", b"\xef\xbb\xbfa\n"), lambda t: write(t / "f", b"\xef\xbb\xbfb\n")),
    "Latin-1": (lambda t: write(t / "f", b"\xe9\n"), lambda t: write(t / "f", b"\xe8\n")),
    "binary": (lambda t: write(t / "f", bytes(range(256)) * 20), lambda t: write(t / "f", bytes(range(255, -1, -1)) * 20)),
    "new binary": (nothing, lambda t: write(t / "f", b"\0\1\n\0" * 9)),
    "lines that look like headers": (lambda t: write(t / "f", b"-- a/f\n++ b/f\n"), lambda t: write(t / "f", b"++ b/f\n@@ -1 +1 @@\ndiff --git a/x b/x\n")),
    "deep new directories": (nothing, lambda t: write(t / "a/b/c/d/e/f", LINES)),
    "deleted directories": (lambda t: write(t / "a/b/c/d/e/f", LINES), lambda t: shutil.rmtree(t / "a")),
    "odd names new": (nothing, named(lambda p: write(p, LINES))),
    "odd names empty": (nothing, named(lambda p: write(p, b""))),
    "odd names edited": (named(lambda p: write(p, LINES)), named(lambda p: write(p, EDITED))),
    "odd names gone": (named(lambda p: write(p, LINES)), named(lambda p: p.unlink())),
    "odd names mode": (named(lambda p: write(p, LINES)), named(lambda p: p.chmod(0o755))),
    "odd names renamed": (named(lambda p: write(p, os.fsencode(p.name))), named(lambda p: p.rename(p.parent / (p.name + ".x")))),
}
# the same, and what is named as left out
LEFT_OUT = {
    "other modes": (lambda t: write(t / "f", LINES), lambda t: (t / "f").chmod(0o600), "f is not in the patch: git does not have its permission bits"),
    "a new empty directory": (nothing, lambda t: (t / "d").mkdir(), "d is not in the patch: git has no empty directories"),
    "an empty directory for a file": (lambda t: write(t / "f", LINES), lambda t: ((t / "f").unlink(), (t / "f").mkdir()), "f is not in the patch: git has no empty"),
    "a FIFO": (nothing, lambda t: os.mkfifo(t / "p"), "p is not in the patch: "),
    "an ignored file": (lambda t: (write(t / ".gitignore", b"build/\n"), write(t / "build/f", b"1")), lambda t: write(t / "build/f", b"22"),
                        "build/f is not in the patch: it lies in an ignored directory"),
}


class DiffRaw(unittest.TestCase):
    def setUp(self):
        top = folder_of(self)
        self.workspace, self.copy, self.store = top / "workspace", top / "copy", top / "history"
        self.workspace.mkdir()

    def paddock(self, *words):
        return subprocess.run([PADDOCK, *words, "--workspace", self.workspace, "--history", self.store], capture_output=True, timeout=60)

    def make(self, cases):
        """All cases in one workspace, each in its directory, with a file that stays; the copy is as it was."""
        for name, (before, *_) in cases.items():
            write(self.workspace / name / "stays", b"")
            before(self.workspace / name)
        subprocess.run(["cp", "-a", self.workspace, self.copy], check=True)
        server = Server(self.workspace, "--history", self.store, "--exec", "off")
        server.close()
        self.assertEqual(self.paddock("checkpoint", "made").returncode, 0)
        for folder, names, files in os.walk(self.workspace):  # what is new is no deleted file: none of their numbers comes again
            for name in [*names, *files]:
                self.addCleanup(os.close, os.open(os.path.join(folder, name), os.O_PATH | os.O_NOFOLLOW))
        for name, (_, work, *_) in cases.items():
            work(self.workspace / name)

    def applied(self, patch):
        done = subprocess.run(["git", "-c", "core.autocrlf=false", "apply", "-"], input=patch, cwd=self.copy, capture_output=True,
                              env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.copy.parent)}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_git_makes_the_same_of_it(self):
        self.make(CASES)
        was, now = tree(self.copy), tree(self.workspace)
        for name in CASES:  # the control: there is something to do in each
            inner = os.fsencode(name) + b"/"
            self.assertNotEqual(*({path: each for path, each in all_of.items() if path.startswith(inner)} for all_of in (was, now)), name)
        told = self.paddock("diff", "--raw", "--since", "made")
        self.assertEqual((told.returncode, told.stderr), (0, b""))
        self.applied(told.stdout)
        made = tree(self.copy)
        self.assertEqual([path for path in now.keys() | made.keys() if now.get(path) != made.get(path)], [])

    def test_each_by_itself_is_a_patch_as_well(self):
        self.make(CASES)
        for name in CASES:
            with self.subTest(name):
                told = self.paddock("diff", "--raw", "--since", "made", name)
                self.assertEqual((told.returncode, told.stderr), (0, b""))
                self.applied(told.stdout)
                self.assertEqual(tree(self.copy / name), tree(self.workspace / name))

    def test_what_git_has_no_words_for_is_named(self):
        self.make(LEFT_OUT)
        told = self.paddock("diff", "--raw", "--since", "made")
        self.assertEqual(told.returncode, 1)
        for name, (_, _, words) in LEFT_OUT.items():
            self.assertIn(f"{name}/{words}", told.stderr.decode())
        self.assertEqual(len(told.stderr.splitlines()), len(LEFT_OUT), told.stderr)
        self.applied(told.stdout)

    def test_people_are_told_what_lines_do_not_say(self):
        self.make(CASES)
        told = self.paddock("diff", "--since", "made").stdout.decode(errors="surrogateescape").split("\n")
        for line in ("mode/f: mode 644 -> 755", "new executable/f: created, mode 755", "new empty file/f: created, empty",
                     "deleted empty file/f: deleted, empty", "rename/g: moved from rename/f", "new link/l: created, a link",
                     "file to directory/f: a file before, a directory now", "rename and mode/g: moved from rename and mode/f, mode 644 -> 755",
                     "renamed directory/new: moved from renamed directory/d"):
            self.assertIn(line, told)
        self.assertIn("+++ /dev/null", told[told.index("file to directory/f: a file before, a directory now"):][2])


if __name__ == "__main__":
    unittest.main()
