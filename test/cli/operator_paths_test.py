#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the operator decides about commands: paths that options name, what becomes of them later, and the programs
that confine. The agent decides nothing of it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Client, folder_of  # noqa: E402

PADDOCK, SERVER = os.environ["PADDOCK"], os.environ["PADDOCK_MCP"]


def run(*command, **more):
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, **more)


def library_of(program, name):
    """Where the loader finds one of a program's libraries."""
    found = re.search(rf"(?m)^\s*{re.escape(name)} => (\S+)", run("ldd", program).stdout)
    return found and os.path.realpath(found[1])


def loader_of(program):
    return re.search(r"(?m)^\s*(/\S*ld-\S+) \(", run("ldd", program).stdout)[1]


class Conversation(Client):
    """A server that is asked one thing after the other."""

    def __init__(self, *options, **more):
        super().__init__(*options, stderr=subprocess.PIPE, **more)

    def exec(self, script, **env):
        return self.call("exec", command="sh", args=["-c", script], env=env, cwd=".", stdout=True, stderr=True)

    def layer(self, name):
        return next(each for each in self.call("healthCheck")["confinement"] if each["layer"] == name)


class Operator(unittest.TestCase):
    def setUp(self):
        self.folder = folder_of(self)
        self.workspace, self.outside = self.folder / "workspace", self.folder / "outside"
        for directory in [self.workspace, self.outside, self.folder / "extra"]:
            directory.mkdir()
        (self.outside / "secret").write_text("SECRET")

    def needs_confinement(self):
        done = run(PADDOCK, "exec", "-w", str(self.workspace), "--", "true")
        if done.returncode == 125:
            self.skipTest(done.stderr)


