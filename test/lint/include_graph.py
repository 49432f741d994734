#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the rooms and their arrows: which folder may include which, and who may touch the kernel and JSON.

A room is a folder of src and tools together with the public headers of the same name. A room that is not listed is refused, so a
new one has to say where it belongs. docs/architecture.md draws this table. Within a room, files do not include each other in a ring.
"""
import pathlib
import re
import sys

from sources import code_only, files, report

# room -> the rooms it may include, each of them listed before it: arrows lead downward only
ROOMS = {
    "base": [],
    "sys": ["base"],
    "text": ["base"],
    "mime": ["base"],
    "frontmatter": ["base"],
    "todo": ["base"],
    "path": ["base", "sys"],
    "file": ["base", "sys", "path", "text"],
    "change": ["base", "sys", "path", "file"],
    "search": ["base", "sys", "path", "file", "text"],
    "history": ["base", "sys", "path", "file", "change", "search"],
    "exec/protocol": [],
    "exec/helper/policy": ["exec/protocol"],
    "exec/helper/runtime": ["exec/helper/policy"],
    "exec/helper/root": ["exec/protocol", "exec/helper/policy", "exec/helper/runtime"],
    "exec/helper": ["exec/protocol", "exec/helper/policy", "exec/helper/runtime", "exec/helper/root"],
    "exec/protection": ["base", "sys", "path", "file", "exec/protocol"],
    "exec/broker": ["base", "sys", "path", "exec/protocol", "exec/protection"],
    "exec": ["base", "sys", "path", "exec/protocol", "exec/protection", "exec/broker"],
    "skill": ["base", "sys", "path", "file", "frontmatter"],
    "crypto": ["base"],
    "http": ["base"],
    "egress": ["base", "sys", "path", "http", "exec/protocol", "exec"],
    "http/server": ["base", "crypto", "sys", "http"],
    "mcp/json": ["base"],
    "mcp/protocol": ["base", "crypto", "sys", "text", "http", "mcp/json"],
    "mcp/server": ["base", "sys", "text", "mcp/json", "mcp/protocol"],
    "mcp/stdio": ["base", "sys", "mcp/json", "mcp/protocol", "mcp/server"],
    "mcp/http": ["base", "sys", "text", "http", "http/server", "mcp/json", "mcp/protocol", "mcp/server"],
    "mcp/tools": ["base", "crypto", "sys", "path", "file", "change", "search", "history", "text", "mime", "todo", "exec", "mcp/json", "mcp/protocol", "mcp/server"],
    "mcp/skills": ["base", "crypto", "path", "file", "text", "mime", "frontmatter", "skill", "mcp/json", "mcp/protocol", "mcp/server", "mcp/tools"],
    "mcp/client": ["base", "sys", "exec", "mcp/json", "mcp/protocol", "mcp/stdio"],
    "mcp/client/http/transfer": ["base", "sys", "http", "mcp/protocol", "mcp/client"],
    "mcp/client/http": ["base", "sys", "http", "mcp/json", "mcp/protocol", "mcp/client", "mcp/client/http/transfer"],
    "skill_manager/config": ["base", "sys", "path", "exec", "mcp/json", "mcp/client"],
    "skill_manager": ["base", "sys", "path", "text", "exec", "mcp/json", "mcp/protocol", "mcp/server", "mcp/tools", "mcp/client",
                      "skill_manager/config"],
    "capi": ["public"],
    "tools/common": ["public"],
    "tools/page": ["public", "crypto", "http", "http/server", "tools/common"],
    "tools/review_page": ["public", "crypto", "http/server", "tools/common", "tools/page"],
    "tools/skills_page": ["public", "http/server", "tools/common", "tools/page"],
    "tools/adapter": ["public", "tools/common"],
    "tools/cli/doctor": ["public", "tools/common"],
    "tools/cli/experts": ["public", "http/server", "tools/common"],
    "tools/cli/search": ["public", "tools/common"],
    "tools/cli/skills": ["public", "tools/common", "tools/skills_page"],
    "tools/cli/undo": ["public", "tools/common", "tools/cli/search"],
    "tools/cli": ["public", "mcp/tools", "tools/common", "tools/review_page", "tools/cli/doctor", "tools/cli/experts", "tools/cli/search", "tools/cli/skills",
                  "tools/cli/undo"],
}
# Public headers of a folder with several rooms, whose room is not that of a source with their name.
HEADERS = {"file/change_set": "change", "exec/confinement_layers": "exec/protocol", "mcp/extension": "mcp/protocol", "mcp/json": "mcp/json",
           "mcp/skills": "mcp/skills", "skill_manager/config": "skill_manager/config"}
# The exec helper is a program of its own, without the C++ library and with system calls of its own.
HELPER = ("exec/helper", "exec/protocol")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>]+>|"[^"]+")', re.MULTILINE)
# A C library or kernel header: <name.h> with no folder, <sys/…>, <linux/…>.
SYSTEM_HEADER = re.compile(r"<(?:[a-z_0-9]+\.h|(?:sys|linux|asm|netinet|arpa)/[a-z_0-9/]+\.h)>")
# Outside src/sys these give constants and types only (flags, modes, errno values, struct iovec).
CONSTANTS_ONLY = {"<dirent.h>", "<fcntl.h>", "<linux/audit.h>", "<linux/filter.h>", "<linux/fs.h>", "<linux/magic.h>",
                  "<linux/openat2.h>", "<linux/seccomp.h>", "<poll.h>", "<signal.h>", "<sys/socket.h>", "<sys/stat.h>",
                  "<sys/syscall.h>", "<sys/uio.h>", "<sys/wait.h>"}
# Libraries that look like the C library's headers and make no system calls of their own.
LIBRARIES = {"<emmintrin.h>", "<immintrin.h>", "<sodium.h>", "<utf8proc.h>", "<xxhash.h>", "<yaml.h>", "<zip.h>"}
FORBIDDEN_IN_PUBLIC = re.compile(r"<(?:filesystem|iostream|regex|simdjson.*|gsl/(?!assert>).*|.*\.h)>")
# A call through the global namespace: how system calls are written.
GLOBAL_CALL = re.compile(r"(?<![\w>:])::(?!new\b|operator\b)([a-z_]\w*)\s*\(")


def room_of(top, path):
    """The room of a file, given relative to the top of the tree; None: in none, as configuration and umbrella headers."""
    folder = [part for part in path.parts[:-1] if part != "detail"]
    if folder[0] == "tools":
        return "/".join(folder)
    folder = folder[1:] if folder[0] == "src" else folder[2:]
    if (header := "/".join([*folder, path.stem])) in HEADERS and path.parts[0] == "include":
        return HEADERS[header]
    if folder == ["mcp"]:
        sources = [source.parent.name for source in sorted(top.glob(f"src/mcp/*/{path.stem}.cpp"))]
        return f"mcp/{sources[0] if sources else '?'}"
    return "/".join(folder) or None


def target_of(top, source, included):
    """The file that an #include means, relative to the top; None: none of the project's."""
    name = pathlib.PurePosixPath(included[1:-1])
    beside = [source.parent.relative_to(top)] if included.startswith('"') else []
    for folder in [*beside, pathlib.PurePosixPath("include"), pathlib.PurePosixPath("src"), pathlib.PurePosixPath("tools")]:
        if (top / folder / name).is_file():
            return pathlib.PurePosixPath(folder / name)
    return None


