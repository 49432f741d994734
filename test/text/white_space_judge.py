#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reference as plain as it can be judges edits and hunks that may match but for white space: all small texts, and random ones.

MATCH_WHITE_SPACE names the program that makes ours.
"""
import itertools
import os
import random
import re
import subprocess
import unittest

NEW = b"<1\n2>"


def form(line):
    return b" ".join(word for word in re.split(rb"[ \t]+", line.rstrip(b"\n")) if word)


def lf(text):
    return text.replace(b"\r\n", b"\n")


def lines_of(text):
    return [line for line in re.split(rb"(?<=\n)", text) if line]


def places(lines, wanted):
    """Where all of `wanted` stand but for white space; of nothing but white space, nowhere."""
    if not any(form(line) for line in wanted):
        return []
    return [at for at in range(len(lines) - len(wanted) + 1) if all(form(lines[at + i]) == form(line) for i, line in enumerate(wanted))]


def differing(lines, wanted, at):
    return "".join(f"{at + i}," for i, line in enumerate(wanted) if lines[at + i].rstrip(b"\n") != line.rstrip(b"\n"))


def edited(content, old):
    """Of texts whose lines end with LF: the answer in words and the text that is to be."""
    count = content.count(old)
    if count:
        return ("exact ", content.replace(old, NEW)) if count == 1 else ("ambiguous", None)
    lines, wanted = lines_of(content), lines_of(old)
    found = [at for at in places(lines, wanted) if not old.endswith(b"\n") or lines[at + len(wanted) - 1].endswith(b"\n")]
    if len(found) != 1:
        return ("ambiguous" if found else "no_match", None)
    at, behind = found[0], found[0] + len(wanted)
    block = b"".join(lines[at:behind])
    if not old.endswith(b"\n"):
        block = block.removesuffix(b"\n")
    left = b"" if old[:1] in b" \t" else re.match(rb"[ \t]*", block)[0]
    right = b"" if old[-1:] in b" \t\n" else re.search(rb"[ \t]*\Z", block)[0]
    tail = b"".join(lines)[len(b"".join(lines[:at])) + len(block):]
    return "white_space " + differing(lines, wanted, at), b"".join(lines[:at]) + left + NEW + right + tail


def patched(content, hunk):
    """Of a hunk as (mark, line without LF)."""
    lines, wanted = lines_of(content), [line for mark, line in hunk if mark != "+"]
    exact = [at for at in range(len(lines) - len(wanted) + 1) if [line.rstrip(b"\n") for line in lines[at:at + len(wanted)]] == wanted]
    found = exact or places(lines, wanted)
    if len(found) != 1:
        return ("ambiguous" if found else "no_match", None)
    at, out = found[0], []
    for mark, line in hunk:
        if mark == "+":
            out.append(line + b"\n")
        else:
            out += [lines[at]] * (mark == " ")
            at += 1
    before = lines[:found[0]]
    if out and lines[at - 1:] and not lines[-1].endswith(b"\n") and at == len(lines):
        out = [line if line.endswith(b"\n") or i == len(out) - 1 else line + b"\n" for i, line in enumerate(out)]
    return ("exact " if exact else "white_space " + differing(lines, wanted, found[0])), b"".join(before + out + lines[at:])


def texts(units, longest):
    return [b"".join(text) for size in range(1, longest + 1) for text in itertools.product(units, repeat=size)]


class AReferenceDecides(unittest.TestCase):
    def ours(self, cases):
        given = "".join(" ".join([kind, *("x" + text.hex() for text in case)]) + "\n" for kind, *case in cases)
        ran = subprocess.run([os.environ["MATCH_WHITE_SPACE"]], input=given, capture_output=True, text=True, check=True)
        answers = ran.stdout.splitlines()
        self.assertEqual(len(answers), len(cases))
        for answer in answers:
            text, _, words = answer.partition(" ")
            yield (words, bytes.fromhex(text[1:])) if words else (text, None)

    def compare(self, cases):
        made = 0
        for (content, old), (words, text) in zip(cases, self.ours([("edit", content, old, NEW) for content, old in cases])):
            wanted_words, wanted = edited(lf(content), lf(old))
            self.assertEqual(words, wanted_words, (content, old))
            self.assertEqual(text if text is None else lf(text), wanted, (content, old))
            made += words.startswith("white_space")
        return made

    def test_all_small_edits(self):
        made = 0
        for units, content_longest, old_longest in (([b"a", b" ", b"\n"], 6, 4), ([b"a", b" ", b"\t", b"b"], 5, 3), ([b"a", b" ", b"\r\n", b"\n"], 5, 3)):
            made += self.compare(list(itertools.product(texts(units, content_longest), texts(units, old_longest))))
        self.assertGreater(made, 4000)

    def test_random_edits(self):
        choose, cases = random.Random(50), []
        for _ in range(20000):
            lines = [choose.choice([b"a", b"b", b"a b", b"", b"{", b"a  b"]) for _ in range(choose.randrange(1, 9))]
            blank = lambda: choose.choice([b"", b"", b" ", b"\t", b" \t "])
            content = b"".join(blank() + line.replace(b" ", choose.choice([b" ", b"\t", b"  "])) + blank() + choose.choice([b"\n", b"\r\n"]) for line in lines)
            at = choose.randrange(len(lines))
            old = b"\n".join(blank() + line + blank() for line in lines[at:at + choose.randrange(1, 4)]) + choose.choice([b"", b"\n"])
            if old:
                cases.append((content[:-1] if choose.random() < 0.1 and not content.endswith(b"\r\n") else content, old))
        self.assertGreater(self.compare(cases), 3000)

    def test_all_small_hunks(self):
        hunks = [hunk for size in (1, 2) for hunk in itertools.product(itertools.product(" -+", [b"a", b" a", b"", b"a\tb"]), repeat=size)]
        # Of kept lines alone a patch changes nothing, and is refused.
        hunks = [hunk for hunk in hunks if any(mark != "+" for mark, _ in hunk) and any(mark != " " for mark, _ in hunk)]
        contents = [b"".join(line) for size in (1, 2, 3) for line in itertools.product([b"a\n", b"\ta\n", b"\n", b"a b \n"], repeat=size)]
        contents += [content[:-1] for content in contents if content.endswith(b"b \n")]
        cases = list(itertools.product(contents, hunks))
        patch = lambda hunk: b"*** Begin Patch\n*** Update File: x\n@@\n" + b"".join(mark.encode() + line + b"\n" for mark, line in hunk) + b"*** End Patch\n"
        made = 0
        for (content, hunk), (words, text) in zip(cases, self.ours([("patch", content, patch(hunk)) for content, hunk in cases])):
            wanted_words, wanted = patched(content, hunk)
            self.assertEqual(words, wanted_words, (content, hunk))
            self.assertEqual(text, wanted, (content, hunk))
            made += words.startswith("white_space")
        self.assertGreater(made, 2000)

    def test_the_reference_tells_texts_apart(self):
        """The control: what has to be found, and what must not."""
        for content, old, words in (("\tf(a,  b)\n", "f(a, b)", "white_space 0,"), ("f(a,b)\n", "f(a, b)", "no_match"), ("a\nb\n", "a b", "no_match"),
                                    (" a\n\ta\n", "a ", "ambiguous"), (" \n", "\t", "no_match")):
            with self.subTest(content=content):
                self.assertEqual(edited(content.encode(), old.encode())[0], words)


if __name__ == "__main__":
    unittest.main()
