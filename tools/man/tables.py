# SPDX-License-Identifier: MIT
"""Reads the X-macro tables that code, manual pages and docs/ are made from."""
import pathlib
import re


def rows(header, macro, columns=4):
    """The rows of an X-macro table: a list of its arguments, string literals without their quotes."""
    text = pathlib.Path(header).read_text().replace("\\\n", "\n")
    table = text.split(f"#define {macro}(X)", 1)[1].split("// clang-format on", 1)[0]
    argument = r'\s*("(?:[^"\\]|\\.)*"|[^,()"]+?)\s*'
    found = re.findall(r"^\s*X\(" + ",".join([argument] * columns) + r"\)\s*$", table, re.MULTILINE)
    if len(found) != len(re.findall(r"^\s*X\(", table, re.MULTILINE)):
        raise SystemExit(f"{header}: a row of {macro} does not have {columns} arguments on one line")
    return [[a.strip('"').replace('\\"', '"') for a in row] for row in found]
