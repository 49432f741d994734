#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs programs that use Paddock from outside, by every route that the README offers.

The sources are copied first, without tests and benchmarks, as a consumer would have them. Prints TAP.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PARTS = ("meson.build", "meson_options.txt", "include", "src", "tools", "subprojects")
OPTIONS = ["--buildtype=debug", "-Dtests=disabled", "-Dbench=disabled", "-Dcli=disabled"]


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL, **options)


def copy_of(top, target):
    for part in PARTS:
        source = top / part
        if source.is_dir():
            shutil.copytree(source, target / part)
        elif source.exists():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / part)
    return target


def try_programs(folder, **environment):
    """Both programs work; the agent in a workspace of its own."""
    environment = os.environ | environment
    workspace = folder / "workspace"
    workspace.mkdir()
    run(folder / "headers_only", env=environment)
    run(folder / "agent", workspace, env=environment)
    if (workspace / "notes/plan.md").read_text() != "1. read\n2. write\n":
        raise RuntimeError("the agent did not write its file")


def as_subproject(top, consumers, _prefix):
    project = consumers / "meson"
    copy_of(top, project / "subprojects/paddock")
    run("meson", "setup", "build", *OPTIONS[:1], cwd=project)
    run("ninja", "-C", "build", cwd=project)
    try_programs(project / "build")


def by_pkg_config(_top, consumers, prefix):
    found = ":".join(str(folder) for folder in prefix.rglob("pkgconfig"))
    project = consumers / "pkg-config"
    run("make", "-C", project, env=os.environ | {"PKG_CONFIG_PATH": found})
    try_programs(project, LD_LIBRARY_PATH=str(next(prefix.rglob("libpaddock.so")).parent))


def by_cmake(_top, consumers, prefix):
    project = consumers / "cmake"
    run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", project / "build")
    try_programs(project / "build")


ROUTES = (("Meson subproject", as_subproject, "meson"), ("pkg-config", by_pkg_config, "make"), ("CMake package", by_cmake, "cmake"))


def main(top):
    top, failures = pathlib.Path(top), 0
    print(f"1..{len(ROUTES) + 1}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        consumers, prefix = scratch / "consumer", scratch / "prefix"
        shutil.copytree(top / "test/consumer", consumers)
        copy_of(top, scratch / "paddock")

        def install(*_):
            run("meson", "setup", "build", f"--prefix={prefix}", "-Ddefault_library=shared", *OPTIONS, cwd=scratch / "paddock")
            run("meson", "install", "-C", "build", cwd=scratch / "paddock")

        for number, (name, route, tool) in enumerate((("installation", install, "meson"), *ROUTES), 1):
            if not shutil.which(tool):
                print(f"ok {number} - {name} # SKIP {tool} is not installed", flush=True)
                continue
            try:
                route(top, consumers, prefix)
                print(f"ok {number} - {name}", flush=True)
            except (subprocess.CalledProcessError, OSError, RuntimeError, StopIteration) as problem:
                failures += 1
                print(f"# {problem!r}\nnot ok {number} - {name}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent.parent))
