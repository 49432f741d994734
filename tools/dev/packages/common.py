# SPDX-License-Identifier: MIT
"""What the packages share: where things are, the version, builds, and archives that are the same each time."""
import functools
import gzip
import json
import os
import pathlib
import platform
import subprocess
import sys
import tarfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent.parent
OUT = TOP / "build-package"
CROSS = [] # for Meson
BINUTILS = "" # what their names begin with
DPKG, LIBRARIES = [], [] # where the packages are that are built against; for dpkg-shlibdeps


class Failed(Exception):
    """What the person at the terminal is told."""


def run(*command, **options):
    """Runs a command; what it prints goes to standard error."""
    options = {"cwd": TOP, "stdin": subprocess.DEVNULL, "stdout": sys.stderr} | options
    try:
        return subprocess.run([str(word) for word in command], check=True, **options)
    except (subprocess.CalledProcessError, FileNotFoundError) as problem:
        raise Failed(problem) from problem


def output(*command, **options):
    return run(*command, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


@functools.cache
def version():
    return json.loads(output("meson", "introspect", "--projectinfo", "meson.build"))["version"]


def build_for_arm64():
    """From now on, with the compiler and the libraries of tools/dev/arm64."""
    global OUT, BINUTILS
    OUT, BINUTILS = TOP / "build-package-arm64", "aarch64-linux-gnu-"
    CROSS[:] = output(TOP / "tools/dev/arm64", "cross").split()
    DPKG[:] = [f"--admindir={TOP}/build-arm64/dpkg"]
    LIBRARIES[:] = [f"-l{TOP}/build-arm64/root{folder}/aarch64-linux-gnu" for folder in ("/lib", "/usr/lib")]
    os.environ.update(CXX="aarch64-linux-gnu-g++", DEB_HOST_ARCH="arm64")


def machine():
    return "aarch64" if CROSS else platform.machine()


@functools.cache
def epoch():
    """When the sources were made: the time that archives show."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    if (TOP / ".git").exists():
        return int(output("git", "log", "-1", "--format=%ct"))
    return int((TOP / "meson.build").stat().st_mtime)


def build(name, targets, *options, **environment):
    """Configures build-package/NAME, once, and builds the targets (none: all). Returns the directory."""
    folder = OUT / name
    environment = os.environ | environment
    if not (folder / "build.ninja").exists():
        run("meson", "setup", folder, TOP, *CROSS, *options, env=environment)
    run("ninja", "-C", folder, *targets, env=environment)
    return folder


def write_tar(archive, folder):
    """`folder` and what is in it as a .tar.gz: sorted, without owners, as old as the sources."""
    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = epoch()
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with open(archive, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=epoch()) as packed, \
            tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, arcname=folder.name, recursive=False, filter=plain)
        for path in sorted(folder.rglob("*")):
            tar.add(path, arcname=path.relative_to(folder.parent), recursive=False, filter=plain)
    return archive
