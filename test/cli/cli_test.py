#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs as a person runs them: what they print where, and their exit codes."""
import errno
import json
import os
import pathlib
import pty
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import META as MODERN, Client  # noqa: E402

try:
    import tomllib
except ImportError: # Python before 3.11
    tomllib = None

PADDOCK, SERVER, VERSION = os.environ["PADDOCK"], os.environ["PADDOCK_MCP"], os.environ["PADDOCK_VERSION"]
MISSING = "/proc/nonexistent" # which nobody can make


def run(*command, stdin="", env=None):
    return subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", timeout=60, env=env)


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-cli-")
        self.addCleanup(self.folder.cleanup)
        self.workspace = os.path.realpath(self.folder.name)

    def path(self, name):
        return pathlib.Path(self.workspace, name)

    def fails(self, done, code, *words):
        """One line on standard error that has these words, nothing on standard output."""
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
        for word in words:
            self.assertIn(word, done.stderr)

    def needs_confinement(self):
        if run(PADDOCK, "exec", "-w", self.workspace, "--", "true").returncode == 125:
            self.skipTest("this system cannot confine commands")

    def call(self, tool, *arguments, stdin=""):
        return run(PADDOCK, "call", tool, *arguments, "--workspace", self.workspace, stdin=stdin)


class Call(Cli):
    def test_prints_the_result_as_one_line(self):
        done = self.call("writeTextFile", '{"path": "a.txt", "text": "x"}')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, json.dumps({"path": f"{self.workspace}/a.txt", "text": "x"},
                                                 separators=(",", ":")) + "\n")
        self.assertEqual(self.path("a.txt").read_text(), "x")

    def test_without_arguments(self):
        self.assertEqual(self.call("todo").stdout, '{"todos":[]}\n')

    def test_a_similar_name_is_suggested(self):
        for name in "README.md", ".perstack/secret.txt", "a/main.c", "a/one.h", "a/one.c", "a/ab":
            self.path(name).parent.mkdir(exist_ok=True)
            self.path(name).write_text("x\n")
        for tool, path, similar in [
                ("readTextFile", "readme.md", "README.md"), ("getFileInfo", "a/mian.c", "a/main.c"), ("readTextFile", "a/Main.C", "a/main.c"),
                ("deleteFile", "a/main.cc", "a/main.c"), ("listDirectory", "A", "a"), ("readTextFile", f"{self.workspace}/readme.md", "README.md"),
                ("searchText", "readme.md", "README.md"), ("editFile", "readme.md", "README.md"),
                ("readTextFile", "a/one.x", None),  # two are as near
                ("readTextFile", "a/ac", None), ("readTextFile", "a/nothing", None), ("readTextFile", ".perstacc", None),
                ("readTextFile", ".perstack/Secret.txt", None), ("readTextFile", "b/main.c", None)]:
            with self.subTest(tool=tool, path=path):
                more = {"searchText": {"pattern": "x"}, "editFile": {"edits": [{"oldText": "x", "newText": "y"}]}}.get(tool, {})
                done = self.call(tool, json.dumps({"path": path, **more}), "--tools", "coding")
                said = re.search(r"did you mean ([^?]*)\?", json.loads(done.stdout)["message"])
                self.assertEqual(os.path.relpath(said[1], self.workspace if said[1][0] == "/" else ".") if said else None, similar, done)
        for words in ["search", "x", "readme.md"], ["find", "x", "A"], ["map", "A"]:
            self.assertIn(f"; did you mean {'a' if words[-1] == 'A' else 'README.md'}?\n", run(PADDOCK, *words, "-w" if words[0] != "search" else "--workspace", self.workspace).stderr)

    def test_reads_standard_input(self):
        self.path("a.txt").write_text("hello")
        done = self.call("readTextFile", "-", stdin='{\n "path": "a.txt"\n}\n')
        self.assertEqual(json.loads(done.stdout)["content"], "hello")

    def test_a_tool_error_is_printed_and_fails(self):
        done = self.call("readTextFile", '{"path": "../x"}')
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(json.loads(done.stdout)["error"], "escapes_root")

    def test_runs_commands(self):
        done = self.call("exec", json.dumps({"command": "pwd", "args": [], "env": {}, "cwd": ".", "stdout": True,
                                             "stderr": True}))
        self.assertEqual(json.loads(done.stdout), {"output": self.workspace + "\n"})

    def test_mistakes(self):
        self.fails(self.call("todo", "{"), 2, "not JSON")
        self.fails(self.call("todo", "-", stdin=""), 2, "standard input is not JSON")
        self.path("index.js").write_text("module.exports = 1\n")
        self.fails(self.call("todo", f"@{self.workspace}/index.js"), 2, f"the file {self.workspace}/index.js is not JSON\n")
        self.fails(self.call("todo", "[]"), 2, "JSON object")
        self.fails(run(PADDOCK, "call", "todo", "{}", "more"), 2, "more")

    def test_arguments_as_pairs(self):
        self.assertEqual(self.call("writeTextFile", "--arg", "path=a=b.txt", "-a", "text=1").returncode, 0)
        self.assertEqual(self.path("a=b.txt").read_text(), "1")
        done = self.call("readTextFile", "--arg=path=a=b.txt", "--arg", "from=-1", "--arg", "to=1")
        self.assertEqual(json.loads(done.stdout)["content"], "1")
        self.assertEqual(self.call("writeTextFile", "--arg", "path=e", "--arg", "text=").returncode, 0)
        done = self.call("exec", *[word for pair in ["command=printenv", 'args=["A"]', 'env={"A": "b=c"}', "cwd=.",
                                                     "stdout=true", "stderr=false"] for word in ("--arg", pair)],
                         "--exec", "host")
        self.assertEqual(json.loads(done.stdout), {"output": "b=c\n"})
        done = self.call("todo", "--arg", 'newTodos=["x, y"]')
        self.assertEqual(json.loads(done.stdout)["todos"][0]["title"], "x, y")
        done = self.call("readTextFile", "--arg", "from=0")
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]), (1, "invalid_argument"))

    def test_values_from_files(self):
        edits = self.path("edits.json")
        edits.write_text(json.dumps([{"oldText": "one", "newText": "@two", "all": True}]))
        self.path("f").write_text("one one\n")
        done = self.call("editFile", "--arg", "path=f", "--arg", f"edits=@{edits}", "--tools", "coding")
        self.assertEqual((done.returncode, self.path("f").read_text()), (0, "@two @two\n"), done)
        edits.write_text(json.dumps({"path": "f", "text": "all ü"}))
        self.assertEqual(self.call("writeTextFile", f"@{edits}").returncode, 0)
        self.assertEqual(self.path("f").read_text(), "all ü")
        for given, text in [("@@literal", "@literal"), ("@-", "from stdin"), ("@", "@"), ("a@b", "a@b")]:
            done = self.call("writeTextFile", "--arg", "path=f", "--arg", f"text={given}", stdin="from stdin")
            self.assertEqual((done.returncode, self.path("f").read_text()), (0, text))
        edits.write_bytes(b"\xff")
        for arguments in (["--arg", "path=f", "--arg", "text=@absent"], ["@absent"], ["@/"], [f"@{edits}"]):
            self.fails(self.call("writeTextFile", *arguments), 2, "the file", "@@")
        self.assertEqual(self.path("f").read_text(), "a@b")

    def test_mistakes_in_pairs(self):
        def fails(tool, pair, *words):
            self.fails(self.call(tool, "--arg", pair), 2, "--arg", *words)
        fails("readTextFile", "path", "key=value")
        fails("readTextFile", "=x", "key=value")
        fails("readTextFile", "pth=x", "pth", "path, from, to")
        fails("healthCheck", "path=x", "takes none")
        fails("readTextFile", "from=first", "integer")
        fails("readTextFile", "from=1.5", "integer")
        fails("deleteDirectory", "recursive=yes", "true or false")
        fails("todo", "newTodos=x", "JSON array")
        fails("exec", "env=A=b", "JSON object")
        self.fails(self.call("listDirectory", "--arg", "path=.", "--arg", "path=/"), 2, "twice")
        self.fails(self.call("listDirectory", "{}", "--arg", "path=."), 2, "--arg", "contradict each other")

    def test_an_option_with_names_takes_one_argument(self):
        done = run(PADDOCK, "call", "-w", self.workspace, "--pick", "todo,exec", "todo", "{}")
        self.assertEqual(done.stdout, '{"todos":[]}\n')
        self.fails(run(PADDOCK, "call", "--omit", "todo", "todo"), 2, "no tool todo")

    def test_limits_are_options(self):
        done = self.call("writeTextFile", '{"path": "a", "text": "abc"}', "--limit", "write-characters=2")
        self.assertEqual(json.loads(done.stdout)["error"], "invalid_argument")


