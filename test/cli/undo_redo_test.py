#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""What an agent did with real git is undone, redone and undone again, from any checkpoint to any other, by each front end.

The judges are copies of the tree from when the checkpoints were made, and git itself.
"""

import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import STEP, Page, Server  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
NAMED = "git config user.name t; git config user.email t@example.org"
MAKE = f"""
make() {{ git -c init.defaultBranch=main init -q "$1"; (cd "$1"; {NAMED}; echo a > a; git add .; git commit -qm one); }}
"""
ROWS = {
    "at the top": ["make .", "git config alias.st status; echo b >> a; git commit -qam two",
                   "git checkout -q -b br; echo c > c; git add c; git commit -qm three; git config branch.br.remote o",
                   "git gc -q; git remote add o https://example.org/x; git tag t", "git checkout -q main; git merge -q br; git branch -qD br",
                   "git stash -q; echo z > a; git stash -q", "rm -rf .git", "make ."],
    "below": ["mkdir p; make p/sub", "cd p/sub; git config core.bare false; git config alias.x status",
              "cd p; git clone -q sub clone; git clone -q --bare sub bare; git -C clone remote rename origin up", "mv p/sub p/moved",
              "rm -rf p/moved; mv p q", "rm -rf q", "mkdir p; echo x > p/sub"],
    "worktrees": ["make r; git -C r worktree add -q ../w", f"cd w; echo b > b; git add b; git commit -qm two",
                  "cd r; git worktree remove ../w; git branch -qD w", "rm -rf r"],
    "moved aside": ["make s", "cd s; mkdir -p .git/hooks; echo '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
                    "cd s; git config core.fsmonitor true; echo b > b", "rm -rf s"],
    "plain files": ["mkdir d; echo a > d/a; ln -s a d/l; chmod 600 d/a", "mv d e; mkdir d; echo b > d/a", "rm -rf e; mkdir e; echo q > e/q; chmod 500 e",
                    "chmod 700 e; mv e d/e; ln d/a d/hard", "rm -rf d; echo file > d"],
}


def tree(directory):
    """Kinds, modes and contents."""
    found = {}
    for folder, names, files in os.walk(directory):
        for name in names + files:
            path = pathlib.Path(folder, name)
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(directory))] = (oct(path.lstat().st_mode), content)
    return found


class UndoRedo(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="paddock-redo-")))
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", str(self.top)], check=True))
        self.workspace, self.store = self.top / "workspace", self.top / "history"
        self.workspace.mkdir()
        (self.workspace / "mine").write_text("mine\n")

    def serve(self, *options):
        return Server(self.workspace, "--history", self.store, *options).until_the_end_of(self)

    def undo(self, who, server, to):
        if who == "agent":
            return server.call("restore", to=to)
        if who == "page":
            page = Page(self.workspace, self.store)
            self.addCleanup(page.process.stdout.close)
            told = page.ask("POST", "api/undo", {"to": int(to)})
            page.close()
            return json.loads(told)
        told = subprocess.run([PADDOCK, "undo", "--json", "--workspace", str(self.workspace), "--history", str(self.store), "--to", to],
                              capture_output=True, text=True)
        return json.loads(told.stdout)

    def let_work(self, server, steps):
        known = {}
        for step in ["true", *steps]:
            told = server.run(MAKE + step)
            self.assertNotIn("exitCode", told, step)
            known[server.call("checkpoint")["checkpoint"]] = tree(self.workspace)
        return known

    def go_to(self, who, server, to, known):
        told = self.undo(who, server, to)
        self.assertEqual((told["conflicts"], told.get("left", [])), ([], []))
        now = tree(self.workspace)
        self.assertEqual({path for path in now.keys() | known[to].keys() if now.get(path) != known[to].get(path)}, set())

    def test_from_any_checkpoint_to_any_other(self):
        for name, who in list(itertools.product(ROWS, ("agent", "person", "page")))[::STEP]:
            with self.subTest(f"{name}, {who}"):
                self.setUp()
                server = self.serve()
                known = self.let_work(server, ROWS[name])
                numbers = sorted(known, key=int)
                for one, next_one in zip(numbers, numbers[1:]):
                    self.assertNotEqual(known[one], known[next_one])  # the control: each step did something
                way = [numbers[0], numbers[-1], numbers[0], *random.Random(name).choices(numbers, k=6), numbers[0], numbers[-1]]
                for to in way:
                    self.go_to(who, server, to, known)
                server.close()

    def test_what_restores_make_is_undone_and_redone(self):
        for who in ("agent", "person", "page"):
            with self.subTest(who):
                self.setUp()
                server = self.serve()
                before = server.call("checkpoint")["checkpoint"]
                known = {before: tree(self.workspace)}
                server.run(MAKE + "make .; mkdir d; make d/sub; git add d 2> /dev/null; git commit -qm sub")
                made, to = tree(self.workspace), before
                for turn in range(6):
                    told = self.undo(who, server, to)
                    self.assertEqual((told["conflicts"], told.get("left", [])), ([], []))
                    self.assertEqual(tree(self.workspace), known[before] if turn % 2 == 0 else made)
                    to = str(told["checkpoint"])
                self.assertEqual(subprocess.run(["git", "fsck"], cwd=self.workspace, capture_output=True).returncode, 0)
                server.close()

    def test_what_a_command_was_allowed_keeps_nothing_else_back(self):
        (self.workspace / ".envrc").write_text("a person's\n")
        other = self.serve("--unprotect", ".envrc")
        other.call("checkpoint", label="before")
        other.run("echo more >> .envrc; echo more >> mine")
        other.close()
        told = self.undo("agent", self.serve(), "before")
        self.assertEqual((self.workspace / "mine").read_text(), "mine\n", told)

    def test_a_directory_is_one_row(self):
        server = self.serve()
        server.run("mkdir -p big/deep; cd big; seq 1 250 | while read i; do echo > f$i; echo > deep/g$i; done; echo > ../single")
        folded = [{"path": "big", "files": 500}]
        listed = [each["path"] for each in server.call("listChanges")["changes"]]
        for paths, rows in (([], ["big", "single"]), (["big"], ["big"]), (["big/deep/g1", "single"], ["big/deep/g1", "single"])):
            for who in ("agent", "person", "page"):
                with self.subTest(f"{who}: {paths}"):
                    if who == "agent":
                        told = server.call("restore", dryRun=True, **({"paths": paths} if paths else {}))
                    elif who == "page":
                        page = Page(self.workspace, self.store)
                        told = json.loads(page.ask("POST", "api/undo", {"check": True, **({"paths": paths} if paths else {})}))
                        page.close()
                    else:
                        at = ["--workspace", str(self.workspace), "--history", str(self.store)]
                        told = json.loads(subprocess.run([PADDOCK, "undo", "--json", "-n", *paths, *at], capture_output=True).stdout)
                        shown = subprocess.run([PADDOCK, "undo", "-n", *paths, *at], capture_output=True, text=True).stdout
                        self.assertEqual("would remove big/ (500 files)" in shown, "big" in rows, shown)
                    self.assertEqual(told["paths"], rows)
                    self.assertEqual(told.get("folded", []), folded if "big" in rows else [])
                    self.assertEqual(told["restored"], {2: 503 if not paths else 2, 1: 502}[len(rows)])
        self.assertEqual(listed, ["big", "single"])  # the same rows

    def test_a_row_has_one_author(self):
        commit = "git add .; git commit -qm more"
        subprocess.run(["sh", "-c", MAKE + "make ."], cwd=self.workspace, check=True)
        server = self.serve()
        server.run(f"mkdir d; echo a > d/agents; {commit}")
        subprocess.run(["sh", "-c", f"echo p > d/persons; {commit}"], cwd=self.workspace, check=True)
        page = Page(self.workspace, self.store)
        self.addCleanup(page.process.stdout.close)
        paddock = [PADDOCK, "changes", "--json", "--workspace", str(self.workspace), "--history", str(self.store)]
        for told in (server.call("listChanges"), json.loads(subprocess.run(paddock, capture_output=True).stdout),
                     json.loads(page.ask("GET", "api/changes"))):
            rows = {(each["path"], each["by"]): each["files"] for each in told["changes"] if each["path"] in (".git", "d")}
            self.assertEqual(rows.pop(("d", "exec")), 1)
            self.assertGreater(rows.pop((".git", "exec")), 2)
            self.assertGreater(rows.pop((".git", "other")), 2)
            self.assertEqual(rows, {})
            self.assertIn(("d/persons", "other"), [(each["path"], each["by"]) for each in told["changes"]])
        page.close()
        self.assertEqual([(each["path"], each["kind"]) for each in server.call("listChanges", paths=["d/agents"])["changes"]],
                         [("d/agents", "created")])

    def test_a_time_alone_is_restored_and_not_told(self):
        os.utime(self.workspace / "mine", ns=(10**18, 10**18))
        server = self.serve()
        server.run("touch mine; mkdir made; rmdir made")
        self.assertEqual(server.call("listChanges")["changes"], [])
        told = server.call("restore")
        self.assertEqual((told["conflicts"], told["paths"]), ([], []))
        self.assertEqual((self.workspace / "mine").stat().st_mtime_ns, 10**18)
        kinds = {"created": "echo > new", "modified": "echo x >> mine", "deleted": "rm mine", "moved": "mv mine there", "mode": "chmod +x mine"}
        for kind, script in kinds.items():
            server.run(script)
            self.assertEqual([each["kind"] for each in server.call("listChanges")["changes"]], [kind])
            server.call("restore")

    def test_what_cannot_be_brought_back_is_said(self):
        files = {"node_modules/a/x": 1, "p/node_modules/y": 1, "p/plain": 1, "d/large": 70 << 20, "large": 70 << 20, "changed": 70 << 20,
                 "removed": 70 << 20, "kept/small": 1, "out/o": 2 << 20, "data/gone": 2 << 20, "data/rewritten": 2 << 20}
        for name, size in files.items():
            (self.workspace / name).parent.mkdir(parents=True, exist_ok=True)
            with open(self.workspace / name, "wb") as file:
                file.truncate(size)
        (self.workspace / ".gitignore").write_text("node_modules/\nout/\ndata/\n")
        os.mkfifo(self.workspace / "fifo")
        server = self.serve()
        server.call("checkpoint")
        shell = lambda script: {"command": "sh", "args": ["-c", script]}
        for tool, arguments, why in (("deleteFile", {"path": "large"}, "large held before is not kept: the file is too large"),
                                     ("deleteFile", {"path": "fifo"}, "it is a FIFO"),
                                     ("deleteDirectory", {"path": "node_modules", "recursive": True}, "lies in an ignored directory"),
                                     ("exec", shell("rm -rf p"), "p/node_modules/y held before is not kept: it lies in an ignored"),
                                     ("exec", shell("rm -rf d"), "d/large held before"),
                                     ("exec", shell("echo x >> changed"), "changed held before"),
                                     ("exec", shell("rm data/gone"), "data/gone held before is not kept: it lies in an ignored"),
                                     ("applyChanges", {"changes": [{"path": "removed", "delete": True}]}, "removed held before"),
                                     ("deleteDirectory", {"path": "kept", "recursive": True}, None),  # the controls
                                     ("exec", shell("rm out/o; echo x > new; rm new"), None),  # programs do so in what is ignored
                                     ("exec", shell("echo x > data/rewritten"), None)):
            with self.subTest(f"{tool} {arguments}"):
                told = server.call(tool, **arguments)
                self.assertNotIn("error", told)
                self.assertIn(why or "", told.get("undo", "" if why is None else "nothing was said"))
                self.assertEqual("undo" in told, why is not None)
        restorable = {each["path"]: each["restorable"] for each in server.call("listChanges")["changes"]}
        self.assertEqual(restorable, {"large": False, "fifo": False, "node_modules": False, "p": False, "d": False, "changed": False,
                                      "removed": False, "kept": True, "out/o": False, "data/gone": False, "data/rewritten": False})

    def test_control_a_persons_work_in_it_is_a_conflict(self):
        server = self.serve()
        server.run(MAKE + "make .; git config alias.st status")
        subprocess.run(["git", "config", "alias.mine", "log"], cwd=self.workspace, check=True)
        told = server.call("restore")
        self.assertIn(".git/config", [each["path"] for each in told["conflicts"]])
        self.assertIn("mine = log", (self.workspace / ".git/config").read_text())


if __name__ == "__main__":
    if os.geteuid() == 0 and shutil.which("setpriv"):  # also as somebody to whom a closed directory is closed
        subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable, *sys.argv], check=True,
                       env={**os.environ, "HOME": "/"})
    unittest.main(verbosity=2)
