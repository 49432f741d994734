#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes archives of skills, good and hostile ones, each with the one answer an import has to give.

    make_archives.py DIRECTORY TABLE

TABLE has a line per archive: file name, wire name of the refusal or "ok", for accepted ones the id. Beside an
accepted archive stands NAME.tree: what Python's zipfile reads from it, one "mode size crc path" per file, as it has
to arrive on disk. `unzip -t` has to accept it as well, where it is installed. Also makes folding.tsv: each code
point and, in hexadecimal digits, the UTF-8 that Unicode folds it to.
"""
import io
import os
import pathlib
import random
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib

SKILL = b"---\nname: demo\ndescription: A skill for tests.\n---\n\nBody.\n"
STORED, DEFLATED = 0, 8
UTF8_NAME = 0x800
IGNORED = ("__MACOSX", ".DS_Store", ".git")


# One name for a file system that folds case or normalises, two for others.
COLLISIONS = (
    ("sharp-s", "straße", "STRASSE"), ("capital-sharp-s", "ẞ", "ß"), ("ligature", "ﬁle", "FILE"), ("long-s", "ſ", "S"),
    ("kelvin", "\u212a", "k"), ("angstrom", "\u212b", "å"), ("ohm", "\u2126", "ω"), ("final-sigma", "ς", "Σ"), ("beta", "ϐ", "Β"),
    ("armenian", "Ա", "ա"), ("armenian-ligature", "և", "ԵՒ"), ("georgian", "Ა", "ა"), ("cherokee", "Ꭰ", "ꭰ"), ("deseret", "𐐀", "𐐨"),
    ("hangul", "가", "\u1100\u1161"), ("devanagari", "\u0958", "\u0915\u093c"), ("kana", "が", "か\u3099"), ("cjk", "\uf900", "豈"),
    ("order-of-marks", "a\u0323\u0307", "a\u0307\u0323"), ("iota-below", "ᾳ\u0301", "α\u0301\u0345"), ("dotted-i", "İ", "i\u0307"),
    ("full-width", "Ａ", "ａ"), ("circled", "Ⓐ", "ⓐ"), ("joiner", "a\u200db", "ab"), ("byte-order-mark", "\ufeffa", "a"),
)


class Entry:
    """One entry, every field of which can be a lie. Fields of the local header default to the central ones."""

    def __init__(self, name, data=b"", *, method=DEFLATED, mode=stat.S_IFREG | 0o644, flags=UTF8_NAME, system=3,
                 size=None, crc=None, packed=None, packed_size=None, local_name=None, extra=b"", local_extra=b"",
                 local_offset=None, dos=0, local_says=None, after=b""):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.local_name = self.name if local_name is None else local_name
        self.method, self.flags, self.system, self.mode, self.dos = method, flags, system, mode, dos
        if packed is None:
            deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = deflate.compress(data) + deflate.flush() if method == DEFLATED else data
        self.packed = packed
        self.packed_size = len(packed) if packed_size is None else packed_size
        self.size = len(data) if size is None else size
        self.crc = zlib.crc32(data) if crc is None else crc
        self.extra, self.local_extra, self.local_offset = extra, local_extra, local_offset
        self.local_says = (self.crc, self.packed_size, self.size) if local_says is None else local_says
        self.after = after

    def local(self):
        return struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, self.flags, self.method, 0, 0x5821, *self.local_says,
                           len(self.local_name), len(self.local_extra)) \
            + self.local_name + self.local_extra + self.packed + self.after

    def central(self, offset):
        return struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", self.system << 8 | 20, 20, self.flags, self.method, 0,
                           0x5821, self.crc, self.packed_size, self.size, len(self.name), len(self.extra), 0, 0, 0,
                           (self.mode << 16 | self.dos) & 0xFFFFFFFF, offset) + self.name + self.extra


def archive(*entries, count=None, comment=b"", disk=0):
    body, directory = b"", b""
    for entry in entries:
        offset = len(body) if entry.local_offset is None else entry.local_offset
        directory += entry.central(offset)
        if entry.local_offset is None:
            body += entry.local()
    number = len(entries) if count is None else count
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", disk, disk, number, number, len(directory), len(body), len(comment))
    return body + directory + end + comment


def streamed(name, data, *, marked=True, wide=False, knows=(False, False, False), lie=(0, 0, 0), after=b"", **how):
    """An entry with a data descriptor; `knows` says which of checksum and sizes the local header has all the same."""
    plain = Entry(name, data, **how)
    truth = (plain.crc, plain.packed_size, plain.size)
    descriptor = struct.pack("<IQQ" if wide else "<III", *(t + l for t, l in zip(truth, lie)))
    return Entry(name, data, flags=UTF8_NAME | 8, local_says=tuple(t if k else 0 for t, k in zip(truth, knows)),
                 after=(b"PK\7\x08" if marked else b"") + descriptor + after, **how)


def ended(*entries, gap=b"", prefix=b"", count=None, directory_gap=b"", large=False, plain=None, **lie):
    """An archive whose end records are made by hand. `large`: with a record and a locator for large archives; `lie`
    is added to fields of these; `plain` replaces entries, size and offset in the old record."""
    body, directory = prefix, b""
    for entry in entries:
        directory += entry.central(len(body))
        body += entry.local()
    directory += directory_gap
    number = len(entries) if count is None else count
    start = len(body)
    out = body + directory + gap
    values = {"record": 44, "disk": 0, "directory_disk": 0, "here": number, "entries": number, "size": len(directory),
              "offset": start, "locator_disk": 0, "at": len(out), "disks": 1}
    for field, by in lie.items():
        values[field] += by
    v = values
    if large:
        out += struct.pack("<4sQHHIIQQQQ", b"PK\6\6", v["record"], 45, 45, v["disk"], v["directory_disk"], v["here"],
                           v["entries"], v["size"], v["offset"])
        out += struct.pack("<4sIQI", b"PK\6\7", v["locator_disk"], v["at"], v["disks"])
    entries_, size, offset = plain or (number, len(directory), start)
    return out + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, entries_, entries_, size, offset, 0)


def record_behind_its_locator():
    """The end is the comment's beginning in the last bytes of a file; the record says a size that wraps around."""
    def parts(tail):
        entry = Entry("SKILL.md", SKILL + tail, method=STORED)
        return entry.local(), entry.central(0)

    local, central = parts(b"\0" * 42)
    at, locator_at = len(local) + len(central), len(local) - 42
    local, central = parts(
        struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
        + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), len(central) + 56))
    return local + central + struct.pack("<4sQHHIIQQQQ", b"PK\6\6", (locator_at - at - 12) % 2**64, 45, 45, 0, 0, 1, 1,
                                         len(central), len(local))


