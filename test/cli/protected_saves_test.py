#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""What a person saves over a protected name while a command runs is protected again, for as long as the command lives.

Each row is a name, a way to save it, and a command that then tries to change or read it, again and again until it is refused.
"""

import ctypes
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import STEP, Server  # noqa: E402

TRIES = 2000
SAVED = "a person's\n"
SCRIPT = r"""
echo begun > begun; read line < saved
n=0
while [ $n -lt {tries} ] && {attempt}; do n=$((n+1)); done 2>/dev/null
echo "got in $n times"
for each in 'rm -f "$0"' 'mv "$0" "$0.x"' 'ln -f plain "$0"' ': > "$0"' 'rm -rf "${{0%/*}}"'; do sh -c "$each" "{name}" 2>/dev/null; done
{attempt} && echo "got in at last"; true
"""
# Says for each number of a save how often it got in before it was refused.
SPIN = r"""
import os
answers = open("saved", "w")
print("begun", file=answers, flush=True)
number, writes = None, 0
while True:
    try:
        now = open(".envrc").readline()
        file = os.open(".envrc", os.O_WRONLY | os.O_APPEND)
        os.write(file, b"evil\n")
        os.close(file)
        writes += 1
    except FileNotFoundError:
        pass
    except OSError:
        if now != number:
            print(writes, file=answers, flush=True)
            number, writes = now, 0
