# SPDX-License-Identifier: MIT
"""What curl's own build keeps: the list of sources, and the names of what a system may have."""
import pathlib
import re
import sys


def sources(makefile):
    text = pathlib.Path(makefile).read_text().replace("\\\n", " ")
    lists = dict(re.findall(r"^(LIB_(?!RC)\w*CFILES)\s*=(.*)$", text, re.M))
    print("\n".join(name for each in lists.values() for name in each.split()))


def headers(template):
    names = re.findall(r"^#cmakedefine HAVE_(\w+)_H 1$", pathlib.Path(template).read_text(), re.M)
    for name in names:
        path = re.sub(r"^(arpa|net|netinet|sys|linux)_", r"\1/", name.lower())
        print(f"HAVE_{name}_H {path}.h")


{"sources": sources, "headers": headers}[sys.argv[1]](sys.argv[2])
