#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""A person sees and ends what agents have started: `paddock ps`, `logs` and `stop`, of several servers; and no agent can.

The judge is the server's own answer to its client, and the kernel.
"""

import fcntl
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Server, folder_of  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\\n")
print(s.makefile().read(), end="")
"""


def start(server, script, until):
    return server.call("startProcess", command="sh", args=["-c", script], until=until, waitMs=60000)


class Processes(unittest.TestCase):
    def setUp(self):
        self.folder = folder_of(self)
        self.state = str(self.folder / "state")
        self.sockets = self.folder / "state/paddock-processes"

    def serve(self, name, *options):
        (self.folder / name).mkdir(exist_ok=True)
        return Server(self.folder / name, *(options or ["--exec", "best-effort"]), XDG_STATE_HOME=self.state).until_the_end_of(self)

    def paddock(self, *words):
        return subprocess.run([PADDOCK, *words], capture_output=True, encoding="utf-8", timeout=60, stdin=subprocess.DEVNULL,
                              env={**os.environ, "XDG_STATE_HOME": self.state})

    def listed(self):
        done = self.paddock("ps", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["processes"]

    def test_those_of_all_servers_are_seen_read_and_stopped(self):
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.paddock("ps").stdout, "No processes.\n")
        servers = [self.serve(name) for name in ["one", "two"]]
        ids = [start(server, f"echo of {i}; exec sleep 1000", "of")["process"] for i, server in enumerate(servers)]
        listed = {each["process"]: (each["workspace"], each["state"]) for each in self.listed()}
        self.assertEqual(listed, {each: (str(self.folder / name), "running") for each, name in zip(ids, ["one", "two"])})
        shown = {tuple(line.split()[:2]) for line in self.paddock("ps").stdout.splitlines()}
        self.assertEqual(shown, {(each[:8], "running") for each in ids})
        self.assertEqual(self.paddock("logs", ids[1][:8]).stdout, "of 1\n")
        done = self.paddock("stop", ids[1][:8])
        self.assertEqual((done.returncode, done.stdout), (0, f"{ids[1][:8]}: stopped\n"), done)
        self.assertEqual({each["process"]: each["state"] for each in self.listed()}, dict(zip(ids, ["running", "exited"])))
        told = [server.call("readProcess", process=each) for server, each in zip(servers, ids)]
        self.assertEqual([each["state"] for each in told], ["running", "exited"])
        for command in ["logs", "stop"]:
            done = self.paddock(command, "0" * 32)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("paddock ps lists them", done.stderr)

    def test_a_person_who_reads_takes_nothing_from_the_agent(self):
        server = self.serve("one")
        made = start(server, "seq -f %015.0f 0 99; echo last; read gate", "last")["process"]
        written = "".join(f"{i:015}\n" for i in range(100)) + "last\n"
        self.assertEqual(server.call("readProcess", process=made, **{"from": 0}, bytesMax=1024)["next"], 1024)
        self.assertEqual(self.paddock("logs", made).stdout, written)
        self.assertEqual(server.call("readProcess", process=made)["output"], written[1024:])
        self.assertEqual(server.call("readProcess", process=made)["output"], "")  # the control: that did move it

    def test_who_follows_sees_all_to_the_end(self):
        server = self.serve("one")
        made = start(server, "echo up; read gate; seq 1 30000; printf no-end", "up")["process"]
        follower = subprocess.Popen([PADDOCK, "logs", "-f", made], stdout=subprocess.PIPE, env={**os.environ, "XDG_STATE_HOME": self.state})
        with follower.stdout:
            self.assertEqual(follower.stdout.readline(), b"up\n")
            server.call("writeProcess", process=made, text="\n")
            self.assertEqual(follower.stdout.read().decode(), "".join(f"{i}\n" for i in range(1, 30001)) + "no-end")
        self.assertEqual(follower.wait(), 0)

    def test_what_a_killed_server_leaves_is_cleared_away(self):
        server, other = self.serve("one"), self.serve("two")
        start(server, "echo up; exec sleep 1000", "up")
        kept = start(other, "echo up; exec sleep 1000", "up")["process"]
        server.process.kill()
        server.process.wait()
        self.assertEqual(len(list(self.sockets.iterdir())), 2)  # the control
        self.assertEqual([each["process"] for each in self.listed()], [kept])
        self.assertEqual([each.name for each in self.sockets.iterdir()], [f"{other.process.pid}.socket"])
        other.close()
        self.assertEqual(list(self.sockets.iterdir()), [])

    def test_who_waits_for_an_end_holds_up_nobody(self):
        server = self.serve("one")
        made = start(server, "trap 'echo asked' TERM; echo up; while :; do sleep 1; done", "up")["process"]
        path = str(self.sockets / f"{server.process.pid}.socket")
        silent = [socket.socket(socket.AF_UNIX) for i in range(3)]
        with socket.socket(socket.AF_UNIX) as stopper:
            stopper.connect(path)
            stopper.sendall(json.dumps({"stop": made, "graceMs": 30000}).encode() + b"\n")
            server.call("readProcess", process=made, until="asked", waitMs=60000)  # its question is read
            for each in silent:
                each.connect(path)
            # It was asked before: one at a time, that process would have ended when its list is made.
            self.assertEqual({each["process"]: each["state"] for each in self.listed()}, {made: "running"})
            server.close()  # ends it, and all questions
            self.assertEqual(stopper.recv(100).strip()[:9], b'{"state":' )
        for each in silent:
            self.assertEqual(each.recv(1), b"")
            each.close()

    def test_who_only_reads_does_not_wait_for_what_a_process_has_changed(self):
        history = self.folder / "history"
        server = self.serve("read", "--exec", "best-effort", "--history", history)
        (self.folder / "read/file").write_text("text")
        started = start(server, "echo begun; exec sleep 1000", "begun")
        if "output" not in started:
            self.skipTest("this system cannot run commands")
        lock = os.open(next(history.glob("*/lock")), os.O_RDWR)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)  # as another server that works on the history
        server.call("readProcess", process=started["process"])  # the control: it runs, and nothing is to be waited for
        subprocess.run([PADDOCK, "stop", started["process"][:8]], env={**os.environ, "XDG_STATE_HOME": self.state}, capture_output=True, timeout=60)
        self.assertEqual(server.call("readTextFile", path="file")["content"], "text")
        self.assertEqual(server.call("healthCheck")["undo"], "on")  # who waits for ten seconds gives up and says so
        fcntl.flock(lock, fcntl.LOCK_UN)

    def test_only_this_user_may_ask(self):
        server = self.serve("one")
        start(server, "echo up; exec sleep 1000", "up")
        path = self.sockets / f"{server.process.pid}.socket"
        self.assertEqual(stat.S_IMODE(self.sockets.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        for question, answer in [("nonsense", "error"), ("{}", "error"), ('{"read":7}', "error"), ('{"stop":"' + "0" * 32 + '"}', "error"),
                                 ('{"list":true}', "processes")]:
            done = subprocess.run([sys.executable, "-c", ASK, str(path), question], capture_output=True, encoding="utf-8", timeout=60)
            self.assertIn(answer, json.loads(done.stdout), done)
        with socket.socket(socket.AF_UNIX) as silent:  # keeps nobody waiting for long
            silent.connect(str(path))
            self.assertEqual(len(self.listed()), 1)
        if os.geteuid() != 0:
            return
        # The control of the check by the kernel: the mode alone would let this user of the file in.
        for place in [path, self.sockets, self.folder, self.folder / "state"]:
            place.chmod(0o777)
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setuid(65534)
            try:
                stranger = socket.socket(socket.AF_UNIX)
                stranger.connect(str(path))
            except OSError:
                os._exit(2)
            try:
                stranger.sendall(b'{"list":true}\n')
                os._exit(1 if stranger.recv(1) else 0)
            except OSError:
                os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 2:
            self.skipTest("the temporary folder is private")
        self.assertEqual(code, 0)

    def test_no_command_reaches_it(self):
        server = self.serve("one", "--exec", "confined")
        made = server.call("startProcess", command="sleep", args=["1000"], waitMs=0)
        if "process" not in made:
            self.skipTest("this system cannot confine commands")
        path = str(self.sockets / f"{server.process.pid}.socket")
        outside = subprocess.run([sys.executable, "-c", ASK, path, '{"list":true}'], capture_output=True, encoding="utf-8", timeout=60)
        self.assertIn(made["process"], outside.stdout)  # the control
        (self.folder / "one/ask.py").write_text(ASK)
        os.symlink(path, self.folder / "one/link")
        for where in [path, "link"]:
            for tool, more in [("exec", {}), ("startProcess", {"waitMs": 60000}), ("startProcess", {"waitMs": 60000, "tty": True})]:
                done = server.call(tool, command="/usr/bin/python3", args=["ask.py", where, '{"list":true}'], **more)
                told = json.dumps(done)
                self.assertNotIn(made["process"], told)
                self.assertRegex(told, "FileNotFoundError|PermissionError|no such program|ConnectionRefused")
        for name in [path, "link", str(self.sockets)]:
            self.assertIn("error", server.call("readTextFile", path=name))
        self.assertEqual(self.listed()[0]["state"], "running")

    def test_where_a_command_could_reach_it_there_is_none(self):
        for options in [["--exec", "host"], ["--exec", "best-effort", "--network", "host"]]:
            server = self.serve("one", *options)
            self.assertEqual(start(server, "echo up; exec sleep 1000", "up")["state"], "running")
            self.assertFalse(self.sockets.exists(), options)
            server.close()

    def test_a_place_that_others_can_enter_is_not_used(self):
        self.sockets.mkdir(parents=True)
        self.sockets.chmod(0o755)
        server = self.serve("one")
        self.assertEqual(start(server, "echo up; exec sleep 1000", "up")["state"], "running")
        self.assertEqual(list(self.sockets.iterdir()), [])
        self.assertEqual(self.listed(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
