#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C interface as others call it: the programs of the page, a C compiler's strictest mode, and what is exported.

usage: c_test.py SOURCE BUILD
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
LIBRARY = BUILD / "src/libpaddock-c.so.0"
HELPER = BUILD / "tools/paddock-exec-helper"
PAGE = (SOURCE / "docs/cookbook.md").read_text()
HEADER = (SOURCE / "include/paddock/paddock.h").read_text()
OK, FAILED, REFUSED = 0, 1, 2

library = ctypes.CDLL(str(LIBRARY))
library.paddock_cancellation_new.restype = ctypes.c_void_p
library.paddock_version.restype = ctypes.c_char_p


def example(language):
    return re.search(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)[1]


def given(function, *arguments):
    text = ctypes.c_void_p()
    status = function(*arguments, ctypes.byref(text))
    said = ctypes.string_at(text) if text else None
    library.paddock_free(text)
    return status, json.loads(said) if said is not None and said[:1] in b"{[" else said


class C(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.workspace = pathlib.Path(self.folder.name, "workspace")
        self.workspace.mkdir()

    def opened(self, **options):
        handle = ctypes.c_void_p()
        status, why = given(library.paddock_open, str(self.workspace).encode(), json.dumps({"execHelper": str(HELPER)} | options).encode(), ctypes.byref(handle))
        self.assertEqual((status, why), (OK, None))
        self.addCleanup(library.paddock_close, handle)
        return handle

    def refused(self, options):
        handle = ctypes.c_void_p(1)
        status, why = given(library.paddock_open, str(self.workspace).encode(), options, ctypes.byref(handle))
        self.assertEqual((status, handle.value), (REFUSED, None))
        return why["message"]

    def call(self, handle, tool, cancellation=None, **arguments):
        return given(library.paddock_call, handle, tool.encode(), json.dumps(arguments).encode(), ctypes.c_void_p(cancellation))

    def test_the_pages_program_in_the_strictest_c99(self):
        compiler = shutil.which("cc") or self.skipTest("there is no C compiler")
        program = pathlib.Path(self.folder.name, "program")
        for options in (["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wstrict-prototypes"], ["-x", "c++", "-std=c++11", "-Wall"]):
            built = subprocess.run([compiler, *options, "-Werror", f"-I{SOURCE / 'include'}", "-x", options[1] if "-x" in options else "c", "-",
                                    "-x", "none", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-o", program], input=example("c"), text=True, capture_output=True)
            self.assertEqual((built.returncode, built.stderr), (0, ""))
            done = subprocess.run([program], cwd=self.workspace, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertIn('"escapes_root"', done.stdout)
            self.assertEqual((self.workspace / "notes.txt").read_text(), "mend the fence")

    def test_the_pages_python(self):
        script = example("python").replace("libpaddock-c.so.0", str(LIBRARY)).replace("/var/tmp/histories", self.folder.name + "/histories")
        done = subprocess.run([sys.executable, "-B", "-c", script], cwd=self.workspace, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.workspace / "notes.txt").exists())
        self.assertIn("'paths': []", done.stdout)

    def test_exported_are_the_functions_of_the_header_alone(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        exported = {line.split()[-1].partition("@")[0] for line in listed.splitlines()} - {"PADDOCK_1"}
        self.assertEqual(exported, set(re.findall(r"PADDOCK_API [\w *]*?(paddock_\w+)\(", HEADER)))
        self.assertEqual(library.paddock_abi(), int(re.search(r"PADDOCK_ABI (\d+)", HEADER)[1]))

    def test_options(self):
        for options, said in [(b"[", "JSON"), (b'{"tool": 1}', "tool"), (b'{"tools": "all"}', "coding"), (b'{"network": "host"}', "allow:LIST"), (b'{"environment": ["A"]}', "NAME=value"),
                              (b'{"history": "/tmp/a/b", "execWrite": ["/tmp/a"]}', "no place"), (b'{"history": "/tmp", "execRead": ["/tmp/a"]}', "no place"),
                              (b'{"network": "allow:-"}', "network"), (b'{"hide": ["a/b"]}', "hide"), (b'{"pick": ["nothing"]}', "nothing"),
                              (b'{"history": "relative"}', "absolute"), (b'{"readOnly": "yes"}', "readOnly")]:
            with self.subTest(options):
                self.assertIn(said, self.refused(options))
        names = [tool["name"] for tool in given(library.paddock_tools, self.opened(tools="base", omit=["exec"]))[1]]
        self.assertEqual((len(names), "exec" in names), (16, False))
        names = [tool["name"] for tool in given(library.paddock_tools, self.opened(pick=["searchText", "todo"]))[1]]
        self.assertEqual(sorted(names), ["searchText", "todo"])
        handle = self.opened(protect=["kept"], hide=["secret"], readOnly=False)
        (self.workspace / "secret").write_text("s")
        self.assertEqual(self.call(handle, "writeTextFile", path="kept", text="")[1]["error"], "write_protected")
        self.assertEqual(self.call(handle, "readTextFile", path="secret")[1]["error"], "protected")
        self.assertEqual(self.call(self.opened(readOnly=True), "writeTextFile", path="a", text="")[0], REFUSED)

    def test_null_is_refused(self):
        handle = self.opened()
        descriptor = ctypes.c_int()
        for function, arguments in [(library.paddock_open, (None, None, ctypes.byref(ctypes.c_void_p()))), (library.paddock_open, (b".", None, None)),
                                    (library.paddock_tools, (None,)), (library.paddock_call, (None, b"todo", None, None)),
                                    (library.paddock_call, (handle, None, None, None)), (library.paddock_open_file, (handle, None, 0, ctypes.byref(descriptor))),
                                    (library.paddock_open_file, (handle, b".", 7, ctypes.byref(descriptor))), (library.paddock_serve, (None, 0, 1, -1))]:
            with self.subTest(function=function, arguments=arguments):
                self.assertEqual(given(function, *arguments)[0], REFUSED)
        self.assertEqual(library.paddock_open(b"/nowhere", None, ctypes.byref(ctypes.c_void_p()), None), REFUSED)
        library.paddock_close(None)
        library.paddock_cancellation_free(None)

    def test_files_beneath(self):
        handle, descriptor = self.opened(), ctypes.c_int(7)
        (self.workspace / "a").write_bytes(b"\0bytes")
        os.symlink("/etc/passwd", self.workspace / "link")
        self.assertEqual(given(library.paddock_open_file, handle, b"a", 0, ctypes.byref(descriptor)), (OK, None))
        with open(descriptor.value, "rb") as file:
            self.assertEqual((file.read(), os.get_inheritable(file.fileno())), (b"\0bytes", False))
        for path, why in [(b"link", "absolute_symlink"), (b"../x", "escapes_root"), (b".", "is_a_directory")]:
            status, said = given(library.paddock_open_file, handle, path, 0, ctypes.byref(descriptor))
            self.assertEqual((status, said["error"], descriptor.value), (REFUSED, why, -1))
        self.assertEqual(given(library.paddock_open_file, handle, b".", 1, ctypes.byref(descriptor)), (OK, None))
        self.assertEqual(sorted(os.listdir(descriptor.value)), ["a", "link"])
        os.close(descriptor.value)

    def test_commands_and_cancellation(self):
        handle = self.opened()
        status, said = self.call(handle, "exec", command="sh", args=["-c", "echo inside; cat /etc/shadow"])
        if said.get("error") == "confinement_unavailable":
            self.skipTest("no command can be confined here")
        self.assertIn("inside", json.dumps(said))
        self.assertNotIn("root:", json.dumps(said))
        cancellation = library.paddock_cancellation_new()
        ends = []
        fifo = self.workspace / "fifo"
        os.mkfifo(fifo)
        worker = threading.Thread(target=lambda: ends.append(self.call(handle, "exec", cancellation, command="sh", args=["-c", ": >fifo; sleep 60"])))
        worker.start()
        fifo.read_bytes()  # it runs
        library.paddock_cancel(ctypes.c_void_p(cancellation))
        worker.join(30)
        self.assertEqual((ends[0][0], ends[0][1]["error"]), (REFUSED, "cancelled"))
        library.paddock_cancellation_free(ctypes.c_void_p(cancellation))

    def test_what_a_killed_host_has_left(self):
        history = self.folder.name + "/histories"
        agent = os.fork()
        if agent == 0:
            handle = self.opened(history=history)
            self.call(handle, "exec", script="git init -q made; echo echo >made/.git/hooks/pre-commit; chmod +x made/.git/hooks/pre-commit; : >done; sleep 60")
            os._exit(0)
        while not (self.workspace / "done").exists():
            os.sched_yield()
        os.kill(agent, 9)
        os.waitpid(agent, 0)
        handle = ctypes.c_void_p()
        status, said = given(library.paddock_open, str(self.workspace).encode(), json.dumps({"history": history}).encode(), ctypes.byref(handle))
        self.assertEqual(status, OK)
        self.assertIn("made/.git/hooks is protected", said[0])
        self.assertFalse((self.workspace / "made/.git/hooks/pre-commit").exists())
        library.paddock_close(handle)

    def test_a_picture_comes_whole(self):
        (self.workspace / "dot.png").write_bytes(bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
            "1f15c4890000000d49444154789c6360000000020001e221bc330000000049454e44ae426082"))
        status, said = self.call(self.opened(), "readImageFile", path="dot.png")
        self.assertEqual((status, {block["type"] for block in said}), (OK, {"image", "text"}))

    def test_a_server_of_the_same_tools(self):
        handle = self.opened()
        self.call(handle, "todo", newTodos=["mend the fence"])
        (in_, send), (receive, out) = os.pipe(), os.pipe()
        ends = []
        server = threading.Thread(target=lambda: ends.append(given(library.paddock_serve, handle, in_, out, -1)))
        server.start()
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        os.write(send, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "todo", "arguments": {}, "_meta": meta}}).encode() + b"\n")
        with open(receive) as answers:
            self.assertIn("mend the fence", answers.readline())
            os.close(send)
            server.join(30)
            os.close(out)
        os.close(in_)
        self.assertEqual(ends, [(OK, None)])


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
