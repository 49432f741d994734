# SPDX-License-Identifier: MIT
"""The adapter as one file that needs nothing of the system it runs on."""
import os
import pathlib
import shutil

from . import common

# What the adapter does over standard input and output, and no more: what is left out here needs libraries that
# distributions do not offer in static form (libzip), or would look up names at run time (HTTP).
FEATURES = ["-Dmcp=enabled", "-Dcli=enabled", "-Dyaml=enabled", "-Dhistory=enabled", "-Dzip=disabled", "-Dunicode=disabled", "-Dhttp=disabled",
            "-Dtoml=disabled"]
SMALL = ["--buildtype=release", "-Doptimization=s", "-Db_lto=true", "-Db_pie=true", "-Ddefault_library=static", "-Dprefer_static=true",
         "-Dcpp_args=-ffunction-sections -fdata-sections", "-Dcpp_link_args=-static-pie -Wl,--gc-sections"]
# The helper is static anyway, without the C library; the flags above are not for it.
HELPER = ["--buildtype=release", "-Dmcp=disabled", "-Dcli=disabled", "-Dyaml=disabled", "-Dhistory=disabled", *FEATURES[4:]]
TEXTS = ["LICENSE", "README.md", "docs/*.md", "docs/*.png"]
# Linked into the programs: the licence of each, beside Paddock's own.
CONTAINED = """\
paddock-mcp contains, in machine code, parts of these works. Their licences ask for this notice.

simdjson (Apache License 2.0, https://simdjson.org)
libsodium (ISC licence, https://libsodium.org), copyright (c) 2013-2019 Frank Denis
xxHash (BSD 2-clause licence, https://xxhash.com), copyright (c) 2012-2020 Yann Collet
libyaml (MIT licence, https://pyyaml.org/wiki/LibYAML), copyright (c) 2017-2020 Ingy dot Net, (c) 2006-2016 Kirill Simonov
CLI11 (BSD 3-clause licence, https://github.com/CLIUtils/CLI11), copyright (c) 2017-2024 University of Cincinnati,
  developed by Henry Schreiner under NSF AWARD 1414736
Microsoft GSL (MIT licence, https://github.com/microsoft/GSL), copyright (c) 2015 Microsoft Corporation
GNU C Library (LGPL 2.1 or later, https://www.gnu.org/software/libc); link the sources of Paddock again to change it
GNU libstdc++ and libgcc (GPL 3 with the GCC Runtime Library Exception, https://gcc.gnu.org)
"""


def has_static_simdjson():
    compiler = os.environ.get("CXX", "c++").split()[-1]
    return pathlib.Path(common.output(compiler, "-print-file-name=libsimdjson.a")).is_absolute()


def programs():
    """Builds both programs and returns the directory with them, stripped."""
    options = list(SMALL)
    if not has_static_simdjson():
        options.append("--force-fallback-for=simdjson")
        common.run(common.TOP / "tools/dev/wraps", "--fill", "--source-packages", "simdjson")
    built = {"paddock-mcp": common.build("static", ["tools/paddock-mcp"], *options, *FEATURES),
             "paddock-exec-helper": common.build("helper", ["tools/paddock-exec-helper"], *HELPER)}
    folder = common.OUT / "static-programs"
    folder.mkdir(exist_ok=True)
    for name, build in built.items():
        common.run(f"{common.BINUTILS}strip", "-o", folder / name, build / "tools" / name)
        if "INTERP" in common.output("readelf", "--program-headers", folder / name):
            raise common.Failed(f"{name} still needs shared libraries")
    return folder


def make():
    name = f"paddock-{common.version()}-linux-{common.machine()}"
    folder = common.OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(programs(), folder)
    for pattern in TEXTS:
        for text in common.TOP.glob(pattern):
            target = folder / text.relative_to(common.TOP)
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(text, target)
    (folder / "NOTICES").write_text(CONTAINED)
    yield common.write_tar(common.OUT / f"{name}.tar.gz", folder)
