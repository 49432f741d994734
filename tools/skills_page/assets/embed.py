#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of the page into a C++ source: embed.py OUTPUT FILE..."""
import pathlib
import sys

CONTENT_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
                 ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
BYTES_PER_LINE = 32


def array(name, data):
    rows = [data[at:at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE)]
    text = "\n".join("".join(f"'\\x{byte:02x}'," for byte in row) for row in rows)
    return f"constexpr char {name}[] = {{\n{text}\n}};\n"


def main(output, *paths):
    files = [pathlib.Path(path) for path in sorted(paths)]
    out = ['// Made by embed.py.\n#include "assets.hpp"\n\nnamespace paddock::skills_page {\nnamespace {\n']
    out += [array(f"file_{i}", file.read_bytes()) for i, file in enumerate(files)]
    out.append("constexpr asset all[] = {")
    out += [f'  {{"{file.name}", "{CONTENT_TYPES[file.suffix]}", {{file_{i}, sizeof(file_{i})}}}},'
            for i, file in enumerate(files)]
    out.append("};\n\n} // namespace\n\nstd::span<const asset> assets() noexcept { return all; }\n")
    out.append("} // namespace paddock::skills_page\n")
    pathlib.Path(output).write_text("\n".join(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
