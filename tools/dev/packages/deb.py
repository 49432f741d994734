# SPDX-License-Identifier: MIT
"""Debian packages: `paddock` with the programs, `libpaddock-dev` with libraries and headers."""
import gzip
import hashlib
import os
import re
import shutil
import textwrap
import time

from . import common

MAINTAINER = "The authors of Paddock <paddock@localhost>" # DEBFULLNAME and DEBEMAIL say who builds it
DESCRIPTIONS = {
    "paddock": ("workspace that an AI agent cannot leave: MCP server and tools", """\
        paddock-mcp serves seventeen tools over the Model Context Protocol: reading, writing, editing and listing files in
        one directory, and running commands that change nothing outside of it. The fence is held by the kernel (openat2,
        namespaces, Landlock, seccomp), not by string comparison.
        .
        paddock calls the same tools from the command line, manages skills and says what this system can confine."""),
    "libpaddock-dev": ("sandboxed workspace primitives for AI agents - development files", """\
        Libraries, headers, pkg-config files and a CMake package of Paddock: a directory as a capability, files
        beneath it, confined commands, an MCP server and client.
        .
        Most headers are usable alone and link nothing."""),
}
# What the static libraries of libpaddock-dev are linked with by those who use them, by the feature that needs it.
NEEDED = {"libmsgsl-dev": r"", "libsimdjson-dev": r"simdjson", "libsodium-dev": r"sodium", "libyaml-dev": r"yaml", "libzip-dev": r"zip", "libre2-dev": r"re2", "libutf8proc-dev": r"utf8proc", "libcurl4-openssl-dev": r"curl"}
OVERRIDES = """\
# It has a runtime of its own and starts before there is a file system to load libraries from.
paddock: statically-linked-binary [usr/libexec/paddock/paddock-exec-helper]
"""

# Older parsers do not know the rule, and would complain of the file at each start of the machine.
POSTINST = """\
#!/bin/sh
set -e
profile=/usr/share/paddock/apparmor-profile
if [ "$1" = configure ] && [ ! -e /etc/apparmor.d/paddock ] && command -v apparmor_parser >/dev/null &&
  apparmor_parser --skip-kernel-load --skip-cache $profile >/dev/null 2>&1; then
  cp $profile /etc/apparmor.d/paddock
  apparmor_parser --replace /etc/apparmor.d/paddock || true
fi
"""
PRERM = """\
#!/bin/sh
set -e
if [ "$1" = remove ] && cmp -s /usr/share/paddock/apparmor-profile /etc/apparmor.d/paddock; then
  apparmor_parser --remove /etc/apparmor.d/paddock || true
  rm /etc/apparmor.d/paddock
fi
"""


def maintainer():
    name, address = os.environ.get("DEBFULLNAME"), os.environ.get("DEBEMAIL")
    return f"{name} <{address}>" if name and address else MAINTAINER


def architecture():
    return common.output("dpkg-architecture", "--query", "DEB_HOST_ARCH")


def install():
    """The build with this Debian's flags, installed below build-package/deb-root."""
    flags = {name: common.output("dpkg-buildflags", "--get", name, env=os.environ | {"DEB_BUILD_MAINT_OPTIONS": "hardening=+all"})
             for name in ("CXXFLAGS", "CPPFLAGS", "LDFLAGS")}
    wanted = [flag for flag in flags["CXXFLAGS"].split() if flag != "-g"] # there is no package with debugging symbols
    flags["CXXFLAGS"] = " ".join([*wanted, f"-ffile-prefix-map={common.TOP}=."])
    built = common.build("deb", [], "--buildtype=plain", "-Db_ndebug=true", "--prefix=/usr", "--sysconfdir=/etc", "--localstatedir=/var",
                         "-Ddefault_library=static", "-Dmcp=enabled", "-Dcli=enabled", **flags)
    root = common.OUT / "deb-root"
    shutil.rmtree(root, ignore_errors=True)
    common.run("meson", "install", "-C", built, "--no-rebuild", "--destdir", root)
    return root


def belongs_to_development(path):
    return bool(re.match(r"usr/(include|lib)/|usr/share/(pkgconfig|man/man3)/", path.as_posix() + "/"))


