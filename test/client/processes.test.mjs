// SPDX-License-Identifier: MIT
// Jobs with programs that go on, through the official client: a server that is developed against, and a watcher. With the
// options that a server of the coding set has by itself: commands are confined, and have a loopback of their own.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { codingClient, workspaceFor } from "./workspace.mjs";

const python = "/usr/bin/python3";
const wait = { waitMs: 30_000 };

/** A client that runs commands; null where they cannot be confined. */
async function clientFor(t) {
  const made = await codingClient(t, workspaceFor(t));
  const tried = await made.call("exec", { command: "true" });
  if (tried.error === "confinement_unavailable") return t.skip("this system cannot confine commands") ?? null;
  assert.equal(tried.failed, false, JSON.stringify(tried));
  return made;
}

const fetchOnce = (port) =>
  ["-c", `import urllib.request as r; print(r.urlopen("http://127.0.0.1:${port}/page.txt", timeout=20).read().decode())`];

test("develop against a dev server", { timeout: 120_000 }, async (t) => {
  const job = await clientFor(t);
  if (job === null) return;
  const { path, call } = job;
  const piped = await call("exec", { script: "printf 'b\\na\\n' | sort && echo done" });
  assert.equal(piped.output, "a\nb\ndone\n", JSON.stringify(piped));
  assert.equal((await call("exec", {})).error, "invalid_argument");
  if (!existsSync(python)) return t.skip(`there is no ${python}`);
  const listens = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())";
  const tried = await call("exec", { command: python, args: ["-c", listens] });
  if (tried.failed) return t.skip("commands have no loopback here");
  writeFileSync(join(path, "page.txt"), "first");
  const script = "import http.server as h; s = h.ThreadingHTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); "
    + "print('listening on', s.server_address[1], flush=True); s.serve_forever()";
  const server = await call("startProcess", { command: python, args: ["-c", script], until: "listening on \\d+", ...wait });
  assert.equal(server.state, "running");
  assert.equal(server.matched, true);
  const port = /listening on (\d+)/.exec(server.output)[1];
  assert.equal((await call("exec", { command: python, args: fetchOnce(port) })).output, "first\n");
  await call("writeTextFile", { path: "page.txt", text: "second" });
  assert.equal((await call("exec", { command: python, args: fetchOnce(port) })).output, "second\n");
  const log = await call("readProcess", { process: server.process });
  assert.equal(log.output.match(/GET \/page\.txt/g).length, 2);
  const stopped = await call("stopProcess", { process: server.process });
  assert.equal(stopped.state, "exited");
  assert.equal((await call("exec", { command: python, args: fetchOnce(port) })).failed, true); // the control
});

test("watch and stop", { timeout: 120_000 }, async (t) => {
  const job = await clientFor(t);
  if (job === null) return;
  const { path, call } = job;
  const script = "echo watching; seen=; while :; do now=$(cat input 2>/dev/null); "
    + 'if [ "$now" != "$seen" ]; then seen=$now; echo "built $now" > output; cat output; fi; sleep 0.02; done';
  const watcher = await call("startProcess", { command: "sh", args: ["-c", script], until: "watching", ...wait });
  assert.equal(watcher.state, "running");
  for (const text of ["one", "two"]) {
    await call("writeTextFile", { path: "input", text });
    const told = await call("readProcess", { process: watcher.process, until: `built ${text}`, ...wait });
    assert.equal(told.matched, true);
    assert.equal(readFileSync(join(path, "output"), "utf8"), `built ${text}\n`);
  }
  const listed = await call("listProcesses", {});
  assert.deepEqual(listed.processes.map((each) => [each.process, each.state]), [[watcher.process, "running"]]);
  assert.equal((await call("stopProcess", { process: watcher.process })).state, "exited");
  await call("writeTextFile", { path: "input", text: "three" });
  const after = await call("readProcess", { process: watcher.process });
  assert.deepEqual([after.state, after.output.includes("three")], ["exited", false]);
});

test("an interpreter is talked to in a terminal", { timeout: 120_000 }, async (t) => {
  const job = await clientFor(t);
  if (job === null) return;
  const { call } = job;
  if (!existsSync(python)) return t.skip(`there is no ${python}`);
  const started = await call("startProcess", { command: python, args: ["-q"], tty: true, until: ">>> $", ...wait });
  assert.equal(started.matched, true);
  await call("writeProcess", { process: started.process, text: "6 * 7\n" });
  const answer = await call("readProcess", { process: started.process, until: "^42", ...wait });
  assert.equal(answer.matched, true);
  await call("writeProcess", { process: started.process, text: "exit()\n" });
  const ended = await call("readProcess", { process: started.process, until: "never", ...wait });
  assert.deepEqual([ended.state, ended.exitCode], ["exited", 0]);
});
