#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That tools/test counts what happened: over small projects whose tests pass, fail or skip, or cannot be built."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RUN_TESTS = pathlib.Path(__file__).resolve().parents[2] / "tools/dev/run_tests.py"
OPTIONS = """
option('tests', type: 'feature')
option('bench', type: 'feature')
option('precompiled', type: 'boolean')
"""

def project(tests, broken=False):
    """Meson's text of tests that print such lines: (name, suites, lines)."""
    text = "project('paddock', 'cpp')\npython = find_program('python3')\n"
    if broken:
        text += "made = custom_target('made', output: 'made', command: [python, '-c', 'raise SystemExit(1)'])\n"
    for name, suites, lines in tests:
        text += (f"test('{name}', python, args: ['-c', 'import sys; [print(line) for line in sys.argv[1:]]', {lines!r}],"
                 f" suite: {suites!r}, protocol: 'tap'{', depends: made' if broken else ''})\n")
    return text


PASSES = ("passes", ["unit"], ["1..2", "ok 1 - one", "ok 2 - two"])
FAILS = ("fails", ["unit"], ["1..1", "not ok 1 - wrong"])
SKIPS = ("skips", ["unit"], ["1..2", "ok 1 - one", "ok 2 - two # SKIP no such machine"])
LONG_ONE_FAILS = ("long", ["unit", "campaign"], ["1..1", "not ok 1 - wrong"])
UNSANITIZED = ("looks", ["unit", "unsanitized"], ["1..2", "ok 1 - one", "ok 2 - two"])
FORGOTTEN = ("forgotten", ["other"], ["1..1", "ok 1 - one"])
LINT_FAILS = ("lint", ["lint"], ["1..1", "not ok 1 - wrong"])

# what, tests, whether they can be built, arguments, the last line, words of the output
CASES = [
    ("all pass", [PASSES], True, [], "2 passed, 0 failed, 0 skipped", ["1 tests", "test / passes: OK", "from a fresh clone: "]),
    ("one fails", [PASSES, FAILS], True, [], "2 passed, 1 failed, 0 skipped", ["failed: build-test: "]),
    ("one skips", [SKIPS], True, [], "1 passed, 0 failed, 1 skipped", ["skipped: build-test: "]),
    ("a campaign is left out, by name", [PASSES, LONG_ONE_FAILS], True, [], "2 passed, 0 failed, 0 skipped",
     ["left to tools/test --all: ", "long\n"]),
    ("--all runs it, optimised and under the sanitizers", [PASSES, LONG_ONE_FAILS], True, ["--all"], "2 passed, 2 failed, 0 skipped",
     ["failed: build-asan: ", "failed: build-gcc: "]),
    ("--all lints without", [PASSES, LINT_FAILS], True, ["--all"], "2 passed, 1 failed, 0 skipped", ["failed: build-gcc: "]),
    ("--all runs with and without what sees the difference", [UNSANITIZED], True, ["--all"], "4 passed, 0 failed, 0 skipped", []),
    ("--all finds what it would not run", [PASSES, FORGOTTEN], True, ["--all"], "2 passed, 1 failed, 0 skipped",
     ["forgotten is run by no build"]),
    ("a failed build", [PASSES], False, [], "0 passed, 1 failed, 0 skipped", ["the build in build-test failed", "FAILED: made"]),
    ("each failed build", [PASSES], False, ["--all"], "0 passed, 2 failed, 0 skipped", ["build-gcc failed", "build-asan failed"]),
]


class RunTests(unittest.TestCase):
    def run_in(self, folder, arguments, compiler=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MESON", "NINJA", "CXX"))}
        if compiler:
            environment["CXX"] = compiler
        return subprocess.run([sys.executable, "-B", RUN_TESTS, *arguments], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_counts(self):
        for what, tests, can_be_built, arguments, last, words in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "meson_options.txt").write_text(OPTIONS)
                pathlib.Path(folder, "meson.build").write_text(project(tests, broken=not can_be_built))
                done = self.run_in(folder, arguments)
                self.assertEqual(done.stdout.splitlines()[-1], last, done.stdout)
                self.assertEqual(done.returncode, 0 if ", 0 failed," in last else 1, done.stdout)
                for word in words:
                    self.assertIn(word, done.stdout)

    def test_set_up_that_fails_and_a_second_run(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "meson_options.txt").write_text(OPTIONS)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES]) + "error('not today')\n")
            done = self.run_in(folder, [])
            self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed, 0 skipped", done.stdout)
            self.assertIn("not today", done.stdout)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES]))
            for _ in range(2):
                done = self.run_in(folder, [])
                self.assertEqual(done.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped", done.stdout)
            self.assertIn("after a change: ", done.stdout)

    def test_a_test_that_came_since_the_last_run_is_built_and_run(self):
        with tempfile.TemporaryDirectory() as folder:
            top, text = pathlib.Path(folder), project([])
            (top / "meson_options.txt").write_text(OPTIONS)
            for count, name in enumerate(["old", "new"], 1):
                (top / f"{name}.cpp").write_text(f'#include <cstdio>\nint main() {{ std::puts("1..1\\nok 1 - {name}"); }}\n')
                text += f"test('{name}', executable('{name}', '{name}.cpp'), suite: ['unit'], protocol: 'tap')\n"
                (top / "meson.build").write_text(text)
                done = self.run_in(folder, [])
                self.assertEqual(done.stdout.splitlines()[-1], f"{count} passed, 0 failed, 0 skipped", done.stdout)

    @unittest.skipUnless(shutil.which("clang++-19"), "there is no clang++-19")
    def test_precompiled_header_whose_part_was_replaced_by_an_older_file(self):
        self.replace_part_by_older_file("clang++-19", "has been modified since the precompiled header")

    @unittest.skipUnless(shutil.which("g++"), "there is no g++")
    def test_the_same_with_gcc_which_does_not_notice(self):
        self.replace_part_by_older_file("g++", "")

    def replace_part_by_older_file(self, compiler, complaint):
        with tempfile.TemporaryDirectory() as folder:
            top, part = pathlib.Path(folder), pathlib.Path(folder, "pch/part.hpp")
            part.parent.mkdir()
            (top / "meson_options.txt").write_text(OPTIONS)
            (top / "meson.build").write_text(
                project([]) + "test('uses', executable('uses', 'uses.cpp', cpp_pch: 'pch/all.hpp'), suite: ['unit'], protocol: 'tap')\n"
                + project([PASSES]).splitlines()[-1])
            (top / "pch/all.hpp").write_text('#include "part.hpp"\n')
            part.write_text("inline int status() { return 1; }\n")
            (top / "uses.cpp").write_text("int main() { return status(); }\n")
            self.assertIn(" 1 failed, ", self.run_in(folder, [], compiler).stdout.splitlines()[-1])
            part.unlink()  # as a package does: another file, older than what was made of the first
            part.write_text("inline int status() { return 0; }  // as it should be\n")
            os.utime(part, (1_000_000_000, 1_000_000_000))
            (top / "uses.cpp").write_text("int main() { return status(); } \n")
            built = subprocess.run(["ninja", "-C", top / "build-test"], text=True, capture_output=True)
            self.assertIn(complaint, built.stdout)
            done = self.run_in(folder, [], compiler)
            self.assertNotIn("the build in", done.stdout)
            self.assertIn(" 0 failed, ", done.stdout.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
