#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""What people run knows what the servers of a workspace protect: each command with each option that changes the fence.

And no undo, of a person or an agent, puts what an agent wrote to where programs outside run it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Page, Server  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]

# option -> what of a person's is then hidden, and what is read-only
OPTIONS = {
    (): ([], [".envrc"]),
    ("--protect", "secret=hidden"): (["secret"], []),
    ("--protect", "conf"): ([], ["conf"]),
    ("--protect", ".envrc=hidden"): ([".envrc"], []),
    ("--unprotect", ".envrc"): ([], [".envrc"]),
    ("--read-only",): ([], [".envrc"]),
    ("--protect", "secret=hidden", "--exec-read", "/usr/share"): (["secret"], []),
    ("--protect", "dd=hidden", "--protect", "conf=read-only", "--unprotect", ".vscode"): (["dd"], ["conf", ".vscode"]),
}
FILES = ["secret", "conf", ".envrc", "dd/inside", ".vscode/tasks.json", "plain"]


class Workspace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-rules-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(os.path.realpath(folder.name))
        self.workspace, self.store = self.top / "workspace", self.top / "history"
        self.workspace.mkdir()

    def serve(self, *options):
        server = Server(self.workspace, *options, *([] if "--read-only" in options else ["--history", self.store]))
        self.addCleanup(server.process.wait)
        self.addCleanup(server.process.kill)
        return server

    def paddock(self, *words, **more):
        return subprocess.run([PADDOCK, *words, "--workspace", str(self.workspace), "--history", str(self.store)], capture_output=True,
                              text=True, timeout=60, **more)