def check_arrows(top, source, problems):
    relative = source.relative_to(top)
    room = room_of(top, relative)
    if room not in ROOMS and not (room is None and relative.parts[0] == "include"):
        problems.append(f"{relative}: the room {room} is not in the table of test/lint/include_graph.py")
        return
    for included in INCLUDE.findall(source.read_text()):
        target = target_of(top, source, included)
        if target is None or room is None:
            continue
        sees_public = relative.parts[0] == "tools" or room == "capi"
        other = "public" if sees_public and target.parts[0] == "include" else room_of(top, target)
        if other not in (None, room, *ROOMS[room]):
            problems.append(f"{relative}: {room} may not include {included} of {other}")


def check_rings(top, sources, problems):
    """A header and the source of its name count as one; a public header is an interface, which its source may include."""
    graph = {}
    for source in sources:
        relative = source.relative_to(top)
        targets = [target_of(top, source, included) for included in INCLUDE.findall(source.read_text())]
        beside = {target.with_suffix("") for target in targets if target and room_of(top, target) == room_of(top, relative)}
        graph.setdefault(relative.with_suffix(""), set()).update(beside - {relative.with_suffix("")})

    def below(module):
        found, ahead = set(), [module]
        while ahead:
            new = graph.get(ahead.pop(), set()) - found
            found |= new
            ahead += new
        return found

    reached = {module: below(module) for module in graph}
    rings = {tuple(sorted(str(other) for other in under if module in reached.get(other, ()))) for module, under in reached.items()}
    problems += [f"include each other in a ring: {', '.join(ring)}" for ring in sorted(rings) if ring]


