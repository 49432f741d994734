#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An HTTPS server that is not ours: tls_server.py CERTIFICATE KEY COUNT [AUTHORITY]

Prints its port. Appends a byte to the file COUNT for each POST to /mcp, before it answers. With AUTHORITY only clients
that it has signed are served.
"""
import http.server
import socketserver
import ssl
import sys

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":%s}'
certificate, key, count = sys.argv[1:4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
if len(sys.argv) > 4:
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(sys.argv[4])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def setup(self):
        # Not when it is accepted: who stalls here holds up nobody else.
        self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/events":
            return self.send_events(b"data: " + ANSWER % b"{}" + b"\n\n")
        if self.path == "/mcp":
            with open(count, "ab", buffering=0) as file:
                file.write(b".")
        answer = ANSWER % (body if self.path == "/large" else b"{}")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def send_events(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for byte in text:
            self.wfile.write(b"1\r\n%c\r\n" % byte)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # clients that refuse the certificate are what is tested


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
