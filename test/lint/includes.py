#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds that tests include what they name of the headers that are compiled beforehand for all of them.

A compiler that is given those (option `precompiled`) finds nothing missing. A header counts as included where a file has
it, or a header of the project's that the file includes, or a framework of tests, which brings what it is made of.
"""
import functools
import pathlib
import re
import sys

from sources import code_only, files, report

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
# header -> what is named of it; a row for each header of test/precompiled
NAMES = {
    "algorithm": r"std::ranges::(?:find|sort|any_of|all_of|none_of|count|equal|max_element|transform)\w*"
                 r"|std::(?:sort|clamp|find_if|count_if)\b",
    "array": r"std::array\b",
    "atomic": r"std::atomic\b",
    "cerrno": r"\berrno\b",
    "chrono": r"std::chrono\b",
    "condition_variable": r"std::condition_variable\b",
    "csignal": r"std::(?:signal|raise)\b",
    "cstddef": r"std::(?:size_t|ptrdiff_t|byte)\b",
    "cstdint": r"std::u?int(?:8|16|32|64)_t\b",
    "cstdio": r"std::(?:f?printf|fflush|snprintf|puts)\b",
    "cstdlib": r"std::(?:abort|exit|getenv|strto\w+)\b",
    "cstring": r"std::(?:mem(?:cpy|cmp|set|chr)|str(?:len|error|cmp|chr|signal))\b",
    "filesystem": r"std::filesystem\b",
    "fstream": r"std::[io]?fstream\b",
    "functional": r"std::function\b",
    "gmock/gmock.h": r"\b(?:EXPECT|ASSERT)_THAT\b|\btesting::(?:HasSubstr|ElementsAre|Optional|Not|AllOf)\b",
    "gtest/gtest.h": r"\b(?:TEST|TEST_F|TEST_P|EXPECT_EQ|ASSERT_TRUE|GTEST_SKIP)\b",
    "iostream": r"std::(?:cout|cerr)\b",
    "iterator": r"std::(?:back_inserter|distance|istreambuf_iterator)\b",
    "map": r"std::(?:multi)?map\b",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock|call_once)\b",
    "optional": r"std::(?:optional|nullopt)\b",
    "random": r"std::(?:mt19937|uniform_int_distribution|minstd_rand)\w*",
    "set": r"std::(?:multi)?set\b",
    "span": r"std::span\b",
    "sstream": r"std::[io]?stringstream\b",
    "string": r"std::(?:string|to_string|getline|stoi)\b(?!_view)",
    "string_view": r"std::string_view\b",
    "thread": r"std::(?:thread|jthread|this_thread)\b",
    "tuple": r"std::(?:tuple|tie|make_tuple)\b",
    "utility": r"std::(?:move|pair|exchange|swap|forward)\b",
    "vector": r"std::vector\b",
}
FRAMEWORKS = {
    "gtest/gtest.h": {"memory", "string", "vector", "set", "map", "utility", "functional", "atomic", "mutex", "cstdint",
                      "cstring"},
    "gmock/gmock.h": {"gtest/gtest.h", "algorithm", "optional"},
}


@functools.lru_cache(maxsize=None)
def included(top, path):
    """All that a file of the project includes, also by other files of the project."""
    found = set()
    for name in INCLUDE.findall(path.read_text()):
        found.add(name)
        for folder in (path.parent, top / "test", top / "include", top / "src", top / "tools"):
            if (folder / name).is_file():
                found |= included(top, folder / name)
                break
    for framework in ("gmock/gmock.h", "gtest/gtest.h"):
        if framework in found:
            found |= FRAMEWORKS[framework]
    return frozenset(found)


def main(top):
    top, problems = pathlib.Path(top).resolve(), []
    for header in files(top, ["test/precompiled"], {".hpp"}):
        for name in INCLUDE.findall(header.read_text()):
            if "." not in name and name not in NAMES:
                problems.append(f"{header.relative_to(top)}: <{name}> has no row in test/lint/includes.py")
    for path in files(top, ["test"], {".cpp", ".hpp"}):
        if "gtest/gtest.h" not in (there := included(top, path)) and "gmock/gmock.h" not in there:
            continue
        code = code_only(path.read_text())
        for header, names in NAMES.items():
            if header not in there and (named := re.search(names, code)):
                line = code.count("\n", 0, named.start()) + 1
                problems.append(f"{path.relative_to(top)}:{line}: {named[0]} without #include <{header}>")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