def check_public(top, header, problems):
    relative = header.relative_to(top / "include/paddock")
    for included in INCLUDE.findall(header.read_text()):
        if included.startswith('"'):
            problems.append(f"{relative}: public headers include with <>, not {included}")
        elif FORBIDDEN_IN_PUBLIC.fullmatch(included):
            problems.append(f"{relative}: {included} is too heavy or too close to the kernel for a public header")


def check_source(top, source, problems):
    relative = source.relative_to(top)
    room = room_of(top, relative) or ""
    may_call = room == "sys" or room.startswith(HELPER)
    text = source.read_text()
    for included in INCLUDE.findall(text):
        if "simdjson" in included and not (room.startswith("mcp/") and source.suffix == ".cpp"):
            problems.append(f"{relative}: simdjson belongs into src/mcp/*.cpp only")
        if not may_call and SYSTEM_HEADER.fullmatch(included) and "simdjson" not in included \
                and included not in CONSTANTS_ONLY | LIBRARIES:
            problems.append(f"{relative}: {included} belongs into src/sys")
    if not may_call:
        code = code_only(text)
        for call in GLOBAL_CALL.finditer(code):
            line = code.count("\n", 0, call.start()) + 1
            problems.append(f"{relative}:{line}: ::{call[1]}() looks like a system call, which belongs into src/sys")


def main(top):
    top, problems = pathlib.Path(top), []
    listed = list(ROOMS)
    for room, below in ROOMS.items():
        problems += [f"{room}: {each} is not above it in the table" for each in below
                     if each != "public" and each not in listed[:listed.index(room)]]
    listed_headers = top / "include/meson.build"
    listed_headers = listed_headers.read_text() if listed_headers.exists() else None
    for header in files(top, ["include/paddock"], {".hpp"}):
        name = header.relative_to(top / "include").as_posix()
        if listed_headers is not None and f"'{name}'" not in listed_headers:
            problems.append(f"{name}: include/meson.build does not list it, so that it is not installed")
        check_public(top, header, problems)
        check_arrows(top, header, problems)
    for source in files(top, ["src"], {".cpp", ".hpp"}):
        check_source(top, source, problems)
        check_arrows(top, source, problems)
    for source in files(top, ["tools"], {".cpp", ".hpp"}):
        check_arrows(top, source, problems)
    check_rings(top, files(top, ["include/paddock", "src", "tools"], {".cpp", ".hpp"}), problems)
    for outside in files(top, ["bench"], {".cpp", ".hpp"}):
        for included in INCLUDE.findall(outside.read_text()):
            if re.search(r"[<\"/]sys/\w+\.hpp", included):
                problems.append(f"{outside.relative_to(top)}: src/sys is included by src/*.cpp only")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
