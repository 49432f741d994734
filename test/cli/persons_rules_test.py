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
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Page, Server, folder_of  # noqa: E402

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
    ("--protect", "secret=hidden", "--exec-write", "OUTSIDE"): (["secret"], [".envrc"]),
    ("--protect", "secret=hidden", "--git-worktree"): (["secret"], [".envrc"]),
    ("--protect", "secret=hidden", "--exec", "best-effort", "--home-tools", "--package-cache"): (["secret"], [".envrc"]),
    ("--protect", "secret=hidden", "--exec", "off"): (["secret"], [".envrc"]),
    ("--protect", "dd=hidden", "--protect", "conf=read-only", "--unprotect", ".vscode"): (["dd"], ["conf", ".vscode"]),
}
FILES = ["secret", "conf", ".envrc", "dd/inside", ".vscode/tasks.json", "plain"]


class Workspace(unittest.TestCase):
    def setUp(self):
        self.top = folder_of(self)
        self.workspace, self.store = self.top / "workspace", self.top / "history"
        self.workspace.mkdir()

    def serve(self, *options):
        return Server(self.workspace, *options, *([] if "--read-only" in options else ["--history", self.store])).until_the_end_of(self)

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

    def make_workspace(self, options):
        (self.top / "outside").mkdir()
        if "--git-worktree" not in options:
            return self.workspace.mkdir()
        subprocess.run([*GIT, "init", "-q", str(self.top / "main")], check=True)
        subprocess.run([*GIT, "-C", str(self.top / "main"), "commit", "-q", "--allow-empty", "-m", "m"], check=True)
        subprocess.run([*GIT, "-C", str(self.top / "main"), "worktree", "add", "-q", str(self.workspace)], check=True)

    def state(self):
        """But for the history, to which a server reads in at any time."""
        return {str(path): path.read_bytes() for path in self.top.rglob("*") if path.is_file() and self.store not in path.parents}

    def only_looked_at(self, hidden):
        """What a person searches and lists is shown to the person, who may see it, and nothing else is done; what agents wrote
        down shows nothing of it."""
        skills = self.top / "skills"
        skills.mkdir()
        agents = self.workspace / "skill/agents"
        agents.mkdir(parents=True)
        (agents / "SKILL.md").write_text("---\nname: agents\ndescription: d\n---\nText\n")
        for name in hidden:
            (agents / name).symlink_to(f"../../{name}")
        before = self.state()
        for words in (["search", "KEY", "--hidden"], ["find", "**"], ["map"]):
            told = subprocess.run([PADDOCK, *words, "--workspace", str(self.workspace)], capture_output=True, text=True, timeout=60)
            self.assertIn("KEY" if words[0] == "search" else "plain", told.stdout, (words, told))  # the control
        for words in (["ps"], ["logs", "0"], ["skills", "list", "--root", str(skills)], ["skills", "validate", str(agents)],
                      ["skills", "import", "--root", str(skills), str(agents)], ["skills", "files", "agents", "--root", str(skills)]):
            told = subprocess.run([PADDOCK, *words], capture_output=True, text=True, timeout=60)
            self.assertNotIn("KEY", told.stdout + told.stderr, words)
        for path in skills.rglob("*"):
            self.assertTrue(path.is_dir() or "KEY" not in path.read_text(), path)
        shutil.rmtree(skills)
        shutil.rmtree(self.workspace / "skill")
        self.assertEqual({k: v for k, v in before.items() if "/skill/" not in k}, self.state())

    def after_another_server(self, hidden, read_only):
        """A server without the options begins and ends: what the agent of the first one wrote still changes nothing protected, and
        what the second one's changed can be undone."""
        self.serve().close()
        for name in hidden + read_only:
            path = name if (self.workspace / name).is_file() else f"{name}/{'inside' if name == 'dd' else 'tasks.json'}"
            (self.workspace / path).write_text("KEY\n")
            patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-KEY\n+agent\n"
            self.assertEqual(self.paddock("apply", "-", input=patch).returncode, 1, path)
            self.assertEqual((self.workspace / path).read_text(), "KEY\n")

    def test_each_command_with_each_option(self):
        for options, (hidden, read_only) in OPTIONS.items():
            with self.subTest(" ".join(options)):
                for each in self.top.iterdir():
                    shutil.rmtree(each)
                self.make_workspace(options)
                if "--read-only" in options:
                    self.paddock("checkpoint", "empty")
                server = self.serve(*[str(self.top / "outside") if each == "OUTSIDE" else each for each in options])
                (self.workspace / "before").write_text("x\n")
                if "--read-only" not in options:
                    server.call("writeTextFile", path="before", content="b\n")
                self.make_files()  # by a person, while the server runs
                if "--read-only" not in options:
                    server.call("writeTextFile", path="plain", content="agent\n")
                self.only_looked_at(hidden)
                server.close()
                for words in (["changes"], ["diff"], ["diff", *hidden[:1]], ["diff", "--raw"], ["history", "list"], ["checkpoint", "c"],
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
                self.after_another_server(hidden, read_only)
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
        self.assertIn("missing", self.paddock("changes").stderr)
        next(self.store.rglob("rules.kept")).unlink()
        self.assertIn(" secret ", self.paddock("changes").stdout)


    def test_what_a_hidden_file_became_is_no_agents_doing_once_it_is_shown(self):
        for how in ("closed", "killed"):
            with self.subTest(how):
                self.setUp()
                self.make_files()
                server = self.serve("--protect", "secret=hidden")
                server.run("echo agent > plain")
                if how == "closed":
                    server.close()
                else:
                    told = server.call("startProcess", command="sh", args=["-c", "echo killed > plain; echo ready; read line"],
                                       until="ready", waitMs=20000)
                    self.assertTrue(told["matched"], told)
                    server.process.kill()
                    server.process.wait()
                second = self.serve()
                second.call("listChanges")
                told = self.paddock("changes", "--since", "1").stdout
                self.assertRegex(told, r"modified +plain")  # the control
                self.assertNotRegex(told, r"\bsecret\b")
                second.run("echo agent > secret")
                second.close()
                self.assertRegex(self.paddock("changes").stdout, r"modified +secret +by sh")
                told = self.paddock("undo", "--to", "1", "--force").stdout
                self.assertEqual((self.workspace / "secret").read_text(), "KEY\n", told)
                self.assertEqual((self.workspace / "plain").read_text(), "KEY\n", told)

    def test_what_an_earlier_server_saw_of_a_hidden_file_is_shown_to_nobody(self):
        self.make_files()
        first = self.serve()
        first.run("for f in plain secre?; do echo agent >> $f; done; mkdir s; cp secre? s")
        first.close()
        second = self.serve("--protect", "secret=hidden")
        second.run("echo again >> plain")
        for arguments in ({}, {"diff": True}, {"paths": ["secret"], "diff": True}, {"paths": ["s/secret"], "diff": True}):
            told = json.dumps(second.call("listChanges", since="1", **arguments))
            self.assertNotIn("secret\"", told, arguments)
            self.assertNotIn("-KEY", told if arguments.get("paths") else "", arguments)
        self.assertNotIn("secret", json.dumps(second.call("restore", to="1", dryRun=True, force=True)["paths"]))
        for words in (["changes", "--since", "1"], ["diff", "--since", "1"], ["diff", "--raw", "--since", "1"], ["undo", "-n", "--to", "1"]):
            self.assertNotRegex(self.paddock(*words).stdout, r"\bsecret\b", words)
        page = Page(str(self.workspace), str(self.store))
        for path in ("api/diff?path=secret&since=1", "api/changes?since=1", "api/events"):
            self.assertNotRegex(page.ask("GET", path), r'"(s/)?secret"|KEY', path)
        page.close()
        (self.workspace / "s/secret").unlink()
        second.run("echo more >> plain")
        second.close()
        third = self.serve()  # the control: all is as the first one left it, and a person removed one
        told = self.paddock("changes", "--since", "1").stdout
        self.assertRegex(told, r"modified +secret +by sh -c for f")
        self.assertNotRegex(told, r"s/secret +by sh -c echo (again|more)")
        third.close()
        self.paddock("undo", "--to", "1")
        self.assertEqual((self.workspace / "secret").read_text(), "KEY\n")

    def test_rules_of_the_past_go_with_their_checkpoints(self):
        self.make_files()
        self.serve("--protect", "conf").close()
        self.serve().close()
        patch = "--- a/conf\n+++ b/conf\n@@ -1 +1 @@\n-KEY\n+agent\n"
        self.assertEqual(self.paddock("apply", "-n", "-", input=patch).returncode, 1)
        rules = next(self.store.rglob("rules"))
        text = rules.read_bytes()
        day = int(re.search(rb"past (\d+) read-only conf\0", text)[1])
        next(self.store.rglob("rules.kept")).unlink()  # as of a version that wrote no sums
        text = text[:text.rindex(b"sum ")]
        rules.write_bytes(text.replace(f"past {day} read-only conf".encode(), f"past {day - 31} read-only conf".encode()))
        self.serve().close()
        self.assertNotIn(b" conf\0", rules.read_bytes())
        self.assertEqual(self.paddock("apply", "-n", "-", input=patch).returncode, 0)


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
