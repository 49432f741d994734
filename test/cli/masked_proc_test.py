#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands where parts of /proc are covered, as podman and Docker do: the kernel then makes no procfs, so a command sees
what /proc says of the machine, and no process."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/dev"))
sys.dont_write_bytecode = True
from kernels_inside import WORK  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
# Root covers what a container covers, and an ordinary user starts the program behind it.
MASKED = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /proc/acpi && "
          'exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"', "sh"]


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **options)


class MaskedProc(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or run(*MASKED, "unshare", "-Urm", "true").returncode != 0:
            self.skipTest("root, and user namespaces, are needed to imitate a container")
        # The control: this is a place where no procfs can be made.
        self.assertNotEqual(0, run(*MASKED, "unshare", "-Urpmf", "mount", "-t", "proc", "proc", "/proc").returncode)
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o777)
        self.environment = os.environ | {"HOME": self.folder + "/home", "XDG_STATE_HOME": self.folder + "/state"}
        os.mkdir(self.folder + "/workspace")
        os.chmod(self.folder + "/workspace", 0o777)

    def inside(self, script, *options):
        return run(*MASKED, PADDOCK, "exec", *options, "--", "sh", "-c", script, cwd=self.folder + "/workspace", env=self.environment)

    def test_ordinary_work_is_done(self):
        for name, command in WORK:
            with self.subTest(name):
                done = self.inside(command)
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_no_process_is_seen(self):
        names = self.inside("ls /proc").stdout.split()
        self.assertIn("meminfo", names)
        self.assertEqual([], [name for name in names if name.isdigit() or name in ("self", "thread-self", "net", "mounts")])
        self.assertRegex(self.inside("cat /proc/uptime").stdout, r"^[0-9.]+ ")
        # The control: without the fence they are there.
        self.assertIn("self", self.inside("ls /proc", "--host").stdout.split())

    def test_what_covers_the_processes_stays(self):
        for way in ["umount /proc", "umount -l /proc", "mount -t proc proc /proc", "unshare -Urm umount /proc", "mkdir x; mount --bind /proc x",
                    "unshare -Urpmf mount -t proc proc /proc", "echo 1 >/proc/sys/kernel/hostname", "touch /proc/x", "mv /proc/stat /proc/x"]:
            with self.subTest(way):
                done = self.inside(f"{way}; echo ended with $?; ls -d /proc/self /proc/1")
                self.assertIn("ended with", done.stdout, done)
                self.assertNotIn("ended with 0", done.stdout, done)
                self.assertNotIn("/proc/", done.stdout.partition("ended with")[2], done)

    def test_the_reports_say_that_all_holds(self):
        done = run(*MASKED, PADDOCK, "doctor", "--json", cwd=self.folder + "/workspace", env=self.environment)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        layers = {row["layer"]: row for row in json.loads(done.stdout)["confinement"]}
        self.assertEqual({}, {name: row.get("missing") for name, row in layers.items() if not row["applied"]})
        self.assertIn("mount namespace", layers["file_system"]["mechanism"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
