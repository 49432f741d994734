#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""Two servers on one workspace lose no edit that one of them has answered, whichever tool it was."""

import json
import os
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Server, folder_of  # noqa: E402

SERVERS, EDITS = 2, 300  # of all servers together
LOSSES_TRIES = 20


def edit(mark, new):
    return "editFile", {"path": "f", "edits": [{"oldText": mark, "newText": mark + new}]}


def edit_text(mark, new):
    return "editTextFile", {"path": "f", "oldText": mark, "newText": mark + new}


def append(_, new):
    return "appendTextFile", {"path": "f", "text": new}


def change(mark, new):
    return "applyChanges", {"changes": [{"path": "f", "edits": [{"oldText": mark, "newText": mark + new}]},
                                        {"path": f"made{new.strip()}", "text": new}]}


def all_at_once(server, calls):
    """The answers in the order of the calls, all of which are under way together."""
    numbers = range(server.number + 1, server.number + 1 + len(calls))
    for number, (tool, arguments) in zip(numbers, calls):
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    server.number = numbers[-1]
    answers = {}
    while len(answers) < len(calls):
        answer = json.loads(server.process.stdout.readline())
        if "id" in answer:
            answers[answer["id"]] = json.loads(answer["result"]["content"][0]["text"])
    return [answers[number] for number in numbers]


def write_what_was_read(server, mark, new, looks=True):
    """With the addition, and again where somebody was faster."""
    while True:
        was = server.call("readTextFile", path="f")
        text = was["content"].replace(mark, mark + new)
        done = server.call("writeTextFile", path="f", text=text, **({"ifHash": was["hash"]} if looks else {}))
        if done.get("error") != "stale":
            return done


def write_blindly(server, mark, new):
    return write_what_was_read(server, mark, new, looks=False)


class TwoServers(unittest.TestCase):
    def setUp(self):
        self.top = folder_of(self)

    def serve(self):
        return Server(self.top / "workspace", XDG_STATE_HOME=str(self.top / "state")).until_the_end_of(self)

    def lost(self, tool):
        """Of the edits that were answered, those that are not in the file."""
        file = self.top / "workspace/f"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"server {i}:\n" for i in range(SERVERS)))
        servers = [self.serve() for _ in range(SERVERS)]
        answered, begin = [[] for _ in servers], threading.Barrier(SERVERS)

        def work(i):
            news = [f" {i}-{number}." for number in range(EDITS // SERVERS)]
            begin.wait()
            if tool in (write_what_was_read, write_blindly):
                done = [tool(servers[i], f"server {i}:", new) for new in news]
            else:
                done = all_at_once(servers[i], [tool(f"server {i}:", new) for new in news])
            answered[i] = [new for new, each in zip(news, done) if "error" not in each]

        threads = [threading.Thread(target=work, args=[i]) for i in range(SERVERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for server in servers:
            server.close()
        self.assertEqual(sum(map(len, answered)), EDITS)
        now = file.read_text()
        return [each for all in answered for each in all if now.count(each) != 1]

    def test_no_answered_edit_is_lost(self):
        for tool in (edit, edit_text, append, change, write_what_was_read):
            with self.subTest(tool.__name__):
                self.assertEqual(self.lost(tool), [])

    def test_control_who_does_not_look_loses_some(self):
        self.assertTrue(any(self.lost(write_blindly) for _ in range(LOSSES_TRIES)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
