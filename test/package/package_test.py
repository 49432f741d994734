#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tools/dev/package has built, used as the people do who get it: the static programs in a directory with nothing else
beneath their feet, the bundle unpacked by a host, the Debian packages on a system that never saw a compiler.

usage: tools/dev/package && test/package/package_test.py [unittest arguments]     as root, for the chroots
"""
import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = TOP / "build-package"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
# DEBEMAIL says who builds the packages; without it nobody can be written to.
LINTIAN_ACCEPTED = ["bogus-mail-host", "bogus-mail-host-in-debian-changelog"]


def package(pattern):
    """The one package of that name; without it the test is skipped."""
    found = sorted(OUT.glob(pattern))
    if len(found) != 1:
        raise unittest.SkipTest(f"build-package/ has {len(found)} packages {pattern}; run tools/dev/package")
    return found[0]


def run(*command, check=True, **options):
    options = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "text": True, "errors": "replace", "timeout": 900} | options
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=False, **options)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done


def in_chroot(root, *command):
    """A command that runs in `root` without other rights: chroot for root, in a user namespace for others."""
    return [*([] if os.geteuid() == 0 else ["unshare", "--map-root-user"]), "chroot", str(root), *command]


@functools.cache
def can_chroot():
    with tempfile.TemporaryDirectory() as scratch: # no program is there: 127, from chroot itself; refused: 125
        return run(*in_chroot(scratch, "/nothing"), check=False).returncode == 127


def needs_chroot(test):
    return unittest.skipUnless(can_chroot(), "this user may not chroot")(test)


def answers(command, *requests):
    """The results, or errors, of JSON-RPC requests (method, parameters) to a server on standard input and output."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": parameters | {"_meta": MODERN}})
             for at, (method, parameters) in enumerate(requests)]
    done = subprocess.run([str(word) for word in command], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise AssertionError(done)
    by_id = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    return [by_id[at].get("result", by_id[at].get("error")) for at in range(len(requests))]


def said(result):
    """The object that a tool's result or failure is."""
    return json.loads(result["content"][0]["text"])


def call(name, **arguments):
    return "tools/call", {"name": name, "arguments": arguments}


class Static(unittest.TestCase):
    def setUp(self):
        archive = package("paddock-*-linux-*.tar.gz")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        with tarfile.open(archive) as tar:
            self.members = tar.getmembers()
            tar.extractall(self.root)
        self.folder = next(self.root.iterdir())

    def test_the_archive(self):
        names = sorted(member.name.split("/", 1)[1] for member in self.members if member.isfile())
        pages = [path.relative_to(TOP).as_posix() for path in (TOP / "docs").iterdir() if path.suffix != ".build"]
        self.assertEqual(names, sorted(["LICENSE", "NOTICES", "README.md", "paddock-exec-helper", "paddock-mcp", *pages]))
        for member in self.members:
            self.assertEqual((member.uid, member.gid), (0, 0))
            is_program = pathlib.Path(member.name).name.startswith("paddock-") or member.isdir()
            self.assertEqual(member.mode, 0o755 if is_program else 0o644, member.name)

    def test_the_programs_need_no_library(self):
        for name in ("paddock-mcp", "paddock-exec-helper"):
            self.assertNotRegex(run("readelf", "--wide", "--program-headers", "--dynamic", self.folder / name).stdout, r"INTERP|NEEDED")
        self.assertFalse(str(TOP).encode() in (self.folder / "paddock-mcp").read_bytes(), "the path of the build is in the program")

    @needs_chroot
    def test_in_an_empty_root(self):
        """Nothing but the programs and a workspace: no /etc, no /proc, no locale, no user names."""
        empty = self.root / "empty"
        (empty / "workspace/notes").mkdir(parents=True)
        for name in ("paddock-mcp", "paddock-exec-helper"):
            shutil.copy2(self.folder / name, empty)
        (empty / "workspace/a.txt").write_text("one\n")
        os.chown(empty / "workspace/a.txt", *((12345, 12345) if os.geteuid() == 0 else (-1, -1))) # a user without a name
        listed, written, read, outside, info, health, executed = answers(
            in_chroot(empty, "/paddock-mcp", "--workspace", "/workspace"), ("tools/list", {}),
            call("writeTextFile", path="notes/b.txt", text="b"), call("readTextFile", path="a.txt"),
            call("readTextFile", path="../paddock-mcp"), call("getFileInfo", path="a.txt"), call("healthCheck"),
            call("exec", command="/workspace/nothing", args=[], env={}, cwd=".", stdout=True, stderr=True))
        self.assertEqual(len(listed["tools"]), 17)
        self.assertFalse(written.get("isError"), written)
        self.assertEqual((empty / "workspace/notes/b.txt").read_text(), "b")
        self.assertEqual(said(read)["content"], "one\n")
        self.assertEqual(said(outside)["error"], "escapes_root")
        self.assertFalse(info.get("isError"), info)
        self.assertEqual(said(health)["status"], "ok")
        self.assertTrue(executed["isError"], executed) # refused, or no such program: an answer

    def test_commands_are_confined(self):
        """On this system as it is, the helper beside the adapter is found and works."""
        workspace = self.root / "workspace"
        workspace.mkdir()
        [done] = answers([self.folder / "paddock-mcp", "--workspace", workspace], call(
            "exec", command="sh", args=["-c", "echo kept >here; echo lost >/usr/lost || echo refused"], env={}, cwd=".", stdout=True, stderr=False))
        if done.get("isError") and said(done)["error"] == "confinement_unavailable":
            self.skipTest(said(done)["message"])
        self.assertEqual(said(done), {"output": "refused\n"})
        self.assertEqual((workspace / "here").read_text(), "kept\n")


class Bundle(unittest.TestCase):
    def test_a_host_installs_and_starts_it(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder, workspace = pathlib.Path(scratch, "bundle"), pathlib.Path(scratch, "workspace")
            workspace.mkdir()
            with zipfile.ZipFile(package("paddock.mcpb")) as bundle:
                for member in bundle.infolist():
                    path = bundle.extract(member, folder)
                    os.chmod(path, member.external_attr >> 16)
            manifest = json.loads((folder / "manifest.json").read_text())
            self.assertEqual(len(manifest["tools"]), 17)
            for named in (manifest["server"]["entry_point"], manifest["icon"]):
                self.assertTrue((folder / named).is_file(), named)
            config = manifest["server"]["mcp_config"]
            command = [word.replace("${__dirname}", str(folder)).replace("${user_config.workspace}", str(workspace))
                       for word in (config["command"], *config["args"])]
            listed, written = answers(command, ("tools/list", {}), call("writeTextFile", path="a", text="b"))
            self.assertEqual([tool["name"] for tool in manifest["tools"]], [tool["name"] for tool in listed["tools"]])
            self.assertFalse(written.get("isError"), written)

    def test_the_official_tool_reads_it(self):
        modules = TOP / "test/client/node_modules"
        node = next(iter(modules.glob("node-linux-*/bin/node")), None)
        cli = modules / "@anthropic-ai/mcpb/dist/cli/cli.js"
        if not node or not cli.exists():
            self.skipTest("run tools/setup test to install the official tools")
        with tempfile.TemporaryDirectory() as scratch:
            run(node, cli, "unpack", package("paddock.mcpb"), scratch)
            run(node, cli, "validate", pathlib.Path(scratch, "manifest.json"))
            self.assertTrue(os.access(pathlib.Path(scratch, "server/paddock-mcp"), os.X_OK))

    def test_the_entry_names_this_bundle(self):
        entry, bundle = package("server.json"), package("paddock.mcpb")
        digest = hashlib.sha256(bundle.read_bytes()).hexdigest()
        self.assertEqual([p["fileSha256"] for p in json.loads(entry.read_text())["packages"]], [digest])


class Debian(unittest.TestCase):
    """Both packages on a minimal system of their own, of this release."""

    @classmethod
    def setUpClass(cls):
        cls.program, cls.development = package("paddock_*.deb"), package("libpaddock-dev_*.deb")

    def contents(self, deb):
        """{path: mode} of the package's files."""
        return {line.split()[5].removeprefix("."): line.split()[0] for line in run("dpkg-deb", "--contents", deb).stdout.splitlines()}

    def test_contents(self):
        program, development = self.contents(self.program), self.contents(self.development)
        for path in ("/usr/bin/paddock", "/usr/bin/paddock-mcp", "/usr/libexec/paddock/paddock-exec-helper"):
            self.assertEqual(program[path], "-rwxr-xr-x", path)
        for path in ("/usr/share/man/man1/paddock.1.gz", "/usr/share/man/man1/paddock-mcp.1.gz", "/usr/share/doc/paddock/copyright",
                     "/usr/share/doc/paddock/README.md", "/usr/share/doc/paddock/docs/confinement.md", "/usr/share/doc/paddock/docs/skills-page.png",
                     "/usr/share/bash-completion/completions/paddock", "/usr/share/zsh/site-functions/_paddock-mcp",
                     "/usr/share/fish/vendor_completions.d/paddock.fish"):
            self.assertEqual(program[path], "-rw-r--r--", path)
        self.assertFalse([path for path in program if path.startswith(("/usr/include", "/usr/lib/"))])
        self.assertFalse([path for path in development if path.startswith(("/usr/bin", "/usr/libexec"))])
        self.assertIn("/usr/include/paddock/mcp/server.hpp", development)
        self.assertIn("/usr/share/man/man3/paddock.3.gz", development)
        for ending in ("/libpaddock.a", "/libpaddock-skill.a", "/libpaddock-mcp.a", "/pkgconfig/paddock.pc", "/cmake/paddock/paddockConfig.cmake"):
            self.assertEqual(sum(path.endswith(ending) for path in development), 1, ending)
        everything = run("dpkg-deb", "--fsys-tarfile", self.program, text=False, errors=None).stdout
        self.assertFalse(str(TOP).encode() in everything, "the path of the build is in the package")

    def test_what_is_loaded_is_installed_too(self):
        for deb in (self.program, self.development):
            depends = run("dpkg-deb", "--field", deb, "Depends").stdout
            self.assertRegex(depends, r"(?:^|, )libcurl\d\w*\b")
            self.assertRegex(depends, r"(?:^|, )libzip\d\w*\b")

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian(self):
        for deb in (self.program, self.development):
            done = run("lintian", "--allow-root", "--fail-on=error,warning", f"--suppress-tags={','.join(LINTIAN_ACCEPTED)}", deb, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("debootstrap"), "needs root and debootstrap")
    def test_a_clean_system(self):
        codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
        sources = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages").stdout.split()
        mirror = next((uri for uri in sources if "security" not in uri), None)
        if not mirror:
            self.skipTest("apt has no package lists here, so the mirror is not known")
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as scratch:
            root = pathlib.Path(scratch, "root")
            made = run("debootstrap", "--variant=minbase", codename, root, mirror, check=False, timeout=1800)
            if made.returncode:
                self.skipTest("debootstrap failed: " + made.stdout[-300:])
            shutil.copy("/etc/resolv.conf", root / "etc")
            self.use(root)

    def use(self, root):
        """Installs, runs and removes the packages in a system below `root`."""
        def inside(*command, user="0", **options):
            """Sees /proc and the sandbox's file systems; its mounts end with it."""
            script = 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/tmp" && chmod 1777 "$0/tmp" && ' \
                     'exec chroot --userspec="$1" "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive ' \
                     'HOME=/tmp "${@:2}"'
            return run("unshare", "--mount", "--pid", "--fork", "bash", "-c", script, root, f"{user}:{user}", *command, **options)

        def files():
            kept = re.compile(r"/(?:proc|sys|dev|tmp|run|var/(?:lib|log|cache))/")
            listed = inside("find", "/", "-xdev", "-not", "-type", "d").stdout.splitlines()
            return {path for path in listed if not kept.match(path)}

        for deb in (self.program, self.development):
            shutil.copy(deb, root / "root")
        inside("apt-get", "-q", "update")
        depends = run("dpkg-deb", "--field", self.program, "Depends").stdout
        inside("apt-get", "-q", "-y", "--no-install-recommends", "install", *re.findall(r"(?:^|, )([a-z0-9.+-]+)", depends))
        before = files()
        inside("apt-get", "-q", "-y", "install", f"/root/{self.program.name}")
        installed = files() - before
        self.assertEqual({path for path in installed if path.startswith("/usr/bin/")}, {"/usr/bin/paddock", "/usr/bin/paddock-mcp"})
        for user in ("0", "65534"): # root, and nobody
            done = inside("paddock", "demo", user=user)
            self.assertIn("nothing is left to do", done.stdout)
            self.assertIn("paddock", inside("paddock-mcp", "--version", user=user).stdout)
        self.assertIn("openat2", inside("paddock", "doctor", check=False).stdout)
        # The dependencies of the libraries can be met; what is built with them is tested elsewhere.
        inside("apt-get", "-q", "--simulate", "install", f"/root/{self.development.name}")
        inside("apt-get", "-q", "-y", "purge", "paddock")
        self.assertEqual(files() ^ before, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
