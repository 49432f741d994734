#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""Nothing that an agent prepares in a workspace is run by a person's plain git.

Each row is prepared twice: by `paddock exec`, and by the same shell without the fence. Then a person runs six commands of git.
Outside the fence the canary is to run: a row for which it does not would prove nothing.
"""

import contextlib
import os
import pathlib
import shlex
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
    "locked folders in each other": 'D=$(printf "d/%.0s" $(seq 70)); mkdir -p $D; make ${D}sub; git -C ${D}sub config core.fsmonitor "$CANARY"; gitlink ${D}sub; '
                                    'P=${D}sub/.git; while test $P != .; do chmod 311 $P; P=$(dirname $P); done',
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
# Adds entries that git would refuse to an index: of version 2, as a person's `git add` made it.
RAW_INDEX = r"""
import hashlib, struct, sys
raw = open(".git/index", "rb").read()
entries = b""
for name in sys.argv[2:]:
    entry = struct.pack(">10I", *[0] * 6, 0o100755, 0, 0, 0) + bytes.fromhex(sys.argv[1]) + struct.pack(">H", len(name)) + name.encode()
    entries += entry + b"\0" * ((62 + len(name)) // 8 * 8 + 8 - len(entry))
made = raw[:8] + struct.pack(">I", len(sys.argv) - 2) + entries
open(".git/index", "wb").write(made + hashlib.sha1(made).digest())
"""
ADD = "H=$(printf '#!/bin/sh\ntouch '$OUT'/ran\n' | git hash-object -w --stdin); python3 -c \"$RAW\" $H "
COMMIT = "GIT_EDITOR=true git commit -qam mine"
REBASE = ("for i in 1 2 3; do echo $i > n$i; git add n$i; git commit -qm $i; done; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2")
AM = ("git checkout -q -b side; echo side > tracked; git commit -qam side; git format-patch -1 --stdout > p.mbox; git checkout -q main; echo main > tracked; "
      "git commit -qam main; git am -q p.mbox")
CONFLICT = f"H={'1' * 40}; mkdir -p .git/rr-cache/$H; echo > .git/rr-cache/$H/preimage; printf \"$H\\t$OUT/precious/x\\0\" > .git/MERGE_RR; echo two > tracked"
# How a person begins, what an agent's commands do, what the person does then: `outside` stays as it is, and nobody reads it.
FOLLOWED = {
    "an index with a hook": ("", [ADD + ".git/hooks/post-checkout ../outside/written"], "git checkout -q .; git checkout -q -b another"),
    "an index that is read": ("", [ADD + "../outside/precious/x"], "git add -u"),
    "an index of a name that folds": ("", [ADD + ".GIT/hooks/post-checkout ../outside/written"], "git -c core.protectNTFS=false checkout -q ."),
    "a part of an index": ("echo x > abcdefghijkl; git add abcdefghijkl; git commit -qm more", [
        "git update-index --split-index", "cd .git; chmod u+w shared*; python3 -c \"import glob; p = glob.glob('shared*')[0]; b = open(p, 'rb').read(); "
        "open(p, 'wb').write(b.replace(b'abcdefghijkl', b'../outside/w'))\""], "git checkout-index -f -a"),
    "a remote of old": ("git init -q ../outside/private; cd ../outside/private; echo secret > s; git add s; git commit -qm s",
                        ["mkdir -p .git/remotes; printf \"URL: $OUT/private\\nPull: main:got\\n\" > .git/remotes/origin"], "git fetch -q origin; git checkout -qf got"),
    "a conflict": ("", [CONFLICT], COMMIT),
    "a link for a message": ("", ["ln -sf $OUT/precious/x .git/COMMIT_EDITMSG; echo agent > .git/MERGE_MSG; echo two > tracked"], COMMIT),
    "a link for a log": ("", ["ln -sf $OUT/precious/x .git/logs/HEAD"], "git checkout -q -b mine"),
    "a link for a log of what is locked": ("", ["git checkout -q -b mine; ln -sf $OUT/precious/x .git/logs/refs/heads/mine; echo two > tracked; chmod 311 .git"], COMMIT),
    "a link of a long name for a log": ("", ["B=$(printf 'b%.0s' $(seq 245)); git checkout -q -b $B; ln -sf $OUT/precious/x .git/logs/refs/heads/$B; echo two > tracked"], COMMIT),
    "a reference of a long name": ("", ["B=$(printf 'b%.0s' $(seq 245)); git checkout -q -b $B; echo 'ref: refs/heads/../../../../outside/written' > .git/refs/heads/$B"], COMMIT),
    "a link for a directory of logs": ("", ["rm -r .git/logs; ln -s $OUT/precious .git/logs"], "git checkout -q -b mine"),
    "a link for a worktree": ("", ["mkdir -p .git/worktrees; ln -s $OUT/precious .git/worktrees/x"], "git gc -q"),
    "a link for a rebase": ("", ["ln -s $OUT/precious .git/rebase-merge"], "git rebase --quit; git rebase --abort"),
    "a link for picks": ("", ["ln -s $OUT/precious .git/sequencer"], "git cherry-pick --quit"),
    "links in two commands": ("", ["mkdir -p links/deep; ln -s $OUT/precious/x links/deep/HEAD", "rm -r .git/logs; mv links/deep .git/logs"], "git checkout -q -b mine"),
    "a link for an index": ("", ["rm .git/index; ln -s $OUT/written .git/index"], "git add tracked"),
    "a repository's objects": ("cd ../outside/precious; git init -q; echo secret > s; git add s; git commit -qm s",
                               ["echo $OUT/precious/.git/objects > .git/objects/info/alternates; H=$(cat $OUT/precious/.git/refs/heads/main); "
                                "echo $H > .git/refs/heads/feature; chmod 555 .git/objects/info"], "git merge -q --allow-unrelated-histories -m m feature"),
    "options of am": (AM, ["cd .git/rebase-apply; printf \" '--build-fake-ancestor=$OUT/written'\" > apply-opt; cp 0001 0002; echo 2 > last"], "git am --skip"),
    "steps by a link": (REBASE, ["echo \"exec touch $OUT/written\" > plan", "ln -sf ../../plan .git/rebase-merge/git-rebase-todo"],
                        "GIT_EDITOR=true git rebase --continue"),
    "steps in a directory that is moved": (REBASE, ["cp -r .git/rebase-merge .git/plan; echo \"exec touch $OUT/written\" >> .git/plan/git-rebase-todo",
                                                    "cd .git; mv rebase-merge old; mv plan rebase-merge"], "GIT_EDITOR=true git rebase --continue"),
    "a number for a prompt": ("", ["mkdir .git/rebase-merge; echo '$(touch '$OUT'/written)' > .git/rebase-merge/msgnum; echo 2 > .git/rebase-merge/end; "
                                   "echo refs/heads/main > .git/rebase-merge/head-name"],
                              "bash -c '. /usr/lib/git-core/git-sh-prompt; PS1=; __git_ps1 a b; eval \"echo \\\"$PS1\\\"\"'"),
    "a worktree that is a link": ("", ["git init -q sub; cd sub; mkdir wt; git config core.worktree ../wt; cd wt; mkdir precious; echo agent > precious/x; "
                                       "git --git-dir=../.git add -A; git --git-dir=../.git -c user.name=a -c user.email=a commit -qm a",
                                       "rm -r sub/wt; ln -s $OUT sub/wt"], "cd sub; git stash -q"),
}
# Of no object: git looks for the packs that it names when it removes what nobody needs.
NAMED_PACKS = r"""
import hashlib, struct, sys
names = sys.argv[1].encode() + b"\0"
names += b"\0" * (-len(names) % 4)
chunks = [(b"PNAM", names), (b"OIDF", b"\0" * 1024), (b"OIDL", b""), (b"OOFF", b"")]
head, at = b"MIDX" + bytes([1, 1, len(chunks), 0]) + struct.pack(">I", 1), 12 + 12 * (len(chunks) + 1)
for name, content in chunks + [(b"\0\0\0\0", b"")]:
    head += name + struct.pack(">Q", at)
    at += len(content)
made = head + b"".join(content for _, content in chunks)
open(".git/objects/pack/multi-pack-index", "wb").write(made + hashlib.sha1(made).digest())
"""
HOOK = "printf '#!/bin/sh\n:\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"
SECRET = "cd $OUT/precious; git init -q; echo secret > s; git add s; git commit -qm s"
BRANCH = "; echo $(cat $OUT/precious/.git/refs/heads/main) > .git/refs/heads/feature"
MERGE = "git merge -q --allow-unrelated-histories -m m feature"
UP = "ref: refs/heads/../../../../outside"
SUBMODULE = ("mkdir s; echo agent > s/x; git init -q dep; git -C dep --work-tree=../s add x; agent -C dep commit -qm a; mkdir -p .git/modules; cp -r dep/.git .git/modules/sub; "
             "mkdir sub; echo 'gitdir: ../.git/modules/sub' > sub/.git; git config -f .git/modules/sub/config core.worktree ../../../")
FOLLOWED |= {
    "a reference to a hook": (HOOK, ["git -c user.name=a -c user.email=a commit -q --allow-empty -m \"x; touch $OUT/written #\"; "
                                     "echo 'ref: refs/heads/../../../hooks/post-checkout' > .git/refs/stash"], "echo two > tracked; git stash; git checkout -q -b new"),
    "a reference outside": ("", [f"echo '{UP}/written' > .git/HEAD"], COMMIT),
    "a reference beside HEAD": ("", [f"echo '{UP}/written' > .git/ORIG_HEAD"], "git reset -q --hard"),
    "a strategy that is a command": (
        "for i in 1 2 3 4; do echo $i > n$i; git add n$i; git commit -qm $i; done; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~3; git commit -q --amend -m changed",
        ["N=$(sed -n 's/^pick \\([0-9a-f]*\\).*/\\1/p' .git/rebase-merge/git-rebase-todo | head -1); N=$(git rev-parse $N); B=$(git rev-parse $N^); H=$(git rev-parse HEAD); "
         "ln -s $OUT/precious/x $B; ln -s $OUT/precious/x $H; echo evil > $N; echo file > .git/rebase-merge/strategy; echo $B $H $N | tr ' ' '\\n' >> .git/info/exclude"],
        "git rebase --continue"),
    "references that are moved there": ("", [f"mkdir -p .git/q/heads; echo '{UP}/written' > .git/q/stash; git pack-refs --all; sleep 0.1", "cd .git; mv refs old; mv q refs; cp -r old/. refs"],
                                        "echo two > tracked; git stash"),
    "a worktree without a HEAD": ("", ["mkdir -p .git/worktrees/w; echo $OUT/precious/.git > .git/worktrees/w/gitdir"], "git worktree repair"),
    "a reference behind many blanks": ("git checkout -q -b m", ["python3 -c \"open('.git/refs/heads/m', 'w').write('ref:' + ' ' * 300000 + 'refs/heads/../../../../outside/written\\n')\""], COMMIT),
    "a reference of a worktree": ("git worktree add -q wt 2>/dev/null", ["echo 'ref: refs/heads/../../../../outside/written' > .git/worktrees/wt/HEAD"], "cd wt; " + COMMIT),
    "a reference of another repository": (SECRET, [f"echo '{UP}/precious/.git/refs/heads/main' > .git/refs/tags/t"], "git update-ref refs/tags/t HEAD"),
    "packs that are named": ("git init -q $OUT/p; cd $OUT/p; git commit -q --allow-empty -m s; git repack -q -a -d; for i in idx pack; do cp .git/objects/pack/*.$i ../known.$i; done",
                             ['python3 -c "$PACKS" ../../../../outside/known.idx'], "git multi-pack-index expire"),
    "the place of a worktree": ("", ["mkdir -p .git/worktrees/w; cd .git/worktrees/w; echo $OUT/precious/.git > gitdir; echo ../.. > commondir; echo 'ref: refs/heads/main' > HEAD"],
                                "git worktree repair"),
    "objects of objects": (SECRET, ["mkdir -p alt/info alt/pack; echo $OUT/precious/.git/objects > alt/info/alternates; echo $PWD/alt > .git/objects/info/alternates" + BRANCH], MERGE),
    "links among objects": (SECRET, ["mkdir alt; ln -s $OUT/precious/.git/objects/?? alt; echo $PWD/alt > .git/objects/info/alternates" + BRANCH], MERGE),
    "objects that become a link": (SECRET, ["git init -q alt; echo $PWD/alt/.git/objects > .git/objects/info/alternates", "rm -rf alt/.git; ln -s $OUT/precious/.git alt/.git" + BRANCH], MERGE),
    "a conflict behind a link": ("", ["ln -s $OUT ln; " + CONFLICT.replace("$OUT/precious", "ln/precious")], COMMIT),
    "a conflict, and a link later": ("", ["mkdir -p d/precious; echo > d/precious/x; " + CONFLICT.replace("$OUT/precious", "d/precious"), "rm -r d; ln -s $OUT d"], COMMIT),
    "a link for notes": ("", ["H=$(git rev-parse HEAD); T=$(git -c user.name=a -c user.email=a commit-tree -m n $(git mktree </dev/null)); git update-ref refs/notes/commits $T; "
                              "echo $T > .git/NOTES_MERGE_PARTIAL; echo 'ref: refs/notes/commits' > .git/NOTES_MERGE_REF; mkdir .git/NOTES_MERGE_WORKTREE; "
                              "ln -s $OUT/precious/x .git/NOTES_MERGE_WORKTREE/$H"], "git notes merge --commit"),
    "a submodule's worktree that is moved": ("", [f"{MAKE} mkdir -p a/b a/outside; git init -q a/b/r; cd a/b/r; {SUBMODULE}../../outside", "mv a/b/r r"], "cd r/sub; git stash"),
    "a submodule's worktree behind a link that is moved": ("", [f"{MAKE} mkdir lk lk/dep q; ln -s $OUT q/dep; {SUBMODULE}lk/dep; sleep 0.1", "mv lk l2; mv q lk"], "cd sub; git stash"),
    "a submodule's worktree that becomes a link": ("", [f"{MAKE} mkdir ln; {SUBMODULE}ln", "rm -r ln; ln -s $OUT ln"], "cd sub; git stash"),
}
# What a person makes a repository of.
PREPARED = ("mkdir -p {0}/hooks; printf \"#!/bin/sh\\ntouch $OUT/written\\n\" > {0}/hooks/post-checkout; chmod +x {0}/hooks/*; "
            "printf \"[core]\\n\\tfsmonitor = \\\"touch $OUT/written\\\"\\n\" > {0}/config; ")
INIT = "git init -q d; cd d; touch f; git add f; git commit -qm f; git checkout -q -b new"
FOLLOWED |= {
    "a directory before git init": ("", [PREPARED.format("d/.git")], INIT),
    "one of another name before git init": ("", [PREPARED.format("d/p"), "mv d/p d/.git"], INIT),
    "a link before git init": ("", [PREPARED.format("p") + "mkdir d; ln -s ../p d/.git"], INIT),
    "links before git init": ("", [PREPARED.format("p") + "mkdir -p d/.git; ln -s ../../p/hooks ../../p/config d/.git"], INIT),
    "a bundle that becomes a link": (SECRET, ["git bundle create -q b main; git clone -q b c", "rm b; ln -s $OUT/precious/.git b"],
                                     "cd c; git fetch -q; git checkout -qf origin/main; cp s .."),
}
TABLES = "git init -q --ref-format=reftable"
# Git 2.45 and later.
FOLLOWED_TABLES = ("rm -r .git; " + TABLES + "; git add -A; git commit -qm first; mkdir $OUT/p; cd $OUT/p; " + TABLES + "; git commit -q --allow-empty -m s; cp .git/reftable/*.ref ../known.ref",
                   ["echo ../../../outside/known.ref >> .git/reftable/tables.list"], "git pack-refs")
HERE = "; echo $(cat h) > .git/refs/heads/feature"
# The same with moves, which file tools make.
MOVED = {
    "a worktree": ("", ["git worktree add -q wt 2>/dev/null; ln -s $OUT/precious ln", ("wt", "other"), ("ln", "wt")], "git worktree repair"),
    "a worktree in a directory": ("", ["git worktree add -q d/wt 2>/dev/null; mkdir e; ln -s $OUT/precious e/wt", ("d", "other"), ("e", "d")], "git worktree repair"),
    "a step up from what becomes another directory": ("", [
        "git worktree add -q wt 2>/dev/null; mkdir -p a/b outside/precious; ln -s a/b l; touch outside/precious/.git; echo $PWD/l/../../outside/precious/.git > .git/worktrees/wt/gitdir",
        ("l", "other"), ("a/b", "l")], "git worktree repair"),
    "objects": (SECRET + "; git rev-parse HEAD > $OLDPWD/h", [
        "git init -q alt; ln -s $OUT/precious ln; echo $PWD/alt/.git/objects > .git/objects/info/alternates" + HERE, ("alt", "other"), ("ln", "alt")], MERGE),
    "a conflict": ("", ["ln -s $OUT ln; mkdir -p d/precious; echo > d/precious/x; " + CONFLICT.replace("$OUT/precious", "d/precious"), ("d", "other"), ("ln", "d")], COMMIT),
    "a submodule's worktree": ("", [f"{MAKE} mkdir wt; ln -s $OUT ln; {SUBMODULE}wt", ("wt", "other"), ("ln", "wt")], "cd sub; git stash"),
}
PERSONS = ["status", "diff", "log -p -1", "checkout -q -b mine", "stash", "commit -qam mine", "checkout -qf main", "checkout -qf later", "status"]


# What a repository of the agent's is set to run for commands that a person gives in it.
IN_IT = {
    "a program for differences": ('git -C sub config diff.external "$CANARY"; echo b > sub/a', "git diff"),
    "a text conversion": ('echo "* diff=x" > sub/.gitattributes; git -C sub config diff.x.textconv "$CANARY; cat"; echo b > sub/a', "git diff"),
    "a driver of merges": ('git -C sub checkout -q -b side; echo s > sub/a; agent -C sub commit -qam s; git -C sub checkout -q -; echo m > sub/a; agent -C sub commit -qam m; '
                           'echo "* merge=x" > sub/.git/info/attributes; git -C sub config merge.x.driver "$CANARY; false"', "git merge side"),
    "an editor": ('git -C sub config core.editor "$CANARY; false"; echo b > sub/a', "env -u GIT_EDITOR EDITOR=true git commit -a"),
    "a filter on the way out": ('git -C sub config filter.x.smudge "$CANARY; cat"; echo "* filter=x" > sub/.git/info/attributes; rm sub/a', "git checkout -q a"),
    "a program that signs": ('git -C sub config gpg.program "sh -c \'$CANARY\'"; git -C sub config commit.gpgSign true; git -C sub config gpg.program "$PWD/sign"; '
                             'printf "#!/bin/sh\n$CANARY" > sign; chmod +x sign; echo b > sub/a', "git commit -qam b"),
    "a program that connects": ('git -C sub config core.sshCommand "$CANARY; false"; git -C sub remote add origin ssh://127.0.0.1:1/x', "git fetch"),
    "a way to update": ('make dep; git -C sub -c protocol.file.allow=always submodule -q add "$PWD/dep" dep; agent -C sub commit -qm dep; '
                        'git -C sub config submodule.dep.update "!$CANARY; true"; echo c > sub/dep/c; git -C sub/dep add c; agent -C sub/dep commit -qm c',
                        "git submodule update"),
}


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
        (self.base / "home/.gitconfig").write_text("[user]\n\tname = p\n\temail = p@example.org\n[init]\n\tdefaultBranch = main\n[maintenance]\n\tauto = false\n")
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

    def test_what_a_person_does_in_a_repository_of_the_agents(self):
        for name, (prepare, then) in IN_IT.items():
            for confined in False, True:
                with self.subTest(f"{name}, {confined}"):
                    workspace = self.repository(f"{name}-{confined}".replace(" ", "-"))
                    command = [PADDOCK, "exec", "--workspace", str(workspace), "--"] if confined else []
                    told = subprocess.run([*command, "sh", "-c", self.script(f"make sub; {prepare}")], cwd=workspace, env=self.environment,
                                          capture_output=True, text=True)
                    self.canary.unlink(missing_ok=True)
                    self.sh(then, workspace / "sub")
                    self.assertEqual(self.canary.exists(), not confined, told.stderr)

    def test_a_worktree_that_a_person_adds_while_a_process_runs(self):
        workspace = self.repository("adds")
        server = Server(workspace, environment=self.environment)
        process = server.call("startProcess", command="sleep", args=["1000"])["process"]
        self.sh(f"git worktree add -q {self.base / 'added'}", workspace)
        told = server.call("stopProcess", process=process)
        server.close()
        self.assertNotIn("notice", told)
        self.sh("git worktree prune", workspace)
        self.assertIn("added", self.sh("git worktree list", workspace).stdout)

    def state_outside(self):
        return {str(path): path.read_bytes() for path in self.canary.parent.rglob("*") if path.is_file()}

    def followed(self, name, begin, commands, then, confined):
        """What becomes of `outside`: whether a command of the person changes it, or lets its contents into the workspace."""
        shutil.rmtree(self.canary.parent, ignore_errors=True)
        workspace = self.repository(f"{name}-{confined}".replace(" ", "-"))
        (self.canary.parent / "precious/deep").mkdir(parents=True)
        for path in "precious/x", "precious/deep/x":
            (self.canary.parent / path).write_text("precious\n")
        def prepared(script):
            return f"OUT={self.canary.parent}; RAW={shlex.quote(RAW_INDEX)}; PACKS={shlex.quote(NAMED_PACKS)}\n{script}"
        self.sh(prepared(begin), workspace)
        before, told = self.state_outside(), ""
        for script in commands:
            if not isinstance(script, str):
                told += self.move(workspace, *script, confined)
                continue
            command = [PADDOCK, "exec", "--workspace", str(workspace), "--"] if confined else []
            done = subprocess.run([*command, "sh", "-c", prepared(script)], cwd=workspace, env=self.environment, capture_output=True, text=True)
            told += done.stderr
        self.assertEqual(self.state_outside(), before, "a command changed it by itself")
        self.sh(prepared(then), workspace)
        seen = self.sh("cat s .git/rr-cache/*/postimage; git cat-file -p :../outside/precious/x; "
                       "git cat-file -p $(echo precious | git hash-object --stdin)", workspace).stdout
        return self.state_outside() != before or "precious" in seen or "secret" in seen, told

    def git_init_options(self):
        return subprocess.run(["git", "init", "-h"], capture_output=True, text=True).stdout

    def test_what_git_follows(self):
        for name, (begin, commands, then) in [*list(FOLLOWED.items())[::1 if STEP == 1 else 3], ("tables of references", FOLLOWED_TABLES)]:
            with self.subTest(name):
                if begin == FOLLOWED_TABLES[0] and "ref-format" not in self.git_init_options():
                    self.skipTest("this git knows no tables of references")
                self.assertTrue(self.followed(name, begin, commands, then, False)[0], "the control did nothing")
                happened, told = self.followed(name, begin, commands, then, True)
                self.assertFalse(happened, told)
                self.assertIn("made-by-command", told)

    def move(self, workspace, source, destination, confined):
        if not confined:
            (workspace / source).rename(workspace / destination)
            return ""
        server = Server(workspace, "--exec", "off", environment=self.environment)
        told = server.call("moveFile", source=source, destination=destination)
        server.close()
        self.assertNotIn("error", told)
        self.assertNotIn("by the command", told.get("notice", ""))
        return told.get("notice", "")

    def test_what_git_follows_to_where_file_tools_move_a_link(self):
        for name, (begin, steps, then) in MOVED.items():
            with self.subTest(name):
                self.assertTrue(self.followed(name, begin, steps, then, False)[0], "the control did nothing")
                happened, told = self.followed(name, begin, steps, then, True)
                self.assertFalse(happened, told)
                self.assertIn("made-by-command", told)

    def test_what_git_follows_to_where_a_link_comes_back(self):
        """By the agent's tools and by a person's command; a patch moves a link, too."""
        ways = {
            "restore": ["ln -s $OUT/precious wt", "checkpoint", "rm wt; git worktree add -q wt 2>/dev/null", "restore"],
            "undo": ["ln -s $OUT/precious wt", "checkpoint", "rm wt; git worktree add -q wt 2>/dev/null", "undo"],
            "applyChanges": ["git worktree add -q wt 2>/dev/null; ln -s $OUT/precious ln; rm -r wt", "applyChanges"],
            "apply": ["git worktree add -q wt 2>/dev/null; ln -s $OUT/precious ln; rm -r wt", "apply"],
        }
        for name, steps in ways.items():
            with self.subTest(name):
                shutil.rmtree(self.canary.parent, ignore_errors=True)
                workspace = self.repository(f"back-{name}")
                (self.canary.parent / "precious").mkdir(parents=True)
                server = Server(workspace, environment=self.environment)
                calls = {"checkpoint": {"label": "good"}, "restore": {"to": "good", "paths": ["wt"], "force": True},
                         "applyChanges": {"changes": [{"path": "ln", "moveTo": "wt"}]}}
                for step in steps:
                    if step == "undo":
                        undo = [PADDOCK, "undo", "-w", str(workspace), "--force", "--to", "good", "wt"]
                        told = subprocess.run(undo, env=self.environment, capture_output=True, text=True)
                    elif step == "apply":
                        patch = "diff --git a/ln b/wt\nsimilarity index 100%\nrename from ln\nrename to wt\n"
                        told = subprocess.run([PADDOCK, "apply", "-w", str(workspace), "-"], input=patch, env=self.environment,
                                              capture_output=True, text=True)
                    elif step in calls:
                        told = server.call(step, **calls[step])
                    else:
                        told = server.run(self.script(f"OUT={self.canary.parent}; {step}"))
                server.close()
                self.assertTrue((workspace / "wt").is_symlink(), told)
                self.assertIn("made-by-command", str(told))
                self.sh("git worktree repair", workspace)
                self.assertEqual(self.state_outside(), {})

    def test_a_conflict_in_what_is_hidden(self):
        """What a person's git remembers of it the agent could read."""
        for confined in False, True:
            workspace = self.repository(f"hidden-{confined}")
            (workspace / ".env").write_text("the secret\n")
            server = Server(workspace, *(["--protect", ".env=hidden"] if confined else []), environment=self.environment)
            told = server.run(self.script(CONFLICT.replace("$OUT/precious/x", ".env")))
            self.sh(COMMIT, workspace)
            shown = server.run("cat .git/rr-cache/*/postimage")
            server.close()
            self.assertEqual(("the secret" in str(shown), "made-by-command" in str(told)), (not confined, confined))

    def test_what_git_follows_in_a_repository_outside(self):
        rows = {
            "a log": ("ln -sf $OUT/precious/x $(git rev-parse --absolute-git-dir)/logs/HEAD", COMMIT),
            "a shared log": ("L=$(git rev-parse --git-common-dir)/logs/refs/heads; rm -f $L/wt; ln -s $OUT/precious/x $L/wt", COMMIT),
            "a reference": ("echo \"ref: refs/heads/../../../../outside/written\" > $(git rev-parse --git-common-dir)/refs/stash", "echo three > tracked; git stash"),
            "objects": ("echo $OUT/precious > $(git rev-parse --git-common-dir)/objects/info/alternates", "cp $(git rev-parse --git-common-dir)/objects/info/alternates $OUT"),
        }
        for name, (script, then) in rows.items():
            for confined in False, True:
                with self.subTest(f"{name}, {confined}"):
                    shutil.rmtree(self.canary.parent, ignore_errors=True)
                    repository = self.repository(f"{name}-{confined}".replace(" ", "-"))
                    (self.canary.parent / "precious").mkdir(parents=True)
                    (self.canary.parent / "precious/x").write_text("precious\n")
                    worktree = self.base / f"wt-{name}-{confined}".replace(" ", "-")
                    self.sh(f"git worktree add -q -b wt {worktree}", repository)
                    before = self.state_outside()
                    command = [PADDOCK, "exec", "--git-worktree", "--workspace", str(worktree), "--"] if confined else []
                    script_there = f"OUT={self.canary.parent}; {script}; echo two > tracked"
                    told = subprocess.run([*command, "sh", "-c", script_there], cwd=worktree, env=self.environment, capture_output=True, text=True)
                    self.sh(f"OUT={self.canary.parent}; {then}", worktree)
                    self.assertEqual(self.state_outside() == before, confined, told.stderr)

    def test_a_remote_on_this_machine(self):
        """A person's fetch brings nothing in from where the agent cannot read."""
        refs = "+refs/heads/*:refs/remotes/origin/*"
        own = "make sub; git -C sub remote add origin {0}; "
        rows = {
            "a link in the end": ([f"git config remote.origin.url ./peer; git config remote.origin.fetch '{refs}'", "ln -s {0} peer"], "git fetch -q origin"),
            "a branch that names a link": (["git config branch.main.remote peer; git config branch.main.merge refs/heads/main", "ln -s {0} peer"], "git fetch -q"),
            "its own repository": ([own], "git -C sub fetch -q origin"),
            "its own, a link": (["ln -s {0} peer; make sub; git -C sub remote add origin ../peer"], "git -C sub fetch -q origin"),
            "its own, two steps up": (["mkdir d; make d/sub; ln -s {0}/.. d/x; git -C d/sub remote add origin ../x/private"], "git -C d/sub fetch -q origin"),
            "its own, a home": (["make sub; mkdir sub/~; git init -q sub/~/secret; git -C sub remote add origin '~/secret'"], "git -C sub fetch -q origin"),
            "its own, a decoy of a URL": (["make sub; mkdir -p sub/file:{0}; git init -q sub/file:{0}; git -C sub remote add origin file://{0}"], "git -C sub fetch -q origin"),
            "its own, a decoy beside": (["make sub; mkdir -p d/x/.git; ln -s {0} d/x.git; git -C sub remote add origin ../d/x"], "git -C sub fetch -q origin"),
            "a name that is a path": (["git config 'remote.{0}.url' {0}; git config 'remote.{0}.fetch' '" + refs + "'; git config branch.main.remote {0}; git config branch.main.merge refs/heads/main"],
                                      "git fetch -q"),
            "its own, a URL": (["make sub; git -C sub remote add origin file://{0}"], "git -C sub fetch -q origin"),
            "its own, a repository that becomes a link": (["git init -q peer; make sub; git -C sub remote add origin ../peer",
                                                           "mv peer old || rm -rf peer; ln -sT {0} peer"], "git -C sub fetch -q origin"),
        }
        for name, (steps, then) in rows.items():
            for confined in False, True:
                with self.subTest(f"{name}, {confined}"):
                    shutil.rmtree(self.canary.parent, ignore_errors=True)
                    workspace = self.repository(f"{name}-{confined}".replace(" ", "-").replace(",", ""))
                    private = self.canary.parent / "private"
                    self.sh(f"ln -sfn {private} $HOME/secret; git init -q {private}; cd {private}; echo the secret > s; git add s; git commit -qm s", workspace)
                    command = [PADDOCK, "exec", "--workspace", str(workspace), "--"] if confined else []
                    for step in steps:
                        told = subprocess.run([*command, "sh", "-c", self.script(step.format(private))], cwd=workspace, env=self.environment,
                                              capture_output=True, text=True)
                    self.sh(then, workspace)
                    objects = "for r in $(find . -type d -name .git); do git --git-dir=$r cat-file --batch-all-objects --batch 2>/dev/null; done | grep -ao 'the secret'"
                    self.assertEqual("the secret" in self.sh(objects, workspace).stdout, not confined, told.stderr)

    def test_an_honest_remote_on_this_machine_stays(self):
        workspace, shared = self.repository("honest-remotes"), self.base / "shared"
        self.sh(f"git init -q {shared}; git -C {shared} commit -q --allow-empty -m s", workspace)
        command = [PADDOCK, "exec", "--workspace", str(workspace), "--read", str(shared), "--"]
        for script in ("make a; git clone -q a b; git init -q --bare c.git; git -C b remote add up ../c.git; git -C b push -q up HEAD:main",
                       f"git clone -q {shared} d; git remote add a ./a; git remote add c ./c.git", "git -C b pull -q; git -C b fetch -q up; git -C d fetch -q; git fetch -q a"):
            told = subprocess.run([*command, "sh", "-ec", self.script(script)], env=self.environment, capture_output=True, text=True)
            self.assertEqual((told.returncode, told.stderr), (0, ""), script)

    def test_no_undo_brings_back_what_git_follows(self):
        """A checkpoint falls into the life of the process that made it."""
        workspace = self.repository("back")
        server = Server(workspace, environment=self.environment)
        process = self.start(server, f"OUT={self.canary.parent}; RAW={shlex.quote(RAW_INDEX)}; ln -s $OUT .git/logs/x; printf 'a\\t../x\\0' > .git/MERGE_RR; "
                                     f"{ADD} ../x; echo 'ref: refs/../hooks/x' > .git/refs/stash; echo ready; read line")
        self.assertEqual(server.call("checkpoint", label="good").get("error"), None)
        self.assertTrue((workspace / ".git/logs/x").is_symlink(), "the control: it was there")
        server.call("stopProcess", process=process)
        server.close()
        for paths in [], [".git/logs/x", ".git/MERGE_RR", ".git/index", ".git/refs/stash"]:
            subprocess.run([PADDOCK, "undo", "-w", str(workspace), "--force", "--to", "good", *paths], env=self.environment, capture_output=True, text=True)
            self.assertFalse((workspace / ".git/logs/x").is_symlink())
            self.assertFalse((workspace / ".git/MERGE_RR").exists())
            self.assertFalse((workspace / ".git/refs/stash").exists())
            self.assertFalse((workspace / ".git/index").exists() and b"../x" in (workspace / ".git/index").read_bytes())

    def test_what_git_follows_is_not_written_by_file_tools(self):
        server = Server(self.repository("tools"), "--exec", "off", environment=self.environment)
        for path in [".git/MERGE_RR", ".git/index", ".git/rebase-apply/apply-opt", ".git/objects/info/alternates", ".git/refs/stash", ".git/refs/heads/x",
                     ".git/ORIG_HEAD", ".git/modules/m/refs/x", ".git/worktrees/w/gitdir", ".git/objects/pack/multi-pack-index", ".git/remotes/x", ".git/branches/x"]:
            self.assertIn("git keeps its own there", server.call("writeTextFile", path=path, text="x\n")["message"])
        server.close()

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
                self.assertIn("leads a person's git to a program", told.stderr)
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
                        self.assertIn("leads a person's git to a program", str(told))
                    self.canary.unlink(missing_ok=True)
                    done = self.sh(f"echo n > n; git add n; GIT_EDITOR=true git {verb} --continue", place)
                    self.assertEqual(self.canary.exists(), is_outside, (told, done))
                    self.canary.unlink(missing_ok=True)

    def test_a_rebase_of_an_agent_in_a_worktree_goes_on(self):
        main = self.repository("worktree")
        place = main.parent / "agents-tree"
        self.sh(f"git worktree add -q -b theirs {place}; mkdir -p .git/reftable", main)
        server = Server(place, "--git-worktree", environment=self.environment)
        scripts = [f"touch {main}/.git/reftable/written", "for i in 1 2; do echo $i > n; git add n; agent commit -qm $i; done; git checkout -q -b side HEAD~1; echo s > n; git add n; "
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

    def test_honest_work_in_a_persons_repository_stays_as_it_is(self):
        """Each form of an index that git writes, a conflict that it remembers, patches that stop."""
        agent = "git -c user.name=a -c user.email=a@example.org"
        fork = f"git checkout -q -b side; echo s > tracked; {agent} commit -qam s; git checkout -q main; echo m > tracked; {agent} commit -qam m"
        rows = {
            "version 4": "git update-index --index-version 4; mkdir -p d/e; touch d/e/f d/e/ff; git add d",
            "split": "touch x; git add x; git update-index --split-index; touch y; git add y; rm x; git rm -q --cached x",
            "untracked and sizes": "git update-index --untracked-cache; git update-index --fsmonitor; touch x; git status",
            "in blocks": "mkdir m; cd m; seq 21000 | xargs touch; git -c index.threads=2 add .; cd ..; git -c index.threads=2 status -s | wc -l",
            "in blocks, version 4": "mkdir m; cd m; seq 21000 | xargs touch; git -c index.threads=2 -c index.version=4 add .",
            "sparse": f"git init -q other; cd other; mkdir d; touch d/f; git add d; {agent} commit -qm d; git sparse-checkout set --cone --sparse-index x",
            "a conflict": f"mkdir .git/rr-cache; {fork}; {agent} merge side; test -s .git/MERGE_RR",
            "a rebase": f"{fork}; {agent} rebase side; test -d .git/rebase-merge",
            "patches": f"{fork}; git format-patch -q -1 --stdout side > p; {agent} am -3 --whitespace=fix --ignore-whitespace p; test -d .git/rebase-apply",
            "a branch of a link": "git -c core.preferSymlinkRefs=true checkout -q -b linked; test -L .git/HEAD",
            "a worktree of a repository with tables": "git worktree add -q wt; echo 'ref: refs/heads/.invalid' > .git/worktrees/wt/HEAD",
            "a copy that shares": "git clone -q --shared . copy; test -s copy/.git/objects/info/alternates",
            "sha256": f"git init -q --object-format=sha256 other; cd other; touch f; git add f; {agent} commit -qm f",
        }
        for name, script in rows.items():
            with self.subTest(name):
                workspace = self.repository(name.replace(" ", "-"))
                self.sh("git rm -q --cached tracked; git add tracked", workspace)
                done = subprocess.run([PADDOCK, "exec", "--workspace", str(workspace), "--", "sh", "-c", script], env=self.environment, capture_output=True, text=True)
                self.assertNotIn("made-by-command", done.stderr)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(self.sh("git status", workspace).returncode, 0)

    def test_honest_work_in_several_commands(self):
        """Of one server: to the next one a worktree is somebody's, and stays in its place."""
        agent = "git -c user.name=a -c user.email=a@example.org"
        rows = {
            "a worktree": ["git worktree add -q wt", f"cd wt; touch n; git add n; {agent} commit -qm n", "git worktree move wt w2",
                           "git worktree remove w2; test ! -e w2 -a ! -e .git/worktrees"],
            "a conflict that a worktree remembers": [
                f"git worktree add -q -b side wt; echo m > tracked; {agent} commit -qam m; cd wt; echo s > tracked; {agent} commit -qam s; ! {agent} merge main; "
                "test -s $(git rev-parse --git-path MERGE_RR)",
                f"cd wt; git rerere diff; echo both > tracked; {agent} commit -qam both; {agent} reset -q --hard HEAD^; ! {agent} merge main; grep -x both tracked"],
        }
        for name, scripts in rows.items():
            with self.subTest(name):
                workspace = self.repository(name.replace(" ", "-"))
                self.sh("git config rerere.enabled true", workspace)
                with contextlib.closing(Server(workspace, environment=self.environment)) as server:
                    for script in scripts:
                        done = server.run(f"set -e; {script}")
                        self.assertNotIn("error", done)
                        self.assertNotIn("made-by-command", str(done))

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

    def test_among_the_shared_objects_of_a_worktree(self):
        for name, place in {"packs": "pack/x", "fanned out": "ab/x", "bare": "pack/x"}.items():
            for confined in False, True:
                with self.subTest(f"{name}, {confined}"):
                    main = self.repository(f"shared-{name}-{confined}".replace(" ", "-"))
                    worktree = self.base / f"{main.name}-tree"
                    self.sh(f"touch old/a; git add -A; git commit -qm old; git worktree add -q -b wt {worktree}", main)
                    init = 'git init -q "$D"; G="$D/.git"; W="$D"' if name != "bare" else 'git init -q --bare "$D"; git -C "$D" config core.bare false; G="$D"; W="$PWD/tree"; git -C "$D" config core.worktree "$W"; mkdir tree'
                    script = self.script(f'D={main}/.git/objects/{place}; mkdir -p "${{D%/*}}"; {init}; git --git-dir="$G" config core.fsmonitor "$CANARY"; '
                                         'touch "$W/a"; git --git-dir="$G" --work-tree="$W" -c core.fsmonitor= add a; rm -rf old; ln -s "$D" old')
                    command = [PADDOCK, "exec", "--git-worktree", "--workspace", str(worktree), "--"] if confined else []
                    told = subprocess.run([*command, "sh", "-c", script], cwd=worktree, env=self.environment, capture_output=True, text=True)
                    self.canary.unlink(missing_ok=True)
                    self.sh("git status; git diff; git add -A", worktree / "old")
                    self.assertEqual(self.canary.exists(), not confined, told.stderr)
                    self.assertEqual("made-by-command" in told.stderr, confined, told.stderr)

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

    def test_a_server_that_is_killed_with_a_repository_outside(self):
        """The next server is started without the option, and looks there all the same."""
        (self.canary.parent / "precious").mkdir(parents=True)
        for looks in False, True:
            with self.subTest(looks):
                (self.canary.parent / "precious/x").write_text("precious\n")
                repository = self.repository(f"killed-{looks}")
                worktree = self.base / f"wt \"{looks}\""
                self.sh(f"git worktree add -q -b wt '{worktree}'", repository)
                server = Server(worktree, "--git-worktree", environment=self.environment)
                self.start(server, f"ln -sf {self.canary.parent}/precious/x $(git rev-parse --absolute-git-dir)/logs/HEAD; echo ready; read line")
                server.process.kill()
                server.process.wait()
                if looks:
                    Server(worktree, environment=self.environment).close()
                self.sh(f"echo two > tracked; {COMMIT}", worktree)
                self.assertEqual((self.canary.parent / "precious/x").read_text() == "precious\n", looks)

    def test_two_servers(self):
        workspace = self.repository("two")
        one, other = Server(workspace, environment=self.environment), Server(workspace, environment=self.environment)
        second = self.start(other, 'echo ready; until [ -e go ]; do sleep 0.1; done; '
                                   'git -C sub config core.fsmonitor "$CANARY"; git -C sub config core.fsmonitor; echo written; read line')
        # Later: what was there when the second one began is protected from it, and again once the first one's end replaced it.
        first = self.start(one, 'make sub; git -C sub config core.fsmonitor "$CANARY"; gitlink sub; echo ready; read line')
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