class Tools(Cli):
    """What is shown of every tool can be pasted, and is accepted."""

    def tools(self, *arguments):
        done = run(PADDOCK, "tools", "-w", self.workspace, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def test_the_table(self):
        self.assertEqual(self.tools(), run(SERVER, "--list-tools", "-w", self.workspace).stdout)
        self.assertEqual([tool["name"] for tool in json.loads(self.tools("--json"))],
                         [line.split()[0] for line in self.tools().splitlines()])
        self.assertEqual(len(self.tools("--read-only").splitlines()), 9)
        self.assertIn("ReadFile", self.tools("--skills"))
        self.fails(run(PADDOCK, "tools", "ReadFile"), 2, "ReadFile is there with --skills only")

    def calls_in(self, shown, found):
        """The words behind `paddock` of each example call."""
        calls = re.split(r"\n(?=paddock call )", shown.split("Example\n")[1])
        self.assertEqual(len(calls), 2 if found["example"] else 1)
        words = [shlex.split(call) for call in calls]
        self.assertEqual({each[0] for each in words}, {"paddock"})
        return [each[1:] for each in words]

    def test_an_example_names_the_options_that_it_needs(self):
        base, coding = ({line.split()[0] for line in self.tools(*options).splitlines()} for options in ([], ["--tools", "coding"]))
        self.assertIn("editFile", coding - base)
        for name in sorted(coding - base):
            shown, found = self.tools(name, "--tools", "coding"), json.loads(self.tools(name, "--tools", "coding", "--json"))
            for call in self.calls_in(shown, found):
                self.assertEqual(call[-4:], ["--tools", "coding", "--workspace", self.workspace])
                done = run(PADDOCK, *call)
                self.assertIn(done.returncode, (0, 1), done)
                self.assertNotEqual(json.loads(done.stdout).get("error"), "invalid_argument", done.stdout)
        for call in self.calls_in(run(PADDOCK, "tools", "readTextFile").stdout, {"example": True}):  # the control: none is needed
            self.assertFalse({"--tools", "--skills", "--workspace"} & set(call), call)

    def test_every_tool_has_an_example_that_it_accepts(self):
        names = [line.split()[0] for line in self.tools("--skills").splitlines()]
        self.assertEqual(len(names), 18)
        for name in names:
            shown, found = self.tools(name, "--skills"), json.loads(self.tools(name, "--skills", "--json"))
            self.assertIn(found["description"], shown)
            schema = shown.split("Arguments (JSON Schema)\n")[1].split("\n\n")[0]
            self.assertEqual(json.loads(schema), found["inputSchema"])
            known = found["inputSchema"].get("properties", {})
            self.assertLessEqual(set(found["inputSchema"].get("required", [])), set(found["example"]))
            self.assertLessEqual(set(found["example"]), set(known))
            for call in self.calls_in(shown, found):
                done = run(PADDOCK, *call)
                self.assertIn(done.returncode, (0, 1), call)
                self.assertNotEqual(json.loads(done.stdout).get("error"), "invalid_argument", done.stdout)

    def test_mistakes(self):
        for options, expected in {(): 10_000, ("--tools", "coding"): 1_000_000, ("--tools", "coding", "--limit", "write-characters=5"): 5}.items():
            written = json.loads(self.tools("writeTextFile", "--json", *options))
            self.assertEqual(expected, written["inputSchema"]["properties"]["text"]["maxLength"], options)
            self.assertEqual("bytes" in written["outputSchema"]["properties"], bool(options), options)
        self.fails(run(PADDOCK, "tools", "nope"), 2, "nope", "the tools are:", "listDirectory")
        self.fails(run(PADDOCK, "tools", "exec", "--read-only"), 2, "no tool exec")


class Demo(Cli):
    def stand_in(self):
        """A directory with the programs, and in it the place of another server."""
        folder = self.path("open")
        folder.mkdir()
        for program in [PADDOCK, pathlib.Path(PADDOCK).with_name("paddock-exec-helper")]:
            shutil.copy(program, folder)
        server = folder / "paddock-mcp"
        server.touch(0o755)
        return folder, server

    def test_undoes_a_loss(self):
        done = run(PADDOCK, "demo")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertRegex(done.stdout, r"(?m)^ok +deleteFile: every file is gone from the disk\nok +restore \{\} brought every file back")
        self.assertNotIn("\x1b", done.stdout)

    def test_says_where_nothing_is_undone(self):
        """The control: a server that restores nothing."""
        folder, server = self.stand_in()
        server.write_text(f'#!/bin/sh\ncase $* in *--history*) set -- "$@" --omit restore;; esac\nexec {SERVER} "$@"\n')
        done = run(folder / "paddock", "demo")
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout, r"(?m)^FAILED +restore did not bring every file back$")

    ATTACKS = ["read ../../etc/passwd", "read through a link to /etc", "write .git/hooks/pre-commit", "read .perstack/token",
               "call a port of this machine", "leave a daemon behind", "plant .git/hooks/pre-commit", "print .perstack/token",
               "open what confines it for writing"]

    @staticmethod
    def verdicts(done):
        """What became of each attack."""
        lines = re.findall(r"(?m)^(held|skipped|FAILED) +(.{34}) ", done.stdout)
        return {re.sub(r"(\.\./)+", "../../", attack.strip()): verdict for verdict, attack in lines}

    def attacks(self, program):
        done = run(program, "demo")
        return done, self.verdicts(done)

    def test_attacks_its_own_fence(self):
        self.needs_confinement()
        done, met = self.attacks(PADDOCK)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        expected = {name: "held" for name in self.ATTACKS}
        if not os.access(pathlib.Path(PADDOCK).with_name("paddock-exec-helper"), os.W_OK):
            expected["open what confines it for writing"] = "skipped"
        self.assertEqual(met, expected, done.stdout)
        for text in ["the path leaves the workspace", "may be read but not changed", "is reserved"]:
            self.assertIn(text, done.stdout)

    def test_says_where_the_fence_does_not_hold(self):
        """The control: the same attacks on a server that protects nothing of what commands and tools would change."""
        folder, server = self.stand_in()
        server.write_text(f"#!/bin/sh\nexec {SERVER} --exec host --unprotect .git/hooks --unprotect .perstack \"$@\"\n")
        done, met = self.attacks(folder / "paddock")
        self.assertEqual(done.returncode, 1, done)
        for name in ["call a port of this machine", "write .git/hooks/pre-commit", "plant .git/hooks/pre-commit", "read .perstack/token",
                     "print .perstack/token", "open what confines it for writing"]:
            self.assertEqual(met[name], "FAILED", done.stdout)
        self.assertEqual(met["read ../../etc/passwd"], "held")

    def test_skips_what_would_come_to_nothing_anyway(self):
        """Where no port can be opened and no copied program runs, holding against them would show nothing."""
        self.needs_mounts()
        self.path("tmp").mkdir()
        done, met = self.in_mounts('mount -t tmpfs -o noexec none tmp; TMPDIR="$PWD/tmp" exec "$0" demo', PADDOCK)
        for name in ["call a port of this machine", "leave a daemon behind"]:
            self.assertEqual(met.get(name), "skipped", done)
        self.assertEqual(met["print .perstack/token"], "held", done.stdout)

    def in_mounts(self, script, *words):
        """Runs the script with mounts of its own."""
        done = subprocess.run(["unshare", "-mn", "sh", "-c", "set -e; " + script, *map(str, words)], capture_output=True, encoding="utf-8",
                              timeout=60, cwd=self.workspace)
        return done, self.verdicts(done)

    def needs_mounts(self):
        if subprocess.run(["unshare", "-mn", "mount", "-t", "tmpfs", "none", self.workspace], capture_output=True).returncode != 0:
            self.skipTest("no namespaces of one's own")

    def test_no_daemon_is_ended_where_none_outlives_its_parent(self):
        """Without a fence it has to be there when its parent has ended; the second run is the control."""
        self.needs_mounts()
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv")
        self.needs_confinement()
        ended = self.path("setsid")
        ended.write_text('#!/bin/sh\nexec setpriv --pdeathsig KILL "$@"\n')
        ended.chmod(0o755)
        for mount, verdict in [(f'mount --bind "{ended}" "$(command -v setsid)"', "skipped"), (":", "held")]:
            done, met = self.in_mounts(mount + '; exec "$0" demo', PADDOCK)
            self.assertEqual(met.get("leave a daemon behind"), verdict, done)

    def test_sees_a_daemon_that_stays(self):
        """Between the demonstration and the server stands one that runs commands itself, and ends nothing."""
        folder, server = self.stand_in()
        server.write_text(f"""#!{sys.executable}
import json, os, subprocess, sys, threading
real = subprocess.Popen([{str(SERVER)!r}, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def say(line):
    os.write(1, line)
threading.Thread(target=lambda: [say(line) for line in real.stdout], daemon=True).start()
for line in sys.stdin.buffer:
    asked = json.loads(line)
    if asked.get("method") != "tools/call" or asked["params"]["name"] != "exec":
        real.stdin.write(line)
        real.stdin.flush()
        continue
    given = asked["params"]["arguments"]
    shell = subprocess.Popen([given["command"], *given["args"]], cwd=sys.argv[sys.argv.index("--workspace") + 1], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    output = shell.stdout.readline().decode()
    shell.wait()
    result = {{"output": output}}
    text = json.dumps(result, separators=(",", ":"))
    answer = {{"content": [{{"type": "text", "text": text}}], "structuredContent": result, "isError": False, "resultType": "complete"}}
    say(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": answer}}, separators=(",", ":")).encode() + b"\\n")
""")
        done, met = self.attacks(folder / "paddock")
        self.assertEqual((met["leave a daemon behind"], done.returncode), ("FAILED", 1), done)

    def test_shows_nothing_where_nothing_could_be_tried(self):
        """A file system with room for a directory like the workspace and for nothing in it, no helper, no network and no /etc:
        each attack comes to nothing by itself. The control has room for the files."""
        self.needs_mounts()
        folder, here = self.path("alone"), self.path("tmp")
        for each in [folder, here]:
            each.mkdir()
        shutil.copy(PADDOCK, folder)
        shutil.copy(SERVER, folder)
        script = 'mount -t tmpfs -o nr_inodes="$1" none tmp; mount -t tmpfs none /etc; TMPDIR="$PWD/tmp" exec "$0" demo'
        nothing_tried = 0
        for inodes in [*range(4, 12), 1000]:
            done, met = self.in_mounts(script, folder / "paddock", inodes)
            if set(met.values()) == {"skipped"} and "run commands" in met:
                nothing_tried += 1
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("no attack could be tried", done.stderr)
        if "run commands" not in met:
            self.skipTest("a helper is installed")
        self.assertGreater(nothing_tried, 0, done)
        self.assertEqual((done.returncode, done.stderr, met["read .perstack/token"], met["run commands"]), (0, "", "held", "skipped"))

    def test_attacks_nothing_of_the_current_directory(self):
        """The temporary directory can no longer be written to once the server runs."""
        self.needs_mounts()
        (folder, server), here = self.stand_in(), self.path("tmp")
        here.mkdir()
        server.write_text(f'#!/bin/sh\nmount --bind "$2" "$2" && mount -o remount,bind,ro "{here}" && exec {SERVER} "$@"\n')
        hook = self.path(".git/hooks/pre-commit")
        hook.parent.mkdir(parents=True)
        hook.write_text("mine")
        done, met = self.in_mounts('mount -t tmpfs none tmp; TMPDIR="$PWD/tmp" exec "$0" demo', folder / "paddock")
        self.assertEqual((done.returncode, met), (1, {}), done)
        self.assertIn("no second temporary directory can be made (see TMPDIR)", done.stderr)
        self.assertEqual(hook.read_text(), "mine")

    def test_leaves_nothing_behind(self):
        temporary = self.path("tmp")
        temporary.mkdir()
        done = subprocess.run([PADDOCK, "demo"], capture_output=True, encoding="utf-8", timeout=60,
                              env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_mistakes(self):
        self.fails(run("/usr/bin/env", "TMPDIR=" + self.workspace + "/absent", PADDOCK, "demo"), 1, "TMPDIR")


class Apply(Cli):
    BEFORE = {"a.txt": "one\ntwo\nthree\n", "d/gone": "x\ny\n", "d/old name": "".join(f"line {i}\n" for i in range(20)), "run": "#!/bin/sh\n",
              "no newline": "a\nb"}
    AFTER = {"a.txt": "one\n2\nthree\nfour\n", "e/new name": "".join(f"line {i}\n" for i in range(19)) + "last\n", "run": "#!/bin/sh\n",
             "no newline": "a\nc", "new/deep/file": "fresh\n"}

    def write(self, files):
        for name, text in files.items():
            path = pathlib.Path(self.workspace, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def tree(self):
        paths = [path for path in pathlib.Path(self.workspace).rglob("*") if path.is_file() and ".git" not in path.parts]
        return {str(path.relative_to(self.workspace)): (path.read_bytes(), path.stat().st_mode & 0o111) for path in paths}

    def git(self, *words):
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false", *words], cwd=self.workspace,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def patch(self):
        """The workspace before, git's patch and the tree that it leads to."""
        self.write(self.BEFORE)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "before")
        for name in self.BEFORE:
            os.remove(os.path.join(self.workspace, name))
        self.write(self.AFTER)
        os.chmod(os.path.join(self.workspace, "run"), 0o755)
        after = self.tree()
        self.git("add", "-A")
        patch = self.git("diff", "--cached", "-M")
        self.git("reset", "-q", "--hard")
        self.assertIn("rename from", patch)
        return patch, after

    def refused(self, done, code, *words):
        """A line for each reason."""
        self.assertEqual((done.returncode, done.stdout), (code, ""), done)
        for word in words:
            self.assertIn(word, done.stderr)

    def apply(self, patch, *options):
        return run(PADDOCK, "apply", "-", "--workspace", self.workspace, *options, stdin=patch)

    def test_a_patch_of_git_leads_to_its_tree(self):
        patch, after = self.patch()
        before = self.tree()
        tried = self.apply(patch, "--dry-run")
        self.assertEqual((tried.returncode, tried.stderr), (0, ""))
        self.assertEqual(self.tree(), before)
        done = self.apply(patch)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("would edit a.txt +2 -1\n", tried.stdout)
        self.assertIn("would move e/new name from d/old name +1 -1\n", tried.stdout)
        self.assertEqual([re.sub(r"^would (edit|delete|move|create)e?(?= )", lambda m: m[1].rstrip("e") + "ed", line) for line in
                          tried.stdout.splitlines()], done.stdout.splitlines())
        self.assertIn("edited a.txt +2 -1\n", done.stdout)
        self.assertIn("edited run +0 -0, executable\n", done.stdout)
        self.assertIn("moved e/new name from d/old name +1 -1\n", done.stdout)
        self.assertIn("deleted d/gone +0 -2\n", done.stdout)
        self.assertEqual(self.tree(), after)
        self.assertEqual(self.apply(patch).returncode, 1)  # the control: it is applied already

    def test_what_has_no_place_is_named_and_nothing_changes(self):
        patch, _ = self.patch()
        self.write({"a.txt": "one\n  two\nthree\n"})
        before = self.tree()
        done = self.apply(patch)
        self.refused(done, 1, "a.txt: hunk 1 (line ", "shows lines that do not occur; the nearest place is line 1, where only white space differs",
                     "nothing was changed")
        self.assertEqual(done.stderr.count("nothing was changed"), 1)
        self.assertEqual(self.tree(), before)
        told = json.loads(self.apply(patch, "--json").stdout)
        self.assertFalse(told["applied"])
        self.assertEqual(told["refused"][0]["nearest"], {"line": 1, "kind": "white_space"})

    def test_where_a_hunk_without_context_belongs_git_judges(self):
        hunks = {"nothing behind it": "@@ -9,3 +9,4 @@\n 9\n 10\n 11\n+new\n", "its last line changes": "@@ -9,2 +9,2 @@\n 9\n-10\n+new\n",
                 "nothing behind it, at the end": "@@ -19,2 +19,3 @@\n 19\n 20\n+new\n", "one line behind it": "@@ -8,3 +8,4 @@\n 8\n 9\n+new\n 10\n",
                 "nothing before it": "@@ -9,2 +9,3 @@\n+new\n 9\n 10\n", "nothing before it, at line 1": "@@ -1,2 +1,3 @@\n+new\n 9\n 10\n"}
        judged = []
        for name, hunk in hunks.items():
            with self.subTest(name):
                self.write({"f": "".join(f"{i}\n" for i in range(1, 21))})
                patch = "--- a/f\n+++ b/f\n" + hunk
                git = subprocess.run(["git", "apply", "--check"], input=patch, cwd=self.workspace, capture_output=True, text=True)
                judged.append(git.returncode)
                self.assertEqual(self.apply(patch).returncode, git.returncode)
        self.assertEqual(judged, [1, 1, 0, 0, 0, 1])

    def test_every_refused_hunk_is_named(self):
        self.write({"f": "".join(f"{i}\n" for i in range(100))})
        hunks = "".join(f"@@ -{at + 1},3 +{at + 1},3 @@\n {at}\n-{wrong}\n+changed\n {at + 2}\n" for at, wrong in
                        [(10, "11"), (30, "wrong"), (50, "51"), (70, "wrong too")])
        done = self.apply("--- a/f\n+++ b/f\n" + hunks)
        self.refused(done, 1, "f: hunk 2 (line 8 of the patch)", "f: hunk 4 (line 18 of the patch)")
        self.assertNotIn("hunk 1", done.stderr)
        self.assertNotIn("hunk 3", done.stderr)

    def test_begin_patch(self):
        self.write({"a": "one\ntwo\n", "gone": "x\n"})
        done = self.apply("*** Begin Patch\n*** Update File: a\n*** Move to: b/c\n@@\n one\n-two\n+2\n*** Add File: new\n+text\n"
                          "*** Delete File: gone\n*** End Patch\n", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(file["action"], file["path"]) for file in json.loads(done.stdout)["files"]],
                         [("moved", "b/c"), ("created", "new"), ("deleted", "gone")])
        self.assertEqual(self.tree(), {"b/c": (b"one\n2\n", 0), "new": (b"text\n", 0)})

    def test_what_is_applied_already(self):
        self.write({"f": "a\nb\nc\n", "other": "1\n"})
        first = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"
        second = "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-B\n+BB\n c\n+d\n--- a/new\n+++ b/new\n@@ -1 +1 @@\n-x\n+y\n"
        second += "diff --git a/other b/moved\nrename from other\nrename to moved\n"
        self.assertEqual(self.apply(first + second).returncode, 0)
        before = self.tree()
        for option in ["--dry-run", "--matching=whitespace"]:
            done = self.apply(first + second, option)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", "paddock apply: the patch is already applied; nothing was changed\n"))
        told = json.loads(self.apply(first + second, "--json").stdout)
        self.assertEqual((told["applied"], told["alreadyApplied"]), (False, True))
        # The control: a part of it is not.
        more = "diff --git a/new b/new\n--- a/new\n+++ b/new\n@@ -1 +1 @@\n-q\n+z\n"
        done = self.apply(first + second + more)
        self.refused(done, 1, "f: hunk 1 (line 3 of the patch) ", "new: ", "nothing was changed")
        self.assertNotIn("already applied; nothing", done.stderr)
        self.assertNotIn("twice", done.stderr)
        self.assertIn("f: not tried, because an earlier part of the patch for this file was refused", done.stderr)
        self.assertNotIn("alreadyApplied", json.loads(self.apply(first + second + more, "--json").stdout))
        self.assertEqual(self.tree(), before)
        self.write({"long": "first line\nsecond line\n"})
        done = self.apply("--- a/long\n+++ b/long\n@@ -1,1 +1,1 @@\n-line one\n+first line\n@@ -2,1 +2,1 @@\n-D\n+E\n")
        self.refused(done, 1, "long: hunk 1 is already applied (line 1)\n", "long: hunk 2 (line 6 of the patch) shows lines")

    def test_a_mode_that_is_not_there_is_not_applied(self):
        self.write({".vscode/settings.json": "{}\n", "f": "a\n", "run": "x\n"})
        mode = "diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n"
        edit = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+a\n"
        for patch, why in [(mode.format(".vscode/settings.json"), ".vscode/settings.json: "), (edit + mode.format("run"), "f: ")]:
            done = self.apply(patch)
            self.refused(done, 1, why, "nothing was changed")
            self.assertNotIn("the patch is already applied", done.stderr)
            self.assertNotIn("alreadyApplied", json.loads(self.apply(patch, "--json").stdout))
        self.path("run").chmod(0o755)  # the controls
        self.refused(self.apply(edit + mode.format("run")), 1, "the patch is already applied; nothing was changed")
        self.refused(self.apply("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"), 1, "the patch is already applied; nothing was changed")
        self.write({"licensed": "b\n"})
        licence = "--- a/licensed\n+++ b/licensed\n@@ -0,0 +1,2 @@\n+Licence\n+of MIT\n"
        self.assertEqual(self.apply(licence).returncode, 0)
        self.refused(self.apply(licence), 1, "the patch is already applied; nothing was changed")

    def test_what_is_too_large_to_compare_has_no_counts(self):
        self.write({"large": "a\n" + ("x" * 999_999 + "\n") * 34, "f": "a\n"})
        edit = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
        done = self.apply(edit.format("large") + edit.format("f"), "--dry-run")
        self.assertEqual(done.stdout, "would edit large\nwould edit f +1 -1\n", done)
        large, small = json.loads(self.apply(edit.format("large") + edit.format("f"), "--dry-run", "--json").stdout)["files"]
        self.assertEqual((set(large), small["added"], small["removed"]), ({"path", "action"}, 1, 1))

    def test_the_workspace_is_found_from_below(self):
        with tempfile.TemporaryDirectory() as state:
            env = {**os.environ, "XDG_STATE_HOME": state}
            self.write({"src/f": "a\n"})
            self.git("init", "-q")
            patch = "--- a/src/f\n+++ b/src/f\n@@ -1 +1 @@\n-a\n+b\n"
            begun = run(PADDOCK, "checkpoint", "-w", self.workspace, env=env)
            self.assertEqual(begun.returncode, 0, begun)
            done = subprocess.run([PADDOCK, "apply", "-"], input=patch, cwd=self.path("src"), env=env, capture_output=True, encoding="utf-8")
            self.assertEqual((done.returncode, done.stdout), (0, "edited src/f +1 -1\n"), done)
        self.fails(run(PADDOCK, "apply", "1.patch", "2.patch"), 2, "apply takes one patch; join them with cat and use `apply -`")

    def test_a_series_that_takes_back_what_it_does(self):
        done = self.apply("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")
        self.assertEqual((done.returncode, done.stdout), (0, "Nothing to change: the patch takes back all that it does.\n"), done)

    def test_a_protected_entry_names_what_a_person_can_do(self):
        self.git("init", "-q")
        done = self.apply("--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-[core]\n+[CORE]\n")
        self.refused(done, 1, ".git/config: ", "apply never changes it; use an editor")
        self.assertNotIn("--unprotect", done.stderr)

    def test_refusals(self):
        self.write({".envrc": "a\n", "f": "a\n"})
        edit = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
        before = self.tree()
        for patch, *words in [("", "paddock apply: there is no patch in the input: "), ("hello\n", "paddock apply: there is no patch in the input: "), (edit.format("f") + edit.format("absent"), "absent: ", "no such file"),
                              (edit.format("f") + edit.format(".envrc"), ".envrc: ", "not changed, because programs"),
                              (edit.format("f") + edit.format("../f"), "../f: ", "leaves the workspace"),
                              (edit.format("f") + edit.format("f"), "f: hunk 1 is already applied (line 1)", "the parts of the patch before it have changed this file")]:
            self.refused(self.apply(patch), 1, *words)
            self.assertEqual(self.tree(), before)
        self.refused(run(PADDOCK, "apply", "/absent", "--workspace", self.workspace), 2, "/absent is not there")

    def test_a_patch_is_made_of_what_the_tools_change_too(self):
        """UTF-16, a series that comes back under another name, and white space where it may differ."""
        self.path("wide").write_bytes("one\r\ntwo é\r\n".encode("utf-16"))
        done = self.apply("--- a/wide\n+++ b/wide\n@@ -1,2 +1,2 @@\n one\n-two é\n+2 é\n")
        self.assertEqual((done.stdout, self.path("wide").read_bytes()), ("edited wide +1 -1\n", "one\r\n2 é\r\n".encode("utf-16")), done)
        self.write({"wide": "", "a": "one\ntwo\n"})
        rename = "diff --git a/a b/z\nrename from a\nrename to z\n"
        done = self.apply("--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n" + rename + "diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -2 +2,2 @@\n-2\n+3\n+4\n")
        self.assertEqual((done.stdout, self.path("z").read_text()), ("moved z from a +2 -1\n", "one\n3\n4\n"), done)
        self.write({"p.py": "def f():\n\treturn 1\n"})
        patch = "--- a/p.py\n+++ b/p.py\n@@ -1,2 +1,4 @@\n def f():\n-    return 1\n+    if g():\n+        return 2\n+    return 1\n"
        self.assertEqual(self.apply(patch).returncode, 1)  # the control
        self.fails(self.apply(patch, "--matching", "blanks"), 2, "blanks is not one of: exact, whitespace")
        done = self.apply(patch, "--matching", "whitespace")
        self.assertEqual((done.stdout, self.path("p.py").read_text()), (
            "edited p.py +2 -0, matched with whitespace; new lines are indented as the file is\n", "def f():\n\tif g():\n\t\treturn 2\n\treturn 1\n"), done)
        self.write({"much": "a\n" * 600})
        patch = "--- a/much\n+++ b/much\n@@ -1,2 +1,2 @@\n a\n-a\n+b\n"
        self.refused(self.apply(patch, "--max-edit-file-bytes", "1000"), 1, "much: ", "exceeds a limit")
        self.assertEqual(self.apply(patch, "--max-edit-file-bytes", "1200").returncode, 0)

    def test_modes_are_told_and_what_stays_is_no_change(self):
        self.write({"f": "a\n", "g": "a\n"})
        mode = "diff --git a/f b/f\nold mode 100{}\nnew mode 100{}\n"
        new = "diff --git a/{0} b/{0}\nnew file mode 100{1}\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
        for patch, done, would, executable in [
                (mode.format(644, 755), "edited f +0 -0, executable", "would edit f +0 -0, executable", True),
                (mode.format(644, 755), "unchanged f +0 -0", "would not change f +0 -0", None),
                (mode.format(755, 644), "edited f +0 -0, not executable", "would edit f +0 -0, not executable", False),
                ("--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "edited g +1 -1", "would edit g +1 -1", None),
                (new.format("tool", 755), "created tool +1 -0, executable", "would create tool +1 -0, executable", True),
                (new.format("text", 644), "created text +1 -0", "would create text +1 -0", None)]:
            for option in ["--dry-run", "-n", "--check"]:
                before = self.tree()
                self.assertEqual(self.apply(patch, option).stdout, would + "\n")
                self.assertEqual(self.tree(), before)
            told = json.loads(self.apply(patch, "--json", "-n").stdout)["files"][0]
            self.assertEqual((told["action"], told.get("executable")), (done.split()[0], executable))
            self.assertEqual(self.apply(patch).stdout, done + "\n")

    def test_what_is_no_patch_file(self):
        self.write({"f": "a\n", "latin": ""})
        self.path("much").touch()
        os.truncate(self.path("much"), 64 * 1024 * 1024 + 1)
        for name, words in [(".", "is a directory"), ("absent", "is not there"), ("/dev/zero", "has more than 64 MiB"),
                            (self.workspace + "/much", "has more than 64 MiB"), ("/proc/self/mem", "cannot be read")]:
            self.fails(run(PADDOCK, "apply", name, "-w", self.workspace), 2, f"the patch {name} {words}; name a file, or - for standard input")
        self.path("latin").write_bytes(b"caf\xe9\n")  # the control: what is no UTF-8 is a patch, too
        self.path("p").write_bytes(b"--- latin\n+++ latin\n@@ -1 +1 @@\n-caf\xe9\n+th\xe9\n")
        done = run(PADDOCK, "apply", self.workspace + "/p", "-w", self.workspace)
        self.assertEqual((done.returncode, self.path("latin").read_bytes()), (0, b"th\xe9\n"), done)

    def test_a_server_ends_what_was_interrupted(self):
        def number(value):
            return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + number(value >> 7)

        def text(value):
            return number(len(value)) + value

        def section(tag, body):
            mark = 0xCBF29CE484222325
            for byte in body:
                mark = (mark ^ byte) * 0x100000001B3 % 2**64
            return tag + struct.pack("<QQ", len(body), mark) + body

        def moving(now, home):
            there = os.stat(self.path(now))
            stamp = b"\1" + number(there.st_mode & 0o7777) + number(there.st_size) + struct.pack("<q", there.st_mtime_ns)
            stamp += number(there.st_ino) + number(0)
            staging = b".paddock-tmp-" + 32 * b"a"
            plan = bytes([1, 0, 1, 0]) + text(staging) + number(0) + number(0) + number(1)
            plan += text(now.encode()) + text(home.encode()) + stamp + number(0)
            return b"paddock changes 4\n" + section(b"p", plan) + section(b"s", number(0))
        patch = "--- a/was\n+++ b/was\n@@ -1 +1 @@\n-text\n+TEXT\n"
        with tempfile.TemporaryDirectory() as state:
            env = {**os.environ, "XDG_STATE_HOME": state}
            self.write({"was": "text\n"})
            self.path("patch").write_text(patch)
            applied = run(PADDOCK, "apply", self.workspace + "/patch", "-w", self.workspace, env=env)
            self.assertEqual((applied.returncode, self.path("was").read_bytes()), (0, b"TEXT\n"), applied)
            self.path("patch").unlink()
            self.path("was").unlink()
            self.write({"moved": "text\n"})
            record = moving("moved", "was")
            # Anybody may have written what lies in the workspace.
            self.path(".paddock-changes").write_bytes(record)
            server = run(SERVER, "--workspace", self.workspace, env=env)
            self.assertIn(".paddock-changes in the workspace is left alone", server.stderr)
            self.assertNotIn("to its end", server.stderr)
            refused = run(PADDOCK, "apply", "-", "-w", self.workspace, env=env, stdin=patch)
            self.assertIn(".paddock-changes in the workspace is left alone", refused.stderr)
            self.assertEqual(self.tree(), {"moved": (b"text\n", 0), ".paddock-changes": (record, 0)})
            self.path(".paddock-changes").unlink()
            own, = pathlib.Path(state, "paddock").glob("changes-*")
            own.joinpath("record").write_bytes(record)
            looking = run(SERVER, "--read-only", "--workspace", self.workspace, env=env)
            self.assertNotIn("to its end", looking.stderr)
            self.assertIn("moved", self.tree())
            served = run(SERVER, "--workspace", self.workspace, env=env)
            self.assertIn("completed an interrupted change of several files", served.stderr)
            self.assertEqual(self.tree(), {"was": (b"text\n", 0)})


class Exec(Cli):
    def test_a_word_of_the_command_may_be_a_value_of_an_option(self):
        os.mkdir(os.path.join(self.workspace, "true"))
        done = run("env", "-C", self.workspace, PADDOCK, "exec", "-w", "true", "--timeout", "5", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    """Most of these need a system that can confine; where it cannot, they are skipped by name."""

    def setUp(self):
        super().setUp()
        self.outside = tempfile.TemporaryDirectory(prefix="paddock-outside-", dir=os.path.expanduser("~"))
        self.addCleanup(self.outside.cleanup)
        self.secret = pathlib.Path(self.outside.name, "secret")
        self.secret.write_text("SECRET")

    def run_confined(self, *words):
        self.needs_confinement()
        return self.run_exec(*words)

    def run_exec(self, *words):
        return run(PADDOCK, "exec", "--workspace", self.workspace, *words)

    def test_exit_codes(self):
        for script, code in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]:
            self.assertEqual(self.run_exec("--best-effort", "--", "sh", "-c", script).returncode, code, script)
        self.fails(self.run_exec("--best-effort", "--", "no-such-program"), 127, "no-such-program")
        self.path("plain").write_text("")
        self.fails(self.run_exec("--best-effort", "--", "./plain"), 126, "./plain")
        done = self.run_exec("--best-effort", "--timeout", "0.2", "--", "sleep", "60")
        self.fails(done, 124, "timed out after 0.2 s; everything the command had started was killed")

    def on_terminal(self, *words):
        """The program as the leader of a terminal of its own, and our end of that."""
        child, terminal = pty.fork()
        if child == 0:
            os.environ["TERM"] = "xterm"
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup has ignored for all that it starts
            os.execv(PADDOCK, [PADDOCK, "exec", "--best-effort", "--workspace", self.workspace, *words])
        self.addCleanup(os.close, terminal)
        return child, terminal

    def seen_until(self, terminal, text):
        """What is on the terminal up to this, or to the end (None)."""
        seen = b""
        while text is None or text not in seen:
            try:
                block = os.read(terminal, 4096)
            except OSError:  # nobody has it open any more
                block = b""
            if not block:
                self.assertIsNone(text, seen)
                break
            seen += block
        return seen

    STUBBORN = """
trap '' TERM
(trap '' INT TERM HUP; (setsid sh -c 'trap "" INT TERM HUP; while :; do sleep 1; done; : '"$0" &) ; while :; do sleep 1; done) &
echo ready
while :; do sleep 0.01; done"""

    def of_this_test(self, mark):
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark.encode() in pathlib.Path("/proc", name, "cmdline").read_bytes():
                    found.append(int(name))
            except OSError:
                pass
        return found

    def test_who_asks_it_to_end_ends_everything(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            mark = f"mark-{os.getpid()}-{number}"
            child, terminal = self.on_terminal("--", "sh", "-c", self.STUBBORN, mark)
            self.seen_until(terminal, b"ready")
            self.assertGreater(len(self.of_this_test(mark)), 3)  # the control
            if number == signal.SIGINT:
                os.write(terminal, b"\x03")
            else:
                os.kill(child, number)
            told = self.seen_until(terminal, None)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 128 + number)
            self.assertIn(b"interrupted; everything the command had started was ended", told)
            self.assertEqual(self.of_this_test(mark), [])

    def test_who_asks_twice_waits_for_nothing(self):
        mark = f"mark-{os.getpid()}-twice"
        child, terminal = self.on_terminal("--", "sh", "-c", self.STUBBORN, mark)
        self.seen_until(terminal, b"ready")
        os.write(terminal, b"\x03\x03")
        self.seen_until(terminal, None)
        # They may have come as one.
        self.assertIn(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), [-signal.SIGINT, 128 + signal.SIGINT])
        for _ in range(1000):
            if not self.of_this_test(mark):
                break
            time.sleep(0.01)
        self.assertEqual(self.of_this_test(mark), [])

    def test_a_job_that_ignores_the_terminal_goes_on(self):
        child = subprocess.Popen(["sh", "-c", "trap '' INT; exec \"$@\"", "sh", PADDOCK, "exec", "--best-effort", "-w", self.workspace,
                                  "--", "sh", "-c", "echo ready; until [ -e gate ]; do sleep 0.01; done; echo done"], stdout=subprocess.PIPE)
        with child.stdout:
            self.assertEqual(child.stdout.readline(), b"ready\n")
            child.send_signal(signal.SIGINT)
            self.path("gate").write_text("")
            self.assertEqual(child.stdout.read(), b"done\n")
        self.assertEqual(child.wait(), 0)

    def test_progress_stays_out_of_the_way(self):
        script = "echo first; until [ -e gate ]; do sleep 0.01; done; printf un; until [ -e last ]; do sleep 0.01; done; echo finished"
        child, terminal = self.on_terminal("--", "sh", "-c", script)
        seen = self.seen_until(terminal, b"running for ")
        self.path("gate").write_text("")
        seen += self.seen_until(terminal, b"\x1b[Kun")
        self.path("last").write_text("")
        seen += self.seen_until(terminal, None)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        shown = [re.sub(r".*\r\x1b\[K", "", line) for line in seen.decode().split("\r\n")]
        self.assertEqual(shown, ["first", "unfinished", ""])
        # The control: without a terminal there is none.
        self.assertEqual(self.run_exec("--best-effort", "--", "sh", "-c", "sleep 2.5; echo x").stderr, "")

    def test_a_line_in_place_of_a_program(self):
        self.fails(self.run_exec("--host", "--", "make test"), 127, "there is no program make test in PATH", "-- make test",
                   "-- sh -c 'make test'")
        self.assertNotIn("sh -c", self.run_exec("--host", "--", "./no such").stderr)

    def test_streams_pass_through(self):
        done = self.run_exec("--best-effort", "--", "sh", "-c", "echo to out; echo to err >&2")
        self.assertEqual((done.stdout, done.stderr), ("to out\n", "to err\n"))

    def test_a_failure_is_explained_in_options_of_this_program(self):
        script = "echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6"
        done = self.run_confined("--", "sh", "-c", script)
        self.assertIn("hint: if it needs a network, commands have none", done.stderr)
        self.assertIn("run it with --network all", done.stderr)
        self.assertIn("run it with --network all", json.loads(self.run_confined("--json", "--", "sh", "-c", script).stdout)["hint"])
        self.assertNotIn("hint", self.run_confined("--network", "all", "--", "sh", "-c", script).stderr)
        self.assertNotIn("hint", self.run_confined("--", "sh", "-c", "exit 6").stderr)

    def test_confined_by_default(self):
        done = self.run_confined("--", "cat", str(self.secret))
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("SECRET", done.stdout)
        done = self.run_confined("--", "sh", "-c", f"echo x > {self.outside.name}/new; echo y > inside")
        self.assertEqual(os.listdir(self.outside.name), ["secret"])
        self.assertEqual(self.path("inside").read_text(), "y\n")

    def test_what_is_named_can_be_used(self):
        self.assertEqual(self.run_confined("--read", str(self.secret), "--", "cat", str(self.secret)).stdout, "SECRET")
        script = f"echo x > {self.outside.name}/new"
        self.assertEqual(self.run_confined("--write", self.outside.name, "--", "sh", "-c", script).returncode, 0)
        self.assertTrue(os.path.exists(self.outside.name + "/new"))

    def test_host_is_not_confined(self):
        self.assertEqual(self.run_exec("--host", "--", "cat", str(self.secret)).stdout, "SECRET")

    def test_json(self):
        done = json.loads(self.run_confined("--json", "--", "sh", "-c", "echo out; exit 3").stdout)
        self.assertEqual((done["exitCode"], done["stdout"], done["timedOut"]), (3, "out\n", False))
        layers = {layer["layer"]: layer for layer in done["confinement"]}
        for name in ["file_system", "network", "kill"]:
            self.assertTrue(layers[name]["applied"], layers)

    def test_a_person_is_told_what_a_model_is(self):
        folder, home = self.path("folder"), self.path("folder/inner")
        folder.mkdir()
        if any(not row["applied"] for row in json.loads(run(PADDOCK, "doctor", "--json", "-w", self.workspace).stdout)["confinement"]):
            self.skipTest("this system cannot confine commands")
        for words, code, told in [
            (["./folder"], 126, ["./folder: is a directory; name the program in it"]),
            (["./absent"], 127, ["./absent: no such program; nothing is at that path"]),
            (["/srv/no/program"], 127, ["run it with --read PATH where it is installed"]),
            (["sh", "-c", "echo 'getaddrinfo EAI_AGAIN host' >&2; exit 1"], 1, ["run it with --network all"]),
            (["python3", "-c", "open('/data/x.csv')"], 1, ["run it with --read PATH or --write PATH"]),
            (["diff", "/etc/passwd", "/etc/group"], 1, []),
        ]:
            if not words[0].startswith((".", "/")) and not shutil.which(words[0]):
                continue
            with self.subTest(words[0]):
                done = self.run_confined("--", *words)
                self.assertEqual(done.returncode, code, done)
                self.assertNotIn("spelling", done.stderr)
                for text in told:
                    self.assertIn(text, done.stderr)
                self.assertEqual("hint" in done.stderr or code > 125, bool(told), done.stderr)
        subprocess.run(["git", "init", "-q", str(home)], check=True)
        done = self.run_confined("--", "sh", "-c", "rm -rf folder/inner 2>/dev/null; true")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("folder/inner was not removed whole", done.stderr)
        self.assertEqual(self.run_confined("--", "true").stderr, "")

    def test_a_folder_that_has_to_stay_is_named_with_what_it_holds(self):
        self.path("z/key").mkdir(parents=True)
        self.path("h/.perstack").mkdir(parents=True)
        for folder, words, told in [("z", ["--protect", "z/key"], ["z: it holds z/key, which may not be changed", "--protect z/key was given"]),
                                    ("h", [], ["h: it holds h/.perstack, which is reserved", "--unprotect .perstack"])]:
            done = run(PADDOCK, "call", "-w", self.workspace, *words, "deleteDirectory",
                       json.dumps({"path": folder, "recursive": True}))
            for text in told:
                self.assertIn(text, json.loads(done.stdout)["message"])
        self.assertTrue(self.path("z/key").exists() and self.path("h/.perstack").exists())

    def test_a_workspace_of_the_system_is_named_also_where_it_cannot_be_tried(self):
        for words in [[], ["--best-effort"]]:
            done = run(PADDOCK, "exec", "-w", "/proc", *words, "--", "true")
            self.fails(done, 125, "the workspace is /proc, which belongs to the system", "choose another workspace")
            self.assertNotIn("(not started)", done.stderr)


