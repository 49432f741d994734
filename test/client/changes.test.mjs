// SPDX-License-Identifier: MIT
// What an agent that works on code changes, in how many calls, through the official client; what is on the disk then is judged by
// programs that know nothing of us.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";

import { atEnd } from "./at_end.mjs";
import { codingClient, workspaceFor } from "./workspace.mjs";

/** A client that runs no commands. */
function clientFor(t) {
  const workspace = workspaceFor(t);
  return codingClient(t, workspace, ["--exec", "off"], { ...process.env, XDG_STATE_HOME: join(dirname(workspace.path), "state") });
}

/** What Python prints; it reads the workspace as its current directory. */
function python(script, cwd) {
  return execFileSync("python3", ["-c", script], { cwd, encoding: "utf8" }).trim();
}

const hasGit = spawnSync("git", ["--version"]).status === 0;

/** git, that knows no configuration but its own. */
function git(cwd, ...args) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  return execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false", ...args], { cwd, env, encoding: "utf8" });
}

test("five edits of which one is ambiguous take three calls", { timeout: 60_000 }, async (t) => {
  const { path, call, ...counted } = await clientFor(t);
  const before = ["import os", "", "def one():", "    return 1", "", "def two():", "    return 1", "", "def three():", "    return 3", ""].join("\r\n");
  writeFileSync(join(path, "a.py"), before);
  let calls = 0;
  const next = (name, args) => ((calls += 1), call(name, args));
  const { hash } = await next("readTextFile", { path: "a.py", numbered: true });
  const edits = [
    { oldText: "import os", newText: "import os\nimport sys" },
    { oldText: "def one():", newText: "def first():" },
    { oldText: "    return 1", newText: "    return 2" }, // of two()
    { oldText: "return 3", newText: "return sys.maxsize" },
    { oldText: "def three():", newText: "def third():" },
  ];
  const refused = await next("editFile", { path: "a.py", edits, ifHash: hash });
  assert.deepEqual([refused.failed, refused.error, refused.edit, refused.occurrencesAt], [true, "ambiguous", 2, [4, 7]]);
  assert.equal(readFileSync(join(path, "a.py"), "utf8"), before);
  edits[2].line = refused.occurrencesAt[1];
  const done = await next("editFile", { path: "a.py", edits, ifHash: refused.hash });
  assert.ok(done.applied, JSON.stringify(done));
  assert.equal(calls, 3);
  assert.deepEqual(done.edits.map(({ line }) => line), [1, 4, 8, 11, 10]);
  assert.equal(
    python("import hashlib; b = open('a.py', 'rb').read(); print(hashlib.sha256(b).hexdigest()[:16], b.count(b'\\r\\n'), repr(b.decode().split('\\r\\n')))", path),
    `${done.hash} 11 ['import os', 'import sys', '', 'def first():', '    return 1', '', 'def two():', '    return 2', '', 'def third():', '    return sys.maxsize', '']`);
  assert.ok(counted);
});

test("40 KB are written by one call and answered by fewer than 300 bytes", { timeout: 60_000 }, async (t) => {
  const made = await clientFor(t);
  const text = Array.from({ length: 1000 }, (_, i) => `${String(i).padStart(6, "0")} ${"é".repeat(16)}`).join("\n");
  assert.ok(Buffer.byteLength(text) >= 39_000);
  const done = await made.call("writeTextFile", { path: "large.txt", text });
  assert.ok(!done.failed && made.calls === 1 && made.told < 300, `${made.told} bytes`);
  assert.equal(python("import hashlib; b = open('large.txt', 'rb').read(); print(hashlib.sha256(b).hexdigest()[:16], len(b))", made.path),
    `${done.hash} ${Buffer.byteLength(text)}`);
});

