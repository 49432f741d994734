#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""paddock-mcp, or the supervisor of a process, is killed with SIGKILL at random moments while agents start, write to, read
and stop processes: no process, mount, control group, file or socket is left.

The judge is the kernel: this test adopts whatever loses its parent, so all that is left is a child of it.
"""

import ctypes
import json
import os
import pathlib
import random
import select
import signal
import subprocess
import tempfile
import time
import unittest

PADDOCK, SERVER = os.environ["PADDOCK"], os.environ["PADDOCK_MCP"]
ROUNDS = int(os.environ.get("PADDOCK_TEST_ROUNDS", "50"))
PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 120
# One that leaves its session, one that heeds no signal, and one that waits to be asked.
FAMILY = "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000' &); sleep 1000 & echo up; read line; echo \"got $line\"; sleep 1000"


def eventually(holds, seconds=60):
    """Time for the kernel, and for supervisors, to act on something that has been decided."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def mounts():
    return {line.split(" ", 2)[2] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()}


def control_groups():
    """Those of commands, in this group or in the first of all."""
    own = [line[3:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
    places = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if " - cgroup2 " in line]
    return {str(each) for place in places for group in ["", *own] for each in pathlib.Path(place + group).glob("paddock-*")}


def children():
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(") ")[2].split()[1]
        except OSError:
            continue
        found.setdefault(int(parent), []).append(int(stat.parent.name))
    return found


def descendants(of):
    parents, found = children(), []
    ahead = [of]
    while ahead:
        found += (more := parents.get(ahead.pop(), []))
        ahead += more
    return found


def reap():
    """Whether there is no child any more."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return True
    return False


class Session:
    """A server, and what an agent sends it without waiting for answers."""

    def __init__(self, folder, confinement):
        self.workspace = folder / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder / "temporary")}
        self.server = subprocess.Popen([SERVER, "--workspace", str(self.workspace), "--tools", "coding", "--exec", confinement],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment)
        self.ids = []
        self.answers = 0
        self.rest = b""

    def send(self, number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            self.server.stdin.write(json.dumps(message).encode() + b"\n")
            self.server.stdin.flush()
        except BrokenPipeError:
            pass

    def call(self, number, tool, **arguments):
        self.send(number, "tools/call", {"name": tool, "arguments": arguments})

    def talk(self, until):
        """Starts three and a command, and deals with what has come up, until the moment; whether the server has answered all."""
        self.send(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        for number, more in enumerate([{}, {"tty": True}, {}], 1):
            self.call(number, "startProcess", command="sh", args=["-c", FAMILY], until="up", waitMs=60000, **more)
        self.call(4, "exec", command="sh", args=["-c", "echo 1 > file; sleep 0.02; rm file"])
        waiting = 5
        while waiting > 0:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.server.stdout], [], [], left)[0]:
                return False
            block = os.read(self.server.stdout.fileno(), 65536)
            if not block:
                return False
            *lines, self.rest = (self.rest + block).split(b"\n")
            for line in lines:
                answer = json.loads(line)
                if "id" not in answer:
                    continue
                waiting -= 1
                if answer["id"] in (1, 2, 3):
                    waiting += self.go_on(answer["id"], json.loads(answer["result"]["content"][0]["text"]))
        return True

    def go_on(self, number, told):
        self.ids.append(told["process"])
        self.call(10 + number, "writeProcess", process=told["process"], text="hello\n")
        self.call(20 + number, "readProcess", process=told["process"], until="got", waitMs=60000)
        if number != 1:
            return 2
        self.call(30, "stopProcess", process=told["process"], graceMs=50)
        return 3

    def close(self):
        for stream in [self.server.stdin, self.server.stdout]:
            try:
                stream.close()
            except BrokenPipeError:
                pass


class Kills(unittest.TestCase):
    def setUp(self):
        self.assertEqual(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
        folder = tempfile.TemporaryDirectory(prefix="paddock-kill-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))
        (self.folder / "temporary").mkdir()
        self.before = mounts(), control_groups()
        seed = int(os.environ.get("PADDOCK_TEST_SEED", random.randrange(2**32)))
        print(f"seed {seed}", flush=True)
        self.random = random.Random(seed)
        self.addCleanup(self.end_all)

    def end_all(self):
        for each in descendants(os.getpid()):
            os.kill(each, signal.SIGKILL)
        eventually(reap)

    def whole_round(self, confinement):
        """How long it takes when nobody is killed; the control of the judges."""
        session, start = Session(self.folder, confinement), time.monotonic()
        self.assertTrue(session.talk(start + PATIENCE_S), "the server did not answer")
        seconds = time.monotonic() - start
        self.assertEqual(len(session.ids), 3)
        self.assertGreater(len(descendants(session.server.pid)), 6)
        self.assertFalse(reap())
        self.assertEqual(len(self.sockets()), 1 if confinement == "best-effort" else 0)
        session.close()
        self.nothing_is_left("whole round")
        self.assertEqual(self.sockets(), [])
        session.server.poll()
        return seconds

    def sockets(self):
        place = self.folder / "state/paddock-processes"
        return list(place.iterdir()) if place.exists() else []

    def left(self):
        def line(number):
            try:
                return pathlib.Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                return b"?"

        return [(each, line(each)) for each in descendants(os.getpid())]

    def nothing_is_left(self, when):
        self.assertTrue(eventually(reap), (when, self.left()))
        # Others mount, too, and end.
        self.assertTrue(eventually(lambda: not mounts() - self.before[0]), (when, mounts() - self.before[0]))
        self.assertTrue(eventually(lambda: not control_groups() - self.before[1]), (when, control_groups() - self.before[1]))
        self.assertEqual(list((self.folder / "temporary").iterdir()), [], when)
        self.assertLessEqual({each.name for each in (self.folder / "workspace").iterdir()}, {"file"}, when)

    def moments(self, confinement):
        """The first is when all is answered, the others are any."""
        whole = self.whole_round(confinement)
        return [PATIENCE_S, *(self.random.uniform(0, whole) for _ in range(1, ROUNDS))]

    def kill_the_server(self, confinement):
        survived = sockets = 0
        for after in self.moments(confinement):
            session = Session(self.folder, confinement)
            survived += session.talk(time.monotonic() + after)
            session.server.kill()
            session.server.wait()
            session.close()
            self.nothing_is_left(after)
            sockets += len(self.sockets())
            done = subprocess.run([PADDOCK, "ps", "--json"], capture_output=True, env=session.environment, timeout=60)
            self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {"processes": []}), after)
            self.assertEqual(self.sockets(), [], after)
        print(f"{ROUNDS} kills, {sockets} with a socket, {survived} behind all answers", flush=True)
        self.assertGreater(survived, 0)
        self.assertGreaterEqual(sockets, survived if confinement == "best-effort" else 0)
        self.whole_round(confinement)  # the workspace and its history serve on

    def kill_one_supervisor(self, confinement):
        killed = 0
        for after in self.moments(confinement):
            session = Session(self.folder, confinement)
            session.talk(time.monotonic() + after)
            supervisors = children().get(session.server.pid, [])
            if supervisors:
                victim = self.random.choice(supervisors)
                theirs = set(descendants(victim))
                try:
                    os.kill(victim, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass  # its command has just ended
                self.assertTrue(eventually(lambda: (reap(), not theirs & set(descendants(os.getpid())))[1]), (after, self.left()))
            session.close()
            self.nothing_is_left(after)
            session.server.poll()
        print(f"{killed} supervisors killed", flush=True)
        self.assertGreater(killed, 0)

    def test_the_server_of_confined_commands(self):
        self.kill_the_server("best-effort")

    def test_the_server_of_others(self):
        self.kill_the_server("host")

    # Without confinement one that has left its session may outlive its supervisor, and the result says so.
    def test_a_supervisor_of_confined_commands(self):
        self.kill_one_supervisor("best-effort")


if __name__ == "__main__":
    unittest.main(verbosity=2)