class PathOptions(Operator):
    def test_a_path_that_cannot_be_meant_is_refused_at_start(self):
        (self.workspace / "link").symlink_to(self.outside)
        (self.folder / "far").symlink_to(self.workspace / "link")
        programs = os.path.dirname(SERVER)
        cases = [
            ("absent", str(self.folder / "absent"), True, "No such file"),
            ("below a file", str(self.outside / "secret/x"), True, "Not a directory"),
            ("the root directory", "/", True, "everything"),
            ("by a link in the workspace", str(self.workspace / "link"), True, "link in the workspace"),
            ("below such a link", str(self.workspace / "link/secret"), True, "link in the workspace"),
            ("by such a link and up again", str(self.workspace / "link/../outside/secret"), True, "link in the workspace"),
            ("and further up", str(self.workspace / "link/../.." / self.folder.name / "outside"), True,
             "link in the workspace"),
            ("by a link to such a link", str(self.folder / "far"), True, "link in the workspace"),
            ("the programs", programs, False, "confines them"),
            ("one of them", programs + "/paddock-exec-helper", False, "confines them"),
            ("above the programs", os.path.dirname(programs), False, "confines them"),
            ("the libraries", os.path.dirname(library_of(SERVER, "libc.so.6")), False, "confines them"),
            ("the loader", os.path.realpath("/proc/self/root" + loader_of(SERVER)), False, "confines them"),
            ("above the libraries", "/usr", False, "confines them"),
            ("another directory", str(self.outside), True, None),
            ("up from the workspace", str(self.workspace / "../outside"), True, None),
        ]
        for name, path, also_read, word in cases:
            for option in ["write", "read"] if also_read else ["write"]:
                with self.subTest(name, option=option):
                    starts = [run(SERVER, "--list-tools", "-w", str(self.workspace), f"--exec-{option}", path),
                              run(PADDOCK, "exec", "-w", str(self.workspace), f"--{option}", path, "--", "true")]
                    for done, code in zip(starts, [2, 125]):
                        if word is None:
                            self.assertEqual(done.returncode, 0, done)
                            continue
                        self.assertEqual(done.returncode, code, done)
                        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
                        self.assertIn(word, done.stderr)
                        self.assertIn(path, done.stderr)
        # Reading the programs does no harm.
        done = run(SERVER, "--list-tools", "-w", str(self.workspace), "--exec-read", programs)
        self.assertEqual(done.returncode, 0, done)

    def test_a_path_grants_what_it_leads_to_and_nothing_else(self):
        self.needs_confinement()
        extra = self.folder / "extra"
        (self.outside / "deep").mkdir()
        (extra / "secret").write_text("ANOTHER")
        (extra / "link").symlink_to(self.outside / "deep")
        (extra / "alias").symlink_to(self.outside)
        (self.folder / "side").mkdir()
        read = lambda path, granted: run(PADDOCK, "exec", "-w", str(self.workspace), "--read", str(granted), "--", "cat",
                                         str(path)).stdout
        granted = extra / "link/../secret" # as the kernel reads it: a file of outside
        self.assertEqual(read(self.outside / "secret", granted), "SECRET")
        self.assertEqual(read(extra / "secret", granted), "")
        self.assertEqual(read(extra / "secret", extra / "secret"), "ANOTHER") # the control
        for spelling in [extra / "alias/secret", self.folder / "side/../extra/alias/secret"]:
            self.assertEqual(read(extra / "alias/secret", spelling), "SECRET", spelling) # a name that means the same

    def test_what_commands_have_of_their_own_is_refused_at_the_start(self):
        for path in ["/proc", "/proc/self", "/proc/sys/kernel", "/dev", "/dev/../dev/"]:
            for purpose in ["read", "write"]:
                with self.subTest(path, purpose=purpose):
                    done = run(SERVER, "--list-tools", "-w", str(self.workspace), f"--exec-{purpose}", path)
                    self.assertEqual(done.returncode, 2, done.stdout)
                    self.assertIn(f"--exec-{purpose}: the path {path}", done.stderr)
                    self.assertIn("commands get one of their own", done.stderr)
                    done = run(PADDOCK, "exec", "-w", str(self.workspace), f"--{purpose}", path, "--", "true")
                    self.assertEqual(done.returncode, 125, done.stdout)
                    self.assertIn(f" --{purpose}: the path {path}", done.stderr)
        self.needs_confinement()
        for path in ["/sys/kernel", "/dev/null", "/dev/shm"]: # the control: what can be given
            done = run(PADDOCK, "exec", "-w", str(self.workspace), "--read", path, "--", "test", "-e", path)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_path_that_vanishes_takes_the_layer_with_it(self):
        self.needs_confinement()
        extra = self.folder / "extra"
        with Conversation("-w", str(self.workspace), "--exec-write", str(extra)) as server:
            self.assertNotIn("error", server.exec(f"echo x > {extra}/file"))
            self.assertTrue(server.layer("file_system")["applied"])
            shutil.rmtree(extra)
            refused = server.exec(f"chmod 777 {self.outside}/secret; echo ran")
            self.assertEqual(refused["error"], "confinement_unavailable")
            self.assertIn(str(extra), refused["message"])
            layer = server.layer("file_system")
            self.assertFalse(layer["applied"])
            self.assertIn(f"path {extra}: No such file", layer["missing"])
            extra.mkdir()
            self.assertTrue(server.layer("file_system")["applied"])
            self.assertNotIn("error", server.exec(f"echo x > {extra}/file"))
        self.assertEqual((self.outside / "secret").stat().st_mode & 0o777, 0o644)

    def test_of_two_protections_the_stricter_one_holds(self):
        self.needs_confinement()
        for name in ["key", ".perstack"]:
            (self.workspace / name).write_text("SECRET")
        read = lambda name, *options: run(PADDOCK, "exec", "-w", str(self.workspace), *options, "--", "cat", name).stdout
        both = ["--protect", "key", "--protect", "key=hidden"]
        self.assertEqual(read("key", *both), "")
        self.assertEqual(read("key", *both[2:], *both[:2]), "")
        self.assertEqual(read(".perstack", "--protect", ".perstack"), "") # hidden without any option
        self.assertEqual(read("key", "--protect", "key"), "SECRET") # the control

    def test_what_a_person_asked_for_is_not_said_to_be_taken_off(self):
        self.needs_confinement()
        (self.workspace / ".envrc").write_text("host")
        for options, said, unsaid in [(["--protect", ".envrc"], "--protect .envrc was given", "--unprotect"),
                                      ([], "--unprotect .envrc", "was given")]: # the second is the control
            with Conversation("-w", str(self.workspace), *options) as server:
                for answer in [server.call("writeTextFile", path=".envrc", text="x"), server.exec("echo x >.envrc")]:
                    with self.subTest(options, **answer):
                        self.assertIn(said, answer["message"])
                        self.assertNotIn(unsaid, answer["message"])

    def test_the_check_tries_the_real_options(self):
        self.needs_confinement()
        done = run(SERVER, "--check", "-w", str(self.workspace), "--exec-read", str(self.outside))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"ok +programs")
        self.assertEqual(os.listdir(self.workspace), [])