# Denies calls of the kernel to what it starts, as a container or an old kernel does: lines of (number, mask of its first
# argument, errno), as a classic BPF program of the kernel's.
DENYING = """if True:
    import ctypes, json, os, struct, sys
    lines, rules = [], json.loads(sys.argv[1])
    step = lambda code, yes, no, value: lines.append(struct.pack("HBBI", code, yes, no, value))
    for number, mask, error in rules:
        step(0x20, 0, 0, 0)                      # the number
        step(0x15, 0, 3 if mask else 1, number)
        if mask:
            step(0x20, 0, 0, 16)                 # the first argument
            step(0x45, 0, 1, mask)
        step(6, 0, 0, 0x50000 | error)
    step(6, 0, 0, 0x7fff0000)
    code = ctypes.create_string_buffer(b"".join(lines))
    program = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(code))
    call = ctypes.CDLL(None, use_errno=True).prctl
    held = call(38, 1, 0, 0, 0) == 0 and call(22, 2, program) == 0
    os.execvp(sys.argv[2], sys.argv[2:]) if held else sys.exit(99)
"""
CALLS = {"clone": 56, "unshare": 272, "clone3": 435, "setns": 308, "landlock": 444} if os.uname().machine == "x86_64" else \
    {"clone": 220, "unshare": 97, "clone3": 435, "setns": 268, "landlock": 444}
