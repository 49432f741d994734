// SPDX-License-Identifier: MIT
// The Inspector's command line: lists the tools with strict schema checks, calls every one in a process of its own.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { callsIn, checkRefusal, checkTools, contentOf, workspaceFor } from "./workspace.mjs";

const run = promisify(execFile);
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const inspector = join(dirname(manifest), "clients/launcher/build/index.js");
const toolError = 5;

/** Calls the Inspector; a status other than 0 is a result too. */
async function inspect(era, workspace, ...options) {
  const args = ["--protocol-era", era, ...options, "--format", "json", "-q", "--", workspace.command, ...workspace.args];
  const { code = 0, stdout, stderr } = await run(process.execPath, [inspector, "--cli", ...args], {
    env: { ...process.env, HOME: dirname(workspace.path), MCP_CATALOG_PATH: join(dirname(workspace.path), "mcp.json") },
    maxBuffer: 64 << 20,
  }).catch((failed) => failed);
  return { code, stderr, output: stdout.trim() ? JSON.parse(stdout).result : undefined };
}

const call = (era, workspace, name, args) =>
  inspect(era, workspace, "--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args));

for (const era of ["legacy", "auto", "modern"]) {
  test(`inspector, ${era}`, { timeout: 120_000 }, async (t) => {
    const workspace = workspaceFor(t);
    const listed = await inspect(era, workspace, "--method", "tools/list", "--strict");
    assert.equal(listed.code, 0, listed.stderr);
    checkTools(listed.output.tools);

    const refused = await call(era, workspace, "readTextFile", { path: "../outside.txt" });
    assert.equal(refused.code, toolError, refused.stderr);
    checkRefusal(refused.output, "escapes_root");

    const unknown = await call(era, workspace, "noSuchTool", {});
    assert.notEqual(unknown.code, 0);
  });
}

test("inspector, every tool", { timeout: 300_000 }, async (t) => {
  const workspace = workspaceFor(t);
  for (const [name, args, check] of callsIn(workspace.path)) {
    const { code, output, stderr } = await call("auto", workspace, name, args);
    assert.equal(code, 0, `${name}: ${stderr}`);
    // Each call meets a new server, so the todos of an earlier one are not there.
    if (name === "attemptCompletion") assert.deepEqual(contentOf(output), {});
    else check(contentOf(output));
  }
});
