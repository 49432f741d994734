#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Texts of skills as people write them, over every way on which they are shown or changed, judged by PyYAML.

Thousands of SKILL.md files are made from texts in many scripts and every style of YAML, with a fixed seed; the
directory that PADDOCK_SKILL_CORPUS names, or ../shared/corpus/skills beside the checkout, has files of real skills.
`skills list`, `show`, `prompt` and the page must give the texts that PyYAML reads, and an edit of one field may change
no byte outside of it.
"""
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

try:
    import yaml
except ImportError:
    yaml = None

PADDOCK = os.environ["PADDOCK"]
HERE = pathlib.Path(__file__).resolve().parents[1]
GENERATED = int(os.environ.get("PADDOCK_TEST_CASES", "3000"))

# What people write, script by script; with the characters that byte-wise code stumbles over.
TEXTS = [
    "查询行情 ok", "将用户给定的情况整理成表格，并给出结论。", "當使用者需要時，讀取「資料庫」。", "情行晚馍 馍晚行情",
    "ユーザーが資料を求めたときに使う。", "データを読み込み、グラフを描く（簡易版）", "ｶﾀｶﾅと全角ＡＢＣ　空白",
    "사용자가 문서를 요청할 때 사용합니다.", "데이터를 읽고 요약합니다", "ใช้เมื่อผู้ใช้ขอให้สรุปเอกสาร", "คำอธิบายทักษะ",
    "استخدم هذه المهارة عند كتابة التقارير", "می\u200cخواهم کتاب\u200cها را بخوانم", "השתמש במיומנות זו לכתיבת דוחות",
    "जब उपयोगकर्ता रिपोर्ट माँगे तब उपयोग करें", "ক্\u200cষ র\u200dয বাংলা", "ශ්\u200dරී ලංකා", "தமிழ் உரை", "తెలుగు వచనం",
    "Dùng khi người dùng hỏi về dữ liệu", "Ti\u1ebf\u0301ng Vi\u1ec7t, e\u0301 o\u0302\u0323", "Используйте для отчётов — «быстро»",
    "Χρησιμοποιήστε το για αναφορές", "Für Übergrößen: naïve Façade", "Użyj, gdy źródło jest łatwe", "İstanbul'da ışık",
    "👩\u200d💻 writes 👨\u200d👩\u200d👧\u200d👦 code ❤\ufe0f 🏳\ufe0f\u200d🌈", "🇯🇵🇩🇪 👍🏽 1\ufe0f\u20e3", "𝒳𝓎 𠜎𠜱 🀄 𐍈",
    "No\u00a0break, thin\u2009space, ideographic\u3000space", "Use when the user asks — for “quotes”, ‘single’ … and ‰",
    "plain ASCII words only", "a", "x" * 64, "code: `git log --oneline | head`", "100% of #tags, [links](x) & {braces}",
    "ends with colon:", "has: colon inside", "C:\\path\\file", "it's \"quoted\"", "tab\tinside", "--- dashes ---", "* star", "@at",
    "é", "ÀÁÂÃÄÅ ÍÏÐ", "Ѝ ѝ Р р Н н", "中", "情", "行", "馍", "前 前", "\u4e0d\u8981\u5220\u9664", "ÉÉÉÉÉÉÉ É", "🍉🍉 🍉",
]
BREAKS = ["\u0085", "\u2028", "\u2029"]


DIFFERENCES = """
Where this project and PyYAML do not say the same, on purpose:
- A tab within plain text: YAML 1.2.2 (s-white) and libyaml allow it, PyYAML refuses the file. Not judged.
- Two of one key: YAML forbids it, PyYAML takes the last without a word, this project the first, with a warning. Not judged.
- What is no YAML at all: PyYAML refuses it, this project recovers name and description and says so. Judged by that.
- NEL, LS and PS end a line in YAML 1.1 (PyYAML, libyaml) and none in YAML 1.2. The texts shown are the same. In the lines
  of a block (| and >) they end the value for YAML 1.1; an edit then replaces all lines of the field, not a part of one.
  Files with such a value are not judged by YAML 1.2.