class Environment(Operator):
    def test_the_environment_of_a_call_shows_nothing(self):
        self.needs_confinement()
        secret = self.outside / "secret"
        with Conversation("-w", str(self.workspace)) as server:
            for env in [{}, {"PATH": f"/usr/bin:/bin:{self.outside}"}, {"PATH": f"/usr/bin:/bin:/tmp/../{self.outside}"},
                        {"HOME": str(self.outside)}, {"PATH": "/usr/bin:/bin:/etc", "HOME": "/"}]:
                with self.subTest(env):
                    seen = server.exec(f"cat {secret}; ls -a /etc", **env)
                    self.assertNotIn("SECRET", json.dumps(seen))
                    self.assertNotIn("shadow", json.dumps(seen))
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}:{self.outside}"}
        with Conversation("-w", str(self.workspace), env=environment) as server: # the control
            self.assertIn("SECRET", json.dumps(server.exec(f"cat {secret}")))


class Programs(Operator):
    def setUp(self):
        super().setUp()
        tools = self.workspace / "build/tools"
        tools.mkdir(parents=True)
        built = pathlib.Path(os.path.realpath(SERVER)).parent
        for name in ["paddock", "paddock-mcp", "paddock-exec-helper"]:
            shutil.copy2(built / name, tools)
        (self.workspace / "build/src").symlink_to(built.parent / "src") # for the libraries
        (self.workspace / "build/subprojects").symlink_to(built.parent / "subprojects")
        self.server, self.helper = str(tools / "paddock-mcp"), tools / "paddock-exec-helper"
        if run(self.server, "--version").returncode != 0:
            self.skipTest("the server cannot be copied")

    def attack(self):
        # As somebody who may write there would: a program that runs what it is given, and reports nothing.
        self.helper.unlink()
        self.helper.write_text(f"#!/bin/sh\ncp {self.outside}/secret {self.workspace}/stolen\n")
        self.helper.chmod(0o755)

    def test_a_running_server_keeps_its_helper(self):
        self.needs_confinement()
        with Conversation("-w", str(self.workspace), program=self.server) as server:
            server.call("todo") # it serves
            self.attack()
            self.assertEqual(server.exec("echo fine")["output"], "fine\n")
            self.assertIn("error", server.exec(f"cat {self.outside}/secret"))
        self.assertFalse((self.workspace / "stolen").exists())
        with Conversation("-w", str(self.workspace), program=self.server) as server: # the control: one that starts now
            self.assertIn("error", server.exec("echo fine"))

    def test_a_workspace_that_holds_the_programs_is_told(self):
        done = run(self.server, "--check", "--exec", "off", "-w", str(self.workspace))
        self.assertRegex(done.stdout, r"note +programs +the workspace holds .*paddock-mcp")
        with Conversation("--exec", "off", "-w", str(self.workspace), program=self.server) as server:
            self.assertIn("paddock-mcp", server.call("healthCheck")["warning"])
        self.assertIn("warning: the workspace holds", server.complaints)
        with Conversation("--exec", "off", "-w", str(self.outside), program=self.server) as server:
            self.assertNotIn("warning", server.call("healthCheck"))
        self.assertEqual(server.complaints, "")

    def test_one_command_cannot_replace_the_programs_either(self):
        self.needs_confinement()
        here = ["exec", "-w", str(self.workspace)]
        script = "echo x >free; cd build/tools; for name in *; do rm -f $name; echo evil >$name; done"
        for changed, options in [(False, []), (True, ["--host"])]: # the second is the control
            before = self.helper.read_bytes()
            done = run(str(self.helper.parent / "paddock"), *here, *options, "--", "sh", "-c", script)
            self.assertRegex(done.stderr, r"(?m)^paddock exec: warning: the workspace holds .*/paddock, which")
            self.assertEqual((self.workspace / "free").read_text(), "x\n")
            self.assertEqual(self.helper.read_bytes() != before, changed, done)
        done = run(PADDOCK, *here, "--", "true")
        self.assertEqual(done.stderr, "")


