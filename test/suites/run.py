#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the test suites of real projects outside and inside, and says which tests end otherwise inside.

    test/suites/run.py --tools BUILD/tools [--cache DIR] [PROJECT...]

Each suite runs three times in the same place, as the same ordinary user: as it is, by `paddock exec`, and by `exec` of
paddock-mcp through the official client; both with the options that they have by themselves. A difference that
differences.md does not explain is a failure. Sources come from this distribution and the registry of npm, once;
what cannot be had is skipped with the reason. As root, the user `nobody` runs everything: root has rights outside that no
command keeps.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from projects import PROJECTS

HERE = pathlib.Path(__file__).resolve().parent
CLIENT = HERE.parent / "client"
PAGE = HERE / "differences.md"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
NOBODY = 65534
DEADLINE_S = 1200


class Unavailable(Exception):
    """Why a project cannot be tried here."""


def python_version():
    done = subprocess.run(["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True, capture_output=True)
    return done.stdout.strip()


class Fetcher:
    """Packages of this distribution, by an apt of its own that leaves the system's alone."""

    def __init__(self, cache):
        self.cache = cache
        self.apt = cache / "apt"

    def configure(self):
        for folder in ("lists/partial", "archives/partial"):
            (self.apt / folder).mkdir(parents=True, exist_ok=True)
        lines, systems = [], [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
        for path in filter(pathlib.Path.exists, systems):
            text = path.read_text()
            if path.suffix == ".sources":
                for stanza in text.split("\n\n"):
                    fields = dict(re.findall(r"^(Types|URIs|Suites|Components): *(.*)$", stanza, re.M))
                    lines += [f"{kind} {uri} {suite} {fields.get('Components', 'main')}" for uri in fields.get("URIs", "").split()
                              for suite in fields.get("Suites", "").split() for kind in ("deb", "deb-src")]
            else:
                for line in re.findall(r"^deb (?:\[.*?\] )?(.*)$", text, re.M):
                    lines += [f"deb {line}", f"deb-src {line}"]
        lines = [line for line in lines if re.search(r"debian|ubuntu", line)]
        (self.apt / "sources.list").write_text("\n".join(dict.fromkeys(lines)) + "\n")
        (self.apt / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{self.apt}/sources.list";\nDir::Etc::sourceparts "/dev/null";\nDir::State::lists "{self.apt}/lists";\n'
            f'Dir::Cache::archives "{self.apt}/archives";\nDir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\n'
            + ('APT::Sandbox::User "root";\n' if os.geteuid() == 0 else ""))
        self.run("update")

    def run(self, *words, **options):
        environment = os.environ | {"APT_CONFIG": str(self.apt / "apt.conf"), "LC_ALL": "C"}
        done = subprocess.run(["apt-get", "-q", *words], env=environment, text=True, capture_output=True, **options)
        if done.returncode != 0:
            errors = re.findall(r"^E: (.*)$", done.stderr, re.M) or [done.stderr.strip()[-200:]]
            raise Unavailable(f"apt-get {words[0]}: {errors[0]}")

    def fetch(self, project):
        """A directory with its sources, prepared; made once."""
        ready = self.cache / "ready" / project.name
        if ready.exists():
            return ready
        if not shutil.which("apt-get") or not shutil.which("dpkg-source"):
            raise Unavailable("there is no apt-get with dpkg-source")
        if not (self.apt / "apt.conf").exists():
            self.configure()
        fresh = self.cache / "fresh" / project.name
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        version = python_version()
        package = project.package.replace("{python}", version)
        if project.binary:
            self.run("download", package, cwd=fresh)
            top = fresh / "files"
            subprocess.run(["dpkg-deb", "-x", next(fresh.glob("*.deb")), top], check=True)
        else:
            self.run("source", "--only-source", "--download-only", package, cwd=fresh)
            unpack = ["dpkg-source", *(["--skip-patches"] if project.upstream else []), "-x", str(next(fresh.glob("*.dsc")))]
            if subprocess.run(unpack, cwd=fresh, capture_output=True).returncode != 0:
                raise Unavailable("dpkg-source does not unpack it")
            top = next(path for path in fresh.iterdir() if path.is_dir())
        if project.prepare:
            done = subprocess.run(["sh", "-ec", project.prepare.replace("{python}", version)], cwd=top, text=True, capture_output=True,
                                  env=os.environ | {"PATH": SYSTEM_PATH + ":" + os.environ["PATH"]})
            if done.returncode != 0:
                raise Unavailable("not prepared: " + " ".join((done.stderr.strip() or done.stdout.strip())[-300:].split()))
        ready.parent.mkdir(exist_ok=True)
        top.rename(ready)
        shutil.rmtree(fresh)
        return ready


class Runner:
    def __init__(self, cache, tools):
        self.place, self.home, self.logs = cache / "work", cache / "home", cache / "logs"
        self.paddock, self.server = tools / "paddock", tools / "paddock-mcp"
        self.logs.mkdir(exist_ok=True)
        node = next(iter(sorted(CLIENT.glob("node_modules/node-linux-*/bin/node"))), None)
        self.user = []
        if os.geteuid() == 0:
            self.user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        milliseconds = str(DEADLINE_S * 1000)
        self.ways = {"outside": [], "paddock exec": [self.paddock, "exec", "-w", self.place, "--"]}
        if node:
            self.ways["paddock-mcp"] = [node, HERE / "through_server.mjs", self.server, self.place, milliseconds]

    def own(self, path):
        if self.user:
            subprocess.run(["chown", "-R", "-h", f"{NOBODY}:{NOBODY}", path], check=True)

    def run(self, project, ready, way):
        """What the tests printed."""
        for path in (self.place, self.home):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(ready, self.place, symlinks=True)
        shutil.copy(HERE / "suite_unittest.py", self.place)
        self.home.mkdir()
        # Into a file, because a tool answers 30,000 bytes.
        (self.place / "suite.sh").write_text("exec >suite.log 2>suite.err\n" + project.tests)
        self.own(self.place)
        self.own(self.home)
        environment = {"PATH": SYSTEM_PATH, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb"}
        began = time.monotonic()
        # A job in the background of a shell ignores Ctrl-C, a command inside never does.
        done = subprocess.run([*self.user, *map(str, self.ways[way]), "sh", "suite.sh"], cwd=self.place, env=environment, text=True,
                              capture_output=True, timeout=DEADLINE_S + 60,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        log, errors = self.place / "suite.log", self.place / "suite.err"
        text = log.read_text(errors="replace") if log.exists() else ""
        kept = self.logs / f"{project.name}, {way}.log"
        kept.write_text(text + (errors.read_text(errors="replace") if errors.exists() else "") + done.stdout + done.stderr)
        return text, time.monotonic() - began


def check_needs(project):
    for program in project.needs:
        if not shutil.which(program, path=SYSTEM_PATH):
            raise Unavailable(f"there is no {program} for all users")
    for module in project.shared:
        if subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True).returncode != 0:
            raise Unavailable(f"Python has no module {module}")


def known_differences(project):
    """test -> why it ends otherwise inside."""
    rows = re.findall(r"^\| (\w+) \| (`.*`) \| (.*) \|$", PAGE.read_text(), re.M)
    return {test: why for name, tests, why in rows if name == project.name for test in re.findall(r"`([^`]+)`", tests)}


def count(results):
    states = list(results.values())
    return "/".join(str(states.count(state)) for state in ("passed", "failed", "skipped"))


def try_project(project, fetcher, runner):
    """How many tests end otherwise inside, without a reason."""
    check_needs(project)
    ready = fetcher.fetch(project)
    found, told = {}, []
    for way in runner.ways:
        text, seconds = runner.run(project, ready, way)
        found[way] = project.read(text)
        told.append(f"{way} {count(found[way])} in {seconds:.0f} s")
    print(f"{project.name}: {', '.join(told)} (passed/failed/skipped)")
    outside = found.pop("outside")
    if list(outside.values()).count("passed") < project.least:
        print(f"    fewer than {project.least} pass outside")
        return 1
    faults, known = 0, known_differences(project)
    for way, inside in found.items():
        for test in sorted({*outside, *inside}):
            if outside.get(test) == inside.get(test):
                continue
            why = known.get(test)
            faults += why is None
            print(f"    {test}: {outside.get(test, 'not run')} outside, {inside.get(test, 'not run')} by {way}: {why or 'NO REASON'}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="DIR", help="where paddock and paddock-mcp were built")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="for sources (default: suites in the build directory)")
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help=", ".join(project.name for project in PROJECTS))
    options = parser.parse_args()
    if unknown := set(options.projects) - {project.name for project in PROJECTS}:
        parser.error(f"unknown: {', '.join(unknown)}")
    tools = options.tools.resolve()
    cache = (options.cache or tools.parent / "suites").resolve()
    cache.mkdir(parents=True, exist_ok=True)
    fetcher, runner, faults = Fetcher(cache), Runner(cache, tools), 0
    for project in PROJECTS:
        if options.projects and project.name not in options.projects:
            continue
        try:
            faults += try_project(project, fetcher, runner)
        except Unavailable as why:
            print(f"{project.name} ... skipped {why}")
        except subprocess.TimeoutExpired:
            print(f"{project.name}: not over after {DEADLINE_S} s")
            faults += 1
        sys.stdout.flush()
    print(f"{faults} differences without a reason")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