class Rules(Workspace):
    def make_files(self):
        for name in FILES:
            self.workspace.joinpath(name).parent.mkdir(exist_ok=True)
            self.workspace.joinpath(name).write_text("KEY\n")

    def untouched(self, hidden):
        for name in hidden:
            for path in [name] if (self.workspace / name).is_file() else [f"{name}/inside"]:
                self.assertEqual((self.workspace / path).read_text(), "KEY\n")

    def page(self, hidden):
        page = Page(str(self.workspace), str(self.store))
        self.addCleanup(page.process.wait)
        self.addCleanup(page.process.kill)
        changes = json.loads(page.ask("GET", "api/changes?look=1"))
        paths = {each["path"].split("/")[0] for each in changes["changes"]}
        self.assertIn("plain", paths)  # the control
        self.assertEqual(paths & set(hidden), set())
        for name in hidden:
            self.assertNotIn("KEY", page.ask("GET", "api/diff?path=" + urllib.parse.quote(name)))
            page.ask("POST", "api/undo", {"paths": [name], "force": True})
            page.ask("POST", "api/undo-hunk", {"path": name, "hunk": 0, "seen": "", "force": True})
        for path in ["api/events", "api/checkpoints", "api/state"]:
            for name in hidden:
                self.assertNotRegex(page.ask("GET", path), rf"\b{re.escape(name)}\b")
        page.ask("POST", "api/counts", {"paths": FILES})
        page.ask("POST", "api/undo", {"force": True})
        page.close()

    def commands(self, hidden, read_only):
        """What a person runs may be a script of the agent's."""
        self.make_files()
        environment = {**os.environ, "XDG_STATE_HOME": str(self.top / "state")}
        (self.top / "state").mkdir(exist_ok=True)
        if not (self.top / "state/paddock").exists():
            (self.top / "state/paddock").symlink_to(self.store)
        script = "cat secret .envrc dd/inside plain; echo agent >> conf; echo agent >> .envrc; echo agent >> plain"
        for words in (["exec", "--", "sh", "-c", script], ["call", "--tools", "coding", "exec", json.dumps({"script": script})]):
            self.make_files()
            told = subprocess.run([PADDOCK, words[0], "--workspace", str(self.workspace), *words[1:]], capture_output=True, text=True,
                                  timeout=60, env=environment)
            self.assertEqual((self.workspace / "plain").read_text(), "KEY\nagent\n", (words, told))  # the control
            self.assertEqual(told.stdout.count("KEY"), 4 - len(hidden), (words, told))
            for name in hidden:  # who says so sees it
                told = subprocess.run([PADDOCK, words[0], "--workspace", str(self.workspace), "--unprotect", name, *words[1:]],
                                      capture_output=True, text=True, timeout=60, env=environment)
                self.assertEqual(told.stdout.count("KEY"), 5 - len(hidden), (words, told))
                self.make_files()
            for name in {"conf", ".envrc"} & set(hidden + read_only):
                self.assertEqual((self.workspace / name).read_text(), "KEY\n", words)
            for path in ["secret", "conf"]:
                if path in hidden:
                    self.assertEqual((self.workspace / path).read_text(), "KEY\n", words)

    def test_each_command_with_each_option(self):
        for options, (hidden, read_only) in OPTIONS.items():
            with self.subTest(" ".join(options)):
                shutil.rmtree(self.workspace)
                shutil.rmtree(self.store, ignore_errors=True)
                self.workspace.mkdir()
                if "--read-only" in options:
                    self.paddock("checkpoint", "empty")
                server = self.serve(*options)
                (self.workspace / "before").write_text("x\n")
                if "--read-only" not in options:
                    server.run("echo b > before")
                self.make_files()  # by a person, while the server runs
                if "--read-only" not in options:
                    server.run("echo agent > plain")
                server.close()
                for words in (["changes"], ["diff"], ["diff", *hidden[:1]], ["history", "list"], ["checkpoint", "c"],
                              ["undo", "-n", "--force"], ["undo", "--force", *FILES], ["undo", "--force"], ["history", "verify"]):
                    told = self.paddock(*words)
                    named = words[-1:] if words[-1] in hidden else []
                    for name in set(hidden) - set(named):
                        self.assertNotRegex(told.stdout, rf"(?m)^.*\b(removed|restored|reverted|moved back|created|modified)\b.* {re.escape(name)}\b", words)
                    self.assertNotRegex(told.stdout, r"(?m)^[+-]KEY$" if hidden and "diff" in words and named else "no such text")
                    self.untouched(hidden)
                if "--read-only" not in options:
                    (self.workspace / "plain").write_text("changed\n")
                    self.page(hidden)
                    self.untouched(hidden)
                if "--read-only" in options:
                    continue  # no history, and so the usual rules
                self.commands(hidden, read_only)
                for name in hidden + read_only:
                    path = name if (self.workspace / name).is_file() else f"{name}/{'inside' if name == 'dd' else 'tasks.json'}"
                    (self.workspace / path).parent.mkdir(exist_ok=True)
                    (self.workspace / path).write_text("KEY\n")
                    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-KEY\n+agent\n"
                    self.assertEqual(self.paddock("apply", "-", input=patch).returncode, 1, path)
                    self.assertEqual((self.workspace / path).read_text(), "KEY\n")

    def test_control_without_the_rules_a_hidden_file_is_told(self):
        server = self.serve("--protect", "secret=hidden")
        server.run("true")
        self.make_files()
        server.run("true")
        server.close()
        self.assertNotIn(" secret ", self.paddock("changes").stdout)
        next(self.store.rglob("rules")).unlink()
        self.assertIn(" secret ", self.paddock("changes").stdout)