def skill(*more, **how):
    """An archive with a good SKILL.md and what else is given: entries, or names of files."""
    return archive(Entry("SKILL.md", SKILL), *(e if isinstance(e, Entry) else Entry(e, b"x") for e in more), **how)


def unicode_path(raw, says):
    body = struct.pack("<BI", 1, zlib.crc32(raw)) + says
    return struct.pack("<HH", 0x7075, len(body)) + body


def link(name, target):
    return Entry(name, target, mode=stat.S_IFLNK | 0o777)


def special(name, kind):
    return Entry(name, mode=kind | 0o644, method=STORED)


def by_zipfile(*files, top="", mode=None, streamed=False, zip64=False):
    """What Python's own writer makes: permission bits without a type."""
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.bytes = b""

        def writable(self):
            return True

        def write(self, piece):
            self.bytes += bytes(piece)
            return len(piece)

    out = Pipe() if streamed else io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in (("SKILL.md", SKILL), *files):
            info = zipfile.ZipInfo(top + name) if mode is not None or zip64 else top + name
            if mode is not None:
                info.external_attr = mode << 16
            if zip64:
                with made.open(info, "w", force_zip64=True) as entry:
                    entry.write(data)
            else:
                made.writestr(info, data)
    return out.bytes if streamed else out.getvalue()