NO_NAMESPACES = [(CALLS["clone3"], 0, errno.ENOSYS), (CALLS["clone"], 0x7e020000, errno.EPERM),
                 (CALLS["unshare"], 0x7e020000, errno.EPERM), (CALLS["setns"], 0, errno.EPERM)]
NO_LANDLOCK = [(CALLS["landlock"], 0, errno.EOPNOTSUPP)]


def denying(rules):
    return [sys.executable, "-c", DENYING, json.dumps(rules)]


class Doctor(Cli):
    def test_text_and_json_agree(self):
        report = json.loads(run(PADDOCK, "doctor", "--json", "--workspace", self.workspace).stdout)
        text = run(PADDOCK, "doctor", "--workspace", self.workspace).stdout
        self.assertEqual(report["version"], VERSION)
        self.assertIn(report["system"], text)
        self.assertIn(os.uname().release, report["system"])
        for feature in report["features"]:
            state = "found  " if feature["found"] else "MISSING"
            self.assertRegex(text, rf"(?m)^{state} {re.escape(feature['name'])} .*{re.escape(feature['purpose'])}")
            self.assertIn(feature["withoutIt"], text)
        names = [feature["name"] for feature in report["features"]]
        for name in ["openat2", "Landlock", "seccomp filters", "helper program", "user namespaces"]:
            self.assertIn(name, names)
        for layer in report["confinement"]:
            self.assertRegex(text, rf"(?m)^(holds  |MISSING) {layer['layer']} ")
        self.assertEqual(os.listdir(self.workspace), [])

    def test_a_limit_of_namespaces_is_no_full_disk(self):
        probe = ["unshare", "-Ur", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces || exit 99; exec setpriv '
                 '--bounding-set -all --inh-caps -all --no-new-privs "$0" doctor --json', PADDOCK]
        if not all(map(shutil.which, ["unshare", "setpriv"])) or (done := run(*probe)).returncode == 99 or not done.stdout:
            self.skipTest("this system does not let a user namespace be made without further ones")
        found = {feature["name"]: feature for feature in json.loads(done.stdout)["features"]}
        self.assertFalse(found["user namespaces"]["found"])
        self.assertIn("user.max_", found["user namespaces"]["detail"])

    def test_the_reports_and_exec_say_the_same(self):
        """doctor, --check, healthCheck and exec, on machines that lack something: the same layers, causes and remedies."""
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        no_rights = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
        limited = ["unshare", "-Ur", "sh", "-c", "echo 0 >/proc/sys/user/max_user_namespaces || exit 99; "
                   'exec setpriv --bounding-set -all --inh-caps -all "$@"', "sh"]
        os.chmod(self.workspace, 0o777)
        theirs = self.path("theirs")
        theirs.mkdir()
        theirs.chmod(0o755)
        contained = ["unshare", "--pid", "--fork", "--mount-proc"]  # the program has the number of an init, as in a container
        masked = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /proc/sys && mount -t tmpfs tmpfs /proc/fs && exec "$@"', "sh"]
        cases = [  # what starts them, the workspace, whether commands run, what is said and what is not
            ("in a container", contained, self.workspace, True, [], ["trial"]),
            ("in a container without namespaces", contained + denying(NO_NAMESPACES), self.workspace, True, [], ["trial"]),
            ("second in a container", [*contained, "sh", "-c", '"$@"; exit $?', "sh"], self.workspace, True, [], ["trial"]),
            ("procfs masked", masked, self.workspace, True, [], ["trial"]),
            ("namespaces denied", denying(NO_NAMESPACES), self.workspace, True, [], ["trial"]),
            ("Landlock denied", denying(NO_LANDLOCK), self.workspace, True, [], ["trial"]),
            ("both denied", denying(NO_NAMESPACES + NO_LANDLOCK), self.workspace, False, ["kill", "file_system"], ["trial"]),
            ("as it is", [], self.workspace, True, [], []),
            ("an ordinary user", nobody, self.workspace, True, [], []),
            ("not writable", nobody, str(theirs), True, ["cannot write the workspace: permission denied"], []),
            ("root without rights", no_rights, self.workspace, True, ["as an ordinary user"], ["kernel with", "allow user"]),
            ("no more namespaces", limited, self.workspace, True, ["no more of them are allowed", "user.max_user_namespaces"],
             ["space left", "kernel with", "allow user"]),
            ("the whole system", [], "/", False, ["the workspace is /, which belongs to the system", "choose another"],
             ["not supported", "trial"]),
            ("processes", [], "/proc", False, ["the workspace is /proc, which belongs to the system", "choose another"],
             ["File exists", "trial"]),
        ]
        for name, start, workspace, runs, said, unsaid in cases:
            with self.subTest(name):
                if start and (os.geteuid() != 0 or not shutil.which(start[0]) or run(*start, "true").returncode != 0):
                    self.skipTest("this system does not let such a process be made")
                report = run(*start, PADDOCK, "doctor", "--json", "-w", workspace)
                doctor = run(*start, PADDOCK, "doctor", "-w", workspace)
                check = run(*start, SERVER, "--check", "-w", workspace)
                health = json.loads(run(*start, PADDOCK, "call", "-w", workspace, "healthCheck").stdout)
                layers = json.loads(report.stdout)["confinement"]
                self.assertEqual(layers, health["confinement"])
                trouble = json.loads(report.stdout).get("commands", "")
                for text in [doctor.stdout, check.stdout, health.get("warning", "")]:
                    self.assertIn(trouble, text)
                for layer in layers:
                    if told := "; ".join(filter(None, [layer.get("missing"), layer.get("remedy")])):
                        self.assertIn(told, doctor.stdout)
                        self.assertIn(told, check.stdout)
                self.assertEqual((health["status"], doctor.returncode), ("ok", 0) if runs else ("degraded", 1), trouble)
                ran = run(*start, PADDOCK, "exec", "-w", workspace, "--", "true")
                self.assertEqual(ran.returncode, 0 if runs else 125, ran)
                called = json.loads(run(*start, PADDOCK, "call", "-w", workspace, "exec", json.dumps(
                    {"command": "true", "args": [], "env": {}, "cwd": ".", "stdout": True, "stderr": True})).stdout)
                self.assertEqual(called.get("error"), None if runs else "confinement_unavailable", called)
                everything = json.dumps(layers) + trouble
                for text in said:
                    self.assertIn(text, everything if runs else ran.stderr)
                    self.assertIn(text, everything)
                for text in unsaid:
                    self.assertNotIn(text, everything)

    def test_fix_shows_what_it_would_do_asks_and_does_it(self):
        """In a user namespace in which no more can be made; /etc/sysctl.d is one of its own."""
        start = ["unshare", "-Urm", "sh", "-c", "echo 0 >/proc/sys/user/max_user_namespaces && mount -t tmpfs tmpfs /etc/sysctl.d && "
                 'exec "$@"', "sh"]
        if run(*start, "true").returncode != 0:
            self.skipTest("this system does not let such a process be made")
        script = r"""
import os, pty, subprocess, sys
mine, its = pty.openpty()
os.write(mine, sys.argv[1].encode() + b"\n")
done = subprocess.run(sys.argv[2:], stdin=its, stdout=its, stderr=its).returncode
os.set_blocking(mine, False)
print(os.read(mine, 100000).decode(), done, os.listdir("/etc/sysctl.d"), open("/proc/sys/user/max_user_namespaces").read())
"""
        fix = [PADDOCK, "doctor", "--fix", "-w", self.workspace]
        agreed = run(*start, sys.executable, "-c", script, "y", *fix).stdout
        self.assertIn("user.max_user_namespaces = 0", agreed)
        self.assertRegex(agreed, r"0 \['60-paddock.conf'\] 15000\s*$")
        for answer in ["", "n"]:
            self.assertRegex(run(*start, sys.executable, "-c", script, answer, *fix).stdout, r"1 \[\] 0\s*$")
        shown = run(*start, *fix)  # no terminal: nobody to ask
        self.assertEqual(shown.returncode, 1)
        self.assertIn("\necho 15000 >/proc/sys/user/max_user_namespaces\n", shown.stdout)
        self.assertIn("Nothing to fix: no known setting blocks user namespaces.", run(*fix).stdout)

    def test_ends_with_a_verdict(self):
        done = run(PADDOCK, "doctor")
        self.assertRegex(done.stdout.splitlines()[-1], "^Everything that Paddock needs is here" if done.returncode == 0
                         else "^(Needed and missing:|Commands: )")

    def test_what_cannot_be_opened_has_its_reason_and_a_next_step(self):
        empty = self.path("empty")
        empty.write_text("")
        for words, parts in [
            (["-w", MISSING], ["no such file", "name another directory with --workspace"]),
            (["--audit", self.workspace], ["Is a directory", "name a file"]),
            (["--http", "127.0.0.1:0", "--http-token-file", str(empty)], ["no first line", "openssl"]),
            (["--http", "127.0.0.1:0", "--http-token-file", self.workspace], ["Is a directory", "first line is the token"]),
            (["--http", f"unix:{empty}"], ["no socket", "choose another one"]),
            (["--unprotect", ".git/hook"], ["did you mean .git/hooks?"]),
        ]:
            self.fails(run(SERVER, "-w", self.workspace, *words) if words[0] != "-w" else run(SERVER, *words), 2, *parts)

    def test_every_program_says_where_the_helper_has_to_be(self):
        alone = self.path("alone")
        alone.mkdir()
        for program in [PADDOCK, SERVER]:
            shutil.copy(program, alone)
        paddock, server = alone / "paddock", alone / "paddock-mcp"
        if run(paddock, "exec", "--host", "-w", self.workspace, "--", "true").returncode == 0:
            self.skipTest("a helper is installed on this system")
        arguments = json.dumps({"command": "true", "args": [], "env": {}, "cwd": ".", "stdout": True, "stderr": True})
        for done in [run(paddock, "exec", "--", "true"), run(paddock, "doctor"), run(server, "--check"),
                     run(paddock, "call", "exec", arguments)]:
            self.assertNotEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout + done.stderr, f"paddock-exec-helper is missing: it is not in {alone}, not in {alone.parent}/libexec/paddock, not in /.*; copy it")
        health = json.loads(run(paddock, "call", "healthCheck").stdout)
        self.assertEqual(health["status"], "degraded")
        self.assertIn(f"paddock-exec-helper is missing: it is not in {alone}, not in {alone.parent}/libexec/paddock, ", health["warning"])

    def test_finds_the_helper_and_runs_it(self):
        done = run(PADDOCK, "doctor", "--json")
        helper = next(f for f in json.loads(done.stdout)["features"] if f["name"] == "helper program")
        self.assertTrue(helper["found"], helper)
        self.assertTrue(os.access(helper["detail"], os.X_OK), helper)


