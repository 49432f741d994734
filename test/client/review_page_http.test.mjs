// SPDX-License-Identifier: MIT
// The page for changes against what is not the page: other programs, other origins, other tokens.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import test from "node:test";

import { send } from "./page_process.mjs";
import { byTool, startReview, workspaceFor } from "./review_page.mjs";

async function reviewed(t) {
  const workspace = workspaceFor(t, { a: "secret one\n" });
  workspace.record([byTool("editFile", { a: "secret two\n" })], "serve");
  return { ...workspace, ...(await startReview(t, workspace)) };
}

test("every response is guarded", async (t) => {
  const { address } = await reviewed(t);
  const { pathname } = new URL(address);
  assert.match(pathname, /^\/[0-9a-f]{32}\/$/);
  for (const path of [pathname, `${pathname}page.js`, "/api/changes", "/api/diff?path=a", "/nothing"]) {
    const { status, headers } = await send({ address }, "GET", path);
    assert.equal(status, path === "/nothing" ? 404 : 200, path);
    const policy = headers["content-security-policy"];
    for (const part of ["default-src 'none'", "script-src 'self'", "img-src 'self' blob:", "frame-ancestors 'none'", "form-action 'none'", "trusted-types 'none'"])
      assert.ok(policy.includes(part), part);
    assert.ok(!policy.includes("unsafe"));
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["access-control-allow-origin"], undefined);
  }
});

test("only who knows the token, and is the page, sees or changes anything", async (t) => {
  const { address, root } = await reviewed(t);
  const { port, pathname } = new URL(address);
  const body = "{}";
  const wrong = { headers: { "X-Paddock-Token": "0".repeat(32) } };
  const cases = [
    ["GET", "/api/changes", { without: ["X-Paddock-Token"] }],
    ["GET", "/api/diff?path=a", wrong],
    ["GET", "/api/image?path=a&side=after", wrong],
    ["GET", pathname, wrong],
    ["GET", "/", { without: ["X-Paddock-Token"] }],
    ["POST", "/api/undo", { body, ...wrong }],
    ["POST", "/api/undo", { body, headers: { Origin: "http://evil.example" } }],
    ["POST", "/api/undo", { body, headers: { Origin: `http://localhost:${port}` } }],
    ["POST", "/api/undo", { body, without: ["Origin"] }],
    ["POST", "/api/checkpoints", { body, headers: { Host: `evil.example:${port}` } }],
    ["POST", "/api/undo-hunk", { body, headers: { Origin: "null" } }],
  ];
  for (const [method, path, changes] of cases) {
    const { status, text } = await send({ address }, method, path, changes);
    assert.equal(status, 403, `${method} ${path}`);
    assert.ok(!text.includes("secret"), path);
  }
  assert.equal(readFileSync(join(root, "a"), "utf8"), "secret two\n");
  // The control: the page itself may.
  assert.equal((await send({ address }, "POST", "/api/undo", { body })).status, 200);
  assert.equal(readFileSync(join(root, "a"), "utf8"), "secret one\n");
});

test("methods that mean nothing there, and bodies that are too large, are refused", async (t) => {
  const { address } = await reviewed(t);
  for (const [method, path, status, allow] of [["DELETE", "/api/changes", 405, "GET, HEAD"], ["GET", "/api/undo", 405, "POST"], ["PUT", "/api/checkpoints", 405, "GET, HEAD, POST"]]) {
    const answer = await send({ address }, method, path);
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers.allow, allow);
  }
  assert.equal((await send({ address }, "POST", "/api/undo", { body: "x".repeat(2 ** 20 + 1) })).status, 413);
});

test("what cannot be served is an error, and Ctrl-C ends it", async (t) => {
  const { address, root, stores, process: program, ended } = await reviewed(t);
  const run = (...options) => spawnSync(process.env.PADDOCK, ["review", ...options], { encoding: "utf8" });
  const cases = [
    [["--workspace", join(root, "absent"), "--history", stores], /absent/],
    [["--workspace", root, "--history", join(root, "inside")], /there is no history of /],
    [["--workspace", root, "--history", stores, "--since", "987654"], /there is no checkpoint 987654/],
    [["--workspace", root, "--history", relative(process.cwd(), stores), "--since", "987654"], /there is no checkpoint 987654/],
    [["--workspace", root, "--history", stores, "--port", new URL(address).port], /port \d+ cannot be used/],
  ];
  for (const [options, message] of cases) {
    const done = run(...options);
    assert.deepEqual([done.status, done.stdout], [2, ""], options.join(" "));
    assert.match(done.stderr, message);
  }
  program.kill("SIGINT");
  const { code, signal } = await ended;
  assert.deepEqual([code, signal], [0, null]);
});
