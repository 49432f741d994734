#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reference as plain as it can be judges edits and hunks that may match but for white space: all small texts, and random ones.

MATCH_WHITE_SPACE names the program that makes ours.
"""
import collections
import fractions
import itertools
import os
import random
import re
import subprocess
import unittest

NEW = b"<1\n2>"
STEP = int(os.environ.get("PADDOCK_CAMPAIGN_STEP", "1"))  # one of so many cases is tried


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


def front(line):
    return re.match(rb"[ \t]*", line)[0].decode()


class Rule:
    """How the file indents what is shown as (given, present): a table, and where that ends one rule for all of it."""

    def __init__(self, fitted):
        self.pairs = {(front(given), front(present)) for given, present in fitted if given.strip(b" \t\n")}
        self.table = dict(self.pairs)
        self.clear = len(self.table) == len(self.pairs) > 0 and max(len(side) for pair in self.pairs for side in pair) <= 200
        self.other = any(given != present for given, present in self.pairs)

    def __call__(self, given):
        if not self.clear:
            return None
        return self.table[given] if given in self.table else self.told(given)

    def told(self, given):
        if len(given) > 200:
            return None
        some, there = next(iter(self.pairs))
        for text in [there[:n] for n in range(len(there) + 1)]:
            if all(text + before == after for before, after in self.pairs):
                return text + given
        for text in [some[:n] for n in range(len(some) + 1)]:
            if all(text + after == before for before, after in self.pairs):
                return given[len(text):] if given.startswith(text) else None
        lefts, rights = {c for before, _ in self.pairs for c in before}, {c for _, after in self.pairs for c in after}
        if len(lefts) != 1 or len(rights) != 1 or set(given) - lefts:
            return None
        points = {(len(before), len(after)) for before, after in self.pairs}
        points = sorted(points if len(points) > 1 else points | {(0, 0)})
        (x, y), (last_x, last_y) = points[0], points[-1]
        slope = fractions.Fraction(last_y - y, last_x - x)
        if slope <= 0 or any((at - x) * slope != value - y for at, value in points):
            return None
        size = y + (len(given) - x) * slope
        return rights.pop() * int(size) if size.denominator == 1 and 0 <= size <= 200 else None


def indented(texts, rule):
    """New lines as the rule has them, all or none, and the word for it."""
    made = [text if not text.strip(b" \t\n") else None if rule(front(text)) is None else rule(front(text)).encode() + text[len(front(text)):] for text in texts]
    if None in made:
        return texts, "unknown "
    return made, "" if made == texts else "indented "


def new_text(lines, wanted, at, old, new):
    """The text of an edit. A first line that begins with a word may be a part of a line: what it says needs what the others say."""
    fitted = [(line, lines[at + i]) for i, line in enumerate(wanted)]
    all_of, rest, texts = Rule(fitted), Rule(fitted[1:]), lines_of(new)
    if not all_of.other:
        return new, ""
    if old[:1] in b" \t":
        made, word = indented(texts, all_of)
        return b"".join(made), word
    if rest.clear and not rest.other:
        return new, ""
    known = lambda given: all_of.table[given] if all_of.clear and given in all_of.table else all_of(given) if all_of(given) == rest(given) else None
    if texts and texts[0].strip(b" \t\n") and front(texts[0]):
        return new, "unknown "
    made, word = indented(texts[1:], known)
    return b"".join(texts[:1] + made), word


def edited(content, old, new):
    """Of texts whose lines end with LF: the answer in words and the text that is to be."""
    count = content.count(old)
    if count:
        return ("exact ", content.replace(old, new)) if count == 1 else ("ambiguous", None)
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
    new, word = new_text(lines, wanted, at, old, new)
    return "white_space " + word + differing(lines, wanted, at), b"".join(lines[:at]) + left + new + right + tail


def patched(content, hunk):
    """Of a hunk as (mark, line without LF)."""
    lines, wanted = lines_of(content), [line for mark, line in hunk if mark != "+"]
    exact = [at for at in range(len(lines) - len(wanted) + 1) if [line.rstrip(b"\n") for line in lines[at:at + len(wanted)]] == wanted]
    found = exact or places(lines, wanted)
    if len(found) != 1:
        return ("ambiguous" if found else "no_match", None)
    at, out = found[0], []
    added = [line + b"\n" for mark, line in hunk if mark == "+"]
    rule, said = Rule([(line, lines[at + i]) for i, line in enumerate(wanted)]), ""
    if not exact and rule.other:
        added, said = indented(added, rule)
    for mark, line in hunk:
        if mark == "+":
            out.append(added.pop(0))
        else:
            out += [lines[at]] * (mark == " ")
            at += 1
    before = lines[:found[0]]
    if out and lines[at - 1:] and not lines[-1].endswith(b"\n") and at == len(lines):
        out = [line if line.endswith(b"\n") or i == len(out) - 1 else line + b"\n" for i, line in enumerate(out)]
    return ("exact " if exact else "white_space " + said + differing(lines, wanted, found[0])), b"".join(before + out + lines[at:])


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
        made, cases = collections.Counter(), cases[::STEP]
        for (content, old, new), (words, text) in zip(cases, self.ours([("edit", *case) for case in cases])):
            wanted_words, wanted = edited(lf(content), lf(old), lf(new))
            self.assertEqual(words, wanted_words, (content, old, new))
            self.assertEqual(text if text is None else lf(text), wanted, (content, old, new))
            made.update(word for word in words.split() if not word[0].isdigit())
        return made

    def test_all_small_edits(self):
        made = 0
        for units, content_longest, old_longest in (([b"a", b" ", b"\n"], 6, 4), ([b"a", b" ", b"\t", b"b"], 5, 3), ([b"a", b" ", b"\r\n", b"\n"], 5, 3)):
            made += self.compare(list(itertools.product(texts(units, content_longest), texts(units, old_longest), [NEW]))).get("white_space", 0)
        self.assertGreater(made, 4000 // STEP)

    def test_random_edits(self):
        choose, cases = random.Random(50), []
        for _ in range(20000):
            lines = [choose.choice([b"a", b"b", b"a b", b"", b"{", b"a  b"]) for _ in range(choose.randrange(1, 9))]
            blank = lambda: choose.choice([b"", b"", b" ", b"\t", b" \t "])
            content = b"".join(blank() + line.replace(b" ", choose.choice([b" ", b"\t", b"  "])) + blank() + choose.choice([b"\n", b"\r\n"]) for line in lines)
            at = choose.randrange(len(lines))
            old = b"\n".join(blank() + line + blank() for line in lines[at:at + choose.randrange(1, 4)]) + choose.choice([b"", b"\n"])
            if old:
                cases.append((content[:-1] if choose.random() < 0.1 and not content.endswith(b"\r\n") else content, old, NEW))
        self.assertGreater(self.compare(cases)["white_space"], 3000 // STEP)

    def test_random_indentation(self):
        """Blocks as people write them, shown with other indentation; new lines at any depth."""
        choose, cases, hunks = random.Random(7), [], []
        for _ in range(20000):
            unit, shown = choose.choice([b"\t", b"  ", b"    "]), choose.choice([b"\t", b"  ", b"    ", b" \t"])
            depths = [choose.randrange(0, 4) for _ in range(choose.randrange(1, 5))]
            drop = choose.randrange(0, min(depths) + 2)
            words = [choose.choice([b"a", b"b", b"if c:", b"d"]) for _ in depths]
            content = b"".join(unit * depth + word + b"\n" for depth, word in zip(depths, words))
            old = b"".join(shown * max(0, depth - drop) + word.replace(b" ", b"  ") + b"\n" for depth, word in zip(depths, words))
            odd = choose.choice([b"", b"", b"", b" "])
            new = b"".join(choose.choice([shown * choose.randrange(0, 4) + odd + b"n\n", b"\n"]) for _ in range(choose.randrange(0, 4)))
            cases.append((content, old.lstrip(b" \t") if choose.random() < 0.2 else old, new))
            kept, added = [(" ", line) for line in old.splitlines()], [("+", line) for line in new.splitlines()]
            if added:
                hunks.append((content, kept[:1] + added + kept[1:]))
        for made in (self.compare(cases), self.judge_hunks(hunks)):
            self.assertGreater(min(made["indented"], made["unknown"], made["white_space"]), 1500 // STEP, made)

    def judge_hunks(self, cases):
        patch = lambda hunk: b"*** Begin Patch\n*** Update File: x\n@@\n" + b"".join(mark.encode() + line + b"\n" for mark, line in hunk) + b"*** End Patch\n"
        made, cases = collections.Counter(), cases[::STEP]
        for (content, hunk), (words, text) in zip(cases, self.ours([("patch", content, patch(hunk)) for content, hunk in cases])):
            wanted_words, wanted = patched(content, hunk)
            self.assertEqual(words, wanted_words, (content, hunk))
            self.assertEqual(text, wanted, (content, hunk))
            made.update(word for word in words.split() if not word[0].isdigit())
        return made

    def test_all_small_hunks(self):
        hunks = [hunk for size in (1, 2) for hunk in itertools.product(itertools.product(" -+", [b"a", b" a", b"", b"a\tb"]), repeat=size)]
        # Of kept lines alone a patch changes nothing, and is refused.
        hunks = [hunk for hunk in hunks if any(mark != "+" for mark, _ in hunk) and any(mark != " " for mark, _ in hunk)]
        contents = [b"".join(line) for size in (1, 2, 3) for line in itertools.product([b"a\n", b"\ta\n", b"\n", b"a b \n"], repeat=size)]
        contents += [content[:-1] for content in contents if content.endswith(b"b \n")]
        cases = list(itertools.product(contents, hunks))
        self.assertGreater(self.judge_hunks(cases)["white_space"], 2000 // STEP)

    def test_the_reference_tells_texts_apart(self):
        """The control: what has to be found, and what must not."""
        for content, old, words in (("\tf(a,  b)\n", "f(a, b)", "white_space indented 0,"), ("\tf(a,  b)\n", "\tf(a, b)", "white_space 0,"), ("f(a,b)\n", "f(a, b)", "no_match"), ("a\nb\n", "a b", "no_match"),
                                    (" a\n\ta\n", "a ", "ambiguous"), (" \n", "\t", "no_match")):
            with self.subTest(content=content):
                self.assertEqual(edited(content.encode(), old.encode(), NEW)[0], words)
        for fitted, given, present in (([(b"a", b"\ta"), (b"    b", b"\t\tb")], "        ", "\t\t\t"), ([(b"  a", b"    a")], "   ", "     "),
                                       ([(b"a", b"\ta"), (b"b", b"b")], "", None), ([(b"    a", b"\ta")], "  ", None), ([(b"\ta", b"a")], "", None)):
            with self.subTest(fitted=fitted):
                self.assertEqual(Rule(fitted)(given), present)


if __name__ == "__main__":
    unittest.main()