def by_zip(*options):
    """What Info-ZIP makes, to a file or (with "-") to a pipe."""
    with tempfile.TemporaryDirectory() as place:
        for name, data in (("SKILL.md", SKILL), ("x", b"x" * 5000)):
            (pathlib.Path(place) / name).write_bytes(data)
        to_pipe = "-" in options
        flags = [o for o in options if o != "-"]
        done = subprocess.run(["zip", "-q", *flags, "-" if to_pipe else "made.zip", "SKILL.md", "x"], cwd=place,
                              stdout=subprocess.PIPE, check=True)
        return done.stdout if to_pipe else (pathlib.Path(place) / "made.zip").read_bytes()


def overlapping():
    """Many central entries that share one local header."""
    bomb = Entry("a", b"\0" * 500_000)
    shared = [Entry("a" * (i + 1), packed=bomb.packed, size=bomb.size, crc=bomb.crc, local_offset=0)
              for i in range(1, 100)]
    return archive(bomb, *shared, Entry("SKILL.md", SKILL))


def accepted():
    run = Entry("scripts/run.sh", b"#!/bin/sh\n", mode=stat.S_IFREG | 0o755)
    yield "at-the-top.zip", "at-the-top", skill(run, "a/b/c.txt")
    yield "in-a-folder.skill", "folder", archive(
        Entry("folder/", mode=stat.S_IFDIR | 0o755, dos=0x10), Entry("folder/SKILL.md", SKILL),
        Entry("folder/assets/x", b"x"))
    yield "folder-without-entry.zip", "top", archive(Entry("top/SKILL.md", SKILL), Entry("top/y", b"y"))
    yield "Upper.ZIP", "Upper", skill()
    yield "python-writestr.zip", "python-writestr", by_zipfile(("data/x", b"x"))
    yield "python-writestr-folder.zip", "demo", by_zipfile(("x", b"x"), top="demo/")
    yield "python-streamed.zip", "python-streamed", by_zipfile(("x", b"x" * 10_000), streamed=True)
    yield "python-zip64.zip", "python-zip64", by_zipfile(("x", b"x"), zip64=True)
    yield "no-mode-at-all.zip", "no-mode-at-all", by_zipfile(("x", b"x"), mode=0)
    yield "dos.zip", "dos", archive(*(Entry(n, d, system=0, mode=0, dos=0x20) for n, d in (
        ("SKILL.md", SKILL), ("x", b"x"))))
    yield "stored.zip", "stored", archive(Entry("SKILL.md", SKILL, method=STORED), Entry("x", b"x", method=STORED))
    yield "empty-file.zip", "empty-file", skill(Entry("empty", method=STORED), Entry("empty-deflated"))
    yield "empty-folder.zip", "empty-folder", skill(Entry("e/", mode=stat.S_IFDIR | 0o755))
    yield "set-user-id.zip", "set-user-id", skill(Entry("x", b"x", mode=stat.S_IFREG | 0o6755))
    yield "mac.zip", "folder", archive(
        Entry("folder/SKILL.md", SKILL), Entry("__MACOSX/folder/._SKILL.md", b"fork"), Entry("folder/.DS_Store", b"x"),
        Entry("folder/._x", b"fork"), Entry(".DS_Store", b"x"))
    yield "git.zip", "git", skill(Entry(".git/config", b"x"))
    yield "hidden-files.zip", "hidden-files", skill(".gitignore", ".github/x")
    yield "unicode.zip", "unicode", skill("技能/é.txt", "e\u0301tude/x", "мой.md")
    yield "unicode-path-same.zip", "unicode-path-same", skill(
        Entry("x", b"x", extra=unicode_path(b"x", b"x"), local_extra=unicode_path(b"x", b"x")))
    yield "comment.zip", "comment", skill(comment=b"with a comment")
    yield "nested.zip", "nested", skill(Entry("inner.zip", skill(link("l", b"/etc/passwd"))))
    yield "nested-skill.zip", "nested-skill", skill(Entry("sub/SKILL.md", SKILL))
    yield "no-frontmatter.zip", "no-frontmatter", archive(Entry("SKILL.md", b"# only text\n"))
    yield "depth-16.zip", "depth-16", skill("/".join("d" * 15) + "/f")
    yield "name-255.zip", "name-255", skill("n" * 255)
    yield "entries-2000.zip", "entries-2000", skill(*(f"d/{i}" for i in range(1999)))
    yield "near-names.zip", "near-names", skill("e", "é", "a.txt", "a-txt", "2", "²", "fi", "ｆｉ")
    yield "My skill (1).zip", "My skill (1)", skill()
    yield "..hidden..zip", "hidden", skill()
    main_file, other = Entry("SKILL.md", SKILL), Entry("x", b"x" * 50)
    for name, marked, wide in (("marked", True, False), ("bare", False, False), ("marked-wide", True, True),
                               ("bare-wide", False, True)):
        yield f"descriptor-{name}.zip", f"descriptor-{name}", archive(
            main_file, streamed("x", b"x" * 50, marked=marked, wide=wide))
    # As `zip -fd` has it: the size is known before the data is packed.
    yield "descriptor-size-known.zip", "descriptor-size-known", archive(
        streamed("SKILL.md", SKILL, knows=(False, False, True)), streamed("x", b"x" * 50, knows=(True, True, True)))
    yield "large.zip", "large", ended(main_file, other, large=True)
    yield "large-only.zip", "large-only", ended(
        main_file, other, large=True, plain=(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF))
    if shutil.which("zip"):
        yield "zip-fd.zip", "zip-fd", by_zip("-fd")
        yield "zip-piped.zip", "zip-piped", by_zip("-", "-fz-")


