#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs the tests: those of every day, or with --all everything that continuous integration runs.

What failed and what was skipped is named at the end; so is what the everyday run leaves to --all, and what it did not
run again because nothing of it has changed since it passed. The last line is "N passed, N failed, N skipped"; a build that failed counts as a failure.
"""
import argparse
import collections
import fcntl
import functools
import glob
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

import test_summary
import unchanged_tests

COMMON = ["--werror", "-Dtests=enabled", "-Dprecompiled=true", "-Ddebug=false"]
# Suites that are left to --all: "campaign" takes long, "denied-openat2" is unit tests once more.
LEFT_TO_ALL = {"campaign", "denied-openat2"}
# What tools/dev/check alone runs: --all has another test of the same promise.
LEFT_TO_CHECK = {"check"}
# Where --all runs a suite. "unsanitized" are unit tests that look at what the sanitizers change; a campaign and what is
# "sampled" run whole where it is optimised, and in part under the sanitizers (test/support/campaign.hpp).
SANITIZED = {"unit", "fuzz"}
NOT_SANITIZED = {"client", "compile", "consumer", "lint", "unsanitized", "sampled", "campaign"}
ALSO_LEFT = "gcc, the sanitizers, benchmarks, and each public header on its own"
# How long a test may take on a quiet machine, by the suite that allows most; a test that takes longer fails. Twice what the
# longest takes while another runs beside it.
BUDGET_SECONDS = {"unit": 60, "client": 60, "lint": 30, "compile": 30, "fuzz": 30, "unsanitized": 60, "sampled": 60, "consumer": 300, "campaign": 300}
BUDGET_SANITIZED_SECONDS = BUDGET_SECONDS | {"unit": 120}
BUDGET_WHOLE_SECONDS = BUDGET_SECONDS | {"sampled": 300}  # where all cases run it is a campaign
STARTS, STARTS_SECONDS = 50, 0.05  # of programs that do nothing, on the machine that the budgets are for
SLOWEST_SHOWN = 20
AT_ONCE = int(os.environ.get("MESON_TESTTHREADS") or (os.cpu_count() or 1) + 4)  # many wait
NINJA_STEP = re.compile(r"\[(\d+)/(\d+)\] ")
TEST_LINE = re.compile(r"\s*(\d+)/(\d+) (?:paddock:)?(?:(\S+) / )?(.+?)\s+([A-Z]{2,})\s+([\d.]+)s\b")

# `only` and `never` are suites; without `only` all others are run. `also` are targets to make besides what the tests need.
# Of many cases one of `step` is tried.
HEADERS = [f"test/compile/libheaders-{name}.a" for name in ("alone", "together", "without-exceptions")]
Build = collections.namedtuple("Build", "title directory compiler options only never also step")


def compiler_for(*names):
    return next((name for name in names if shutil.which(name)), "c++")


def builds(everything):
    clang = compiler_for("clang++-19", "clang++")
    quick = ["-Doptimization=0"]
    if not everything:
        return [Build("everyday tests", "build-test", os.environ.get("CXX") or clang, quick, set(), LEFT_TO_ALL | LEFT_TO_CHECK, [], "11")]
    sanitized = ["-Dcpp_args=-gline-tables-only", "-Db_sanitize=address,undefined", "-Db_lundef=false"]
    # gcc compiles the libraries, the programs and what runs without the sanitizers; clang the rest.
    return [Build("programs, clients, campaigns and lints, gcc", "build-gcc", compiler_for("g++"),
                  ["-Dbench=enabled", "-Doptimization=2"], NOT_SANITIZED, LEFT_TO_CHECK, ["bench/paddock-bench", "bench/paddock-peers", *HEADERS], "1"),
            Build("unit and fuzz tests, address and undefined-behaviour sanitizers, clang", "build-asan", clang,
                  quick + sanitized, SANITIZED, LEFT_TO_CHECK, [], "11")]


def suites_of(test):
    return {suite.removeprefix("paddock:") for suite in test["suite"]}


def is_chosen(build, test):
    suites = suites_of(test)
    return (not build.only or bool(suites & build.only)) and not suites & build.never


def say(text):
    print(text, flush=True)


def spoken(seconds):
    return f"{round(seconds)} s" if seconds < 100 else f"{int(seconds / 60)} min {round(seconds % 60):02} s"


def lines_of(command, **variables):
    """Runs a command; yields its lines as they come, and at last its exit status. Variables that are set stay so."""
    with subprocess.Popen(command, env={**variables, **os.environ}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace") as process:
        yield from process.stdout
    yield process.returncode


def set_up(build):
    """Again where the compiler or an option is another one than the last time."""
    command = ["meson", "setup", build.directory, *COMMON, *build.options]
    wanted, record = f"CXX={build.compiler} {' '.join(command)}\n", pathlib.Path(build.directory, "set_up_with")
    if pathlib.Path(build.directory, "build.ninja").exists():
        if record.exists() and record.read_text() == wanted:
            return True
        command.append("--wipe")
    environment = dict(os.environ, CXX=build.compiler)
    if shutil.which("ld.lld"):  # not mold: that of Debian 12 links a program now and then that cannot be started
        environment.setdefault("CXX_LD", "lld")
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        say(done.stdout)
    else:
        record.write_text(wanted)
    return done.returncode == 0


def drop_old_headers(directory):
    """Precompiled headers whose parts were replaced by files with an older date, as packages do: Ninja does not see it."""
    for header in (path for ending in ("pch", "gch") for path in pathlib.Path(directory).glob(f"**/*.{ending}")):
        name = header.relative_to(directory).as_posix()
        parts = subprocess.run(["ninja", "-C", directory, "-t", "deps", name], capture_output=True, text=True).stdout
        paths = [pathlib.Path(directory, line.strip()) for line in parts.splitlines() if line.startswith("    ")]
        built = header.stat().st_mtime
        if any(not path.exists() or path.stat().st_ctime > built for path in paths):
            header.unlink()


def introspect(directory, what):
    found = subprocess.run(["meson", "introspect", directory, what], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def chosen_tests(build):
    """The tests to run, the names of the others that a build of --all runs, what Ninja has to make for the former (nothing named: all there is), the
    files of each target, and targets of `also` that there are not."""
    tests = introspect(build.directory, "--tests")
    chosen = [test for test in tests if is_chosen(build, test)]
    others = sorted(test["name"] for test in tests if not is_chosen(build, test) and not suites_of(test) & LEFT_TO_CHECK)
    files = {target["id"]: target["filename"] for target in introspect(build.directory, "--targets")}
    top = pathlib.Path(build.directory).resolve()
    wanted = {os.path.relpath(name, top) for test in chosen for id in test["depends"] for name in files.get(id, [])}
    there = {os.path.relpath(name, top) for names in files.values() for name in names}
    return chosen, others, sorted(wanted) + [name for name in build.also if name in there], files, sorted(set(build.also) - there)


def test_seconds(directory):
    """How long each test took the last time, by name."""
    try:
        return json.loads(pathlib.Path(directory, "test_seconds.json").read_text())
    except (OSError, ValueError):
        return {}


def make(build, targets):
    """Runs Ninja, shows what it complains about and now and then how far it is. True: all was made."""
    shown = time.monotonic()
    configured = None  # what Meson says while it configures again; it counts when that fails
    for line in lines_of(["ninja", "-C", build.directory, "-k", "0", *targets]):
        if isinstance(line, int):
            say("".join(configured or []) if line else "")
            return line == 0
        step = NINJA_STEP.match(line)
        if step:
            configured = [] if "Regenerating" in line else None
        if configured is not None:
            configured.append(line)
        elif not step:
            if not line.startswith("ninja: ") or line.startswith("ninja: error: "):
                print(line, end="", flush=True)
        elif time.monotonic() - shown > 10:
            shown = time.monotonic()
            say(f"  built {step[1]} of {step[2]}")


def run(build, tests, names):
    """Runs the tests; their results are in Meson's logs. Returns the names of those that passed, of those that Meson said
    nothing of, and in words what was over its budget or left no report."""
    known, passed, over = test_seconds(build.directory), [], []
    by_name = {test["name"]: test for test in tests}
    left = set(by_name)
    reports = {name: pathlib.Path(build.directory, f"{name}.xml") for name in by_name if by_name[name]["protocol"] == "gtest"}
    for report in reports.values():
        report.unlink(missing_ok=True)  # Meson would take that of an earlier run for this one's
    for line in lines_of(["meson", "test", "-C", build.directory, "--no-rebuild", "--print-errorlogs", "--timeout-multiplier", "3",
                          "--num-processes", str(AT_ONCE), *map(glob.escape, by_name)], PADDOCK_CAMPAIGN_STEP=build.step) if tests else []:
        found = None if isinstance(line, int) else TEST_LINE.match(line)
        if found and found[4] in left:
            number, count, suite, name, outcome, seconds = found.groups()
            left.remove(name)
            known[name] = float(seconds)
            too_long = over_budget(build, by_name[name], known[name])
            if too_long:
                over.append(too_long)
            elif outcome == "OK" and name in reports and not reports[name].exists():
                over.append(f"{build.directory}: {name} ended without a report of its cases")
            elif outcome == "OK":
                passed.append(name)
            say(f"  {number}/{count} {suite or 'test'} / {name}: {outcome}, {seconds} s")
        elif not found and not isinstance(line, int) and not line.startswith(("ninja: ", "Full log")):
            print(line, end="", flush=True)
    pathlib.Path(build.directory, "test_seconds.json").write_text(json.dumps({name: known[name] for name in known if name in names}))
    return passed, list(left), over


def over_budget(build, test, seconds):
    """In words, or None."""
    budgets = BUDGET_SANITIZED_SECONDS if build.only == SANITIZED else BUDGET_WHOLE_SECONDS if build.step == "1" else BUDGET_SECONDS
    budget = max(budgets.get(suite, 30) for suite in suites_of(test))
    here = budget * slowness() * busy()
    if seconds > here:
        return f"{build.directory}: {test['name']} took {seconds:.0f} s; its budget is {budget} s on a quiet machine, {here:.0f} s on this one now"
    return None


@functools.cache
def slowness():
    """How many times as long as on the machine of the budgets programs take on this one: the best of some tries."""
    def once():
        began = time.monotonic()
        for _ in range(STARTS):
            subprocess.run(["true"], check=True)
        return time.monotonic() - began
    return max(1, min(once() for _ in range(5)) / STARTS_SECONDS)


def busy():
    """How many times as long as on a quiet machine a test takes now, by the processes that are ready."""
    return max(1, os.getloadavg()[0] / ((os.cpu_count() or 1) + 1))


def show_slowest(planned):
    took = [(seconds, build.directory, name) for build in planned for name, seconds in test_seconds(build.directory).items()]
    say(f"the slowest {SLOWEST_SHOWN}:")
    for seconds, directory, name in sorted(took, reverse=True)[:SLOWEST_SHOWN]:
        say(f"  {seconds:6.1f} s  {directory}: {name}")


def build_and_test(build, again):
    """What failed without a result, in words; the names of the tests that were left out, and of those that are as they were
    when they passed, which are run `again` or not at all."""
    failed_build = [f"the build in {build.directory} failed"]
    if not set_up(build):
        return failed_build, [], []
    # What Meson says of tests and targets below is of the last time that it configured.
    if not make(build, ["build.ninja"]):
        return failed_build, [], []
    drop_old_headers(build.directory)
    tests, others, targets, files, missing = chosen_tests(build)
    say(f"{build.title}: {len(tests)} tests")
    sampled, step = [test["name"] for test in tests if "paddock:sampled" in test["suite"]], os.environ.get("PADDOCK_CAMPAIGN_STEP", build.step)
    if sampled and step != "1":
        say(f"of the cases of these one of {step}: {', '.join(sorted(sampled))}")
    failed = [f"{build.directory}: there is no target {name}" for name in missing]
    uses = collections.Counter(test["name"] for test in tests)
    failed += [f"{build.directory}: two tests are named {name}" for name in uses if uses[name] > 1]
    if not make(build, targets):
        return failed + failed_build, others, []
    keys, before = unchanged_tests.keys(build.directory, tests, files, build.step), unchanged_tests.passed(build.directory)
    unchanged = [] if again else unchanged_tests.unchanged(keys, before)
    names = {test["name"] for test in tests}
    tests = [test for test in tests if test["name"] not in unchanged]
    say(f"{len(unchanged)} tests are as they were when they passed; {len(tests)} tests to run")
    passed, unfinished, over = run(build, tests, names)
    skipped = [name for name, outcome in test_summary.results_of(pathlib.Path(build.directory)) if outcome == "skipped"]
    skipped = {name for name in passed if any(f" / {name}." in f"{case}." for case in skipped)}
    unchanged_tests.record(build.directory, keys, {test["name"] for test in tests}, passed, skipped)
    failed += [f"{build.directory}: {name} was not run to its end" for name in unfinished]
    return failed + over, others, unchanged


def use_memory():
    """Tests write many small files; what a disk adds to that is what --all sees."""
    memory = pathlib.Path("/dev/shm")
    if "TMPDIR" not in os.environ and os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free > 2 << 30:
        os.environ["TMPDIR"] = str(memory)


def tested(build):
    return pathlib.Path(build.directory, "meson-logs/testlog.json").exists()


def main():
    reader = argparse.ArgumentParser(prog="tools/test", description=__doc__.splitlines()[0])
    reader.add_argument("--all", action="store_true", help="everything that continuous integration runs: about half an hour")
    reader.add_argument("--again", action="store_true", help="also what is as it was when it passed")
    chosen = reader.parse_args()
    everything = chosen.all
    if not everything:
        use_memory()
    began, without_result, left_out, unchanged = time.monotonic(), [], None, []
    planned = builds(everything)
    here = os.open(".", os.O_RDONLY)  # two at once in one directory would take each other's results for their own
    try:
        fcntl.flock(here, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another tools/test runs in this tree; this one waits for its end")
        fcntl.flock(here, fcntl.LOCK_EX)
    slowness()  # before this run keeps the machine busy
    for build in planned:
        for old in pathlib.Path(build.directory, "meson-logs").glob("testlog*"):
            old.unlink()
        failed, others, unchanged = build_and_test(build, everything or chosen.again)
        without_result += failed
        left_out = others if left_out is None else [name for name in left_out if name in others]
    show_slowest(planned)
    counts = test_summary.count([each.directory for each in planned if tested(each)])
    if everything:
        suites = sorted(SANITIZED | NOT_SANITIZED)
        without_result += [f"{name} is run by no build: its suites are none of {suites}" for name in left_out]
    else:
        say(f"left to tools/test --all: {ALSO_LEFT}; and {', '.join(left_out)}")
        say(f"as when they passed, not run again (--again runs them): {len(unchanged)}: {', '.join(sorted(unchanged))}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(f"took {spoken(time.monotonic() - began)}, {(used.ru_utime + used.ru_stime) / 60:.1f} processor minutes")
    for words in without_result:
        say(words)
        counts["failed"] += 1
    say("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] or not counts["passed"] and not unchanged else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
