#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages and the completions say all that --help says, and the tools that read them accept them."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import termios
import unittest

PROGRAMS = {"paddock": os.environ["PADDOCK"], "paddock-mcp": os.environ["PADDOCK_MCP"]}
MADE, INCLUDE = pathlib.Path(os.environ["PADDOCK_MANUAL"]), pathlib.Path(os.environ["PADDOCK_INCLUDE"])


def run(*command, stdin=""):
    return subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", timeout=60)


def helps(program, *path):
    """(commands, the names of its own commands, long options) for a program and every command below it."""
    text = run(PROGRAMS[program], *path, "--help").stdout
    groups = re.findall(r"(?ms)^(?:Look|Change|Run|Set up|Subcommands):\n(.*?)\n\n", text)
    below = [name for each in groups for name in re.findall(r"(?m)^  ([a-z]+) {2,}\S", each)]
    below += [name for each in re.findall(r"(?m)^More: (.*) \(", text) for name in each.split(", ")]
    yield path, below, set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z][a-z-]*)", text))
    for name in below:
        yield from helps(program, *path, name)


def plain(page):
    """A page without roff's escapes."""
    return re.sub(r"\\f.", "", page.read_text().replace("\\-", "-").replace("\\&", ""))


def complete(program, *words):
    """What bash would offer for the last word."""
    function = "_" + program.replace("-", "_")
    script = f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = run("bash", "--norc", "-c", script, "bash", str(MADE / program), program, *words)
    assert (done.returncode, done.stderr) == (0, ""), done
    return set(done.stdout.split())


