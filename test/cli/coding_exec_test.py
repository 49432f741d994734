#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exec of the coding set as an agent meets it: scripts, debuggers, and what stays from one command to the next."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import META, Client, Page, folder_of  # noqa: E402

SERVER = os.environ["PADDOCK_MCP"]


def Session(workspace, *options):
    """A server without a history, unless one is named."""
    return Client("-w", workspace, *([] if "--history" in options else ["--history", "off"]), *options)


class CodingExec(unittest.TestCase):
    def setUp(self):
        self.workspace = folder_of(self, dir="/tmp") / "workspace"  # /dev/shm is each command's own
        self.workspace.mkdir()

    def serve(self, *options):
        return Session(self.workspace, *options).until_the_end_of(self)

    def coding(self, *options):
        return self.serve("--tools", "coding", *options)

    def base(self):
        session = self.serve()
        complete = {"args": [], "env": {}, "cwd": ".", "stdout": True, "stderr": True}
        return lambda **given: session.call("exec", **{**complete, **given})

    def need_own_processes(self, session):
        layers = {row["layer"]: row for row in session.call("healthCheck")["confinement"]}
        if "PID namespace" not in layers["kill"].get("mechanism", "") or not layers["privileges"]["applied"]:
            self.skipTest("commands have no PID namespace here")

    def program(self, source, *options):
        compiler = shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            self.skipTest("no C compiler")
        (self.workspace / "program.c").write_text(source)
        built = subprocess.run([compiler, "-g", "-O0", *options, "program.c", "-o", "program"], cwd=self.workspace,
                               capture_output=True, encoding="utf-8")
        if built.returncode:
            self.skipTest(f"{compiler} {options} does not work: {built.stderr}")

    def test_a_protected_file_that_a_person_replaces_meanwhile_is_named(self):
        """The kernel takes the mount from over it, and with that the protection, until the helper puts another one there."""
        (self.workspace / ".envrc").write_text("old\n")
        for name in ("begun", "saved"):
            os.mkfifo(self.workspace / name)
        session = self.coding()

        def save():
            (self.workspace / "begun").read_text()
            (self.workspace / "new").write_text("new\n")
            os.rename(self.workspace / "new", self.workspace / ".envrc")
            (self.workspace / "saved").write_text("x")
        person = threading.Thread(target=save)
        person.start()
        done = session.call("exec", script="echo >begun; read a <saved")
        person.join()
        self.assertIn(".envrc is protected and was replaced by somebody while the command ran", json.dumps(done))

    def test_a_script_is_run_by_a_shell(self):
        session = self.coding()
        for script, output in [
            ("printf 'b\\na\\n' | sort && echo done; echo $((1 + 2))", "a\nb\ndone\n3\n"),
            ("cat <<'END' > made && cat made\nit's $HOME\nEND", "it's $HOME\n"),
            ("false || echo or", "or\n"),
        ]:
            self.assertEqual(session.call("exec", script=script), {"output": output})
        self.assertEqual(session.call("exec", script='echo "$2 $1"', args=["one", "two"])["output"], "two one\n")
        if shutil.which("bash"):
            self.assertEqual(session.call("exec", script="echo {a,b}; set -o pipefail; false | true")["output"], "a b\n")
        failed = session.call("exec", script="echo begun; exit 3")
        self.assertEqual((failed["exitCode"], failed["output"]), (3, "begun\n"))
        self.assertEqual(session.call("exec", command="echo", args=["$HOME | cat"])["output"], "$HOME | cat\n")

    def test_one_of_script_and_command_is_given(self):
        session = self.coding()
        for given in [{}, {"args": ["x"]}]:
            refused = session.call("exec", **given)
            self.assertEqual(refused["error"], "invalid_argument")
            self.assertIn("script is missing", refused["message"])
        refused = session.call("exec", script="true", command="true")
        self.assertEqual(refused["error"], "invalid_argument")
        self.assertIn("give one of them", refused["message"])
        self.assertIn("call again with it as script", session.call("exec", command="ls -l | cat")["message"])
        self.assertIn("script", session.call("exec", command="cd /tmp")["message"])

    def test_base_knows_no_script(self):
        exec_in_base = self.base()
        self.assertEqual(exec_in_base(command="true", script="true")["error"], "invalid_argument")
        self.assertIn('args ["-c", ', exec_in_base(command="ls -l | cat")["message"])

    def test_strace_works(self):
        session = self.coding()
        self.need_own_processes(session)
        if not shutil.which("strace"):
            self.skipTest("no strace")
        told = session.call("exec", script="strace -f -e trace=execve,exit_group sh -c '/bin/true; exit 4'")
        self.assertEqual(told["exitCode"], 4, told)
        self.assertRegex(told["output"], r'execve\("/bin/true"')
        self.assertIn("exited with 4", told["output"])
        attached = session.call("exec", script="sleep 100 & traced=$!; strace -o log -e trace=none -p $traced & tracer=$!; "
                                "until grep -q '^TracerPid:.*[1-9]' /proc/$traced/status; do :; done; "
                                "kill $traced; wait $tracer; cat log")
        self.assertIn("killed by SIGTERM", attached["output"])
        self.assertIn("not permitted", json.dumps(self.base()(command="strace", args=["true"])))  # the control

    def test_gdb_works(self):
        session = self.coding()
        self.need_own_processes(session)
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        self.program("int twice(int n) { return 2 * n; }\nint main(void) { return twice(21); }\n")
        script = "gdb -batch -ex 'break twice' -ex run -ex 'print n' -ex 'set var n = 4' -ex bt -ex continue ./program"
        told = session.call("exec", script=script)["output"]
        for part in ["$1 = 21", "#1 ", "in main ()", "exited with code 010"]:
            self.assertIn(part, told)
        self.assertNotIn("address space randomization", told)
        self.assertNotIn("$1 = 21", json.dumps(self.base()(command="sh", args=["-c", script])))

    def test_leaks_are_reported(self):
        session = self.coding()
        self.need_own_processes(session)
        self.program("#include <stdlib.h>\nvoid* kept;\nint main(void) { kept = malloc(77); kept = 0; return 0; }\n",
                     "-fsanitize=address")
        told = session.call("exec", command="./program")
        self.assertNotIn(told.get("exitCode"), [None, 0])
        self.assertIn("77 byte(s) leaked", told["output"])
        self.assertNotIn("leaked", json.dumps(self.base()(command="./program")))

    def test_what_confines_a_command_is_not_traced(self):
        session = self.coding()
        self.need_own_processes(session)
        if not shutil.which("strace"):
            self.skipTest("no strace")
        for process in ["1", "$PPID"]:
            told = session.call("exec", script=f"strace -p {process}")
            self.assertIn("Operation not permitted", told["output"])
        self.assertEqual(session.call("exec", script="cat /proc/1/mem 2>&1; cat /proc/1/environ 2>&1; true")["output"].count(
            "ermission denied"), 2)

    def test_what_is_written_beside_the_workspace_is_told(self):
        session = self.coding()
        if session.call("healthCheck")["scratch"] != "session":
            self.skipTest("no scratch can be shared here")
        above = str(self.workspace.parent)
        for script in ["echo lost > ../lost", "rm ../lost", "mkdir ../other && echo lost > ../other/file"]:
            told = session.call("exec", script=script)
            self.assertIn(f"what the command made in {above}, outside the workspace", told.get("notice", ""), told)
        for script in ["true", "echo kept > inside; echo x > /tmp/x; echo x > ~/x; mkdir -p /tmp/a/b"]:
            self.assertNotIn("notice", session.call("exec", script=script))
        self.assertEqual(os.listdir(above), ["workspace"])
        real = self.coding("--exec-write", above)
        self.assertNotIn("notice", real.call("exec", script="echo kept > ../kept"))
        self.assertEqual((self.workspace.parent / "kept").read_text(), "kept\n")

    def test_home_and_tmp_stay(self):
        left = "echo kept > ~/left && echo kept > /tmp/left"
        seen = "cat ~/left /tmp/left"
        session = self.coding()
        if session.call("healthCheck")["scratch"] != "session":
            self.skipTest("no scratch can be shared here")
        session.call("exec", script=left)
        self.assertEqual(session.call("exec", script=seen), {"output": "kept\nkept\n"})
        self.assertEqual(session.call("exec", script="unset TMPDIR; f=$(mktemp); echo $f; test -e $f")["output"][:5], "/tmp/")
        own = self.coding("--scratch", "call")
        own.call("exec", script=left)
        self.assertIn("No such file", own.call("exec", script=seen)["output"])
        in_base = self.base()
        in_base(command="sh", args=["-c", left])
        self.assertEqual(in_base(command="sh", args=["-c", seen])["error"], "command_failed")


