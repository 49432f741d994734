#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""What an agent did in a workspace is taken back to the byte, by the server and by `paddock undo`.

The judge is a copy that `cp -a` made before: names, kinds, modes, bytes, targets of links and times of change.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Page, Server, folder_of  # noqa: E402

PADDOCK, SERVER = os.environ["PADDOCK"], os.environ["PADDOCK_MCP"]
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"]


def told(directory):
    """All that is in a directory, as lines; not itself."""
    for folder, names, files in os.walk(os.fsencode(directory)):
        for name in [b"", *names, *files]:
            path = os.path.join(folder, name) if name else folder
            if path == os.fsencode(directory) or (name in names and not os.path.islink(path)):
                continue  # those below are told when they are walked through
            about = os.lstat(path)
            content = os.readlink(path) if stat.S_ISLNK(about.st_mode) else b""
            if stat.S_ISREG(about.st_mode):
                content = pathlib.Path(os.fsdecode(path)).read_bytes()
            yield os.path.relpath(path, os.fsencode(directory)), oct(about.st_mode), about.st_mtime_ns, content


class Undo(unittest.TestCase):
    def setUp(self):
        top = str(folder_of(self))
        self.workspace, self.copy, self.store = (os.path.join(top, name) for name in ("workspace", "copy", "history"))
        os.mkdir(self.workspace)

    def serve(self, *options):
        return Server(self.workspace, "--history", self.store, *options).until_the_end_of(self)

    def paddock(self, *words):
        return subprocess.run([PADDOCK, *words, "--workspace", self.workspace, "--history", self.store], capture_output=True,
                              encoding="utf-8", errors="surrogateescape", timeout=60)

    def path(self, name):
        return pathlib.Path(self.workspace, name)

    def make_project(self):
        for name, text in {"Makefile": "all: out/made\nout/made: src/a.c\n\tmkdir -p out && cp src/a.c out/made\n", "src/a.c": "int a;\n",
                           "src/old.c": "int old;\n", "docs/read me.md": "# Read\n", "package.json": '{"name":"p","version":"1.0.0"}\n',
                           "lib/package.json": '{"name":"lib","version":"1.0.0"}\n', "lib/index.js": "module.exports = 1;\n",
                           ".gitignore": "node_modules/\nout/\n", "b\u00e9/deep/er/x": "x" * 100_000, ".env": "KEY=1\n"}.items():
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text(text)
        os.mkdir(os.fsencode(self.workspace) + b"/empty")
        os.symlink("src/a.c", self.path("link"))
        os.symlink("nowhere", self.path("dangling"))
        with open(os.fsencode(self.workspace) + b"/\xff\nname", "wb") as odd:
            odd.write(b"\0\1")
        self.path("src/old.c").chmod(0o600)
        self.path("Makefile").chmod(0o755)
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*GIT, *words], cwd=self.workspace, check=True)
        os.utime(self.path("docs"), ns=(1, 1_000_000_007))
        subprocess.run(["cp", "-a", self.workspace, self.copy], check=True)

    def let_an_agent_work(self, server):
        """Several kinds of changes, by commands and by tools; those that commands made are looked at."""
        made = server.run("make && " + " ".join(GIT) + " commit -qam two --allow-empty && " + " ".join(GIT) + " gc -q; git log --oneline | wc -l")
        if made.get("error") == "confinement_unavailable":
            self.skipTest("this system cannot confine commands")
        self.assertEqual(made["output"].split()[-1], "2", made)
        if shutil.which("npm"):
            installed = server.run("npm install --offline --no-audit --no-fund ./lib")
            self.assertTrue(self.path("node_modules/lib").exists(), installed)
        server.call("editFile", path="src/a.c", edits=[{"oldText": "int a", "newText": "bnt a"}])
        server.call("applyChanges", changes=[{"path": "docs/read me.md", "moveTo": "docs/README.md"}, {"path": "new/file", "text": "n"}])
        server.call("deleteDirectory", path="b\u00e9", recursive=True)
        server.call("moveFile", source="lib", destination="moved")
        server.run("rm -r empty link dangling; ln -s x link; chmod 777 Makefile; rm -f *name; mkdir src/old.d; mv src/old.c src/old.d; echo KEY=2 >.env")
        self.assertNotEqual(self.everything(), self.expected())

    def everything(self):
        return sorted(told(self.workspace))

    def expected(self):
        return sorted(told(self.copy))

    def assert_as_before(self):
        now, before = self.everything(), self.expected()
        self.assertEqual([line[:3] for line in now if line not in before], [])
        self.assertEqual([line[:3] for line in before if line not in now], [])

    def test_one_call_takes_back_what_tools_and_commands_did(self):
        self.make_project()
        server = self.serve()
        self.let_an_agent_work(server)
        changed = self.everything()
        listed = server.call("listChanges", limit=1000)
        self.assertTrue(any(each["by"] == "exec" for each in listed["changes"]), listed)
        back = server.call("restore")
        self.assertEqual(back["conflicts"], [])
        self.assert_as_before()
        self.assertEqual(server.call("listChanges")["changes"], [])
        forth = server.call("restore", to=back["checkpoint"], force=True)  # and that is taken back as well
        ignored = ("node_modules", "out")  # known by their status alone, and so not made again
        self.assertEqual([each for each in forth["conflicts"] if not each["path"].startswith(ignored)], [])
        kept = [[line for line in lines if not os.fsdecode(line[0]).startswith(ignored)] for lines in (changed, self.everything())]
        self.assertEqual([line[:3] for line in kept[0] if line not in kept[1]], [])
        self.assertEqual(len(kept[0]), len(kept[1]))
        server.close()

    def test_it_says_what_it_does_to_each_entry(self):
        for name in "gone", "changed", "here":
            self.path(name).write_text(name)
        server = self.serve("--exec", "off")
        server.call("deleteFile", path="gone")
        server.call("writeTextFile", path="changed", text="by the agent")
        server.call("writeTextFile", path="new", text="by the agent")
        server.call("moveFile", source="here", destination="there")
        trial = self.paddock("undo", "--dry-run").stdout
        self.assertEqual(trial, "would revert changed\nwould restore gone\nwould move back here\nwould remove new\n")
        done = self.paddock("undo").stdout
        self.assertTrue(done.startswith("reverted changed\nrestored gone\nmoved back here\nremoved new\n4 entries restored. "), done)
        server.close()

    def test_a_person_takes_it_back_while_the_server_runs(self):
        self.make_project()
        server = self.serve()
        self.let_an_agent_work(server)
        self.assertIn("by the tool editFile", self.paddock("changes").stdout)
        self.assertIn("-int a;\n+bnt a;\n", self.paddock("diff", "src/a.c").stdout)
        full = json.loads(self.paddock("changes", "--json").stdout)["changes"]
        for brief in server.call("listChanges")["changes"]:
            self.assertTrue(any(brief.items() <= each.items() for each in full), brief)
        # What the commands made in ignored directories is not held.
        notice = r"\Apaddock undo: \d+ entr(y|ies) in ignored directories cannot be restored once removed\n\Z"
        for words in ("undo", "--dry-run"), ("undo",):
            done = self.paddock(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, notice)
        self.assertIn("To take this back: paddock undo --to", done.stdout)
        self.assert_as_before()
        self.assertEqual(server.call("listChanges")["changes"], [])
        self.assertEqual(self.paddock("undo").stdout, "Nothing to undo.\n")
        server.close()

    def test_the_command_line_says_what_is_wrong(self):
        self.path("a").write_text("1")
        server = self.serve()
        server.call("writeTextFile", path="a", text="2")
        self.path("a").write_text("3")
        refused = self.paddock("undo")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("paddock undo: a: ", refused.stderr)
        self.assertIn("--force", refused.stderr)
        self.assertEqual(self.path("a").read_text(), "3")
        made = json.loads(self.paddock("checkpoint", "mine", "--json").stdout)
        listed = json.loads(self.paddock("history", "list", "--json").stdout)["checkpoints"]
        self.assertEqual([each["label"] for each in listed if each["checkpoint"] == made["checkpoint"]], ["mine"])
        self.assertEqual(self.paddock("changes", "--since", str(made["checkpoint"])).stdout.splitlines()[-1].split(" since")[0], "0 changes")
        for words, code, text in ((["undo", "--to", "9999"], 2, "there is no checkpoint 9999"), (["undo", "--to", "0"], 2, "there is no checkpoint 0"), (["undo", "../x"], 2, "is outside the workspace"),
                                  (["changes", "--since", "x"], 2, "there is no checkpoint x; there are: "),
                                  (["diff", "--since", ""], 2, "needs a value"), (["review", "--since", "x"], 2, f"{made['checkpoint']} (mine)")):
            done = self.paddock(*words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn(text, done.stderr)
        self.assertEqual(self.paddock("undo", "--force").returncode, 0)  # the control
        self.assertEqual(self.path("a").read_text(), "1")
        server.close()

    def test_checkpoints_have_labels_and_numbers(self):
        self.path("a").write_text("1")
        server = self.serve()
        numbers = {}
        for text, label in ("2", "twice"), ("3", "once"), ("4", "twice"), ("5", "start"), ("6", "2026"):
            server.call("writeTextFile", path="a", text=text)
            numbers[text] = json.loads(self.paddock("checkpoint", label, "--json").stdout)["checkpoint"]
        server.call("writeTextFile", path="a", text="7")
        # The last one of a label; a number is a checkpoint before it is a label; start is the start.
        for given, text in ((["--to", "once"], "3"), (["--to", "twice"], "4"), (["--to", str(numbers["2"])], "2"), (["--to", "2026"], "6"),
                            (["--to", "start"], "1"), ([], "1")):
            with self.subTest(given):
                self.path("a").write_text("7")
                self.assertEqual(self.paddock("undo", "a", "--force", *given).returncode, 0)
                self.assertEqual(self.path("a").read_text(), text)
        self.path("a").write_text("7")
        self.assertIn("-3\n", self.paddock("diff", "--since", "once").stdout)
        self.assertIn(f"since checkpoint {numbers['4']} (twice, ", self.paddock("changes", "--since", "twice").stdout)
        server.close()

    def test_a_repository_is_one_line_of_the_differences(self):
        self.path("a").write_text("1\n")
        for words in ["init", "-q"], ["add", "a"], ["commit", "-qm", "one"]:
            subprocess.run([*GIT, *words], cwd=self.workspace, check=True)
        server = self.serve()
        server.run("echo 2 > a; git -c user.name=a -c user.email=a@b commit -qam two")
        log = subprocess.run([*GIT, "log", "--format=%s"], cwd=self.workspace, capture_output=True, text=True, check=True).stdout
        self.assertEqual(log, "two\none\n")
        told = self.paddock("diff").stdout
        self.assertIn("-1\n+2\n", told)
        self.assertIn(".git: modified, shown as one entry", told)
        self.assertEqual(told.count(".git"), 1, told)
        listed = json.loads(self.paddock("diff", "--json").stdout)["files"]
        self.assertEqual([(each["path"], each["kind"], "diff" in each) for each in listed if each["path"].startswith(".git")], [(".git", "modified", False)])
        self.assertIn(".git/logs/HEAD", self.paddock("diff", ".git").stdout)  # the control: who names it sees what is in it
        server.close()

    def test_differences_of_utf16_are_of_its_text(self):
        self.path("a").write_bytes("one\n".encode("utf-16"))
        server = self.serve()
        server.run(r"printf '\377\376\351\000\n\000' > a")
        self.assertEqual(self.path("a").read_bytes(), "é\n".encode("utf-16"))
        self.assertIn("-one\n+é\n", self.paddock("diff").stdout)
        server.close()

    def test_single_calls_are_taken_back_too(self):
        self.path("a").write_text("1")
        options = ["--tools", "coding", "--workspace", self.workspace, "--history", self.store]
        done = subprocess.run([PADDOCK, "call", "writeTextFile", "-a", "path=a", "-a", "text=2", *options], capture_output=True, timeout=60)
        self.assertEqual((done.returncode, self.path("a").read_text()), (0, "2"), done)
        self.assertEqual(self.paddock("undo").returncode, 0)
        self.assertEqual(self.path("a").read_text(), "1")

    def paddock_in(self, directory, *words):
        """As a person types it there, without --workspace."""
        return subprocess.run([PADDOCK, *words, "--history", self.store], cwd=directory, capture_output=True, encoding="utf-8", timeout=60)

    def stores(self):
        return sorted(os.listdir(self.store)) if os.path.isdir(self.store) else []

    def test_a_command_in_another_directory_says_where_the_history_is(self):
        self.path("a/deep").mkdir(parents=True)
        self.path("other").mkdir()
        above, inside = os.path.dirname(self.workspace), str(self.path("a/deep"))
        commands = ["changes"], ["diff"], ["undo"], ["history", "list"], ["history", "gc"], ["history", "verify"], ["review"]
        for words in commands:
            with self.subTest("nowhere", words=words):
                told = self.paddock_in(inside, *words)
                self.assertEqual((told.returncode, told.stdout), (2, ""), told)
                self.assertIn(f"no history of {inside} yet", told.stderr)
                self.assertIn("paddock checkpoint", told.stderr)
                self.assertEqual(self.stores(), [])
        server = self.serve("--exec", "off")
        server.call("writeTextFile", path="a/deep/f", text="1")
        only = self.stores()
        self.assertEqual(len(only), 1)
        for words in [*commands, ["checkpoint", "x"]]:
            with self.subTest("inside, named", words=words):
                told = self.paddock_in(inside, *words, "--workspace", inside)
                if words[0] == "checkpoint":
                    self.assertIn(f"This starts the history of {inside}.", told.stdout)
                    shutil.rmtree(os.path.join(self.store, *set(self.stores()) - set(only)))
                    continue
                self.assertEqual((told.returncode, told.stdout), (2, ""), told)
                self.assertIn(f"lies in {self.workspace}, which has one: give --workspace {self.workspace} (there this directory is a/deep)\n", told.stderr)
        for words in commands:
            with self.subTest("above", words=words):
                told = self.paddock_in(above, *words)
                self.assertEqual((told.returncode, told.stdout), (2, ""), told)
                self.assertIn(f"give --workspace {self.workspace}\n", told.stderr)
        told = self.paddock_in(above, "undo", f"{os.path.basename(self.workspace)}/a/deep/f", "--dry-run")
        self.assertIn(f"give --workspace {self.workspace}, and the path a/deep/f\n", told.stderr)
        self.assertEqual(self.stores(), only)  # none was made
        self.assertEqual(self.paddock_in(self.workspace, "changes").returncode, 0)  # the control
        self.assertEqual(self.paddock_in(inside, "changes", "--workspace", self.workspace).returncode, 0)
        server.close()

    def test_a_directory_finds_its_workspace_as_git_does(self):
        self.path("a/deep").mkdir(parents=True)
        self.path("f").write_text("0")
        inside = str(self.path("a/deep"))
        server = self.serve("--exec", "off")
        for path in "f", "a/g", "a/deep/f", "a/deep/h":
            server.call("writeTextFile", path=path, text="1")
        only = self.stores()
        for words, status, out in [
                (["changes"], 0, " ../../f "), (["diff", "f"], 0, "+++ b/a/deep/f"), (["history", "list"], 0, "start"),
                (["changes", "f"], 0, " f  "), (["changes", "./h"], 0, " h  "), (["changes", "../g"], 0, " ../g  "),
                (["changes", f"{inside}/f"], 0, " f  "), (["changes", "../../f"], 0, " ../../f  "), (["changes", "a/g"], 2, ""),
                (["changes", "../../../f"], 2, ""), (["checkpoint", "x"], 0, " (4 files).\n"), (["undo", "f"], 0, "removed f\n")]:
            with self.subTest(words=words):
                told = self.paddock_in(inside, *words)
                self.assertEqual(told.returncode, status, told)
                self.assertIn(out, told.stdout)
        self.assertIn("did you mean ../g?", self.paddock_in(inside, "changes", "a/g").stderr)
        self.assertEqual(self.path("f").read_text(), "1")  # not the one that was named
        self.assertFalse(self.path("a/deep/f").exists())
        self.assertTrue(self.path("a/deep/h").exists())
        self.assertEqual(self.paddock_in(inside, "undo", ".").returncode, 0)
        self.assertFalse(self.path("a/deep/h").exists())
        self.assertTrue(self.path("a/g").exists())
        page = subprocess.Popen([PADDOCK, "review", "--history", self.store], cwd=inside, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        self.assertIn("http://127.0.0.1:", page.stdout.readline())
        page.terminate()
        page.communicate()
        self.assertEqual(self.stores(), only)  # none was made
        server.close()

    def test_what_changed_before_the_last_start_is_named(self):
        first = self.serve()
        first.call("writeTextFile", path="made", text="1")
        self.assertNotIn("--since", self.paddock("changes", "--since", "1").stdout)  # the control
        first.close()
        second = self.serve()
        second.call("exec", command="true")
        told = self.paddock("changes").stdout
        self.assertRegex(told, r"(?m)^0 changes since .*\n1 change since checkpoint 1 .*: paddock changes --since 1$")
        self.assertRegex(self.paddock("undo").stdout, r"(?m)^Nothing to undo\.\n1 change since checkpoint 1 .*: paddock undo --dry-run --to 1$")
        self.assertNotIn("--to", self.paddock("undo", "made").stdout)
        self.path("mine").write_text("by a person")
        self.assertRegex(self.paddock("changes").stdout, r"(?m)^1 change since .*\n2 changes since checkpoint 1 ")
        second.call("writeTextFile", path="another", text="1")
        self.assertNotIn("--since", self.paddock("changes").stdout)
        second.close()

    def test_a_label_that_another_checkpoint_has_is_told(self):
        self.assertNotIn("The label", self.paddock_in(self.workspace, "checkpoint", "mine").stdout)  # the control
        first = json.loads(self.paddock_in(self.workspace, "history", "list", "--json").stdout)["checkpoints"][-1]["checkpoint"]
        self.assertIn(f"The label mine was that of checkpoint {first}, which --to finds by its number only.",
                      self.paddock_in(self.workspace, "checkpoint", "mine").stdout)
        for _ in range(2):
            self.assertNotIn("The label", self.paddock_in(self.workspace, "checkpoint").stdout)

    def test_a_long_command_is_cut_in_the_list_and_whole_in_json(self):
        server = self.serve()
        script = "echo 1 > made; : " + "x" * 200
        server.call("exec", command="sh", args=["-c", script])
        line = next(each for each in self.paddock("changes").stdout.splitlines() if " made " in each)
        self.assertIn("by sh -c echo 1 > made; : xxx", line)
        self.assertIn("x\N{HORIZONTAL ELLIPSIS}, ", line)
        self.assertLess(len(line), 120)
        told = json.loads(self.paddock("changes", "--json").stdout)["changes"]
        self.assertTrue(any(each.get("command", "").endswith(script) for each in told), told)
        server.close()

    def test_a_checkpoint_says_that_it_begins_a_history(self):
        self.path("sub").mkdir()
        self.path("a").write_text("1")
        first = self.paddock_in(self.workspace, "checkpoint", "one")
        self.assertEqual(first.returncode, 0, first)
        self.assertIn(f"This starts the history of {self.workspace}.", first.stdout)
        self.assertNotIn("starts", self.paddock_in(self.workspace, "checkpoint", "two").stdout)  # the control
        self.assertNotIn("begun", json.loads(self.paddock_in(self.workspace, "checkpoint", "--json").stdout))
        begun = self.paddock_in(self.workspace, "checkpoint", "--json", "--workspace", str(self.path("sub")))
        self.assertIs(json.loads(begun.stdout)["begun"], True)  # where it is named
        self.assertEqual(self.paddock_in(str(self.path("sub")), "changes").returncode, 0)

    def test_the_way_forward_restores_the_rest_and_names_what_is_lost(self):
        self.path(".gitignore").write_text("out/\n*.o\n")
        self.path("a").write_text("1")
        server = self.serve()
        done = server.run("echo 2 >a; mkdir -p out/deep kept/own; echo m >out/deep/m; echo m >out/n; echo 3 >kept/b")
        if done.get("error") == "confinement_unavailable":
            self.skipTest("this system cannot confine commands")
        changed = ("2\n", "3\n")
        for by in "person", "agent":
            with self.subTest(by):
                if by == "person":
                    undone = json.loads(self.paddock("undo", "--json").stdout)
                    self.assertEqual((self.path("a").read_text(), self.path("kept").exists()), ("1", False))
                    again = self.paddock("undo", "--to", str(undone["checkpoint"]), "--json")
                    self.assertEqual(again.returncode, 0, again)
                    answer = json.loads(again.stdout)
                else:
                    server.run("mkdir -p out/deep; echo m >out/deep/m; echo m >out/n")
                    undone = server.call("restore")
                    self.assertEqual((self.path("a").read_text(), self.path("kept").exists()), ("1", False))
                    answer = server.call("restore", to=undone["checkpoint"])
                self.assertEqual(answer["conflicts"], [], answer)
                self.assertEqual((self.path("a").read_text(), self.path("kept/b").read_text()), changed)
                self.assertTrue(self.path("kept/own").is_dir())
                self.assertFalse(self.path("out").exists())  # not without what was in it
                self.assertEqual([each["path"] for each in answer["left"]], ["out"])
                self.assertRegex(answer["left"][0]["reason"], "2 entries .* not held: it lies in an ignored directory")
        server.close()

    def test_a_mistyped_path_is_said_and_nothing_is_undone(self):
        self.path("src").mkdir()
        for name in "notes.txt", "src/main.c", "same":
            self.path(name).write_text("1")
        server = self.serve("--exec", "off")
        for name in "notes.txt", "src/main.c":
            server.call("writeTextFile", path=name, text="2")
        for given, near in (("note.txt", "did you mean notes.txt?"), ("main.c", "did you mean src/main.c?"), ("qqqqqqqqqqqq", "paddock changes")):
            with self.subTest(given):
                told = self.paddock("undo", "src/main.c", given)
                self.assertEqual((told.returncode, told.stdout), (2, ""), told)
                self.assertIn(f"paddock undo: {given}: nothing is there, and nothing there has changed since checkpoint ", told.stderr)
                self.assertIn(near, told.stderr)
                self.assertEqual(self.path("src/main.c").read_text(), "2")
        for words in ["changes", "src/main.c"], ["diff", "src/main.c"]:
            told = self.paddock(*words, "note.txt")
            self.assertEqual(told.returncode, 2, told)
            self.assertIn("main.c", told.stdout)  # what there is is told all the same
            self.assertIn("note.txt: nothing is there, and nothing there has changed since checkpoint ", told.stderr)
            self.assertIn("did you mean notes.txt?", told.stderr)
            self.assertEqual((self.paddock(*words, "same").returncode, self.paddock(*words, "same").stderr), (0, ""))  # the control
        self.assertEqual(json.loads(self.paddock("changes", "note.txt", "same", "--json").stdout)["unknown"], ["note.txt"])
        self.assertIn("nothing is or was at note.txt", server.call("listChanges", paths=["note.txt", "same"])["notice"])
        self.assertNotIn("notice", server.call("listChanges", paths=["same"]))
        unchanged = self.paddock("undo", "same")  # the control: it is there
        self.assertEqual((unchanged.returncode, unchanged.stdout), (0, "Nothing to undo.\n"))
        self.assertEqual(self.paddock("undo", "src/main.c").returncode, 0)
        self.assertEqual(self.path("src/main.c").read_text(), "1")
        server.close()

    def test_the_tool_and_the_command_name_what_a_person_put_into_the_agents_directory(self):
        server = self.serve("--exec", "off")
        server.call("writeTextFile", path="notes/plan.md", text="plan\n")
        server.call("writeTextFile", path="a.c", text="two\n")
        self.path("notes/b.bin").write_text("mine\n")
        reason = "it stays, because notes/b.bin in it was not made by an agent"
        trial = server.call("restore", dryRun=True)
        self.assertEqual((trial["conflicts"], trial["left"]), ([], [{"path": "notes", "reason": reason}]))
        undone = self.paddock("undo")
        self.assertEqual((undone.returncode, undone.stderr), (0, f"paddock undo: notes: {reason}\n"))
        self.assertEqual(os.listdir(self.workspace), ["notes"])
        self.assertEqual(os.listdir(self.path("notes")), ["b.bin"])
        server.close()

    def test_what_is_within_a_repository_is_told_where_it_is_named(self):
        subprocess.run([*GIT, "init", "-q", "-b", "main", "."], cwd=self.workspace, check=True)
        server = self.serve("--exec", "off")
        server.call("listChanges")
        self.path(".git/HEAD").write_text("ref: refs/heads/other\n")
        self.assertRegex(self.paddock("changes").stdout, r"modified\s+\.git/ \(1 file\)")
        named = self.paddock("changes", ".git/HEAD")
        self.assertRegex(named.stdout, r"modified\s+\.git/HEAD ")
        self.assertIn("1 change since", named.stdout)
        self.assertEqual([each["path"] for each in server.call("listChanges", paths=[".git/HEAD"])["changes"]], [".git/HEAD"])
        self.assertEqual([each["path"] for each in server.call("listChanges", paths=[".git"])["changes"]], [".git"])  # the control
        server.close()

    def test_force_is_advised_where_it_helps(self):
        self.path("a").write_text("1")
        with open(self.path("big"), "wb") as big:  # larger than what a history holds
            big.truncate(65 << 20)
        server = self.serve("--exec", "off")
        server.call("writeTextFile", path="a", text="2")
        with open(self.path("big"), "ab") as big:
            big.write(b"x")
        refused = self.paddock("undo", "a", "big")
        self.assertEqual(refused.returncode, 1, refused)
        self.assertIn("big: ", refused.stderr)
        self.assertIn("--force to undo the rest and leave these as they are", refused.stderr)
        self.assertNotIn("overwrite", refused.stderr)
        answer = server.call("restore", paths=["a", "big"])
        self.assertIn("or set force to restore the rest and leave these as they are", answer["notice"])
        self.path("a").write_text("3")
        both = self.paddock("undo", "a", "big")
        self.assertIn("--force to overwrite those changes; 1 of these stays even then", both.stderr)
        self.assertEqual(self.paddock("undo", "a", "big", "--force").returncode, 1)
        self.assertEqual(self.path("a").read_text(), "1")
        server.close()

    def test_a_name_is_one_line(self):
        server = self.serve("--exec", "off")
        server.call("writeTextFile", path="one\nrestored two", text="1")
        for words in ["changes"], ["undo", "--dry-run"], ["undo"]:
            told = self.paddock(*words)
            self.assertEqual(len(told.stdout.splitlines()), 1 if "--dry-run" in words else 2, told)
            self.assertIn("one?restored two", told.stdout)
        server.close()

    def test_a_persons_undo_is_told_as_one(self):
        self.path("a").write_text("1")
        server = self.serve("--exec", "off")
        server.call("writeTextFile", path="a", text="2")
        mark = server.call("checkpoint")["checkpoint"]
        server.call("writeTextFile", path="b", text="2")
        undone = json.loads(self.paddock("undo", "--json").stdout)
        self.assertEqual((self.path("a").read_text(), self.path("b").exists()), ("1", False))
        self.assertEqual(server.call("listChanges")["changes"], [])
        told = server.call("listChanges", since=mark)["changes"]
        self.assertEqual([(each["path"], each["by"]) for each in told], [("a", "other")])
        listed = json.loads(self.paddock("changes", "--since", mark, "--json").stdout)["changes"]
        self.assertEqual([(each["path"], each["by"], each["tool"]) for each in listed], [("a", "other", "undo")])
        self.assertIn("by a person, with undo, ", self.paddock("changes", "--since", mark).stdout)
        # An agent leaves it alone; the person takes it back without more ado.
        self.assertEqual(server.call("restore", to=mark)["restored"], 0)
        self.assertEqual(self.path("a").read_text(), "1")
        self.assertEqual(self.paddock("undo", "--to", str(undone["checkpoint"])).returncode, 0)
        self.assertEqual((self.path("a").read_text(), self.path("b").read_text()), ("2", "2"))
        self.assertEqual(server.call("restore")["conflicts"], [])  # it is the agent's again
        self.assertEqual((self.path("a").read_text(), self.path("b").exists()), ("1", False))
        self.assertEqual(server.call("listChanges", since=mark)["changes"][0]["by"], "tool")  # the control
        server.close()

    def test_garbage_is_collected_until_it_is_interrupted(self):
        for number in range(300):
            self.path(f"f{number}").write_text(f"{number}" * 1000)
        self.assertEqual(self.paddock("checkpoint").returncode, 0)
        seen = set()
        for round_number in range(200):  # until one was at work when it came
            if 130 in seen:
                break
            self.path("f1").write_text(f"{round_number}")
            self.assertEqual(self.paddock("checkpoint").returncode, 0)
            collecting = subprocess.Popen([PADDOCK, "history", "gc", "--workspace", self.workspace, "--history", self.store],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            caught = 0
            while not caught & 2 and collecting.poll() is None:  # until it is ready to be interrupted, or done
                status = pathlib.Path(f"/proc/{collecting.pid}/status").read_text()
                caught = int(next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0"), 16)
            collecting.send_signal(signal.SIGINT)
            _, told = collecting.communicate(timeout=60)
            seen.add(collecting.returncode)
            self.assertIn(collecting.returncode, (0, 130), told)
            self.assertEqual("interrupted; the history is intact" in told, collecting.returncode == 130)
            self.assertEqual(self.paddock("history", "verify").returncode, 0)
        self.assertIn(130, seen)
        self.assertRegex(self.paddock("history", "gc").stdout, r"^Freed \d+ \w+; [\d.]+ \w+ in use(; \d+ checkpoints? dropped)?\n$")
        self.assertRegex(self.paddock("history", "verify").stdout, r"^No damage found \(\d+ objects, [\d.]+ \w+\)\n$")

    def test_what_goes_on_is_told(self):
        self.path("a").write_text("1")
        server = self.serve()
        begun = server.call("startProcess", command="sh", args=["-c", "echo 2 >a; echo begun; read line"], until="begun", waitMs=20000)
        if begun.get("error") == "confinement_unavailable":
            self.skipTest("this system cannot confine commands")
        self.assertEqual(begun["state"], "running", begun)
        for words in ["changes"], ["undo", "--dry-run"]:
            running = json.loads(self.paddock(*words, "--json").stdout)["running"]
            self.assertEqual([each["tool"] for each in running], ["startProcess"])
            self.assertTrue(running[0]["command"].startswith("sh -c echo 2 >a"), running)
        self.assertIn("still running: startProcess: sh -c", self.paddock("changes").stdout)
        self.assertIn("is still running and may change it again: startProcess: sh -c", self.paddock("undo").stderr)
        notice = server.call("restore", dryRun=True)["notice"]
        self.assertNotIn("still running", self.paddock("history", "list").stderr)
        self.assertRegex(notice, "startProcess sh -c .*is still running and may change it again: end it with stopProcess")
        other = self.serve()
        notice = other.call("restore", dryRun=True)["notice"]
        self.assertRegex(notice, "another server's startProcess sh -c .*a person ends another server's with `paddock stop`")
        self.assertNotIn("stopProcess", notice)
        other.close()
        server.call("stopProcess", process=begun["process"])
        for words in ["changes"], ["undo", "--dry-run"]:  # the control
            self.assertEqual(json.loads(self.paddock(*words, "--json").stdout)["running"], [])
        server.close()

    def test_a_lost_history_keeps_nobody_from_work(self):
        server = self.serve("--exec", "off")
        self.assertNotIn("undo", server.call("writeTextFile", path="a", text="1"))  # the control
        shutil.rmtree(self.store)
        done = server.call("writeTextFile", path="a", text="2")
        self.assertIn("this cannot be undone: ", done["undo"])
        self.assertEqual(self.path("a").read_text(), "2")
        self.assertIn("not for all changes", server.call("healthCheck")["undo"])
        for tool in ("restore", "listChanges", "checkpoint"):
            refused = server.call(tool)
            self.assertTrue(refused["message"].startswith("the history: "), refused)
        server.close()

    def test_where_a_history_may_be(self):
        inside = os.path.join(self.workspace, "h")
        beside = os.path.join(os.path.dirname(self.workspace), "beside")
        os.mkdir(beside)
        table = [(inside, [], "workspace"), (beside, ["--exec-write", beside], "commands may change"),
                 (os.path.join(beside, "h"), ["--exec-read", beside], "commands may read"), (beside, ["--exec", "host"], "--exec host"),
                 (beside, ["--read-only"], "contradict each other")]
        for directory, options, words in table:
            with self.subTest(options=options):
                done = subprocess.run([SERVER, "-w", self.workspace, "--tools", "coding", "--history", directory, *options], input="",
                                      capture_output=True, encoding="utf-8", timeout=60)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(words, done.stderr)
        for options, words in ((["--exec", "host"], "off: commands run with all rights"), (["--history", "off"], "off: the server was started"),
                               (["--exec", "off"], "on")):
            server = Server(self.workspace, *options, XDG_STATE_HOME=beside)
            self.assertTrue(server.call("healthCheck")["undo"].startswith(words), (options, words))
            server.close()
        server = Server(self.workspace, HOME=self.workspace, XDG_STATE_HOME="")  # it would lie in the workspace
        self.assertTrue(server.call("healthCheck")["undo"].startswith("off: "))
        self.assertEqual(server.call("restore")["error"], "unsupported")
        server.close()

    def test_a_home_that_is_not_there_is_not_made(self):
        home = os.path.join(os.path.dirname(self.workspace), "home")
        for words in ("off: neither HOME nor XDG_STATE_HOME", "on"):
            server = Server(self.workspace, HOME=home, XDG_STATE_HOME="")
            self.assertTrue(server.call("healthCheck")["undo"].startswith(words), words)
            server.close()
            self.assertEqual(os.path.exists(home), words == "on")
            os.makedirs(home, exist_ok=True)

    def of_process(self, server, script):
        """What a process says until it ends."""
        got = server.call("startProcess", command="sh", args=["-c", script + " && echo reached; echo ended"], waitMs=20000,
                          until="ended")
        return got.get("output", got.get("message"))

    def test_nothing_of_the_agent_reaches_the_store(self):
        self.path("a").write_text("secret")
        os.symlink(self.store, self.path("link"))
        server = self.serve()
        server.call("writeTextFile", path="a", text="new")
        inner = next(pathlib.Path(self.store).glob("*/"))
        files = [str(each) for each in inner.rglob("*") if each.is_file()]
        self.assertTrue(files)  # the control: there is something to reach
        before = [(name, pathlib.Path(name).read_bytes()) for name in files]
        for tool, arguments in [("readTextFile", {}), ("listDirectory", {}), ("getFileInfo", {}), ("writeTextFile", {"text": "x"}),
                                ("appendTextFile", {"text": "x"}), ("deleteFile", {}), ("searchText", {"pattern": "secret"}),
                                ("deleteDirectory", {"recursive": True}), ("createDirectory", {})]:
            for path in [self.store, str(inner), files[0], "link/" + inner.name, "../history", "link"]:
                if tool == "deleteFile" and path == "link":
                    continue  # the link is the agent's
                with self.subTest(tool=tool, path=path):
                    got = server.call(tool, path=path, **arguments)
                    self.assertIn("error", got)
        scripts = ["cat " + files[0], "ls " + self.store, "ls link/", "echo x >" + files[0], "mkdir " + self.store + "/x",
                   f"ls /proc/{server.process.pid}/root{self.store}", f"ls -l /proc/{server.process.pid}/fd"]
        tried = server.run("true")
        if tried.get("error") == "confinement_unavailable":
            self.skipTest("this system cannot confine commands")
        for script in scripts:
            with self.subTest(script=script):
                self.assertNotIn("error", tried)
                got = server.call("exec", command="sh", args=["-c", script + " && echo reached"])
                self.assertNotIn("reached", got["output"] if "output" in got else got["message"])
                self.assertNotIn("reached", self.of_process(server, script))
        self.assertIn("reached", self.of_process(server, "cat a"))  # the control
        for tool, arguments in [("moveFile", {"source": files[0], "destination": "taken"}),
                                ("moveFile", {"source": "a", "destination": self.store + "/a"}),
                                ("moveFile", {"source": "link/" + inner.name, "destination": "taken"}),
                                ("applyChanges", {"changes": [{"path": "link/" + inner.name + "/x", "text": "x"}]}),
                                ("listChanges", {"paths": [self.store]}), ("restore", {"paths": [self.store]})]:
            with self.subTest(tool=tool, arguments=arguments):
                self.assertIn("error", server.call(tool, **arguments))
        self.assertFalse(self.path("taken").exists())
        found = server.run("find / -name " + inner.name + " 2>/dev/null")
        self.assertNotIn(inner.name, json.dumps(found))
        for name, content in before:
            self.assertTrue(pathlib.Path(name).read_bytes().startswith(content[:16]), name)
        self.assertEqual(stat.S_IMODE(os.stat(inner).st_mode), 0o700)
        server.close()

    def test_a_server_killed_at_any_moment_loses_neither_files_nor_history(self):
        chance = random.Random(7)
        self.path("d").mkdir()
        for number in range(20):
            self.path(f"d/{number}").write_text(f"{number}\n")
        subprocess.run(["cp", "-a", self.workspace, self.copy], check=True)
        first = None
        for round_number in range(12):
            server = self.serve("--exec", "off")
            if first is None:
                first = server.call("checkpoint")["checkpoint"]
            for _ in range(chance.randrange(1, 8)):
                name = f"d/{chance.randrange(20)}"
                server.call("writeTextFile", path=name, text=f"round {round_number}\n")
            name = f"d/{chance.randrange(20)}"
            server.number += 1
            server.send({"jsonrpc": "2.0", "id": server.number, "method": "tools/call", "params": {"name": "writeTextFile",
                         "arguments": {"path": name, "text": "last\n" * 1000}}})
            if chance.random() < 0.5:
                os.set_blocking(server.process.stdout.fileno(), False)
                server.process.stdout.read()
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            server.process.stdin.close()
            server.process.stdout.close()
            for number in range(20):
                text = self.path(f"d/{number}").read_text()
                self.assertTrue(text in (f"{number}\n", "last\n" * 1000) or text.startswith("round "), text[:50])
        server = self.serve("--exec", "off")
        back = server.call("restore", to=first, force=True)
        self.assertEqual(back.get("conflicts"), [], back)
        # A temporary file of a killed server goes, too; the times of its directory may be nobody's.
        files = [[line for line in lines if not line[1].startswith("0o4")] for lines in (self.everything(), self.expected())]
        self.assertEqual(*files)
        server.close()
        self.assertEqual(self.paddock("history", "verify").returncode, 0)

    def test_the_store_cannot_be_read_written_listed_or_guessed(self):
        """Every tool and every way a command has, to the files of the store; each with its control in the workspace."""
        self.path("own").mkdir()
        for name in ("head", "journal"):
            self.path("own/" + name).write_text("control")
        first = self.serve()
        if first.run("true").get("error") == "confinement_unavailable":
            self.skipTest("this system cannot confine commands")
        first.call("writeTextFile", path="f", text="MARK-OF-THE-STORE")
        first.call("checkpoint")
        [store] = pathlib.Path(self.store).glob("*/")
        key = (store / "head").read_bytes()[18:210]
        os.symlink(store, self.path("door"))
        os.symlink(os.path.relpath(store, self.workspace), self.path("near"))
        os.symlink("/proc/self/cwd/../history/" + store.name, self.path("proc"))
        for top, places in ((store, [str(store), f"../history/{store.name}", "door", "near", "proc", f"/proc/self/root{store}",
                                     f"/proc/{first.process.pid}/root{store}", f"/proc/{first.process.pid}/cwd/../history/{store.name}"]),
                            (self.path("own"), ["own"])):
            control = places == ["own"]
            for place in places:
                before = {each.name: each.read_bytes() for each in top.iterdir()}
                with self.subTest(place=place):
                    self.through_tools(first, place, control)
                    self.through_commands(first, place, control, key)
                    if not control:
                        after = {each.name: each.read_bytes() for each in top.iterdir()}
                        self.assertEqual({name for name in after.keys() - before.keys() if not name.startswith(("mark-", "pack-"))}, set())
                        self.assertEqual({name for name in before if not name.startswith("mark-") and not after.get(name, b"").startswith(before[name])}, set())
        # Nor by the descriptors that the server has open, whatever they are called.
        said = first.run("for each in /proc/[0-9]*/fd/*; do timeout 1 head -c 1000 $each </dev/null 2>/dev/null; done | grep -ac 'paddock history 1'; "
                         "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c " + store.name + "; grep -ac MARK-OF f")
        self.assertEqual(said["output"].split()[-3:], ["0", "0", "1"], said)
        first.close()

    def through_tools(self, server, place, control):
        def answers(tool, **arguments):
            said = server.request("tools/call", {"name": tool, "arguments": arguments})
            text = said["content"][0]["text"]
            refused = said.get("isError", False) or '"error"' in text
            self.assertEqual(not refused, control, (tool, arguments, text))
            if not control:
                self.assertNotIn("paddock history 1", text)
                self.assertNotIn("pack-0", text)
        answers("readTextFile", path=place + "/head")
        answers("getFileInfo", path=place + "/head")
        answers("listDirectory", path=place)
        answers("mapDirectory", path=place)
        answers("findFiles", glob="*", path=place)
        answers("searchText", pattern="control|paddock", path=place)
        answers("appendTextFile", path=place + "/journal", text="x")
        answers("editTextFile", path=place + "/journal", oldText="cont" if control else "paddock", newText="kont")
        answers("editFile", path=place + "/journal", edits=[{"oldText": "kont" if control else "paddock", "newText": "cont"}])
        answers("writeTextFile", path=place + "/head", text="control")
        answers("writeTextFile", path=place + "/new", text="n")
        answers("applyChanges", changes=[{"path": place + "/newer", "text": "n"}])
        answers("moveFile", source=place + "/new" if control else place + "/head", destination="taken")
        answers("moveFile", source="taken" if control else "f", destination=place + "/given")
        answers("createDirectory", path=place + "/made")
        answers("deleteDirectory", path=place + "/made" if control else place, recursive=True)
        answers("deleteFile", path=place + "/newer" if control else place + "/head")
        answers("exec", command="true", cwd=place)

    def through_commands(self, server, place, control, key):
        quoted = "'" + place + "'"
        said = server.run(f"ls {quoted} 2>/dev/null | grep -c head; cat {quoted}/head 2>/dev/null | wc -c; "
                          f"(echo x >>{quoted}/journal) 2>/dev/null && echo written || echo kept; "
                          f"(echo x >{quoted}/by-command) 2>/dev/null && echo made || echo none; "
                          f"ln {quoted}/head linked 2>/dev/null && echo linked || echo apart; rm -f linked {quoted}/by-command 2>/dev/null; true")
        wanted = ["1", "7", "written", "made", "linked"] if control else ["0", "0", "kept", "none", "apart"]
        self.assertEqual(said["output"].split(), wanted, (place, said))
        self.assertNotIn(key[:24].decode("latin-1"), json.dumps(said))
        process = server.call("startProcess", command="sh", args=["-c", f"cat {quoted}/head 2>/dev/null | wc -c"], waitMs=20_000, until="[0-9]")
        self.assertIn(wanted[1], json.dumps(process), (place, process))
        if not control:
            self.assertNotIn("paddock history 1", json.dumps(process))

    def test_damage_is_said_by_each_front_end(self):
        for name in "abc":
            self.path(name).write_text("1")
        server = self.serve()
        server.call("checkpoint", label="one")
        for name in "abc":
            server.call("writeTextFile", path=name, text="2")
        server.close()
        journal = next(pathlib.Path(self.store).glob("*/journal"))
        whole = journal.read_bytes()
        at = whole.rfind(b"\x01b") + 1
        commands = ["changes"], ["diff"], ["history", "list"], ["checkpoint", "x"], ["undo", "--dry-run"], ["undo"]
        for damaged in (False, True):
            journal.write_bytes(whole[:at] + b"x" + whole[at + 1:] if damaged else whole)
            for words in commands:
                done = self.paddock(*words)
                self.assertEqual("journal of the history was damaged" in done.stderr, damaged, (words, done))
                self.assertEqual(done.returncode, 1 if damaged and words[0] == "undo" else 0, (words, done))
                self.assertEqual("trouble" in json.loads(self.paddock(*words, "--json").stdout), damaged, words)
            server = self.serve()
            for tool in ("listChanges", "checkpoint", "restore"):
                self.assertEqual("damaged" in server.call(tool).get("notice", ""), damaged, tool)
            server.close()
            page = Page(self.workspace, self.store)
            self.addCleanup(page.process.wait)
            page.ask("GET", "api/changes?look=1")
            self.assertEqual("damaged" in page.ask("GET", "api/state"), damaged)
            page.close()
            subprocess.run(["rm", "-rf", self.path("d"), journal.parent / "journal.damaged"], check=True)
        self.paddock("history", "gc")
        self.assertEqual(self.paddock("undo").returncode, 0)

    def test_a_workspace_on_a_full_disk_is_named(self):
        os.mkdir(self.path("d"))
        where = f"--workspace '{self.workspace}/d' --history '{self.store}'"
        script = (f"cd '{self.workspace}'; mount -t tmpfs -o size=400k none d || exit 77; head -c 200000 /dev/urandom >d/a; "
                  f"'{PADDOCK}' checkpoint one {where} || exit 78; rm d/a; cat /dev/zero >d/filler 2>/dev/null; '{PADDOCK}' undo a --to one --force {where}")
        if not shutil.which("unshare"):
            self.skipTest("no unshare")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, encoding="utf-8", timeout=60)
        if done.returncode == 77 or "Operation not permitted" in done.stderr:
            self.skipTest("needs a mount namespace")
        self.assertIn("no space left", done.stderr)
        self.assertIn("free some space on the disk of the workspace", done.stderr)
        self.assertNotIn("history gc", done.stderr)

    def test_gc_on_a_full_disk_does_not_advise_itself(self):
        os.mkdir(self.store, 0o700)
        where = f"--workspace '{self.workspace}' --history '{self.store}'"
        gc = f"'{PADDOCK}' history gc {where}"
        script = (f"mount -t tmpfs -o size=1m,mode=0700 none '{self.store}' || exit 77; '{PADDOCK}' checkpoint {where} 2>&1 || exit 78; "
                  f"cat /dev/zero >'{self.store}/filler' 2>/dev/null; {gc}; echo $? >&2; rm '{self.store}/filler'; {gc} || exit 79")
        if not shutil.which("unshare"):
            self.skipTest("no unshare")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, encoding="utf-8", timeout=60)
        if done.returncode in (1, 77):
            self.skipTest("needs a mount namespace")
        self.assertEqual(done.returncode, 0, done)
        said, code = done.stderr.splitlines()
        self.assertIn("no space", said)
        self.assertIn("make some room on the disk", said)
        self.assertNotIn("`paddock history gc`", said)
        self.assertEqual(code, "1")


unittest.main()