class Libraries(Operator):
    """Links by which the loader finds a library of the programs: a directory that is a link, and a link to the file."""
    LINK = "lib-1/libsimdjson.so.14"

    def setUp(self):
        super().setUp()
        real = library_of(SERVER, "libsimdjson.so.14")
        if not real:
            self.skipTest("the programs have no library of their own")
        (self.workspace / "lib-1").mkdir()
        shutil.copy2(real, self.workspace / "lib-1/libsimdjson.so.14.0.0")
        (self.workspace / self.LINK).symlink_to("libsimdjson.so.14.0.0")
        (self.workspace / "lib-1/free").symlink_to("libsimdjson.so.14.0.0")
        (self.workspace / "lib").symlink_to("lib-1")
        (self.workspace / "evil").write_text("evil")
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(self.workspace / "lib")}

    def state(self):
        return [os.readlink(self.workspace / "lib"), os.readlink(self.workspace / self.LINK),
                (self.workspace / "lib" / "libsimdjson.so.14").stat().st_size]

    def test_file_tools_leave_the_links(self):
        before = self.state()
        with Conversation("-w", str(self.workspace), env=self.environment) as server:
            for tool, arguments in [
                    ("deleteFile", {"path": self.LINK}), ("deleteFile", {"path": "lib"}),
                    ("writeTextFile", {"path": self.LINK, "text": "evil"}),
                    ("moveFile", {"source": self.LINK, "destination": "moved"}),
                    ("moveFile", {"source": "lib", "destination": "moved"}),
                    ("moveFile", {"source": "lib-1", "destination": "moved"}),
                    ("deleteDirectory", {"path": "lib-1", "recursive": True})]:
                with self.subTest(tool, **arguments):
                    self.assertEqual(server.call(tool, **arguments).get("error"), "write_protected")
                    self.assertEqual(self.state(), before)
            self.assertNotIn("error", server.call("deleteFile", path="lib-1/free")) # the control

    def test_commands_leave_the_links(self):
        self.needs_confinement()
        before = self.state()
        attacks = [f"rm {self.LINK}", f"ln -sf ../evil {self.LINK}", f"mv evil {self.LINK}", "ln -sfn . lib", "rm lib",
                   "mv lib moved", "mv lib-1 moved", f"echo evil >{self.LINK}"]
        for attack in attacks:
            with self.subTest(attack):
                command = [PADDOCK, "exec", "-w", str(self.workspace), "--", "sh", "-c", attack]
                self.assertNotEqual(run(*command, env=self.environment).returncode, 0)
                self.assertEqual(self.state(), before)
        for attack in ["rm lib-1/free", attacks[0]]: # the controls: another link, and a program that is found elsewhere
            self.assertEqual(run(PADDOCK, "exec", "-w", str(self.workspace), "--", "sh", "-c", attack).returncode, 0)

    def test_a_workspace_with_a_library_is_told(self):
        done = run(SERVER, "--check", "--exec", "off", "-w", str(self.workspace), env=self.environment)
        self.assertRegex(done.stdout, r"note +programs +the workspace holds .*/workspace/lib, which")
        with Conversation("--exec", "off", "-w", str(self.workspace), env=self.environment) as server:
            self.assertRegex(server.call("healthCheck")["warning"], "the workspace holds .*/workspace/lib, which")
        done = run(SERVER, "--check", "--exec", "off", "-w", str(self.workspace)) # the controls
        self.assertRegex(done.stdout, r"ok +programs")
        with Conversation("--exec", "off", "-w", str(self.workspace)) as server:
            self.assertNotIn("warning", server.call("healthCheck"))


# What a home directory holds: what a command is to see with --home-tools, and what never.
TOOLS = [".cargo/bin/cargo", ".rustup/toolchains/stable/bin/rustc", ".rustup/settings.toml",
         ".nvm/versions/node/v9.1.0/bin/node", ".nvm/versions/node/v20.3.1/bin/node",
         ".nvm/versions/node/v20.3.1/lib/node_modules/x.js", ".pyenv/shims/python", ".pyenv/bin/pyenv",
         ".pyenv/versions/3.12.1/bin/python3", ".local/share/uv/python/cpython-3.12/bin/python3.12",
         ".local/share/uv/tools/ruff/bin/ruff", ".local/share/pipx/venvs/black/bin/black",
         ".local/share/pipx/venvs/black/pyvenv.cfg", ".local/share/fnm/node-versions/v18.0.0/installation/bin/node",
         "go/bin/gopls", "sdk/go1.22.0/bin/go", "sdk/go1.22.0/go.env", ".local/bin/mine"]