class Worktrees(unittest.TestCase):
    """A workspace that is a git worktree, whose repository lies outside."""

    def setUp(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        self.folder = folder_of(self)
        self.main = self.folder / "main"
        self.git("init", "-q", "-b", "main", str(self.main), place=self.folder)
        (self.main / "file").write_text("one\n")
        self.git("add", "file")
        self.git("commit", "-qm", "one")
        for name in ["a", "b"]:
            self.git("worktree", "add", "-q", f"../{name}")

    def git(self, *words, place=None):
        done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=place or self.main,
                              capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def serve(self, name, *options):
        session = Session(self.folder / name, "--tools", "coding", "--history", str(self.folder / "history"), *options).until_the_end_of(self)
        report = session.call("healthCheck")
        if any(not row["applied"] for row in report["confinement"]):
            self.skipTest("this system cannot confine commands")
        return session

    def commit(self, session, text):
        return session.call("exec", script=f"echo {text} >> file && git -c user.name=a -c user.email=a@b commit -qam {text} && "
                            "git -c user.name=a -c user.email=a@b tag -a -m it " + f"{text} && git status --short && git log --format=%s")

    def test_two_agents_commit_at_once(self):
        first, second = self.serve("a", "--git-worktree"), self.serve("b", "--git-worktree")
        for session, text, log in [(first, "two", "two\none\n"), (second, "three", "three\none\n"), (first, "four", "four\ntwo\none\n")]:
            self.assertEqual(self.commit(session, text), {"output": log})
        self.assertEqual(self.git("log", "--format=%s", "a"), "four\ntwo\none\n")
        self.assertEqual(self.git("log", "--format=%s", "b"), "three\none\n")
        self.assertEqual(self.git("fsck"), "")
        self.assertEqual(first.call("exec", script="git switch -q -c other && git merge -q b 2>&1 | grep -c CONFLICT")["output"], "1\n")

    def test_undo_of_one_leaves_the_other(self):
        first, second = self.serve("a", "--git-worktree"), self.serve("b", "--git-worktree")
        self.commit(first, "two")
        self.commit(second, "three")
        was, is_now = (self.git("rev-parse", name).strip()[:10] for name in ["main", "a"])
        words = f"git's commits stay in {self.main}/.git: HEAD went from {was} to {is_now}"
        self.assertNotIn("commits", first.call("restore", paths=["file"], dryRun=True)["notice"])
        person = [os.environ["PADDOCK"], "undo", "-n", "-w", self.folder / "a", "--history", self.folder / "history"]
        self.assertIn(words, subprocess.run(person, capture_output=True, encoding="utf-8").stderr)
        told = {"repository": f"{self.main}/.git", "from": was, "to": is_now}
        as_json = json.loads(subprocess.run([*person, "--json"], capture_output=True, encoding="utf-8").stdout)
        self.assertEqual(as_json.get("commitsLeft"), told)
        one = subprocess.run([*person, "--json", "file"], capture_output=True, encoding="utf-8", cwd=self.folder / "a")
        self.assertNotIn("commitsLeft", json.loads(one.stdout))
        page = Page(self.folder / "a", self.folder / "history")
        self.addCleanup(page.close)
        for body, commits in [({}, told), ({"paths": ["file"]}, None)]:
            answer = json.loads(page.ask("POST", "api/undo", {**body, "check": True}))
            self.assertEqual(answer.get("commitsLeft"), commits)
        done = first.call("restore")
        self.assertGreater(done["restored"], 0)
        self.assertIn(words, done["notice"])
        self.assertEqual((self.folder / "a/file").read_text(), "one\n")
        self.assertEqual((self.folder / "b/file").read_text(), "one\nthree\n")
        self.assertEqual(self.git("log", "--format=%s", "b"), "three\none\n")
        self.assertEqual(self.git("status", "--short", place=self.folder / "b"), "")

    def test_what_makes_git_run_programs_stays(self):
        session = self.serve("a", "--git-worktree")
        own, common = self.main / ".git/worktrees/a", self.main / ".git"
        before = {path: path.read_bytes() for path in [common / "config", own / "commondir", own / "gitdir", self.folder / "a/.git"]}
        for script in [
            f"git config core.fsmonitor ./evil", f"git config --worktree core.fsmonitor ./evil", f"echo x > {common}/hooks/post-checkout",
            f"echo '[core] fsmonitor = ./evil' >> {own}/config.worktree", f"echo ../../../../a > {own}/commondir",
            f"rm -f {own}/commondir", f"mv {own}/commondir {own}/x", f"mv {own} {own}-x", f"rm -rf {own}/config.worktree",
            f"echo 'gitdir: /tmp' > .git", f"rm .git", f"echo x > {common}/packed-refs", f"touch {common}/worktrees/b/HEAD.lock",
            f"cat {self.main}/file",
        ]:
            told = session.call("exec", script=script)
            self.assertEqual(told.get("error"), "command_failed", (script, told))
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content, path)
        self.assertEqual((own / "config.worktree").read_bytes(), b"")
        self.assertFalse((common / "hooks/post-checkout").exists())

    def test_without_it_the_repository_is_out_of_reach(self):
        session = self.serve("a")
        told = session.call("exec", script="git status")
        self.assertIn("not a git repository", told["output"])
        self.assertIn("a person can start the server with --git-worktree", told["message"])
        self.assertIn("--git-worktree", session.call("healthCheck")["warning"])
        words = "commands cannot use git here: the workspace is a worktree of "
        check = [SERVER, "--check", "-w", self.folder / "a"]
        self.assertIn(words, subprocess.run(check, capture_output=True, encoding="utf-8").stdout)
        given = subprocess.run([*check, "--git-worktree"], capture_output=True, encoding="utf-8")
        self.assertNotIn(words, given.stdout)

    def test_a_repository_that_does_not_know_the_worktree_is_refused(self):
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / ".git").write_text(f"gitdir: {self.main}/.git/worktrees/a\n")
        for place, why in [(foreign, "does not know this worktree"), (self.main, "no .git file")]:
            done = subprocess.run([SERVER, "-w", place, "--git-worktree", "--check"], capture_output=True, encoding="utf-8")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(why, done.stderr)


