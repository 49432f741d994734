# SPDX-License-Identifier: MIT

"""paddock-mcp and the page of paddock review, as tests of the programs talk to them."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.error
import urllib.request

STEP = int(os.environ.get("PADDOCK_CAMPAIGN_STEP", "1"))  # one of so many cases is tried
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def folder_of(test, **where):
    """A directory of its own, without links on the way, that is gone when the test ends."""
    folder = tempfile.TemporaryDirectory(prefix=f"paddock-{type(test).__name__}-", **where)
    test.addCleanup(folder.cleanup)
    return pathlib.Path(os.path.realpath(folder.name))


class Client:
    """Of one server, over its standard streams, in the newest revision."""

    def __init__(self, *options, program=os.environ["PADDOCK_MCP"], stderr=subprocess.DEVNULL, **more):
        self.process = subprocess.Popen([program, *map(str, options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, **more)
        self.number, self.common = 0, {"_meta": META}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """The complaints are those of a server with `stderr=PIPE`."""
        self.complaints = (self.process.communicate(timeout=60)[1] or b"").decode()

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": {**self.common, **params}})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer["result"]

    def call(self, tool, **arguments):
        return json.loads(self.request("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"])

    def run(self, script):
        return self.call("exec", command="sh", args=["-c", script])

    def until_the_end_of(self, test):
        for end in (self.process.wait, self.process.kill, self.close):
            test.addCleanup(end)
        return self

    def close(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class Server(Client):
    """The same with the coding tools, and in the revision of most hosts."""

    def __init__(self, workspace, *options, environment=os.environ, **variables):
        super().__init__("--workspace", workspace, "--tools", "coding", *options, env={**environment, **variables})
        self.common = {}
        self.request("initialize", INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


class Page:
    """The page of `paddock review`, without a browser."""

    def __init__(self, workspace, store):
        self.process = subprocess.Popen([os.environ["PADDOCK"], "review", "--workspace", str(workspace), "--history", str(store)],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seen = ""
        while not (found := re.search(r"(http://127\.0\.0\.1:\d+/)([0-9a-f]{32})/", seen)):
            line = self.process.stdout.readline()
            assert line, seen
            seen += line
        self.address, self.token = found[1], found[2]

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"X-Paddock-Token": self.token, "Origin": self.address[:-1]})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.read().decode()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.process.stdout.close()