SECRETS = [".cargo/credentials", ".cargo/credentials.toml", ".cargo/config.toml", ".npmrc", ".netrc", ".pypirc",
           ".git-credentials", ".gitconfig", ".config/gh/hosts.yml", ".config/pip/pip.conf", ".pip/pip.conf",
           ".ssh/id_ed25519", ".aws/credentials", ".docker/config.json", ".kube/config", ".gnupg/secring.gpg",
           ".nvm/versions/node/v20.3.1/etc/npmrc", ".pyenv/versions/3.12.1/pip.conf", ".nvm/.npmrc",
           ".local/share/pipx/venvs/black/pip.conf", ".local/share/uv/credentials/x", ".local/share/keyrings/x",
           ".local/state/x", "go/src/private/x.go", "go/pkg/mod/private/x.go", "sdk/other/bin/x", ".bash_history",
           "Documents/x", "notes"]


class HomeTools(Operator):
    """Toolchains of the user's home directory, for commands."""

    def setUp(self):
        super().setUp()
        self.needs_confinement()
        self.home = self.folder / "home"
        for name in TOOLS + SECRETS:
            self.put(name)

    def put(self, name, content="#!/bin/sh\necho ran $0\n"):
        file = self.home / name
        for directory in reversed([each for each in file.parents if each.is_relative_to(self.home)]):
            directory.mkdir(mode=0o755, exist_ok=True)
            directory.chmod(0o755)
        file.write_text(content)
        file.chmod(0o755)

    def environment(self, path="/usr/bin:/bin"):
        return {"HOME": str(self.home), "PATH": path, "LC_ALL": "C"}

    def readable(self, *options, env=None, names=TOOLS + SECRETS):
        """The names that a command can read."""
        script = 'for f; do test -r "$f" && echo "$f"; done; true'
        done = run(PADDOCK, "exec", "-w", str(self.workspace), *options, "--", "sh", "-c", script, "sh",
                   *[str(self.home / name) for name in names], env=env or self.environment())
        self.assertEqual(0, done.returncode, done.stderr)
        return [os.path.relpath(line, self.home) for line in done.stdout.splitlines()]

    def output(self, script, *options, env=None):
        done = run(PADDOCK, "exec", "-w", str(self.workspace), *options, "--", "sh", "-c", script,
                   env=env or self.environment())
        return done.stdout + done.stderr

    def test_a_command_sees_the_tools_and_no_credentials(self):
        self.assertEqual([], self.readable())  # the control: without the option nothing of them
        self.assertEqual(sorted(TOOLS), sorted(self.readable("--home-tools")))
        self.assertEqual(sorted(TOOLS + SECRETS), sorted(self.readable("--host")))  # the control: they are there
        for name in ["~/.cargo/bin/new", "~/.cargo/bin/cargo", "~/.rustup/settings.toml"]:
            self.assertIn("Read-only", self.output(f"echo x > {name}", "--home-tools"))
        self.assertIn("Device or resource busy", self.output("mv ~/.cargo/bin ~/moved", "--home-tools"))
        self.assertEqual("kept\n", self.output("echo kept > ~/.cargo/cache; cat ~/.cargo/cache", "--home-tools"))
        self.assertFalse((self.home / ".cargo/cache").exists())

    def test_the_search_path_leads_to_them_in_the_order_of_the_table(self):
        own = lambda *names: ":".join(str(self.home / name) for name in names)
        tools = own(".cargo/bin", ".nvm/versions/node/v20.3.1/bin",
                    ".local/share/fnm/node-versions/v18.0.0/installation/bin", ".pyenv/shims", ".pyenv/bin", "go/bin",
                    "sdk/go1.22.0/bin", ".local/bin")
        self.assertEqual(f"{tools}:/usr/bin:/bin\n", self.output("echo $PATH", "--home-tools"))
        self.assertEqual("/usr/bin:/bin\n", self.output("echo $PATH"))
        # A version that the user has chosen stays the chosen one.
        chosen = f"/usr/bin:{own('.nvm/versions/node/v9.1.0/bin')}:relative:/bin"
        rest = tools.replace(own(".nvm/versions/node/v20.3.1/bin") + ":", "")
        self.assertEqual(f"{rest}:{chosen.replace('relative:', '')}\n",
                         self.output("echo $PATH", "--home-tools", env=self.environment(chosen)))
        self.assertIn(f"ran {self.home}/.cargo/bin/cargo", self.output("cargo", "--home-tools"))

    def test_links_and_what_others_could_change_are_left_out(self):
        (self.home / "secret").mkdir()
        self.put("secret/bin/x")
        shutil.rmtree(self.home / ".cargo")
        (self.home / ".cargo").symlink_to(self.home)  # a tool that is the home directory
        shutil.rmtree(self.home / "go")
        (self.home / "go").symlink_to("secret")
        (self.home / ".local/bin/link").symlink_to(self.home / ".ssh/id_ed25519")
        (self.home / ".nvm/versions/node/v30.0.0").symlink_to(self.home / "secret")
        (self.home / ".pyenv").chmod(0o777)
        seen = self.readable("--home-tools", names=TOOLS + SECRETS + [
            "secret/bin/x", ".cargo/.ssh/id_ed25519", "go/bin/x", ".local/bin/link", ".nvm/versions/node/v30.0.0/bin/x"])
        left = [name for name in TOOLS if not name.startswith((".cargo/", "go/", ".pyenv/"))]
        self.assertEqual(sorted(left), sorted(seen))
        told = json.loads(run(PADDOCK, "doctor", "--json", "-w", str(self.workspace), env=self.environment()).stdout)
        words = " ".join(each for tool in told["homeTools"] for each in tool["leftOut"])
        for expected in [".cargo: is a link", "go: is a link", ".pyenv: can be changed by other users"]:
            self.assertIn(expected, words)
        self.home.chmod(0o777)  # whoever may put another .rustup there
        self.assertEqual([], self.readable("--home-tools"))
        self.assertEqual("none", self.server_health()["homeTools"])

    def server_health(self):
        with Conversation("-w", str(self.workspace), "--home-tools", env=self.environment()) as server:
            return server.call("healthCheck")

    def test_what_was_found_is_told(self):
        names = "rustup, nvm, fnm, pyenv, uv, pipx, go, local"
        self.assertEqual(names, self.server_health()["homeTools"])
        with Conversation("-w", str(self.workspace), env=self.environment()) as server:
            self.assertNotIn("homeTools", server.call("healthCheck"))
            self.assertNotIn(str(self.home), server.exec("echo $PATH")["output"])
        with Conversation("-w", str(self.workspace), "--home-tools", env=self.environment()) as server:
            self.assertEqual(f"ran {self.home}/.cargo/bin/cargo\n", server.exec("cargo")["output"])
            self.assertEqual("/bin\n", server.exec("echo $PATH", PATH="/bin")["output"])
        self.assertIn(names, server.complaints)
        done = run(SERVER, "--check", "--home-tools", "-w", str(self.workspace), env=self.environment())
        self.assertRegex(done.stdout, f"home tools +{names}")
        doctor = run(PADDOCK, "doctor", "-w", str(self.workspace), env=self.environment()).stdout
        for name in names.split(", "):
            self.assertRegex(doctor, rf"(?m)^ +{name} +\d+ places?, (from )?{self.home}")

    def test_old_versions_are_too_many_for_every_command(self):
        for i in range(30):
            self.put(f".nvm/versions/node/v1.{i}.0/bin/node")
        seen = self.readable("--home-tools", names=[f".nvm/versions/node/v1.{i}.0/bin/node" for i in range(30)])
        self.assertEqual([f".nvm/versions/node/v1.{i}.0/bin/node" for i in range(20, 30)], sorted(seen))

    def test_a_home_behind_a_link_is_found_under_both_names(self):
        (self.folder / "alias").symlink_to(self.home)
        env = self.environment() | {"HOME": str(self.folder / "alias")}
        self.assertEqual("1\n", self.output("ls ~/.rustup/toolchains | wc -l", "--home-tools", env=env))
        self.assertIn("ran", self.output("cargo", "--home-tools", env=env))
        for home in ["/", "relative", "", str(self.folder / "absent")]:
            self.assertIn("/usr/bin:/bin\n", self.output("echo $PATH", "--home-tools", env=env | {"HOME": home}))


