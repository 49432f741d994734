// SPDX-License-Identifier: MIT
// What the jobs of a coding agent cost through the official client: calls, bytes that a model reads, time. One JSON object.
//   run.mjs CLIENT_DIRECTORY NAME=SERVER_MODULE_OR_PROGRAM...    NAME: paddock, shell (of paddock), filesystem, desktop

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { freshWorkspace, jobs } from "./jobs.mjs";

const [clientDirectory, ...servers] = process.argv.slice(2);
const installed = createRequire(join(resolve(clientDirectory), "package.json"));
const { Client } = installed("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = installed("@modelcontextprotocol/sdk/client/stdio.js");

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "paddock-jobs-")));
const home = join(scratch, "home");

function commandOf(name, program, workspace) {
  if (name === "paddock" || name === "shell") return { command: program, args: ["--workspace", workspace, "--tools", "coding"] };
  return { command: process.execPath, args: name === "filesystem" ? [program, workspace] : [program] };
}

/** What a model is given: the texts of the answer. */
const textOf = (result) => result.content.map((block) => block.text ?? block.data ?? "").join("\n");

async function measure(name, program, job) {
  const workspace = join(scratch, "workspace");
  freshWorkspace(workspace);
  job.setup(workspace);
  const client = new Client({ name: "paddock-jobs", version: "1.0.0" });
  const environment = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", XDG_STATE_HOME: join(home, "state") };
  await client.connect(new StdioClientTransport({ ...commandOf(name, program, workspace), env: environment, stderr: "ignore" }));
  const { tools } = await client.listTools();
  const cost = { calls: 0, bytes: 0, ms: 0, listed: Buffer.byteLength(JSON.stringify(tools)) };
  const began = performance.now();
  const told = await job[name](async (tool, asked) => {
    const text = textOf(await client.callTool({ name: tool, arguments: asked }));
    cost.calls += 1;
    cost.bytes += Buffer.byteLength(text);
    return text;
  }, workspace);
  cost.ms = performance.now() - began;
  await client.close();
  job.check(workspace, told ?? "");
  return cost;
}

const report = {};
try {
  mkdirSync(join(home, ".claude-server-commander"), { recursive: true });
  writeFileSync(join(home, ".claude-server-commander", "config.json"),
    JSON.stringify({ telemetryEnabled: false, defaultShell: "/bin/sh", allowedDirectories: [], blockedCommands: [], fileWriteLineLimit: 100_000 }));
  for (const job of jobs) {
    report[job.name] = {};
    for (const server of servers) {
      const at = server.indexOf("=");
      const [name, program] = [server.slice(0, at), server.slice(at + 1)];
      if (!job[name]) continue; // its tools cannot do that
      try {
        report[job.name][name] = await measure(name, program, job);
      } catch (problem) {
        report[job.name][name] = { failed: String(problem.stack ?? problem).slice(0, 500) };
      }
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(JSON.stringify(report, null, 1) + "\n");
process.exit(0);
