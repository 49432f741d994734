#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That tools/test counts what happened: over small projects whose tests pass, fail or skip, or cannot be built."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

RUN_TESTS = pathlib.Path(__file__).resolve().parents[2] / "tools/dev/run_tests.py"
sys.path.insert(0, str(RUN_TESTS.parent))
import run_tests  # noqa: E402
import test_summary  # noqa: E402

OPTIONS = """
option('tests', type: 'feature')
option('bench', type: 'feature')
option('precompiled', type: 'boolean')
"""

def project(tests, broken=False):
    """Meson's text of tests that print such lines: (name, suites, lines); also what --all wants to be made."""
    text = f"project('paddock', 'cpp')\npython = find_program('{sys.executable}')\nsubdir('bench')\nsubdir('test/compile')\n"
    if broken:
        text += "made = custom_target('made', output: 'made', command: [python, '-c', 'raise SystemExit(1)'])\n"
    for name, suites, lines in tests:
        text += (f"test('{name}', python, args: ['-c', 'import os, sys; [print(os.path.expandvars(line)) for line in sys.argv[1:]]', {lines!r}],"
                 f" suite: {suites!r}, protocol: 'tap'{', depends: made' if broken else ''})\n")
    return text


PASSES = ("passes", ["unit"], ["1..2", "ok 1 - one", "ok 2 - two"])
FAILS = ("fails", ["unit"], ["1..1", "not ok 1 - wrong"])
SKIPS = ("skips", ["unit"], ["1..2", "ok 1 - one", "ok 2 - two # SKIP no such machine"])
LONG_ONE_FAILS = ("long", ["unit", "campaign"], ["1..1", "not ok 1 - wrong"])
SAMPLED = ("many", ["unit", "sampled"], ["1..2", "ok 1 - one", "ok 2 - one of $PADDOCK_CAMPAIGN_STEP # SKIP to be named"])
UNSANITIZED = ("looks", ["unit", "unsanitized"], ["1..2", "ok 1 - one", "ok 2 - two"])
LEFT_TO_CHECK = ("hopes", ["campaign", "check"], ["1..1", "not ok 1 - wrong"])
FORGOTTEN = ("forgotten", ["other"], ["1..1", "ok 1 - one"])
LINT_PASSES = ("lint", ["lint"], ["1..1", "ok 1 - right"])
LINT_FAILS = ("lint", ["lint"], ["1..1", "not ok 1 - wrong"])

# what, tests, whether they can be built, arguments, the last line, words of the output
CASES = [
    ("all pass", [PASSES], True, [], "2 passed, 0 failed, 0 skipped", ["1 tests", "test / passes: OK", "took "]),
    ("passed, failed, skipped, left out, and a part, by name", [PASSES, FAILS, SKIPS, LONG_ONE_FAILS, SAMPLED], True, [],
     "4 passed, 1 failed, 2 skipped",
     ["failed: build-test: ", "skipped: build-test: ", "left to tools/test --all: ", "long\n", "one of 11: many\n", "one of 11\n"]),
    ("--all passes", [UNSANITIZED], True, ["--all"], "4 passed, 0 failed, 0 skipped", []),
    ("--all: campaigns in both builds, lints in one, what is sampled in part under the sanitizers, and what no build runs",
     [PASSES, LONG_ONE_FAILS, SAMPLED, UNSANITIZED, LINT_FAILS, LEFT_TO_CHECK, FORGOTTEN], True, ["--all"], "8 passed, 4 failed, 2 skipped",
     ["failed: build-asan: ", "failed: build-gcc: ", "one of 1\n", "one of 11\n", "forgotten is run by no build"]),
    ("a failed build", [PASSES], False, [], "0 passed, 1 failed, 0 skipped", ["the build in build-test failed", "FAILED: made"]),
    ("each failed build", [UNSANITIZED], False, ["--all"], "0 passed, 2 failed, 0 skipped", ["build-gcc failed", "build-asan failed"]),
]


def empty(top, name):
    """A directory of Meson whose targets are made of nothing: of --all's `also` those that are in it."""
    directory = pathlib.Path(top, name)
    directory.mkdir(parents=True, exist_ok=True)
    wanted = [target for build in run_tests.builds(True) for target in build.also if os.path.dirname(target) == name]
    (directory / "meson.build").write_text("".join(
        f"custom_target('{number}', output: '{os.path.basename(target)}', command: ['touch', '@OUTPUT@'])\n" for number, target in enumerate(wanted)))


