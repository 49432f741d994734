#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""Nothing that an agent prepares in a workspace is run by a person's plain git.

Each row is prepared twice: by `paddock exec`, and by the same shell without the fence. Then a person runs six commands of git.
Outside the fence the canary is to run: a row for which it does not would prove nothing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import STEP, Server  # noqa: E402

PADDOCK = os.environ["PADDOCK"]

MAKE = """
agent() { git -c user.name=a -c user.email=a@example.org "$@"; }
make() { git init -q "$1"; echo a > "$1/a"; git -C "$1" add a; agent -C "$1" commit -qm a; }
gitlink() { git add "$1" 2>/dev/null; agent commit -qm "add $1"; }
"""
CONFIG = '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = \\"$CANARY\\"\\n'
# What a gitlink of the person's repository leads to.
ROWS = {
    "fsmonitor": 'make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub',
    "fsmonitor in a folder": 'mkdir d; make d/sub; git -C d/sub config core.fsmonitor "$CANARY"; gitlink d/sub',
    "a section in capitals, a value that goes on": 'make sub; printf "[CORE] FsMonitor = \\\\\\\\\\n$CANARY\\n" >> sub/.git/config; gitlink sub',
    "a comment before it": 'make sub; printf "# [a\\n;\\n[core]\\n# x\\nfsmonitor = \\"$CANARY\\"\\n" >> sub/.git/config; gitlink sub',
    "a hook": 'make sub; printf "#!/bin/sh\\n$CANARY" > sub/.git/hooks/post-index-change; chmod +x sub/.git/hooks/*; gitlink sub',
    "hooks that are a link": 'make sub; rm -r sub/.git/hooks; mkdir h; printf "#!/bin/sh\\n$CANARY" > h/post-index-change; chmod +x h/*; '
                             'ln -s ../../h sub/.git/hooks; gitlink sub',
    "a path of hooks": 'make sub; mkdir h; printf "#!/bin/sh\\n$CANARY" > h/post-index-change; chmod +x h/*; '
                       'git -C sub config core.hooksPath ../h; gitlink sub',
    "a filter": 'make sub; echo "* filter=x" > sub/.gitattributes; git -C sub config filter.x.clean "$CANARY; cat"; '
                'gitlink sub; echo b > sub/a',
    "a filter that is a process": 'make sub; echo "* filter=x" > sub/.gitattributes; git -C sub config filter.x.process "$CANARY"; '
                                  'gitlink sub; echo b > sub/a',
    "an include": f'make sub; printf "{CONFIG}" > more; git -C sub config include.path ../../more; gitlink sub',
    "an include on a condition": f'make sub; printf "{CONFIG}" > more; git -C sub config "includeIf.gitdir:**.path" ../../more; gitlink sub',
    "a configuration that is a link": f'make sub; printf "{CONFIG}" > more; ln -sf ../../more sub/.git/config; gitlink sub',
    "the configuration of a worktree": 'make sub; git -C sub config extensions.worktreeConfig true; '
                                       f'printf "{CONFIG}" > sub/.git/config.worktree; gitlink sub',
    "a file that leads to it": f'make sub; printf "{CONFIG}" > sub/.git/config; mv sub/.git kept; echo "gitdir: ../kept" > sub/.git; gitlink sub',
    "a link that leads to it": f'make sub; printf "{CONFIG}" > sub/.git/config; mv sub/.git kept; ln -s ../kept sub/.git; gitlink sub',
    "a file that leads into .git": f'make sub; printf "{CONFIG}" > sub/.git/config; mkdir -p .git/modules; mv sub/.git .git/modules/x; '
                                   'echo "gitdir: ../.git/modules/x" > sub/.git; gitlink sub',
    "a file that leads among objects": f'make sub; printf "{CONFIG}" > sub/.git/config; mv sub/.git .git/objects/pack/x; '
                                       'echo "gitdir: ../.git/objects/pack/x" > sub/.git; gitlink sub',
    "common parts elsewhere": f'make sub; mkdir c; mv sub/.git/objects sub/.git/refs c; printf "{CONFIG}" > c/config; '
                              'echo ../../c > sub/.git/commondir; gitlink sub',
    "a worktree of another": f'make sub; git worktree add -q wt 2>/dev/null; mkdir c; cp -r .git/objects .git/refs c; printf "{CONFIG}" > c/config; '
                             'echo ../../../c > .git/worktrees/wt/commondir; gitlink wt',
    "a repository of a repository": 'make sub; make sub/deep; git -C sub/deep config core.fsmonitor "$CANARY"; cd sub; gitlink deep; cd ..; gitlink sub',
    "a folder that was a person's": f'make sub; printf "{CONFIG}" > sub/.git/config; mv sub/.git/* old; rm -r sub/.git; mv old sub/.git; gitlink sub',
    "in a branch that is not checked out": 'git checkout -q -b theirs; make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; '
                                           'git checkout -q main 2>/dev/null; git branch -f later theirs',
    "a locked folder": 'mkdir d; make d/sub; git -C d/sub config core.fsmonitor "$CANARY"; gitlink d/sub; chmod 311 d d/sub d/sub/.git',
    "a folder that cannot be written": 'make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; chmod 555 sub sub/.git',
    "a second name of a configuration": f'make sub; printf "{CONFIG}" > more; ln -f more sub/.git/config; gitlink sub',
    "files of a repository among its objects": f'make sub; make sub/.git/objects/pack/w; mkdir sub/.git/objects/pack/w/deep; '
        f'mv sub/.git/objects/pack/w/.git sub/.git/objects/pack/w/deep/.git; printf "{CONFIG}" > sub/.git/objects/pack/w/deep/.git/config; '
        'git -C sub config core.worktree "$PWD/sub/.git/objects/pack/w"; H=$(git -C sub rev-parse HEAD); '
        'git -C sub update-index --add --cacheinfo 160000,$H,deep; git update-index --add --cacheinfo 160000,$H,sub; agent commit -qm x',
    "with the objects of another": 'make sub; rm -r sub/.git/objects; mkdir -p sub/.git/objects/info; '
                                   'echo "$PWD/.git/objects" > sub/.git/objects/info/alternates; git -C sub add a; '
                                   'agent -C sub commit -qm b; git -C sub config core.fsmonitor "$CANARY"; gitlink sub',
}
PERSONS = ["status", "diff", "log -p -1", "checkout -q -b mine", "stash", "commit -qam mine", "checkout -qf main", "checkout -qf later", "status"]


