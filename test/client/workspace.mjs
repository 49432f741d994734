// SPDX-License-Identifier: MIT
// A workspace with sample files, the server that works in it, and every tool called once: shared by all clients.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { atEnd } from "./at_end.mjs";
import { officialClients } from "./clients.mjs";

const server = process.env.PADDOCK_MCP;
assert.ok(server, "PADDOCK_MCP names the program under test");

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A fresh workspace, removed when the test ends, and how to start the server in it. */
export function workspaceFor(test) {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "paddock-client-")));
  atEnd(test, () => rmSync(outer, { recursive: true, force: true }));
  const path = join(outer, "workspace");
  mkdirSync(path);
  writeFileSync(join(outer, "outside.txt"), "secret\n");
  writeFileSync(join(path, "image.png"), png);
  writeFileSync(join(path, "document.pdf"), "%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n");
  return { path, command: server, args: ["--workspace", path, "--exec", "confined"] };
}

/** A client of the coding set in a workspace: `call` gives the text of each answer, whether it failed, and counts. */
export async function codingClient(test, { path, command }, options = [], env = process.env) {
  const client = officialClients[0][2]();
  await client.connect(new StdioClientTransport({ command, args: ["--workspace", path, "--tools", "coding", ...options], env, stderr: "inherit" }));
  atEnd(test, () => client.close());
  await client.listTools(); // the client then checks each result against the schema
  const made = { path, calls: 0, told: 0 };
  made.call = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args });
    made.calls += 1;
    made.told += Buffer.byteLength(result.content[0].text);
    return { failed: result.isError === true, ...JSON.parse(result.content[0].text) };
  };
  return made;
}

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Every tool once, in an order in which each call finds what it needs: [tool, arguments, check of the result]. */
export function callsIn(workspace) {
  const at = (name) => join(workspace, name);
  return [
    ["healthCheck", {}, (r) => {
      assert.equal(r.status, "ok");
      assert.equal(r.workspace, workspace);
      assert.match(r.uptime, /^\d+s$/);
      assert.equal(typeof r.pid, "number");
      assert.equal(typeof r.memory, "object");
    }],
    ["todo", { newTodos: ["first", "second"] }, (r) =>
      assert.deepEqual(r.todos, [
        { id: 0, title: "first", completed: false },
        { id: 1, title: "second", completed: false },
      ])],
    ["attemptCompletion", {}, (r) => assert.deepEqual(r.remainingTodos.map((todo) => todo.id), [0, 1])],
    ["clearTodo", {}, (r) => assert.deepEqual(r.todos, [])],
    ["createDirectory", { path: "src/deep" }, (r) => assert.equal(r.path, at("src/deep"))],
    ["writeTextFile", { path: "src/deep/a.txt", text: "one\ntwo\n" }, (r) =>
      assert.deepEqual([r.path, r.text], [at("src/deep/a.txt"), "one\ntwo\n"])],
    ["appendTextFile", { path: "src/deep/a.txt", text: "three é\n" }, (r) =>
      assert.deepEqual([r.path, r.text], [at("src/deep/a.txt"), "three é\n"])],
    ["editTextFile", { path: "src/deep/a.txt", oldText: "two", newText: "$& 2" }, (r) =>
      assert.deepEqual([r.path, r.oldText, r.newText], [at("src/deep/a.txt"), "two", "$& 2"])],
    ["readTextFile", { path: "src/deep/a.txt", from: 1, to: 3 }, (r) => {
      assert.equal(r.path, "src/deep/a.txt");
      assert.equal(r.content.trimEnd(), "$& 2\nthree é");
      assert.deepEqual([r.from, r.to], [1, 3]);
    }],
    ["getFileInfo", { path: "src/deep/a.txt" }, (r) => {
      assert.deepEqual(
        [r.exists, r.path, r.absolutePath, r.name, r.directory, r.extension, r.type, r.mimeType, r.size],
        [true, "src/deep/a.txt", at("src/deep/a.txt"), "a.txt", at("src/deep"), ".txt", "file", "text/plain", 18],
      );
      for (const time of [r.created, r.modified, r.accessed]) assert.match(time, iso);
      assert.deepEqual([r.permissions.readable, r.permissions.executable], [true, false]);
      assert.equal(r.sizeFormatted, "18 B");
    }],
    ["listDirectory", { path: "src" }, (r) => {
      assert.equal(r.path, at("src"));
      assert.deepEqual(r.items.map(({ name, path, type }) => ({ name, path, type })),
        [{ name: "deep", path: "src/deep", type: "directory" }]);
      assert.match(r.items[0].modified, iso);
    }],
    ["readImageFile", { path: "image.png" }, (r) =>
      assert.deepEqual([r.path, r.mimeType, r.size], [at("image.png"), "image/png", png.length])],
    ["readPdfFile", { path: "document.pdf" }, (r) =>
      assert.deepEqual([r.path, r.mimeType], [at("document.pdf"), "application/pdf"])],
    ["moveFile", { source: "src/deep/a.txt", destination: "moved/b.txt" }, (r) =>
      assert.deepEqual([r.source, r.destination], [at("src/deep/a.txt"), at("moved/b.txt")])],
    ["deleteFile", { path: "moved/b.txt" }, (r) => assert.equal(r.path, at("moved/b.txt"))],
    ["deleteDirectory", { path: "src", recursive: true }, (r) => assert.equal(r.path, at("src"))],
    ["exec", { command: "echo", args: ["$HOME", "b c"], env: {}, cwd: ".", stdout: true, stderr: false }, (r) =>
      assert.equal(r.output.trimEnd(), "$HOME b c")],
  ];
}

