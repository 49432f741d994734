# SPDX-License-Identifier: MIT
"""The bundle that MCP hosts install, and what a registry of MCP servers is told of it."""
import hashlib
import json
import math
import os
import re
import struct
import time
import zipfile
import zlib

from . import common, static

SUMMARY = "A workspace that an agent cannot leave: seventeen tools for files and confined commands"
ICON_PIXELS = 512


def manifest(tools=()):
    """manifest.json of the bundle; `tools` as (name, description)."""
    made = {
        "manifest_version": "0.3",
        "name": "paddock",
        "display_name": "Paddock",
        "version": common.version(),
        "description": SUMMARY,
        "long_description": "The agent reads, writes, edits, moves and lists files in one directory and runs commands that change "
                            "nothing outside of it. The fence is held by the kernel: Linux only.",
        "author": {"name": "The authors of Paddock"},
        "license": "MIT",
        "icon": "icon.png",
        "server": {
            "type": "binary",
            "entry_point": "server/paddock-mcp",
            "mcp_config": {
                "command": "${__dirname}/server/paddock-mcp",
                "args": ["--workspace", "${user_config.workspace}"],
                "env": {},
            },
        },
        "tools": [{"name": name, "description": description} for name, description in tools],
        "keywords": ["files", "commands", "sandbox", "workspace"],
        "compatibility": {"platforms": ["linux"]},
        "user_config": {
            "workspace": {
                "type": "directory",
                "title": "Workspace",
                "description": "The directory that the agent works in. It cannot leave it.",
                "required": True,
            },
        },
    }
    return made if tools else {key: value for key, value in made.items() if key != "tools"}


def icon():
    """tools/page/assets/icon.svg as PNG: a square with round corners and straight lines with round ends."""
    svg = (common.TOP / "tools/page/assets/icon.svg").read_text()
    scale = ICON_PIXELS / float(re.search(r'viewBox="0 0 (\d+)', svg)[1])
    radius, half_line = (float(re.search(pattern, svg)[1]) * scale for pattern in (r'rx="([\d.]+)', r'stroke-width="([\d.]+)'))
    half_line /= 2
    color = bytes.fromhex(re.search(r'<rect[^>]* fill="#(\w{6})"', svg)[1]) + b"\xff"
    lines = [(float(x) * scale, float(y) * scale, float(length) * scale, way)
             for x, y, way, length in re.findall(r"M([\d.]+) ([\d.]+)([vh])([\d.]+)", svg)]
    pixels = [bytearray(color * ICON_PIXELS) for _ in range(ICON_PIXELS)]

    def covered(inside): # how much of a pixel lies within an edge, by the distance of its middle
        return min(max(inside + 0.5, 0.0), 1.0)

    for y in range(int(radius) + 1):
        for x in range(int(radius) + 1):
            alpha = round(255 * covered(radius - math.hypot(radius - x - 0.5, radius - y - 0.5)))
            for row in (y, -y - 1):
                for column in (x, ICON_PIXELS - 1 - x):
                    pixels[row][4 * column + 3] = alpha
    for x0, y0, length, way in lines:
        dx, dy = (length, 0) if way == "h" else (0, length)
        for y in range(int(y0 - half_line), int(y0 + dy + half_line) + 2):
            for x in range(int(x0 - half_line), int(x0 + dx + half_line) + 2):
                ax, ay = min(max(x + 0.5, x0), x0 + dx), min(max(y + 0.5, y0), y0 + dy)
                white = covered(half_line - math.hypot(x + 0.5 - ax, y + 0.5 - ay))
                at = slice(4 * x, 4 * x + 3)
                pixels[y][at] = bytes(max(old, round(part + (255 - part) * white)) for old, part in zip(pixels[y][at], color))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", ICON_PIXELS, ICON_PIXELS, 8, 6, 0, 0, 0)
    rows = b"".join(b"\0" + row for row in pixels) # no filter
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def make():
    programs = static.programs()
    listed = common.output(programs / "paddock-mcp", "--list-tools")
    tools = [line.split(maxsplit=1) for line in listed.splitlines()]
    content = {"manifest.json": (json.dumps(manifest(tools), indent=2) + "\n").encode(), "icon.png": icon(),
               "LICENSE": (common.TOP / "LICENSE").read_bytes(), "NOTICES": static.CONTAINED.encode()}
    content |= {f"server/{path.name}": path.read_bytes() for path in programs.iterdir()}
    bundle = common.OUT / "paddock.mcpb"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in sorted(content):
            member = zipfile.ZipInfo(name, time.gmtime(common.epoch())[:6])
            member.external_attr = (0o100755 if name.startswith("server/") else 0o100644) << 16
            member.create_system = 3 # the mode is a Unix one
            out.writestr(member, content[name], zipfile.ZIP_DEFLATED)
    yield bundle


def entry(bundle):
    """server.json for the bundle, published as a release of the repository that PADDOCK_REPOSITORY names."""
    repository = os.environ.get("PADDOCK_REPOSITORY", "")
    if not re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+", repository):
        raise common.Failed("server.json says where the bundle is published: set PADDOCK_REPOSITORY=OWNER/NAME")
    address = f"https://github.com/{repository}"
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github." + repository,
        "title": "Paddock",
        "description": SUMMARY,
        "version": common.version(),
        "repository": {"url": address, "source": "github"},
        "packages": [{
            "registryType": "mcpb",
            "identifier": f"{address}/releases/download/v{common.version()}/{bundle.name}",
            "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
            "transport": {"type": "stdio"},
        }],
    }


def make_entry():
    bundle = common.OUT / "paddock.mcpb"
    if not bundle.exists():
        list(make())
    target = common.OUT / "server.json"
    target.write_text(json.dumps(entry(bundle), indent=2) + "\n")
    yield target
