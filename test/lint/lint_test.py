#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lint scripts find what they look for: each is given a small tree with one fault in it."""
import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest

import api_docs
import definitions
import docs_tables
import guarantees
import include_graph
import includes
import output
import pages
import sizes
import words
import wraps


def findings(check, tree, *arguments):
    """What `check` prints about a tree given as {path: text}, and whether it failed."""
    with tempfile.TemporaryDirectory() as top:
        for path, text in tree.items():
            file = pathlib.Path(top, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            failed = check(pathlib.Path(top), *arguments) != 0
    assert failed == bool(printed.getvalue())
    return printed.getvalue()


def long_function(lines, introduction="int f(int a)"):
    return "namespace x {\n" + introduction + " {\n" + "  work();\n" * (lines - 2) + "}\n} // namespace x\n"


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class ApiDocs(unittest.TestCase):
    HEADER = "// SPDX\n#pragma once\n\n{}\nnamespace paddock {{\n{}\n}}\n"
    CASES = {
        "a header without a paragraph": ("", "", "does not open"),
        "a function without a text": ("/// For x.\n", "int f(int);", "paddock::f has no text"),
        "a class without a text": ("/// For x.\n", "class a {};", "class paddock::a has no text"),
        "a method without a text": ("/// For x.\n", "/// A.\nclass a {\npublic:\n  int f() const;\n};", "paddock::a::f has no text"),
        "a result without its errors": ("/// For x.\n", "/// Reads.\n[[nodiscard]] result<int> f();", "does not say its errors"),
        "a parameter that is none": ("/// For x.\n", "/// Reads. \\param b what\nint f(int a);", "argument 'b'"),
    }

    def test_faults(self):
        for name, (paragraph, body, expected) in self.CASES.items():
            with self.subTest(name):
                self.assertIn(expected, findings(api_docs.main, {"include/paddock/a.hpp": self.HEADER.format(paragraph, body)}))

    def test_too_little_is_a_fault(self):
        fine = self.HEADER.format("/// For x.", "/// Adds. No error.\nint f(int);")
        self.assertRegex(findings(api_docs.main, {"include/paddock/a.hpp": fine}), r"\ADoxygen saw 1 public functions only\n\Z")


class Includes(unittest.TestCase):
    FINE = {
        "test/precompiled/tests.hpp": "#include <vector>\n#include <thread>\n",
        "test/support/a.hpp": "#include <thread>\n",
        "test/a_test.cpp": '#include "support/a.hpp"\n#include <gtest/gtest.h>\nTEST(A, B) { std::thread t; std::vector<int> v; } // std::span\n',
        "test/no_test.cpp": "int main() { std::thread t; }\n",  # compiled without
    }
    CASES = {
        "what is named and not included": ("test/b_test.cpp", "#include <gtest/gtest.h>\nstd::thread t;\n",
                                           "b_test.cpp:2: std::thread without #include <thread>"),
        "a framework that is not included": ("test/b_test.cpp", "#include <gtest/gtest.h>\nvoid f() { EXPECT_THAT(1, 1); }\n",
                                             "EXPECT_THAT without #include <gmock/gmock.h>"),
        "a header without names": ("test/precompiled/tests.hpp", "#include <barrier>\n", "<barrier> has no row"),
    }

    def test_faults(self):
        self.assertEqual(findings(includes.main, self.FINE), "")
        for name, (path, text, expected) in self.CASES.items():
            with self.subTest(name):
                self.assertIn(expected, findings(includes.main, {**self.FINE, path: text}))


class Definitions(unittest.TestCase):
    TABLE = "#define PADDOCK_ENTRY(a) a,\nenum class e { PADDOCK_LIST(PADDOCK_ENTRY) };\n"
    FINE = {
        "include/paddock/a.hpp": "#define PADDOCK_LIST(X) X(a)\n" + TABLE + "#undef PADDOCK_ENTRY\n",
        "src/a.hpp": "namespace paddock::a {\nstruct kept;\nstruct row { int limit = 1; };\ninline constexpr int limit = 1;\n}\n",
        "src/b.hpp": "namespace paddock::b {\nenum class row { x };\nconstexpr int f() { constexpr int limit = 2; return limit; }\n}\n",
        "src/c.cpp": "namespace paddock::a {\nnamespace {\nstruct row {};\nconstexpr int limit = 3;\n}\nstruct kept { int x; };\n}\n",
    }
    CASES = {
        "a macro of a user's": ("include/paddock/b.hpp", "#define X(a) a,\n#undef X\n", "the macro X does not begin"),
        "an entry that stays": ("include/paddock/b.hpp", TABLE, "is not undefined after its table"),
        "an entry defined twice": ("include/paddock/b.hpp", TABLE + TABLE + "#undef PADDOCK_ENTRY\n", "b.hpp:1: PADDOCK_ENTRY is not"),
        "a constant with two values": ("src/d.hpp", "namespace paddock::a {\ninline constexpr int limit = 2;\n}\n", "a::limit is defined"),
        "an array with two values": ("tools/d.hpp", "namespace paddock {\nnamespace a {\nconstexpr int limit[] = {2};\n}\n}\n",
                                     "a::limit is defined"),
        "two types of one name": ("src/d.cpp", "namespace paddock::a {\nclass row final : base {\n};\n}\n", "a::row is defined here and at src/d.cpp:2"),
    }

    def test_what_is_fine(self):
        self.assertEqual(findings(definitions.main, self.FINE), "")

    def test_faults(self):
        for name, (path, text, expected) in self.CASES.items():
            with self.subTest(name):
                self.assertIn(expected, findings(definitions.main, self.FINE | {path: text}))


class Wraps(unittest.TestCase):
    WRAP = "[wrap-file]\ndirectory = a-1.2\nsource_url = https://example.org/a.tar.gz\nsource_filename = a-1.2.tar.gz\n" \
           f"source_hash = {'0' * 64}\npatch_directory = a\n\n[provide]\na = a_dep\n"
    BUILD = "project('a', version: '1.2')\n"

    def findings(self, wrap, build, path="subprojects/packagefiles/a/meson.build"):
        return findings(wraps.main, {"subprojects/a.wrap": wrap, path: build})

    def test_faults(self):
        self.assertEqual(self.findings(self.WRAP, self.BUILD), "")
        for old, new, expected in (("0" * 64, "0", "no SHA-256"), ("https", "http", "no https"), ("[provide]", "[other]", "sections"),
                                   ("a-1.2.tar.gz", "b.tar.gz", "source_filename"), ("patch_directory = a", "patch_directory = b", "there is no")):
            with self.subTest(expected):
                self.assertIn(expected, self.findings(self.WRAP.replace(old, new), self.BUILD))
        self.assertIn("another version", self.findings(self.WRAP, self.BUILD.replace("1.2", "1.3")))
        self.assertIn("no wrap uses it", self.findings(self.WRAP.replace("patch_directory = a\n", ""), self.BUILD))


class Output(unittest.TestCase):
    def test_faults(self):
        for line, is_found in (('std::printf("%s", name);', True), ("std::cerr << name;", True), ("fwrite(a, 1, b, stdout);", True),
                               ("std::snprintf(a, b, c);", False), ('print_words("%s", name);', False), ("// std::printf(x)", False),
                               ("::write(STDOUT_FILENO, a, b);", True)):
            with self.subTest(line):
                self.assertEqual("prints past" in findings(output.main, {"tools/cli/a.cpp": line + "\n"}), is_found)
        self.assertEqual(findings(output.main, {"tools/common/output.cpp": 'std::printf("x");\n'}), "")


class Guarantees(unittest.TestCase):
    README = "**Guaranteed**, as tests show:\n\n- Nothing [leaves](#x). `a` is\n  hidden.\n\n**Not guaranteed**\n"
    ROWS = "| promise | test |\n|---|---|\n| Nothing leaves. | a_test.cpp: Suite.Stays |\n| `a` is hidden. | b_test.py: test_hidden |\n"
    TREE = {"test/a_test.cpp": "TEST_F(Suite, Stays) {\n", "test/deep/b_test.py": "def test_hidden(self):\n"}

    def findings(self, rows, tree=None):
        security = "# Security\n<!-- guarantees -->\n" + rows + "<!-- /guarantees -->\n"
        return findings(guarantees.main, {"README.md": self.README, ".github/SECURITY.md": security, **self.TREE, **(tree or {})})

    def test_faults(self):
        self.assertEqual(self.findings(self.ROWS), "")
        for old, new, expected in (("`a` is hidden.", "`b` is hidden.", "names no test for it: `a` is hidden."),
                                   ("`a` is hidden.", "`b` is hidden.", "does not promise: `b` is hidden."),
                                   ("Suite.Stays", "Suite.Leaves", "has no test Suite.Leaves"),
                                   ("test_hidden", "test_shown", "has no test test_shown"),
                                   ("b_test.py", "c_test.py", "is not FILE: NAME"),
                                   ("a_test.cpp: Suite.Stays", "a_test.cpp", "is not FILE: NAME")):
            with self.subTest(expected):
                self.assertIn(expected, self.findings(self.ROWS.replace(old, new)))
        self.assertIn("is not FILE: NAME", self.findings(self.ROWS, {"test/other/b_test.py": ""}))


class IncludeGraph(unittest.TestCase):
    TREE = {
        "include/paddock/base/result.hpp": "",
        "include/paddock/file/file.hpp": "#include <paddock/path/root.hpp>\n#include <string>\n#include <gsl/assert>\n",
        "include/paddock/path/root.hpp": "#include <paddock/base/result.hpp>\n",
        "include/paddock/mime/mime.hpp": "",
        "include/paddock/todo/todo.hpp": "",
        "include/paddock/mcp/tool.hpp": "",
        "include/paddock/mcp/client.hpp": "",
        "src/file/file.cpp": '#include "sys/syscall.hpp"\n#include <fcntl.h>\n'
                             "// ::close(fd)\nvoid f() { ::new (p) int; sys::close(1); std::move(a); }\n",
        "src/sys/syscall.cpp": "#include <unistd.h>\nvoid f() { ::close(1); }\n",
        "src/sys/syscall.hpp": "",
        "src/sys/errno.hpp": "",
        "src/sys/errno.cpp": '#include "sys/errno.hpp"\n#include "sys/syscall.hpp"\n',
        "src/mcp/protocol/tool.cpp": "#include <simdjson.h>\n#include <paddock/mcp/tool.hpp>\n",
        "src/mcp/client/client.cpp": "",
        "include/paddock/skill_manager/config.hpp": "#include <paddock/mcp/client.hpp>\n",
        "include/paddock/skill_manager/manager.hpp": "#include <paddock/skill_manager/config.hpp>\n",
        "src/mcp/server/server.cpp": "",
        "src/exec/helper/root/mounts.cpp": "#include <sys/mount.h>\nvoid f() { ::umount(p); }\n",
        "tools/cli/paddock.cpp": '#include "common/terminal.hpp"\n#include <paddock/mcp/client.hpp>\n',
        "tools/common/terminal.hpp": "",
        "tools/adapter/audit_log.hpp": "",
    }
    CASES = {
        "a header that is not installed": ("include/meson.build", "'paddock/base/result.hpp'", "path/root.hpp: include/meson.build does not"),
        "upwards": ("include/paddock/path/root.hpp", "#include <paddock/file/file.hpp>\n", "path may not include"),
        "between pure headers": ("include/paddock/mime/mime.hpp", "#include <paddock/todo/todo.hpp>\n", "mime may not include"),
        "protocol from below": ("include/paddock/file/file.hpp", "#include <paddock/mcp/tool.hpp>\n", "of mcp/protocol"),
        "the client from the server": ("src/mcp/server/server.cpp", "#include <paddock/mcp/client.hpp>\n", "of mcp/client"),
        "a configuration from its managers": ("include/paddock/skill_manager/config.hpp", "#include <paddock/skill_manager/manager.hpp>\n",
                                              "skill_manager/config may not include"),
        "a source upwards": ("src/sys/syscall.cpp", "#include <paddock/path/root.hpp>\n", "sys may not include"),
        "unknown room": ("include/paddock/cellar/surprise.hpp", "", "the room cellar is not in the table"),
        "no room": ("src/surprise.cpp", "", "the room None is not in the table"),
        "kernel header in public": ("include/paddock/path/root.hpp", "#include <fcntl.h>\n", "too heavy"),
        "gsl/gsl in public": ("include/paddock/path/root.hpp", "#include <gsl/gsl>\n", "too heavy"),
        "simdjson outside": ("src/path/root.cpp", "#include <simdjson.h>\n", "src/mcp/*.cpp only"),
        "simdjson in a private header": ("src/mcp/json/a.hpp", "#include <simdjson.h>\n", "src/mcp/*.cpp only"),
        "system header": ("src/file/file.cpp", "#include <unistd.h>\n", "belongs into src/sys"),
        "system call": ("src/file/file.cpp", "void f() { ::unlink(p); }\n", "looks like a system call"),
        "sys in a tool": ("tools/cli/paddock.cpp", '#include "sys/syscall.hpp"\n', "tools/cli may not include"),
        "one program in another": ("tools/cli/paddock.cpp", '#include "adapter/audit_log.hpp"\n', "of tools/adapter"),
        "a ring within a room": ("src/sys/syscall.hpp", '#include "sys/errno.hpp"\n', "in a ring: src/sys/errno, src/sys/syscall"),
        "sys in a benchmark": ("bench/a.cpp", '#include "sys/syscall.hpp"\n', "src/*.cpp only"),
    }

    def test_faults(self):
        for name, (path, text, expected) in self.CASES.items():
            with self.subTest(name):
                self.assertIn(expected, findings(include_graph.main, self.TREE | {path: text}))

    def test_what_is_allowed(self):
        self.assertEqual("", findings(include_graph.main, self.TREE))


class Sizes(unittest.TestCase):
    INTRODUCTIONS = [
        "int f(int a)", "auto f() const noexcept -> result<int>", "X::X(int a) : a_(a), b_{a}",
        "template <class T> requires (sizeof(T) > 1) void f()", "TEST(A, b)", "struct s { int f()",
        "const auto f = [](int a)",
    ]

    def test_functions(self):
        for introduction in self.INTRODUCTIONS:
            with self.subTest(introduction):
                closing = "};\n" if introduction.startswith("struct") else ""
                self.assertEqual("", findings(sizes.main, {"src/a.cpp": long_function(70, introduction) + closing}))
                self.assertIn("71 lines", findings(sizes.main, {"src/a.cpp": long_function(71, introduction) + closing}))

    def test_what_does_not_count(self):
        text = "struct s {\n" + "  int f() { return '{'; } // {\n" * 80 + "};\n" + "const int t[] = {\n" + "1,\n" * 80 + "};\n"
        self.assertEqual("", findings(sizes.main, {"src/a.cpp": text}))

    def test_files(self):
        self.assertIn("351 lines", findings(sizes.main, {"include/paddock/a.hpp": "int a;\n" * 351}))
        self.assertIn("601 lines", findings(sizes.main, {"src/a.cpp": "int a;\n" * 601}))
        self.assertEqual("", findings(sizes.main, {"src/a.cpp": "int a;\n\n" * 600}))


class Words(unittest.TestCase):
    LOCK = {"test/client/package-lock.json": "{}"}

    def check(self, tree):
        return findings(words.main, self.LOCK | tree, "7.8.9")

    def test_words(self):
        self.assertIn("src/a.cpp:2", self.check({"src/a.cpp": "\n// " + "TO" + "DO: later\n"}))
        self.assertIn("meson.build only", self.check({"src/a.cpp": 'auto v = "7.8.9";\n'}))
        self.assertIn("resolved", self.check({"test/client/package-lock.json": '{"resolved": ""}'}))
        self.assertEqual("", self.check({"src/a.cpp": "todo_list t; // 127.8.9.1\n", "meson.build": "version: '7.8.9'"}))

    def test_habits(self):
        tree = {"src/a.cpp": "// told what is there, so that\nint process_desk, spotted, desktop;\n"}
        self.assertEqual("", findings(words.check_habits, tree, {"src": (3, 1)}))
        self.assertIn("3 translated phrases, more than 2", findings(words.check_habits, tree, {"src": (2, 1)}))
        self.assertIn("1 metaphors, more than 0", findings(words.check_habits, tree, {"src": (3, 0)}))
        self.assertIn("lower the budget of 5", findings(words.check_habits, tree, {"src": (5, 1)}))


class DocsTables(unittest.TestCase):
    TREE = {
        "include/paddock/base/limits.hpp": '#define PADDOCK_LIMITS(X) \\\n  X(a, 2u * 1024 * 1024, 1u, "a", "size of a") \\\n'
                                      "  X(b, 10'000u, 0u, \"b\", \"number, of b\")\n// clang-format on\n",
        "include/paddock/path/protected_names.hpp": '#define PADDOCK_PROTECTED_NAMES(X) \\\n  X("a", hidden, "b") \\\n'
                                                    '  X(".git/c", read_only, "d")\n// clang-format on\n',
    }
    PAGE = ("<!-- limits -->\n| limit | default | least | name |\n|---|---|---|---|\n| size of a | 2 MiB | 1 | `a` |\n"
              "| number, of b | 10,000 | 0 | `b` |\n<!-- /limits -->\n")
    NAMES = "<!-- protected names -->\n<!-- /protected names -->\n"

    def test_tables(self):
        tree = self.TREE | {"docs/limits.md": self.PAGE, "docs/confinement.md": self.NAMES}
        shown = findings(docs_tables.main, tree, False)
        for expected in ("+| `a` | hidden |", "+| `.git/c` | read-only | in every", "--write"):
            self.assertIn(expected, shown)
        self.assertNotIn("limits.md", shown)
        stale = self.PAGE.replace("2 MiB", "3 MiB")
        self.assertIn("limits.md differs", findings(docs_tables.main, tree | {"docs/limits.md": stale}, False))
        self.assertEqual("", findings(docs_tables.main, tree | {"docs/limits.md": stale}, True))


class Pages(unittest.TestCase):
    README = "# A\n\nTo [b](docs/b.md), [there](docs/b.md#use-it-from-c), [below](#end) and [out](https://example.org/x).\n\n## End\n"
    PAGE = "# B\n\n## Use it from C++\n\n![plot](../c.svg) `[no](link.md)`\n\n```sh\n# no heading\necho '[no](link.md)'\n```\n"
    TREE = {"README.md": README, "docs/b.md": PAGE, "c.svg": "", ".github/d.md": "[up](../README.md#end)\n",
            "src/a.hpp": "#include <x/y.hpp> // in deep/b.hpp\n", "src/deep/b.hpp": ""}
    CASES = {
        "a file": ("README.md", "(docs/b.md)", "(docs/c.md)", "README.md:3: docs/c.md leads nowhere"),
        "an anchor elsewhere": ("README.md", "use-it-from-c", "use-it-from-c++", "README.md:3: docs/b.md#use-it-from-c++ leads nowhere"),
        "an anchor here": ("README.md", "(#end)", "(#ends)", "README.md:3: #ends leads nowhere"),
        "a picture": ("docs/b.md", "../c.svg", "c.svg", "docs/b.md:5: c.svg leads nowhere"),
        "a comment in code": ("README.md", "(#end)", "(docs/b.md#no-heading)", "README.md:3: docs/b.md#no-heading leads nowhere"),
        "elsewhere": (".github/d.md", "#end", "#start", ".github/d.md:1: ../README.md#start leads nowhere"),
        "outside": ("README.md", "(#end)", "(../../etc/hosts)", "README.md:3: ../../etc/hosts leads out of the tree"),
        "no way": ("README.md", "(docs/b.md), [there](docs/b.md#use-it-from-c)", "(#end)", "docs/b.md: no link in README.md leads to it"),
        "a source": ("src/a.hpp", "in deep/b.hpp", "in deep/c.hpp", "src/a.hpp:1: there is no deep/c.hpp"),
        "a long line": ("docs/b.md", "# B\n", "# B\n" + "b " * 61 + "\n", "docs/b.md:2: 122 columns"),
        "a long row": ("README.md", "# A\n", "# A\n| " + "b" * 120 + " |\n", "README.md:2: 124 columns"),
        "a long page": ("README.md", "# A\n", "# A\n" + "a\n" * 150, "README.md has 155 lines"),
    }

    def test_faults(self):
        self.assertEqual("", findings(pages.main, self.TREE))
        for name, (path, old, new, expected) in self.CASES.items():
            with self.subTest(name):
                self.assertIn(expected, findings(pages.main, self.TREE | {path: self.TREE[path].replace(old, new)}))

    def test_what_is_allowed(self):
        row = "| " + "b" * 200 + " |\n"
        self.assertEqual("", findings(pages.main, self.TREE | {"docs/b.md": self.PAGE + row}))
        twice = {"docs/b.md": self.PAGE + "## Twice\n\n## Twice\n\n[second](#twice-1)\n"}
        self.assertEqual("", findings(pages.main, self.TREE | twice))


if __name__ == "__main__":
    unittest.main()
