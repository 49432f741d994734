# SPDX-License-Identifier: MIT
"""What the lint scripts share: which files there are, and C++ text without comments and strings."""
import pathlib
import re

# Longest first: raw strings, comments, strings, character literals (but not the separator in 10'000).
_NOT_CODE = re.compile(
    r'R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
_SKIPPED_FOLDERS = {"node_modules", "corpus", "golden", "__pycache__"}


def files(top, folders, suffixes):
    """The files below top/<folder> with one of the suffixes, sorted; corpora and installed packages left out."""
    for folder in folders:
        for path in sorted(pathlib.Path(top, folder).rglob("*")):
            relative = path.relative_to(top)
            if path.suffix in suffixes and path.is_file() and not _SKIPPED_FOLDERS & set(relative.parts):
                yield path


def code_only(text):
    """The same text, same line numbers, with comments and the inside of literals blanked."""
    def blank(match):
        keep = "".join("\n" if c == "\n" else " " for c in match[0])
        return keep if match[0].startswith("/") else '"' + keep[1:-1] + '"'
    return _NOT_CODE.sub(blank, text)


def without_preprocessor(code):
    """Code with preprocessor lines (and their continuations) blanked."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m[0].count("\n"), code, flags=re.MULTILINE)


def report(problems):
    """Prints the problems and gives the exit status."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
