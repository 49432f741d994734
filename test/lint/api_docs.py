#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference as Doxygen makes it of the public headers: its warnings are errors, and nothing public is left without a word.

usage: api_docs.py SOURCE_ROOT [--html DIRECTORY]

Every header and every function has a text; a function that returns a result says which errors it has, or whose. A function is excused
whose meaning is C++'s own (copying, moving, destroying, comparing), and an override, which keeps the promise of what it overrides.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from sources import report

OPERATORS = re.compile(r"operator\s*(?:=|==|!=|<=>|bool|\*|->)$")
RESULT = re.compile(r"(?:static |virtual |\[\[nodiscard\]\] )*(?:paddock::)?result\s*<")
ERRORS = re.compile(r"\b[Ee]rrors?\b|\bfail(?:s|ed|ure)?\b|\brefused?\b")


def run_doxygen(top, output, **switches):
    """Runs Doxygen; returns what it complained about, line by line."""
    values = {"VERSION": "", "INCLUDE": f"{top}/include", "OUTPUT": output, "HTML": "NO", "XML": "NO"} | switches
    template = pathlib.Path(__file__).with_name("Doxyfile.in").read_text()
    done = subprocess.run(["doxygen", "-"], input=re.sub(r"@(\w+)@", lambda m: str(values[m[1]]), template), cwd=top,
                          capture_output=True, text=True, timeout=300)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return complaints or ([f"doxygen failed with {done.returncode}"] if done.returncode else [])


def text_of(element):
    return " ".join("".join(part.itertext()) for tag in ("briefdescription", "detaileddescription") for part in element.findall(tag)).strip()


def is_excused(function, owner):
    name = function.findtext("name")
    return (OPERATORS.match(name) or name.lstrip("~") == owner or function.find("reimplements") is not None
            or "=delete" in function.findtext("argsstring") or "=default" in function.findtext("argsstring"))


def place_of(element):
    at = element.find("location")
    return f"{at.get('declfile') or at.get('file')}:{at.get('declline') or at.get('line')}"


def problems_of(folder):
    """What the headers leave unsaid; reads Doxygen's XML."""
    seen, functions = set(), 0
    for path in sorted(folder.glob("*.xml")):
        for compound in xml.parse(path).getroot().findall("compounddef"):
            kind, name = compound.get("kind"), compound.findtext("compoundname")
            if kind == "file" and not text_of(compound):
                yield f"{place_of(compound)}: the header does not open with a paragraph that says what it is for"
            if kind == "class" and compound.get("prot") == "public" and not text_of(compound) and "<" not in name:
                yield f"{place_of(compound)}: class {name} has no text"
            for member in compound.iter("memberdef"):
                if member.get("kind") != "function" or member.get("prot") != "public" or member.get("id") in seen:
                    continue
                seen.add(member.get("id"))
                functions += 1
                if is_excused(member, name.split("::")[-1].split("<")[0].strip()):
                    continue
                text, called = text_of(member), f"{name}::{member.findtext('name')}"
                if not text:
                    yield f"{place_of(member)}: {called} has no text"
                elif RESULT.match("".join(member.find("type").itertext())) and not ERRORS.search(text):
                    yield f"{place_of(member)}: {called} returns a result and does not say its errors"
    if functions < 100:
        yield f"Doxygen saw {functions} public functions only"


def main(top, html=None):
    if not shutil.which("doxygen"):
        print("doxygen is not installed")
        return 77
    if html:
        pathlib.Path(html).mkdir(parents=True, exist_ok=True)
        return report(run_doxygen(top, html, HTML="YES"))
    with tempfile.TemporaryDirectory() as scratch:
        complaints = run_doxygen(top, scratch, XML="YES")
        return report(complaints or list(problems_of(pathlib.Path(scratch, "xml"))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *([sys.argv[3]] if sys.argv[2:3] == ["--html"] else [])))
