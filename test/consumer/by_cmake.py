#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The three routes for CMake that docs/building.md has, as an author pastes them, and that CMake compiles what Meson does.
Prints TAP.

usage: by_cmake.py BUILD WORK   BUILD: what Meson configured; WORK: a directory to build in, emptied first
"""
import json
import os
import pathlib
import re
import shutil
import sys

import run
from run import TOP, expect

FEATURES = ("mcp", "yaml", "zip", "unicode", "history", "regex", "http", "toml", "cli")
STATES = {"auto": "AUTO", "enabled": "ON", "disabled": "OFF"}
PAGE = (TOP / "docs/building.md").read_text()
OTHERS = ("test/", "bench/")
ONLY_MESON = {"src/sys/unit_filler.cpp"}
MACRO = re.compile(r"-D(PADDOCK_(?!LIB\w+_LIBRARY=)\S+)") # but for libraries that Meson has loaded and CMake links


def configure(source, build, *options):
    compiler = os.environ.get("CXX", run.quickest_compiler()).split()[-1]
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run.run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=",
            *launcher, *options)


# ---- what is compiled -----------------------------------------------------------------------------

def compiled(build):
    """{source of a library or program: macros}; of a unit, each source in it."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(entry["directory"], entry["file"])
        included = re.findall(r'#include\s*[<"](/[^">]+)', unit.read_text()) if "unity" in unit.name else []
        for source in map(os.path.realpath, included or [unit]):
            if source.startswith((f"{TOP}/src/", f"{TOP}/tools/", f"{build}/")) and not entry.get("output", "").startswith(OTHERS):
                name = os.path.relpath(source, TOP) if os.path.commonpath([source, build]) != str(build) else os.path.basename(source)
                found[name] = set(MACRO.findall(re.sub(r"[\\\"']", "", entry["command"])))
    return found


def differences(meson, cmake):
    wrong = [f"CMake does not compile {name}" for name in sorted(meson.keys() - cmake.keys() - ONLY_MESON)]
    wrong += [f"Meson does not compile {name}" for name in sorted(cmake.keys() - meson.keys())]
    return wrong + [f"{name}: CMake lacks {macros - cmake[name]}" for name, macros in sorted(meson.items())
                    if name in cmake and not macros <= cmake[name]]


def compare(build, work):
    chosen = {option["name"]: option["value"] for option in json.loads((build / "meson-info/intro-buildoptions.json").read_text())}
    configure(TOP, work / "compared", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DPADDOCK_BUILD_PROGRAMS={STATES[chosen['cli']]}",
              f"-DCMAKE_INSTALL_PREFIX={chosen['prefix']}", f"-DCMAKE_INSTALL_LIBEXECDIR={chosen['libexecdir']}",
              *(f"-DPADDOCK_{name.upper()}={STATES[chosen[name]]}" for name in FEATURES))
    meson, cmake = compiled(build), compiled(work / "compared")
    expect(differences(meson, cmake) == [], differences(meson, cmake))
    name = "src/search/text_pattern.cpp"
    for less in (cmake | {name: set()}, {other: cmake[other] for other in cmake.keys() - {name}}): # would it be noticed?
        expect(len(differences(meson, less)) == 1, differences(meson, less))


# ---- the routes of the page ------------------------------------------------------------------------

def route(word):
    """What the page says for it, and how to link."""
    blocks = re.findall(r"^```cmake\n(.*?)^```", PAGE, re.M | re.S)
    [way], [link] = ([block for block in blocks if block.startswith(start)] for start in (word, "target_link_libraries("))
    return way, link


def consume(work, word, build, *options, prefix=None):
    """Programs of somebody else, which find the library so; what is built of it is where FetchContent has it, for all routes."""
    way, link = route(word)
    source = work / "consumer"
    source.mkdir(exist_ok=True)
    if not (source / "paddock").exists():
        (source / "paddock").symlink_to(TOP)
    text = ["cmake_minimum_required(VERSION 3.25)", "project(consumer CXX)",
            "add_compile_options(-Wall -Wextra -Wpedantic -Werror)",
            way.replace("add_subdirectory(paddock", "add_subdirectory(paddock _deps/paddock-build")]
    for name, unit in (("agent", "paddock"), ("search", "search")):
        text += [f'add_executable({name} "{TOP}/test/consumer/{name}/{name}.cpp")',
                 link.replace("agent", name).replace("paddock::paddock", f"paddock::{unit}")]
    text += ["if(TARGET paddock-exec-helper)", *re.findall(r"`(install\(.*?\))`", PAGE), "endif()"]
    (source / "CMakeLists.txt").write_text("\n".join(text))
    configure(source, work / build, *options)
    run.run("cmake", "--build", work / build)
    for name in ("agent", "search"):
        run.try_program(name, work / build, prefix)


def install(build, prefix):
    run.run("cmake", "--install", build)
    shutil.rmtree(build) # what is installed needs nothing of it
    run.try_program("agent", prefix / "bin")


def steps(build, work):
    """Yields (name, programs that are needed, function) of each step, in order."""
    tools, prefix = ["cmake", "ninja", "pkg-config"], work / run.DESTINATION
    yield "CMake compiles what Meson does", tools, lambda: compare(build, work)
    # Without the largest library, for it costs minutes.
    yield ("FetchContent", tools, lambda: consume(
        work, "include(FetchContent)", "build", "-DPADDOCK_MCP=OFF", "-DPADDOCK_INSTALL=ON", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        f"-DFETCHCONTENT_SOURCE_DIR_PADDOCK={work}/consumer/paddock"))
    yield "add_subdirectory", tools, lambda: consume(work, "add_subdirectory(", "build")
    yield "installation", tools, lambda: install(work / "build", prefix)
    yield "find_package", tools, lambda: consume(work, "find_package(", "found", f"-DCMAKE_PREFIX_PATH={prefix}", prefix=prefix)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sys.exit(run.main(folder, steps(pathlib.Path(sys.argv[1]).resolve(), folder)))