def refused_whole():
    """What is wrong with the archive as such."""
    good = skill("x", "y")
    yield "empty.zip", "not-a-zip", b""
    yield "text.zip", "not-a-zip", b"# A skill\n" * 100
    yield "one-byte.zip", "not-a-zip", b"P"
    yield "no-entries.zip", "no-skill-file", archive()
    yield "cut-in-data.zip", "truncated", good[:60]
    yield "cut-in-directory.zip", "truncated", good[:-40]
    yield "cut-in-end.zip", "truncated", good[:-5]
    yield "junk-after.zip", "inconsistent", good + b"junk"
    yield "junk-before.zip", "inconsistent", b"#!/bin/sh\n" + good
    yield "two-archives.zip", "inconsistent", archive(Entry("evil", b"x")) + good
    inner = archive(Entry("SKILL.md", SKILL), Entry("evil", b"x"))
    yield "archive-in-comment.zip", "inconsistent", skill(comment=inner[-22:])
    yield "several-disks.zip", "multi-disk", skill("x", disk=1)
    yield "count-too-small.zip", "inconsistent", skill("x", "y", count=1)
    yield "count-too-large.zip", "inconsistent", skill("x", "y", count=9)
    yield "entries-2001.zip", "too-many-entries", skill(*(f"d/{i}" for i in range(2000)))
    yield "count-65534.zip", "too-many-entries", skill(count=65534)
    yield "overlapping.zip", "inconsistent", overlapping()


