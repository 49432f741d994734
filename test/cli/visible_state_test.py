#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""No command sees where histories are kept: a server, or a command, that would show it is refused with the reason."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PADDOCK, SERVER = os.environ["PADDOCK"], os.environ["PADDOCK_MCP"]
# name -> (the state directory, options, PATH in front), with {top} for the test's own directory
SHOWN = {
    "read": ("{top}/state", ["--exec-read", "{top}/state"], ""),
    "read, what holds it": ("{top}/deep/er/state", ["--exec-read", "{top}/deep"], ""),
    "read, what is in it": ("{top}/state", ["--exec-read", "{top}/state/paddock"], ""),
    "changed": ("{top}/state", ["--exec-write", "{top}/state"], ""),
    "by a link": ("{top}/state", ["--exec-read", "{top}/alias"], ""),
    "a directory of PATH": ("{top}/tools", [], "{top}/tools"),
    "what is beside a directory of PATH": ("{top}/made/lib/state", [], "{top}/made/bin"),
    "a toolchain": ("{top}/home/.cargo/bin", ["--home-tools"], ""),
    "a package cache": ("{top}/home/.cache/pip", ["--package-cache"], ""),
    "the workspace": ("{top}/work/state", [], ""),
}
HIDDEN = {
    "elsewhere": ("{top}/state", ["--exec-read", "{top}/deep"], "{top}/tools"),
    "in the home directory": ("{top}/home/.local/state", ["--home-tools", "--package-cache"], "{top}/made/bin"),
    "the home directory in PATH": ("{top}/home/.local/state", [], "{top}/home"),
    "a name that begins alike": ("{top}/state", ["--exec-read", "{top}/states"], ""),
}


class VisibleState(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-state-", dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(os.path.realpath(folder.name))
        for name in ("work", "deep/er", "tools", "made/bin", "made/lib", "home/.cargo/bin", "home/.cache/pip", "states", "state"):
            self.top.joinpath(name).mkdir(parents=True)
        self.top.joinpath("home/.cargo/bin/cargo").write_text("#!/bin/sh\n")
        self.top.joinpath("home/.cargo/bin/cargo").chmod(0o755)
        self.top.joinpath("alias").symlink_to("state")

    def run_with(self, row, program, *rest, holds="paddock/history"):
        state, options, path = (part if isinstance(part, list) else part.format(top=self.top) for part in row)
        self.top.joinpath(state, holds).mkdir(parents=True, exist_ok=True, mode=0o700)
        variables = {**os.environ, "XDG_STATE_HOME": state, "HOME": str(self.top / "home")}
        if path:
            variables["PATH"] = path + ":" + os.environ["PATH"]
        if "exec" in program:  # which calls them so
            options = [each.replace("--exec-", "--") for each in options]
        return subprocess.run([*program, "--workspace", str(self.top / "work"), *[o.format(top=self.top) for o in options], *rest],
                              env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)

    def test_what_would_show_it_is_refused(self):
        for name, row in SHOWN.items():
            for tools in ("coding", "base"):
                with self.subTest(f"{name}, {tools}"):
                    told = self.run_with(row, [SERVER], "--tools", tools)
                    self.assertEqual(told.returncode, 2, told.stderr)
                    self.assertIn("commands would see", told.stderr)
                    if not row[1]:
                        self.assertEqual(self.run_with(row, [SERVER], "--tools", tools, "--exec", "off").returncode, 0)
            with self.subTest(f"{name}, paddock exec"):
                told = self.run_with(row, [PADDOCK, "exec"], "--", "true")
                self.assertNotEqual(told.returncode, 0, told.stderr)
                self.assertIn("commands would see", told.stderr)

    def test_control_what_does_not_show_it_is_not(self):
        for name, row in HIDDEN.items():
            with self.subTest(name):
                told = self.run_with(row, [SERVER], "--tools", "coding")
                self.assertEqual(told.returncode, 0, told.stderr)
                told = self.run_with(row, [PADDOCK, "exec"], "--", "ls", row[0].format(top=self.top) + "/paddock")
                self.assertNotEqual(told.returncode, 0, "the command saw it")
                self.assertNotIn("commands would see", told.stderr)

    def test_the_lock_of_servers_is_reached_by_no_command(self):
        for name in ("read", "changed", "by a link", "a toolchain"):
            with self.subTest(name):
                told = self.run_with(SHOWN[name], [SERVER], "--tools", "base", holds="")
                self.assertEqual(told.returncode, 2, told.stderr)
                self.assertIn("commands would see", told.stderr)
        # Where it would lie in the workspace there is none.
        told = self.run_with(SHOWN["the workspace"], [SERVER], "--tools", "base", holds="")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(list(self.top.joinpath("work").rglob("locks")), [])
        # The control.
        told = self.run_with(HIDDEN["elsewhere"], [SERVER], "--tools", "base", holds="")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertTrue(self.top.joinpath("state/paddock/locks").exists())

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_another_mount_of_it(self):
        row = ("{top}/state", ["--exec-read", "{top}/deep"], "")
        told = self.run_with(row, ["unshare", "-m", "sh", "-c", f"mount --bind {self.top}/state {self.top}/deep/er && exec \"$@\"", "sh",
                                   PADDOCK, "exec"], "--", "true")
        if "mount" in told.stderr and "denied" in told.stderr:
            self.skipTest("no mounts here")
        self.assertIn("commands would see", told.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
