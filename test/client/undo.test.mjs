// SPDX-License-Identifier: MIT
// What an agent did, its commands included, is taken back by one call, through the official client; `cp -a` and `diff` judge.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";

import { codingClient, workspaceFor } from "./workspace.mjs";

const has = (program) => spawnSync(program, ["--version"]).status === 0;
const commit = ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-a", "-m"];

/** A workspace, its copy, and a client of its server. */
async function job(t) {
  const { path, command } = workspaceFor(t);
  const env = { ...process.env, XDG_STATE_HOME: join(dirname(path), "state"), GIT_CONFIG_GLOBAL: "/dev/null" };
  mkdirSync(join(path, "src"));
  mkdirSync(join(path, "lib"));
  mkdirSync(join(path, "empty"));
  writeFileSync(join(path, "Makefile"), "made: src/a.c\n\tcp src/a.c made\n");
  writeFileSync(join(path, "src/a.c"), "int a;\n");
  writeFileSync(join(path, "package.json"), '{"name":"p","version":"1.0.0"}\n');
  writeFileSync(join(path, "lib/package.json"), '{"name":"lib","version":"1.0.0"}\n');
  writeFileSync(join(path, ".gitignore"), "node_modules/\n");
  symlinkSync("src/a.c", join(path, "link"));
  execFileSync("git", ["init", "-q"], { cwd: path, env });
  execFileSync("git", ["add", "."], { cwd: path, env });
  execFileSync("git", [...commit, "one"], { cwd: path, env });
  const copy = join(dirname(path), "copy");
  execFileSync("cp", ["-a", path, copy]);
  const { call } = await codingClient(t, { path, command }, [], env);
  const difference = () => spawnSync("diff", ["-r", "--no-dereference", copy, path], { encoding: "utf8" }).stdout;
  return { path, call, difference };
}

test("make, npm install, git commit, edits and deletions are taken back by one call", { timeout: 120_000, skip: !has("git") || !has("make") }, async (t) => {
  const { path, call, difference } = await job(t);
  const made = await call("exec", { command: "make" });
  if (made.error === "confinement_unavailable") return t.skip("this system cannot confine commands");
  assert.equal(made.failed, false, made.message);
  if (has("npm")) {
    const installed = await call("exec", { command: "npm", args: ["install", "--offline", "--no-audit", "--no-fund", "./lib"] });
    assert.equal(installed.failed, false, installed.message);
  } else {
    t.diagnostic("npm is not installed");
  }
  await call("editFile", { path: "src/a.c", edits: [{ oldText: "int a", newText: "int b" }] });
  const committed = await call("exec", { command: "git", args: [...commit, "two"] });
  assert.equal(committed.failed, false, committed.message);
  await call("deleteFile", { path: "link" });
  await call("exec", { command: "sh", args: ["-c", "rm -r empty Makefile; mv lib moved"] });
  const { changes } = await call("listChanges");
  for (const [name, kind, by] of [["Makefile", "deleted", "exec"], ["src/a.c", "modified", "tool"], ["link", "deleted", "tool"], ["made", "created", "exec"]])
    assert.ok(changes.some((each) => each.path === name && each.kind === kind && each.by === by), `${name} ${JSON.stringify(changes)}`);
  assert.notEqual(difference(), ""); // the control
  const back = await call("restore");
  assert.deepEqual([back.failed, back.conflicts], [false, []]);
  assert.equal(difference(), "");
  assert.equal(execFileSync("git", ["status", "--porcelain"], { cwd: path, encoding: "utf8" }), "");
  assert.equal(execFileSync("git", ["log", "--format=%s"], { cwd: path, encoding: "utf8" }), "one\n");
});

test("what a person does meanwhile is theirs", { timeout: 60_000, skip: !has("git") }, async (t) => {
  const { path, call } = await job(t);
  const { checkpoint } = await call("checkpoint", { label: "mine" });
  await call("writeTextFile", { path: "src/a.c", text: "agent\n" });
  writeFileSync(join(path, "src/a.c"), "person\n");
  const refused = await call("restore", { to: checkpoint });
  assert.equal(refused.restored, 0);
  assert.deepEqual(refused.conflicts.map((each) => each.path), ["src/a.c"]);
  assert.equal(readFileSync(join(path, "src/a.c"), "utf8"), "person\n");
  assert.equal((await call("restore", { to: checkpoint, force: true })).restored > 0, true);
  assert.equal(readFileSync(join(path, "src/a.c"), "utf8"), "int a;\n");
});
