#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Internet, as far as a test needs it: names, servers and a capture of every packet that arrives, in a network namespace
of its own at the other end of a cable. Started by network_test.py; answers lines on its standard input."""
import base64
import hashlib
import http.server
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import threading

MACHINE = "11.0.1.1"  # public addresses, which nobody else has in here
MACHINES_SECOND = "11.0.1.7"  # from which it does not answer itself
RESOLVER = "11.0.0.53"
HOSTS = {
    "code.example.org": "11.0.0.10",
    "other.example.org": "11.0.0.10",  # another name at the same place, as behind a CDN
    "elsewhere.example.org": "11.0.0.11",
    "a.example.net": "11.0.0.12",
    "b.c.example.net": "11.0.0.12",
    "metadata.example.org": "169.254.169.254",
    "inner.example.org": "10.0.0.5",
    "loop.example.org": "127.0.0.1",
    "mapped.example.org": "::ffff:127.0.0.1",
    "self.example.org": MACHINE,
    "second.example.org": MACHINES_SECOND,
    "dead.example.org": "11.0.0.99",
    "lost.example.net.search.example": "11.0.0.11",  # behind a search domain
    "h2.example.net": "11.0.0.13",  # has no server but those of the tests, as the next one
    "ssh.example.net": "11.0.0.14",
    "under_score.example.net": "11.0.0.12",
    "both.example.org": "11.0.0.11 11.0.0.10",  # the first refuses port 9000
}
SERVED = {"11.0.0.10", "11.0.0.11", "11.0.0.12", RESOLVER}
OTHERS = {"11.0.0.13", "11.0.0.14"}
seen = {"requests": [], "names": [], "greetings": [], "swallowed": []}


def answer(question):
    name, at = [], 12
    while question[at]:
        name.append(question[at + 1:at + 1 + question[at]].decode("latin-1"))
        at += 1 + question[at]
    kind, = struct.unpack_from("!H", question, at + 1)
    name = ".".join(name).lower()
    if name.endswith(".silent.example.net"):
        return b""
    seen["names"].append(name)
    records = []
    for address in HOSTS.get(name, "").split():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if kind == (28 if family == socket.AF_INET6 else 1):
            data = socket.inet_pton(family, address)
            records.append(struct.pack("!HHHIH", 0xc00c, kind, 1, 0, len(data)) + data)
    head = question[:2] + struct.pack("!HHHHH", 0x8180 | (0 if name in HOSTS else 3), 1, len(records), 0, 0)
    return head + question[12:at + 5] + b"".join(records)


def serve_names():
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    resolver.bind((RESOLVER, 53))
    while True:
        question, client = resolver.recvfrom(4096)
        if given := answer(question):
            resolver.sendto(given, client)


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        seen["requests"].append([self.headers.get("Host", ""), self.path])
        if self.path == "/ws" and self.headers.get("Upgrade") == "websocket":
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            key = self.headers.get("Sec-WebSocket-Key")
            if key:
                sum = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
                self.send_header("Sec-WebSocket-Accept", base64.b64encode(sum).decode())
            self.end_headers()
            if key: self.wfile.write(b"\x81\x05hello")
            self.close_connection = True
            while data := self.request.recv(4096):
                self.wfile.write(data)
        elif self.path.startswith("/bytes/"):
            size = int(self.path.split("/")[2])
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            while size > 0:
                size -= self.wfile.write(bytes(min(size, 1 << 20)))
        else:
            super().do_GET()

    def do_POST(self):
        seen["requests"].append([self.headers.get("Host", ""), self.path])
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 2048

    def handle_error(self, *_):
        pass


class TlsServer(Server):
    def get_request(self):
        plain, client = super().get_request()
        plain.settimeout(10)
        return self.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False), client


def serve_http(folder):
    def handler(*arguments):
        return Handler(*arguments, directory=folder + "/www")
    for port in (80, 8080):
        threading.Thread(target=Server(("", port), handler).serve_forever, daemon=True).start()
    for address in SERVED:
        secure = TlsServer((address, 443), handler)
        secure.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.context.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
        secure.context.sni_callback = lambda _, name, __: seen["greetings"].append(name)
        threading.Thread(target=secure.serve_forever, daemon=True).start()


def serve_echo():
    echo = socket.create_server((HOSTS["code.example.org"], 9000), backlog=2048)

    def talk(client):
        while data := client.recv(65536):
            client.sendall(data)
        client.close()
    while True:
        threading.Thread(target=talk, args=(echo.accept()[0],), daemon=True).start()


def serve_sink():
    """Takes what is sent, and says nothing."""
    sink = socket.create_server(("", 9001))

    def swallow(client):
        size = 0
        while data := client.recv(1 << 16):
            size += len(data)
        seen["swallowed"].append(size)
    while True:
        threading.Thread(target=swallow, args=(sink.accept()[0],), daemon=True).start()


class Capture:
    """Every packet that has arrived, taken from the wire."""

    def __init__(self, name):
        self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        try:
            self.wire.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE, for root
        except PermissionError:
            self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.wire.bind((name, 0))
        self.wire.setblocking(False)

    def take(self):
        found = set()
        while True:
            try:
                frame, where = self.wire.recvfrom(2048)
            except BlockingIOError:
                return sorted(found)
            if where[2] == socket.PACKET_OUTGOING or len(frame) < 34 or frame[12:14] != b"\x08\x00":
                is_v6 = where[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x86\xdd"
                if is_v6 and frame[38] != 0xff:  # multicast is how interfaces greet each other
                    found.add(("ipv6", frame[38:54].hex(), 0))
                continue
            head = 14 + (frame[14] & 15) * 4
            kind = {6: "tcp", 17: "udp"}.get(frame[23], str(frame[23]))
            port = int.from_bytes(frame[head + 2:head + 4], "big") if kind in ("tcp", "udp") else 0
            if kind == "tcp" and frame[head + 13] & 0x12 != 0x02:
                continue  # of a connection that was counted when it began
            found.add((kind, socket.inet_ntoa(frame[30:34]), port))


def main(folder):
    sys.stdin.readline()  # the cable is there
    for command in (["addr", "add", "11.0.1.2/24", "dev", "w0"], ["link", "set", "w0", "up"], ["link", "set", "lo", "up"],
                    ["route", "add", "default", "via", MACHINE]):
        subprocess.run(["ip", *command], check=True)
    for address in SERVED | OTHERS:
        subprocess.run(["ip", "addr", "add", address + "/32", "dev", "lo"], check=True)
    capture = Capture("w0")
    for serve in (serve_names, serve_sink, serve_echo):
        threading.Thread(target=serve, daemon=True).start()
    serve_http(folder)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(json.dumps({"packets": capture.take(), **seen}), flush=True)
        for each in seen.values():
            each.clear()
    os._exit(0)


if __name__ == "__main__":
    pathlib.Path(sys.argv[1], "www").mkdir(exist_ok=True)
    main(sys.argv[1])