def refused_readings():
    """What readers begin at different ends of, or correct in different ways."""
    main_file, other, evil = Entry("SKILL.md", SKILL), Entry("x", b"x" * 50), Entry("evil", b"evil")
    first = archive(evil)
    yield "prefix-corrected.zip", ended(main_file, prefix=b"#!/bin/sh\n")
    yield "glued-corrected.zip", ended(main_file, prefix=first)
    yield "glued-in-comment.zip", archive(evil, comment=archive(main_file))
    hidden = archive(evil, comment=b"?" * len(archive(main_file)))
    yield "glued-in-comment-corrected.zip", (hidden[:-len(archive(main_file))]
                                             + ended(main_file, prefix=hidden[:-len(archive(main_file))])[
                                                 len(hidden) - len(archive(main_file)):])
    yield "two-ends.zip", skill() + archive()
    yield "end-in-comment-cut.zip", skill(comment=b"PK\5\6" + b"\0" * 30)
    yield "end-mark-in-comment.zip", skill(comment=b"see PK\5\6")
    yield "gap-before-end.zip", ended(main_file, other, gap=b"gap")
    yield "entry-before-end.zip", ended(main_file, other, gap=evil.central(0))
    yield "gap-in-directory.zip", ended(main_file, other, directory_gap=b"gap!")
    yield "entry-not-counted.zip", ended(main_file, other, count=1)
    yield "gap-between-entries.zip", archive(Entry("SKILL.md", SKILL, after=b"gap"), other)
    yield "entry-not-listed.zip", archive(Entry("SKILL.md", SKILL, after=evil.local()), other)
    for field, by in (("record", 4), ("here", 1), ("entries", 1), ("size", 1), ("offset", 1), ("offset", -1), ("at", 1)):
        yield f"large-{field}-{by}.zip", ended(main_file, other, large=True, **{field: by})
        yield f"large-only-{field}-{by}.zip", ended(
            main_file, other, large=True, plain=(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF), **{field: by})
    two = ended(main_file, prefix=evil.local() + evil.central(0))
    start = len(evil.local())
    yield "large-other-directory.zip", ended(
        main_file, large=True, prefix=two[:start + len(evil.central(0))], plain=(1, len(evil.central(0)), start))
    yield "large-behind-its-locator.zip", record_behind_its_locator()
    yield "large-less-entries.zip", ended(main_file, evil, large=True, plain=(1, len(main_file.central(0)), len(
        main_file.local() + evil.local())))
    yield "descriptor-missing.zip", archive(main_file, Entry(
        "x", b"x" * 50, flags=UTF8_NAME | 8, local_says=(0, 0, 0)))
    for field, lie in (("checksum", (1, 0, 0)), ("packed", (0, 1, 0)), ("size", (0, 0, 1))):
        for marked in (True, False):
            yield f"descriptor-{field}-{marked}.zip", archive(main_file, streamed("x", b"x" * 50, lie=lie, marked=marked))
    yield "descriptor-and-more.zip", archive(main_file, streamed("x", b"x" * 50, after=b"more"))
    yield "descriptor-local-lie.zip", archive(main_file, Entry(
        "x", b"x" * 50, flags=UTF8_NAME | 8, local_says=(0, 0, 51), after=streamed("x", b"x" * 50).after))
    yield "flags-differ.zip", archive(main_file, streamed("x", b"x" * 50)).replace(
        b"PK\1\2\x14\x03\x14\0\x08", b"PK\1\2\x14\x03\x14\0\0", 1)


def refused_disks():
    main_file = Entry("SKILL.md", SKILL)
    for field in ("disk", "directory_disk", "locator_disk", "disks"):
        yield f"large-{field}.zip", "multi-disk", ended(main_file, large=True, **{field: 1})


