#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library in two files: made alike each time, compiled alone by gcc and clang as they say, and used. Prints TAP.

usage: amalgamation.py FOLDER PAGES -- COMMAND...   FOLDER: what the build made; PAGES: README.md and docs/building.md, cookbook.md;
                                                    COMMAND: how it made it, but for the output
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import readme_examples

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = ("paddock.hpp", "paddock.cpp", "paddock_exec_helper.cpp")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
CANNOT_CONFINE = 125 # what the example of the cookbook returns

# Without libyaml everyday YAML is read, and this is not of that kind.
WITH_LIBRARIES = """#include "paddock.hpp"
#include <cstdio>
int main(int, char** argv) {
  auto opened = paddock::root::open(".");
  const auto base = std::make_shared<const paddock::root>(*std::move(opened));
  const auto store = paddock::skill_store::open(base);
  const bool imported = store->import(argv[1]).has_value();
  const auto skill = paddock::frontmatter::parse("---\\n{name: pdf, description: pdf}\\n---\\n",
                                                 paddock::frontmatter::extent::whole_file,
                                                 {.full = paddock::frontmatter::libyaml()});
  std::printf("%d %s\\n", imported, skill.description.c_str());
}
"""


class Skip(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))[:200]}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(found, wanted):
    if found != wanted:
        raise RuntimeError(f"{found!r} instead of {wanted!r}")


def with_cache(compiler):
    return ["ccache", compiler] if shutil.which("ccache") else [compiler]


def examples_of(page):
    return re.findall(r"^```cpp\n(.*?)^```", pathlib.Path(page).read_text(), re.M | re.S)


def for_two_files(program):
    """An example whose headers are all in paddock.hpp."""
    return '#include "paddock.hpp"\n' + re.sub(r"^#include <paddock/.*\n", "", program, flags=re.M)


def same_again(folder, command):
    with tempfile.TemporaryDirectory() as scratch:
        for name, seed in (("one", "1"), ("two", "2")):
            run(*command[:1], *(word.replace("OUTPUT", f"{scratch}/{name}") for word in command[1:]),
                env=os.environ | {"PYTHONHASHSEED": seed})
            for file in FILES:
                expect((pathlib.Path(scratch) / name / file).read_bytes() == (folder / file).read_bytes(), True)


REFUSED = { # text of a.cpp, and of b.cpp -> what is said of them
    "one private name": ("namespace a {\nnamespace {\n\nint twice(int x) {\n}\n\n} // namespace\n} // namespace a\n",) * 2 +
                        ("a::twice is in",),
    "one constant": ("namespace {\n\nconstexpr std::size_t step_max = 4;\n\n} // namespace\n",) * 2 + ("step_max is in",),
    "a lost header": ('#include "lost.hpp"\n', "", "lost.hpp"),
    "a header for some": ('#if HAVE_ZIP\n#include "own.hpp"\n#endif\n', "", "own.hpp"),
}
ALLOWED = {
    "one name in two namespaces": ("namespace a {\nnamespace {\nint twice(int x) {\n}\n} // namespace\n} // namespace a\n",
                                   "namespace b {\nnamespace {\nint twice(int x) {\n}\n} // namespace\n} // namespace b\n"),
    "a call in a body": ("namespace {\nint once() {\n  return twice(1);\n}\n} // namespace\n",
                         "namespace {\nint other() {\n  return twice(1);\n}\n} // namespace\n"),
}


