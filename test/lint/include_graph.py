#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the include graph: which public header may include which, and who may touch the kernel and JSON.

Anything that is not listed is refused, so a new component has to say where it belongs.
"""
import pathlib
import re
import sys

from sources import code_only, files, report

VOCABULARY = {"config", "error", "result", "limits", "version"}
PURE = {"lexical_path", "text_edit", "mime", "frontmatter", "todo", "environment", "protected_names"}
KERNEL = {"root", "file_descriptor", "work_bounds"}
LAYERS_1_TO_3 = VOCABULARY | PURE | KERNEL | {
    "allowed_file", "file", "directory", "command", "confinement", "frontmatter_yaml", "skill", "skill_prompt", "skill_store",
    "workspace"}
PROTOCOL = VOCABULARY | {"mcp/json", "mcp/json_rpc", "mcp/tool", "file_descriptor"}
SKILL_INTERFACE = {"skill_manager/config", "skill_manager/manager"}

# header -> public headers it may include, `detail/` aside (every header may include detail/, detail/ only vocabulary)
ALLOWED = {
    **{name: VOCABULARY for name in VOCABULARY | PURE},
    "file_descriptor": VOCABULARY,
    "work_bounds": VOCABULARY,
    "root": VOCABULARY | {"file_descriptor", "protected_names"},
    "file": VOCABULARY | KERNEL | {"text_edit"},
    "directory": VOCABULARY | KERNEL,
    "confinement": VOCABULARY | KERNEL | {"protected_names"},
    "command": VOCABULARY | KERNEL | {"confinement"},
    "allowed_file": VOCABULARY | KERNEL | {"file"},
    "frontmatter_yaml": VOCABULARY | {"frontmatter"},
    "skill": VOCABULARY | {"frontmatter"},
    "skill_store": VOCABULARY | KERNEL | {"frontmatter", "file", "directory", "skill"},
    "skill_prompt": VOCABULARY | {"skill"},
    "workspace": LAYERS_1_TO_3,
    "mcp/json": VOCABULARY,
    "mcp/content": VOCABULARY | {"mcp/json"},
    "mcp/json_rpc": VOCABULARY | {"mcp/json"},
    "mcp/tool": VOCABULARY | {"mcp/json"},
    "mcp/extension": VOCABULARY | {"mcp/json", "mcp/json_rpc", "mcp/tool"},
    "mcp/server": PROTOCOL | {"mcp/extension"},
    "mcp/stdio_transport": PROTOCOL | {"mcp/server"},
    "mcp/http_server": PROTOCOL | {"mcp/server"},
    "mcp/client": PROTOCOL | {"command"},
    "mcp/skills": LAYERS_1_TO_3 | {"mcp/json", "mcp/extension", "mcp/tool", "mcp/server"},
    "mcp/workspace_tools": LAYERS_1_TO_3 | {"mcp/json", "mcp/tool", "mcp/server"},
    **{f"skill_manager/{name}": VOCABULARY | {"mcp/client", "mcp/json", "mcp/tool"} | SKILL_INTERFACE
       for name in ("config", "manager", "mcp_skill", "interactive_skill", "delegate_skill")},
    **{f"skill_manager/{name}": VOCABULARY | KERNEL | {"mcp/workspace_tools"} | SKILL_INTERFACE
       for name in ("base_skill", "skill_set")},
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>]+>|"[^"]+")', re.MULTILINE)
# A C library or kernel header: <name.h> with no folder, <sys/…>, <linux/…>.
SYSTEM_HEADER = re.compile(r"<(?:[a-z_0-9]+\.h|(?:sys|linux|asm|netinet|arpa)/[a-z_0-9/]+\.h)>")
# Outside src/sys these give constants and types only (flags, modes, errno values, struct iovec).
CONSTANTS_ONLY = {"<dirent.h>", "<fcntl.h>", "<linux/audit.h>", "<linux/filter.h>", "<linux/fs.h>", "<linux/magic.h>",
                  "<linux/openat2.h>", "<linux/seccomp.h>", "<poll.h>", "<signal.h>", "<sys/socket.h>", "<sys/stat.h>",
                  "<sys/syscall.h>", "<sys/uio.h>", "<sys/wait.h>"}
# Libraries that look like the C library's headers and make no system calls of their own.
LIBRARIES = {"<emmintrin.h>", "<yaml.h>", "<zip.h>"}
FORBIDDEN_IN_PUBLIC = re.compile(r"<(?:filesystem|iostream|regex|simdjson.*|gsl/(?!assert>).*|.*\.h)>")
# A call through the global namespace: how system calls are written.
GLOBAL_CALL = re.compile(r"(?<![\w>:])::(?!new\b|operator\b)([a-z_]\w*)\s*\(")


def check_public(top, header, problems):
    relative = header.relative_to(top / "include/paddock")
    name = relative.with_suffix("").as_posix()
    is_detail = "detail" in relative.parts
    if name not in ALLOWED and not is_detail:
        problems.append(f"include/paddock/{relative}: not in the table of test/lint/include_graph.py")
        return
    allowed = VOCABULARY if is_detail else ALLOWED[name]
    for included in INCLUDE.findall(header.read_text()):
        target = re.fullmatch(r"<paddock/(.+)\.hpp>", included)
        if included.startswith('"'):
            problems.append(f"{relative}: public headers include with <>, not {included}")
        elif target and target[1] != name and target[1] not in allowed and "detail/" not in target[1]:
            problems.append(f"{relative}: may not include {included}")
        elif FORBIDDEN_IN_PUBLIC.fullmatch(included):
            problems.append(f"{relative}: {included} is too heavy or too close to the kernel for a public header")


def check_source(top, source, problems):
    relative = source.relative_to(top)
    in_sys, in_mcp = relative.is_relative_to("src/sys"), relative.is_relative_to("src/mcp")
    in_protocol = in_mcp or relative.is_relative_to("src/skill_manager")
    text = source.read_text()
    for included in INCLUDE.findall(text):
        if "simdjson" in included and not (in_mcp and source.suffix == ".cpp"):
            problems.append(f"{relative}: simdjson belongs into src/mcp/*.cpp only")
        if re.search(r"[<\"/]mcp/", included) and not in_protocol:
            problems.append(f"{relative}: nothing below the protocol knows {included}")
        if not in_sys and SYSTEM_HEADER.fullmatch(included) and "simdjson" not in included \
                and included not in CONSTANTS_ONLY | LIBRARIES:
            problems.append(f"{relative}: {included} belongs into src/sys")
    if not in_sys:
        code = code_only(text)
        for call in GLOBAL_CALL.finditer(code):
            line = code.count("\n", 0, call.start()) + 1
            problems.append(f"{relative}:{line}: ::{call[1]}() looks like a system call, which belongs into src/sys")


def main(top):
    top, problems = pathlib.Path(top), []
    for header in files(top, ["include/paddock"], {".hpp"}):
        check_public(top, header, problems)
    for source in files(top, ["src"], {".cpp", ".hpp"}):
        check_source(top, source, problems)
    for outside in files(top, ["tools", "bench"], {".cpp", ".hpp"}):
        for included in INCLUDE.findall(outside.read_text()):
            # exec_protocol.hpp is what the library and its helper program agree on.
            if re.search(r"[<\"/]sys/(?!exec_protocol)\w+\.hpp", included):
                problems.append(f"{outside.relative_to(top)}: src/sys is included by src/*.cpp only")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