def refused_names():
    for name, refusal, path in (
            ("absolute", "absolute-name", "/etc/cron.d/x"), ("parent", "parent-component", "../evil"),
            ("parent-in-the-middle", "parent-component", "a/../../evil"), ("parent-at-the-end", "parent-component",
                                                                           "a/.."),
            ("dot", "dot-component", "./x"), ("empty-component", "empty-name", "a//b"),
            ("only-a-slash", "empty-name", Entry("", b"x")), ("backslash", "backslash", "..\\evil"),
            ("drive", "colon", "C:/evil"), ("stream", "colon", "x:stream"), ("newline", "control-character", "a\nb"),
            ("escape", "control-character", "a\x1b[2J"), ("delete", "control-character", "a\x7f"),
            ("nul", "control-character", "x\0.md"), ("latin1", "not-utf8", Entry(b"caf\xe9", b"x", flags=0)),
            ("surrogate", "not-utf8", Entry(b"\xed\xa0\x80", b"x")), ("overlong", "not-utf8", Entry(b"\xc0\xafx", b"x")),
            ("component-256", "component-too-long", "n" * 256), ("path-1025", "path-too-long", "a/" * 512 + "b"),
            ("path-5000", "path-too-long", "n" * 5000), ("depth-17", "too-deep", "d/" * 16 + "f"),
            ("in-ignored", "parent-component", "__MACOSX/../../evil")):
        yield f"name-{name}.zip", refusal, skill(path)
    yield "twice.zip", "duplicate", skill("x", "x")
    yield "skill-file-twice.zip", "duplicate", skill(Entry("SKILL.md", b"other"))
    yield "case.zip", "duplicate", skill("Readme.md", "README.md")
    yield "case-of-folder.zip", "duplicate", skill("Docs/a", "docs/b")
    yield "case-cyrillic.zip", "duplicate", skill("Мой", "мой")
    yield "composed.zip", "duplicate", skill("é", "e\u0301")
    for name, one, other in COLLISIONS:
        yield f"unicode-{name}.zip", "duplicate", skill(one, other)
    yield "composed-and-case.zip", "duplicate", skill("É/x", "e\u0301/y")
    yield "file-and-folder.zip", "file-and-directory", skill("a", "a/b")
    yield "folder-and-file.zip", "file-and-directory", skill("a/b", "a")
    yield "file-and-folder-case.zip", "file-and-directory", skill("A", "a/b")
    yield "central-and-local-name.zip", "inconsistent", skill(Entry("good", b"x", local_name=b"evil"))
    yield "unicode-path.zip", "name-mismatch", skill(Entry("good", b"x", extra=unicode_path(b"good", b"../evil")))
    yield "unicode-path-local.zip", "name-mismatch", skill(
        Entry("good", b"x", local_extra=unicode_path(b"good", b"../evil")))
    yield "unicode-path-both.zip", "name-mismatch", skill(
        Entry("good", b"x", extra=unicode_path(b"good", b"evil"), local_extra=unicode_path(b"good", b"evil")))
    yield "unicode-path-wrong-crc.zip", "name-mismatch", skill(
        Entry("good", b"x", extra=unicode_path(b"other", b"evil")))


