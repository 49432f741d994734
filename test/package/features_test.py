#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A machine without one of the libraries, or without all of them: the core is built, and the summary says what is missing and what
that costs. With PADDOCK_BUILD=1 the libraries and the adapter are built and tried too.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
OPTIONS = ["--buildtype=plain", "-Ddocs=disabled", "--wrap-mode=nofallback"]
# option: (line of the summary, the library it names)
FEATURES = {
    "yaml": ("full YAML", "libyaml"),
    "history": ("undo", "xxHash"),
    "regex": ("regular expressions", "RE2"),
    "zip": ("zip import", "libzip"),
    "unicode": ("collisions of names", "utf8proc"),
    "http": ("HTTP client", "libcurl"),
    "toml": ("TOML configuration", "toml++"),
    "cli": ("programs", "CLI11"),
    "mcp": ("MCP adapter", "simdjson and libsodium"),
}


class Features(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.build = self.folder / "build"

    def run_quietly(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, env=os.environ | environment)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        return done.stdout

    def summary(self, *options, **environment):
        """{line: text} of what is missing."""
        printed = self.run_quietly("meson", "setup", self.build, TOP, *OPTIONS, *options, **environment)
        lines = [line.split(":", 1) for line in printed[printed.rindex("  Features\n"):].splitlines() if ": NO, " in line]
        missing = {name.strip(): text.strip() for name, text in lines}
        self.assertEqual([missing.pop(name) for name in ("tests", "benchmarks", "fuzzers")], ["NO, disabled"] * 3)
        missing.pop("reference")
        return missing

    def try_it(self, has_adapter=True, has_history=True):
        if not os.environ.get("PADDOCK_BUILD"):
            return
        self.run_quietly("ninja", "-C", self.build, *(["tools/paddock-mcp"] if has_adapter else []))
        if has_adapter:
            tools = self.run_quietly(self.build / "tools/paddock-mcp", "--list-tools", "--workspace", self.folder)
            self.assertEqual(len(tools.splitlines()), 17)
            workspace, stores = self.build / "workspace", self.build / "stores"
            workspace.mkdir()
            stores.mkdir(mode=0o700)
            done = subprocess.run([self.build / "tools/paddock-mcp", "--tools", "coding", "--workspace", workspace, "--history", stores],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode == 0, has_history, done.stderr)
            self.assertEqual("was built without xxHash and keeps no history" in done.stderr, not has_history, done.stderr)
            self.assertEqual(bool(list(stores.iterdir())), has_history)

    def test_one_is_missing(self):
        for option, (line, library) in FEATURES.items():
            with self.subTest(option):
                self.build = self.folder / option
                missing = self.summary(f"-D{option}=disabled")
                self.assertRegex(missing.pop(line), rf"\ANO, needs? {library.replace('+', '[+]')}(?![\w+]).*: ")
                self.assertEqual(set(missing), {"programs"} if option == "mcp" else set())
                self.try_it(option not in ("cli", "mcp"), option != "history")

    def test_all_are_missing(self):
        optional = ("yaml", "history", "zip", "unicode", "http", "toml")
        missing = self.summary(*(f"-D{option}=disabled" for option in optional))
        self.assertEqual(set(missing), {FEATURES[option][0] for option in optional})
        self.try_it(has_history=False)

    def test_a_library_elsewhere(self):
        """Where the dynamic linker does not look by itself: it would not be found when it is needed, so it is linked."""
        described = self.run_quietly("pkg-config", "--variable=includedir", "libzip").strip()
        self.folder.joinpath("libzip.pc").write_text(
            f"libdir={self.folder}\nName: libzip\nDescription: elsewhere\nVersion: 1.9\nLibs: -L{self.folder} -lzip\nCflags: -I{described}\n")
        path = self.run_quietly(os.environ.get("CXX", "c++").split()[-1], "-print-file-name=libzip.so").strip()
        self.folder.joinpath("libzip.so").symlink_to(os.path.realpath(path))
        self.summary(PKG_CONFIG_PATH=str(self.folder))
        how = self.build.joinpath("compile_commands.json").read_text()
        self.assertNotIn("PADDOCK_LIBZIP_LIBRARY", how)
        self.assertIn("PADDOCK_LIBCURL_LIBRARY", how, "the control")
        self.assertIn(f"{self.folder}/libzip.so", self.build.joinpath("build.ninja").read_text())

    def test_the_core_alone(self):
        missing = self.summary(*(f"-D{option}=disabled" for option in FEATURES))
        self.assertEqual(set(missing), {line for line, _ in FEATURES.values()})
        self.try_it(has_adapter=False)

    def test_setup_names_what_it_would_install(self):
        query = self.folder / "dpkg-query"
        query.write_text("#!/bin/sh\necho installed meson\n")
        query.chmod(0o755)
        self.folder.joinpath("apt-get").symlink_to("/bin/false")
        named = self.run_quietly(TOP / "tools/setup", "run", "--list", PATH=f"{self.folder}:{os.environ['PATH']}").split()
        self.assertIn("ninja-build", named)
        self.assertNotIn("meson", named)


if __name__ == "__main__":
    unittest.main(verbosity=2)