- Types of bare words: SCALARS.
"""

# What a bare word is by YAML 1.1 (PyYAML), by YAML 1.2 (js-yaml), and whether this project says that it is no text. What
# is shown is the word as written in any case.
SCALARS = {
    "yes": (True, "yes", False), "No": (False, "No", False), "on": (True, "on", False), "OFF": (False, "OFF", False),
    "017": (15, 17, True), "0o17": ("0o17", 15, True), "0b11": (3, 3, False), # binary: js-yaml's addition to YAML 1.2
    "1_000": (1000, "1_000", False), "1e3": ("1e3", 1000, True), "190:20:30": (685230, "190:20:30", False),
    "2024-01-01": (datetime.date(2024, 1, 1), "2024-01-01", False),
    "2024-01-01T10:00:00Z": (datetime.datetime(2024, 1, 1, 10, tzinfo=datetime.timezone.utc), "2024-01-01T10:00:00Z", False),
    # In these they agree.
    "y": ("y", "y", False), "true": (True, True, True), "True": (True, True, True), "12": (12, 12, True), "+12": (12, 12, True),
    "0x1f": (31, 31, True), ".5": (0.5, 0.5, True), "12.50": (12.5, 12.5, True), "1.0e+3": (1000.0, 1000, True),
}


def words(random_, size):
    """Text of about that many characters out of TEXTS, cut anywhere, so that every byte comes to stand everywhere."""
    text = ""
    while len(text) < size:
        piece = random_.choice(TEXTS)
        begin = random_.randrange(len(piece))
        text += ("" if random_.random() < 0.3 or not text else " " * random_.choice([1, 1, 1, 2, 5])) + piece[begin:]
    return re.sub("[\u200c\u200d\ufe0f]+", "", text[:size]) if random_.random() < 0.5 else text[:size]


def quoted(text, random_):
    out = ""
    for c in text:
        if c in "\"\\" or (not c.isprintable() and c != " ") or c in "\u200c\u200d" or random_.random() < 0.01:
            out += {"\"": "\\\"", "\\": "\\\\", "\t": "\\t"}.get(
                c, "\\u%04x" % ord(c) if ord(c) < 0x10000 else "\\U%08x" % ord(c))
        else:
            out += c
    return '"' + out + '"'


def folded(text, random_, indent):
    """The text over several lines, broken at single blanks."""
    lines = [[]]
    for word in text.split(" "):
        if lines[-1] and random_.random() < 0.3:
            lines.append([])
        lines[-1].append(word)
    return ("\n" + indent).join(" ".join(line) for line in lines)


def scalar(text, style, random_):
    if style == "double":
        return quoted(text, random_)
    if style == "double folded":
        return '"' + folded(quoted(text, random_)[1:-1], random_, "  ") + '"'
    if style == "single":
        return "'" + text.replace("'", "''") + "'"
    if style == "single folded":
        return "'" + folded(text.replace("'", "''"), random_, "  ") + "'"
    if style == "plain folded":
        return folded(text, random_, "  ")
    if style[0] in "|>":
        lines = [words(random_, random_.randrange(1, 60)).strip(" \t") or "x" for _ in range(random_.randrange(0, 4))]
        return style + "\n  " + "\n  ".join([text.strip(" \t") or "x"] + lines)
    return text


STYLES = ["plain", "plain", "plain folded", "double", "double folded", "single", "single folded", "|", ">", "|-", ">-", "|+", ">+"]


def generated(seed):
    random_ = random.Random(seed)
    name = words(random_, random_.randrange(1, 30)).strip() or "n"
    text = words(random_, random_.choice([random_.randrange(1, 40), random_.randrange(40, 300), 1100])).strip() or "d"
    if random_.random() < 0.05:
        at = random_.randrange(len(text))
        text = text[:at] + random_.choice(BREAKS) + text[at:]
    if random_.random() < 0.05:
        text = random_.choice(TEXTS)
    name_lines = "name: " + scalar(name, random_.choice(STYLES[:7]), random_)
    text_lines = "description: " + scalar(text, random_.choice(STYLES), random_)
    other = random_.choice(["license: MIT", "# ein Kommentar — 情", "metadata:\n  author: 情行 \n  note: \"é\"", "tags: [情, b]", ""])
    fields = [name_lines, text_lines] + ([other] if other else [])
    random_.shuffle(fields)
    file = "---\n" + "\n".join(fields) + "\n---\n\n# 标题\n\n" + words(random_, 80) + "\n"
    if random_.random() < 0.15:
        file = file.replace("\n", "\r\n")
    if random_.random() < 0.05:
        file = "\ufeff" + file
    return file.encode()


# --- the judge: PyYAML, and what this project does with the texts it gives ------------------------------------------

def block_of(file):
    """Offset and text of what lies between the fences; None when there is nothing."""
    try:
        text = file.decode()
    except UnicodeDecodeError:
        return None
    mark = 1 if text.startswith("\ufeff") else 0
    found = re.match(r"---[ \t]*\r?\n", text[mark:])
    if not found:
        return None
    begin = mark + found.end()
    end = re.compile(r"^---[ \t]*\r?$", re.MULTILINE).search(text, begin)
    # "^" stands behind "\n" only; "\r?$" before "\n" or at the end.
    return (begin, text[begin:end.start()]) if end else None


def one_line(text):
    return re.sub("[ \t\n\v\f\r\u0085\u2028\u2029]+", " ", text).strip(" ")


class Judged:
    """What PyYAML says of a file. `fields` is None where it is not valid."""

    def __init__(self, file):
        self.file, self.fields, self.spans = file, None, {}
        block = block_of(file)
        if block is None:
            return
        begin, text = block
        try:
            node = yaml.compose(text, Loader=yaml.BaseLoader)
        except (yaml.YAMLError, ValueError):
            return
        if not isinstance(node, yaml.MappingNode):
            return
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(keys) != len(node.value) or len(set(keys)) != len(keys):
            return # two of one key, which PyYAML lets pass
        self.fields = {}
        for key, value in node.value:
            if key.value in ("name", "description") and isinstance(value, yaml.ScalarNode):
                self.fields[key.value] = one_line(value.value)
                before = text[:key.start_mark.index]
                whole = text[:value.end_mark.index]
                if whole[-1] in BREAKS:
                    continue # see DIFFERENCES
                self.spans[key.value] = (len((file.decode()[:begin] + before).encode()),
                                         len((file.decode()[:begin] + whole).encode()))

    def loads(self):
        return self.fields is not None and all(self.fields.get(key) for key in ("name", "description"))


def js_yaml(blocks, schema="failsafe"):
    """What js-yaml says of these texts, {id: mapping or None}; nothing where it is not installed."""
    modules = HERE / "client/node_modules"
    node = next(iter(modules.glob("node-linux-*/bin/node")), None) or shutil.which("node")
    package = modules / "js-yaml/package.json"
    if node is None or not package.exists() or not json.loads(package.read_text())["version"].startswith("4."):
        return None
    done = subprocess.run([node, HERE / "client/yaml_judge.mjs", schema], input=json.dumps(blocks), capture_output=True,
                          encoding="utf-8", timeout=300, check=True)
    return json.loads(done.stdout)


class JsJudged:
    """The same of js-yaml, once for many files."""

    def __init__(self, said):
        self.fields = said and {key: one_line(value) for key, value in said.items()
                                if key in ("name", "description") and isinstance(value, str)}
        self.spans = {}

    loads = Judged.loads

    @classmethod
    def all_of(cls, files):
        blocks = {identity: block_of(file) for identity, file in files.items()}
        said = js_yaml({identity: block[1] for identity, block in blocks.items() if block is not None})
        return None if said is None else {identity: cls(said.get(identity)) for identity in files}


def differences(judged, shown):
    """Ids whose shown texts are not PyYAML's: {id: (PyYAML's, ours)}."""
    found = {}
    for identity, judge in judged.items():
        ours = shown.get(identity)
        if judge.loads() and (ours is None or any(ours[key] != judge.fields[key] for key in judge.fields)):
            found[identity] = (judge.fields, ours and {key: ours[key] for key in judge.fields})
    return found


def run(*command, **options):
    return subprocess.run([PADDOCK, *command], capture_output=True, encoding="utf-8", timeout=300, **options)


class Page:
    """The page's server; requests as its script sends them."""

    def __init__(self, root):
        self.process = subprocess.Popen([PADDOCK, "skills", "ui", "--root", root], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = re.match(r"(http://[^/]+)/([^/]+)/", self.address)
        self.origin, self.token = found.group(1), found.group(2)

    def send(self, method, path, body=None):
        sent = urllib.request.Request(self.origin + path, method=method, data=body and json.dumps(body).encode(),
                                      headers={"X-Paddock-Token": self.token, "Origin": self.origin,
                                               "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(sent, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as failed:
            return failed.code, json.load(failed)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class SkillTexts(unittest.TestCase):
    files = None

    @classmethod
    def sources(cls):
        return {f"g{seed:05}": generated(seed) for seed in range(GENERATED)}

    @classmethod
    def setUpClass(cls):
        files = cls.sources()
        cls.folder = tempfile.TemporaryDirectory(prefix="paddock-texts-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = os.path.realpath(cls.folder.name)
        cls.judged = {identity: Judged(file) for identity, file in files.items()}
        for identity, file in files.items():
            path = cls.path(identity)
            path.parent.mkdir(parents=True)
            path.write_bytes(file)
        cls.page = Page(cls.root)
        cls.addClassCleanup(cls.page.close)

    @classmethod
    def path(cls, identity):
        return pathlib.Path(cls.root, ".agents/skills", identity, "SKILL.md")

    def listed(self):
        done = run("skills", "list", "--json", "--root", self.root)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {skill["id"]: skill for skill in json.loads(done.stdout)["skills"]}

    def sample(self, size):
        known = sorted(identity for identity, judge in self.judged.items() if judge.loads() and len(judge.spans) == 2)
        return random.Random(1).sample(known, min(size, len(known)))

    def same(self, found):
        self.assertEqual(len(found), 0, f"{len(found)} differ, such as {list(found.items())[:3]}")

    # --- what is shown ---

    def test_1_most_files_are_judged(self):
        judged = sum(judge.loads() for judge in self.judged.values())
        self.assertGreater(judged, len(self.judged) * 0.6)

    def test_1_the_list_has_the_texts(self):
        self.same(differences(self.judged, self.listed()))

    def test_1_the_list_has_the_texts_of_yaml_1_2(self):
        files = {identity: judge.file for identity, judge in self.judged.items()
                 if len(judge.spans) == 2 or not any(c.encode() in judge.file for c in BREAKS)} # see DIFFERENCES
        judged = JsJudged.all_of(files)
        if judged is None:
            self.skipTest("needs js-yaml 4: run tools/setup test")
        both = {identity: judge for identity, judge in judged.items() if judge.loads() and self.judged[identity].loads()}
        self.assertGreater(len(both), len(self.judged) * 0.5)
        self.same(differences(judged, self.listed()))
        shown = self.listed()
        victim = next(iter(both))
        shown[victim]["description"] += "x"
        self.assertEqual(list(differences(both, shown)), [victim])

    def test_1_a_damaged_character_is_noticed(self):
        shown = self.listed()
        victim = next(identity for identity in shown if "情" in shown[identity]["description"] and
                      self.judged[identity].loads())
        shown[victim]["description"] = shown[victim]["description"].replace("情", "\ufffd", 1)
        self.assertEqual(list(differences(self.judged, shown)), [victim])

    def test_1_files_beyond_yaml_are_read_or_refused_with_a_word(self):
        done = run("skills", "list", "--json", "--root", self.root)
        listing = json.loads(done.stdout)
        for skill in listing["skills"]:
            judge = self.judged[skill["id"]]
            if judge.fields is None and b"\t" not in judge.file: # see DIFFERENCES
                self.assertNotEqual(skill["diagnostics"], [], skill["id"])
            self.assertNotIn("\ufffd", skill["name"] + skill["description"])
        for other in listing["notLoaded"]:
            self.assertNotEqual(other["diagnostics"], [], other)

    def test_1_show_has_the_texts_and_the_file(self):
        for identity in self.sample(150):
            shown = json.loads(run("skills", "show", identity, "--json", "--root", self.root).stdout)
            self.same(differences({identity: self.judged[identity]}, {identity: shown["skill"]}))
            self.assertEqual(shown["content"].encode(), self.path(identity).read_bytes())

    def test_1_the_page_has_the_texts_and_the_files(self):
        status, listing = self.page.send("GET", "/api/skills")
        self.assertEqual(status, 200)
        self.same(differences(self.judged, {skill["id"]: skill for skill in listing["skills"]}))
        for identity in self.sample(300):
            status, file = self.page.send("GET", f"/api/file?id={identity}&path=SKILL.md")
            self.assertEqual((status, file["text"].encode()), (200, self.path(identity).read_bytes()), identity)

    def test_1_the_prompt_has_the_texts(self):
        done = run("skills", "prompt", "--budget", str(1 << 30), "--root", self.root)
        lines = dict(re.findall(r"^- \*\*(.+?)\*\*: (.*)$", done.stdout, re.MULTILINE))
        compared = 0
        for identity, judge in self.judged.items():
            if not judge.loads():
                continue

            def short(text, size):
                text = " ".join(text.replace("\u2800", " ").split())
                return text if len(text) <= size else None # cut ones have a test of their own
            name, description = (short(judge.fields[key], size) for key, size in (("name", 64), ("description", 1024)))
            if name is None or description is None or re.search("[\u200b-\u200f\ufe0f\u00ad\ufeff]", name + description):
                continue # what nobody sees goes, by rules that have a test of their own
            compared += 1
            self.assertEqual(lines.get(identity), f"{name} — {description}", identity)
        self.assertGreater(compared, len(self.judged) * 0.2)

    # --- what is changed ---

    def expect_edit(self, identity, key, new, before):
        """Only the field's own bytes have changed, and it and the other read as they should."""
        judge = Judged(before)
        after = self.path(identity).read_bytes()
        begin, end = judge.spans[key]
        rest = before[end:]
        self.assertTrue(after.startswith(before[:begin]) and after.endswith(rest), (identity, before, after))
        field = after[begin:len(after) - len(rest)]
        self.assertRegex(field.decode(), rf"\A{key}: [^\n]*[\r\n]*\Z", (identity, before, after))
        self.assertEqual(Judged(after).fields, dict(judge.fields, **{key: new}), (identity, before, after))

    def edit_all(self, edit, identities):
        for number, identity in enumerate(identities):
            before = self.path(identity).read_bytes()
            key = "name" if number % 2 == 0 else "description"
            new = f"Ganz neu: 情行 \"{number}\" 👩\u200d💻"
            edit(identity, key, new)
            self.expect_edit(identity, key, new, before)
            self.path(identity).write_bytes(before)

    def test_2_an_edit_by_command_changes_one_field(self):
        def edit(identity, key, new):
            done = run("skills", "edit", identity, f"--{key}", new, "--root", self.root)
            self.assertEqual((done.returncode, "error" in done.stderr), (0, False), (done, self.path(identity).read_bytes()))
        self.edit_all(edit, self.sample(150))

    def test_2_a_changed_byte_elsewhere_is_noticed(self):
        identity, = self.sample(1)
        path, before = self.path(identity), self.path(identity).read_bytes()
        run("skills", "edit", identity, "--name", "new", "--root", self.root)
        edited = path.read_bytes()
        self.expect_edit(identity, "name", "new", before)
        begin, end = Judged(before).spans["name"]
        for place in [place for place in (begin - 1, len(edited) - 1, len(edited) - len(before) + end + 1) if place > 4]:
            path.write_bytes(edited[:place] + b"~" + edited[place + 1:])
            with self.assertRaises(AssertionError, msg=place):
                self.expect_edit(identity, "name", "new", before)
        path.write_bytes(before)

    def test_2_an_edit_on_the_page_changes_one_field(self):
        shown = self.listed()

        def edit(identity, key, new):
            fields = {name: shown[identity][name] for name in ("name", "description")} # as the page's form has them
            fields[key] = new
            status, answer = self.page.send("PUT", f"/api/skills?id={urllib.parse.quote(identity)}", fields)
            self.assertEqual(status, 200, (answer, self.path(identity).read_bytes()))
        self.edit_all(edit, self.sample(2000))


class StrictLoader(yaml.SafeLoader if yaml else object):
    """YAML as it is defined: no key twice, wherever."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(set(keys)) != len(keys):
            raise yaml.constructor.ConstructorError(None, None, f"one key twice: {keys}", node.start_mark)
        return super().construct_mapping(node, deep)


def strictly(file):
    """All fields, or None where this is no YAML mapping with a key at most once."""
    try:
        fields = yaml.load(block_of(file)[1], Loader=StrictLoader)
        return fields if isinstance(fields, dict) else None
    except yaml.YAMLError:
        return None


# How a field can be written: {name: (frontmatter, what an edit of the name and of the description does)}.
FORMS = {
    "plain": ("name: n\ndescription: d\nx: 1\n", "edited", "edited"),
    "double-quoted key": ('"name": n\n"description": d\nx: 1\n', "edited", "edited"),
    "single-quoted key": ("'name': n\n'description': d\n", "edited", "edited"),
    "escaped key": ('"n\\u0061me": n\ndescription: d\n', "edited", "edited"),
    "blank before the colon": ("name : n\ndescription : d\n", "edited", "edited"),
    "explicit key": ("? name\n: n\n? description\n: d\nx: 1\n", "refused", "refused"),
    "explicit key, indented": (" ? name\n : n\n ? description\n : d\n", "refused", "refused"),
    "explicit key, one line": ("? name\n: n\ndescription: d\n", "refused", "edited"),
    "anchor that is used": ("name: &a n\ndescription: &b d\nx: *a\ny: *b\n", "refused", "refused"),
    "anchor of the name": ("name: &a n\ndescription: d\nx: *a\n", "refused", "edited"),
    "anchor that is not used": ("name: &a n\ndescription: &b d\nx: 1\n", "edited", "edited"),
    "anchor of the key": ("&a name: n\ndescription: d\nx: *a\n", "refused", "edited"),
    "anchor of a quoted key": ('&a "name": n\ndescription: d\n', "edited", "edited"),
    "anchor elsewhere": ("name: n\nbase: &b {k: v}\ndescription: d\nx: *b\n", "edited", "edited"),
    "tag": ("name: !!str n\ndescription: !!str d\nx: 1\n", "edited", "edited"),
    "tag of the key": ("!!str name: n\n!!str description: d\n", "edited", "edited"),
    "tag and anchor": ("name: !!str &a n\ndescription: d\nx: *a\n", "refused", "edited"),
    "flow": ("{name: n, description: d, x: 1}\n", "edited", "edited"),
    "flow with quoted keys": ('{"name": "n", "description": "d"}\n', "edited", "edited"),
    "flow over lines": ("{\n  name: n,\n  description: d\n}\n", "edited", "edited"),
    "block text": ("name: n\ndescription: |-\n  name: no\n  description: no\nx: 1\n", "edited", "edited"),
    "inner mapping": ("meta:\n  name: i\n  description: j\nname: n\ndescription: d\n", "edited", "edited"),
    "comments": ("# name: c\nname: n # name: c\ndescription: d\n# description: c\n", "edited", "edited"),
    "value on the next line": ("name:\n  n\ndescription:\n  d\nx: 1\n", "edited", "edited"),
    "indented": ("  name: n\n  description: d\n  x: 1\n", "edited", "edited"),
    "indented, quoted keys": ("  'name': n\n  \"description\": d\n", "edited", "edited"),
    "directive": ("%YAML 1.1\n--- \nname: n\ndescription: d\n", None, None),
    "one key twice": ("name: n\ndescription: d\nname: m\n", None, None),
    "alias": ("name: &a n\ndescription: *a\nx: 1\n", "refused", "edited"),
    "one key twice, quoted": ('name: n\ndescription: d\n"name": m\n', None, None),
    "not YAML, quoted key": ('"name": n\ndescription: d: e\n', None, None),
}


class FormsOfFields(unittest.TestCase):
    """An edit says exactly what was asked for, in whatever form the fields are, or it refuses and changes nothing."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.path = pathlib.Path(self.root) / ".agents/skills/s/SKILL.md"
        self.path.parent.mkdir(parents=True)

    def edit(self, block, key, new):
        before = f"---\n{block}---\nname: body\n".encode()
        self.path.write_bytes(before)
        done = run("skills", "edit", "s", f"--{key}", new, "--root", self.root)
        return done, before, self.path.read_bytes()

    def test_every_form_is_edited_exactly_or_refused(self):
        for form, (block, *expected) in FORMS.items():
            for key, wanted in zip(("name", "description"), expected):
                for new in ("other", "a: b # c", "情 '\"' 👩\u200d💻"):
                    with self.subTest(form=form, key=key, new=new):
                        done, before, after = self.edit(block, key, new)
                        if wanted:
                            self.assertEqual("edited" if done.returncode == 0 else "refused", wanted, (done, after))
                        if done.returncode != 0:
                            self.assertEqual(after, before)
                            self.assertRegex(done.stderr, r"editor|give --(name|description) too")
                            continue
                        fields = strictly(before)
                        if fields is not None:
                            self.assertEqual(strictly(after), dict(fields, **{key: new}), after)
                        self.assertTrue(after.endswith(b"---\nname: body\n"))

    def test_of_a_key_twice_what_is_read_is_edited(self):
        for key, block in {"name": "name: n\nname: m\ndescription: d\n", "description": "name: n\ndescription: d\ndescription: e\n"}.items():
            with self.subTest(key=key):
                done, _, after = self.edit(block, key, "new")
                first = block.replace(f"{key}: {'n' if key == 'name' else 'd'}", f"{key}: new" if key == "name" else 'description: "new"', 1)
                self.assertEqual((done.returncode, after), (0, f"---\n{first}---\nname: body\n".encode()))
                self.assertIn("this key occurs twice", done.stderr)
                self.assertEqual(json.loads(run("skills", "list", "--json", "--root", self.root).stdout)["skills"][0][key], "new")

    def test_the_judge_notices_a_second_key(self):
        for block in ("name: new\nname: n\n", 'name: new\n"name": n\n', "name: new\n? name\n: n\n", "x: {a: 1, a: 2}\n"):
            self.assertIsNone(strictly(f"---\n{block}---\n".encode()), block)
            self.assertIsNotNone(yaml.safe_load(block), block)


class Aliases(unittest.TestCase):
    """An alias is read as what its anchor names, as PyYAML has it."""

    def test_aliases(self):
        for block, codes in {
                "name: &n s\ndescription: *n\n": [], "x: &d |\n  a\n  b\nname: s\ndescription: *d\n": ["unknown-key"],
                "name: &n s\ndescription: d\nlicense: *n\n": [],
                "name: s\ndescription: d\nx: &m {a: b}\nmetadata: *m\n": ["unknown-key"], "&k name: s\ndescription: d\n": [],
                "x: &d description\nname: s\n*d : d\n": ["unknown-key"]}.items():
            with self.subTest(block=block), tempfile.TemporaryDirectory() as root:
                path = pathlib.Path(root, ".agents/skills/s/SKILL.md")
                path.parent.mkdir(parents=True)
                path.write_text(f"---\n{block}---\n")
                judged = yaml.safe_load(block)
                shown = json.loads(run("skills", "list", "--json", "--root", root).stdout)["skills"][0]
                self.assertEqual((shown["name"], shown["description"]), (judged["name"], one_line(judged["description"])))
                found = json.loads(run("skills", "validate", "--json", "--root", root).stdout)["files"][0]["diagnostics"]
                self.assertEqual([each["code"] for each in found], codes)

    def test_a_collection_is_no_text(self):
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, "s/SKILL.md")
            path.parent.mkdir()
            path.write_text("---\nx: &m [a]\nname: s\ndescription: *m\n---\n")
            self.assertIn("[description-not-text]", run("skills", "validate", str(path)).stdout)

    def test_aliases_do_not_multiply_memory(self):
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, "s/SKILL.md")
            path.parent.mkdir()
            path.write_text("---\nname: s\ndescription: &d " + "x" * 32_000 + "\n" + "".join(f"k{n}: *d\n" for n in range(3_000)) + "---\n")
            self.assertIn("[too-complex]", run("skills", "validate", str(path)).stdout)


class TypesOfWords(unittest.TestCase):
    """Where YAML 1.1 and 1.2 differ in what a bare word is, this project says what YAML 1.2 says, and shows the word."""

    def test_words(self):
        said = js_yaml({word: f"v: {word}\n" for word in SCALARS}, "core")
        with tempfile.TemporaryDirectory() as root:
            for number, word in enumerate(SCALARS):
                path = pathlib.Path(root, f".agents/skills/s{number}/SKILL.md")
                path.parent.mkdir(parents=True)
                path.write_text(f"---\nname: s{number}\ndescription: {word}\n---\n")
            listed = json.loads(run("skills", "list", "--json", "--root", root).stdout)
        shown = {skill["id"]: skill for skill in listed["skills"]}
        for number, (word, (by_1_1, by_1_2, no_text)) in enumerate(SCALARS.items()):
            with self.subTest(word=word):
                self.assertEqual(repr(yaml.safe_load(f"v: {word}")["v"]), repr(by_1_1))
                if said is not None:
                    self.assertEqual(said[word]["v"], by_1_2)
                skill = shown[f"s{number}"]
                self.assertEqual(skill["description"], word)
                self.assertEqual("not-a-string" in json.dumps(skill), no_text, skill)
        if said is None:
            self.skipTest("needs js-yaml 4 to judge by YAML 1.2: run tools/setup test")


def corpus():
    named = os.environ.get("PADDOCK_SKILL_CORPUS")
    folder = pathlib.Path(named) if named else HERE.parents[1] / "shared/corpus/skills"
    return folder if folder.is_dir() else None


@unittest.skipIf(corpus() is None, "there is no directory of real skills (PADDOCK_SKILL_CORPUS)")
class RealSkillTexts(SkillTexts):
    @classmethod
    def sources(cls):
        paths = sorted(corpus().rglob("SKILL.md"))
        return {f"r{number:05}": path.read_bytes() for number, path in enumerate(paths)}

    def test_1_a_damaged_character_is_noticed(self):
        self.skipTest("on the generated files")


if __name__ == "__main__":
    if yaml is None:
        print("needs python3-yaml", file=sys.stderr)
        sys.exit(77)
    unittest.main()