def refused_content():
    yield "link.zip", "symlink", skill(link("l", b"/etc/passwd"))
    yield "link-inside.zip", "symlink", skill("x", link("l", b"x"))
    yield "link-then-through.zip", "symlink", skill(link("l", b"/tmp"), "l/evil")
    yield "skill-file-link.zip", "symlink", archive(link("SKILL.md", b"/etc/passwd"))
    for name, kind in (("fifo", stat.S_IFIFO), ("socket", stat.S_IFSOCK), ("block", stat.S_IFBLK),
                       ("char", stat.S_IFCHR), ("unknown-type", 0o030000)):
        yield f"{name}.zip", "special-file", skill(special("s", kind))
    yield "folder-without-slash.zip", "type-mismatch", skill(Entry("d", mode=stat.S_IFDIR | 0o755))
    yield "file-with-slash.zip", "type-mismatch", skill(Entry("f/", b"x"))
    yield "folder-with-data.zip", "type-mismatch", skill(Entry("d/", b"x" * 50, mode=0))
    yield "encrypted.zip", "encrypted", skill(Entry("x", b"x" * 20, method=STORED, flags=UTF8_NAME | 1))
    yield "strongly-encrypted.zip", "encrypted", skill(Entry("x", b"x" * 20, method=STORED, flags=UTF8_NAME | 0x41))
    for method in (1, 9, 12, 14, 93, 95, 99):
        yield f"method-{method}.zip", "compression-method", skill(Entry("x", b"x", packed=b"x", method=method))
    mib = 1024 * 1024
    yield "bomb.zip", "compression-ratio", skill(Entry("zeros", b"\0" * (2 * mib)))
    yield "bomb-and-file-too-large.zip", "file-too-large", skill(Entry("zeros", b"\0" * (33 * mib)))
    junk = random.Random(1).randbytes(mib // 4)
    yield "total-too-large.zip", "total-too-large", skill(
        *(Entry(f"f{i}", packed=junk, size=30 * mib) for i in range(3)))
    yield "size-4-gib.zip", "file-too-large", skill(Entry("x", b"x", size=0xFFFFFFFE))
    yield "larger-than-declared.zip", "size-mismatch", skill(Entry("x", b"\0" * (10 * mib), size=10))
    yield "smaller-than-declared.zip", "size-mismatch", skill(Entry("x", b"y" * 100, size=1000))
    yield "wrong-checksum.zip", "bad-checksum", skill(Entry("x", b"x" * 100, crc=1))
    yield "wrong-checksum-stored.zip", "bad-checksum", skill(Entry("x", b"x" * 100, crc=1, method=STORED))
    yield "broken-data.zip", "bad-data", skill(Entry("x", size=100, packed=b"\xff" * 40))
    yield "data-ends-early.zip", "bad-checksum", skill(Entry("x", b"", size=1000, packed=Entry(
        "x", random.Random(2).randbytes(1000)).packed[:500]))


def refused_layout():
    yield "no-skill.zip", "no-skill-file", archive(Entry("README.md", b"x"))
    yield "skill-too-deep.zip", "no-skill-file", archive(Entry("a/b/SKILL.md", SKILL))
    yield "only-ignored.zip", "no-skill-file", archive(Entry("__MACOSX/SKILL.md", SKILL))
    yield "folder-named-skill.zip", "no-skill-file", archive(Entry("SKILL.md/", mode=stat.S_IFDIR | 0o755))
    yield "repository.zip", "repository", skill(Entry("HEAD", b"ref: x"), Entry("objects/1", b"x"))
    yield "repository-inside.zip", "repository", skill(Entry("deep/g/commondir", b"x"), Entry("deep/g/head", b"x"))
    yield "repository-by-alias.zip", "repository", skill(Entry("g/HEAD.", b"ref: x"), Entry("g/Objects/1", b"x"))
    yield "hidden-name-by-alias.zip", "protected-name", skill(Entry("x/.perstack./key", b"x"))
    yield "hooks-of-an-editor.zip", "protected-name", skill(Entry("deep/.vscode/tasks.json", b"{}"))
    yield "protected-folder.zip", "protected-name", skill(Entry(".Claude/", mode=stat.S_IFDIR | 0o755))
    yield "protected-file.zip", "protected-name", skill(Entry("x/.envrc", b"x"))
    yield "lower-case.zip", "skill-file-case", archive(Entry("skill.md", SKILL))
    yield "lower-case-in-folder.zip", "skill-file-case", archive(Entry("a/Skill.md", SKILL))
    yield "several.zip", "several-skills", archive(Entry("a/SKILL.md", SKILL), Entry("b/SKILL.md", SKILL))
    yield "beside.zip", "beside-skill", archive(Entry("a/SKILL.md", SKILL), Entry("README.md", b"x"))
    yield "beside-folder.zip", "beside-skill", archive(Entry("a/SKILL.md", SKILL), Entry("b/x", b"x"))


def check_accepted(path):
    """Judges by others; returns the tree that has to arrive."""
    rows = []
    with zipfile.ZipFile(path) as made:
        if made.testzip() is not None:
            raise SystemExit(f"{path}: zipfile finds a bad entry")
        names = [i for i in made.infolist() if not any(
            part in IGNORED or part.startswith("._") for part in i.filename.split("/"))]
        at_top = any(i.filename == "SKILL.md" for i in names)
        for info in names:
            path_inside = info.filename if at_top else info.filename.split("/", 1)[1]
            if not info.is_dir():
                mode = 0o755 if info.external_attr >> 16 & 0o100 else 0o644
                data = made.read(info)
                rows.append(f"{mode:o} {len(data)} {zlib.crc32(data):08x} {path_inside}\n")
    if shutil.which("unzip"):
        done = subprocess.run(["unzip", "-tqq", path], capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{path}: unzip -t says {done.stdout!r} {done.stderr!r}")
    # bsdtar composes names; what a skill may be called has one spelling in either form.
    readings = {judge: read(path) and sorted((unicodedata.normalize("NFC", n), c) for n, c in read(path))
                for judge, read in JUDGES.items() if shutil.which(judge)}
    if any(reading != readings["python3"] for reading in readings.values()):
        raise SystemExit(f"{path}: the judges read different things: {readings}")
    return "".join(sorted(rows, key=lambda row: row.split(" ", 3)[3].encode()))


def read_by_zipfile(path):
    """Names and contents, or nothing where a judge refuses or complains."""
    try:
        with zipfile.ZipFile(path) as made:
            return sorted((i.filename, zlib.crc32(made.read(i))) for i in made.infolist() if not i.is_dir())
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OSError, zlib.error):
        return None


def read_by_unzip(path):
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(["unzip", "-qq", "-o", path, "-d", place], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
        if done.returncode > 1:  # 1: warnings, and it goes on
            return None
        top = pathlib.Path(place)
        return sorted((str(f.relative_to(top)), zlib.crc32(f.read_bytes())) for f in top.rglob("*") if f.is_file())


def read_by_bsdtar(path):
    done = subprocess.run(["bsdtar", "-cf", "-", "--format=pax", f"@{path}"], capture_output=True, check=False,
                          env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
    if done.returncode != 0:
        return None
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as made:
        return sorted((f.name, zlib.crc32(made.extractfile(f).read())) for f in made if f.isfile())


JUDGES = {"python3": read_by_zipfile, "unzip": read_by_unzip, "bsdtar": read_by_bsdtar}


def check_readings(directory, names):
    """The control: of what is refused for it, the judges do read some differently."""
    judges = {judge: read for judge, read in JUDGES.items() if shutil.which(judge)}
    apart = [name for name in names if len({str(read(directory / name)) for read in judges.values()}) > 1]
    if len(judges) == len(JUDGES) and len(apart) < 10:
        raise SystemExit(f"the judges agree about nearly everything that is refused: only {apart} differ")
    (directory / "readings.txt").write_text("".join(f"{name}\n" for name in apart))


def is_ignorable(point):
    """Default_Ignorable_Code_Point, for the characters that Python's tables have."""
    letter = chr(point)
    drawn = range(0x600, 0x606), range(0x890, 0x892), range(0xFFF9, 0xFFFC), range(0x13430, 0x13456), (0x6DD, 0x70F, 0x8E2, 0x110BD, 0x110CD)
    others = range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)
    return unicodedata.category(letter) == "Cf" and not any(point in each for each in drawn) or any(point in each for each in others)


def folding():
    """Of each character that Unicode has: what it folds to, for a canonical caseless match (definition D145)."""
    for point in range(0x110000):
        letter = chr(point)
        if unicodedata.category(letter) in ("Cn", "Cs", "Co"):
            continue
        folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", letter).casefold())
        yield f"{point:x}\t{'' if is_ignorable(point) else folded.encode().hex()}\n"


def main(directory, table):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, skill_id, content in accepted():
        (directory / name).write_bytes(content)
        (directory / (name + ".tree")).write_text(check_accepted(directory / name))
        rows.append(f"{name}\tok\t{skill_id}\n")
    for cases in (refused_whole(), refused_disks(), refused_names(), refused_content(), refused_layout()):
        for name, refusal, content in cases:
            (directory / name).write_bytes(content)
            rows.append(f"{name}\t{refusal}\t\n")
    apart = []
    for name, content in refused_readings():
        (directory / name).write_bytes(content)
        rows.append(f"{name}\tinconsistent\t\n")
        apart.append(name)
    check_readings(directory, apart)
    names = [row.split("\t")[0] for row in rows]
    assert len(set(names)) == len(names)
    (directory / "folding.tsv").write_text("".join(folding()))
    pathlib.Path(table).write_text("".join(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