"""
CHANGE = '(echo evil >> "{name}")'
READ = 'grep -q person "{name}"'


def by_rename(place):
    """As editors do."""
    new = place.with_name("new-" + place.name)
    new.write_text(SAVED)
    new.replace(place)


def by_creation(place):
    place.unlink()
    place.write_text(SAVED)


def by_backup(place):
    """As editors do that keep the old one until the new one is written."""
    place.rename(place.with_name(place.name + "~"))
    place.write_text(SAVED)
    place.with_name(place.name + "~").unlink()


def by_git(place):
    subprocess.run(["git", "config", "--file", place, "person.x", "person"], check=True)


def by_exchange(place):
    """By one call, with a file that then has the other name."""
    new = place.with_name("exchanged")
    new.write_text(SAVED)
    done = ctypes.CDLL(None, use_errno=True).renameat2(-100, bytes(new), -100, bytes(place), 2)
    assert done == 0, os.strerror(ctypes.get_errno())


def by_parent(place):
    """Moved away, saved there, and back."""
    away = place.parent.with_name("away")
    place.parent.rename(away)
    by_rename(away / place.name)
    away.rename(place.parent)


def by_new_parent(place):
    old = place.parent.with_name("old")
    shutil.copytree(place.parent, place.parent.with_name("copy"))
    place.parent.rename(old)
    place.parent.with_name("copy").rename(place.parent)
    by_rename(place)


FILES = [".envrc", ".git/config", ".git/hooks/x", ".env", ".vscode/tasks.json", "deep/folder/.env", ".perstack/key", "dots/zshrc"]
HIDDEN = (".env", "key")
IN_FOLDER = [each for each in FILES if each not in (".envrc", ".env")]
ROWS = [*itertools.product(FILES, [by_rename, by_creation, by_backup, by_exchange]), *itertools.product(IN_FOLDER, [by_parent, by_new_parent]),
        (".git/config", by_git)]


class Saves(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-saves-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))

    def begin(self, name):
        workspace = self.folder / name
        subprocess.run(["git", "init", "-q", "-b", "main", workspace], check=True)
        for each in FILES:
            (workspace / each).parent.mkdir(parents=True, exist_ok=True)
            if each != ".git/config":
                (workspace / each).write_text("old\n")
        (workspace / "plain").write_text("old\n")
        (workspace / ".zshrc").symlink_to("dots/zshrc")
        for each in ("begun", "saved"):
            os.mkfifo(workspace / each)
        server = Server(workspace, "--protect", ".env=hidden", XDG_STATE_HOME=str(self.folder / "state"))
        self.addCleanup(server.close)
        if any(not row["applied"] for row in server.call("healthCheck")["confinement"]):
            self.skipTest("this system cannot confine commands")
        return workspace, server

    def attack(self, workspace, server, name, save, as_process):
        """What the command says, and all of what the server answers."""
        attempt = (READ if name.endswith(HIDDEN) else CHANGE).format(name=name)
        script = SCRIPT.format(tries=TRIES, attempt=attempt, name=name)
        person = os.fork()
        if person == 0:
            (workspace / "begun").read_text()
            save(workspace / name)
            (workspace / "saved").write_text("x\n")
            os._exit(0)
        if as_process:
            answer = server.call("startProcess", command="sh", args=["-c", script], waitMs=0)
            made, output = answer["process"], answer["output"]
            while "exitCode" not in answer:
                answer = server.call("readProcess", process=made, waitMs=60000)
                output += answer["output"]
            answer["output"] = output
        else:
            answer = server.call("exec", script=script)
        self.assertEqual(os.waitpid(person, 0)[1], 0)
        return answer["output"], answer

    def test_table(self):
        for number, ((name, save), as_process) in enumerate([*itertools.product(ROWS, [False, True])][::STEP]):
            with self.subTest(name=name, save=save.__name__, as_process=as_process):
                workspace, server = self.begin(str(number))
                told, answer = self.attack(workspace, server, name, save, as_process)
                tries = int(re.search(r"got in (\d+) times", told)[1])
                self.assertLess(tries, TRIES, told)
                self.assertNotIn("at last", told)
                # A repository that comes to a place meanwhile is taken for one of the command's.
                text = "".join(each.read_text() for each in (workspace / name).parent.glob(f"{pathlib.Path(name).name}*") if each.is_file())
                self.assertIn("person", text)
                self.assertEqual(text.count("evil"), 0 if name.endswith(HIDDEN) else tries)
                server.close()

    def test_races(self):
        """Who waits for it gets into a save before it is protected again, and never after that."""
        saves = 200 // STEP
        workspace, server = self.begin("races")
        process = server.call("startProcess", command="python3", args=["-c", SPIN], waitMs=0)["process"]
        got_in = 0
        with (workspace / "saved").open() as answers:
            self.assertEqual([answers.readline(), answers.readline()], ["begun\n", "0\n"])
            for number in range(saves):
                (workspace / "new").write_text(f"{number}\n")
                (workspace / "new").replace(workspace / ".envrc")
                writes = int(answers.readline())  # one of them may be to the old file: its protection goes just before it does
                first, *others = (workspace / ".envrc").read_text().splitlines()
                self.assertEqual((first, set(others) - {"evil"}), (str(number), set()))
                self.assertLessEqual(len(others), writes)
                got_in += bool(others)
        print(f"a process that waits for it got into {got_in} of {saves} saves")
        server.call("stopProcess", process=process)

    def test_new_files_mount_nothing_again(self):
        """However a protected name leads elsewhere, and however often init looks whether it was replaced."""
        many = "count() { wc -l < /proc/self/mountinfo; }; count; n=0; while [ $n -lt 40 ]; do n=$((n+1)); : > new-$n; count > counted; done; count"
        for number, (row, prepare, before) in enumerate([
            ("a link to what this user may not write", "mkdir conf; echo a > conf/envrc; chmod 444 conf/envrc; ln -s conf/envrc .envrc", ""),
            ("a link to what it may write", "mkdir conf; echo a > conf/envrc; ln -s conf/envrc .envrc", ""),
            ("a directory that leads outside, to what the command makes", "mkdir sub; ln -s /tmp/elsewhere sub/.git", "mkdir /tmp/elsewhere; : > /tmp/elsewhere/config; "),
        ]):
            with self.subTest(row):
                workspace, server = self.begin(f"many-{number}")
                (workspace / ".envrc").unlink(missing_ok=True)
                subprocess.run(prepare, shell=True, cwd=workspace, check=True)
                answer = server.call("exec", script=before + many)
                first, last = answer["output"].split()
                self.assertEqual(first, last)
                server.close()

    def test_the_control_is_not_protected(self):
        workspace, server = self.begin("control")
        told, _ = self.attack(workspace, server, "plain", by_rename, False)
        self.assertIn(f"got in {TRIES} times", told)


if __name__ == "__main__":
    if os.geteuid() == 0 and shutil.which("setpriv"):
        subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable, *sys.argv], check=True)
    unittest.main(verbosity=2)