def of_other_sources(command):
    """What cannot be put into one file is refused, and nothing else is."""
    tool = command[:command.index("OUTPUT")]
    for name, (first, second, *said) in (REFUSED | ALLOWED).items():
        with tempfile.TemporaryDirectory() as scratch:
            top = pathlib.Path(scratch)
            (top / "include/paddock").mkdir(parents=True)
            for file, text in {"include/paddock/paddock.hpp": "", "own.hpp": "", "LICENSE": "", "a.cpp": first, "b.cpp": second,
                               "zip.cpp": "", "helper.cpp": ""}.items():
                (top / file).write_text(text)
            done = subprocess.run([*tool, top / "out", "--version", "1", "--top", top, "-I", top / "include", "--library", top / "a.cpp",
                                   top / "b.cpp", "--with-zip", top / "zip.cpp", "--without-zip", top / "zip.cpp", "--helper",
                                   top / "helper.cpp"], capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != (1 if said else 0) or not all(words in done.stderr for words in said):
                raise RuntimeError(f"{name}: {done}")


def as_the_page_says(folder, page):
    commands = re.search(r"^### Two files.*?^```sh\n(.*?)^```", pathlib.Path(page).read_text(), re.M | re.S)[1]
    written = [line.replace("//", "").split() for line in commands_in(folder)]
    expect([line.split()[1:] for line in commands.replace("\\\n", " ").splitlines()], written)


def commands_in(folder):
    return re.findall(r"^//   c\+\+ (.*(?:\n//      +.*)*)", (folder / "paddock.cpp").read_text(), re.M)


class Compiled:
    """What one compiler makes of the files, in a folder with nothing else."""

    def __init__(self, compiler, folder, source):
        self.compiler, self.folder = compiler, folder
        for name in FILES:
            shutil.copy(source / name, folder)
        self.commands = [line.replace("//", "").split() for line in commands_in(folder)]

    def compile(self, *arguments):
        run(*with_cache(self.compiler), *arguments, cwd=self.folder)

    def library(self):
        self.compile("-std=c++20", *WARNINGS, "-MD", "-c", "paddock.cpp", "-o", "paddock.o")
        used = (self.folder / "paddock.d").read_text().split()
        others = [name for name in used if re.search(r"gsl|yaml|zip|utf8proc|simdjson", name) or
                  not (name.startswith("/") or name in (*FILES, "\\", "paddock.o:"))]
        expect(others, [])

    def helper(self):
        self.compile(*self.commands[1], *WARNINGS)

    def program(self, name, text, *more):
        """As the first command has it; what is compiled already is not compiled again."""
        (self.folder / "agent.cpp").write_text(text)
        words = {"paddock.cpp": "paddock.o", "agent": name}
        self.compile(*(words.get(word, word) for word in self.commands[0]), *WARNINGS, *more)
        return self.folder / name

    def readme(self, page):
        [example] = examples_of(page)
        program = self.program("files", for_two_files(example))
        with tempfile.TemporaryDirectory() as workspace:
            readme_examples.files(program, pathlib.Path(workspace))

    def command(self, page):
        [example] = [text for text in examples_of(page) if "paddock/exec/command.hpp" in text]
        program = self.program("command", for_two_files(example))
        with tempfile.TemporaryDirectory() as workspace:
            try:
                readme_examples.command(program, pathlib.Path(workspace))
            except SystemExit:
                raise Skip("commands cannot be confined here") from None

    def without_helper(self):
        """The control of the command: where its helper is not, it does not run."""
        with tempfile.TemporaryDirectory() as elsewhere:
            lonely = shutil.copy(self.folder / "command", elsewhere)
            done = subprocess.run([lonely], cwd=elsewhere, capture_output=True, text=True, timeout=60, check=False)
            expect((done.returncode, (pathlib.Path(elsewhere) / "result").exists()), (CANNOT_CONFINE, False))
            places = [elsewhere, os.path.dirname(elsewhere) + "/libexec/paddock", "/usr/local/libexec/paddock"]
            said = "paddock-exec-helper is missing: it is " + ", ".join(f"not in {os.path.realpath(place)}" for place in places)
            if said not in done.stderr or "compile it there from paddock_exec_helper.cpp" not in done.stderr:
                raise RuntimeError(done.stderr)

    def agent(self):
        self.program("agent", for_two_files((TOP / "test/consumer/agent/agent.cpp").read_text()))
        with tempfile.TemporaryDirectory() as workspace:
            out = run(self.folder / "agent", workspace)
            expect((pathlib.Path(workspace) / "notes/plan.md").read_text(), "1. read\n2. write\n")
            if out.startswith("confinement_unavailable: "):
                raise Skip("commands cannot be confined here")
            expect(out, "1. read\n2. write\n")

    def libraries(self):
        for header in ("yaml.h", "zip.h", "utf8proc.h"):
            found = subprocess.run([self.compiler, "-E", "-x", "c++", "-"], input=f"#include <{header}>", capture_output=True, text=True,
                                   check=False)
            if found.returncode != 0:
                raise Skip(f"{header} is not installed")
        macros = re.findall(r"-DPADDOCK_HAVE_\w+=1", (self.folder / "paddock.cpp").read_text())
        with tempfile.TemporaryDirectory() as workspace:
            archive = pathlib.Path(workspace) / "notes.zip"
            with zipfile.ZipFile(archive, "w") as out:
                out.writestr("notes/SKILL.md", "---\nname: notes\ndescription: Keeps notes.\n---\n")
            expect(run(self.program("without", WITH_LIBRARIES), archive, cwd=workspace), "0 \n")
            self.compile("-std=c++20", *WARNINGS, *macros, "-c", "paddock.cpp", "-o", "paddock.o")
            expect(run(self.program("with", WITH_LIBRARIES, "-lyaml", "-lzip", "-lutf8proc"), archive, cwd=workspace), "1 pdf\n")


def steps(folder, readme, building, cookbook, command, stack):
    yield "the same files each time, and those that the build has", lambda: same_again(folder, command)
    yield "what cannot be one file is refused", lambda: of_other_sources(command)
    yield "the commands of the page are those of the file", lambda: as_the_page_says(folder, building)
    for compiler in ("g++", "clang++-19"):
        scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = Compiled(compiler, scratch, folder)
        for name, step in (("the library, alone", made.library), ("the helper", made.helper),
                           ("the example of the README", lambda m=made: m.readme(readme)),
                           ("a command", lambda m=made: m.command(cookbook)),
                           ("no command without the helper", made.without_helper), ("an agent", made.agent),
                           *([("with libyaml, libzip and utf8proc", made.libraries)] if compiler == "clang++-19" else [])):
            yield f"{compiler}: {name}", step if shutil.which(compiler) else None


def main(folder, readme, building, cookbook, *command):
    failures = 0
    with contextlib.ExitStack() as stack:
        plan = list(steps(pathlib.Path(folder).resolve(), readme, building, cookbook, command[1:], stack))
        print(f"1..{len(plan)}", flush=True)
        for number, (name, step) in enumerate(plan, 1):
            try:
                if step is None:
                    raise Skip("the compiler is not installed")
                step()
                print(f"ok {number} - {name}", flush=True)
            except Skip as reason:
                print(f"ok {number} - {name} # SKIP {reason}", flush=True)
            except (subprocess.SubprocessError, OSError, RuntimeError, AssertionError) as problem:
                failures += 1
                print("# " + str(problem).replace("\n", "\n# ") + f"\nnot ok {number} - {name}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
