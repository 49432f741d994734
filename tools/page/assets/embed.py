#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of a page into a C++ source, as `assets()` of a namespace: embed.py NAMESPACE OUTPUT FILE..."""
import pathlib
import sys

CONTENT_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
                 ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
BYTES_PER_LINE = 32


def array(name, data):
    rows = [data[at:at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE)]
    text = "\n".join("".join(f"'\\x{byte:02x}'," for byte in row) for row in rows)
    return f"constexpr char {name}[] = {{\n{text}\n}};\n"


def main(namespace, output, *paths):
    files = sorted((pathlib.Path(path) for path in paths), key=lambda file: file.name)
    out = ['// Made by embed.py.\n#include "page/page.hpp"\n\n#include <span>\n\nnamespace paddock::' + namespace + " {",
           "[[nodiscard]] std::span<const page::asset> assets() noexcept;\nnamespace {\n"]
    out += [array(f"file_{i}", file.read_bytes()) for i, file in enumerate(files)]
    out.append("constexpr page::asset all[] = {")
    out += [f'  {{"{file.name}", "{CONTENT_TYPES[file.suffix]}", {{file_{i}, sizeof(file_{i})}}}},'
            for i, file in enumerate(files)]
    out.append("};\n\n} // namespace\n\nstd::span<const page::asset> assets() noexcept { return all; }\n")
    out.append("} // namespace paddock::" + namespace + "\n")
    pathlib.Path(output).write_text("\n".join(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
