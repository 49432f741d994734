#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every wrap is pinned by a digest, can be filled from a mirror, and has the build file it names, of the same version."""
import configparser
import pathlib
import re
import sys

from sources import report


def problems_of(path):
    wrap = configparser.ConfigParser(interpolation=None)
    wrap.read(path)
    if not wrap.has_section("wrap-file") or not wrap.has_section("provide"):
        yield "needs the sections [wrap-file] and [provide]"
        return
    values = wrap["wrap-file"]
    directory = values.get("directory", "")
    if not re.fullmatch(r"[0-9a-f]{64}", values.get("source_hash", "")):
        yield "source_hash is no SHA-256"
    if not values.get("source_url", "").startswith("https://"):
        yield "source_url is no https address"
    if values.get("source_filename") != directory + ".tar.gz":
        yield "source_filename is not the directory's name with .tar.gz"
    if patch := values.get("patch_directory"):
        build = path.parent / "packagefiles" / patch / "meson.build"
        if not build.exists():
            yield f"there is no packagefiles/{patch}/meson.build"
        elif f"version: '{re.sub(r'^.*?-(?=[0-9])', '', directory)}'" not in build.read_text():
            yield f"packagefiles/{patch}/meson.build has another version than {directory}"


def main(top):
    folder = pathlib.Path(top) / "subprojects"
    wraps = sorted(folder.glob("*.wrap"))
    problems = [f"subprojects/{path.name}: {problem}" for path in wraps for problem in problems_of(path)]
    used = {match[1] for path in wraps if (match := re.search(r"^patch_directory = (.+)$", path.read_text(), re.M))}
    problems += [f"subprojects/packagefiles/{path.name}: no wrap uses it" for path in sorted(folder.glob("packagefiles/*"))
                 if path.name not in used]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
