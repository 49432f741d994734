// SPDX-License-Identifier: MIT
// Runs one command through the official client and the server, which has the options that it has by itself.
//   through_server.mjs SERVER WORKSPACE TIMEOUT_MS COMMAND [ARGUMENT...]   ends as the command did; a refusal is 125

import { createRequire } from "node:module";
import { join } from "node:path";

const installed = createRequire(join(import.meta.dirname, "../client/package.json"));
const { Client } = installed("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = installed("@modelcontextprotocol/sdk/client/stdio.js");

const [server, workspace, timeout, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "paddock-suites", version: "1.0.0" });
await client.connect(new StdioClientTransport({
  command: server, args: ["--workspace", workspace, "--tools", "coding"], env: process.env, stderr: "inherit",
}));
const asked = { name: "exec", arguments: { command, args, timeout: Number(timeout) } };
const result = await client.callTool(asked, undefined, { timeout: Number(timeout) + 30_000 });
const told = JSON.parse(result.content[0].text);
process.stdout.write(told.output ?? "");
if (result.isError) process.stderr.write(JSON.stringify(told) + "\n");
await client.close();
process.exitCode = result.isError ? told.exitCode ?? 125 : 0;
