# SPDX-License-Identifier: MIT
"""What libzip's own build generates: the list of sources, and the table of error texts from the comments of its headers."""
import pathlib
import re
import sys


def sources(cmake):
    block = re.search(r"add_library\(zip\n(.*?)\n  \$\{", pathlib.Path(cmake).read_text(), re.S)[1]
    print("\n".join(block.split()))


def errors(public, private):
    def rows(header, name, kinds):
        pattern = rf"#define {name}_[A-Z0-9_]+ \d+\s+/\* ([{kinds}]+) ([-0-9a-zA-Z, ']+?)\s*\*/"
        return "".join(f'    {{ {kind}, "{text}" }},\n' for kind, text in re.findall(pattern, pathlib.Path(header).read_text()))

    print('#include "zipint.h"\n')
    for short, long in zip("LNSZEG", ("ZIP_ET_LIBZIP", "ZIP_ET_NONE", "ZIP_ET_SYS", "ZIP_ET_ZLIB", "ZIP_DETAIL_ET_ENTRY", "ZIP_DETAIL_ET_GLOBAL")):
        print(f"#define {short} {long}")
    for table, header, name, kinds in (("_zip_err_str", public, "ZIP_ER", "LNSZ"), ("_zip_err_details", private, "ZIP_ER_DETAIL", "EG")):
        print(f"\nconst struct _zip_err_info {table}[] = {{\n{rows(header, name, kinds)}}};\n")
        print(f"const int {table}_count = sizeof({table}) / sizeof({table}[0]);")


{"sources": sources, "errors": errors}[sys.argv[1]](*sys.argv[2:])
