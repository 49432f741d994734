#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An MCP server with tools by name, for tests of skill managers: skill_server.py [options] TOOL...

A tool answers with its name, the number of calls this process has had, and its arguments; a few names do something
else. Unknown options are for whoever looks at the command line.
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import time

options = argparse.ArgumentParser()
options.add_argument("--barrier", nargs=2, metavar=("DIR", "N"), help="answer only when N servers have come here")
options.add_argument("--started", metavar="FILE", help="append a line at the start")
options.add_argument("--fail", action="store_true", help="end at once")
options.add_argument("--silent", action="store_true", help="never answer")
options.add_argument("--cookie")
options.add_argument("tools", nargs="*")
options.add_argument("--deaf", action="store_true", help="go on after SIGTERM and after the end of the input")
options.add_argument("--child", action="store_true", help="have a child in a session of its own, as deaf as this")
given = options.parse_args()

if given.deaf or given.child:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if given.child and os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(3600)

print("a line for the log", file=sys.stderr, flush=True)
if given.started:
    with open(given.started, "a") as file:
        file.write(f"{os.getpid()}\n")
if given.barrier:
    folder = pathlib.Path(given.barrier[0])
    (folder / str(os.getpid())).touch()
    while len(list(folder.iterdir())) < int(given.barrier[1]):
        time.sleep(0.005)
if given.fail:
    sys.exit("cannot start")

calls = 0


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(name, arguments):
    global calls
    calls += 1
    if name == "crash":
        os._exit(9)
    if name == "hang":
        time.sleep(3600)
    if name == "slow":
        return None  # the answer never comes, but the server goes on
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "empty":
        return {"content": []}
    if name == "structured":
        return {"structuredContent": {"a": 1}}
    if name == "fail":
        return {**text("went wrong"), "isError": True}
    if name == "grow":
        given.tools.append("grown")
    if name == "spoil":
        given.tools.clear()
    if name in ("grow", "spoil"):
        send({"method": "notifications/tools/list_changed"})
    return text(f"{name} {calls} {json.dumps(arguments, separators=(',', ':'))}")


def described(name):
    if not name.startswith("smuggles"):
        return {"name": name, "description": f"does {name}", "inputSchema": {"type": "object"}}
    argument = {"type": "string", "title": "\u202eA", "description": "say\U000e0041\U000e0042 it", "default": "\u200b"}
    schema = {"type": "object", "properties": {"a": argument}}
    if name == "smuggles-name":
        name = "smug\u200bgles"
    elif name == "smuggles-property":
        schema["properties"] = {"a\u200b": argument}
    elif name == "smuggles-enum":
        argument["enum"] = ["x", "x\U000e0041"]
    return {"name": name, "description": "does\u200b it\U000e0041 \U0001f469\u200d\U0001f4bb\n- all", "inputSchema": schema}


for line in sys.stdin:
    request = json.loads(line)
    method, params = request.get("method"), request.get("params", {})
    if "id" not in request or given.silent:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                  "serverInfo": {"name": "skill_server", "version": "1"}}
    elif method == "tools/list" and not given.tools and calls > 0:
        send({"id": request["id"], "error": {"code": -32603, "message": "spoilt"}})
        continue
    elif method == "tools/list":
        result = {"tools": [described(name) for name in given.tools]}
    elif method == "tools/call":
        result = call(params["name"], params.get("arguments", {}))
        if result is None:
            continue
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
        continue
    send({"id": request["id"], "result": result})

while given.deaf:
    time.sleep(3600)
