# SPDX-License-Identifier: MIT
"""Runs modules of unittest and says in TAP how each test ended. It is copied beside the tests."""
import os
import sys
import unittest

out = None  # tests print what they like: the answer goes where nothing else does
number = 0


class Told(unittest.TestResult):
    def tell(self, outcome, test, mark=""):
        global number
        number += 1
        out.write(f"{outcome} {number} - {test.id()}{mark}\n")

    def addSuccess(self, test):
        self.tell("ok", test)

    def addError(self, test, error):
        self.tell("not ok", test)
        sys.stderr.write(self._exc_info_to_string(error, test))

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)

    def addSkip(self, test, reason):
        self.tell("ok", test, " # SKIP")

    def addExpectedFailure(self, test, error):
        self.tell("ok", test, " # SKIP")

    def addUnexpectedSuccess(self, test):
        self.tell("not ok", test)


class Absent:
    def __init__(self, module):
        self.module = module

    def id(self):
        return self.module


def main():
    for module in sys.argv[1:]:
        sys.stderr.write(f"== {module}\n")
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName(module)
        except unittest.SkipTest:
            Told().addSkip(Absent(module), "")
            continue
        suite.run(Told())
    out.flush()
    os._exit(0)


# Tests of multiprocessing import this file in their children.
if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    main()
