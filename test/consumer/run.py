#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs programs that use Paddock from outside, by every route that docs/building.md offers. Prints TAP.

usage: run.py [--all | --built BUILD] [WORK]   WORK: a directory to build in, emptied first (default: a temporary one)

--built: what BUILD has built is installed as it is, and one program builds the tarball of the working tree as a subproject.
Otherwise the sources are those of that tarball, built with $CXX (g++) for both kinds of library; --all: with g++ and
clang++-19, an installation with each kind, every combination.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = ("meson.build", "meson_options.txt", "amalgamation", "include", "src", "tools", "subprojects", "LICENSE") # without git
# Neither optimised nor with debug information; in units also as a subproject, where the library's own default does not count.
QUICK = ["--buildtype=plain", "-Dunity=on", "-Dunity_size=24"]
OPTIONS = [*QUICK, "-Dcli=disabled"]
DESTINATION = "destination" # of an installation for another prefix
CONSUMERS = ("agent", "server", "frontmatter", "search", "skills")
# What other link units need than that for files and commands.
OTHERS = ("libzip", "yaml-0.1", "libutf8proc", "re2")


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL, **options)


# ---- the tarball ----------------------------------------------------------------------------------

def make_tarball(work):
    """What `meson dist` packs of a commit with everything that git sees of the working tree."""
    tree = work / "tree"
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (TOP / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, tree / name)
    git = ("git", "-C", tree, "-c", "user.name=Paddock", "-c", "user.email=paddock@localhost", "-c", "commit.gpgsign=false")
    run(*git, "init", "--quiet")
    run(*git, "add", "--all")
    run(*git, "commit", "--quiet", "--message=The working tree")
    run("meson", "setup", tree / "build", tree, *OPTIONS)
    run("meson", "dist", "-C", tree / "build", "--no-tests", "--formats=gztar")
    [tarball] = (tree / "build/meson-dist").glob("*.tar.gz")
    expect_two_files(tarball, tree / "build")
    return shutil.move(tarball, work)


def expect_two_files(tarball, build):
    """The library in two files is in the tarball, as a build makes it of the same sources."""
    run("ninja", "-C", build, "amalgamation/paddock.cpp")
    with tarfile.open(tarball) as packed:
        for name in ("paddock.hpp", "paddock.cpp", "paddock_exec_helper.cpp"):
            [member] = [entry for entry in packed.getmembers() if entry.name.endswith("/amalgamation/" + name)]
            expect(packed.extractfile(member).read() == (build / "amalgamation" / name).read_bytes(), f"another {name} in the tarball")


def unpack(tarball, target):
    """The sources in `target`, which does not exist yet: of the tarball, or copied where there is none."""
    target.mkdir(parents=True)
    if tarball:
        run("tar", "-xzf", tarball, "-C", target, "--strip-components=1")
        return
    for part in PARTS:
        if (TOP / part).is_dir():
            shutil.copytree(TOP / part, target / part)
        elif (TOP / part).exists():
            shutil.copy2(TOP / part, target / part)


# ---- the programs -------------------------------------------------------------------------------

def with_compiler(compiler):
    """The environment in which Meson uses that compiler; named so, it does not look for ccache itself."""
    return os.environ | {"CXX": f"ccache {compiler}" if shutil.which("ccache") else compiler}


def quickest_compiler():
    """For what is built anew: clang compiles without optimisation in less than half of gcc's time."""
    return next(name for name in ("clang++-19", "clang++", "g++") if shutil.which(name) or name == "g++")


def expect(condition, what):
    if not condition:
        raise RuntimeError(what)


def printed(program, *arguments, stdin="", **environment):
    done = subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True, timeout=60,
                          env=os.environ | environment)
    expect((done.returncode, done.stderr) == (0, ""), done)
    return done.stdout


def try_agent(program, workspace, **environment):
    out = printed(program, workspace, **environment)
    plan = "1. read\n2. write\n"
    expect((workspace / "notes/plan.md").read_text() == plan, "the agent did not write its file")
    expect(out == plan or out.startswith("confinement_unavailable: "), out)