class Manual(unittest.TestCase):
    def test_help_is_read_right(self):
        """The other tests would pass with nothing found."""
        found = {path: (below, options) for path, below, options in helps("paddock")}
        self.assertLessEqual({"call", "tools", "exec", "skills", "experts", "demo", "doctor"}, set(found[()][0]))
        self.assertIn(("skills", "import"), found)
        self.assertLessEqual({"--help", "--arg", "--workspace", "--tools"}, found[("call",)][1])

    def test_values_have_names_for_people(self):
        """What the option parser calls a value with a check: "N:UINT in [1 - 2]", "TYPE:value in {any-> }"."""
        told = r"(?m)^  -\S+ [A-Z]+:(?:[A-Z]|value in )"
        self.assertRegex("  --bytes N:UINT in [200 - 18446744073709551615]", told)
        self.assertRegex("  -t,--type TYPE:value in {any-> ,file->} OR { ,}", told)
        for program in PROGRAMS:
            for path, _, _ in helps(program):
                self.assertNotRegex(run(PROGRAMS[program], *path, "--help").stdout, told, path)

    VERBS = set("""Accept Allow Answer Append Apply Ask Begin Call Change Check Compare Connect Copy Create Delete Display Do End Find
        Flush Follow Give Go Ignore Keep Leave Let Limit List Listen Match Offer Overwrite Pass Print Protect Read Refuse Remove Repeat
        Replace Require Resolve Run Save Say Search Serve Show Sort Stop Treat Try Undo Use Wait Watch Work Have""".split())

    def test_help_begins_with_a_verb(self):
        """Of commands and options; limits stand under a heading that has it."""
        for program, path in PROGRAMS.items():
            texts = []

            def collect(command):
                texts.append(command["text"])
                texts.extend(option["text"] for option in command["options"] if option["group"] != "Limits")
                for each in command["commands"]:
                    collect(each)

            collect(json.loads(run(path, "--describe-command-line").stdout))
            self.assertGreater(len(texts), 40)
            self.assertEqual([text for text in texts if text.replace(",", "").split(" ")[0] not in self.VERBS], [], program)

    def test_help_fits_the_terminal(self):
        def shown_in(**variables):
            return subprocess.run([PROGRAMS["paddock"], "exec", "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  env=without_columns | variables).stdout

        def widest(text):
            return max(map(len, text.splitlines()))

        without_columns = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        whole = shown_in(COLUMNS="1000")
        self.assertGreater(widest(whole), 100)
        for columns, width in [("120", 120), ("60", 60), ("", 80), ("0", 80), ("wide", 80), (None, 80)]:
            text = shown_in() if columns is None else shown_in(COLUMNS=columns)
            self.assertLessEqual(width - 12, widest(text), columns)
            self.assertLessEqual(widest(text), width, columns)
            self.assertEqual(text.split(), whole.split(), columns)
        for width in [60, 100]:
            leader, follower = pty.openpty()
            fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
            with subprocess.Popen([PROGRAMS["paddock"], "exec", "--help"], stdin=subprocess.DEVNULL, stdout=follower,
                                  env=without_columns) as shown:
                os.close(follower)
                text = b""
                with contextlib.suppress(OSError): # the other end is closed
                    while part := os.read(leader, 65536):
                        text += part
            os.close(leader)
            self.assertLessEqual(widest(text.decode()), width)
            self.assertEqual(text.decode().split(), whole.split()) # the same words

    def test_help_of_all_commands_fits_a_screen(self):
        text = subprocess.run([PROGRAMS["paddock"], "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=os.environ | {"COLUMNS": "80"}).stdout
        self.assertLessEqual(len(text.splitlines()), 32)
        self.assertLessEqual(len(re.findall(r"(?m)^  [a-z]", text)), 14)
        self.assertEqual(run(PROGRAMS["paddock"], "help", "demo").stdout, run(PROGRAMS["paddock"], "demo", "--help").stdout)

    def test_every_command_and_option_is_in_the_page(self):
        for program in PROGRAMS:
            page = plain(MADE / f"{program}.1")
            self.assertNotRegex(page, r"@[A-Z]+@")
            for path, below, options in helps(program):
                for option in options:
                    self.assertTrue(re.search(rf"{option}(?![\w-])", page), (path, option))
                if path and not below:
                    self.assertIn(" ".join([program, *path]), re.findall(r"(?m)^\.SS ([^[\n]*) \[", page))

    def test_options_of_one_command_are_below_it(self):
        page = plain(MADE / "paddock.1")
        section = page.split("\n.SS paddock exec ")[1].split("\n.SS ")[0]
        self.assertLessEqual({"--max-memory", "--read", "--timeout"}, set(re.findall(r"--[a-z-]+", section)))
        self.assertNotIn("--limit", section)

    def test_every_error_and_every_key_is_in_a_page(self):
        wire_names = re.findall(r'^  X\(\w+, +"(\w+)"', (INCLUDE / "paddock/base/error.hpp").read_text(), re.MULTILINE)
        self.assertIn("escapes_root", wire_names)
        page = plain(MADE / "paddock-mcp.1").split("\n.SH ERRORS\n")[1]
        for name in wire_names:
            self.assertIn(f"\n{name}\n", page)
        page = plain(MADE / "paddock.1").split("\n.SH CONFIGURATION OF EXPERTS\n")[1]
        for key in ("experts", "requiredEnv", "endpoint", "inputJsonSchema", "memoryBytes"):
            self.assertIn(f"\n{key} (", page)

    def test_every_public_header_is_in_the_library_page(self):
        page = plain(MADE / "paddock.3")
        for header in (INCLUDE / "paddock").rglob("*.hpp"):
            name = str(header.relative_to(INCLUDE))
            self.assertEqual("detail" not in header.parts, f"\n{name}\n" in page, name)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_pages_are_roff(self):
        for page in ["paddock.1", "paddock-mcp.1", "paddock.3"]:
            done = run("groff", "-man", "-ww", "-Tutf8", "-z", str(MADE / page))
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), page)


class Completion(unittest.TestCase):
    def test_every_command_and_option_is_in_every_shell(self):
        for program in PROGRAMS:
            shells = {"zsh": (MADE / f"_{program}").read_text(), "fish": (MADE / f"{program}.fish").read_text()}
            for path, below, options in helps(program):
                self.assertLessEqual(options, complete(program, *path, "-"), path)
                self.assertLessEqual(set(below), complete(program, *path, ""), path)
                function = "_".join(["_" + program, *path])
                of_zsh = shells["zsh"].split(f"\n{function}() {{")[1].split("\n}")[0]
                of_fish = [line for line in shells["fish"].splitlines()
                           if not path or f"__fish_seen_subcommand_from {path[-1]}" in line]
                for option in options:
                    self.assertRegex(of_zsh, rf"'\*{option}[=\[]")
                    self.assertTrue(any(re.search(rf" -l {option[2:]} ", line) for line in of_fish), option)
                for name in below:
                    self.assertIn(f"      {name}) {function}_{name} ;;", of_zsh)
                    self.assertTrue(any(f" -a {name} -d " in line for line in of_fish), name)

    def test_what_bash_offers(self):
        for words, expected in [
                (["ca"], {"call"}), (["skills", "l"], {"list"}), (["experts", "to"], {"tools"}),
                (["call", "readT"], {"readTextFile"}), (["tools", "todo"], {"todo"}),
                (["call", "--exec", "h"], {"host"}), (["call", "--exec", "=", "h"], {"host"}),
                (["call", "--exec", "="], {"best-effort", "confined", "host", "off"}),
                (["call", "--limit", "todos=1"], set()), (["doctor", "--js"], {"--json"}),
                (["demo", "/us"], set()), (["exec", "--", "/us"], {"/usr"}), (["nope", "x"], set())]:
            self.assertEqual(complete("paddock", *words), expected, words)
        self.assertEqual(complete("paddock-mcp", "--print-config", "c"), {"claude-code", "claude-desktop", "codex", "cursor"})
        self.assertEqual(complete("paddock-mcp", "--workspace", "/us"), {"/usr"})

    def test_shells_accept_them(self):
        tried = 0
        for shell, form, check in [("bash", "{}", "-n"), ("zsh", "_{}", "-n"), ("fish", "{}.fish", "--no-execute")]:
            if shutil.which(shell):
                tried += 1
                for program in PROGRAMS:
                    done = run(shell, check, str(MADE / form.format(program)))
                    self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        self.assertGreater(tried, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