class RunTests(unittest.TestCase):
    def setUp(self):
        # The run that this test is part of sets it, and it is for each test here to say.
        environment = unittest.mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("PADDOCK_CAMPAIGN_STEP", None)

    def run_in(self, folder, arguments, compiler=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MESON", "NINJA", "CXX"))}
        if compiler:
            environment["CXX"] = compiler
        return subprocess.run([sys.executable, "-B", RUN_TESTS, *arguments], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def prepare(self, top):
        pathlib.Path(top, "meson_options.txt").write_text(OPTIONS)
        for name in ("bench", "test/compile"):
            empty(top, name)

    def test_counts(self):
        for what, tests, can_be_built, arguments, last, words in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                self.prepare(folder)
                pathlib.Path(folder, "meson.build").write_text(project(tests, broken=not can_be_built))
                done = self.run_in(folder, arguments)
                self.assertEqual(done.stdout.splitlines()[-1], last, done.stdout)
                self.assertEqual(done.returncode, 0 if ", 0 failed," in last else 1, done.stdout)
                for word in words:
                    self.assertIn(word, done.stdout)

    def test_cases_that_unittest_has_skipped(self):
        for output, skipped in {"test_a (__main__.T.test_a) ... ok\n\nRan 1 test in 0s\n\nOK\n": [],
                                "test_a (__main__.T.test_a)\nWhat it is. ... skipped 'x'\ntest_b (__main__.T.test_b) ... ok\n\nOK (skipped=1)\n": ["test_a"],
                                "s.\n----\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n": ["a case without a name"]}.items():
            with self.subTest(output):
                self.assertEqual(skipped, test_summary.skipped_by_unittest(output))

    def test_set_up_that_fails_and_a_second_run(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES]) + "error('not today')\n")
            done = self.run_in(folder, [])
            self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed, 0 skipped", done.stdout)
            self.assertIn("not today", done.stdout)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES]))
            for arguments in ([], ["--again"]):
                done = self.run_in(folder, arguments)
                self.assertEqual(done.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped", done.stdout)

    def test_another_compiler_builds_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(
                project([("compiler", ["unit"], ["1..1"])]).replace("'1..1'", "'1..1', 'ok 1 - built by ' + meson.get_compiler('cpp').get_id()"))
            for compiler, words in (("clang++", "built by clang"), ("g++", "built by gcc"), ("g++", "not run again (--again runs them): 1")):
                done = self.run_in(folder, [], compiler)
                log = pathlib.Path(folder, "build-test/meson-logs/testlog.json")
                self.assertIn(words, done.stdout + (log.read_text() if log.exists() else ""), done.stdout)

    def test_two_tests_of_one_name_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES, PASSES]))
            done = self.run_in(folder, [])
            self.assertIn("two tests are named passes", done.stdout)
            self.assertIn(", 1 failed, ", done.stdout.splitlines()[-1])

    def test_a_test_that_came_since_the_last_run_is_built_and_run(self):
        with tempfile.TemporaryDirectory() as folder:
            top, text = pathlib.Path(folder), project([])
            self.prepare(top)
            for name in ("old", "new"):
                (top / f"{name}.cpp").write_text(f'#include <cstdio>\nint main() {{ std::puts("1..1\\nok 1 - {name}"); }}\n')
                text += f"test('{name}', executable('{name}', '{name}.cpp'), suite: ['unit'], protocol: 'tap')\n"
                (top / "meson.build").write_text(text)
                done = self.run_in(folder, [])
                self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 0 skipped", done.stdout)
                self.assertIn(f"test / {name}: OK", done.stdout)

    def test_a_program_that_ends_early_is_not_judged_by_its_report_of_before(self):
        report = '<testsuites><testsuite name="s"><testcase name="one"/><testcase name="two"/></testsuite></testsuites>'
        writes = f"import pathlib, sys; pathlib.Path(sys.argv[1].partition('xml:')[2]).write_text({report!r})\n"
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(
                project([]) + "test('early', python, args: files('early.py'), suite: 'unit', protocol: 'gtest')\n")
            for ends, last, words in [(writes, "2 passed, 0 failed, 0 skipped", ""),
                                      ("", "1 passed, 1 failed, 0 skipped", "early ended without a report"),
                                      ("raise SystemExit(77)", "0 passed, 0 failed, 1 skipped", "skipped: build-test: paddock.early"),
                                      ("import os; os.abort()", "0 passed, 1 failed, 0 skipped", "failed: build-test: paddock.early"),
                                      (writes, "2 passed, 0 failed, 0 skipped", "")]:
                with self.subTest(ends):
                    pathlib.Path(folder, "early.py").write_text(ends)
                    done = self.run_in(folder, ["--again"])
                    self.assertEqual(done.stdout.splitlines()[-1], last, done.stdout)
                    self.assertIn(words, done.stdout)

    def test_what_a_test_prints_does_not_keep_its_result_from_being_read(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(
                project([]) + "test('prints', python, args: files('prints.py'), suite: 'unit', protocol: 'tap')\n")
            pathlib.Path(folder, "prints.py").write_text(
                r"import sys; sys.stdout.buffer.write(b'1..2\nok 1 - \x00\x1b[31m\xff\nnot ok 2 - ]]>\n\x01')")
            done = self.run_in(folder, [])
            self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed, 0 skipped", done.stdout)

    def test_why_nothing_can_be_built(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            source = pathlib.Path(folder, "source")
            source.write_text("")
            pathlib.Path(folder, "meson.build").write_text(
                project([]) + "made = custom_target('made', input: 'source', output: 'made', command: ['cp', '@INPUT@', '@OUTPUT@'])\n"
                "test('uses', python, args: ['-c', ''], depends: made, suite: 'unit')\n")
            self.assertEqual(self.run_in(folder, []).returncode, 0)
            source.unlink()
            done = self.run_in(folder, [])
            self.assertIn("'../source', needed by 'made', missing", done.stdout)
            self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed, 0 skipped", done.stdout)

    def test_one_run_at_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES]))
            here = os.open(folder, os.O_RDONLY)
            fcntl.flock(here, fcntl.LOCK_EX)
            with subprocess.Popen([sys.executable, "-B", RUN_TESTS], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE) as other:
                self.assertIn("waits for its end", other.stdout.readline())
                self.assertFalse(pathlib.Path(folder, "build-test").exists())
                os.close(here)
                self.assertIn("2 passed, 0 failed, 0 skipped", other.stdout.read())

    def test_what_is_as_it_was_when_it_passed_is_not_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            self.prepare(top)
            write = lambda name, status=0: (top / f"{name}.cpp").write_text(
                f'#include <cstdio>\nint main() {{ std::puts("1..1\\n{"not " * status}ok 1 - {name}"); }}\n')
            text, data = project([LINT_PASSES, SKIPS]), top / "test/golden/answer.txt"
            data.parent.mkdir()
            data.write_text("42")
            (top / "beside.txt").write_text("a")
            for name in ("one", "two"):
                write(name)
                text += f"test('{name}', executable('{name}', '{name}.cpp'), suite: ['unit'], protocol: 'tap')\n"
            text += (f"test('reads', executable('reads', 'reads.cpp', cpp_args: '-DBESIDE=\"{top / 'beside.txt'}\"'), suite: 'unit', protocol: 'tap')\n")
            (top / "reads.cpp").write_text('#include <cstdio>\nint main() { std::puts("1..1\\nok 1 - " BESIDE); }\n')
            text += "test('public', find_program('true'), suite: ['lint', 'headers'])\n"
            header = top / "include/paddock/a.hpp"
            header.parent.mkdir(parents=True)
            header.write_text("int a();\n")
            (top / "meson.build").write_text(text)
            change = lambda path, to: lambda: path.write_text(to)
            nothing = lambda: None
            for what, do, arguments, ran in [
                    ("the first time", nothing, [], "lint one public reads skips two"), ("nothing", nothing, [], "lint"),
                    ("--again", nothing, ["--again"], "lint one public reads skips two"),
                    ("a source: what is made of it", lambda: write("two", 1), [], "lint two"), ("what failed", nothing, [], "lint two"),
                    ("mended, as when it passed before", lambda: write("two"), [], "lint two"), ("nothing more", nothing, [], "lint"),
                    ("a comment", change(top / "one.cpp", (top / "one.cpp").read_text() + "// one\n"), [], "lint"),
                    ("a file that a program names", change(top / "beside.txt", "b"), [], "lint reads"),
                    ("a public header", change(header, "int b();\n"), [], "lint public"),
                    ("a file beside the tests", change(data, "43"), [], "lint one public reads skips two"),
                    ("its mode", lambda: data.chmod(0o755), [], "lint one public reads skips two"),
                    ("where programs are found", lambda: os.environ.update(PATH=f"{os.environ['PATH']}:{top}"), [], "lint one public reads skips two"),
                    ("found as before", nothing, [], "lint one public reads skips two"),
                    ("a variable that steers", lambda: os.environ.update(PADDOCK_CAMPAIGN_STEP="1"), [], "lint one public reads skips two")]:
                with self.subTest(what), unittest.mock.patch.dict(os.environ):
                    do()
                    done = self.run_in(folder, arguments)
                    found = re.findall(r"(?m)^  \d+/\d+ \S+ / (\w+): ", done.stdout)
                    self.assertEqual(sorted(found), ran.split(), done.stdout)
                    unchanged = sorted({"one", "public", "reads", "skips", "two"} - set(found))
                    self.assertIn(f"not run again (--again runs them): {len(unchanged)}: {', '.join(unchanged)}\n", done.stdout)

    def test_what_a_program_names_counts_though_another_names_the_program(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("os.getcwd", return_value=os.path.realpath(folder)):
            top = pathlib.Path(folder).resolve()
            (top / "second").write_text(f"{top}/page\0")
            (top / "first").write_text(f"{top}/second\0")
            tests = [{"name": name, "cmd": [str(top / name)], "env": {}, "depends": [], "suite": ["paddock:unit"]} for name in ("first", "second")]
            made = []
            for text in ("one", "two"):
                (top / "page").write_text(text)
                made.append(run_tests.unchanged_tests.keys(folder, tests, {}, "11"))
            self.assertNotEqual(made[0]["second"], made[1]["second"])
            self.assertEqual(made[0]["first"], made[1]["first"], "the control")

    def test_what_was_skipped_is_run_again_where_the_machine_has_more(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, PATH=folder):
            keys = {"whole": "11 a", "skips": "11 b"}
            run_tests.unchanged_tests.record(folder, keys, set(keys), ["whole", "skips"], {"skips"})
            left = lambda: run_tests.unchanged_tests.unchanged(keys, run_tests.unchanged_tests.passed(folder))
            self.assertEqual(left(), ["whole"], "the record itself came into the directory of programs")
            run_tests.unchanged_tests.record(folder, keys, set(keys), ["whole", "skips"], {"skips"})
            self.assertEqual(left(), ["whole", "skips"])
            pathlib.Path(folder, "new-program").write_text("")
            self.assertEqual(left(), ["whole"])

    def test_budgets(self):
        everyday, (whole, sanitized) = run_tests.builds(False)[0], run_tests.builds(True)
        for suite in run_tests.SANITIZED | run_tests.NOT_SANITIZED:
            self.assertIn(suite, run_tests.BUDGET_SECONDS)
        long, short = run_tests.BUDGET_SECONDS["campaign"], run_tests.BUDGET_SECONDS["unit"]
        for build, suites, budget in [(everyday, ["unit"], short), (everyday, ["unit", "campaign"], long), (everyday, ["campaign", "unit"], long),
                                      (whole, ["unit", "sampled"], run_tests.BUDGET_WHOLE_SECONDS["sampled"]),
                                      (sanitized, ["unit"], run_tests.BUDGET_SANITIZED_SECONDS["unit"]), (sanitized, ["unit", "campaign"], long)]:
            test = {"name": "slow", "suite": [f"paddock:{suite}" for suite in suites]}
            # So many ready processes make it three times as slow.
            for ready, slow, times in ((0, 1, 1), (3 * ((os.cpu_count() or 1) + 1), 1, 3), (0, 2, 2)):
                with (self.subTest(suites), unittest.mock.patch("os.getloadavg", return_value=(ready, 0, 0)),
                      unittest.mock.patch("run_tests.slowness", return_value=slow)):
                    self.assertIsNone(run_tests.over_budget(build, test, times * budget))
                    self.assertIn(f"{build.directory}: slow took", run_tests.over_budget(build, test, times * budget + 1))
        self.assertGreaterEqual(run_tests.slowness(), 1)

    def test_what_takes_too_long_fails_by_name(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ):
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES, SKIPS]))
            tools = pathlib.Path(folder, "tools")
            shutil.copytree(RUN_TESTS.parent, tools, ignore=shutil.ignore_patterns("__pycache__", "mutants", "check"))
            script = tools / "run_tests.py"
            script.write_text(script.read_text().replace("if seconds > here:", 'if test["name"] == "passes":'))
            for _ in range(2):  # it is run again, though nothing has changed
                done = subprocess.run([sys.executable, "-B", script], cwd=folder, text=True, stdin=subprocess.DEVNULL, capture_output=True)
                self.assertIn("build-test: passes took ", done.stdout)
                self.assertEqual(done.returncode, 1)

    def test_a_target_of_all_that_is_no_more(self):
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(folder)
            pathlib.Path(folder, "meson.build").write_text(project([PASSES]))
            pathlib.Path(folder, "bench/meson.build").write_text("")
            done = self.run_in(folder, ["--all"])
            self.assertIn("build-gcc: there is no target bench/paddock-bench\n", done.stdout)
            self.assertEqual(done.returncode, 1)

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
            self.prepare(top)
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
