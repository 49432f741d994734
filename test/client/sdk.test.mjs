// SPDX-License-Identifier: MIT
// The official TypeScript clients: version 1 (the handshake of 2025), version 2 in each of its modes.
// They validate every structured result against the tool's output schema themselves.

import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import test from "node:test";

import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";

import { officialClients } from "./clients.mjs";
import { converse, workspaceFor } from "./workspace.mjs";

const transports = { "sdk 1": TransportV1, "client 2": TransportV2 };

for (const [name, sdk, create, version] of officialClients) {
  test(name, { timeout: 60_000 }, async (t) => {
    const { path, command, args } = workspaceFor(t);
    const client = create();
    const errors = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(new transports[sdk]({ command, args, stderr: "inherit" }));
    try {
      assert.equal(client.getServerVersion().name, "paddock");
      if (client.getNegotiatedProtocolVersion) assert.equal(client.getNegotiatedProtocolVersion(), version);
      await converse(client, path);
      assert.deepEqual(errors, []);
    } finally {
      await client.close();
    }
  });
}

/** Where a word is in the files beneath a directory, as Node reads them: path:line. */
function placesOf(word, top) {
  const whole = new RegExp(`\\b${word}\\b`);
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const file = join(entry.parentPath ?? entry.path, entry.name);
      const lines = readFileSync(file, "utf8").split("\n");
      return lines.flatMap((line, i) => (whole.test(line) ? [`${relative(top, file)}:${i + 1}`] : []));
    })
    .sort();
}

/** The definition of a word and all its uses, in one search and one reading of at most 6 KiB. */
async function findsDefinitionAndUses(t, { command, path, word, definition, end }) {
  const places = placesOf(word, path);
  assert.ok(places.length > 5);
  for (const more of [[], ["--read-only"]]) {
    const client = officialClients[0][2]();
    await client.connect(new TransportV1({ command, args: ["--workspace", path, "--tools", "coding", ...more], stderr: "inherit" }));
    let told = 0;
    const call = async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      assert.ok(!result.isError, result.content[0].text);
      told += Buffer.byteLength(result.content[0].text);
      return result.structuredContent;
    };
    try {
      await client.listTools(); // the client then checks each result against the schema
      const found = await call("searchText", { pattern: word, word: true, literal: true });
      const lines = found.matches.flatMap(({ path, lines }) => lines.map((each) => ({ path, ...each })));
      assert.deepEqual(lines.map(({ path, line }) => `${path}:${line}`).sort(), places);
      assert.ok(found.totalMatches === places.length && found.exact);
      const at = lines.find(({ text }) => definition.test(text));
      const read = await call("readTextFile", { path: at.path, firstLine: at.line, lastLine: at.line + 30 });
      assert.match(read.content, definition);
      assert.ok(read.content.includes(end));
      assert.ok(told <= 6 * 1024, `${told} bytes`);
      t.diagnostic(`${places.length} places in ${told} bytes`);
      // The control: half a word is not one.
      assert.equal((await call("searchText", { pattern: word.slice(0, -1), word: true, literal: true })).totalMatches, 0);
    } finally {
      await client.close();
    }
  }
}

test("a class and all its uses are found in two short calls", { timeout: 60_000 }, async (t) => {
  const { path, command } = workspaceFor(t);
  cpSync(new URL("../../src", import.meta.url), join(path, "src"), { recursive: true });
  await findsDefinitionAndUses(t, { command, path, word: "made_parents", definition: /^class made_parents/, end: "\n};" });
});

test("a function of redis and all its uses are found in two short calls", { timeout: 60_000 }, async (t) => {
  const path = process.env.REDIS_SOURCE ?? "/usr/src/redis";
  if (!existsSync(join(path, "src", "db.c"))) return t.skip(`no source of redis in ${path}; REDIS_SOURCE names one (apt-get source redis)`);
  const { command } = workspaceFor(t);
  await findsDefinitionAndUses(t, { command, path, word: "lookupKeyReadWithFlags",
                                    definition: /^robj \*lookupKeyReadWithFlags\(.*\{$/m, end: "\n}" });
});
