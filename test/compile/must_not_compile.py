#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a source twice: without BAD it has to compile, with BAD it has to fail for the stated reason.

The reason is a regular expression in a comment of the source: `// expect: <regular expression>`.
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compile_command import headers_command, run_options


def main(build, source):
    expected = re.search(r"// expect: (.*)", pathlib.Path(source).read_text())[1]
    compiler = headers_command(build) + ["-fsyntax-only", "-Werror", str(pathlib.Path(source).resolve())]

    good = subprocess.run(compiler, **run_options(build))
    if good.returncode != 0:
        print("the twin that is right does not compile:\n" + good.stderr)
        return 1
    bad = subprocess.run(compiler + ["-DBAD"], **run_options(build))
    if bad.returncode == 0:
        print("it compiles, but must not")
        return 1
    if not re.search(expected, bad.stderr):
        print(f"it fails, but not for the reason /{expected}/:\n{bad.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