class UndoOfProtectedNames(Workspace):
    """A checkpoint falls into the life of a process; what it made is moved aside when it ends."""

    EVIL = "mkdir -p .vscode; echo evil > .envrc; chmod +x .envrc; echo evil > .vscode/tasks.json; " \
           "git init -q sub; git -C sub config core.fsmonitor evil; echo evil > sub/.git/hooks/post-checkout; chmod +x sub/.git/hooks/*; " \
           "git init -q --bare bare; git -C bare config core.fsmonitor evil; echo evil > bare/hooks/post-checkout; " \
           "mkdir d; git init -q d/in; echo evil > d/in/.git/hooks/post-checkout; echo ok > d/f; " \
           "mkdir d/in/.git/rebase-merge; echo exec evil > d/in/.git/rebase-merge/git-rebase-todo"

    def assert_nothing_evil(self, told):
        for path in self.workspace.rglob("*"):
            if path.is_file() and "made-by-command" not in str(path) and "evil" in path.read_text(errors="replace"):
                self.fail(f"{path}: {told}")
        self.assertFalse((self.workspace / ".envrc").exists(), told)

    def prepare(self, by):
        server = self.serve()
        started = server.call("startProcess", command="sh", args=["-c", self.EVIL + "; echo ready; read line"], until="ready", waitMs=20000)
        self.assertTrue(started["matched"], started)
        if by == "own":
            server.call("checkpoint", label="mid")
        else:
            other = self.serve()
            other.call("listChanges")  # by then its start is there
            other.close()
        server.call("stopProcess", process=started["process"])
        self.assertFalse((self.workspace / ".envrc").exists())
        self.assert_nothing_evil("prepared")
        return server

    def test_by_each_front_end(self):
        for by in ("own", "another server"):
            for how in ("person", "person with force", "page", "page with force", "agent", "agent with force"):
                with self.subTest(f"{how}, {by}"):
                    self.setUp()
                    server = self.prepare(by)
                    number = [line.split()[0] for line in self.paddock("history", "list").stdout.splitlines()][-1]
                    server.run("rm -rf d sub bare")
                    if how.startswith("person"):
                        told = self.paddock("undo", "--to", number, *(["--force"] if "force" in how else []))
                        told = told.stdout + told.stderr
                    elif how.startswith("page"):
                        page = Page(str(self.workspace), str(self.store))
                        told = page.ask("POST", "api/undo", {"to": int(number), "force": "force" in how})
                        page.close()
                    else:
                        told = server.call("restore", to=number, force="force" in how)
                    server.close()
                    self.assert_nothing_evil(told)
                    self.assertTrue((self.workspace / "d/f").exists(), told)  # the control

    def test_not_into_a_clone_of_a_persons(self):
        for how in ("person", "page", "agent"):
            with self.subTest(how):
                self.setUp()
                server = self.prepare("own")
                shutil.rmtree(self.workspace / "d/in")
                subprocess.run([*GIT, "init", "-q", str(self.workspace / "d/in")], check=True)
                shutil.rmtree(self.workspace / "d/in/.git/hooks")
                if how == "person":
                    told = str(self.paddock("undo", "--to", "mid", "--force"))
                elif how == "page":
                    page = Page(str(self.workspace), str(self.store))
                    told = page.ask("POST", "api/undo", {"force": True})
                    page.close()
                else:
                    told = server.call("restore", to="mid", force=True)
                server.close()
                self.assert_nothing_evil(told)

    def test_a_person_has_back_what_an_agent_was_allowed_to_change(self):
        for how in ("person", "page"):
            with self.subTest(how):
                self.setUp()
                (self.workspace / ".envrc").write_text("a person's\n")
                server = self.serve("--unprotect", ".envrc")
                server.run("echo evil > .envrc")
                self.assertEqual((self.workspace / ".envrc").read_text(), "evil\n")
                server.close()
                if how == "person":
                    told = self.paddock("undo")
                else:
                    page = Page(str(self.workspace), str(self.store))
                    told = page.ask("POST", "api/undo", {})
                    page.close()
                self.assertEqual((self.workspace / ".envrc").read_text(), "a person's\n", told)

    def test_a_persons_own_comes_back(self):
        subprocess.run([*GIT, "init", "-q", str(self.workspace / "theirs")], check=True)
        hook = self.workspace / "theirs/.git/hooks/post-checkout"
        hook.write_text("#!/bin/sh\n")
        hook.chmod(0o755)
        server = self.serve()
        self.assertNotIn("error", server.call("deleteDirectory", path="theirs", recursive=True))
        self.assertFalse(hook.exists())
        server.close()
        told = self.paddock("undo")
        self.assertEqual(hook.read_text(), "#!/bin/sh\n", told)

    def test_an_honest_repository_of_an_agent_comes_back_whole(self):
        server = self.serve()
        server.run("git init -q sub; git -C sub remote add origin https://example.org/x.git")
        config = (self.workspace / "sub/.git/config").read_text()
        server.call("checkpoint", label="with sub")
        server.run("rm -rf sub")
        told = server.call("restore", to="with sub")
        server.close()
        self.assertEqual((self.workspace / "sub/.git/config").read_text(), config, told)
        self.assertEqual(subprocess.run(["git", "remote"], cwd=self.workspace / "sub", capture_output=True, text=True).stdout, "origin\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