class Scratch(Operator):
    """How long what commands leave in /tmp and in their home directory is there."""

    LEAVE = "for d in /tmp /var/tmp ~; do echo kept > $d/left; done"
    FIND = "cat /tmp/left /var/tmp/left ~/left 2>/dev/null || true"

    def setUp(self):
        super().setUp()
        self.needs_confinement()
        self.home = self.folder / "home"
        (self.home / "src/project").mkdir(parents=True)
        self.environment = os.environ | {"HOME": str(self.home)}

    def serve(self, *options, workspace=None):
        return Conversation("-w", str(workspace or self.workspace), *options, env=self.environment)

    def session(self, **more):
        return self.serve("--scratch", "session", "--tools", "coding", "--history", "off", **more)

    def needs_session(self):
        with self.session() as server:
            told = server.call("healthCheck")["scratch"]
        if told != "session":
            self.skipTest(told)

    def test_of_a_session_it_is_there_for_every_command_and_process(self):
        self.needs_session()
        with self.session() as server, self.session() as other:
            server.exec(self.LEAVE)
            self.assertEqual("kept\n" * 3, server.exec(self.FIND)["output"])
            process = server.call("startProcess", command="sh", args=["-c", "cat ~/left; echo more > /tmp/more; sleep 600"],
                                  until="kept", waitMs=20000)
            self.assertIn("kept", process["output"])
            self.assertEqual("more\n", server.exec("until cat /tmp/more; do sleep 0.1; done 2>/dev/null")["output"])
            self.assertNotIn("kept", other.exec(self.FIND)["output"])
        with self.session() as server: # the next one begins anew
            self.assertNotIn("kept", server.exec(self.FIND)["output"])
        self.assertEqual([], [each for each in [*self.home.iterdir(), pathlib.Path("/tmp/left")]
                              if each.name == "left" and each.exists()])

    def test_of_a_call_it_is_not(self):
        for options in [[], ["--scratch", "call"]]:
            with self.serve(*options) as server:
                server.exec(self.LEAVE)
                self.assertNotIn("kept", server.exec(self.FIND)["output"])
                self.assertNotIn("scratch", server.call("healthCheck"))

    def test_a_workspace_in_the_home_directory_stays_in_its_place(self):
        self.needs_session()
        with self.session(workspace=self.home / "src/project") as server:
            for attack in ["mv ~/src ~/moved", "mv ~/src/project ~/other", "rm -rf ~/src"]:
                self.assertIn("busy", json.dumps(server.exec(attack)))
            server.exec("mkdir -p ~/.cache/tool ~/src/beside; echo x > ~/src/beside/x; touch made")
            self.assertEqual("x\n", server.exec("cat ~/src/beside/x")["output"])
            self.assertEqual("session", server.call("healthCheck")["scratch"])
        self.assertEqual(["made"], [each.name for each in (self.home / "src/project").iterdir()])
        self.assertEqual(["project"], [each.name for each in (self.home / "src").iterdir()])

    def test_a_killed_server_leaves_nothing(self):
        before = set(pathlib.Path("/tmp").glob("paddock-*"))
        with self.session() as server:
            server.exec(self.LEAVE)
            server.process.kill()
            server.process.wait(60)
        deadline = time.monotonic() + 60
        while set(pathlib.Path("/tmp").glob("paddock-s*")) - before and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(set(), set(pathlib.Path("/tmp").glob("paddock-s*")) - before)

    def test_everybody_says_which_it_is(self):
        self.needs_session()
        done = run(SERVER, "--check", "--scratch", "session", "-w", str(self.workspace), env=self.environment)
        self.assertRegex(done.stdout, r"(?m)^ok +scratch +is shared by all commands")
        self.assertNotIn(" scratch ", run(SERVER, "--check", "-w", str(self.workspace), env=self.environment).stdout)
        doctor = run(PADDOCK, "doctor", "-w", str(self.workspace), env=self.environment).stdout
        self.assertIn("scratch of each command; --scratch session can be had", doctor)
        told = json.loads(run(PADDOCK, "doctor", "--json", "-w", str(self.workspace), env=self.environment).stdout)
        self.assertEqual("can be had", told["scratchSession"])
        for options, words in [(["--scratch", "call"], "that end with it"), ([], "until this server ends")]:
            listed = run(SERVER, "--list-tools", "--tools", "coding", "-w", str(self.workspace), *options,
                         env=self.environment).stdout
            self.assertIn(words, listed)
        refused = run(SERVER, "--scratch", "forever", "-w", str(self.workspace))
        self.assertEqual(2, refused.returncode)
        self.assertIn("session", refused.stderr)


