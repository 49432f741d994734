#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--package-cache: commands install what package managers have fetched before, change nothing of it, and see nothing
else of the home directory."""
import base64
import hashlib
import http.server
import io
import json
import os
import shutil
import tarfile
import threading
import unittest

from operator_paths_test import PADDOCK, SERVER, Conversation, Operator, run

# What a home directory holds: what a command is to see with the option, and what never.
CACHES = [".npm/_cacache/index-v5/x", ".local/share/pnpm/store/v3/x", ".cache/pnpm/metadata/x", ".cache/yarn/v6/x",
          ".yarn/berry/cache/x.zip", ".cache/pip/wheels/x.whl", ".cache/uv/wheels-v5/x",
          ".cargo/registry/cache/x.crate", ".cargo/git/db/x", ".cargo/git/checkouts/x", "go/pkg/mod/cache/download/x.zip",
          ".m2/repository/x.jar", ".gradle/caches/modules-2/files-2.1/x"]
SECRETS = [".npmrc", ".npm/_logs/x", ".cargo/credentials", ".cargo/credentials.toml", ".cargo/config.toml",
           ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".gradle/caches/other/x",
           ".config/pip/pip.conf", ".pip/pip.conf", ".yarnrc", ".yarnrc.yml", ".yarn/berry/x", ".config/pnpm/rc",
           ".netrc", ".config/uv/uv.toml", ".local/share/uv/credentials/x", "go/pkg/mod/cache/vcs/x",
           "go/pkg/mod/private/x.go", ".ssh/id_ed25519", ".cache/other/x", "notes"]
NAMES = "npm, pnpm, yarn, pip, uv, cargo, go, maven, gradle"


class PackageCaches(Operator):
    def setUp(self):
        super().setUp()
        self.needs_confinement()
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o755)

    def put(self, *names):
        for name in names:
            file = self.home / name
            for directory in reversed([each for each in file.parents if each.is_relative_to(self.home)]):
                directory.mkdir(mode=0o755, exist_ok=True)
            file.write_text("as fetched\n")

    def environment(self):
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LC_ALL": "C"}

    def output(self, script, *options):
        done = run(PADDOCK, "exec", "-w", str(self.workspace), *options, "--", "sh", "-c", script,
                   env=self.environment())
        return done.stdout + done.stderr

    def readable(self, *options, names=CACHES + SECRETS):
        return self.output("; ".join(f"test -r ~/{name} && echo {name}" for name in names) + "; true", *options).split()

    def test_a_command_sees_the_caches_and_nothing_else(self):
        self.put(*CACHES, *SECRETS)
        self.assertEqual([], self.readable())  # the control: without the option nothing of them
        self.assertEqual(CACHES, self.readable("--package-cache"))
        self.assertEqual(CACHES + SECRETS, self.readable("--host"))  # the control: they are there

    def test_what_a_command_writes_there_is_its_own(self):
        self.put(*CACHES)
        attack = ("cd ~ && for f in $(find . -type f); do echo poisoned > $f && cat $f; done; "
                  "for f in $(find . -type f); do rm $f; done; mkdir .npm/_cacache/new; "
                  "chmod 777 .m2/repository; touch -d 2001-01-01 .cargo/registry; find . -type f | wc -l")
        told = self.output(attack, "--package-cache")
        if "Read-only" not in told:  # where an overlay can be had
            self.assertEqual("poisoned\n" * len(CACHES) + "0\n", told)
        for name in CACHES:
            self.assertEqual("as fetched\n", (self.home / name).read_text())
        self.assertFalse((self.home / ".npm/_cacache/new").exists())
        self.assertNotEqual(0o777, (self.home / ".m2/repository").stat().st_mode & 0o777)
        self.assertGreater((self.home / ".cargo/registry").stat().st_mtime, 1_100_000_000)
        with Conversation("-w", str(self.workspace), "--package-cache", "--scratch", "session",
                          env=self.environment()) as server:
            server.exec(attack)
            self.assertEqual("as fetched\n", server.exec("cat ~/.cache/uv/wheels-v5/x")["output"])  # another command's
        self.assertIn(NAMES, server.complaints)

    def test_a_link_leads_nowhere(self):
        self.put(*CACHES, "notes")
        (self.home / ".npm/_cacache/notes").symlink_to(self.home / "notes")
        (self.home / ".npm/_cacache/secret").symlink_to(self.outside / "secret")
        shutil.rmtree(self.home / ".cache/uv")
        (self.home / ".cache/uv").symlink_to(self.outside)  # a cache that is something else
        links = [".npm/_cacache/notes", ".npm/_cacache/secret", ".cache/uv/secret"]
        self.assertEqual([], self.readable("--package-cache", names=links))
        self.assertEqual(links, self.readable("--host", names=links))  # the control
        told = json.loads(run(PADDOCK, "doctor", "--json", "-w", str(self.workspace), env=self.environment()).stdout)
        self.assertIn(".cache/uv: is a link", json.dumps(told["packageCaches"]))

    def test_what_was_found_is_told(self):
        self.put(*CACHES)
        with Conversation("-w", str(self.workspace), "--package-cache", env=self.environment()) as server:
            self.assertEqual(NAMES, server.call("healthCheck")["packageCaches"])
            told = server.exec("echo $npm_config_offline $CARGO_NET_OFFLINE $UV_OFFLINE")["output"]
            self.assertEqual("true true 1\n", told)
        with Conversation("-w", str(self.workspace), env=self.environment()) as server:  # the control
            self.assertNotIn("packageCaches", server.call("healthCheck"))
            self.assertEqual("\n", server.exec("echo $npm_config_offline$CARGO_NET_OFFLINE$UV_OFFLINE")["output"])
        self.assertEqual("true true 1\n", self.output("echo $npm_config_offline $CARGO_NET_OFFLINE $UV_OFFLINE"))
        self.assertEqual("\n", self.output("echo $npm_config_offline", "--package-cache", "--network", "all"))
        check = run(SERVER, "--check", "--package-cache", "-w", str(self.workspace), env=self.environment())
        self.assertRegex(check.stdout, f"packages +{NAMES}")
        doctor = run(PADDOCK, "doctor", "-w", str(self.workspace), env=self.environment())
        self.assertRegex(doctor.stdout, rf"(?m)^ +npm +1 place, {self.home}/.npm/_cacache")


class Registry(http.server.BaseHTTPRequestHandler):
    """One package, as npm wants it."""

    def do_GET(self):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, text in {"package.json": '{"name": "hare", "version": "1.2.3"}',
                               "index.js": "module.exports = 'hops'\n"}.items():
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        content = buffer.getvalue()
        if self.path.endswith(".tgz"):
            return self.answer(self.server.package, "application/octet-stream")
        host = f"http://127.0.0.1:{self.server.server_port}"
        self.server.package = content
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        version = {"name": "hare", "version": "1.2.3",
                   "dist": {"tarball": f"{host}/hare/-/hare-1.2.3.tgz", "integrity": integrity}}
        document = {"name": "hare", "dist-tags": {"latest": "1.2.3"}, "versions": {"1.2.3": version}}
        return self.answer(json.dumps(document).encode(), "application/json")

    def answer(self, content, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@unittest.skipUnless(shutil.which("npm", path="/usr/bin:/bin"), "no npm in /usr/bin")
class Npm(PackageCaches):
    test_a_command_sees_the_caches_and_nothing_else = None
    test_what_a_command_writes_there_is_its_own = None
    test_a_link_leads_nowhere = None
    test_what_was_found_is_told = None

    def test_what_was_fetched_outside_is_installed_inside(self):
        registry = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        self.addCleanup(registry.server_close)
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        self.addCleanup(registry.shutdown)
        install = ["npm", "install", "--no-audit", "--no-fund",
                   f"--registry=http://127.0.0.1:{registry.server_port}/", "hare"]
        other = self.folder / "extra"
        fetched = run(*install, cwd=other, env=self.environment())
        self.assertEqual(0, fetched.returncode, fetched.stderr)
        inside = [PADDOCK, "exec", "--timeout", "50", "-w", str(self.workspace)]
        control = run(*inside, "--", *install, "--fetch-retries=0", env=self.environment())
        self.assertNotEqual(0, control.returncode, control.stdout)  # the control: what was fetched is out of sight
        done = run(*inside, "--package-cache", "--", *install, env=self.environment())
        self.assertEqual(0, done.returncode, done.stderr + done.stdout)
        used = run(*inside, "--", "node", "-p", "require('hare')", env=self.environment())
        self.assertEqual("hops\n", used.stdout)


if __name__ == "__main__":
    unittest.main()