def try_server(program, workspace, **environment):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    (workspace / "a.txt").write_text("1\n2\n")
    calls = [("countLines", "a.txt"), ("countLines", "../a.txt"), ("readTextFile", "a.txt"), ("exec", "a.txt")]
    requests = [("tools/list", {}), *(("tools/call", {"name": name, "arguments": {"path": path}}) for name, path in calls)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": params | {"_meta": meta}}) + "\n"
             for at, (method, params) in enumerate(requests)]
    out = printed(program, workspace, stdin="".join(lines), **environment)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    names = [tool["name"] for tool in answers[0]["result"]["tools"]]
    expect("countLines" in names and "readTextFile" in names and "exec" not in names, names)
    counted, outside, read = (json.loads(answers[at]["result"]["content"][0]["text"]) for at in (1, 2, 3))
    expect(counted == {"path": "a.txt", "lines": 2}, counted)
    expect(outside["error"] == "escapes_root", outside)
    expect(read["content"] == "1\n2\n", read)
    expect("error" in answers[4], answers[4])


def try_frontmatter(program, _workspace, **environment):
    out = printed(program, **environment)
    expect(out.endswith(" ---\nname: pdf\ndescription: \"Reads PDF files.\"\n---\n\n"), out)


def try_search(program, workspace, **environment):
    (workspace / "deep").mkdir()
    (workspace / "deep/a.txt").write_text("a meadow\na fence\n")
    (workspace / "b.txt").write_text("no fences\n")
    out = printed(program, workspace, r"\bfence\b", **environment)
    expect(out == "deep/a.txt:2:a fence\n", out)


def try_skills(program, workspace, **environment):
    out = printed(program, workspace, **environment)
    expect("notes" in out and "Keeps notes for people." in out and (workspace / ".agents/skills/notes/SKILL.md").exists(), out)


def try_program(name, folder, prefix=None, **environment):
    if name == "agent" and prefix and DESTINATION in prefix.parts: # not where the library was told that its helper is
        (folder / "paddock-exec-helper").symlink_to(prefix / "libexec/paddock/paddock-exec-helper")
    with tempfile.TemporaryDirectory() as workspace:
        globals()["try_" + name](folder / name, pathlib.Path(workspace), **environment)


# ---- the routes -----------------------------------------------------------------------------------

def project_in(work, name):
    shutil.rmtree(work / name, ignore_errors=True)
    return shutil.copytree(TOP / "test/consumer" / name, work / name)


def as_subproject(name, work, tarball, compiler, kind, _prefix):
    project = project_in(work, name)
    unpack(tarball, project / "subprojects/paddock")
    shutil.copy(TOP / "test/consumer/paddock.wrap", project / "subprojects")
    run("meson", "setup", "build", *QUICK, f"-Ddefault_library={kind}", cwd=project, env=with_compiler(compiler))
    helper = "subprojects/paddock/tools/paddock-exec-helper"
    run("ninja", "-C", "build", name, *([helper] if name == "agent" else []), cwd=project)
    if name == "agent": # not installed, so the helper is looked for beside the program
        (project / "build/paddock-exec-helper").symlink_to(project / "build" / helper)
    try_program(name, project / "build")


@contextlib.contextmanager
def only_static(prefix):
    """The installation as it would be without shared libraries: the linker prefers them where both kinds are."""
    names = [(name, name.with_suffix(".hidden")) for name in prefix.rglob("libpaddock*.so")]
    for name, hidden in names:
        name.rename(hidden)
    try:
        yield
    finally:
        for name, hidden in names:
            hidden.rename(name)


def system_path():
    done = subprocess.run(["pkg-config", "--variable=pc_path", "pkg-config"], check=True, capture_output=True, text=True)
    return [pathlib.Path(folder) for folder in done.stdout.strip().split(":")]


def without_others(work):
    """A folder with all that pkg-config knows of this system but the libraries that files and commands do not need."""
    few = work / "few-packages"
    few.mkdir(exist_ok=True)
    for file in (file for folder in reversed(system_path()) for file in folder.glob("*.pc")):
        link = few / file.name
        link.unlink(missing_ok=True)
        if file.stem not in OTHERS:
            link.symlink_to(file)
    return few


