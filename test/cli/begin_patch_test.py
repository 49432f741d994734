#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`paddock apply` against what the format's own program does with patches that begin with `*** Begin Patch`: the 23
scenarios of apply-patch in openai/codex, by their numbers. The texts are our own, and so are the reasons for the four
that end otherwise here."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PADDOCK = os.environ["PADDOCK"]


def body(*lines):
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))


CASES = {
    "001 add": ({}, body("*** Add File: new.md", "+a line"), {"new.md": "a line\n"}),
    "002 several operations": (
        {"edit": "a\nb\n", "gone": "x\n"},
        body("*** Add File: in/new", "+new", "*** Delete File: gone", "*** Update File: edit", "@@", "-b", "+c"),
        {"edit": "a\nc\n", "in/new": "new\n"}),
    "003 several hunks": ({"f": "1\n2\n3\n4\n"}, body("*** Update File: f", "@@", "-2", "+two", "@@", "-4", "+four"), {"f": "1\ntwo\n3\nfour\n"}),
    "004 move to a new directory": (
        {"old/f": "was\n", "old/g": "stays\n"}, body("*** Update File: old/f", "*** Move to: new/dir/f", "@@", "-was", "+is"),
        {"new/dir/f": "is\n", "old/g": "stays\n"}),
    "005 empty": ({"f": "x\n"}, body(), None),
    "006 context that is missing": ({"f": "a\n"}, body("*** Update File: f", "@@", "-b", "+c"), None),
    "007 deletion of what is missing": ({"f": "a\n"}, body("*** Delete File: g"), None),
    "008 update without a hunk": ({"f": "a\n"}, body("*** Update File: f"), None),
    "009 update of what is missing": ({"f": "a\n"}, body("*** Update File: g", "@@", "-a", "+b"), None),
    "012 deletion of a directory": ({"d/f": "a\n"}, body("*** Delete File: d"), None),
    "013 unknown head": ({"f": "a\n"}, body("*** Exchange File: f"), None),
    "014 a line break at the end is added": ({"f": "a"}, body("*** Update File: f", "@@", "-a", "+b", "+c"), {"f": "b\nc\n"}),
    "017 blanks before a head": ({"f": "a\n"}, body("  *** Update File: f", "@@", "-a", "+b"), {"f": "b\n"}),
    "018 blanks around the marks": ({"f": "a\n"}, " *** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch \n", {"f": "b\n"}),
    "019 other scripts": ({"f": "1\nnaïve café\n"}, body("*** Update File: f", "@@", " 1", "-naïve café", "+naïve café ✅"),
                          {"f": "1\nnaïve café ✅\n"}),
    "020 deletion": ({"f": "a\n", "g": "b\n"}, body("*** Delete File: f"), {"g": "b\n"}),
    "020 blanks around the other marks": ({"f": "a\n"}, "*** Begin Patch \n*** Update File: f\n@@\n-a\n+b\n *** End Patch\n", {"f": "b\n"}),
    "021 lines are removed only": ({"f": "1\n2\n3\n"}, body("*** Update File: f", "@@", " 1", "-2", " 3"), {"f": "1\n3\n"}),
    "022 end of file": ({"f": "1\n2\n"}, body("*** Update File: f", "@@", " 1", "-2", "+two", "*** End of File"), {"f": "1\ntwo\n"}),
}

# Done there, refused here, with nothing changed.
EXCEPTIONS = {
    "016 lines are added only": ("no place is said, and the end of the file would be a guess", {"f": "1\n2\n"},
                                 body("*** Update File: f", "@@", "+3", "+4")),
    "010 a move onto a file": ("what is there would be lost without being named", {"f": "from\n", "g": "lost\n"},
                               body("*** Update File: f", "*** Move to: g", "@@", "-from", "+to")),
    "011 an addition onto a file": ("what is there would be lost without being named", {"f": "lost\n"}, body("*** Add File: f", "+new")),
    "015 a failure behind what succeeds": ("all files or none", {}, body("*** Add File: f", "+new", "*** Update File: g", "@@", "-a", "+b")),
}


def tree_of(workspace):
    return {str(path.relative_to(workspace)): path.read_text() for path in pathlib.Path(workspace).rglob("*") if path.is_file()}


class BeginPatch(unittest.TestCase):
    def outcome(self, before, patch):
        """Whether it was taken, and the files behind it."""
        with tempfile.TemporaryDirectory() as workspace:
            for name, text in before.items():
                path = pathlib.Path(workspace, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([PADDOCK, "apply", "-", "--workspace", workspace], input=patch, capture_output=True, text=True)
            self.assertEqual(bool(done.stderr), done.returncode != 0, done)
            return done.returncode == 0, tree_of(workspace)

    def test_scenarios(self):
        for name, (before, patch, after) in CASES.items():
            with self.subTest(name):
                self.assertEqual(self.outcome(before, patch), (after is not None, before if after is None else after))

    def test_exceptions(self):
        for name, (reason, before, patch) in EXCEPTIONS.items():
            with self.subTest(name, reason=reason):
                self.assertEqual(self.outcome(before, patch), (False, before))


if __name__ == "__main__":
    unittest.main()
