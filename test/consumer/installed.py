#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`meson install` leaves nothing out: what Meson says that it will install, beside what the pages and the packages promise.

usage: installed.py SOURCE BUILD
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

# Beneath the prefix; the libraries' directory has the system's name for it.
PROMISED = [
    r"bin/paddock", r"bin/paddock-mcp", r"libexec/paddock/paddock-exec-helper", r"libexec/paddock/paddock-egress",
    r"lib.*/libpaddock\.(?:a|so)", r"lib.*/libpaddock-search\.(?:a|so)", r"lib.*/libpaddock-history\.(?:a|so)", r"lib.*/libpaddock-skill\.(?:a|so)", r"lib.*/libpaddock-mcp\.(?:a|so)",
    r"lib.*/libpaddock-c\.so", r"lib.*/pkgconfig/paddock-c\.pc", r"include/paddock/paddock\.h",
    r"lib.*/pkgconfig/paddock\.pc", r"lib.*/pkgconfig/paddock-search\.pc", r"lib.*/pkgconfig/paddock-history\.pc", r"lib.*/pkgconfig/paddock-skill\.pc", r"lib.*/pkgconfig/paddock-mcp\.pc", r"lib.*/pkgconfig/paddock-headers\.pc",
    r"lib.*/cmake/paddock/paddockConfig\.cmake", r"lib.*/cmake/paddock/paddockConfigVersion\.cmake",
    r"share/man/man1/paddock\.1", r"share/man/man1/paddock-mcp\.1", r"share/man/man3/paddock\.3",
    *(f"share/{folder}" for name in ("paddock", "paddock-mcp") for folder in (
        f"bash-completion/completions/{name}", f"zsh/site-functions/_{name}", rf"fish/vendor_completions\.d/{name}\.fish")),
    r"include/paddock/version\.hpp",
    r"share/doc/paddock/README\.md", r"share/paddock/apparmor-profile",
]


def units_of(text):
    return set(re.findall(r"paddock-(?:headers|search|history|skill|mcp|c)\b", text.replace("\\-", "-")))


def unfound_headers(build):
    """What the build directory's own pkg-config file of the headers does not lead to."""
    if shutil.which("pkg-config") is None:
        print("no pkg-config: what it says of the build directory is not looked at")
        return []
    said = subprocess.run(["pkg-config", "--cflags-only-I", "paddock-headers"], capture_output=True, encoding="utf-8",
                          env={**os.environ, "PKG_CONFIG_PATH": str(pathlib.Path(build, "meson-uninstalled"))}).stdout
    places = [pathlib.Path(word.removeprefix("-I")) for word in shlex.split(said)]
    return [f"pkg-config finds no {name} in the build directory: {said}" for name in ("mime/mime.hpp", "version.hpp")
            if not any((place / "paddock" / name).exists() for place in places)]


def main(source, build):
    headers = [path.relative_to(source).as_posix() for path in pathlib.Path(source).glob("include/paddock/**/*.hpp")]
    pages = [path.relative_to(source).as_posix() for path in pathlib.Path(source, "docs").iterdir() if path.suffix != ".build"]
    expected = PROMISED + [re.escape(header) for header in headers] + [re.escape(f"share/doc/paddock/{page}") for page in pages]
    installed = json.loads(pathlib.Path(build, "meson-info/intro-installed.json").read_text()).values()
    options = json.loads(pathlib.Path(build, "meson-info/intro-buildoptions.json").read_text())
    prefix = next(option["value"] for option in options if option["name"] == "prefix")
    installed = {pathlib.Path(path).relative_to(prefix).as_posix() for path in installed}
    problems = [f"not installed: {path}" for path in expected if not any(re.fullmatch(path, there) for there in installed)]
    problems += [f"nobody expects {there}" for there in sorted(installed)
                 if not any(re.fullmatch(path + r"(?:[.\d]*)", there) for path in expected)]
    units = units_of("\n".join(PROMISED).replace("\\.pc", ""))
    problems += [f"{page} does not name {unit}" for page in ("docs/building.md", "tools/man/paddock.3.in")
                 for unit in sorted(units - units_of(pathlib.Path(source, page).read_text()))]
    problems += unfound_headers(build)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(headers)} headers, {len(pages)} pages and {len(PROMISED)} other things")
    return 1 if problems or len(units) != 6 or len(headers) < 40 or len(pages) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
