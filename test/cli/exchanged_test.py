#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""While an undo works, an agent's directory and a person's repository change places without end.

Nothing that programs outside would run comes into the repository: by `paddock undo`, by the page, by the agent's own restore and by that of
a later server; as root and as an ordinary user.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import STEP, Page, Server, folder_of  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
TRIES = max(1, 22 // STEP)
CONTROL_TRIES = 200
NOBODY = 65534
RUN = {".envrc", ".vscode/tasks.json"}  # by programs outside, in a repository
AGENTS = RUN | {f"work/{i}" for i in range(20)}
PERSONS = {".git/HEAD", ".git/config", "mine"}
AT_FDCWD, RENAME_EXCHANGE = -100, 2
LIBC = ctypes.CDLL(None)


class Exchanges:
    """Of two directories, by another thread."""

    def __init__(self, one, other):
        self.paths, self.is_over, self.count = [os.fsencode(each) for each in (one, other)], False, 0
        self.thread = threading.Thread(target=self.work)

    def work(self):
        while not self.is_over:
            self.count += LIBC.renameat2(AT_FDCWD, self.paths[0], AT_FDCWD, self.paths[1], RENAME_EXCHANGE) == 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


class Exchanged(unittest.TestCase):
    def setUp(self):
        top = folder_of(self)
        self.workspace, self.store = top / "workspace", top / "history"
        for name, text in {".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", "mine": "a person's\n"}.items():
            path = self.workspace / "clone" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.workspace / "d").mkdir()

    def serve(self):
        return Server(self.workspace, "--history", self.store).until_the_end_of(self)

    def tops(self):
        """Of each directory, its files; the person's first."""
        found = []
        for top in self.workspace.iterdir():
            found.append({str(each.relative_to(top)) for each in top.rglob("*") if each.is_file()})
        return sorted(found, key=lambda files: "mine" not in files)

    def undo_once(self, how, is_exchanged):
        self.setUp()
        server = self.serve()
        for name in AGENTS:
            self.assertNotIn("error", server.call("writeTextFile", path=f"d/{name}", text="evil"))
        to = server.call("checkpoint", label="made")["checkpoint"]
        for name in (".vscode", "work"):
            self.assertNotIn("error", server.call("deleteDirectory", path=f"d/{name}", recursive=True))
        self.assertNotIn("error", server.call("deleteFile", path="d/.envrc"))
        asks = self.serve() if how == "later server" else Page(self.workspace, self.store) if how == "page" else server

        def undo():
            if how == "person":
                subprocess.run([PADDOCK, "undo", "--to", str(to), "--workspace", self.workspace, "--history", self.store],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
            elif how == "page":
                asks.ask("POST", "api/undo", {"to": int(to)})
            else:
                asks.call("restore", to=str(to))

        if is_exchanged:
            with Exchanges(self.workspace / "clone", self.workspace / "d") as exchanges:
                undo()
            self.assertGreater(exchanges.count, 0)
        else:
            undo()
        asks.close()
        server.close()

    def test_nothing_comes_into_a_persons_repository(self):
        for how in ("person", "page", "agent", "later server"):
            with self.subTest(how):
                for _ in range(TRIES):
                    self.undo_once(how, is_exchanged=True)
                    self.assertEqual(self.tops()[0] & RUN, set())
                    self.assertGreaterEqual(self.tops()[0], PERSONS)
                self.undo_once(how, is_exchanged=False)
                self.assertEqual(self.tops(), [PERSONS, AGENTS])  # the control

    def test_control_who_goes_by_names_puts_it_there(self):
        saved = self.workspace.parent / "saved"
        for name in AGENTS:
            (saved / name).parent.mkdir(parents=True, exist_ok=True)
            (saved / name).write_text("evil")
        with Exchanges(self.workspace / "clone", self.workspace / "d"):
            for _ in range(CONTROL_TRIES):
                with contextlib.suppress(OSError):  # some of it is not there any more
                    shutil.copytree(saved, self.workspace / "d", dirs_exist_ok=True)
        self.assertTrue(self.tops()[0] & RUN)

    def test_the_same_as_an_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("it is one")
        self.undo_once("page", is_exchanged=False)  # which loads all that such a user may not reach
        home = self.workspace.parent
        os.chown(home, NOBODY, NOBODY)
        if (child := os.fork()) == 0:
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                os.environ.update(HOME=str(home), XDG_STATE_HOME=str(home / "state"))
                tempfile.tempdir = str(home)
                told = unittest.TextTestRunner().run(Exchanged("test_nothing_comes_into_a_persons_repository"))
                os._exit(0 if told.wasSuccessful() else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
