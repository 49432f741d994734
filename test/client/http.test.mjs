// SPDX-License-Identifier: MIT
// The official clients against the adapter over HTTP, on a port and on a Unix socket; and the program's options.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { request } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { atEnd } from "./at_end.mjs";
import { identity, officialClients } from "./clients.mjs";
import { checkTools, contentOf, converse, workspaceFor } from "./workspace.mjs";

const transports = { "sdk 1": TransportV1, "client 2": TransportV2 };
const run = promisify(execFile);

/** Starts the adapter; resolves when it says that it listens. It ends with the test, and has to end well. */
async function serve(t, workspace, listen, ...options) {
  const child = spawn(workspace.command, [...workspace.args, "--http", listen, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  let said = "";
  const address = await new Promise((resolve, reject) => {
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const found = said.match(/listening on (\S+)/);
      if (found) resolve(found[1]);
    });
    child.on("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const [code, signal] = await ended;
    assert.deepEqual([code, signal], [0, null], said);
  };
  atEnd(t, stop);
  return { address, said: () => said };
}

for (const [name, sdk, create, version] of officialClients) {
  test(`${name} over HTTP`, { timeout: 60_000 }, async (t) => {
    const workspace = workspaceFor(t);
    const { address } = await serve(t, workspace, "127.0.0.1:0");
    const client = create();
    const errors = [];
    client.onerror = (error) => errors.push(error);
    const transport = new transports[sdk](new URL(address));
    await client.connect(transport);
    try {
      assert.equal(client.getServerVersion().name, "paddock");
      if (client.getNegotiatedProtocolVersion) assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.equal(Boolean(transport.sessionId), version !== "2026-07-28");
      await converse(client, workspace.path);
      if (transport.sessionId) await transport.terminateSession();
      assert.deepEqual(errors, []);
    } finally {
      await client.close();
    }
  });

  test(`${name} cancels a command over HTTP`, { timeout: 40_000 }, async (t) => {
    const workspace = workspaceFor(t);
    const audit = join(dirname(workspace.path), "audit.jsonl");
    const { address } = await serve(t, workspace, "127.0.0.1:0", "--audit", audit);
    const client = create();
    await client.connect(new transports[sdk](new URL(address)));
    const abort = new AbortController();
    const call = client.callTool(
      { name: "exec", arguments: { command: "sh", args: ["-c", "echo started > marker; exec sleep 50"], env: {}, cwd: ".",
        stdout: true, stderr: true } },
      ...(sdk === "sdk 1" ? [undefined] : []), { signal: abort.signal, timeout: 55_000 });
    let ended = false;
    call.catch(() => {}).finally(() => (ended = true));
    while (!existsSync(join(workspace.path, "marker"))) {
      assert.ok(!ended, "the command ended before it began");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    abort.abort();
    await assert.rejects(call);
    // The server stops the command long before it would end, and says so.
    while (!readFileSync(audit, "utf8").includes('"outcome":"cancelled"')) await new Promise((resolve) => setTimeout(resolve, 20));
    contentOf(await client.callTool({ name: "healthCheck", arguments: {} }));
    await client.close();
  });
}

test("two clients at once", { timeout: 60_000 }, async (t) => {
  const workspace = workspaceFor(t);
  const { address } = await serve(t, workspace, "127.0.0.1:0");
  await Promise.all([1, 2, 3, 4].map(async (number) => {
    const [, sdk, create] = officialClients[number % officialClients.length];
    const client = create();
    await client.connect(new transports[sdk](new URL(address)));
    for (let i = 0; i < 30; ++i) {
      const path = `${number}-${i}.txt`;
      contentOf(await client.callTool({ name: "writeTextFile", arguments: { path, text: path } }));
      const read = contentOf(await client.callTool({ name: "readTextFile", arguments: { path } }));
      assert.equal(read.content.trim(), path);
    }
    await client.close();
  }));
});

test("inspector over HTTP", { timeout: 180_000 }, async (t) => {
  const workspace = workspaceFor(t);
  const { address } = await serve(t, workspace, "127.0.0.1:0");
  const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
  const inspector = join(dirname(manifest), "clients/launcher/build/index.js");
  for (const era of ["legacy", "auto", "modern"]) {
    const { stdout } = await run(process.execPath, [inspector, "--cli", "--protocol-era", era, "--transport", "http",
      "--server-url", address, "--method", "tools/list", "--strict", "--format", "json", "-q"], {
      env: { ...process.env, HOME: dirname(workspace.path), MCP_CATALOG_PATH: join(dirname(workspace.path), "mcp.json") },
      maxBuffer: 64 << 20,
    });
    checkTools(JSON.parse(stdout).result.tools);
  }
});

/** One request over a Unix socket. */
async function ask(socketPath, path, headers, body) {
  const sent = request({ socketPath, path, method: body ? "POST" : "GET", headers });
  sent.end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const piece of response) text += piece;
  return { status: response.statusCode, text };
}

test("a Unix socket", { timeout: 60_000 }, async (t) => {
  const workspace = workspaceFor(t);
  const path = join(dirname(workspace.path), "server.sock");
  const { address } = await serve(t, workspace, `unix:${path}`);
  assert.equal(address, `unix://${path}#/mcp`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(await ask(path, "/healthz", {}), { status: 200, text: "ok\n" });
  const message = { jsonrpc: "2.0", id: 1, method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: identity } };
  const reply = await ask(path, "/mcp", { "content-type": "application/json" }, JSON.stringify(message));
  assert.equal(reply.status, 200);
  assert.equal(JSON.parse(reply.text).result.serverInfo.name, "paddock");
});

test("a token", { timeout: 60_000 }, async (t) => {
  const workspace = workspaceFor(t);
  const file = join(dirname(workspace.path), "token");
  writeFileSync(file, "correct-horse-battery\n", { mode: 0o600 });
  const { address, said } = await serve(t, workspace, "0.0.0.0:0", "--http-token-file", file);
  assert.doesNotMatch(said(), /warning/);
  const url = address.replace("0.0.0.0", "127.0.0.1");
  const connect = async (token) => {
    const client = new ClientV2(identity, { versionNegotiation: { mode: "auto" } });
    await client.connect(new TransportV2(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
    checkTools((await client.listTools()).tools);
    await client.close();
  };
  await connect("correct-horse-battery");
  await assert.rejects(connect("correct-horse-batterz"));
});

test("a token that others may read is warned about", { timeout: 60_000 }, async (t) => {
  const workspace = workspaceFor(t);
  const file = join(dirname(workspace.path), "token");
  writeFileSync(file, "correct-horse-battery\n");
  chmodSync(file, 0o644);
  const { said } = await serve(t, workspace, "127.0.0.1:0", "--http-token-file", file);
  assert.match(said(), /warning: other users may read the token file/);
});

test("options that cannot be used", { timeout: 60_000 }, async (t) => {
  const workspace = workspaceFor(t);
  const at = (name) => join(dirname(workspace.path), name);
  writeFileSync(at("short"), "secret\n", { mode: 0o600 });
  writeFileSync(at("empty"), "", { mode: 0o600 });
  for (const [options, says] of [
    [["--http", "0.0.0.0:0"], /needs a token; give one with --http-token-file/],
    [["--http", "8080"], /HOST:PORT or unix:/],
    [["--http", "127.0.0.1:99999"], /0 to 65535/],
    [["--http", "127.0.0.1:0", "--http-token-file", at("short")], /16 to 4096/],
    [["--http", "127.0.0.1:0", "--http-token-file", at("empty")], /no first line .*16 to 4096/],
    [["--http", "127.0.0.1:0", "--http-token-file", at("absent")], /cannot be read/],
    [["--http", "127.0.0.1:0", "--http-allow-origin", "*"], /https:\/\/HOST/],
    [["--http", "127.0.0.1:0", "--http-path", "mcp"], /begins with \//],
    [["--http-token-file", at("short")], /--http/],
    [["--http", "127.0.0.1:0", "--print-config", "vscode"], /contradict/],
  ]) {
    const failure = await run(workspace.command, [...workspace.args, ...options]).then(() => assert.fail(options), (e) => e);
    assert.equal(failure.code, 2, options.join(" "));
    assert.match(failure.stderr, says, options.join(" "));
  }
});