class Both(Cli):
    def test_versions_and_help(self):
        self.assertEqual(run(PADDOCK, "--version").stdout, f"paddock {VERSION}\n")
        self.assertEqual(run(SERVER, "--version").stdout, f"paddock-mcp {VERSION}\n")
        for command in [[PADDOCK], [PADDOCK, "call"], [PADDOCK, "tools"], [PADDOCK, "demo"], [PADDOCK, "doctor"], [SERVER]]:
            done = run(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertIn("Exit codes: 0", done.stdout)

    def test_a_workspace_before_the_command(self):
        self.path("notes.txt").write_text("hay\n")
        for option in ["-w", "--workspace"]:
            done = run(PADDOCK, option, self.workspace, "search", "-w", "hay")
            self.assertEqual((done.returncode, done.stdout), (0, "notes.txt:1:hay\n"), done)
        self.fails(run(PADDOCK, "-w", self.workspace, "history", "list"), 2, "paddock history list", self.workspace)
        self.fails(run(PADDOCK, "-w", self.workspace), 2, "-w")
        self.fails(run(PADDOCK, "-w", MISSING, "search", "hay"), 2, MISSING)

    def test_no_subcommand_or_a_wrong_one(self):
        self.fails(run(PADDOCK), 2, "a command is missing (see paddock --help)")
        self.fails(run(PADDOCK, "bogus"), 2, "paddock has no command bogus; it has: search, find, changes, diff, review, apply, undo, checkpoint")
        self.fails(run(PADDOCK, "exce", "--", "ls"), 2, "no command exce; did you mean exec?")
        self.fails(run(PADDOCK, "skills", "lst"), 2, "paddock skills has no command lst; did you mean list?")
        self.fails(run(PADDOCK, "experts"), 2, "a command is missing: list, tools, call or check (see paddock experts --help)")

    def test_words_of_help(self):
        for words in [["exec"], ["skills"], ["skills", "show"], []]:
            self.assertEqual(run(PADDOCK, "help", *words).stdout, run(PADDOCK, *words, "--help").stdout, words)

    def test_what_is_meant(self):
        """What people write who come from elsewhere, or whose fingers slip: each gets the sentence that helps."""
        for command, *words in [
            ([SERVER, "/srv/project"], "one argument too many: /srv/project", "--workspace /srv/project"),
            ([SERVER, "--worksapce", "/srv"], "no option --worksapce; did you mean --workspace?"),
            ([SERVER, "--workspace=/srv", "/other"], "one argument too many: /other"),
            ([SERVER, "--readonly"], "did you mean --read-only?"),
            ([SERVER, "--hom-tools"], "did you mean --home-tools?"),
            ([SERVER, "--frobnicate"], "there is no option --frobnicate (see paddock-mcp --help)"),
            ([SERVER, "--exec", "best_effort"], "best_effort is not one of:", "did you mean best-effort?"),
            ([SERVER, "--workspace"], "--workspace"),
            ([SERVER, "--limit", "read-bytes=1kb"], "--limit: read-bytes: 1kb is no size"),
            ([SERVER, "--limit", "read-bytes=-1"], "-1 is negative"),
            ([SERVER, "--limit", "read-bytes=" + "9" * 30], "is too large; 9223372036854775807 is the most"),
            ([SERVER, "--pick", "readFile"], "no tool readFile", "readTextFile"),
            ([PADDOCK, "--read-only", "call", "todo"], "--read-only belongs after the command: paddock call --read-only"),
            ([PADDOCK, "exec"], "command is required: paddock exec [options] -- CMD..."),
            ([PADDOCK, "exec", "ls", "-la"], "is -la for the command or for paddock exec? Put -- before the command: "
                                             "paddock exec [options] -- ls -la"),
            ([PADDOCK, "exec", "-w", "/tmp", "ls", "--json"], "paddock exec [options] -- ls --json"),
            ([PADDOCK, "exec", "ls", "--help"], "paddock exec [options] -- ls --help"),
            ([PADDOCK, "exec", "git", "checkout", "--", "x"], "paddock exec [options] -- git checkout -- x"),
            ([PADDOCK, "exec", "--tiemout", "5", "--", "ls"], "did you mean --timeout?"),
            ([PADDOCK, "call"], "tool is required: paddock call TOOL [JSON] (see paddock call --help)"),
            ([PADDOCK, "skills", "add", "x"], "--name is required", "paddock skills add --name"),
            ([PADDOCK, "call", "readTextFile", "--agr", "path=x"], "did you mean --arg?"),
            ([PADDOCK, "call", "readTextFile", "path=x"], "not JSON; write one argument as --arg path=x"),
            ([PADDOCK, "call", "readTextFile", "notes 1.md"], "write one argument as --arg 'path=notes 1.md'"),
            ([PADDOCK, "call", "exec", "foo"], "write one argument as --arg command=foo"),
            ([PADDOCK, "call", "readTextFile", "--arg", "path"], "write --arg path=VALUE"),
            ([PADDOCK, "call", "readTextFile", "--arg", "pth=x"], "did you mean path?"),
            ([PADDOCK, "experts", "check", "servers.json"], "--config servers.json"),
            ([PADDOCK, "doctor", "frobnicate"], "one argument too many: frobnicate (see paddock doctor --help)"),
            ([PADDOCK, "help", "exce"], "no command exce; did you mean exec?"),
            ([SERVER, "--http"], "--http needs a value: ADDRESS"),
            ([SERVER, "--http", "http://127.0.0.1:8080/x"], "a URL is not an address: write --http 127.0.0.1:8080 --http-path /x"),
            ([SERVER, "--http", "https://localhost"], "write --http localhost:8080"),
            ([SERVER, "--http", "8080"], "write --http 127.0.0.1:8080"), ([SERVER, "--http", ":8080"], "write --http 127.0.0.1:8080"),
            ([SERVER, "--http", "localhost"], "write --http localhost:8080"),
            ([SERVER, "--http", "127.0.0.1:0", "--http-path", "x/y"], "write --http-path /x/y"),
            ([PADDOCK, "doctor", "-w", "/absent"], "--workspace: /absent cannot be looked at: No such file", "create it"),
            ([PADDOCK, "doctor", "-w", SERVER], "is no directory; name the one that holds it"),
            ([PADDOCK, "search", "-j", "0", "x"], "--threads: 0 is too small; 1 is the least"),
            ([PADDOCK, "search", "-m", "x", "x"], "--limit: x is not a whole number"),
            ([PADDOCK, "find", "-m", "x", "x"], "--limit: x is not a whole number"),
            ([PADDOCK, "find", "-t", "fil", "x"], "--type: fil is not one of: any, directory, file; did you mean file?"),
            ([PADDOCK, "map", "a/b", "c/d"], "one argument too many: c/d (see paddock map --help)"),
            ([PADDOCK, "search", "-w", self.workspace, "needle"], "-w matches whole words, as in ripgrep; write --workspace " + self.workspace),
            ([PADDOCK, "search", "-w", "word", "needle"], "needle: no such file"),
            ([PADDOCK, "search", "--foo", "x"], "there is no option --foo (see paddock search --help)"),
            ([PADDOCK, "map", "--depth", "0"], "--depth: 0 is too small; 1 is the least"),
            ([PADDOCK, "map", "--bytes", "1"], "--bytes: 1 is too small; 200 is the least"),
            ([PADDOCK, "call", "searchText"], "there is no tool searchText; it is one of --tools coding"),
            ([SERVER, "--print-config", "vscod"], "vscod is not one of:", "did you mean vscode?"),
        ]:
            place = ["-w", self.workspace] if command[1] == "--http" and len(command) > 2 else []
            self.fails(run(*command, *place), 2, *words)
        self.assertLess(len(run(SERVER, "--" + "x" * 100_000).stderr), 400)
        self.assertNotIn("\x1b", run(SERVER, "--\x1b[2J").stderr)

    def test_values_of_options(self):
        """A value that cannot be meant is refused at the start, with what would be right."""
        for command, *words in [
            ([SERVER, "--limit", "exec-concurrent=0"], "--limit: exec-concurrent: 0 is too small; 1 is the least"),
            ([SERVER, "--limit", "memory-bytes=1"], "--limit: memory-bytes: 1 is too small; 1048576 is the least"),
            ([SERVER, "--limit", "exec-default-ms=0"], "0 is too small; 1 is the least"),
            ([SERVER, "--limit", "exec-default-ms=7200000"], "--limit exec-default-ms=7200000 is more than --limit exec-ms=3600000"),
            ([SERVER, "--limit", "exec-ms=10", "--limit", "exec-default-ms=11"], "11 is more than --limit exec-ms=10"),
            ([SERVER, "--limit", "exec-default-ms=45000", "--limit", "exec-ms=1000"], "45000 is more than --limit exec-ms=1000"),
            ([SERVER, "--max-memory", "100X"], "--max-memory: 100X is no size", "for example 100M"),
            ([SERVER, "--max-memory", "1.5G"], "1.5G is no size", "a whole number with K, M or G"),
            ([SERVER, "--max-memory", "100MB"], "100MB is no size"),
            ([SERVER, "--max-memory", "M"], "M is no size"),
            ([SERVER, "--max-memory", "-1M"], "-1M is negative"),
            ([SERVER, "--max-memory", "1023K"], "1023K is too small; 1048576 is the least"),
            ([SERVER, "--max-memory", "99999999999G"], "99999999999G is too large;"),
            ([SERVER, "--max-pids", "1K"], "1K is not a whole number"),
            ([SERVER, "--limit", "tool-ms=1K"], "1K is not a whole number"),
            ([PADDOCK, "exec", "--max-memory", "1", "--", "true"], "--max-memory: 1 is too small; 1048576 is the least"),
            ([SERVER, "--pass-env", "A=1"], "--pass-env: A=1 is not the name of a variable", "A=1 paddock-mcp"),
            ([SERVER, "--pass-env", "A,B C"], "B C is not the name of a variable"),
            ([SERVER, "--pass-env", "LD_PRELOAD"], "LD_PRELOAD is never passed on: it"),
            ([SERVER, "--skills", "--skills-read-extensions", "md"], "md is no extension", ".md"),
            ([SERVER, "-w", ""], "--workspace needs a value: DIR"),
            ([SERVER, "--workspace="], "--workspace needs a value: DIR"),
            ([SERVER, "--pass-env=", "--read-only"], "--pass-env needs a value: NAMES"),
            ([SERVER, "--pass-env", "--read-only"], "--pass-env needs a value: NAMES", "--read-only is an option"),
            ([SERVER, "--exec-read=", "--list-tools"], "--exec-read needs a value: PATH"),
            ([SERVER, "-w", "/tmp", "-w", "/tmp"], "--workspace is given twice"),
            ([SERVER, "-w", "/tmp", "--workspace=/tmp"], "--workspace is given twice"),
            ([SERVER, "--limit", "todos=1", "--limit", "todos=2"], "--limit todos is given twice"),
            ([SERVER, "--workspace=~/x"], "--workspace: only a shell knows what ~/x means", os.path.expanduser("~") + "/x"),
            ([SERVER, "--exec-read", "~/x"], "--exec-read: only a shell knows what ~/x means"),
            ([SERVER, "--audit=~/x"], "--audit: only a shell knows what ~/x means", "./~/x"),
            ([SERVER, "--http", "unix:~/x"], "--http: only a shell knows what ~/x means"),
            ([SERVER, "--http", "127.0.0.1:0", "--http-token-file=~/x"], "--http-token-file: only a shell"),
            ([PADDOCK, "exec", "--read=~/x", "--", "true"], "--read: only a shell knows what ~/x means"),
            ([PADDOCK, "exec", "-w", "", "--", "true"], "--workspace needs a value: DIR"),
            ([SERVER, "--exec-read", ""], "--exec-read needs a value: PATH"),
            ([SERVER, "--exec-write", ""], "--exec-write needs a value: PATH"),
            ([PADDOCK, "exec", "--read", "", "--", "true"], "--read needs a value: PATH"),
            ([PADDOCK, "exec", "--write", "", "--", "true"], "--write needs a value: PATH"),
            ([PADDOCK, "doctor", "-w="], "--workspace"),
            ([PADDOCK, "skills", "list", "--root=~"], "--root: only a shell knows what ~ means"),
            ([PADDOCK, "experts", "list", "--config", "~/perstack.toml"], "--config: only a shell"),
            ([PADDOCK, "skills", "import", "~/x.zip"], "only a shell knows what ~/x.zip means", os.path.expanduser("~") + "/x.zip"),
            ([PADDOCK, "skills", "validate", "~/x"], "only a shell knows"),
            ([PADDOCK, "search", "x", "--workspace", "~/x"], "--workspace: only a shell knows"),
            ([PADDOCK, "exec", "--timeout", "", "--", "true"], "--timeout needs a value: SECONDS"),
            ([PADDOCK, "skills", "add", "a", "--name=", "--description", "b"], "--name needs a value: TEXT"),
            ([PADDOCK, "exec", "--", ""], "there is no program"),
        ]:
            with self.subTest(command=command[1:]):
                self.fails(run(*command), 127 if command[-1] == "" and "--" in command else 2, *words)
        os.makedirs(self.path("~/x"))
        for options in [["--limit", "exec-ms=20000"], ["--limit", "tool-ms=0"], ["--exec-read", "./~/x"], ["-w~"], ["--pass-env", "A,B"],
                        ["--exec-read", "/usr", "--exec-read", "/etc"], ["--read-only", "--read-only"]]:
            done = subprocess.run([SERVER, *options, "--list-tools"], capture_output=True, encoding="utf-8", timeout=60,
                                  cwd=self.workspace)
            self.assertEqual((done.returncode, done.stderr), (0, "") if options != ["-w~"] else (2, done.stderr), options)
        self.path("file").write_text("x")
        done = run(PADDOCK, "exec", "--host", "-w", self.workspace, "--", "printf", "%s|%s", "", "--workspace=")
        self.assertEqual(done.stdout, "|--workspace=")

    def test_contradictions(self):
        """Two options of which one would be ignored; the controls are the same options, each beside one that goes with it."""
        rights = [["--network", "all"], ["--network", "none"], ["--exec-read", "/usr"], ["--exec-write", "/usr"], ["--require-confinement"],
                  ["--home-tools"], ["--package-cache"], ["--scratch", "session"], ["--max-memory", "9000000"], ["--max-pids", "9"],
                  ["--max-file-size", "9"], ["--pass-env", "A"]]
        refused = [[*right, *none] for right in rights for none in
                   [["--read-only"], ["--exec", "off"], ["--omit", "exec"], ["--pick", "todo"]]]
        refused += [[*right, "--exec", "host"] for right in rights[:-1]]
        refused += [["--exec", mode, *none] for mode in ["host", "best-effort"] for none in
                    [["--read-only"], ["--omit", "exec"], ["--pick", "todo"]]]
        refused += [["--pick", "exec", *none] for none in [["--read-only"], ["--exec", "off"]]]
        refused += [["--exec", "best-effort", "--require-confinement"], ["--pick", "todo,exec", "--omit", "exec"],
                    ["--list-tools", "--check"]]
        for options in refused:
            for command in [[SERVER], [PADDOCK, "tools"]] if "--check" not in options else [[SERVER]]:
                with self.subTest(options=options, command=command):
                    self.fails(run(*command, "-w", self.workspace, *options), 2, options[0], "contradict each other",
                               "leave out one of the two")
        for options in [["--host", "--network", "all"], ["--host", "--read", "/usr"], ["--write", "/usr", "--host"], ["--best-effort", "--host"],
                        ["--host", "--protect", "a"], ["--host", "--unprotect", ".envrc"]]:
            with self.subTest(options=options):
                self.fails(run(PADDOCK, "exec", "-w", self.workspace, *options, "--", "true"), 2, "--host", "contradict each other")
        taken = rights + [["--exec", "host", "--pass-env", "A"], ["--exec", "best-effort", "--network", "all"], ["--read-only"],
                          ["--read-only", "--exec", "off"], ["--pick", "exec", "--network", "all"], ["--pick", "todo", "--omit", "exec"]]
        os.mkdir(self.path("inside"))
        for options in taken:
            options = [word if word != "/usr" else self.path("inside") for word in options]
            done = run(PADDOCK, "tools", "-w", self.workspace, *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""), options)

    def test_a_search_takes_several_globs(self):
        for name in ["a.md", "b.txt", "c.py"]:
            self.path(name).write_text("word\n")
        done = run(PADDOCK, "search", "-l", "-g", "*.md", "-g", "*.txt", "word", "--workspace", self.workspace)
        self.assertEqual((sorted(done.stdout.split()), done.stderr), (["a.md", "b.txt"], ""))

    def test_a_search_takes_the_options_of_ripgrep(self):
        for name, text in {"a.md": "one\ntwo\nthree\n", "b.py": "two\nx.y\n", "c.txt": "a\\E(b\n"}.items():
            self.path(name).write_text(text)

        def found(*options):
            done = run(PADDOCK, "search", *options, "--workspace", self.workspace)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return done.stdout

        self.assertEqual(found("-A1", "two", "a.md"), "a.md:2:two\na.md-3-three\n")
        self.assertEqual(found("-B", "1", "two", "a.md"), "a.md-1-one\na.md:2:two\n")
        self.assertEqual(found("-C1", "-B0", "two", "a.md"), "a.md:2:two\na.md-3-three\n")
        self.assertEqual(found("-v", "t", "a.md"), "a.md:1:one\n")
        self.assertEqual(found("-v", "-c", "o", "a.md", "b.py"), "a.md:1\nb.py:1\n")
        self.assertEqual(found("-e", "one", "-e", "thr", "a.md"), "a.md:1:one\na.md:3:three\n")
        self.assertEqual(found("-F", "-e", "x.y", "-e", "\\E(", "-l"), "b.py\nc.txt\n")
        self.assertIn("a.md\n", found("-e", "one", "-l", "b.py", "."))  # "." that is given is a path, too
        self.assertEqual(found("-e", "-x|two", "-l", "b.py"), "b.py\n")  # a pattern that looks like an option
        self.assertEqual(found("-t", "py", "-t", "txt", "-l", "."), "b.py\nc.txt\n")
        self.assertEqual(found("--color", "never", "one"), found("one"))
        self.assertEqual(found("--color=always", "one"), "a.md:\x1b[32m1\x1b[0m:one\n")
        self.fails(run(PADDOCK, "search", "-t", "python", "x", "--workspace", self.workspace), 2, "no such type", "py, ruby")
        self.fails(run(PADDOCK, "search", "--workspace", self.workspace), 2, "a pattern is missing")
        self.fails(run(PADDOCK, "search", "-v", "--workspace", self.workspace), 2, "a pattern is missing")
        for empty in [[""], ["-v", ""], ["-F", "", "a.md"]]:
            self.fails(run(PADDOCK, "search", *empty, "--workspace", self.workspace), 2, "the pattern is empty; ^ matches every line")
        self.fails(run(PADDOCK, "search", "-e", "", "--workspace", self.workspace), 2, "--regexp needs a value")
        for several, wrong in ((["a)|(b", "zzz"], "'a)|(b': a ) has no ("), (["zzz", "(", ")"], "'(': a ) is missing"), (["a\\", "b"], "'a\\': a backslash")):
            self.fails(run(PADDOCK, "search", *(f"-e{each}" for each in several), "--workspace", self.workspace), 2, wrong)
        self.assertEqual(found("-e", "(x|on)e", "-e", "\\(b", "a.md", "c.txt"), "a.md:1:one\nc.txt:1:a\\E(b\n")
        self.assertEqual(found("^", "a.md"), "a.md:1:one\na.md:2:two\na.md:3:three\n")
        self.assertEqual(found("-v", "^"), "")

    def test_a_named_file_that_cannot_be_searched_says_why(self):
        self.path("binary").write_bytes(b"a\0b")
        with self.path("long").open("wb") as file:
            for _ in range(65):
                file.write(b"x" * 1024 * 1024)
        for name, why in ("binary", "it is a binary file"), ("long", "it has a line longer than 64 MiB"):
            self.fails(run(PADDOCK, "search", "a", name, "--workspace", self.workspace), 2, f"{name}: not searched: {why}")
            told = json.loads(self.call("searchText", "--tools", "coding", "-a", "pattern=a", "-a", f"path={name}").stdout)
            self.assertIn(f"{name}: not searched: {why}; use a program", told["message"])

    def test_a_search_that_leaves_out_long_lines_says_why(self):
        chance = random.Random(7)
        self.path("f").write_text("".join(chance.choice("ab") for _ in range(300_000)) + "\nneedle\n")
        done = run(PADDOCK, "search", "[ab]*a[ab]{150}c|needle", "--workspace", self.workspace)
        self.assertEqual((done.returncode, done.stdout), (0, "f:2:needle\n"))
        self.assertEqual(done.stderr, "paddock search: long lines were left out, because the pattern is slow on them; make it simpler\n")

    def test_globs_that_stand_for_something_else_elsewhere(self):
        self.path("src").mkdir()
        for name in ["src/a.c", "b.c", "!c"]:
            self.path(name).write_text("x\n")
        at = ["--workspace", self.workspace]
        self.fails(run(PADDOCK, "find", "!*.c", *at), 2, "'!*.c': a glob says what is wanted; paddock search -g '!GLOB' leaves out")
        self.fails(run(PADDOCK, "find", self.workspace + "/src/*.c", *at), 2, "relative", "write 'src/*.c'")
        self.fails(run(PADDOCK, "find", self.workspace, *at), 2, "write '**'")
        for option in [self.workspace + "/src/*.c", "!" + self.workspace + "/src/*.c"]:
            self.fails(run(PADDOCK, "search", "-g", option, "x", *at), 2, "-g '/", "write 'src/*.c'")
        self.fails(run(PADDOCK, "search", "-g", "!!b.c", "x", *at), 2, "-g '!b.c'")
        self.fails(run(PADDOCK, "find", "/etc/passwd", *at), 1, "no match in 4 entries", "a leading slash stands for the directory")
        for glob, paths in {"src/*.c": "src/a.c\n", "/src/*.c": "src/a.c\n", "\\!c": "!c\n"}.items():  # the controls
            self.assertEqual(run(PADDOCK, "find", glob, *at).stdout, paths)
        self.assertEqual(run(PADDOCK, "search", "-l", "-g", "*.c", "-g", "!src/**", "x", *at).stdout, "b.c\n")
        self.assertEqual(run(PADDOCK, "search", "-l", "-g", "!src/**", "-g", "*.c", "x", *at).stdout, "b.c\nsrc/a.c\n")  # the last decides

    def test_a_glob_that_begins_with_a_slash_is_usable_in_the_workspace_that_is_everything(self):
        told = run(PADDOCK, "call", "findFiles", "--tools", "coding", "-w", "/", "-a", "glob=/passwd", "-a", "path=etc")
        self.assertEqual((told.returncode, json.loads(told.stdout)["paths"]), (0, ["etc/passwd"]), told)
        self.assertEqual(run(PADDOCK, "find", "/passwd", "etc", "-w", "/").stdout, "etc/passwd\n")

    def test_an_empty_map_says_so(self):
        done = run(PADDOCK, "map", "--workspace", self.workspace)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "paddock map: . is empty\n"))

    def test_a_map_is_of_a_directory(self):
        self.path("file").write_text("")
        self.fails(run(PADDOCK, "map", "file", "-w", self.workspace), 2, "file: a directory was expected; name a directory")

    def test_a_map_tells_what_could_not_be_read(self):
        for name in ["locked", "shut", "void"]:
            self.path(name).mkdir()
        command = [PADDOCK, "map", "--workspace", self.workspace]
        whole = run(*command)
        self.assertEqual((whole.stdout, whole.stderr), ("locked/\nshut/\nvoid/\n", ""))  # the control
        for name in ["locked", "shut"]:
            self.path(name).chmod(0)
            self.addCleanup(self.path(name).chmod, 0o700)
        bound_by_modes = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
        if bound_by_modes and (not shutil.which("setpriv") or run(*bound_by_modes, "ls", self.path("locked")).returncode == 0):
            self.skipTest("nothing is unreadable for this user")
        done = run(*bound_by_modes, *command)
        self.assertEqual(done.stdout, "locked/ unreadable\nshut/ unreadable\nvoid/\n")
        self.assertEqual(done.stderr, "paddock map: 2 directories could not be read: locked and others\n")

    def test_names_do_not_command_a_terminal(self):
        name, shown = b"a\n\x1b[2J\xc2\x9b\xe2\x80\xaeb\x9b", "a??[2J??b?"
        with open(os.path.join(os.fsencode(self.workspace), name), "w") as file:
            file.write("word\n")
        lines = self.path("lines")
        lines.mkdir()
        (lines / "f").write_bytes(b"\t\x1b]0;owned\x07 here\xc2\x9b\xe2\x80\xae\x9b\n")

        def on_terminal(*command):
            master, slave = os.openpty()
            child = subprocess.Popen([PADDOCK, *command, "--workspace", self.workspace], stdin=subprocess.DEVNULL, stdout=slave,
                                     env={**os.environ, "NO_COLOR": "1"})
            os.close(slave)
            seen = b""
            with open(master, "rb", buffering=0) as terminal:
                try:
                    while block := terminal.read(4096):
                        seen += block
                except OSError:  # all of it was read
                    pass
            self.assertEqual(child.wait(), 0)
            return seen.decode().replace("\r\n", "\n")

        self.assertEqual(on_terminal("find", "a*"), shown + "\n")
        self.assertEqual(on_terminal("search", "word"), shown + "\n1:word\n\n")
        self.assertEqual(on_terminal("search", "-l", "word"), shown + "\n")
        self.assertEqual(on_terminal("search", "-c", "word"), shown + ":1\n")
        self.assertEqual(on_terminal("map", "-d1").splitlines()[1], shown[:-1] + "\uef9b 5 B")
        self.assertEqual(on_terminal("search", "here"), "lines/f\n1:\t?]0;owned? here???\n\n")
        piped = subprocess.run([PADDOCK, "search", "here", "--workspace", self.workspace], capture_output=True)
        self.assertEqual(piped.stdout, b"lines/f:1:\t?]0;owned? here???\n")
        # So it is behind a pipe, where a name has its lines; the control is what other programs read.
        piped_name = b"a\n?[2J??b?"
        for command, want in [(["find", "a*"], piped_name + b"\n"), (["search", "-l", "word"], piped_name + b"\n"),
                              (["search", "word"], piped_name + b":1:word\n"), (["find", "a*", "-0"], name + b"\0")]:
            done = subprocess.run([PADDOCK, *command, "--workspace", self.workspace], capture_output=True)
            self.assertEqual(done.stdout, want)

    def test_names_to_protect(self):
        for options, *words in [
            (["--unprotect", "foo"], "--unprotect: foo is not protected; the names are:", ".git/hooks"),
            (["--unprotect", ".git"], ".git itself is not protected; in it are: .git/config", ".git/hooks"),
            (["--unprotect", "./.envrc"], "./.envrc is not how the list has it; write .envrc"),
            (["--unprotect", ".vscode/"], "write .vscode"),
            (["--unprotect", ".VSCode"], ".VSCode is not how the list has it; write .vscode"),
            (["--unprotect", ".envrc,.vscode"], "is not one name; repeat the option"),
            (["--protect", "foo/"], "foo/: names are relative", "write foo"),
            (["--protect", "./foo=hidden"], "write foo=hidden"),
            (["--protect", "/abs"], "/abs is not NAME"),
            (["--protect", "foo=hiden"], "foo=hiden is not NAME, NAME=hidden or NAME=read-only"),
            (["--protect", "a/b=hidden"], "a hidden name has no slash"),
            (["--protect", "foo", "--unprotect", "foo"], "foo is given to --protect too"),
            (["--unprotect", ".envrc", "--protect", ".envrc=hidden"], ".envrc is given to --protect too"),
        ]:
            with self.subTest(options=options):
                self.fails(run(SERVER, "--list-tools", "-w", self.workspace, *options), 2, *words)
                self.fails(run(PADDOCK, "exec", "-w", self.workspace, *options, "--", "true"), 2, *words)
        for options in [["--protect", "absent"], ["--protect", "a", "--protect", "a"], ["--protect", ".envrc=hidden"],
                        ["--unprotect", ".envrc", "--unprotect", ".envrc"], ["--protect", "absent/below"]]:
            self.assertEqual(run(SERVER, "--list-tools", "-w", self.workspace, *options).stderr, "", options)

    def test_what_belongs_to_the_server_is_not_offered(self):
        done = run(PADDOCK, "call", "writeTextFile", "--arg", "path=.vscode/x", "--arg", "text=x", "-w", self.workspace)
        self.assertIn("--unprotect .vscode", done.stdout)
        self.path("audit").write_text("")
        with Client("-w", self.workspace, "--audit", self.path("audit")) as server:
            answer = server.call("writeTextFile", path="audit", text="x")["message"]
        self.assertIn("a file of the server itself", answer)
        self.assertNotIn("--unprotect", answer)

    def test_every_limit_has_a_least_that_works(self):
        self.assertNotIn("at least ", run(SERVER, "--help").stdout)
        shown = run(SERVER, "--help-all", env=os.environ | {"COLUMNS": "1000"}).stdout.split("\nLimits, for --limit NAME=N:\n")[1]
        found = re.findall(r"(?m)^  ([a-z-]+)  .*\(default (\d+).*, at least (\d+)\)", shown)
        self.assertEqual(len(found), shown.count("at least "))
        self.assertGreater(len(found), 20)
        for name, default, least in found:
            with self.subTest(name):
                self.assertLessEqual(int(least), int(default))
                done = run(SERVER, "--list-tools", "-w", self.workspace, "--limit", f"{name}={least}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                if int(least) > 0:
                    self.fails(run(SERVER, "--list-tools", "--limit", f"{name}={int(least) - 1}"), 2, least + " is the least")
        for given, words in [("todo=1", "there is no limit todo; did you mean todos?"), ("todos", "todos needs a number"),
                             ("todos=", "todos needs a number"), ("=1", "there is no limit"), ("todos=1=2", "1=2 is not a whole number")]:
            with self.subTest(given):
                done = run(SERVER, "--list-tools", "--limit", given)
                self.fails(done, 2, words)
                self.assertEqual(done.stderr.count("(see") + done.stderr.count("--help-all"), 1, done)

    def test_help_is_short_and_help_all_is_whole(self):
        for program, most in ([SERVER], 40), ([PADDOCK, "call"], 12), ([PADDOCK, "tools"], 12):
            short, whole = (run(*program, option).stdout for option in ("--help", "--help-all"))
            options = lambda text: set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z][a-z-]*)", text))
            self.assertLess(options(short), options(whole))
            self.assertLessEqual(len(options(short)), most)
            self.assertLessEqual({"--fsync", "--skills-root", "--limit"}, options(whole))

    def test_times_are_for_people(self):
        done = run(PADDOCK, "exec", "-w", MISSING, "--", "true")
        self.fails(done, 125, MISSING + " cannot be used: no such file or directory")
        self.fails(run(PADDOCK, "exec", "--host", "-w", self.workspace, "--", "nosuch"), 127, "there is no program nosuch in PATH")
        for given in ["0", "-1", "nan", "inf", "1e300", "1e-9", "abc", "0x10", "2592001"]:
            done = run(PADDOCK, "exec", "--timeout", given, "--", "true")
            self.fails(done, 2, "--timeout", "between 1 ms and 30 days", "write seconds")
            self.assertLess(len(done.stderr), 200)
        for given in ["0.001", "60", "1e3", "2592000"]:
            self.assertIn(run(PADDOCK, "exec", "--host", "--timeout", given, "--", "true").returncode, (0, 124), given)
        for given in ["-1", "1k", "1.5", "9" * 30]:
            self.fails(run(PADDOCK, "exec", "--max-memory", given, "--", "true"), 2, "--max-memory")