class Bounds(Operator):
    """What commands may take of this machine."""

    MEMORY = ["python3", "-c", "x = bytearray(300 << 20)"]
    FILE = ["dd", "if=/dev/zero", "of=big", "bs=65536", "count=80"]

    def setUp(self):
        super().setUp()
        self.needs_confinement()

    def run_with(self, *options):
        return run(PADDOCK, "exec", "-w", str(self.workspace), *options)

    def test_a_bound_holds_and_is_named(self):
        for bound, command in [("--max-memory=100000000", self.MEMORY), ("--max-file-size=1000000", self.FILE)]:
            with self.subTest(bound):
                free = self.run_with("--", *command)
                self.assertEqual(0, free.returncode, free.stderr)  # the control
                done = self.run_with(bound, "--", *command)
                self.assertNotEqual(0, done.returncode)
                name = bound.split("=")[0]
                if done.returncode != 137:  # else the kernel has killed it, for its control group
                    self.assertIn(f"a larger {name}", done.stderr)
        self.assertLessEqual((self.workspace / "big").stat().st_size, 1_000_000)

    def test_sizes_have_units(self):
        told = ["python3", "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])"]
        for size, meant in [("3000000", 3_000_000), ("3K", 3 * 1024), ("3kib", 3 * 1024), ("3M", 3 << 20), ("3MiB", 3 << 20), ("3g", 3 << 30)]:
            with self.subTest(size):
                done = self.run_with("--max-file-size", size, "--", *told)
                self.assertEqual(f"{meant}\n", done.stdout, done.stderr)
        (self.workspace / "long").write_text("x" * 2000)
        for size, is_read in [("1K", False), ("2K", True)]:
            with Conversation("-w", str(self.workspace), "--limit", f"read-bytes={size}") as server:
                self.assertEqual(is_read, "error" not in server.call("readTextFile", path="long"))

    def test_the_layer_says_what_holds(self):
        row = lambda *options: next(each for each in json.loads(self.run_with("--json", *options, "--", "true").stdout)[
            "confinement"] if each["layer"] == "limits")
        self.assertNotIn("missing", row())
        self.assertNotIn("missing", row("--max-file-size", "1000000"))
        for option, weaker in [("--max-memory", "bounded for each process"), ("--max-pids", "not held for root" if os.geteuid() == 0 else "counted for all of this user")]:
            found = row(option, "100000000")
            self.assertTrue(found["applied"])
            if "control group" in found["mechanism"]:
                self.assertNotIn("missing", found)
            else:
                self.assertIn(weaker, found["missing"])
                self.assertIn("systemd-run", found["remedy"])

    def test_a_server_has_them_too(self):
        with Conversation("-w", str(self.workspace), "--max-memory", "100000000") as server:
            answer = server.call("exec", command=self.MEMORY[0], args=self.MEMORY[1:], env={}, cwd=".", stdout=True, stderr=True)
            self.assertIn("--max-memory", json.dumps(answer))
            self.assertEqual("fine\n", server.exec("echo fine")["output"])

    @unittest.skipIf(os.geteuid() == 0, "the bound of processes does not hold for root")
    def test_processes_are_bounded(self):
        many = ["python3", "-c", "import subprocess; [subprocess.Popen(['sleep', '5']) for i in range(9)]"]
        self.assertEqual(0, self.run_with("--", *many).returncode)  # the control
        done = self.run_with("--max-pids", "5", "--", *many)
        self.assertIn("a larger --max-pids", done.stderr)


if __name__ == "__main__":
    unittest.main()
