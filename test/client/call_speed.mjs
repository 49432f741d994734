// SPDX-License-Identifier: MIT
// How long a tool call takes through the official TypeScript client; bench/client_bench.cpp measures
// the same calls through ours. usage: PADDOCK_MCP=... run_node call_speed.mjs

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const workspace = mkdtempSync(join(tmpdir(), "paddock-bench-"));
writeFileSync(join(workspace, "f"), "x".repeat(4096));
const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command: process.env.PADDOCK_MCP, args: ["--workspace", workspace] }));
for (const [name, args] of [["todo", {}], ["healthCheck", {}], ["readTextFile", { path: "f" }]]) {
  const calls = 2000;
  const spent = [];
  for (let i = 0; i < calls; ++i) {
    const begin = process.hrtime.bigint();
    await client.callTool({ name, arguments: args });
    spent.push(Number(process.hrtime.bigint() - begin) / 1000);
  }
  spent.sort((a, b) => a - b);
  console.log(`${name}: median ${spent[calls / 2].toFixed(1)} µs`);
}
await client.close();
rmSync(workspace, { recursive: true });