def environment(home):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "GIT_PAGER": "cat"}


class PersonsGit(unittest.TestCase):
    def setUp(self):
        self.base = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.canary = self.base / "outside" / "ran"

    def sh(self, script, where):
        return subprocess.run(["sh", "-c", script], cwd=where, env=self.environment, capture_output=True, text=True)

    def repository(self, name, versioned=True):
        self.canary.parent.mkdir(exist_ok=True)
        self.environment = environment(self.base / "home")
        (self.base / "home").mkdir(exist_ok=True)
        (self.base / "home/.gitconfig").write_text("[user]\n\tname = p\n\temail = p@example.org\n[init]\n\tdefaultBranch = main\n")
        workspace = self.base / name
        (workspace / "old").mkdir(parents=True)
        (workspace / "tracked").write_text("one\n")
        if versioned:
            self.sh("git init -q; git add -A; git commit -qm first", workspace)
        return workspace

    def script(self, prepare):
        return f"CANARY='touch {self.canary}'\n{MAKE}\n{prepare}"

    def persons_git_runs_it(self, workspace, commands=PERSONS):
        self.canary.unlink(missing_ok=True)
        for path in workspace.rglob("a"):
            if path.is_file():
                path.touch()
        for command in commands:
            (workspace / "tracked").write_text(command)
            self.sh(f"git {command}", workspace)
            if self.canary.exists():
                return command
        return None

    def test_each_row_by_a_command(self):
        for name, prepare in list(ROWS.items())[::STEP]:
            with self.subTest(name):
                outside = self.repository(f"{name} outside".replace(" ", "-"))
                self.sh(self.script(prepare), outside)
                self.assertIsNotNone(self.persons_git_runs_it(outside), "the control ran nothing")
                inside = self.repository(f"{name} inside".replace(" ", "-"))
                told = subprocess.run([PADDOCK, "exec", "--workspace", str(inside), "--", "sh", "-c", self.script(prepare)],
                                      env=self.environment, capture_output=True, text=True)
                self.canary.unlink(missing_ok=True)
                self.assertIsNone(self.persons_git_runs_it(inside), told.stderr)
                self.assertIn("made-by-command", told.stderr)

    def test_a_repository_at_the_top(self):
        workspace = self.repository("top", versioned=False)
        subprocess.run([PADDOCK, "exec", "--workspace", str(workspace), "--", "sh", "-c",
                        self.script('make .; git config core.fsmonitor "$CANARY"')], env=self.environment, capture_output=True)
        self.assertIsNone(self.persons_git_runs_it(workspace))

    def test_a_rebase_that_a_person_continues(self):
        todo, slash = ".git/rebase-merge/git-rebase-todo", 'mkdir git-merge-.; printf "#!/bin/sh\\n$CANARY" > evil; chmod +x evil'
        rows = {
            "a step": f'echo "exec $CANARY" >> {todo}',
            "its short name, before another step": f'printf " \tx $CANARY\npick $(git rev-parse side)\n" > {todo}',
            "a link": f'echo "exec $CANARY" > elsewhere; ln -sf ../../elsewhere {todo}',
            "a link to its directory": f'cp -r .git/rebase-merge r; rm -r .git/rebase-merge; ln -s ../r .git/rebase-merge; echo "x $CANARY" >> {todo}',
            "a strategy": f'{slash}; printf ./../evil > .git/rebase-merge/strategy; echo "pick $(git rev-parse side)" > {todo}',
        }
        person = "git -c user.name=p -c user.email=p@example.org"
        begin = (f"for i in 1 2 3; do echo $i > n$i; git add n$i; {person} commit -qm $i; done; git checkout -q -b side HEAD~2; echo s > s; git add s; "
                 f"{person} commit -qm s; git checkout -q -; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' {person} rebase -q -i HEAD~2")
        go_on = f"GIT_EDITOR=true {person} rebase --continue"
        for name, prepare in rows.items():
            with self.subTest(name):
                outside, inside = (self.repository(f"{name} {at}".replace(" ", "-").replace(",", "")) for at in ("outside", "inside"))
                for workspace in outside, inside:
                    self.sh(begin, workspace)
                    self.assertTrue((workspace / todo).exists())
                self.sh(self.script(prepare), outside)
                self.sh(go_on, outside)
                self.assertTrue(self.canary.exists(), "the control ran nothing")
                self.canary.unlink()
                told = subprocess.run([PADDOCK, "exec", "--workspace", str(inside), "--", "sh", "-c", self.script(prepare)],
                                      env=self.environment, capture_output=True, text=True)
                self.sh(go_on, inside)
                self.assertFalse(self.canary.exists(), told.stderr)
                self.assertIn("made-by-command", told.stderr)
                self.assertIn("was written during the command and names programs", told.stderr)
        begin = (f"for i in a b; do echo $i > tracked; {person} commit -qam $i; done; git checkout -q -b side HEAD~2; echo c > tracked; "
                 f"{person} commit -qam c; echo d > d; git add d; {person} commit -qm d; git checkout -q main; {person} cherry-pick main..side; "
                 "echo e > tracked; git add tracked")
        prepare = f'{slash}; printf "[options]\\n\\tstrategy = ./../evil\\n" >> .git/sequencer/opts'
        for ran, how in [(True, ["sh", "-c"]), (False, [PADDOCK, "exec", "--", "sh", "-c"])]:
            workspace = self.repository(f"picks-{ran}")
            self.sh(begin, workspace)
            subprocess.run([*how, self.script(prepare)], cwd=workspace, env=self.environment, capture_output=True)
            self.sh(f"GIT_EDITOR=true {person} cherry-pick --continue", workspace)
            self.assertEqual(self.canary.exists(), ran)
            self.canary.unlink(missing_ok=True)
        server = Server(self.repository("tool"), environment=self.environment)
        told = server.call("writeTextFile", path=todo, text="x true\n")
        self.assertIn("git keeps its own there", told["message"])
        server.close()

    def test_a_rebase_in_a_worktree_that_a_person_continues(self):
        evil = 'printf "#!/bin/sh\\n$CANARY" > evil; chmod +x evil; '
        begin = "for i in 1 2 3; do echo $i > n; git add n; git commit -qm $i; done; git checkout -q -b side HEAD~2; echo s > n; git add n; git commit -qm s; "
        rows = {
            "a step": ("rebase", "git rebase theirs", 'echo "exec $CANARY" >> "$(git rev-parse --git-path rebase-merge/git-rebase-todo)"'),
            "a rebase of its own": ("rebase", "true", 'agent rebase -q --exec "$CANARY" theirs'),
            "a strategy": ("rebase", "git rebase theirs", evil + 'D=$(git rev-parse --git-path rebase-merge); printf ./../evil > $D/strategy; '
                           'echo "pick $(git rev-parse theirs~1)" > $D/git-rebase-todo; mkdir git-merge-.'),
            "options": ("cherry-pick", "git cherry-pick theirs~1 theirs", evil + 'mkdir git-merge-.; '
                        'printf "[options]\\n\\tstrategy = ./../evil\\n" >> "$(git rev-parse --git-path sequencer/opts)"'),
        }
        for name, (verb, start, prepare) in rows.items():
            with self.subTest(name):
                for is_outside in True, False:
                    main = self.repository(f"{name} {is_outside}".replace(" ", "-"))
                    place = main.parent / f"{main.name}-tree"
                    self.sh(f"git worktree add -q -b theirs {place}", main)
                    self.sh(f"{begin}{start}", place)
                    if is_outside:
                        told = self.sh(self.script(prepare), place)
                    else:
                        server = Server(place, "--git-worktree", environment=self.environment)
                        told = server.run(self.script(prepare))
                        server.close()
                        self.assertIn("made-by-command", str(told))
                        self.assertIn("was written during the command and names programs", str(told))
                    self.canary.unlink(missing_ok=True)
                    done = self.sh(f"echo n > n; git add n; GIT_EDITOR=true git {verb} --continue", place)
                    self.assertEqual(self.canary.exists(), is_outside, (told, done))
                    self.canary.unlink(missing_ok=True)

    def test_a_rebase_of_an_agent_in_a_worktree_goes_on(self):
        main = self.repository("worktree")
        place = main.parent / "agents-tree"
        self.sh(f"git worktree add -q -b theirs {place}", main)
        server = Server(place, "--git-worktree", environment=self.environment)
        scripts = ["for i in 1 2; do echo $i > n; git add n; agent commit -qm $i; done; git checkout -q -b side HEAD~1; echo s > n; git add n; "
                   "agent commit -qm s; echo t > t; git add t; agent commit -qm t; ! agent rebase -q theirs",
                   "echo n > n; git add n; agent rebase --continue", "git checkout -q -b more; echo u > u; git add u; agent commit -qm u; git checkout -q side; ! agent cherry-pick theirs~1 more",
                   "echo m > n; git add n; agent cherry-pick --continue"]
        for script in scripts:
            told = server.run(f"{MAKE}\nexport GIT_EDITOR=true\n{script}")
            self.assertNotIn("made-by-command", str(told))
            self.assertNotIn("error", told, script)
        server.close()
        self.assertEqual([(place / name).read_text() for name in "ntu"], ["m\n", "t\n", "u\n"])

    def test_a_rebase_of_an_agent_goes_on_in_its_next_command(self):
        workspace = self.repository("agents-rebase")
        agent = "git -c user.name=a -c user.email=a@example.org"
        begin = (f"echo 1 > n; git add n; {agent} commit -qm 1; git checkout -q -b side HEAD~1; echo 2 > n; git add n; {agent} commit -qm 2; echo 3 > m; "
                 f"git add m; {agent} commit -qm 3; {agent} rebase -; test -s .git/rebase-merge/git-rebase-todo")
        for script, code in [(begin, 0), (f"echo 4 > n; git add n; GIT_EDITOR=true {agent} rebase --continue", 0)]:
            done = subprocess.run([PADDOCK, "exec", "--workspace", str(workspace), "--", "sh", "-c", script],
                                  env=self.environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done)
            self.assertNotIn("made-by-command", done.stderr)
        self.assertEqual((workspace / "m").read_text(), "3\n")

    def test_honest_repositories_stay_as_they_are(self):
        workspace = self.repository("honest")
        run = subprocess.run([PADDOCK, "exec", "--workspace", str(workspace), "--", "sh", "-c", self.script(
            "make sub; git -C sub config user.name a; git clone -q sub clone; git -C clone checkout -q -b topic; git clone -q --bare sub bare; "
            "git worktree add -q wt 2>/dev/null; git -C sub worktree add -q ../subwt; git -C sub remote add origin https://example.org/x.git; "
            "git init -q --separate-git-dir=apart sep; gitlink sub")],
            env=self.environment, capture_output=True, text=True)
        self.assertNotIn("made-by-command", run.stderr)
        for each in ["sub", "clone", "bare", "subwt", "sep", "wt"]:
            self.assertEqual(self.sh("git config --local -l && git rev-parse --git-dir", workspace / each).returncode, 0, each)
        self.assertEqual(list(workspace.rglob("*made-by-command*")), [])

    def test_what_is_harmless_stays_in_the_configuration(self):
        workspace = self.repository("kept")
        subprocess.run([PADDOCK, "exec", "--workspace", str(workspace), "--", "sh", "-c", self.script(
            'make sub; git -C sub remote add origin "https://example.org/a\\"b#c.git"; git -C sub config core.fsmonitor "$CANARY"; '
            'git -C sub config branch.main.remote origin; gitlink sub')], env=self.environment, capture_output=True)
        config = self.sh("git config --local -l", workspace / "sub").stdout
        self.assertNotIn("fsmonitor", config)
        self.assertIn('remote.origin.url=https://example.org/a"b#c.git\n', config)
        self.assertIn("branch.main.remote=origin\n", config)
        self.assertEqual(len(list((workspace / "sub/.git").glob("config.made-by-command-*"))), 1)

    def test_in_two_commands_and_by_file_tools(self):
        steps = {
            "configured later": ["make sub; gitlink sub", 'git -C sub config core.fsmonitor "$CANARY"'],
            "an empty .git of a tool": [("createDirectory", {"path": "sub/.git"}),
                                        'git init -q sub; make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub'],
            "a file of a tool": [f'make sub; mv sub/.git kept; rm kept/HEAD; printf "{CONFIG}" > kept/config',
                                 ("writeTextFile", {"path": "sub/.git", "text": "gitdir: ../kept\n"}),
                                 ("writeTextFile", {"path": "kept/HEAD", "text": "ref: refs/heads/main\n"}),
                                 'gitlink sub'],
            "moved by a tool": ['make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; mv sub/.git/HEAD sub/.git/H',
                                ("moveFile", {"source": "sub", "destination": "there"}),
                                'mv there/.git/H there/.git/HEAD; gitlink there'],
        }
        for name, given in steps.items():
            with self.subTest(name):
                workspace = self.repository(name.replace(" ", "-"))
                server = Server(workspace, environment=self.environment)
                for step in given:
                    if isinstance(step, str):
                        server.call("exec", command="sh", args=["-c", self.script(step)])
                    else:
                        server.call(step[0], **step[1])
                server.close()
                self.assertIsNone(self.persons_git_runs_it(workspace))

    def test_among_the_objects_of_a_repository(self):
        """A person works in what became a link to where nobody but git has its files."""
        prepare = f"mv old .git/objects/ab; git init -q .git/objects/ab/old; printf \"{CONFIG}\" > .git/objects/ab/old/.git/config; " \
                  "ln -s .git/objects/ab/old old"
        places = {"fanned out": ".git/objects/ab", "packs": ".git/objects/pack", "objects of another": "n/.git/objects/info",
                  "a hidden name": "n/.perstack"}
        for name, place in places.items():
            with self.subTest(name):
                script = self.script(f"mkdir -p {place}; " + prepare.replace(".git/objects/ab", place))
                outside, inside = self.repository(f"{name} outside".replace(" ", "-")), self.repository(name.replace(" ", "-"))
                self.sh(script, outside)
                self.assertIsNotNone(self.persons_git_runs_it(outside / "old"), "the control ran nothing")
                told = subprocess.run([PADDOCK, "exec", "--workspace", str(inside), "--", "sh", "-c", script],
                                      env=self.environment, capture_output=True, text=True)
                self.canary.unlink(missing_ok=True)
                self.assertIsNone(self.persons_git_runs_it(inside / "old"), told.stderr)
                self.assertIn("made-by-command", told.stderr)

    def test_a_pointer_that_leads_elsewhere_in_a_later_session(self):
        """The `.git` file stays as it was; what lies on its way does not."""
        elsewhere = {"objects": ".git/objects/ab", "outside": "$WRITABLE"}
        for name, place in elsewhere.items():
            with self.subTest(name):
                workspace = self.repository(f"pointer-{name}")
                writable = self.base / f"writable-{name}"
                writable.mkdir()
                steps = ["make sub; gitlink sub; mkdir repos; mv sub/.git repos/r; ln -s repos ln; echo 'gitdir: ../ln/r' > sub/.git",
                         f'mkdir -p "{place}"; cp -r repos/r "{place}/r"; rm "{place}/r/config"; printf "{CONFIG}" > "{place}/r/config"; rm ln; ln -s "{place}" ln']
                for step in steps:
                    self.assertIsNone(self.persons_git_runs_it(workspace, ["status"]))
                    server = Server(workspace, "--exec-write", writable, environment=self.environment)
                    server.call("exec", command="sh", args=["-c", f"WRITABLE={writable}; {self.script(step)}"])
                    server.close()
                self.assertTrue((workspace / "ln").is_symlink())
                self.assertTrue(list(writable.glob("r/config")) if name == "outside" else (workspace / place).is_dir())
                self.assertIsNone(self.persons_git_runs_it(workspace))

    def test_a_persons_pointer_stays_where_it_leads(self):
        workspace = self.repository("persons-pointer")
        self.sh("git init -q ../apart; git -C ../apart commit -q --allow-empty -m one; git -C ../apart worktree add -q ../persons-pointer/wt", workspace)
        for command in ["true", "echo a > wt/a", "git -C wt status || true"]:
            subprocess.run([PADDOCK, "exec", "--workspace", str(workspace), "--", "sh", "-c", command], env=self.environment, capture_output=True)
        self.assertEqual(self.sh("git status", workspace / "wt").returncode, 0)

    def test_a_process_that_another_command_overlaps(self):
        workspace = self.repository("process")
        server = Server(workspace, environment=self.environment)
        started = server.call("startProcess", command="sh", args=["-c", self.script(
            'make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; echo ready; read line')], until="ready", waitMs=20000)
        server.call("exec", command="true")
        self.assertIn("ready", str(started))
        told = server.call("stopProcess", process=started["process"])
        server.close()
        self.assertTrue((workspace / "sub/.git").is_dir(), told)
        self.assertIsNone(self.persons_git_runs_it(workspace), told)

    def start(self, server, script):
        started = server.call("startProcess", command="sh", args=["-c", self.script(script)], until="ready", waitMs=20000)
        self.assertIn("ready", str(started))
        return started["process"]

    def test_a_server_that_is_killed(self):
        workspace = self.repository("killed")
        server = Server(workspace, environment=self.environment)
        self.start(server, 'make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; echo ready; read line')
        server.process.kill()
        server.process.wait()
        self.assertEqual(self.persons_git_runs_it(workspace, ["status"]), "status")  # the control: nobody has looked yet
        Server(workspace, environment=self.environment).close()
        self.assertIsNone(self.persons_git_runs_it(workspace))

    def test_two_servers(self):
        workspace = self.repository("two")
        one, other = Server(workspace, environment=self.environment), Server(workspace, environment=self.environment)
        first = self.start(one, 'make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; echo ready; read line')
        second = self.start(other, 'echo ready; until [ -e go ]; do sleep 0.1; done; '
                                   'git -C sub config core.fsmonitor "$CANARY"; git -C sub config core.fsmonitor; echo written; read line')
        one.call("stopProcess", process=first)
        self.assertIsNone(self.persons_git_runs_it(workspace, ["status"]))
        (workspace / "go").write_text("")
        written = other.call("readProcess", process=second, until="written", waitMs=20000)
        self.assertIn("touch", str(written))  # the control: it could do so
        other.call("stopProcess", process=second)
        one.close()
        other.close()
        self.assertIsNone(self.persons_git_runs_it(workspace))


if __name__ == "__main__":
    if os.geteuid() == 0 and shutil.which("setpriv"):  # to whom a closed directory is closed
        subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable, *sys.argv], check=True)
    unittest.main(verbosity=2)
