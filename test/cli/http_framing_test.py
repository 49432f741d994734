#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HTTP as parsers see it that this project did not write: every path, method and status keeps a connection in step,
pages of an allowed origin can read every answer, and what clients leave half done stops nobody.

Answers are read by http.client, and for preflights by curl; what is asked is written byte by byte.
"""
import contextlib
import http.client
import io
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

SERVER = os.environ["PADDOCK_MCP"]
PATIENCE_S = 30
ORIGIN = "https://app.example"
TOKEN = "0123456789abcdef0123456789abcdef"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
PROBE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}


def message(method, headers=(), body=b"", target="/mcp", host="localhost"):
    lines = {**({"Host": host} if host is not None else {}), **dict(headers)}
    if body:
        lines["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body


def modern(method, headers=(), **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}})
    given = {**JSON, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **dict(headers)}
    return message("POST", given, body.encode())


def calls(tool, headers=(), **arguments):
    return modern("tools/call", {"Mcp-Name": tool, **dict(headers)}, name=tool, arguments=arguments)


def writes(path):
    return calls("writeTextFile", path=path, text="x")


class Server:
    """The adapter at an address, with a workspace of its own."""

    def __init__(self, *options, listen="127.0.0.1:0", descriptors=None):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-http-")
        top = pathlib.Path(os.path.realpath(self.folder.name))
        self.workspace = top / "workspace"
        self.workspace.mkdir()
        (top / "token").write_text(TOKEN)
        listen = listen.format(top)
        options = [option.format(top) for option in options]

        def limit():
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        self.process = subprocess.Popen([SERVER, "--workspace", self.workspace, "--http", listen, *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        preexec_fn=limit)
        said = b""
        while not (found := re.search(rb"listening on (\S+)", said)):
            line = self.process.stderr.readline()
            assert line, said
            said += line
        self.address = found[1].decode()
        # Nobody may wait for room in the pipe.
        self.drain = threading.Thread(target=self.process.stderr.read, daemon=True)
        self.drain.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        code = self.process.wait(PATIENCE_S)
        self.drain.join()
        self.process.stderr.close()
        self.folder.cleanup()
        assert code == 0, code

    def connect(self):
        return connect(self.address)


def connect(address):
    if address.startswith("unix://"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(PATIENCE_S)
        s.connect(address[7:].partition("#")[0])
    else:
        s = socket.create_connection(("127.0.0.1", int(re.search(r":(\d+)", address[7:])[1])), PATIENCE_S)
    return s


class Reader:
    """Reads the answers on one connection, one after the other, as http.client does."""

    class Kept(io.BufferedReader):
        def close(self):
            pass

    def __init__(self, s):
        self.stream = self.Kept(s.makefile("rb", buffering=0))
        self.makefile = lambda *unused: self.stream

    def next(self, method):
        answer = http.client.HTTPResponse(self, method=method)
        answer.begin()
        answer.content = answer.read()
        return answer

    def at_end(self):
        return self.stream.read(1) == b""


def in_step(test, s, method, request):
    """The answer to `request`; behind it the connection ends, if it says so, or a probe is answered on it."""
    s.sendall(request + PROBE)
    reader = Reader(s)
    answer = reader.next(method)
    if answer.status == 100:
        answer = reader.next(method)
    if method == "HEAD" or answer.status == 204:
        test.assertEqual(answer.content, b"")
    elif answer.getheader("Transfer-Encoding") is None:
        test.assertEqual(str(len(answer.content)), answer.getheader("Content-Length"))
    if answer.getheader("Connection") == "close":
        test.assertTrue(reader.at_end())
    else:
        probe = reader.next("GET")
        test.assertEqual((probe.status, probe.content), (200, b"ok\n"))
    return answer


class Framing(unittest.TestCase):
    METHODS = ["GET", "HEAD", "OPTIONS", "POST", "DELETE", "PUT", "PATCH", "BREW"]
    TARGETS = ["/mcp", "/healthz", "/nothing", "/mcp?x=1", "*", "http://localhost/mcp"]
    HEADERS = {
        "nothing": {}, "the token": {"Authorization": f"Bearer {TOKEN}"}, "another token": {"Authorization": "Bearer x"},
        "a session": {"Authorization": f"Bearer {TOKEN}", "Mcp-Session-Id": "x"},
        "the modern era": {"Authorization": f"Bearer {TOKEN}", "MCP-Protocol-Version": "2026-07-28"},
        "JSON": {"Authorization": f"Bearer {TOKEN}", **JSON},
        "JSON, nothing accepted": {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": "image/png"},
        "an allowed origin": {"Origin": ORIGIN}, "a foreign origin": {"Origin": "https://evil.example"},
        "a preflight": {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"},
        "an unmet expectation": {"Expect": "a miracle"}, "a coding": {"Transfer-Encoding": "gzip"},
        "a host with a path": {"Host": "localhost/"}, "another host": {"Host": "evil.example"},
        "two hosts, as one list": {"Host": "localhost, x"},
    }

    def test_every_answer_keeps_its_connection_in_step(self):
        statuses, cases = {}, 0
        with Server("--http-token-file", "{}/token", "--http-allow-origin", ORIGIN, "--http-allow-host", "localhost") as server:
            for method, target, (name, headers) in itertools.product(self.METHODS, self.TARGETS, self.HEADERS.items()):
                with self.subTest(method=method, target=target, headers=name), contextlib.closing(server.connect()) as s:
                    answer = in_step(self, s, method, message(method, headers, target=target))
                    statuses.setdefault(method, set()).add(answer.status)
                    cases += 1
        self.assertEqual(cases, len(self.METHODS) * len(self.TARGETS) * len(self.HEADERS))
        # The table reaches what it is for.
        self.assertLessEqual({200, 400, 401, 403, 404, 405, 417, 501}, statuses["HEAD"])
        self.assertLessEqual({204, 400, 401, 403, 404, 405, 417, 501}, statuses["OPTIONS"])
        self.assertLessEqual({400, 401, 403, 404, 406, 415}, statuses["POST"])

    def test_messages_keep_their_connection_in_step(self):
        notification = json.dumps({"jsonrpc": "2.0", "method": "notifications/x"}).encode()
        with Server() as server, contextlib.closing(server.connect()) as s:
            session = in_step(self, s, "POST", message("POST", JSON, json.dumps(INITIALIZE).encode()))
            legacy = {**JSON, "Mcp-Session-Id": session.getheader("Mcp-Session-Id")}
            self.assertEqual(session.status, 200)
            chunks = b"".join(b"%x\r\n%s\r\n" % (1, notification[i:i + 1]) for i in range(len(notification))) + b"0\r\n\r\n"
            cases = [
                (200, modern("tools/list")), (404, modern("nope")), (400, message("POST", JSON, b"{")),
                (200, calls("todo")),
                (202, message("POST", legacy, notification)), (404, message("POST", {**JSON, "Mcp-Session-Id": "x"}, notification)),
                (202, message("POST", {**legacy, "Transfer-Encoding": "chunked"}) + chunks),
                (200, calls("todo", {"Accept": "text/event-stream"})),
                (204, message("DELETE", legacy)), (404, message("DELETE", legacy)),
            ]
            for status, request in cases:
                with self.subTest(request=request):
                    self.assertEqual(in_step(self, s, request.split()[0].decode(), request).status, status)

    def test_control_a_body_behind_HEAD_is_noticed(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
            with self.assertRaises((AssertionError, http.client.HTTPException)):
                in_step(self, ours, "HEAD", message("HEAD"))


class Browser(unittest.TestCase):
    """What a page of an allowed origin gets to see."""

    def test_every_error_can_be_read_by_an_allowed_origin_and_by_no_other(self):
        allowed = {"Origin": ORIGIN}
        signed = {**allowed, "Authorization": f"Bearer {TOKEN}"}
        cases = {
            200: message("GET", allowed, target="/healthz"), 400: message("POST", {**signed, **JSON}, b"{"),
            401: message("POST", allowed, b"{}"), 403: message("GET", {**allowed, "Host": "evil.example"}),
            404: message("GET", signed, target="/nothing"), 405: message("GET", signed),
            406: message("POST", {**signed, **JSON, "Accept": "image/png"}, b"{}"), 408: message("POST", signed)[:-2],
            413: message("POST", {**signed, **JSON, "Content-Length": "999999999999"}), 415: message("POST", signed, b"{}"),
            417: message("POST", {**signed, "Expect": "x"}), 431: message("POST", {**signed, "X": "x" * 40_000}),
            501: message("POST", {**signed, "Transfer-Encoding": "x"}),
        }
        with Server("--http-token-file", "{}/token", "--http-allow-origin", ORIGIN, "--http-allow-host", "localhost") as server:
            for status, request in cases.items():
                with self.subTest(status=status), contextlib.closing(server.connect()) as s:
                    s.sendall(request)
                    answer = Reader(s).next("POST")
                    self.assertEqual((answer.status, answer.getheader("Access-Control-Allow-Origin")), (status, ORIGIN))
                    self.assertEqual(answer.getheader("Vary"), "Origin")
                if status in (403, 408):
                    continue
                with self.subTest("control", status=status), contextlib.closing(server.connect()) as s:
                    s.sendall(request.replace(ORIGIN.encode(), b"https://evil.example"))
                    answer = Reader(s).next("POST")
                    self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_preflights_name_the_headers_of_parameters(self):
        def allowed_headers(server, wanted, origin=ORIGIN):
            done = subprocess.run(
                ["curl", "-sS", "--noproxy", "*", "-i", "-X", "OPTIONS", "-H", f"Origin: {origin}",
                 "-H", "Access-Control-Request-Method: POST", "-H", f"Access-Control-Request-Headers: {wanted}", server.address],
                capture_output=True, text=True, check=True, timeout=PATIENCE_S)
            found = re.search(r"(?im)^access-control-allow-headers: (.*?)\r?$", done.stdout)
            return [name.strip().lower() for name in found[1].split(",")] if found else []
        with Server("--http-allow-origin", ORIGIN) as server:
            own = allowed_headers(server, "content-type")
            self.assertIn("mcp-protocol-version", own)
            self.assertNotIn("*", own)
            both = allowed_headers(server, "content-type, mcp-param-region,Mcp-Param-Tenant-Id")
            self.assertEqual(set(both) - set(own), {"mcp-param-region", "mcp-param-tenant-id"})
            # Others are not repeated, whatever they look like.
            self.assertEqual(allowed_headers(server, "x-evil, mcp-para, cookie, mcp-param-a b, mcp-param-ä, x-mcp-param-b"), own)
            self.assertEqual(allowed_headers(server, "mcp-param-region", "https://evil.example"), [])


class GoneClients(unittest.TestCase):
    """Clients that send a whole request and go, on a Unix socket, which tells the server at once."""
    TRIES = 20

    def session(self, server):
        with contextlib.closing(server.connect()) as s:
            s.sendall(message("POST", JSON, json.dumps(INITIALIZE).encode()))
            return Reader(s).next("POST").getheader("Mcp-Session-Id")

    def legacy(self, session, path):
        call = {"jsonrpc": "2.0", "id": path, "method": "tools/call",
                "params": {"name": "writeTextFile", "arguments": {"path": path, "text": "x"}}}
        return message("POST", {**JSON, "Mcp-Session-Id": session}, json.dumps(call).encode())

    def test_what_they_asked_for_is_done(self):
        for listen in ("unix:{}/socket", "127.0.0.1:0"):
            with Server(listen=listen) as server:
                session = self.session(server)
                requests = {"modern": writes, "legacy": lambda path: self.legacy(session, path)}
                for (era, request), i in itertools.product(requests.items(), range(self.TRIES)):
                    with contextlib.closing(server.connect()) as s:
                        s.sendall(request(f"{era}{i}"))
                wanted = {f"{era}{i}" for era in requests for i in range(self.TRIES)}
                done = lambda: {path.name for path in server.workspace.iterdir()}
                self.wait_until(server, lambda: wanted <= done(), lambda: sorted(wanted - done()))

    def wait_until(self, server, condition, missing):
        """Asks for something else until what was asked before must have been done."""
        for _ in range(2000):
            if condition():
                return
            with contextlib.closing(server.connect()) as s:
                s.sendall(modern("tools/list"))
                Reader(s).next("POST")
        self.fail(f"never done: {missing()}")

    def test_those_that_only_send_no_more_get_their_answer(self):
        for listen in ("unix:{}/socket", "127.0.0.1:0"):
            with Server(listen=listen) as server:
                session = self.session(server)
                requests = {"modern": writes, "legacy": lambda path: self.legacy(session, path)}
                for (era, request), i in itertools.product(requests.items(), range(self.TRIES)):
                    with self.subTest(listen=listen, era=era), contextlib.closing(server.connect()) as s:
                        s.sendall(request(f"{era}{i}"))
                        s.shutdown(socket.SHUT_WR)
                        reader = Reader(s)
                        self.assertEqual(reader.next("POST").status, 200)
                        self.assertTrue(reader.at_end())

    def test_control_half_a_request_is_not_done(self):
        with Server(listen="unix:{}/socket") as server:
            with contextlib.closing(server.connect()) as s:
                s.sendall(writes("half")[:-1])
            with contextlib.closing(server.connect()) as s:
                s.sendall(writes("whole"))
                self.assertEqual(Reader(s).next("POST").status, 200)
            self.assertEqual([path.name for path in server.workspace.iterdir()], ["whole"])

    def test_a_long_command_ends_with_its_client(self):
        with Server(listen="unix:{}/socket") as server:
            with contextlib.closing(server.connect()) as s:
                s.sendall(calls("exec", command="sh", args=["-c", "echo >begun; sleep 300; echo >ended"], env={}, cwd=".",
                                stdout=True, stderr=True, timeout=400_000))
                self.wait_until(server, (server.workspace / "begun").exists, lambda: "begun")
            naps = lambda: subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True).stdout
            if shutil.which("pgrep"):
                self.wait_until(server, lambda: naps() == b"", naps)


class Availability(unittest.TestCase):
    """Probes are answered whatever else is held open."""

    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 4096:
            self.skipTest("this system does not allow 4096 open files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.held = []
        self.addCleanup(self.let_go)

    def let_go(self):
        for s in self.held:
            s.close()
        self.held.clear()

    def hold(self, server, request, wait_for=b""):
        for _ in range(1024):
            s = server.connect()
            self.held.append(s)
            s.sendall(request)
        for s in self.held if wait_for else []:
            got = b""
            while wait_for not in got:
                piece = s.recv(4096)
                if not piece:
                    break
                got += piece

    def assert_probes_are_answered(self, server):
        for probe in (PROBE, b"GET /healthz HTTP/1.1\r\n\r\n", b"GET /healthz HTTP/1.0\r\n\r\n", b"HEAD /healthz HTTP/1.1\r\n\r\n"):
            with contextlib.closing(server.connect()) as s:
                s.sendall(probe)
                answer = Reader(s).next(probe.split()[0].decode())
                self.assertEqual((answer.status, answer.content), (200, b"" if probe.startswith(b"HEAD") else b"ok\n"))

    def test_control_with_nothing_held(self):
        with Server() as server:
            self.assert_probes_are_answered(server)

    def test_while_1024_subscriptions_are_open(self):
        for descriptors in (4096, 1024):
            with self.subTest(descriptors=descriptors), Server(descriptors=descriptors) as server:
                self.hold(server, modern("subscriptions/listen", notifications={}), b"acknowledged" if descriptors == 4096 else b"")
                self.assert_probes_are_answered(server)
                with contextlib.closing(server.connect()) as s: # others hear that there is no place
                    s.sendall(modern("tools/list"))
                    answer = Reader(s).next("POST")
                    self.assertEqual((answer.status, answer.getheader("Connection")), (503, "close"))
                self.let_go()

    def test_while_1024_heads_are_half_finished(self):
        for part in (b"", b"P", message("POST", JSON)[:-2], PROBE[:-2]):
            with self.subTest(part=part), Server() as server:
                self.hold(server, part)
                self.assert_probes_are_answered(server)
                with contextlib.closing(server.connect()) as s: # the slow ones gave way
                    s.sendall(modern("tools/list"))
                    self.assertEqual(Reader(s).next("POST").status, 200)
                self.let_go()

    def test_while_1024_bodies_are_half_finished(self):
        with Server() as server:
            self.hold(server, writes("x")[:-1])
            self.assert_probes_are_answered(server)

    def test_a_page_of_a_foreign_origin_gets_no_probe(self):
        with Server() as server:
            for headers in ({"Origin": "https://evil.example"}, {"Origin": "http://"}, {"Origin": "null"}):
                with contextlib.closing(server.connect()) as s:
                    s.sendall(message("GET", headers, target="/healthz", host=None))
                    self.assertEqual(Reader(s).next("GET").status, 403)


if __name__ == "__main__":
    unittest.main(verbosity=1)
