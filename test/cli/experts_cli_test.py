#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`paddock experts` as a person runs it: what it prints where, its exit codes, and that nothing is left behind."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PADDOCK = os.environ["PADDOCK"]
SERVER = str(pathlib.Path(__file__).resolve().parents[1] / "support/mcp/skill_server.py")
HAS_TOML = os.environ["PADDOCK_WITH_TOML"] == "1"

# The documented example; remote-api is left out where no network is wanted.
DOCUMENTED = """
[experts."my-expert".skills."file-ops"]
type = "mcpStdioSkill"
command = "npx"
packageName = "@perstack/base"
pick = ["readTextFile", "writeTextFile"]
omit = ["deleteFile"]

[experts."my-expert".skills."db"]
type = "mcpStdioSkill"
command = "npx"
packageName = "@example/db-mcp"
requiredEnv = ["DATABASE_URL", "DB_PASSWORD"]

[experts."my-expert".skills."user-input"]
type = "interactiveSkill"
description = "Tools for user interaction"

[experts."my-expert".skills."user-input".tools.confirm]
name = "confirm"
description = "Ask user for confirmation"
inputJsonSchema = '{"type":"object","properties":{"message":{"type":"string"}}}'

[experts."orchestrator"]
delegates = ["researcher", "writer"]

[experts."researcher"]
description = "Finds out"
[experts."writer"]
"""


class Experts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-experts-")
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name).resolve()

    def servers(self, **arguments):
        """A configuration of the servers of this file, and its options."""
        config = {"mcpServers": {name: {"command": SERVER, "args": ["--cookie", str(self.here), *tools]}
                                 for name, tools in arguments.items()}}
        path = self.here / "servers.json"
        path.write_text(json.dumps(config))
        return ["--config", str(path)]

    def run_experts(self, *arguments, stdin="", **environment):
        return subprocess.run([PADDOCK, "experts", *arguments], input=stdin, capture_output=True, encoding="utf-8",
                              timeout=120, cwd=self.here, env={**os.environ, **environment})

    def processes(self):
        """Command lines of servers that this test started."""
        lines = [self.command_line(folder) for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit()]
        return [line for line in lines if str(self.here).encode() in line]

    @staticmethod
    def command_line(folder):
        try:
            return (folder / "cmdline").read_bytes()
        except OSError:
            return b""


