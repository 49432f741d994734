#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python's codecs judge UTF-16: every character, everything near surrogates, and bytes of any kind.

RECODE names the program that decodes and encodes as we do.
"""
import codecs
import itertools
import os
import random
import subprocess
import unittest

MARKS = {"le": codecs.BOM_UTF16_LE, "be": codecs.BOM_UTF16_BE}
STEP = int(os.environ.get("PADDOCK_CAMPAIGN_STEP", "1"))  # one of so many cases is tried
UNITS = [0x0000, 0x000A, 0x0041, 0x00E9, 0x0800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFEFF, 0xFFFE, 0xFFFF]


class PythonDecides(unittest.TestCase):
    def ours(self, cases):
        given = "".join(" ".join(word if isinstance(word, str) else "x" + word.hex() for word in case) + "\n" for case in cases)
        ran = subprocess.run([os.environ["RECODE"]], input=given, capture_output=True, text=True, check=True)
        answers = [line.split(" ", 2) for line in ran.stdout.splitlines()]
        self.assertEqual(len(answers), len(cases))
        return answers

    def judge(self, mark, bodies):
        """Decodes each body behind the mark as Python does, and encodes what was decoded."""
        taken = []
        for body, (kind, value, *words) in zip(bodies, self.ours([("decode", MARKS[mark] + body) for body in bodies])):
            if mark == "le" and body[:2] == b"\0\0":
                self.assertEqual([kind, value, *words], ["fault", "0", "UTF-32"], body)
                continue
            try:
                expected = body.decode(f"utf-16-{mark}")
            except UnicodeDecodeError as error:
                self.assertEqual(kind, "fault", body)
                if len(body) % 2 == 0:
                    self.assertEqual(int(value), len(MARKS[mark]) + error.start, body)
                    self.assertIn("surrogate", words[0])
                else:
                    self.assertEqual((int(value), words[0]), (len(MARKS[mark]) + len(body) - 1, "UTF-16 with an odd number of bytes"))
                continue
            self.assertEqual((kind, bytes.fromhex(value[1:])), (mark, expected.encode()), body)
            taken.append((body, expected))
        for (body, _), (kind, value, *_) in zip(taken, self.ours([("encode", mark, text.encode()) for _, text in taken])):
            self.assertEqual((kind, bytes.fromhex(value[1:])), (mark, MARKS[mark] + body))
        return len(taken)

    def test_every_character(self):
        every = "".join(map(chr, (c for c in range(0, 0x110000, STEP) if not 0xD800 <= c < 0xE000)))
        for mark in MARKS:
            self.assertEqual(self.judge(mark, [every[1:].encode(f"utf-16-{mark}")]), 1)

    def test_units_near_surrogates(self):
        for mark, order in (("le", "little"), ("be", "big")):
            bodies = [b"".join(unit.to_bytes(2, order) for unit in units) for size in range(4) for units in itertools.product(UNITS, repeat=size)]
            self.assertGreater(self.judge(mark, bodies[::STEP]), 500 // STEP)

    def test_any_bytes(self):
        choose = random.Random(60)
        for mark in MARKS:
            bodies = [choose.randbytes(choose.randrange(9)) for _ in range(20000 // STEP)]
            self.assertGreater(self.judge(mark, bodies), 5000 // STEP)

    def test_bytes_without_a_mark_stay(self):
        bodies = [b"", b"\xff", b"\xfe", b"a\xff\xfe", b"\0a", codecs.BOM_UTF8 + b"x", codecs.BOM_UTF32_BE + b"\0\0\0a", bytes(range(256))]
        for body, answer in zip(bodies, self.ours([("decode", body) for body in bodies])):
            self.assertEqual(answer, ["none", "x" + body.hex()])
        for body, answer in zip(bodies, self.ours([("encode", "none", body) for body in bodies])):
            self.assertEqual(answer, ["none", "x" + body.hex()])

    def test_text_that_is_not_utf8_has_no_utf16(self):
        for text, offset in ((b"a\xff", 1), (b"\xed\xa0\x80", 0), (b"ab\xc3", 2), (b"\xf4\x90\x80\x80", 0)):
            for mark in MARKS:
                self.assertEqual(self.ours([("encode", mark, text)]), [["fault", str(offset), "text that is not UTF-8"]])

    def test_python_refuses_too(self):
        """The control: its codecs do not take what is to be refused."""
        for body in (b"\x00\xd8", b"\x00\xdc\x00\xd8", b"a"):
            with self.assertRaises(UnicodeDecodeError):
                body.decode("utf-16-le")


if __name__ == "__main__":
    unittest.main()