def expect_loaded_unlinked(prefix, environment):
    """What a library loads when it needs it, and what that needs, is nothing that others link. Where nothing is loaded, nothing
    can be: a static program warns of it."""
    loads = {file.name for file in prefix.rglob("libpaddock*.a") if b"dlopen" in file.read_bytes()}
    expect(loads == {"libpaddock-skill.a", "libpaddock-mcp.a"}, loads)
    for unit, loaded, unlinked in (("paddock-skill", "zip", {"-lzip"}), ("paddock-mcp", "curl", {"-lcurl", "-lnghttp2", "-lzip"})):
        [archive] = prefix.rglob(f"lib{unit}.a")
        expect(re.search(rb"\blib%b[-\w]*\.so\.\d" % loaded.encode(), archive.read_bytes()), f"{archive} does not load {loaded}")
        libraries = subprocess.run(["pkg-config", "--static", "--libs", unit], env=environment, check=True, capture_output=True,
                                   text=True).stdout.split()
        expect("-lpaddock" in libraries and not unlinked & set(libraries), libraries)


def by_pkg_config(name, work, _tarball, compiler, kind, prefix):
    project = project_in(work, name)
    environment = os.environ | {"CXX": compiler,
                                "PKG_CONFIG_PATH": ":".join(str(folder) for folder in prefix.rglob("pkgconfig"))}
    if kind == "static":
        if name == "agent":
            environment["PKG_CONFIG_LIBDIR"] = str(without_others(work))
            known = {unit: not subprocess.run(["pkg-config", "--static", "--libs", unit], env=environment, check=False,
                                              capture_output=True).returncode for unit in ("paddock", "paddock-search", "paddock-skill")}
            expect(known == {"paddock": True, "paddock-search": False, "paddock-skill": False}, known)
        if name == "server":
            expect_loaded_unlinked(prefix, environment)
        with only_static(prefix):
            run("make", "-C", project, env=environment | {"PKG_CONFIG_FLAGS": "--static"})
            try_program(name, project, prefix)
        return
    run("make", "-C", project, env=environment)
    folders = {str(library.parent) for library in prefix.rglob("libpaddock.so")}
    try_program(name, project, LD_LIBRARY_PATH=":".join(folders))


def by_cmake(name, work, _tarball, compiler, kind, prefix):
    project = project_in(work, name)
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
               f"-Dpaddock_USE_STATIC_LIBS={'ON' if kind == 'static' else 'OFF'}"]
    if (name, kind) == ("agent", "static"):
        folders = [str(folder.parent) for folder in system_path()]
        options.append("-DCMAKE_IGNORE_PATH=" + ";".join(folders + [folder.removeprefix("/usr") for folder in folders]))
        other = subprocess.run(["cmake", "-S", project_in(work, "skills"), "-B", work / "skills/build", *options], check=False,
                               capture_output=True, text=True)
        expect(other.returncode != 0 and "component skill: its static library needs lib" in other.stderr, other)
    run("cmake", "-S", project, "-B", project / "build", *options)
    run("cmake", "--build", project / "build")
    try_program(name, project / "build", prefix)


ROUTES = {"Meson subproject": ("meson", as_subproject), "pkg-config": ("make", by_pkg_config), "CMake package": ("cmake", by_cmake)}


def has_lto(compiler, kind):
    """Whether the installation is one of gcc's whose archives another compiler is to link, too."""
    return compiler == "g++" and kind != "shared"


def install(work, tarball, compiler, kind, prefix, *options):
    source = work / f"source-{compiler}"
    if not source.exists():
        unpack(tarball, source)
    build = work / f"build-{compiler}-{kind}"
    lto = ["-Db_lto=true"] if has_lto(compiler, kind) else []
    run("meson", "setup", build, source, f"--prefix={prefix}", f"-Ddefault_library={kind}", *OPTIONS, *options, *lto,
        env=with_compiler(compiler))
    run("meson", "install", "-C", build)
    if lto:
        [archive] = prefix.rglob("libpaddock.a")
        sections = subprocess.run(["readelf", "--wide", "--sections", archive], check=True, capture_output=True, text=True).stdout
        expect(".gnu.lto_" in sections, "the archive has nothing for link time optimisation: what follows would show nothing")


def install_built(build, destination):
    """Installs what was built for another prefix, whose pkg-config files are told of this one."""
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", destination)
    for file in destination.rglob("*.pc"):
        file.write_text(re.sub(r"(?m)^prefix=(.*)$", lambda line: f"prefix={destination}{line[1]}", file.read_text()))