class Servers(Experts):
    def test_list_starts_nothing(self):
        done = self.run_experts("list", *self.servers(s=["--started", str(self.here / "started"), "one"]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^  base +@perstack/base +in this process$")
        self.assertRegex(done.stdout, r"(?m)^  mcp +s +\S+skill_server.py")
        self.assertFalse((self.here / "started").exists())

    def test_no_configuration(self):
        for name, words in [("other", "name one with --config\n"), (".mcp.json", "to read .mcp.json, add --config .mcp.json\n")]:
            (self.here / name).write_text("{}")
            self.assertTrue(self.run_experts("list").stderr.endswith(words), name)

    def test_tools_of_all_skills(self):
        options = self.servers(s=["one"], t=["two"])
        done = self.run_experts("tools", *options)
        self.assertEqual(done.returncode, 0, done)
        for line in [r"one +s +mcp +does one", r"two +t +mcp", r"readTextFile +@perstack/base +base"]:
            self.assertRegex(done.stdout, rf"(?m)^  {line}")
        self.assertRegex(done.stderr, r"(?m)^s: starting .*skill_server.py")
        self.assertRegex(done.stderr, r"(?m)^s: \| a line for the log$")
        self.assertRegex(done.stderr, r"(?m)^s: ready, 1 tool, ")
        quiet = self.run_experts("tools", *options, "--json", "--quiet")
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))
        one = next(tool for tool in json.loads(quiet.stdout) if tool["tool"] == "one")
        self.assertEqual(one, {"expert": "default", "tool": "one", "skill": "s", "type": "mcp",
                               "description": "does one", "inputSchema": {"type": "object"}})
        self.assertEqual(self.processes(), [])

    def test_call(self):
        options = [*self.servers(s=["one", "fail"]), "--quiet"]
        done = self.run_experts("call", "one", '{"a": 1}', *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'one 1 {"a":1}\n', ""))
        done = self.run_experts("call", "fail", *options, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIs(json.loads(done.stdout)["isError"], True)
        done = self.run_experts("call", "writeTextFile", '{"path": "a.txt", "text": "x"}', *options)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((self.here / "a.txt").read_text(), "x")
        for tool, arguments, word in [("nope", "{}", "nope"), ("one", "[]", "JSON object")]:
            done = self.run_experts("call", tool, arguments, *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(word, done.stderr)

    def test_check_names_what_does_not_work(self):
        done = self.run_experts("check", *self.servers(good=["one"], bad=["--fail"]), "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"(?m)^paddock experts: default: bad: cannot use .*skill_server.py")
        self.assertRegex(done.stdout, r"(?m)^failed  default")
        self.assertEqual(self.processes(), [])
        done = self.run_experts("check", *self.servers(good=["one"]), "--json", "--quiet")
        self.assertEqual(done.returncode, 0, done)
        (checked,) = json.loads(done.stdout)
        self.assertTrue(checked["ok"])
        self.assertIn({"skill": "good", "tools": 1}, [{"skill": s["skill"], "tools": s["tools"]}
                                                      for s in checked["skills"]])

    def test_check_names_all_that_does_not_work(self):
        options = self.servers(good=["one"], bad=["--fail"], other=["one"], worse=["--fail"])
        done = self.run_experts("check", *options, "--quiet")
        self.assertEqual(done.returncode, 1)
        for name in ["bad", "worse"]:
            self.assertEqual(len(re.findall(rf"(?m)^paddock experts: default: {name}: .", done.stderr)), 1, done.stderr)
            self.assertRegex(done.stdout, rf"(?m)^  {name} +failed after \d[^\n]*s$")
        for name in ["good", "other"]:
            self.assertNotRegex(done.stderr, rf"default: {name}: ")
            self.assertRegex(done.stdout, rf"(?m)^  {name} +works after \d[^\n]*s$")
        (checked,) = json.loads(self.run_experts("check", *options, "--json", "--quiet").stdout)
        self.assertFalse(checked["ok"])
        states = {s["skill"]: (s["state"], "problem" in s, s["connectUs"] > 0) for s in checked["skills"]}
        self.assertEqual({name: states[name] for name in ["good", "bad", "other", "worse"]},
                         {"good": ("works", False, True), "bad": ("failed", True, True),
                          "other": ("works", False, True), "worse": ("failed", True, True)})
        self.assertEqual(self.processes(), [])

    def test_check_says_what_it_waits_for(self):
        """The control is the server beside it, which is never waited for; and who wants no progress hears nothing of it."""
        started = self.here / "started"
        options = self.servers(good=["one"], deaf=["--silent", "--started", str(started)])
        config = json.loads((self.here / "servers.json").read_text())
        config["mcpServers"]["deaf"]["connectTimeout"] = 6000
        (self.here / "servers.json").write_text(json.dumps(config))
        waits = r"(?m)^(\S+): no answer yet; it has 6\S* s \(connectTimeout in the configuration\)$"
        for quiet, told in [([], ["deaf"]), (["--quiet"], [])]:
            started.unlink(missing_ok=True)
            done = self.run_experts("check", *options, *quiet)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(re.findall(waits, done.stderr), told, done.stderr)
            self.assertRegex(done.stderr, r"(?m)^paddock experts: default: deaf: .* did not answer initialize in time; it has 6\S* s")
            self.assertRegex(done.stdout, r"(?m)^  deaf +failed after \d[^\n]*s\n  good|^  good[^\n]*\n  deaf +failed after")
            self.assertEqual(len(started.read_text().splitlines()), 1, "it is not waited for once more")
        self.assertEqual(self.processes(), [])

    def test_check_tells_what_is_wrong_with_all_together(self):
        done = self.run_experts("check", *self.servers(s=["one"], t=["one"]), "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"(?m)^paddock experts: default: \S+ two skills have a tool one")
        self.assertRegex(done.stdout, r"(?m)^  s +works after")

    def test_check_tells_all_once_and_in_order(self):
        """All start, and only then it shows that two have one name: each is started alone once more, and warns again."""
        options = self.servers(s=["one"], t=["one"])
        config = json.loads((self.here / "servers.json").read_text())
        for server in config["mcpServers"].values():
            server["pick"] = ["one", "gone"]
        (self.here / "servers.json").write_text(json.dumps(config))
        done = subprocess.run([PADDOCK, "experts", "check", *options, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", timeout=120, cwd=self.here)
        for name in ["s", "t"]:
            self.assertEqual(done.stdout.count(f"warning: {name}: pick names gone"), 1, done.stdout)
        self.assertRegex(done.stdout, r"(?s)\nfailed  default: see below\n.*paddock experts: default: \S+ two skills have a tool one")

    def test_check_waits_for_nothing_that_has_failed(self):
        """Its sibling takes long to end. That who does not answer is named is above."""
        done = self.run_experts("check", *self.servers(bad=["--fail"], slow=["--deaf", "one"]))
        self.assertRegex(done.stderr, r"(?m)^paddock experts: default: bad: ")
        self.assertNotIn("bad: no answer yet", done.stderr)
        self.assertEqual(self.processes_left(), [])

    def test_an_interrupt_ends_the_servers(self):
        started = self.here / "started"
        os.mkfifo(started)
        process = subprocess.Popen([PADDOCK, "experts", "tools", *self.servers(s=["--started", str(started), "--silent"])],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.here)
        with open(started) as file:
            file.readline()  # the server runs, and will never answer
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertEqual(self.processes(), [])

    def processes_left(self):
        """The same, once the kernel has had time to end what was killed."""
        until = time.monotonic() + 30
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.02)
        return left

    def kill_the_host(self, program, *server, environment=None):
        """Kills `paddock experts call hang` while its server runs, which ignores SIGTERM and the end of its input."""
        started = self.here / "started"
        os.mkfifo(started)
        config = self.servers(s=["--started", str(started), "--deaf", *server, "hang"])
        process = subprocess.Popen([program, "experts", "call", "hang", *config], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=self.here, env={**os.environ, **(environment or {})})
        with open(started) as file:
            file.readline()
        started.unlink()
        self.assertNotEqual(self.processes(), [])
        process.kill()
        process.wait()

    def test_servers_end_with_a_host_that_is_killed(self):
        for server in [[], ["--child"]]:
            self.kill_the_host(PADDOCK, *server)
            self.assertEqual(self.processes_left(), [], server)

    def test_without_the_helper_such_a_server_stays(self):
        """The control: what the test above looks for can be there."""
        alone = self.here / "alone/paddock"
        alone.parent.mkdir()
        shutil.copy(PADDOCK, alone)
        libraries = {"LD_LIBRARY_PATH": str(pathlib.Path(PADDOCK).resolve().parents[1] / "src")}
        report = json.loads(subprocess.run([alone, "doctor", "--json"], capture_output=True, encoding="utf-8",
                                           env={**os.environ, **libraries}).stdout)
        if next(f for f in report["features"] if f["name"] == "helper program")["found"]:
            self.skipTest("a helper is installed on this system")
        self.kill_the_host(alone, environment=libraries)
        left = self.servers_alive()
        self.assertEqual(len(left), 1)
        for process in left:
            os.kill(process, signal.SIGKILL)

    def servers_alive(self):
        return [int(folder.name) for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit()
                and str(self.here).encode() in self.command_line(folder)]

    def test_a_server_that_is_the_base_skill_is_not_joined_by_another(self):
        program = str(pathlib.Path(PADDOCK).with_name("paddock-mcp"))
        if not os.path.exists(program):
            self.skipTest("paddock-mcp is not built")
        path = self.here / "servers.json"
        for command, code in [(program, 0), (SERVER, 0)]:
            arguments = ["--workspace", str(self.here)] if command == program else ["--cookie", str(self.here), "first"]
            path.write_text(json.dumps({"mcpServers": {"s": {"command": command, "args": arguments}}}))
            done = subprocess.run([PADDOCK, "experts", "tools", "--config", str(path), "-w", str(self.here)],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done)
            self.assertEqual(done.stdout.count("readTextFile"), 1, done)  # of the server, or of the Base Skill
            self.assertEqual("@perstack/base" in done.stdout, command == SERVER, done)

    def test_names_of_tools_that_are_gone_are_warnings(self):
        path = self.here / "servers.json"
        path.write_text(json.dumps({"mcpServers": {"s": {"command": SERVER, "args": ["first", "second"],
                                                         "pick": ["first", "secnd"]}}}))
        done = self.run_experts("tools", "--config", str(path), "--quiet")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr.splitlines(), ["paddock experts: warning: s: pick names secnd, which is no tool here and "
                                                    "is ignored; did you mean second?"])
        self.assertIn("first", done.stdout)

    def test_check_tells_states(self):
        done = self.run_experts("check", *self.servers(good=["one"]), "--quiet")
        self.assertRegex(done.stdout, r"(?m)^  mcp +good +ready$")
        (checked,) = json.loads(self.run_experts("check", *self.servers(good=["one"]), "--json", "-q").stdout)
        self.assertEqual({s["skill"]: s["state"] for s in checked["skills"]},
                         {"@perstack/base": "ready", "good": "ready"})

    def test_mistakes(self):
        wrong = self.here / "wrong.json"
        wrong.write_text('{"mcpServers": {"a": {"command": "x",\n"comand": 1,\n"cwd": 5}}}')
        done = self.run_experts("check", "--config", str(wrong))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 2)
        self.assertIn(f"{wrong}:2: mcpServers.a.comand: is not a key", done.stderr)
        self.assertIn(f"{wrong}:3: mcpServers.a.cwd: must be a string", done.stderr)
        for arguments, word in [(["list"], "no perstack.toml"), (["list", "--config", "absent.toml"], "absent.toml"),
                                ([], "a command is missing: list, tools"), (["call"], "tool is required"),
                                (["list", "--expert", "x", *self.servers(s=[])], "no expert x")]:
            done = self.run_experts(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(word, done.stderr)


class OwnConfiguration(Experts):
    """What it names is started at the next run, so no expert changes it. The control is a file beside it."""

    def tool(self, name, **arguments):
        done = self.run_experts("call", name, json.dumps(arguments), "--config", str(self.here / "servers.json"), "-q")
        return done.stdout + done.stderr

    def test_tools_cannot_change_it(self):
        self.servers()
        before = (self.here / "servers.json").read_text()
        (self.here / "other.json").write_text(before)
        for name, more in [("writeTextFile", {"text": "evil"}), ("appendTextFile", {"text": "evil"}),
                           ("editTextFile", {"oldText": "mcpServers", "newText": "evil"}), ("deleteFile", {})]:
            self.assertIn("write_protected", self.tool(name, path="servers.json", **more), name)
            self.assertNotIn("error", self.tool(name, path="other.json", **more), name)
            (self.here / "other.json").write_text(before)
        self.assertIn("write_protected", self.tool("moveFile", source="other.json", destination="servers.json"))
        self.assertIn("write_protected", self.tool("writeTextFile", path="perstack.toml", text="evil"))
        self.assertEqual((self.here / "servers.json").read_text(), before)
        self.assertFalse((self.here / "perstack.toml").exists())

    script = "for name in servers.json other.json; do rm -f $name; echo evil >$name; done"

    def check(self, said):
        if "confinement" in said and not (self.here / "other.json").exists():
            self.skipTest(said)
        self.assertEqual((self.here / "other.json").read_text(), "evil\n", said)
        self.assertIn("mcpServers", (self.here / "servers.json").read_text())

    def test_commands_cannot_change_it(self):
        self.servers()
        self.check(self.tool("exec", command="sh", args=["-c", self.script], env={}, cwd=".", stdout=True, stderr=True))

    def test_confined_servers_cannot_change_it(self):
        for name, more in [("working directory", {}), ("write path", {"cwd": "below", "writePaths": [str(self.here)]})]:
            with self.subTest(name):
                (self.here / "below").mkdir(exist_ok=True)
                (self.here / "other.json").unlink(missing_ok=True)
                server = {"command": "sh", "args": ["-c", f"cd {self.here}; {self.script}; exec {SERVER} one"],
                          "confinement": "required", "readPaths": [os.path.dirname(SERVER)], **more}
                (self.here / "servers.json").write_text(json.dumps({"mcpServers": {"s": server}}))
                self.check(self.tool("one"))


@unittest.skipUnless(HAS_TOML, "built without toml++")
class Documented(Experts):
    def setUp(self):
        super().setUp()
        (self.here / "perstack.toml").write_text(DOCUMENTED)
        # In place of npx: no network, and what it was asked to run is seen.
        shims = self.here / "bin"
        shims.mkdir()
        (shims / "npx").write_text(f'#!/bin/sh\n[ "$*" = "-y @example/db-mcp" ] && exec {SERVER} environment\nexit 9\n')
        (shims / "npx").chmod(0o755)
        self.environment = {"PATH": f"{shims}:{os.environ['PATH']}", "DATABASE_URL": "url", "DB_PASSWORD": "secret",
                            "UNRELATED": "must not arrive"}

    def test_works(self):
        done = self.run_experts("tools", "--json", "-q", **self.environment)
        self.assertEqual(done.returncode, 0, done)
        found = [(tool["expert"], tool["skill"], tool["tool"]) for tool in json.loads(done.stdout)]
        mine = [row[1:] for row in found if row[0] == "my-expert"]
        self.assertEqual(mine, [("file-ops", "readTextFile"), ("file-ops", "writeTextFile"), ("db", "environment"),
                                ("user-input", "confirm")])
        self.assertEqual([row[2] for row in found if row[0] == "orchestrator"][-2:], ["researcher", "writer"])

    def test_only_named_variables_arrive(self):
        done = self.run_experts("call", "environment", "-e", "my-expert", "-q", **self.environment)
        seen = json.loads(done.stdout)
        self.assertEqual((seen["DATABASE_URL"], seen["DB_PASSWORD"]), ("url", "secret"))
        self.assertNotIn("UNRELATED", seen)
        done = self.run_experts("check", "-e", "my-expert", **{**self.environment, "DB_PASSWORD": ""})
        self.assertEqual(done.returncode, 1)
        self.assertIn("db: requires the environment variable DB_PASSWORD", done.stderr)

    def test_interactive_tools_ask(self):
        options = ["-e", "my-expert", "-q"]
        done = self.run_experts("call", "confirm", '{"message": "Go on?"}', *options, stdin="yes\n", **self.environment)
        self.assertEqual((done.returncode, done.stdout), (0, "yes\n"), done)
        self.assertIn("message: Go on?", done.stderr)
        done = self.run_experts("call", "confirm", *options, "--json", stdin="Sure?\nno\n", **self.environment)
        self.assertEqual(json.loads(done.stdout), {"skill": "user-input", "tool": "confirm",
                                                   "arguments": {"message": "Sure?"}, "answer": "no"})
        done = self.run_experts("call", "confirm", "{}", *options, **self.environment)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no answer", done.stderr)

    def test_a_delegate_says_what_would_run(self):
        done = self.run_experts("call", "writer", '{"query": "a poem"}', "-e", "orchestrator", "-q", **self.environment)
        self.assertEqual(done.stdout, "would start the expert writer with the query: a poem\n")
        done = self.run_experts("call", "writer", "-e", "orchestrator", "-q", **self.environment)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("query", done.stderr)

    def test_the_configuration_is_found_upwards(self):
        below = self.here / "a/b"
        below.mkdir(parents=True)
        done = subprocess.run([PADDOCK, "experts", "list", "--json"], cwd=below, capture_output=True, timeout=60)
        self.assertEqual(json.loads(done.stdout)["config"], str(self.here / "perstack.toml"))

    def test_another_expert_has_to_be_named(self):
        done = self.run_experts("call", "todo", **self.environment)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--expert", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
