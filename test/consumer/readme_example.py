#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles and runs the library example of README.md, word for word.

usage: readme_example.py SOURCE_ROOT BUILD_ROOT COMPILER LIBRARY [FLAG...]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

source, build, compiler, library, *flags = sys.argv[1:]
examples = re.findall(r"^```cpp\n(.*?)^```", (pathlib.Path(source) / "README.md").read_text(), re.M | re.S)
assert len(examples) == 1, "README.md has exactly one C++ example"
with tempfile.TemporaryDirectory() as scratch:
    program = pathlib.Path(scratch) / "example"
    (program.with_suffix(".cpp")).write_text(examples[0])
    subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags, f"-I{source}/include", f"-I{build}/include",
                    program.with_suffix(".cpp"), library, "-o", program], check=True)
    workspace = pathlib.Path(scratch) / "workspace"
    workspace.mkdir()
    ran = subprocess.run([program], cwd=workspace, check=True, capture_output=True, text=True)
    assert ran.stdout == "escapes_root\n", ran.stdout
    assert (workspace / "notes/today.md").read_text() == "- build a fence\n"