test("a symbol in 16 files is renamed by two calls", { timeout: 60_000 }, async (t) => {
  const made = await clientFor(t);
  for (let i = 0; i < 20; i += 1) {
    mkdirSync(join(made.path, `m${i % 4}`), { recursive: true });
    const uses = i < 16 ? `fetch_user(${i})\nx = fetch_user( fetch_user )\n` : "";
    writeFileSync(join(made.path, `m${i % 4}/f${i}.py`), `# prefetch_users stays\n${uses}y = ${i}\n`);
  }
  cpSync(made.path, `${made.path}-before`, { recursive: true });
  atEnd(t, () => rmSync(`${made.path}-before`, { recursive: true, force: true }));
  const found = await made.call("searchText", { pattern: "fetch_user", word: true, literal: true, output: "files" });
  assert.equal(found.files.length, 16);
  const done = await made.call("applyChanges", { changes: [{ paths: found.files, edits: [{ oldText: "fetch_user(", newText: "load_user(", all: true }, { oldText: " fetch_user ", newText: " load_user " }] }] });
  assert.ok(done.applied && done.files.length === 16, JSON.stringify(done));
  assert.ok(done.files.every((file) => file.action === "edited" && file.added === 2 && file.removed === 2));
  assert.equal(made.calls, 2);
  const rename = "import os, re\n" +
    "for top, _, names in os.walk('../workspace-before'):\n" +
    "  for name in names:\n" +
    "    old = open(os.path.join(top, name), 'rb').read()\n" +
    "    new = open(os.path.join(top.replace('../workspace-before', '.'), name), 'rb').read()\n" +
    "    assert re.sub(rb'\\bfetch_user\\b', b'load_user', old) == new, (top, name)\n" +
    "    print('x', end='')";
  assert.equal(python(rename, made.path), "x".repeat(22)); // two of them are no Python
});

test("a patch of twelve files is applied by one call", { timeout: 60_000, skip: !hasGit && "git is not installed" }, async (t) => {
  for (const fault of [false, true]) {
    const made = await clientFor(t);
    const model = `${made.path}-model`;
    atEnd(t, () => rmSync(model, { recursive: true, force: true }));
    mkdirSync(join(model, "src"), { recursive: true });
    const text = (i) => Array.from({ length: 40 }, (_, line) => `file ${i} line ${line}\n`).join("");
    for (let i = 0; i < 12; i += 1) writeFileSync(join(model, `src/f${i}.txt`), i === 3 ? text(i).replaceAll("\n", "\r\n") : text(i));
    writeFileSync(join(model, "src/f4.txt"), "no end");
    git(model, "init", "-q");
    git(model, "add", "-A");
    git(model, "commit", "-qm", "before");
    cpSync(join(model, "src"), join(made.path, "src"), { recursive: true });
    for (let i = 0; i < 9; i += 1) {
      const file = join(model, `src/f${i}.txt`);
      const before = readFileSync(file, "utf8");
      writeFileSync(file, i === 4 ? `${before} and more` : before.replace(`line 7`, "line seven").replace("line 30\n", ""));
    }
    rmSync(join(model, "src/f9.txt"));
    git(model, "mv", "src/f10.txt", "src/moved to.txt");
    mkdirSync(join(model, "new"));
    writeFileSync(join(model, "new/made.txt"), "made\n");
    git(model, "add", "-A");
    const patch = git(model, "diff", "--cached", "-M", "HEAD");
    assert.equal(patch.match(/^diff --git/gm).length, 12);
    if (fault) writeFileSync(join(made.path, "src/f8.txt"), "nothing of it\n");
    const before = python("import hashlib, os; print(sorted((p, f, hashlib.sha256(open(os.path.join(p, f), 'rb').read()).hexdigest()) for p, _, fs in os.walk('.') for f in fs))", made.path);
    const done = await made.call("applyChanges", { patch });
    if (fault) { // the control: all or none
      assert.deepEqual([done.failed, done.error, done.path, done.edit], [true, "no_match", "src/f8.txt", 0]);
      assert.equal(python("import hashlib, os; print(sorted((p, f, hashlib.sha256(open(os.path.join(p, f), 'rb').read()).hexdigest()) for p, _, fs in os.walk('.') for f in fs))", made.path), before);
      continue;
    }
    assert.ok(done.applied && done.files.length === 12 && made.calls === 1, JSON.stringify(done));
    assert.equal(spawnSync("diff", ["-r", join(model, "src"), join(made.path, "src")]).status, 0);
    assert.equal(spawnSync("diff", ["-r", join(model, "new"), join(made.path, "new")]).status, 0);
    git(made.path, "init", "-q");
    const numbers = git(model, "diff", "--cached", "-M", "--numstat", "-z", "HEAD").split("\0").filter((part) => /^\d/.test(part))
      .map((part) => part.split("\t").slice(0, 2).map(Number));
    const sum = (column) => numbers.reduce((all, row) => all + row[column], 0);
    assert.deepEqual([done.files.reduce((all, f) => all + f.added, 0), done.files.reduce((all, f) => all + f.removed, 0)], [sum(0), sum(1)]);
  }
});
