#!/usr/bin/env python3
# SPDX-License-Identifier: MIT

"""Where a library that is loaded when it is needed cannot be: what needs it names the library, its package and what to do,
and all else works."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

PADDOCK = os.environ["PADDOCK"]
SKILL = "---\nname: notes\ndescription: Keeps notes.\n---\n"


def loaded_name(library):
    """The name that the program asks the dynamic linker for; None: it is linked."""
    found = re.search(rb"\blib%b(?:-\w+)?\.so\.\d+" % library.encode(), pathlib.Path(PADDOCK).read_bytes())
    return found and found[0].decode()


class AbsentLibrary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-absent-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        self.top.joinpath("broken").mkdir()
        self.top.joinpath("here").mkdir()

    def run_without(self, library, *words, **given):
        """With a file of that name that is none, where the dynamic linker looks first; None: with all libraries."""
        variables = dict(os.environ)
        if library:
            name = loaded_name(library)
            if not name:
                self.skipTest(f"lib{library} is linked")
            self.top.joinpath("broken", name).touch()
            variables["LD_LIBRARY_PATH"] = str(self.top / "broken")
        return subprocess.run([PADDOCK, *words], env=variables, cwd=self.top / "here", capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, **given)

    def test_an_archive_without_libzip(self):
        with zipfile.ZipFile(self.top / "notes.zip", "w") as archive:
            archive.writestr("notes/SKILL.md", SKILL)
        done = self.run_without("zip", "skills", "import", str(self.top / "notes.zip"))
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"libzip.*cannot be loaded; install it \(Debian: libzip\d\w*\), or import the unpacked folder")
        self.top.joinpath("notes").mkdir()
        self.top.joinpath("notes/SKILL.md").write_text(SKILL)
        done = self.run_without("zip", "skills", "import", str(self.top / "notes"), "--id", "folder")
        self.assertEqual(done.returncode, 0, done)
        done = self.run_without(None, "skills", "import", str(self.top / "notes.zip"))
        self.assertEqual(done.returncode, 0, f"the control, with libzip: {done}")

    def test_a_server_without_libcurl(self):
        # An address that is refused before anything is sent.
        remote = {"type": "mcpSseSkill", "endpoint": "https://127.0.0.1:9/"}
        config = self.top / "experts.json"
        config.write_text(json.dumps({"experts": {"one": {"skills": {"far": remote}}}}))
        done = self.run_without("curl", "experts", "check", "--config", str(config))
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"far: cannot use https://127.0.0.1:9/: libcurl cannot be loaded; install it \(Debian: libcurl\d\)")
        done = self.run_without(None, "experts", "check", "--config", str(config))
        self.assertNotIn("libcurl", done.stderr, "the control, with libcurl")
        self.assertIn("loopback", done.stderr)

    @unittest.skipUnless(shutil.which("dpkg-query"), "no Debian")
    def test_the_package_depends_on_both(self):
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/dev"))
        sys.dont_write_bytecode = True
        from packages import deb
        wanted = [library for library in ("curl", "zip") if loaded_name(library)]
        found = deb.loaded_packages([pathlib.Path(PADDOCK)])
        self.assertEqual([re.match(r"lib([a-z]+)\d", name)[1] for name in found], wanted)


if __name__ == "__main__":
    unittest.main(verbosity=2)