class Server(Cli):
    def converse(self, *options, messages):
        lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": m, "params": {"_meta": MODERN, **p}})
                 for i, (m, p) in enumerate(messages)]
        with subprocess.Popen([SERVER, "--workspace", self.workspace, *options], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            server.stdin.write("\n".join(lines) + "\n")
            server.stdin.flush()
            # The end of the input would cancel a call that takes long, on a busy machine any.
            answers = {answer["id"]: answer for answer in (json.loads(server.stdout.readline()) for _ in messages)}
            rest = server.communicate(timeout=60)
        self.assertEqual((server.returncode, rest), (0, ("", "")))
        return [answers[i] for i in range(len(messages))]

    def test_lists_its_tools(self):
        done = run(SERVER, "--list-tools", "-w", self.workspace)
        self.assertEqual(len(done.stdout.splitlines()), 17)
        done = run(SERVER, "--list-tools", "--read-only", "-w", self.workspace)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()],
                         ["attemptCompletion", "todo", "clearTodo", "getFileInfo", "healthCheck", "readTextFile", "readImageFile", "readPdfFile", "listDirectory"])
        done = run(SERVER, "--list-tools", "--pick", "todo", "--omit", "exec", "-w", self.workspace)
        self.assertRegex(done.stdout, r"\Atodo +Add tasks [^\n]+\n\Z")

    HOSTS = {"claude-desktop": "mcpServers", "claude-code": "mcpServers", "vscode": "servers", "cursor": "mcpServers",
             "codex": "mcp_servers", "gemini": "mcpServers", "zed": "context_servers"}

    def configured(self, host, text):
        if host == "codex" and tomllib is None:
            return None
        read = tomllib.loads if host == "codex" else json.loads
        return read(text)[self.HOSTS[host]]["paddock"]

    def test_configurations_of_hosts(self):
        os.mkdir(self.path('a "b" \u00e9$\x7f'))
        workspace = os.path.join(self.workspace, 'a "b" \u00e9$\x7f')
        options = ["--read-only", "--pick=todo,readTextFile", "--exec", "off", "--limit", "todos=7",
                   "--audit", os.path.relpath(self.path("audit"))]
        for host in self.HOSTS:
            done = run(SERVER, "--print-config", host, "-w", os.path.relpath(workspace), *options)
            self.assertEqual(done.returncode, 0, done)
            if (server := self.configured(host, done.stdout)) is None:
                continue
            self.assertEqual(server.pop("type", None), "stdio" if host == "vscode" else None)
            self.assertEqual(server, {"command": os.path.realpath(SERVER), "args": [
                "--workspace", workspace, "--tools", "coding", "--read-only", "--pick", "todo,readTextFile", "--exec", "off",
                "--limit", "todos=7", "--audit", str(self.path("audit"))]})
            for line in re.findall(r"(?m)^or run: .* -- (.*)$", done.stderr):
                self.assertEqual(shlex.split(line), [server["command"], *server["args"]])
            # The host starts exactly this, from wherever it is.
            listed = subprocess.run([server["command"], *server["args"], "--list-tools"], cwd="/",
                                    capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual([line.split()[0] for line in listed.stdout.splitlines()], ["todo", "readTextFile"])

    def test_a_configuration_without_a_workspace(self):
        for host in self.HOSTS:
            done = subprocess.run([SERVER, "--print-config", host], cwd=self.workspace, capture_output=True,
                                  encoding="utf-8", timeout=60)
            expected = "${workspaceFolder}" if host in ("vscode", "cursor") else self.workspace
            if (server := self.configured(host, done.stdout)) is not None:
                self.assertEqual(server["args"], ["--workspace", expected, "--tools", "coding"])
            self.assertRegex(done.stderr, r"\A[^\n]+: put this into [^\n]+\n(or run: [^\n]+\n)?\Z")
        done = run(SERVER, "--print-config", "all", "-w", self.workspace)
        self.assertEqual(done.stdout.count(": put this into "), len(self.HOSTS))

    def test_configurations_name_the_workspace_alike(self):
        for spelled in [self.workspace, ".", self.workspace + "/", self.workspace + "/."]:
            done = subprocess.run([SERVER, "--print-config", "zed", "-w", spelled], cwd=self.workspace, capture_output=True,
                                  encoding="utf-8", timeout=60)
            self.assertEqual(self.configured("zed", done.stdout)["args"], ["--workspace", self.workspace, "--tools", "coding"], spelled)

    def test_configurations_name_the_tools(self):
        for options, expected in [((), ["--tools", "coding"]), (("--tools", "base"), ["--tools", "base"]),
                                  (("--pick", "searchText"), ["--tools", "coding", "--pick", "searchText"])]:
            done = run(SERVER, "--print-config", "zed", "-w", self.workspace, *options)
            self.assertEqual(self.configured("zed", done.stdout)["args"][2:], expected, done)
            command = [self.configured("zed", done.stdout)["command"], *self.configured("zed", done.stdout)["args"], "--list-tools"]
            listed = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual("searchText" in listed.stdout, "coding" in expected, listed)

    def test_mistakes_in_configurations(self):
        self.fails(run(SERVER, "--print-config", "zed", "--check"), 2, "contradict each other")
        os.mkdir(os.fsencode(self.workspace) + b"/\xff")
        done = subprocess.run([SERVER, "--print-config", "zed", "-w", os.fsencode(self.workspace) + b"/\xff"],
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"UTF-8", done.stderr)

    def test_checks_itself(self):
        done = run(SERVER, "--check", "--exec", "off", "-w", self.workspace)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        for line in [rf"workspace +{re.escape(self.workspace)}", "writing +a file was written", "tools +16: ",
                     "commands +are never run"]:
            self.assertRegex(done.stdout, rf"(?m)^ok +{line}")
        self.assertEqual(os.listdir(self.workspace), [])
        done = run(SERVER, "--check", "--read-only", "-w", "/proc")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"(?m)^ok +writing +not allowed by the options$")

    def test_a_failed_check(self):
        done = run(SERVER, "--check", "--exec", "off", "-w", "/proc") # where nobody makes a directory
        self.assertEqual((done.returncode, done.stderr), (1, ""), done)
        self.assertRegex(done.stdout, r"(?m)^FAILED +writing .*--read-only$")
        self.assertNotIn("can do its work", done.stdout)

    def test_the_check_opens_what_the_start_opens(self):
        coding = [SERVER, "--check", "--tools", "coding", "-w", self.workspace]
        inside = self.workspace + "/history"
        started = run(SERVER, "--tools", "coding", "-w", self.workspace, "--history", inside)
        self.assertEqual(started.returncode, 2, started)
        done = run(*coding, "--history", inside)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", started.stderr))
        with tempfile.TemporaryDirectory() as place:
            self.assertRegex(run(*coding, "--history", place).stdout, r"(?m)^ok +undo +a history is kept$")
        host = run(*coding, "--exec", "host").stdout
        self.assertRegex(host, r"(?m)^note +undo +is off: .*--exec host$")

    def test_the_check_tells_the_layers(self):
        done = run(SERVER, "--check", "-w", self.workspace)
        refused = re.search(r"(?m)^FAILED +commands +are refused: .*--exec", done.stdout)
        self.assertEqual(done.returncode, 1 if refused else 0, done)
        for layer in ["file_system", "network", "kill"]:
            self.assertRegex(done.stdout, rf"(?m)^(ok|note) +{layer} ")
        allowed = run(SERVER, "--check", "--network", "host", "-w", self.workspace).stdout
        self.assertRegex(allowed, r"(?m)^note +network +off by the options$")
        self.assertEqual(run(SERVER, "--check", "--network", "host", "-w", self.workspace).stdout, allowed)
        none = run(SERVER, "--check", "--network", "none", "-w", self.workspace).stdout
        self.assertNotIn("loopback", none)
        self.assertIn("loopback", done.stdout) # that there is one, or why there is none

    def test_read_only_refuses_what_it_does_not_offer(self):
        [answer] = self.converse("--read-only", messages=[
            ("tools/call", {"name": "writeTextFile", "arguments": {"path": "a", "text": ""}})])
        self.assertEqual(answer["error"]["code"], -32602)
        self.assertIn("writeTextFile; --read-only leaves it out", answer["error"]["message"])
        self.assertEqual(os.listdir(self.workspace), [])

    def exec_call(self, *options, script):
        arguments = {"command": "sh", "args": ["-c", script], "env": {}, "cwd": ".", "stdout": True, "stderr": True}
        [answer] = self.converse(*options, messages=[("tools/call", {"name": "exec", "arguments": arguments})])
        return json.loads(answer["result"]["content"][0]["text"])

    def test_errors_repeat_little_of_what_they_were_given(self):
        given = "\u00e9" * 3000
        for done in [run(PADDOCK, "call", given), run(PADDOCK, "call", "readTextFile", "--arg", "path=" + given, "-w", self.workspace),
                     run(PADDOCK, given), run(PADDOCK, "tools", given), run(SERVER, "--" + given), run(SERVER, "--pick", given),
                     run(SERVER, "-w", "/" + given), run(PADDOCK, "exec", "-w", self.workspace, "--", given),
                     run(PADDOCK, "skills", "show", given, "--root", self.workspace)]:
            self.assertNotEqual(done.returncode, 0, done)
            shown = (done.stdout + done.stderr).count("\u00e9")
            self.assertLessEqual(shown, 200, done.args[:3])

    def test_a_denied_command_is_told_why(self):
        self.needs_confinement()
        script = "python3 -c 'import socket; socket.socket()'"
        self.assertIn("--network all", self.exec_call("--network", "none", script=script)["message"])
        self.assertNotIn("error", self.exec_call("--network", "all", script=script))
        self.assertIn("--exec-write", self.exec_call(script="touch /usr/bin/x")["message"])
        self.assertNotIn("--exec", self.exec_call(script="exit 3")["message"])

    def call(self, tool, arguments, *options):
        [answer] = self.converse(*options, messages=[("tools/call", {"name": tool, "arguments": arguments})])
        return json.loads(answer["result"]["content"][0]["text"])

    def test_protected_names_are_refused_by_name_and_can_be_allowed(self):
        hook = {"path": ".git/hooks/pre-commit", "text": "x"}
        refused = self.call("writeTextFile", hook)
        self.assertEqual(refused["error"], "write_protected")
        self.assertIn("--unprotect .git/hooks", refused["message"])
        self.assertNotIn("error", self.call("writeTextFile", hook, "--unprotect", ".git/hooks"))
        made = {"path": "Makefile", "text": "x"}
        own = self.call("writeTextFile", made, "--protect", "Makefile")["message"]
        self.assertIn("leave it as it is: --protect Makefile was given at the start", own)
        self.assertNotIn("unprotect", own)
        self.assertNotIn("obey", own)
        head = self.call("writeTextFile", {"path": ".git/HEAD", "text": "x"})
        self.assertIn("git keeps its own there; use git through exec", head["message"])
        pathlib.Path(self.workspace, "environment").write_text("x")
        pathlib.Path(self.workspace, ".envrc").symlink_to("environment")
        led = self.call("writeTextFile", {"path": "environment", "text": "y"})
        self.assertIn("--unprotect .envrc", led["message"])
        self.assertNotIn("error", self.call("writeTextFile", {"path": "environment", "text": "y"}, "--unprotect", ".envrc"))
        self.assertNotIn("error", self.call("writeTextFile", made)) # the control
        hidden = self.call("readTextFile", {"path": "Makefile"}, "--protect", "Makefile=hidden")
        self.assertEqual(hidden["error"], "protected")
        self.fails(run(SERVER, "--protect", "a/../b", "-w", self.workspace), 2, "a/../b")
        self.fails(run(SERVER, "--protect", "a=none", "-w", self.workspace), 2, "read-only")
        self.fails(run(SERVER, "--unprotect", "a", "-w", self.workspace), 2, ".git/hooks")

    def test_a_command_is_told_of_protected_names(self):
        self.needs_confinement()
        made = self.exec_call(script="mkdir .vscode")
        self.assertRegex(made["notice"], r"^\.vscode is protected .*\.vscode\.made-by-command-[0-9a-f]{16}; .*--unprotect \.vscode$")
        self.assertNotIn(".vscode", os.listdir(self.workspace))
        self.assertNotIn("notice", self.exec_call("--unprotect", ".vscode", script="mkdir .vscode"))
        pathlib.Path(self.workspace, ".envrc").write_text("host")
        if "error" in (failed := self.exec_call(script="echo x >.envrc")):
            self.assertIn("--unprotect .envrc", failed["message"])
        pathlib.Path(self.workspace, "Makefile").write_text("host")
        if "error" in (failed := self.exec_call("--protect", "Makefile", script="echo x >Makefile")):
            self.assertIn("if it was to change Makefile, that is protected: --protect Makefile was given at the start", failed["message"])
        done = run(PADDOCK, "exec", "--json", "-w", self.workspace, "--", "touch", ".mcp.json")
        self.assertEqual([each["path"] for each in json.loads(done.stdout)["movedAside"]], [".mcp.json"])
        done = run(PADDOCK, "exec", "-w", self.workspace, "--", "touch", ".mcp.json")
        self.assertIn("it was moved to .mcp.json.made-by-command-", done.stderr)
        done = run(PADDOCK, "exec", "-w", self.workspace, "--unprotect", ".mcp.json", "--", "touch", ".mcp.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_link_that_leads_elsewhere_is_told(self):
        self.needs_confinement()
        place = pathlib.Path(self.workspace, "later")
        os.symlink("later/idea", os.path.join(self.workspace, ".idea"))
        command = ["mkdir", "-p", "later/idea"]
        told = ".idea is protected, and leads to something else than before the command"
        self.assertIn(told, self.exec_call(script=" ".join(command)).get("notice", ""))
        shutil.rmtree(place)
        self.assertIn(told, run(PADDOCK, "exec", "-w", self.workspace, "--", *command).stderr)
        shutil.rmtree(place)
        done = run(PADDOCK, "exec", "--json", "-w", self.workspace, "--", *command)
        self.assertEqual(json.loads(done.stdout)["ledElsewhere"], [".idea"])
        done = run(PADDOCK, "exec", "-w", self.workspace, "--", *command) # the control: it is there now
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_program_itself_cannot_be_replaced(self):
        bin = pathlib.Path(self.workspace, "out", "bin")
        bin.mkdir(parents=True)
        server, helper = bin / "paddock-mcp", bin / "paddock-exec-helper"
        shutil.copy2(SERVER, server)
        shutil.copy2(pathlib.Path(SERVER).with_name("paddock-exec-helper"), helper)
        audit = pathlib.Path(self.workspace, "audit.jsonl")

        def ask(tool, arguments):
            with Client("-w", self.workspace, "--audit", audit, program=server) as asked:
                return asked.call(tool, **arguments)

        for path in ["out/bin/paddock-exec-helper", "out/bin/paddock-mcp", "audit.jsonl"]:
            self.assertEqual(ask("writeTextFile", {"path": path, "text": "evil"})["error"], "write_protected", path)
        self.assertEqual(ask("moveFile", {"source": "out", "destination": "away"})["error"], "write_protected")
        self.assertNotIn("error", ask("writeTextFile", {"path": "out/bin/other", "text": "mine"})) # the control
        before = (server.read_bytes(), helper.read_bytes())
        for script in ["cp /bin/true out/bin/paddock-exec-helper", "mv out away", "rm -rf out/bin", ": > audit.jsonl"]:
            answer = ask("exec", {"command": "sh", "args": ["-c", script], "env": {}, "cwd": ".", "stdout": True, "stderr": True})
            if answer.get("error") == "confinement_unavailable":
                self.skipTest("this system cannot confine commands")
            self.assertEqual(answer["error"], "command_failed", script)
        self.assertEqual((server.read_bytes(), helper.read_bytes()), before)
        self.assertGreater(audit.stat().st_size, 0)

    def test_health_tells_the_layers(self):
        [answer] = self.converse(messages=[("tools/call", {"name": "healthCheck"})])
        layers = answer["result"]["structuredContent"]["confinement"]
        self.assertEqual([layer["layer"] for layer in layers][:3], ["file_system", "network", "kill"])
        self.assertEqual([layer["wanted"] for layer in layers][:3], ["required"] * 3)
        [answer] = self.converse("--exec", "off", messages=[("tools/call", {"name": "healthCheck"})])
        self.assertNotIn("confinement", answer["result"]["structuredContent"])

    def test_audit_lines_are_bounded(self):
        with tempfile.TemporaryDirectory() as folder:
            audit = pathlib.Path(folder, "audit.jsonl")
            meta = {**MODERN, "traceparent": "t" * 100_000,
                    "io.modelcontextprotocol/clientInfo": {"name": "n" * 100_000, "version": "1\n"}}
            self.converse("--audit", str(audit), messages=[("tools/call", {"_meta": meta, "name": "todo"})])
            [record] = audit.read_text().splitlines()
        self.assertLess(len(record), 1000)
        self.assertEqual(json.loads(record)["clientVersion"], "1\n")

    def test_audit_has_one_line_per_call(self):
        with tempfile.TemporaryDirectory() as folder:
            audit = pathlib.Path(folder, "audit.jsonl")
            audit.write_text('{"earlier": true}\n')
            self.converse("--audit", str(audit), messages=[
                ("server/discover", {}),
                ("tools/call", {"name": "writeTextFile", "arguments": {"path": "a", "text": "nobody's business"}}),
                ("tools/call", {"name": "readTextFile", "arguments": {"path": "../x\n"}})])
            self.assertNotIn("business", audit.read_text())
            earlier, *records = map(json.loads, audit.read_text().splitlines())
        self.assertEqual(earlier, {"earlier": True})
        records.sort(key=lambda record: record["id"])
        self.assertEqual([(r["tool"], r["id"], r["outcome"], r.get("error")) for r in records],
                         [("writeTextFile", 1, "ok", None), ("readTextFile", 2, "error", "escapes_root")])
        for record in records:
            self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertEqual(record["protocol"], "2026-07-28")
            self.assertGreater(record["bytesOut"], 0)
            self.assertGreaterEqual(record["durationUs"], 0)


class Skills(Cli):
    def skills(self, *arguments):
        return run(PADDOCK, "skills", *arguments, "--root", self.workspace)

    def put(self, path, content):
        self.path(path).parent.mkdir(parents=True, exist_ok=True)
        self.path(path).write_bytes(content.encode())

    def listed(self):
        return json.loads(self.skills("list", "--json").stdout)

    def test_the_life_of_a_skill(self):
        self.assertIn("There are no skills", self.skills("list").stdout)
        done = self.skills("add", "notes", "--name", "notes", "--description", "Takes: notes # daily")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "added .agents/skills/notes/SKILL.md\n", ""))
        self.assertEqual(self.listed(), {"skills": [
            {"id": "notes", "name": "notes", "description": "Takes: notes # daily", "source": "user",
             "path": ".agents/skills/notes/SKILL.md", "diagnostics": []}], "notLoaded": []})
        self.assertEqual(self.skills("edit", "notes", "--description", "Changed").returncode, 0)
        self.assertEqual(self.listed()["skills"][0]["description"], "Changed")
        self.assertRegex(self.skills("list").stdout, r"\AID +SOURCE +DESCRIPTION\nnotes +user +Changed\n\Z")
        shown = self.skills("show", "notes").stdout
        self.assertRegex(shown, r"(?m)^description +Changed$")
        self.assertIn("\n---\n", shown)
        self.assertEqual(json.loads(self.skills("show", "notes", "--json").stdout)["content"],
                         self.path(".agents/skills/notes/SKILL.md").read_text())
        self.assertEqual(self.skills("delete", "notes").stdout, "deleted notes\n")
        self.assertFalse(self.path(".agents/skills/notes").exists())

    def test_columns_are_those_of_a_terminal(self):
        """Wide characters take two columns, as Python's tables of Unicode have it; the control is a name of narrow ones."""
        def columns(text):
            return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
        for name in ["narrow-name", "\u67e5\u8be2\u884c\u60c5", "\ud55c\uad6d", "\u30ab\u30ca"]:
            self.put(f".agents/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: d\n---\n")
        rows = [line for line in self.skills("list").stdout.splitlines() if " user " in line]
        self.assertEqual(len(rows), 4)
        self.assertEqual({columns(row[:row.index("user")]) for row in rows}, {columns("narrow-name") + 2})

    def test_system_skills_win_and_stay(self):
        for place in ["sys.skills", "skills"]:
            self.put(f".agents/{place}/x/SKILL.md", f"---\nname: x\ndescription: From {place}.\n---\n")
        listed = self.listed()
        self.assertEqual([(s["source"], s["description"]) for s in listed["skills"]], [("system", "From sys.skills.")])
        self.assertEqual([(n["path"], n["reason"]) for n in listed["notLoaded"]], [(".agents/skills/x", "shadowed")])
        self.fails(self.skills("edit", "x", "--name", "y"), 1, "system skill")
        self.assertIn("From sys.skills", self.path(".agents/sys.skills/x/SKILL.md").read_text())

    def test_what_is_not_loaded_says_why(self):
        self.put(".agents/skills/broken/SKILL.md", "---\nname: broken\n---\n")
        self.put(".agents/skills/empty/readme.txt", "")
        os.mkdir(self.path(".agents/skills/pipe"))
        os.mkfifo(self.path(".agents/skills/pipe/SKILL.md"))
        self.assertEqual({n["id"]: n["reason"] for n in self.listed()["notLoaded"]},
                         {"broken": "invalid_frontmatter", "empty": "no_skill_file", "pipe": "unreadable"})
        self.assertRegex(self.skills("list").stdout, r"(?m)^\.agents/skills/empty: there is no SKILL.md$")
        self.fails(self.skills("show", "broken"), 1, ".agents/skills/broken is not a skill", "description")

    def test_validate_points_like_a_compiler(self):
        self.put(".agents/skills/good/SKILL.md", "---\nname: good\ndescription: Good.\n---\n")
        done = self.skills("validate")
        self.assertEqual((done.returncode, done.stdout), (0, "1 skill: 0 errors, 0 warnings\n"))
        self.put(".agents/skills/bad/SKILL.md", "---\nname: Other\n---\n")
        done = self.skills("validate")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"(?m)^\.agents/skills/bad/SKILL\.md:\d+:\d+: error: .+ \[missing-description\]$")
        self.assertRegex(done.stdout, r"(?m)^\.agents/skills/bad/SKILL\.md:2:\d+: warning: .+ \[[a-z-]+\]$")
        self.put(".agents/skills/odd/SKILL.md", "---\nname: odd\ndescription: Odd.\nfoo: 1\n---\n")
        self.assertIn("odd/SKILL.md:4:1: warning: foo: the specification has no such key; move it under metadata [unknown-key]\n",
                      self.skills("validate").stdout)
        for path in [".agents/skills/good", ".agents/skills/good/SKILL.md"]:
            self.assertEqual(run(PADDOCK, "skills", "validate", str(self.path(path))).returncode, 0)
        done = run(PADDOCK, "skills", "validate", str(self.path(".agents/skills/bad")), "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["errors"]), (1, 1))
        done = run(PADDOCK, "skills", "validate", self.workspace + "/absent")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: no such file or directory; give a SKILL.md or its directory, or a workspace with --root [not_found]", done.stdout)
        self.assertIn("\n0 skills: 1 error, 0 warnings\n", done.stdout)

    def test_nothing_to_validate_is_said(self):
        done = self.skills("validate")
        self.assertEqual((done.returncode, done.stdout), (0, f"There are no skills in {self.workspace} to check; name one, or another --root.\n"))

    def test_a_file_in_the_wrong_case_is_named(self):
        self.put(".agents/skills/lower/skill.md", "---\nname: lower\ndescription: d\n---\n")
        listed = self.listed()["notLoaded"][0]
        self.assertEqual((listed["reason"], "rename it to SKILL.md" in listed["message"]), ("wrong_case", True))
        for done in [self.skills("validate"), run(PADDOCK, "skills", "validate", str(self.path(".agents/skills/lower")))]:
            self.assertEqual(done.returncode, 1)
            self.assertIn("error: the file is named skill.md; rename it to SKILL.md [wrong_case]\n", done.stdout)
        done = json.loads(self.skills("validate", "--json").stdout)
        self.assertEqual((done["files"][0]["found"], done["errors"]), ("skill.md", 1))
        os.rename(self.path(".agents/skills/lower/skill.md"), self.path(".agents/skills/lower/SKILL.md"))
        self.assertEqual(self.skills("validate").returncode, 0)

    def test_validate_names_what_nobody_sees(self):
        self.put(".agents/skills/a/SKILL.md", "---\nname: a\ndescription: b\u200bc\n---\n\U000e0041 \U0001f469\u200d\U0001f4bb\n")
        done = self.skills("validate")
        self.assertEqual(done.returncode, 0)
        self.assertIn("a/SKILL.md:3:15: warning: a character that a model reads and a person does not see stands here; "
                      "remove it: U+200B, a zero width space [invisible-character]\n", done.stdout)
        self.assertIn("a/SKILL.md:5:1: warning:", done.stdout)
        self.assertIn("2 warnings", done.stdout)
        found = json.loads(self.skills("validate", "--json").stdout)["files"][0]["diagnostics"]
        self.assertEqual([each["character"] for each in found], ["U+200B", "U+E0041"])
        self.assertIn("**a**: a — bc\n", self.skills("prompt").stdout)

    def test_a_name_that_is_not_the_directorys_is_told(self):
        for command, name, differs in [("add", "other", True), ("edit", "demo", False), ("edit", "third", True)]:
            done = self.skills(command, "demo", "--name", name, "--description", "What it does.")
            self.assertEqual((done.returncode, "differs from the name of the skill's directory" in done.stderr), (0, differs), done)

    def test_import_and_overwrite(self):
        self.put("source/demo/SKILL.md", "---\nname: demo\ndescription: One.\n---\n")
        self.put("source/demo/scripts/run.py", "print(1)\n")
        source = str(self.path("source/demo"))
        done = self.skills("import", source)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertRegex(done.stdout, r"\Aimported \.agents/skills/demo/SKILL\.md: 2 files, \d+ bytes\n\Z")
        self.assertEqual([(f["path"], f["type"]) for f in json.loads(self.skills("files", "demo", "--json").stdout)["files"]],
                         [("SKILL.md", "file"), ("scripts", "directory"), ("scripts/run.py", "file")])
        self.fails(self.skills("import", source), 1, "another id", "overwrite")
        self.assertEqual(self.skills("import", source).stderr.count("another id"), 1) # advice is given once
        self.put("source/alone/SKILL.md", "---\nname: alone\ndescription: One.\n---\n")
        self.assertIn(": 1 file, ", self.skills("import", str(self.path("source/alone"))).stdout)
        done = self.skills("import", source, "--id", "demo", "--overwrite", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["replaced"]), (0, True))
        self.put("source/links/SKILL.md", "---\nname: links\ndescription: One.\n---\n")
        for name in ".git/config", "a/.git/config", ".perstack/x", "a/._b", "a/b":
            self.put(f"source/links/{name}", "x")
        shutil.make_archive(self.path("left"), "zip", self.path("source/links"))
        for source in self.path("source/links"), self.path("left.zip"):
            done = self.skills("import", str(source), "--id", source.name.split(".")[0] + "1")
            self.assertIn(": 2 files, ", done.stdout)
            self.assertEqual(re.findall("left out (.*)\n", done.stdout), [".git", ".perstack", "a/._b", "a/.git"])
        done = self.skills("import", str(source), "--id", "left1", "--overwrite", "--json")
        self.assertEqual(json.loads(done.stdout)["leftOut"], [".git", ".perstack", "a/._b", "a/.git"])
        self.path("source/links/out").symlink_to("/etc/passwd")
        done = self.skills("import", str(self.path("source/links")), "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["refused"]), (1, "symlink"))
        self.assertFalse(self.path(".agents/skills/links").exists())

    def test_prompt(self):
        self.put(".agents/skills/a/SKILL.md", "---\nname: a\ndescription: A & b.\n---\n")
        self.assertIn("\n- **a**: a — A & b.\n", self.skills("prompt").stdout)
        self.assertIn("\nA &amp; b.\n", self.skills("prompt", "--format", "xml").stdout)
        done = self.skills("prompt", "--budget", "100", "--json")
        self.assertEqual(json.loads(done.stdout)["leftOut"], 1)
        for budget, told in [("50", "paddock skills: 1 of 1 skills are left out, because the text has 50 bytes at most; raise --budget"),
                             ("1000", "")]:
            done = self.skills("prompt", "--budget", budget)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stderr.startswith(told) if told else done.stderr == "", done)

    def test_no_control_character_reaches_a_terminal(self):
        self.put(".agents/skills/evil/SKILL.md", '---\nname: evil\ndescription: "a\\e]0;x\\ab"\n---\n\x1b[2J\n')
        self.put(".agents/skills/\x1b[31mred/SKILL.md", "---\nname: red\ndescription: x\n---\n")
        for command in [["list"], ["show", "evil"], ["validate"], ["files", "evil"], ["show", "\x1b[31m"], ["prompt"]]:
            done = self.skills(*command)
            self.assertNotRegex(done.stdout + done.stderr, r"[\x00-\x08\x0b-\x1f\x7f]", command)

    def test_mistakes(self):
        self.fails(run(PADDOCK, "skills"), 2, "a command is missing: ", "validate")
        self.fails(run(PADDOCK, "skills", "list", "--root", self.workspace + "/absent"), 2, "absent", "no such")
        self.fails(self.skills("show", "absent"), 1, "no skill absent")
        self.fails(self.skills("delete", "absent"), 1, "no skill absent")
        self.path(".agents/skills").mkdir(parents=True, exist_ok=True)
        self.path(".agents/skills/plain").write_text("x")
        self.fails(self.skills("delete", "plain"), 1, "plain is a file among the skills and no skill; nothing was")
        self.assertEqual(self.path(".agents/skills/plain").read_text(), "x")
        self.path(".agents/skills/plain").unlink()
        shutil.rmtree(self.path(".agents"))
        self.fails(self.skills("add", "../x", "--name", "x", "--description", "y"), 1, "cannot be an id")
        self.fails(self.skills("add", "x", "--name", " ", "--description", "y"), 1, "name cannot be used")
        self.fails(self.skills("add", "x", "--name", "x"), 2, "--description")
        self.fails(self.skills("edit", "x"), 2, "--name or --description")
        self.fails(self.skills("import", self.workspace + "/absent"), 1, "does not exist")
        self.fails(self.skills("prompt", "--format", "yaml"), 2, "yaml")
        self.assertEqual(list(pathlib.Path(self.workspace).rglob("*")), [])

    def test_every_refusal_says_what_to_do_next(self):
        self.put(".agents/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n")
        self.put(".agents/skills/none/x.txt", "x")
        self.put(".agents/skills/broken/SKILL.md", "---\nname: [x\n---\n")
        self.put(".agents/skills/tied/SKILL.md", "---\nname: &n tied\ndescription: d\nother: *n\n---\n")
        self.put(".agents/sys.skills/own/SKILL.md", "---\nname: own\ndescription: d\n---\n")
        self.put(".agents/skills/called/SKILL.md", "---\nname: Its name\ndescription: d\n---\n")
        self.put("file", "x")
        self.put("in-place/.agents/skills", "x")
        self.put("above/.agents", "x")
        before = {path: path.is_file() and path.read_bytes() for path in self.path(".").rglob("*")}
        name, both = ("--name", "n"), ("--name", "n", "--description", "d")
        source = str(self.path(".agents/skills/s"))
        cases = [
            ("show", "absent", "paddock skills list"), ("edit", "absent", *name, "paddock skills list"),
            ("delete", "absent", "paddock skills list"), ("files", "absent", "paddock skills list"),
            ("show", "", "paddock skills list"), ("delete", "", "paddock skills list"), ("show", "a/b", "paddock skills list"),
            ("show", "Its name", "the one named so is called"), ("import", "https://example.org/x.zip", "nothing is downloaded"),
            ("show", "none", "add one"), ("show", "broken", "correct it"),
            ("edit", "broken", *name, "give --description too"), ("edit", "tied", *name, "editor"),
            ("edit", "own", *name, "make a user skill of another id"), ("delete", "own", "by hand"),
            ("add", "own", *both, "choose another id"), ("add", "s", *both, "choose another id, or change it with edit"),
            ("add", "", *both, "use letters"), ("add", "a/b", *both, "use letters"), ("add", "x", "--name", "", *both[2:], "give one line"),
            ("import", source, "--id or --overwrite"), ("import", source, "--id", "own", "choose another id"),
            ("import", self.workspace + "/absent", "check the path"), ("import", str(self.path("file")), "give a folder"),
            ("import", str(self.path("above")), "add one"),
        ]
        for *arguments, advice in cases:
            with self.subTest(arguments=arguments):
                self.fails(self.skills(*arguments), 1, advice)
        for root, advice in (("absent", "make it, or give another with --root"), ("file", "give a directory with --root"),
                             ("in-place", "move away what is there"), ("above", "move away what is there")):
            for command in (["list"], ["prompt"], ["show", "s"], ["delete", "s"], ["edit", "s", *name], ["add", "q", *both],
                            ["import", source, "--id", "q"], ["validate"], ["files", "s"]):
                with self.subTest(root=root, command=command):
                    self.fails(run(PADDOCK, "skills", *command, "--root", str(self.path(root))), 2, advice)
        for path in ("absent", "."):
            done = self.skills("validate", str(self.path(path)))
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("give a SKILL.md or its directory, or a workspace with --root", done.stdout)
        self.assertEqual({path: path.is_file() and path.read_bytes() for path in self.path(".").rglob("*")}, before)


