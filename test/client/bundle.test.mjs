// SPDX-License-Identifier: MIT
// What hosts and registries are told of the server: the manifest of the bundle, judged by the official tool and tried as a host
// would, and the registry's entry. PADDOCK_SERVER_SCHEMA names a copy of the registry's schema of the year that the entry names.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { PADDOCK_MCP, PADDOCK_PACKAGE, PADDOCK_VERSION, PADDOCK_SERVER_SCHEMA } = process.env;
const require = createRequire(import.meta.url);

function scratch(t) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "paddock-bundle-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function packageTool(...words) {
  const env = { ...process.env, PADDOCK_REPOSITORY: "example/paddock" };
  return execFileSync(PADDOCK_PACKAGE, words, { encoding: "utf8", env });
}

/** The directory of a bundle without its programs, and the manifest in it. */
function bundleFor(t) {
  const folder = scratch(t);
  packageTool("manifest", folder);
  return { folder, manifest: JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) };
}

function mcpb(...words) {
  const cli = join(dirname(require.resolve("@anthropic-ai/mcpb")), "cli/cli.js");
  return execFileSync(process.execPath, [cli, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

test("the manifest is valid", (t) => {
  const { folder, manifest } = bundleFor(t);
  const file = join(folder, "manifest.json");
  assert.match(mcpb("validate", file), /Icon validation passed/);
  const icon = readFileSync(join(folder, manifest.icon));
  assert.deepEqual([icon.readUInt32BE(16), icon.readUInt32BE(20)], [512, 512]);
  writeFileSync(file, JSON.stringify({ ...manifest, server: { type: "binary" } }));
  assert.throws(() => mcpb("validate", file));
});

test("a host starts what the manifest says", { timeout: 60_000 }, async (t) => {
  const { manifest } = bundleFor(t);
  assert.equal(manifest.version, PADDOCK_VERSION);
  assert.deepEqual(Object.keys(manifest.user_config), ["workspace"]);
  assert.equal(manifest.user_config.workspace.type, "directory");
  const { command, args } = manifest.server.mcp_config;
  assert.equal(command, "${__dirname}/" + manifest.server.entry_point);
  const workspace = scratch(t);
  const filled = args.map((word) => word.replaceAll("${user_config.workspace}", workspace));
  assert.ok(!filled.join(" ").includes("${"));
  const client = new Client({ name: "paddock-test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: PADDOCK_MCP, args: filled, stderr: "inherit" }));
  try {
    const { structuredContent } = await client.callTool({ name: "healthCheck", arguments: {} });
    assert.equal(structuredContent.workspace, workspace);
  } finally {
    await client.close();
  }
});

function entryFor(t) {
  const bundle = join(scratch(t), "paddock.mcpb");
  writeFileSync(bundle, "any bytes");
  return JSON.parse(packageTool("entry", bundle));
}

test("the registry's entry", (t) => {
  const entry = entryFor(t);
  assert.match(entry.name, /^io\.github\.[A-Za-z0-9.-]+\/[A-Za-z0-9._-]+$/);
  assert.equal(entry.version, PADDOCK_VERSION);
  assert.ok(entry.description.length <= 100);
  const [bundle, ...others] = entry.packages;
  assert.deepEqual(others, []);
  assert.equal(bundle.registryType, "mcpb");
  assert.equal(bundle.identifier, `https://github.com/example/paddock/releases/download/v${PADDOCK_VERSION}/paddock.mcpb`);
  assert.equal(bundle.fileSha256, createHash("sha256").update("any bytes").digest("hex"));
  assert.deepEqual(bundle.transport, { type: "stdio" });
  assert.throws(() => execFileSync(PADDOCK_PACKAGE, ["entry", "/dev/null"], { stdio: "pipe", env: { ...process.env, PADDOCK_REPOSITORY: "" } }),
    /PADDOCK_REPOSITORY/);
});

test("the registry's entry fits its schema", { skip: PADDOCK_SERVER_SCHEMA ? false : "PADDOCK_SERVER_SCHEMA names no schema" }, (t) => {
  const schema = JSON.parse(readFileSync(PADDOCK_SERVER_SCHEMA, "utf8"));
  const Ajv = require("ajv").default;
  const ajv = new Ajv({ strict: false, allErrors: true });
  require("ajv-formats").default(ajv);
  const fits = ajv.compile(schema);
  const entry = entryFor(t);
  assert.equal(schema.$id, entry.$schema);
  assert.ok(fits(entry), JSON.stringify(fits.errors));
  assert.ok(!fits({ ...entry, description: "x".repeat(101) }));
  assert.ok(!fits({ ...entry, packages: [{ ...entry.packages[0], fileSha256: "no digest" }] }));
});
