#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The adapter as a process: what it does with pipes, signals, children and options. Prints TAP.

Every wait has a generous upper bound and ends as soon as what it waits for happens; "within a second" is
asserted with a margin, because the machine may be busy.
"""
import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

SERVER = os.environ["PADDOCK_MCP"]
PATIENCE_S = 20
PROMPT_S = 5  # "within a second" on a machine that may be busy


class Adapter:
    """A running adapter in a fresh workspace."""

    def __init__(self, *options, workspace=True, **popen):
        self.folder = tempfile.TemporaryDirectory()
        self.workspace = pathlib.Path(self.folder.name).resolve() / "workspace"
        self.workspace.mkdir()
        arguments = ["--workspace", str(self.workspace)] if workspace else []
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | popen
        self.process = subprocess.Popen([SERVER, *arguments, *options], **streams)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        self.folder.cleanup()

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message; None at the end of the output."""
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self.buffer:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            assert readable, "no answer in time"
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                assert not self.buffer, f"a line without end: {self.buffer!r}"
                return None
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def ask(self, method, params=None, identifier=1):
        self.send(request(method, params, identifier))
        return self.receive()

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def start_exec(self, *argv, identifier="exec"):
        self.send(request("tools/call", {"name": "exec", "arguments": {
            "command": argv[0], "args": list(argv[1:]), "env": {}, "cwd": ".", "stdout": True, "stderr": True,
            "timeout": 120_000}}, identifier))

    def exit_status(self, patience=PATIENCE_S):
        return self.process.wait(patience)


def request(method, params=None, identifier=1):
    return {"jsonrpc": "2.0", "id": identifier, "method": method, **({"params": params} if params is not None else {})}


def until(condition, what):
    """Waits until the condition holds; its value."""
    deadline = time.monotonic() + PATIENCE_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.005)
    return value


def is_running(pid):
    """Whether the process exists and is not a zombie that nobody has collected yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def processes_of(words):
    """The pids of what runs exactly these words, seen from outside of any namespace."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().split(b"\0")[:-1] == words:
                found.append(int(entry.name))
    return found


def daemon_in(adapter):
    """Starts a command whose grandchild leaves the session, and gives the pids of both, with the proof that they run."""
    mark = f"{os.getpid()}{time.monotonic_ns()}"
    naps = [f"300.{mark}1", f"300.{mark}2"]
    adapter.start_exec("sh", "-c", f"setsid sleep {naps[0]} </dev/null >/dev/null 2>&1 & exec sleep {naps[1]}")
    return [until(lambda: processes_of([b"sleep", nap.encode()]), "the command and its daemon start")[0] for nap in naps]


# --- tests ---------------------------------------------------------------------------------------

def test_printf_into_the_adapter_is_answered_and_ends():
    with Adapter() as adapter:
        (adapter.workspace / "a.txt").write_text("hello\n")
        lines = [request("tools/list", {}, 1), {"jsonrpc": "2.0", "method": "notifications/initialized"},
                 request("tools/call", {"name": "readTextFile", "arguments": {"path": "a.txt"}}, "two")]
        out, err = adapter.process.communicate(b"".join(json.dumps(line).encode() + b"\n" for line in lines), PATIENCE_S)
        answers = {message["id"]: message["result"] for message in map(json.loads, out.splitlines())}
        assert set(answers) == {1, "two"}, answers
        assert len(answers[1]["tools"]) == 17
        assert answers["two"]["structuredContent"]["content"] == "hello\n"
        assert adapter.process.returncode == 0
        assert err == b"", err


def test_ping_is_answered_while_a_command_runs_and_cancelling_ends_it(mode):
    with Adapter("--exec", mode) as adapter:
        pids = daemon_in(adapter)
        assert adapter.ask("ping", identifier="busy")["id"] == "busy"
        adapter.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "exec"}})
        until(lambda: not any(map(is_running, pids)), "the cancelled command and its daemon end")
        # Nothing more is sent for the cancelled call.
        assert adapter.ask("ping", identifier="last")["id"] == "last"


def test_killing_the_server_leaves_no_child(mode):
    with Adapter("--exec", mode) as adapter:
        pids = daemon_in(adapter)
        adapter.process.kill()
        adapter.exit_status()
        until(lambda: not any(map(is_running, pids)), "the command and its daemon end with the server")


def test_end_of_input_during_a_command_ends_everything(mode):
    with Adapter("--exec", mode) as adapter:
        pids = daemon_in(adapter)
        started = time.monotonic()
        adapter.process.stdin.close()
        assert adapter.exit_status() == 0
        assert time.monotonic() - started < PROMPT_S
        until(lambda: not any(map(is_running, pids)), "the command and its daemon end")


def test_termination_during_a_command_ends_everything(mode):
    with Adapter("--exec", mode) as adapter:
        pids = daemon_in(adapter)
        adapter.process.send_signal(signal.SIGTERM)
        adapter.exit_status(PROMPT_S)
        until(lambda: not any(map(is_running, pids)), "the command and its daemon end")


def test_a_reader_that_goes_away_ends_the_server():
    with Adapter() as adapter:
        adapter.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            adapter.send(request("ping"))
        status = adapter.exit_status()
        assert status >= 0, f"ended by signal {-status}"


def test_a_command_neither_reads_nor_writes_the_protocol():
    with Adapter("--exec", "confined") as adapter:
        adapter.start_exec("sh", "-c", "cat; echo '{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}'; ls /proc/self/fd | wc -l")
        answer = adapter.receive()
        assert answer["id"] == "exec" and answer["result"].get("isError") is not True, answer
        forged, descriptors = answer["result"]["structuredContent"]["output"].split()
        assert "99" in forged
        assert int(descriptors) <= 5, answer  # 0, 1, 2, the directory itself, and what the shell needs
        assert adapter.ask("ping", identifier="after")["id"] == "after"


def test_two_servers_in_one_workspace():
    # Clients that probe start the server twice at the same time.
    with Adapter() as first:
        with Adapter("--workspace", str(first.workspace), workspace=False) as second:
            assert first.call("healthCheck")["structuredContent"]["workspace"] == str(first.workspace)
            assert second.call("healthCheck")["structuredContent"]["workspace"] == str(first.workspace)


def main():
    tests = [(name.removeprefix("test_").replace("_", " ") + (f" ({mode[0]})" if mode else ""), test, mode)
             for name, test in globals().items() if name.startswith("test_")
             for mode in ([("confined",), ("host",)] if test.__code__.co_argcount else [()])]
    chosen = [each for each in tests if not sys.argv[1:] or any(word in each[0] for word in sys.argv[1:])]
    print(f"1..{len(chosen)}")
    failures = 0
    for number, (title, test, mode) in enumerate(chosen, 1):
        try:
            test(*mode)
            print(f"ok {number} - {title}", flush=True)
        except Exception as problem:  # whatever it is, the next test still runs
            failures += 1
            line = problem.__traceback__.tb_next.tb_lineno if problem.__traceback__.tb_next else 0
            print(f"# line {line}: {type(problem).__name__}: {problem}\nnot ok {number} - {title}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
