#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ripgrep and git judge `paddock search` and `paddock find`: the same lines and files, on trees that people made and on generated ones.

PADDOCK names the program. Where ripgrep is not installed its cases are skipped by name.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

PADDOCK = os.environ["PADDOCK"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEADERS = pathlib.Path("/usr/include")  # what others wrote, in their own ways
RG = shutil.which("rg")
STEP = int(os.environ.get("PADDOCK_CAMPAIGN_STEP", "1"))  # one of so many cases is tried
# Nothing that the user has configured takes part; bytes are compared.
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/proc/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
RG_FLAGS = ["--hidden", "--no-require-git", "--no-ignore-global", "--no-heading", "--no-messages", "--crlf", "-n"]

HARM = re.compile("\r(?!\n)|[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udc9f]")

# pattern and flags that both understand
PATTERNS = [
    ("return", []), ("include", ["-w"]), ("EINVAL", ["-F"]), ("a.b(c", ["-F"]), ("todo", ["-i"]), ("task", ["-i"]), ("[A-Z]+_MAX", []),
    ("^#define [a-z]", []), (";$", []), ("^$", []), ("^\\s*$", []), ("foo|bar|mutex|struct stat", []), ("(un)?signed\\s+long", []),
    ("(?i)error", []), ("\\p{Greek}|\\p{Han}", []), ("[^[:ascii:]]", []), ("x{3,}", []), ("0x[0-9a-f]+", ["-i"]), ("\\bint\\b.*\\(", []),
    (".{200,}", []), ("nothing has this text, nowhere", []), ("k", ["-i", "-w"]), ("é", ["-i"]), ("//", ["-F"]),
]


def run(command, directory, codes=(0, 1)):
    ran = subprocess.run(command, cwd=directory, capture_output=True, env=ENVIRONMENT)
    if ran.returncode not in codes:
        raise AssertionError(f"{command} ended with {ran.returncode}: {ran.stderr.decode()}")
    return ran.stdout


class Judged(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)

    def lines(self, output):
        return sorted(output.split(b"\n"))

    def lines_of_ripgrep(self, output):
        """It leaves a carriage return before the line's end, and what a terminal obeys."""
        text = HARM.sub("?", output.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        return sorted(line.removesuffix(b"\r") for line in text.split(b"\n"))

    def assert_same_lines(self, directory, pattern, flags):
        want = self.lines_of_ripgrep(run([RG, *RG_FLAGS, *flags, "--", pattern], directory))
        have = run([PADDOCK, "search", *flags, "--", pattern], directory)
        self.assertEqual(want, self.lines(have), (directory, pattern, flags))
        paths = [line.split(b":")[0] for line in have.split(b"\n")[:-1]]
        self.assertEqual(sorted(paths), paths, "not in the order of paths")
        return len(paths)


@unittest.skipUnless(RG, "ripgrep is not installed")
class Ripgrep(Judged):
    def test_trees_that_people_made(self):
        found = 0
        # What is copied has no ignore files above it.
        for tree in [SOURCE / "src", SOURCE / "docs", HEADERS / "linux", HEADERS / "c++"]:
            copy = self.top / tree.name
            shutil.copytree(tree, copy, symlinks=True)
            for pattern, flags in PATTERNS[::STEP]:
                found += self.assert_same_lines(copy, pattern, flags)
        self.assertGreater(found, 50_000 // STEP)

    def test_generated_trees(self):
        chance = random.Random(7)
        words = ["foo", "Foo", "bar", "k", "\u212a", "é", "É", " ", "\t", "int", "MAX_X", "0xFF", "//", "a.b(c", "ß", "中文", "\xad"]
        for number in range(12):
            tree = self.top / str(number)
            for path in [f"{d}{n}" for d in ["", "a/", "a/b/", "a-b/", ".d/"] for n in ["x", "y.c", "z.h", ".dot", "w.log"]]:
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                text = "".join(chance.choice(words) if chance.random() < 0.8 else "\n" for _ in range(chance.randint(0, 400)))
                data = text.encode()
                kind = chance.random()
                if kind < 0.1:
                    data = data.replace(b"\n", b"\r\n")
                elif kind < 0.2:
                    data = b"\xef\xbb\xbf" + data
                elif kind < 0.3:
                    data += b"\xff\xc3 foo \x80\n"
                (tree / path).write_bytes(data)
            (tree / ".gitignore").write_text(chance.choice(["*.log\n", "a/\n!a/b\n", "/x\n.d/*\n", "**/b/*.c\n"]))
            (tree / ".ignore").write_text(chance.choice(["", "!w.log\n", "z.*\n"]))
            for pattern, flags in PATTERNS[number % STEP::STEP]:
                if "\\b" not in pattern:  # of ASCII for RE2
                    self.assert_same_lines(tree, pattern, flags)

    def test_files_and_globs(self):
        tree = self.top / "c++"
        shutil.copytree(HEADERS / "c++", tree, symlinks=True)
        for glob in ["*.h", "*.{h,tcc}", "**/bits/*.h", "12/bits/**", "[a-c]*"]:
            want = run([RG, *RG_FLAGS, "-g", glob, "--files"], tree).splitlines()
            have = run([PADDOCK, "find", "-t", "file", "--", glob], tree).splitlines()
            links = {path for path in have if os.path.islink(tree / os.fsdecode(path))}
            self.assertEqual(sorted(want), [path for path in have if path not in links], glob)
        for flags in [["-l"], ["-c"]]:
            want = self.lines_of_ripgrep(run([RG, *RG_FLAGS[:-1], *flags, "-g", "*.h", "size_t"], tree))
            have = self.lines(run([PADDOCK, "search", *flags, "-g", "*.h", "size_t"], tree))
            self.assertEqual(want, have, flags)

    def test_several_globs_and_where_they_begin(self):
        for path in ["a.txt", "b.txt", "b.c", "src/a.txt", "src/b.txt", "src/x.c", "src/sub/a.txt", "sub/src/y.txt", "ab/z.txt"]:
            (self.top / path).parent.mkdir(parents=True, exist_ok=True)
            (self.top / path).write_text("foo\n")
        found = 0
        for globs in [["src/*.txt"], ["/*.txt"], ["/src/*.txt"], ["!a*", "*.txt"], ["*.txt", "!a*"], ["!src/a.txt"], ["!*.txt", "b.txt"],
                      ["!sub"], ["*.txt", "!sub", "a.txt"], ["!*.c", "x.c", "!src/x.c"], ["**/sub/**"], ["!/sub"], ["*.c", "*.txt", "!b*"]]:
            for rest in [[], ["src"], ["src", "sub"], ["-t", "c"], ["src/a.txt"]]:
                flags = ["-l"] + [word for each in globs for word in ("-g", each)]
                want = run([RG, *RG_FLAGS, *flags, "foo", *rest], self.top, codes=(0, 1, 2))  # 2: no file to search
                have = run([PADDOCK, "search", *flags, "foo", *rest], self.top)
                self.assertEqual(self.lines_of_ripgrep(want), self.lines(have), (globs, rest))
                found += want.count(b"\n")
        self.assertGreater(found, 100)

    def test_context(self):
        tree = self.top / "linux"
        shutil.copytree(HEADERS / "linux", tree, symlinks=True)
        want = run([RG, *RG_FLAGS, "-C2", "--sort", "path", "EINVAL"], tree)
        have = run([PADDOCK, "search", "-C2", "EINVAL"], tree)
        self.assertEqual(self.lines_of_ripgrep(want), self.lines(have))

    def test_options(self):
        tree = self.top / "linux"
        shutil.copytree(HEADERS / "linux", tree, symlinks=True)
        cases = [["-A2", "EINVAL"], ["-B1", "EINVAL"], ["-A1", "-B3", "EINVAL"], ["-v", "[a-z]"],
                      ["-v", "-c", "define"], ["-v", "-l", "^"], ["-v", "-w", "-B1", "[a-z]+"], ["-e", "EINVAL", "-e", "ENO[A-Z]+"],
                      ["-F", "-e", "a.b", "-e", "u8)", "-e", "[]"], ["-w", "-e", "int", "-e", "__u8"], ["-t", "c", "-l", "u64"]]
        for flags in cases[::STEP]:
            want = run([RG, *RG_FLAGS, "--sort", "path", *flags], tree)
            have = run([PADDOCK, "search", *flags], tree)
            self.assertEqual(self.lines_of_ripgrep(want), self.lines(have), flags)

    def test_a_difference_would_be_seen(self):
        (self.top / "f").write_text("foo\nFoo\n")
        self.assertNotEqual(run([RG, "-n", "foo"], self.top), run([PADDOCK, "search", "-i", "foo"], self.top))


def amount(top):
    """Files, directories and bytes beneath a directory, as Python's walk has them."""
    files = directories = size = 0
    for where, inside, names in os.walk(top):
        directories += len(inside)
        files += len(names)
        size += sum(os.lstat(os.path.join(where, name)).st_size for name in names if not os.path.islink(os.path.join(where, name)))
    return files, directories, size


class Map(Judged):
    def test_counts_are_those_of_a_walk(self):
        tree = self.top / "tree"
        shutil.copytree(SOURCE / "src", tree / "src")
        shutil.copytree(SOURCE / "docs", tree / "out", symlinks=True)
        (tree / ".gitignore").write_text("/out/\n")
        (tree / "link").symlink_to("src")  # a file of no size for the map, a directory for the walk
        files, directories, size = amount(tree / "src")
        for room in [200, 1000, 5000, 50_000, 1_000_000]:
            have = json.loads(run([PADDOCK, "map", "--json", "--bytes", str(room)], tree, [0]))
            self.assertEqual((files + 2, directories + 1, size + 6), (have["files"], have["directories"], have["bytes"]))
            self.assertLessEqual(len(have["tree"].encode()), room)
            self.assertEqual(room < 20_000, have["truncated"])
            collapsed = 0
            path = []
            for line in have["tree"].splitlines():
                depth = (len(line) - len(line.lstrip())) // 2
                name, _, told = line.strip().partition(" ")
                path = path[:depth] + [name]
                if not (m := re.match(r"([\d,]+) files?, ", told)) or name == "\u2026":
                    continue
                collapsed += 1
                self.assertEqual(amount(tree / "".join(path))[0], int(m[1].replace(",", "")), line)
                self.assertEqual("ignored" in told, name == "out/", line)
            self.assertGreater(collapsed, 0)
        self.assertEqual(amount(tree)[0], have["files"] - 1 + amount(tree / "out")[0])  # the control: the walk counts all
        names = [line.strip().split(" ")[0] for line in have["tree"].splitlines()]
        want = run(["git", "ls-files", "-o", "--exclude-standard", "."], self.repository(tree)).decode().split()
        self.assertEqual(sorted(os.path.basename(path) for path in want), sorted(name for name in names if not name.endswith("/")))

    def repository(self, tree):
        run(["git", "init", "-q"], tree, [0])
        return tree


class Git(Judged):
    def test_tracked_files_of_a_repository(self):
        tree = self.top / "repository"
        shutil.copytree(SOURCE / "src", tree / "src")
        (tree / ".gitignore").write_text("*.hpp\n!name_rules.hpp\n")
        run(["git", "init", "-q"], tree, [0])
        run(["git", "add", "."], tree, [0])
        for pattern, flags in [("return", []), ("size_t", ["-w"]), ("error", ["-i"]), ("f(", ["-F"])]:
            want = run(["git", "grep", "-I", "-n", *flags, *([] if "-F" in flags else ["-E"]), "-e", pattern], tree)
            have = run([PADDOCK, "search", *flags, "--", pattern], tree)
            self.assertEqual(want.replace(b"\r", b""), have, (pattern, flags))
            self.assertTrue(want)

    def test_find_names_what_git_would_add(self):
        tree = self.top / "repository"
        shutil.copytree(SOURCE / "test", tree, symlinks=True, ignore=shutil.ignore_patterns("node_modules"))
        (tree / ".gitignore").write_text("*.py\nfuzz/corpus/\n!lint.py\n/cli\n")
        run(["git", "init", "-q"], tree, [0])
        want = run(["git", "ls-files", "-o", "--exclude-standard"], tree).splitlines()
        have = run([PADDOCK, "find", "-t", "file", "*"], tree).splitlines()
        self.assertEqual(sorted(want), have)
        self.assertGreater(len(want), 100)

    def test_tools_answer_what_git_says(self):
        tree = self.top / "repository"
        shutil.copytree(SOURCE / "src", tree / "src")
        (tree / ".gitignore").write_text("*.hpp\n!name_rules.hpp\n")
        run(["git", "init", "-q"], tree, [0])
        run(["git", "add", "."], tree, [0])

        def pages(tool, arguments, member):
            offset, results = 0, []
            while offset is not None:
                page = json.loads(run([PADDOCK, "call", tool, json.dumps({**arguments, "offset": offset}), "--tools", "coding"], tree, [0]))
                results += page[member]
                offset = page.get("nextOffset")
            return results

        cases = [("f(", ["-F"], {"literal": True}), ("return", [], {}), ("size_t", ["-w"], {"word": True}),
                 ("error", ["-i"], {"ignoreCase": True}), ("PADDOCK_[A-Z]+", [], {"limit": 7})]
        for pattern, flags, arguments in cases[::STEP]:
            want = run(["git", "grep", "-I", "-n", *flags, *([] if "-F" in flags else ["-E"]), "-e", pattern], tree)
            matches = pages("searchText", {"pattern": pattern, "limit": 300, **arguments}, "matches")
            have = "".join(f"{file['path']}:{line['line']}:{line['text']}\n" for file in matches for line in file["lines"])
            self.assertEqual(want.decode(), have, pattern)
            self.assertTrue(want)
            want = run(["git", "grep", "-I", "-l", *flags, *([] if "-F" in flags else ["-E"]), "-e", pattern], tree).decode()
            self.assertEqual(want.split(), pages("searchText", {"pattern": pattern, **arguments, "output": "files"}, "files"))
        want = run(["git", "ls-files", "*.cpp"], tree).decode().split()
        self.assertEqual(want, pages("findFiles", {"glob": "*.cpp", "limit": 20}, "paths"))
        self.assertNotEqual(want, pages("findFiles", {"glob": "*.cp?", "limit": 20, "type": "directory"}, "paths"))  # the control


if __name__ == "__main__":
    unittest.main()