class ServerWithSkills(Cli):
    def test_options(self):
        done = run(SERVER, "--workspace", self.workspace, "--skills", "--list-tools")
        self.assertIn("\nReadFile ", done.stdout)
        self.assertNotIn("ReadFile", run(SERVER, "--workspace", self.workspace, "--list-tools").stdout)
        self.path("other").mkdir()
        self.path("other/a.rs").write_text("fn")
        done = run(PADDOCK, "call", "ReadFile", '{"path": "a.rs"}', "-w", self.workspace, "--skills", "--skills-root",
                   str(self.path("other")), "--skills-read-extensions", ".rs,.toml")
        self.assertEqual(json.loads(done.stdout), {"path": "a.rs", "content": "fn"})
        self.fails(run(SERVER, "--skills-root", self.workspace), 2, "--skills")
        self.fails(run(SERVER, "-w", self.workspace, "--skills", "--skills-root", "/absent"), 2, "/absent")

    def test_instructions_keep_to_the_budget(self):
        for i in range(300):
            self.path(f".agents/skills/s{i}").mkdir(parents=True)
            self.path(f".agents/skills/s{i}/SKILL.md").write_text(f"---\nname: s{i}\ndescription: {'d' * 500}\n---\n")
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": MODERN}}) + "\n"
        done = run(SERVER, "-w", self.workspace, "--skills", stdin=line)
        instructions = json.loads(done.stdout)["result"]["instructions"]
        self.assertIn("- **s0**: s0 — ddd", instructions)
        self.assertIn("more skills are not listed", instructions)
        self.assertLess(len(instructions.encode()), 16_600)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
