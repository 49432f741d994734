# SPDX-License-Identifier: MIT
"""Which tests can tell nothing new: what they are made of is what it was when they last passed.

Looked at are those whose parts can be named. Unit tests and fuzz corpora: the command, the programs byte for byte, the files
of the tree that these name, what stands beside the tests (but for their C++, which is in the programs, and for scripts that
others run), the variables that steer them, the user and the kernel. "headers" are tests that read the public headers besides,
and how they are compiled. What the machine has is looked at where a case was skipped.
"""
import hashlib
import json
import os
import pathlib
import re

SUITES = {"unit", "fuzz", "headers"}
STEERING = ("PADDOCK_", "GTEST_", "TMPDIR", "PATH", "HOME", "GIT_", "XDG_", "LD_", "LC_", "LANG")
RECORD = "passed.json"


def suites_of(test):
    return {suite.removeprefix("paddock:") for suite in test["suite"]}


def machine():
    """Names the state of this machine that decides which cases are skipped: the boot, installed programs, capabilities
    and kernel modules."""
    looked_at = []
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/modules"):
        try:
            looked_at.append(re.sub(r" \d+ .*", "", pathlib.Path(path).read_text()))
        except OSError:
            looked_at.append("")
    looked_at += re.findall(r"(?m)^Cap\w+:.*", pathlib.Path("/proc/self/status").read_text())
    for directory in os.environ.get("PATH", "").split(":"):
        looked_at.append(os.stat(directory).st_mtime_ns if os.path.isdir(directory) else 0)
    return hashlib.sha256(json.dumps(looked_at).encode()).hexdigest()


def files_beneath(top):
    for where, directories, names in os.walk(top):
        directories[:] = [name for name in directories if name not in {"node_modules", "__pycache__"}]
        yield from (os.path.join(where, name) for name in names if not name.endswith((".cpp", ".hpp")))


class Parts:
    """The sums and modes of files, each read once, or twice where it names others."""

    def __init__(self, directory, tests):
        self.directory, self.top, self.sums = directory, os.getcwd(), {}
        self.named_in_tree = re.compile(re.escape(self.top.encode()) + rb"/[\w./+-]+")
        self.scripts = {self.path(word) for test in tests for word in test["cmd"] if word.endswith((".py", ".mjs"))}
        beside = sorted(map(os.path.realpath, files_beneath(os.path.join(self.top, "test"))))
        self.beside = {True: [(path, self.sum(path)) for path in beside],
                       False: [(path, self.sum(path)) for path in beside if path not in self.scripts]}
        headers = sorted(path for top in (self.top, self.path(".")) for path in pathlib.Path(top, "include").rglob("*.hpp"))
        compiling = [pathlib.Path(self.top, "meson.build"), *pathlib.Path(self.top, "test", "compile").rglob("*.cpp")]
        self.headers = [(str(path), self.sum(path)) for path in [*headers, *sorted(compiling)]]

    def path(self, word):
        return os.path.realpath(os.path.join(self.directory, word))

    def sum(self, path, look_inside=False):
        """Of a file, and with `look_inside` of the files of the tree that it names."""
        known = path, look_inside
        if known not in self.sums:
            self.sums[known] = "none"
            if os.path.isfile(path):
                data = pathlib.Path(path).read_bytes()
                self.sums[known] = hashlib.sha256(data).hexdigest() + f" {os.stat(path).st_mode:o}"
                if look_inside:
                    named = sorted(set(self.named_in_tree.findall(data)))
                    self.sums[known] += "".join(self.sum(os.fsdecode(name)) for name in named)
        return self.sums[known]

    def key(self, test, files):
        runs_script = any(self.path(word) in self.scripts for word in test["cmd"])
        made = [self.path(word) for word in test["cmd"]] + [os.path.realpath(name) for id in test["depends"] for name in files.get(id, [])]
        steering = sorted(item for item in os.environ.items() if item[0].startswith(STEERING))
        headers = self.headers if "headers" in suites_of(test) else []
        parts = [headers, test["cmd"], sorted(test["env"].items()), [self.sum(path, True) for path in sorted(set(made))],
                 self.beside[runs_script], steering, os.geteuid(), os.uname().release]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def keys(directory, tests, files, step):
    """A key for each test whose parts can be named. `files`: what each of Meson's targets makes; `step`: the sampling."""
    parts = Parts(directory, tests)
    return {test["name"]: f"{step} {parts.key(test, files)}" for test in tests
            if SUITES & suites_of(test)}


def passed(directory):
    """The keys with which tests last passed, by name."""
    try:
        return json.loads(pathlib.Path(directory, RECORD).read_text())
    except (OSError, ValueError):
        return {}


def unchanged(keys_now, before):
    on_this = f" {machine()}"
    return [name for name, key in keys_now.items() if before.get(name) in (key, key + on_this)]


def record(directory, keys_now, run, passed_now, skipped_now):
    """Keeps the keys of what passed now, and of what was not run; beside those of which cases were skipped the machine."""
    kept = {name: key for name, key in passed(directory).items() if name not in run}
    on_this = f" {machine()}"
    kept |= {name: keys_now[name] + (on_this if name in skipped_now else "") for name in passed_now if name in keys_now}
    pathlib.Path(directory, RECORD).write_text(json.dumps(kept))
