#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The official conformance suite against this project's servers and client, with recorded expectations. Prints TAP.

Two versions of the suite are known: the published one that test/client/package.json pins, and a checkout of its
repository (built: `npm ci && npm run build`) that PADDOCK_CONFORMANCE_HEAD names, for what came later. What is not
there is skipped by name. A scenario that fails has to be in expected_failures_REVISION.yml, with a reason; one in
there that passes is a failure, too.
"""
import contextlib
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODULES = HERE.parent / "client/node_modules"
PUBLISHED = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
PATIENCE_S = 30
SUITE_S = 280
ANSI = re.compile(r"\x1b\[[0-9;]*m")

# Scenarios for a server without fixtures, and those that came after the published suite.
PRODUCT = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams"]
PRODUCT_HEAD = [("server-session-lifecycle", "2025-11-25"), ("tools-list", "2026-07-28"),
                ("dns-rebinding-protection", "2026-07-28"), ("server-sse-multiple-streams", "2026-07-28"),
                ("http-header-validation", "2026-07-28")]
CLIENT = ["initialize", "tools_call", "sse-retry"]
CLIENT_HEAD = [(name, "2025-11-25") for name in [*CLIENT, "json-schema-2020-12-preservation"]] + [
    (name, "2026-07-28") for name in ["tools_call", "request-metadata", "http-standard-headers", "http-custom-headers",
                                      "http-invalid-tool-headers", "json-schema-ref-no-deref",
                                      "json-schema-2020-12-preservation", "sep-2322-client-request-state"]]


def baseline(revision):
    return HERE / f"expected_failures_{revision}.yml"


def check_reasons(revision):
    """Every expected failure has its reason on the same line."""
    for line in baseline(revision).read_text().splitlines():
        assert not line.lstrip().startswith("-") or re.search(r"- \S+ +# \S.{9}", line), f"no reason: {line}"


def node():
    return next(iter(sorted(MODULES.glob("node-linux-*/bin/node"))), None)


def head():
    """The suite of the checkout, or None."""
    folder = os.environ.get("PADDOCK_CONFORMANCE_HEAD")
    return pathlib.Path(folder, "dist/index.js") if folder else None


class Server:
    """A program that prints its address first."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.heard = ""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/\S*", self.heard)):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 4096).decode() if ready else ""
            assert piece, f"no address: {self.heard!r}"
            self.heard += piece
        self.url = found[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def suite(index, *arguments):
    """Runs the suite; returns whether it is content, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([node(), index, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=SUITE_S)
    return done.returncode == 0, ANSI.sub("", done.stdout)


def summary(said):
    """The suite's own words about the end, without its report of every check."""
    lines = said.splitlines()
    begins = [i for i, line in enumerate(lines) if "SUMMARY" in line or line.startswith("Test Results:")]
    return [line for line in lines[begins[-1]:] if line.strip()] if begins else lines[-20:]



def fixtures(index, revision, *arguments):
    check_reasons(revision)
    with Server(os.environ["PADDOCK_CONFORMANCE_SERVER"]) as server:
        return suite(index, "server", "--url", server.url, "--expected-failures", baseline(revision), *arguments)


@contextlib.contextmanager
def product():
    with tempfile.TemporaryDirectory() as workspace, \
            Server(os.environ["PADDOCK_MCP"], "--workspace", workspace, "--http", "127.0.0.1:0") as server:
        yield server


def one_scenario(kind, index, name, *arguments):
    return suite(index, kind, "--scenario", name, *arguments)


def product_scenario(index, name, *arguments):
    with product() as server:
        return one_scenario("server", index, name, "--url", server.url, *arguments)


def noticed(index, name):
    """The other way round: content when the suite is not."""
    content, said = product_scenario(index, name)
    return not content, said


def client_scenario(index, name, revision, *arguments):
    check_reasons(revision)
    return one_scenario("client", index, name, "--command", os.environ["PADDOCK_CONFORMANCE_CLIENT"],
                        "--expected-failures", baseline(revision), *arguments)


def cases():
    """(title, what it needs, function)"""
    yield "server with fixtures, published suite", PUBLISHED, lambda: fixtures(PUBLISHED, "2025-11-25", "--suite", "all")
    for name in PRODUCT:
        yield f"paddock-mcp, published suite, {name}", PUBLISHED, lambda n=name: product_scenario(PUBLISHED, n)
    yield ("paddock-mcp, published suite, tools-call-simple-text fails without that tool", PUBLISHED,
           lambda: noticed(PUBLISHED, "tools-call-simple-text"))
    for name in CLIENT:
        yield f"client, published suite, {name}", PUBLISHED, lambda n=name: client_scenario(PUBLISHED, n, "2025-11-25")
    for revision in ("2025-11-25", "2026-07-28"):
        yield (f"server with fixtures, HEAD, {revision}", head(),
               lambda r=revision: fixtures(head(), r, "--requirements", r))
    for name, revision in PRODUCT_HEAD:
        yield (f"paddock-mcp, HEAD, {name}, {revision}", head(),
               lambda n=name, r=revision: product_scenario(head(), n, "--spec-version", r))
    for name, revision in CLIENT_HEAD:
        yield (f"client, HEAD, {name}, {revision}", head(),
               lambda n=name, r=revision: client_scenario(head(), n, r, "--spec-version", r))


def main():
    if not node() or not PUBLISHED.exists():
        print("1..0 # SKIP run tools/setup test to install the official clients")
        return 0
    chosen = [case for case in cases() if not sys.argv[1:] or any(word in case[0] for word in sys.argv[1:])]
    print(f"1..{len(chosen)}")
    failures = 0
    for number, (title, index, run) in enumerate(chosen, 1):
        if index is None:
            print(f"ok {number} - {title} # SKIP PADDOCK_CONFORMANCE_HEAD names no checkout of the suite", flush=True)
            continue
        try:
            content, said = run()
        except Exception as problem:  # whatever it is, the next one still runs
            content, said = False, f"{type(problem).__name__}: {problem}"
        failures += not content
        for line in summary(said) if content else said.splitlines()[-200:]:
            print(f"# {line}")
        print(f"{'ok' if content else 'not ok'} {number} - {title}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