def steps_of_built(work, build):
    """The same for the libraries that a build directory has: the installed routes, one subproject, and shared libraries."""
    made, destination, compiler, quickest = {}, work / DESTINATION, "g++", quickest_compiler()
    options = json.loads(subprocess.run(["meson", "introspect", build, "--buildoptions"], check=True, capture_output=True, text=True).stdout)
    prefix = destination / next(each["value"] for each in options if each["name"] == "prefix").lstrip("/")

    def pack():
        made["tarball"] = make_tarball(work)

    yield "tarball", ["git"], pack
    yield "installation of what was built", ["g++"], lambda: install_built(build, destination)
    for route in ("pkg-config", "CMake package"):
        tool, function = ROUTES[route]
        for consumer in CONSUMERS:
            yield (f"{consumer} by {route}", [compiler, tool],
                   lambda n=consumer, f=function: f(n, work, None, compiler, "static", prefix))
    yield ("agent by Meson subproject", [quickest, "meson"],
           lambda: as_subproject("agent", work, made.get("tarball"), quickest, "static", prefix))
    shared = work / "prefix-shared"
    yield ("shared: installation", [quickest],
           lambda: install(work, made.get("tarball"), quickest, "shared", shared, "-Dmcp=disabled", "-Dhistory=disabled",
                           "-Ddocs=disabled"))
    for route, consumer in (("pkg-config", "skills"), ("CMake package", "search")):
        tool, function = ROUTES[route]
        yield (f"shared: {consumer} by {route}", [compiler, tool],
               lambda n=consumer, f=function: f(n, work, None, compiler, "shared", shared))


def steps(work, everything):
    """Yields (name, programs that are needed, function) of each step, in order."""
    compilers = ("g++", "clang++-19") if everything else (os.environ.get("CXX", "g++").split()[-1],)
    made = {"tarball": None}

    def pack():
        made["tarball"] = make_tarball(work)

    yield "tarball", ["git"], pack
    for compiler in compilers:
        for installed in ("static", "shared") if everything else ("both",):
            prefix = work / f"prefix-{compiler}-{installed}"
            yield (f"{compiler}, {installed}: installation", [compiler],
                   lambda c=compiler, i=installed, p=prefix: install(work, made["tarball"], c, i, p))
            kinds = ("static", "shared") if installed == "both" else (installed,)
            for route, (tool, function) in ROUTES.items():
                for kind in kinds[:1] if route == "Meson subproject" else kinds:
                    for consumer in CONSUMERS:
                        yield (f"{compiler}, {kind}: {consumer} by {route}", [compiler, tool],
                               lambda n=consumer, c=compiler, k=kind, p=prefix, f=function: f(n, work, made["tarball"], c, k, p))
            if has_lto(compiler, installed):
                for consumer in ("agent", "server", "skills"):
                    yield (f"{compiler} with link time optimisation, static: {consumer} by clang++-19", ["clang++-19", "make"],
                           lambda n=consumer, p=prefix: by_pkg_config(n, work, None, "clang++-19", "static", p))


def main(work, plan):
    plan, failures = list(plan), 0
    print(f"1..{len(plan)}", flush=True)
    for number, (name, tools, step) in enumerate(plan, 1):
        missing = next((f"{tool} is not installed" for tool in tools if not shutil.which(tool)), "")
        if tools == ["git"] and not (TOP / ".git").exists():
            missing = "this is no checkout; the sources are copied"
        if missing:
            print(f"ok {number} - {name} # SKIP {missing}", flush=True)
            continue
        try:
            step()
            print(f"ok {number} - {name}", flush=True)
        except (subprocess.SubprocessError, OSError, RuntimeError, ValueError, LookupError) as problem:
            failures += 1
            print("# " + repr(problem).replace("\n", "\n# ") + f"\nnot ok {number} - {name}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    reader = argparse.ArgumentParser()
    which = reader.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true")
    which.add_argument("--built", type=pathlib.Path)
    reader.add_argument("work", nargs="?", type=pathlib.Path)
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.work or pathlib.Path(scratch)
        if given.work:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        folder = folder.resolve()
        sys.exit(main(folder, steps_of_built(folder, given.built) if given.built else steps(folder, given.all)))
