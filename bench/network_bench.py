#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The price of hosts by name (docs/network.md): the same client with the fence and without it, against the servers of
test/cli/network_world.py. Needs root, ip and openssl, and PADDOCK, the program."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test/cli"))
os.environ.setdefault("PADDOCK", "build/tools/paddock")
os.environ["PADDOCK"] = os.path.abspath(os.environ["PADDOCK"])
os.environ.setdefault("PADDOCK_MCP", os.environ["PADDOCK"] + "-mcp")
import network_test  # noqa: E402

CONNECT = """
import socket, time
def one():
    began = time.perf_counter()
    s = socket.create_connection(('code.example.org', 9000)); s.sendall(b'x'); s.recv(1); s.close()
    return time.perf_counter() - began
one()
print(min(sum(one() for _ in range(50)) / 50 for _ in range(10)))
"""
FETCH = """
import socket, time
def one(size=500_000_000):
    s = socket.create_connection(('code.example.org', 80))
    s.sendall(b'GET /bytes/%d HTTP/1.1\\r\\nHost: code.example.org\\r\\n\\r\\n' % size)
    began, got, room = time.perf_counter(), 0, memoryview(bytearray(1 << 20))
    while got < size: got += s.recv_into(room)
    return got / (time.perf_counter() - began)
print(max(one() for _ in range(5)))
"""
MANY = """
import resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
all = [socket.create_connection(('code.example.org', 9000)) for _ in range(1000)]
for s in all: s.sendall(b'x' * 1000)
for s in all: s.recv(1000)
print('open', flush=True)
input()
"""
REACHES = ["allow:code.example.org:80,code.example.org:9000", "all"]


def inside(reach):
    return [network_test.PADDOCK, "exec", "--network", reach, "--"]


def measure(script, *fence):
    done = subprocess.run([*fence, "python3", "-c", script], capture_output=True, text=True, cwd=network_test.folder + "/w",
                          env=network_test.environment, check=True)
    return float(done.stdout)


def memory_of_many(reach):
    with subprocess.Popen([*inside(reach), "python3", "-c", MANY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          cwd=network_test.folder + "/w", env=network_test.environment) as running:
        assert running.stdout.readline() == "open\n"
        for process in pathlib.Path("/proc").glob("[0-9]*/task/*/children"):
            if process.parent.parent.parent.name != str(running.pid):
                continue
            for child in process.read_text().split():
                status = dict(line.split(":", 1) for line in pathlib.Path("/proc", child, "status").read_text().splitlines())
                if status["Name"].strip().startswith("paddock-egress"):
                    print("1,000 connections: paddock-egress has", status["VmRSS"].strip(), "resident")
        running.communicate("\n")


def main():
    network_test.setUpModule()
    os.mkdir(network_test.folder + "/w")
    for reach in REACHES:
        print("--network", reach)
        outside, fenced = measure(CONNECT), measure(CONNECT, *inside(reach))
        print(f"a connection with one byte there and back: {outside * 1e6:.0f} us, inside {fenced * 1e6:.0f} us")
        outside, fenced = measure(FETCH), measure(FETCH, *inside(reach))
        print(f"bytes a second: {outside / 1e6:.0f} MB, inside {fenced / 1e6:.0f} MB, ratio {fenced / outside:.2f}")
        memory_of_many(reach)
    network_test.unittest.doModuleCleanups()


if __name__ == "__main__":
    if "IN_NETWORK_WORLD" not in os.environ:
        network_test.enter_machine()
    main()