class GitSettings(unittest.TestCase):
    """What a command may set in the configuration of somebody else's repository."""

    def setUp(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        self.workspace = folder_of(self) / "workspace"
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.workspace)], check=True)
        self.config = self.workspace / ".git/config"
        with self.config.open("a") as file:
            file.write("# kept\n[user]\n\tname = P\n\temail = p@example.org\n")
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "one"], cwd=self.workspace, check=True)
        self.before = self.config.read_text()
        self.session = Session(self.workspace, "--tools", "coding").until_the_end_of(self)
        if any(not row["applied"] for row in self.session.call("healthCheck")["confinement"]):
            self.skipTest("this system cannot confine commands")

    def run_it(self, script):
        return self.session.call("exec", script=script)

    def value(self, name):
        return subprocess.run(["git", "config", "--local", "--get-all", name], cwd=self.workspace, capture_output=True,
                              encoding="utf-8").stdout.splitlines()

    def test_remotes_branches_and_the_user(self):
        for script in ["git init -q --bare hub.git && git remote add origin ./hub.git && git push -q -u origin main",
                       "git fetch -q && git checkout -q -b x origin/main && git config branch.x.description words",
                       "git config user.name A && git remote rename origin hub && git remote add up git@example.org:a/b.git"]:
            told = self.run_it(script)
            self.assertNotIn("error", told, (script, told))
            self.assertNotIn("git/config", told.get("notice", ""), told)
        self.assertEqual(self.value("remote.hub.url"), ["./hub.git"])
        self.assertEqual(self.value("remote.up.url"), ["git@example.org:a/b.git"])
        self.assertEqual((self.value("branch.main.remote"), self.value("branch.x.merge")), (["hub"], ["refs/heads/main"]))
        self.assertEqual((self.value("user.name"), self.value("branch.x.description")), (["A"], ["words"]))
        self.assertIn("# kept", self.config.read_text())
        self.assertEqual(self.run_it("git remote remove up; git branch -D main; git remote")["output"].split()[-1], "hub")
        self.assertEqual((self.value("remote.up.url"), self.value("branch.main.remote")), ([], []))
        self.assertFalse(self.config.with_name("config.lock").exists())

    def test_a_person_who_sets_something_meanwhile_is_named(self):
        for name in ("begun", "saved"):
            os.mkfifo(self.workspace / name)

        def person():
            (self.workspace / "begun").read_text()
            subprocess.run(["git", "config", "person.x", "1"], cwd=self.workspace, check=True)
            (self.workspace / "saved").write_text("x")
        thread = threading.Thread(target=person)
        thread.start()
        told = self.run_it("echo >begun; read a <saved; git config person.x")
        thread.join()
        words = ".git/config was changed by another program while the command ran"
        self.assertIn(words + ", and the command may have changed it, too: look at person.x before git is used", told["notice"])
        self.assertEqual(told["notice"].count(".git/config"), 1, told)

    def test_a_copy_of_the_repository_has_its_own(self):
        told = self.run_it("mkdir copy && cp -a .git copy && git -C copy log --format=%s && cp .git/config plain")
        self.assertEqual(told, {"output": "one\n"})
        self.assertEqual((self.workspace / "copy/.git/config").read_text(), self.before)
        self.assertEqual((self.workspace / "plain").read_text(), self.before)
        self.assertFalse((self.workspace / "copy/.git/config").is_symlink())

    def test_nothing_that_runs_a_program(self):
        for setting, value in [
            ("core.fsmonitor", "./evil"), ("core.sshCommand", "./evil"), ("core.hooksPath", "."), ("include.path", "/tmp/x"),
            ("includeIf.gitdir:/.path", "x"), ("alias.st", "!evil"), ("remote.a.uploadpack", "./evil"), ("remote.a.receivepack", "./evil"),
            ("remote.a.vcs", "evil"), ("remote.a.proxy", "http://x"), ("remote.a.url", "ext::sh -c evil"), ("remote.a.pushurl", "ext::evil"),
            ("remote.a.url", "--upload-pack=evil"), ("remote.a.url", "ssh://-oProxyCommand=evil/x"), ("branch.main.remote", "ext::sh -c evil"),
            ("branch.main.pushRemote", "fd::3"), ("branch.main.mergeOptions", "-s evil"), ("filter.x.clean", "evil"), ("url.ext::evil.insteadOf", "a"),
            ("protocol.ext.allow", "always"), ("extensions.worktreeConfig", "true"), ("user.signingKey", "x"), ("gpg.program", "./evil"),
        ]:
            told = self.run_it(f"git config '{setting}' '{value}' && git config '{setting}'")
            self.assertEqual(told["output"], value + "\n")
            self.assertIn("this was not saved: " + setting.split(".")[0].lower(), told["notice"])
            self.assertEqual(self.config.read_text(), self.before, setting)
        mixed = self.run_it("git config core.pager evil; git remote add ok https://example.org/a; git remote add out ../private; "
                            "git remote add absolute /srv/private; git remote add file file:///srv/private; git remote add host h:../p; "
                            "git remote add home '~/private'; git config branch.main.remote ../private; git config branch.x.remote ok")
        self.assertIn("not saved: core.pager, remote.out.url, remote.absolute.url, remote.file.url, remote.home.url, branch.main.remote;", mixed["notice"])
        self.assertEqual((self.value("remote.out.url"), self.value("remote.host.url")), ([], ["h:../p"]))
        self.assertEqual((self.value("remote.ok.url"), self.value("core.pager")), (["https://example.org/a"], []))
        self.assertTrue(self.config.read_text().startswith(self.before))

    def test_what_is_no_configuration_changes_nothing(self):
        copy = "$(readlink .git/config)"
        for script in [
            f"echo '[core' > {copy}", f"printf '[remote \"a\"]\\nurl = x\\0y' > {copy}", f": > {copy}",
            f"ln -sf /etc/passwd {copy}", f"rm {copy} && mkfifo {copy}", f"rm {copy} && mkdir {copy}", f"rm {copy}",
            f"f={copy}; mv ${{f%/config}} /tmp/x$$ && ln -s $PWD ${{f%/config}} && echo '[remote \"a\"]' > config; echo ' url = x' >> config",
            f"head -c 3000000 /dev/zero | tr '\\0' '#' >> {copy}",
            "rm -f .git/config", "mv .git/config x", "echo x > .git/config.new && mv .git/config.new .git/config",
            f"ln {copy} .git/linked; true",
        ]:
            self.run_it(script)
            self.assertEqual(self.config.read_text(), self.before, script)
            self.assertFalse(self.config.is_symlink())

    def test_a_change_of_somebody_else_is_kept(self):
        ready, done = self.workspace / "ready", self.workspace / "done"
        self.session.send({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"_meta": META, "name": "exec",
            "arguments": {"script": "git remote add mine https://example.org/a; touch ready; until test -e done; do :; done"}}})
        while not ready.exists():
            pass
        subprocess.run(["git", "remote", "add", "theirs", "https://example.org/b"], cwd=self.workspace, check=True)
        done.touch()
        self.assertIn("another program changed it", self.session.process.stdout.readline().decode())
        self.assertEqual((self.value("remote.theirs.url"), self.value("remote.mine.url")), (["https://example.org/b"], []))

    def test_exec_of_a_person_can_set_the_same(self):
        def run(*words):
            return subprocess.run([os.environ["PADDOCK"], "exec", "-w", str(self.workspace), "--", "git", "config", *words],
                                  stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")

        self.assertEqual((run("user.name", "A").stderr, self.value("user.name")), ("", ["A"]))
        told = run("core.fsmonitor", "./evil")
        self.assertIn("this was not saved: core.fsmonitor", told.stderr)
        self.assertEqual(self.value("core.fsmonitor"), [])

    def test_base_leaves_it_as_it_is(self):
        session = Session(self.workspace).until_the_end_of(self)
        told = session.call("exec", command="git", args=["remote", "add", "a", "https://example.org/a"], env={}, cwd=".", stdout=True, stderr=True)
        self.assertEqual(told["error"], "command_failed")
        self.assertEqual(self.config.read_text(), self.before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