def compress(path):
    with open(f"{path}.gz", "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=common.epoch()) as out:
        out.write(path.read_bytes())
    path.unlink()


def split(root):
    """Moves what was installed into a tree for each package; returns them by name."""
    trees = {name: common.OUT / "deb-trees" / name for name in DESCRIPTIONS}
    shutil.rmtree(common.OUT / "deb-trees", ignore_errors=True)
    for path in sorted(root.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        relative = path.relative_to(root)
        target = trees["libpaddock-dev" if belongs_to_development(relative) else "paddock"] / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
    for tree in trees.values():
        for page in tree.glob("usr/share/man/man?/*"):
            compress(page)
    for program in [*trees["paddock"].glob("usr/bin/*"), *trees["paddock"].glob("usr/libexec/paddock/*")]:
        common.run(f"{common.BINUTILS}strip", "--remove-section=.comment", "--remove-section=.note", program)
    for library in trees["libpaddock-dev"].rglob("*.a"):
        common.run(f"{common.BINUTILS}strip", "--strip-debug", "--remove-section=.comment", "--enable-deterministic-archives", library)
    for library in trees["libpaddock-dev"].rglob("*.so.*.*"):
        common.run(f"{common.BINUTILS}strip", "--strip-unneeded", "--remove-section=.comment", library)
    return trees


def add_documents(name, tree):
    documents = tree / "usr/share/doc" / name
    documents.mkdir(parents=True, exist_ok=True) # of paddock: the pages are there
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(common.epoch()))
    (documents / "changelog").write_text(f"paddock ({common.version()}) unstable; urgency=medium\n\n"
                                         f"  * Release {common.version()}; see README.\n\n -- {maintainer()}  {when}\n")
    compress(documents / "changelog")
    licence = (common.TOP / "LICENSE").read_text()
    holder = re.search(r"^Copyright \(c\) (.*)$", licence, re.M)[1]
    terms = licence[licence.index("Permission is"):].rstrip()
    body = "\n".join(" " + (line or ".") for line in terms.splitlines())
    (documents / "copyright").write_text("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
                                         f"Upstream-Name: paddock\n\nFiles: *\nCopyright: {holder}\nLicense: Expat\n{body}\n")
    if name == "paddock":
        overrides = tree / "usr/share/lintian/overrides"
        overrides.mkdir(parents=True)
        (overrides / name).write_text(OVERRIDES)


def loaded_packages(programs):
    """The packages of the libraries that a program loads when it needs them, by the names it holds."""
    names = {name.decode() for program in programs for name in re.findall(rb"lib(?:curl(?:-\w+)?|zip)\.so\.\d+", program.read_bytes())}
    return sorted(common.output("dpkg-query", *common.DPKG, "--search", f"*/{name}").split(":")[0] for name in names)


def shared_library_packages(tree):
    """What the programs need: as dpkg-shlibdeps finds it, and what they load."""
    work = common.OUT / "deb-control"
    (work / "debian").mkdir(parents=True, exist_ok=True)
    (work / "debian/control").write_text("Source: paddock\n\nPackage: paddock\nArchitecture: any\n")
    programs = sorted(tree.glob("usr/bin/*"))
    linked = common.output("dpkg-shlibdeps", "-O", *common.DPKG, *common.LIBRARIES, *programs, cwd=work).removeprefix("shlibs:Depends=").strip()
    return ", ".join([linked, *loaded_packages(programs)])


def libraries_needed(tree):
    names = " ".join(path.read_text() for path in tree.rglob("*.pc"))
    needed = [package for package, word in NEEDED.items() if word in names]
    return ", ".join([*needed, *loaded_packages(sorted(tree.rglob("libpaddock-*.a")))])


def control(name, tree):
    depends = shared_library_packages(tree) if name == "paddock" else libraries_needed(tree)
    kibibytes = sum((path.stat().st_size + 1023) // 1024 for path in tree.rglob("*") if path.is_file())
    short, long = DESCRIPTIONS[name]
    paragraphs = textwrap.dedent(long).split("\n.\n")
    lines = "\n .\n".join(textwrap.fill(text, 78, initial_indent=" ", subsequent_indent=" ") for text in paragraphs)
    return (f"Package: {name}\nSource: paddock\nVersion: {common.version()}\nArchitecture: {architecture()}\nMaintainer: {maintainer()}\n"
            f"Installed-Size: {kibibytes}\nDepends: {depends}\nSection: {'utils' if name == 'paddock' else 'libdevel'}\n"
            f"Priority: optional\nDescription: {short}\n{lines}\n")


def pack(name, tree):
    add_documents(name, tree)
    text = control(name, tree)
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n"
                   for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(text)
    (tree / "DEBIAN/md5sums").write_text(sums)
    scripts = {"postinst": POSTINST, "prerm": PRERM} if name == "paddock" else {}
    for script, text in scripts.items():
        (tree / "DEBIAN" / script).write_text(text)
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            is_program = path.is_file() and path.parent.name in ("bin", "paddock") and path.parent.parent.name in ("usr", "libexec")
            path.chmod(0o755 if path.is_dir() or is_program or path.name in scripts else 0o644)
    archive = common.OUT / f"{name}_{common.version()}_{architecture()}.deb"
    common.run("dpkg-deb", "--root-owner-group", "--build", tree, archive, env=os.environ | {"SOURCE_DATE_EPOCH": str(common.epoch())})
    return archive


def make():
    for name, tree in split(install()).items():
        yield pack(name, tree)
