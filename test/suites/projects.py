# SPDX-License-Identifier: MIT
"""The projects whose own test suites are run inside and outside: where they come from, how they are prepared, how their tests
are run, and how one reads what those print. Sources are those of this distribution."""
import dataclasses
import re

TAP = re.compile(r"^ *(ok|not ok) \d+ *-? *(.*?) *(?:# (SKIP|TO[D]O)\b.*)?$", re.M | re.I)
STATES = {"ok": "passed", "pass": "passed", "passed": "passed", "xfail": "passed", "skip": "skipped", "skipped": "skipped",
          "not run (disabled)": "skipped"}


def numbered(found):
    """Tests of one name are told apart by which of them it is."""
    results, seen = {}, {}
    for name, state in found:
        seen[name] = seen.get(name, 0) + 1
        results[name if seen[name] == 1 else f"{name} ({seen[name]})"] = state
    return results


def tap(text):
    """A test that is known to fail is as good as skipped."""
    return numbered((name.strip(), "skipped" if mark else "passed" if outcome == "ok" else "failed")
                    for outcome, name, mark in TAP.findall(text))


def by_pattern(pattern, name, outcome):
    compiled = re.compile(pattern, re.M)

    def read(text):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        return numbered((found[name], STATES.get(found[outcome].lower(), "failed")) for found in compiled.finditer(plain))
    return read


go = by_pattern(r"^ *--- (PASS|FAIL|SKIP): (\S+)", 2, 1)
ctest = by_pattern(r"^ *\d+/\d+ Test +#\d+: (\S+) [ .]*\**(Passed|Failed|Skipped|Not Run \(Disabled\)|Timeout|Exception\S*)", 1, 2)
pytest = by_pattern(r"^(\S+::.+?) (PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)\b", 1, 2)
hiredis = by_pattern(r"^#\d+ (.*?): *(PASSED|FAILED|SKIPPED)", 1, 2)


@dataclasses.dataclass(frozen=True)
class Project:
    name: str
    package: str              # of this distribution
    needs: tuple              # programs
    tests: str                # a script of the shell, in the unpacked sources
    read: object              # what the tests print -> {name: state}
    least: int                # so many tests pass outside, or something is wrong with this table
    binary: bool = False      # the package has the tests themselves, not the sources
    upstream: bool = False    # without the patches of the distribution, which fit its own packages and not those of npm
    prepare: str = ""         # a script of the shell, with a network, once
    shared: tuple = ()        # modules of Python that have to be there


# Redis says that it is in the background before it listens: hiredis's own `make check` does not wait for it. The server is the
# program that checks its files, by another name; its own package would start one for the whole machine.
HIREDIS = """
make -j2 hiredis-test >/dev/null || exit 1
ln -s "$(command -v redis-check-rdb)" redis-server
./redis-server --daemonize yes --save '' --pidfile "$PWD/pid" --port 56379 --bind 127.0.0.1 --unixsocket /tmp/hiredis-suite.sock >/dev/null
until redis-cli -p 56379 ping 2>/dev/null | grep -q PONG; do :; done
./hiredis-test -h 127.0.0.1 -p 56379 -s /tmp/hiredis-suite.sock
kill "$(cat pid)"
"""

# Its wrappers know where it was built.
GIT_BUILD = """
make -j2 CFLAGS='-O0 -w' NO_OPENSSL=1 NO_CURL=1 NO_EXPAT=1 NO_TCLTK=1 NO_GETTEXT=1 >/dev/null
sed -i "s|$PWD|@place@|g" bin-wrappers/* GIT-BUILD-OPTIONS
"""
GIT = """
sed -i "s|@place@|$PWD|g" bin-wrappers/* GIT-BUILD-OPTIONS
cd t
for each in t0000-basic t0001-init t0006-date t7004-tag; do
  bash "./$each.sh" --no-color | sed "s/^\\(\\(not \\)*ok [0-9]* -\\)/\\1 $each/"
done
"""

# What the platform gives to programs: files, times, users, terminals, sockets, semaphores, signals, child processes.
PYTHON_MODULES = """os posix pty openpty getpass pwd grp socket socketserver selectors poll epoll ssl ftplib smtplib imaplib poplib
urllib2_localnet httpservers xmlrpc asyncore tempfile shutil pathlib glob fcntl mmap signal subprocess resource time locale
tarfile zipfile file_eintr fork1 wait3 wait4 ioctl multiprocessing_fork multiprocessing_main_handling""".split()

PROJECTS = [
    Project("hiredis", "hiredis", ("make", "cc", "redis-check-rdb", "redis-cli"), HIREDIS, hiredis, 80),
    Project("jsoncpp", "libjsoncpp", ("cmake", "ctest", "c++"),
            "cmake -S . -B out >/dev/null && cmake --build out -j 2 >/dev/null; cd out && ctest --timeout 300", ctest, 3),
    Project("express", "node-express", ("node", "npm"),
            "node node_modules/mocha/bin/mocha.js --require test/support/env --reporter tap --check-leaks test/ test/acceptance/",
            tap, 1200, upstream=True, prepare="npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error"),
    Project("click", "python-click", ("python3",), "PYTHONPATH=src python3 -m pytest -v -p no:cacheprovider tests", pytest, 500,
            shared=("pytest",)),
    Project("jinja2", "jinja2", ("python3",), "PYTHONPATH=src python3 -m pytest -v -p no:cacheprovider tests", pytest, 700,
            shared=("pytest", "markupsafe")),
    Project("python", "libpython{python}-testsuite", ("python3",),
            "PYTHONPATH=$PWD/lib python3 suite_unittest.py " + " ".join("test.test_" + name for name in PYTHON_MODULES), tap, 2500,
            binary=True,
            prepare="mkdir lib && cp -r usr/lib/python{python}/test lib/ && cp -rn /usr/lib/python{python}/test/. lib/test/ && rm -r usr"),
    Project("websocket", "golang-github-gorilla-websocket", ("go",), "GOFLAGS=-mod=mod GOTOOLCHAIN=local go test -v .", go, 50),
    Project("git", "git", ("make", "cc", "perl"), GIT, tap, 300, prepare=GIT_BUILD),
    Project("fd", "rust-fd-find", ("cargo",), "cargo test --offline --no-fail-fast 2>&1",
            by_pattern(r"^test (\S+) \.\.\. (ok|FAILED|ignored)", 1, 2), 50, prepare="cargo fetch --offline"),
]
