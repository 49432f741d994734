# SPDX-License-Identifier: MIT
"""Counts the results of `meson test` in the given build directories, case by case.

Cases come from the JUnit report. A program that crashed or ran out of time reports no cases of its own, so every entry of
Meson's own log that failed without a failed case counts as one failure; so does a program that ran no test at all, and a
directory without results.
"""
import json
import pathlib
import re
import xml.etree.ElementTree as xml

UNITTEST_SKIP = re.compile(r"^(\w+) \([\w.]+\)(?:\n.*)?? \.\.\. skipped ", re.MULTILINE)
UNITTEST_SKIPS = re.compile(r"^OK \(.*\bskipped=(\d+)", re.MULTILINE)
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def cases_of(report):
    """Yields (test program or suite, case name, outcome) for every case of a JUnit report."""
    text = report.read_text(encoding="utf-8", errors="replace")
    # Meson 1.0 writes what a test printed as it is, also what XML cannot hold.
    for suite in xml.fromstring(NOT_IN_XML.sub("?", text)).iter("testsuite"):
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                outcome = "failed"
            elif case.find("skipped") is not None:
                outcome = "skipped"
            else:
                outcome = "passed"
            yield suite.get("name"), case.get("name"), outcome


def skipped_by_unittest(output):
    """The cases that a script of Python's unittest has skipped, which Meson takes for one that passed."""
    names = UNITTEST_SKIP.findall(output)
    counted = sum(map(int, UNITTEST_SKIPS.findall(output)))
    return names + ["a case without a name"] * (counted - len(names))


def results_of(build):
    """All (name, outcome) pairs of one build directory."""
    logs = build / "meson-logs"
    log, report = logs / "testlog.json", logs / "testlog.junit.xml"
    if not log.exists() or not report.exists():
        return [("no test results", "failed")]
    results, cases = [], {}
    for suite, case, outcome in cases_of(report):
        results.append((f"{suite}.{case}", outcome))
        cases[f".{suite}.{case}."] = outcome
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        entry = json.loads(line)
        name, result = entry["name"], entry["result"]
        outcomes = [outcome for case, outcome in cases.items() if f".{name}." in case]
        results += [(f"{name}.{case}", "skipped") for case in skipped_by_unittest(entry.get("stdout", "") + "\n" + entry.get("stderr", ""))]
        if result == "SKIP" and not outcomes:
            results.append((name, "skipped"))
        elif result in ("OK", "SKIP", "EXPECTEDFAIL") and not outcomes:
            results.append((f"{name} (ran no test)", "failed"))
        elif result not in ("OK", "SKIP", "EXPECTEDFAIL") and "failed" not in outcomes:
            results.append((f"{name} ({result.lower()}, no case of it failed)", "failed"))
    return results


def count(directories):
    """Names what failed and what was skipped; returns how many cases had each outcome."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    named = []
    for directory in directories:
        for name, outcome in results_of(pathlib.Path(directory)):
            total[outcome] += 1
            if outcome != "passed":
                named.append((outcome, directory, name))
    print()
    for outcome, directory, name in sorted(named, reverse=True):
        print(f"{outcome}: {directory}: {name}")
    return total