export const toolNames = callsIn("").map(([name]) => name).sort();

/** What every client has to see in the list of tools. */
export function checkTools(tools) {
  assert.deepEqual(tools.map((tool) => tool.name).sort(), toolNames);
  assert.equal(tools.length, 17);
  for (const tool of tools) {
    assert.ok(tool.description.length > 20, tool.name);
    assert.equal(tool.inputSchema.type, "object", tool.name);
    assert.equal(tool.outputSchema.type, "object", tool.name);
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])
      assert.equal(typeof tool.annotations[hint], "boolean", `${tool.name}: ${hint}`);
  }
}

/** The text block and the structured content of a success say the same; returns it. */
export function contentOf(result) {
  assert.notEqual(result.isError, true, JSON.stringify(result.content));
  assert.equal(result.content.length, 1);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

/** A refusal is a tool error whose text names the code and says what to do. */
export function checkRefusal(result, code) {
  assert.equal(result.isError, true);
  const failure = JSON.parse(result.content[0].text);
  assert.equal(failure.error, code);
  assert.ok(failure.message.length > 10, failure.message);
}

/** The whole conversation that every SDK client has with the server. */
export async function converse(client, workspace) {
  const { tools } = await client.listTools();
  checkTools(tools);
  for (const [name, args, check] of callsIn(workspace)) {
    const result = await client.callTool({ name, arguments: args });
    try {
      check(contentOf(result));
    } catch (problem) {
      problem.message = `${name}: ${problem.message}`;
      throw problem;
    }
  }
  checkRefusal(await client.callTool({ name: "readTextFile", arguments: { path: "../outside.txt" } }), "escapes_root");
  checkRefusal(await client.callTool({ name: "readTextFile", arguments: { path: "absent" } }), "not_found");
  checkRefusal(await client.callTool({ name: "readTextFile", arguments: {} }), "invalid_argument");
  await assert.rejects(client.callTool({ name: "noSuchTool", arguments: {} }), { code: -32602 });
  // After all that the connection is still good.
  contentOf(await client.callTool({ name: "healthCheck", arguments: {} }));
}
