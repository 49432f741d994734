// SPDX-License-Identifier: MIT
// The C++ client over HTTP against servers that others wrote, started on this machine.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createNetServer } from "node:net";
import { once } from "node:events";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";

const client = process.env.PADDOCK_CONFORMANCE_CLIENT;
assert.ok(client, "PADDOCK_CONFORMANCE_CLIENT names the client under test");
const here = dirname(createRequire(import.meta.url).resolve("./package.json"));
const packages = join(here, "node_modules/@modelcontextprotocol");
const run = promisify(execFile);

/** What the client printed, line by line. */
async function converse(...args) {
  return converseWith({}, ...args);
}

async function converseWith(environment, ...args) {
  const { stdout } = await run(client, args, { timeout: 60_000, env: { ...process.env, ...environment } });
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

async function freePort() {
  const probe = createNetServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

/** Starts a program that listens on `port` and says so; it ends with the test. */
async function startProgram(t, args, port, environment) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await new Promise((resolve, reject) => {
    let heard = "";
    const listen = (bytes) => {
      heard += bytes;
      if (heard.includes(String(port))) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("exit", () => reject(new Error(`the server ended: ${heard}`)));
  });
}

const everything = join(packages, "server-everything/dist/index.js");
const calls = [
  "--call", "echo", '{"message":"grüß dich"}',
  "--call", "trigger-long-running-operation", '{"duration":0.2,"steps":4}',
];

for (const [transport, path, kinds, revision] of [
  ["streamableHttp", "/mcp", ["streamable", "automatic"], "2025-11-25"],
  ["sse", "/sse", ["sse", "automatic"], "2025-11-25"],
]) {
  for (const kind of kinds) {
    test(`server-everything, ${transport}, asked for as ${kind}`, { timeout: 120_000 }, async (t) => {
      const port = await freePort();
      await startProgram(t, [everything, transport], port, (p) => ({ PORT: String(p) }));
      const [server, echo, long] = await converse("--kind", kind, ...calls, `http://127.0.0.1:${port}${path}`);
      assert.equal(server.revision, revision);
      assert.ok(server.tools.includes("echo"));
      assert.equal(echo.result.content[0].text, "Echo: grüß dich");
      assert.equal(long.progress, 4);
    });
  }
}

test("the SDK's example with sessions and a store of events", { timeout: 120_000 }, async (t) => {
  const port = await freePort();
  const example = join(packages, "sdk/dist/esm/examples/server/simpleStreamableHttp.js");
  await startProgram(t, [example], port, (p) => ({ MCP_PORT: String(p) }));
  const [server, greeting, several] = await converse(
    "--call", "greet", '{"name":"A"}', "--call", "multi-greet", '{"name":"B"}', `http://127.0.0.1:${port}/mcp`);
  assert.equal(server.revision, "2025-11-25");
  assert.match(greeting.result.content[0].text, /Hello, A/);
  assert.match(several.result.content[0].text, /B/);
});

/** Serves with node:http until the test ends. */
async function serve(t, handle) {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A handler for web requests behind node:http. */
function web(handler) {
  return async (request, response) => {
    const body = await bodyOf(request);
    const answer = await handler.fetch(new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method, headers: request.headers, body: body.length ? body : undefined,
    }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  };
}

const odd = "grüß dich";
function registerEcho(server) {
  server.registerTool(odd, { description: "echo", inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: "text", text }] }));
  return server;
}

for (const responseMode of ["auto", "json", "sse"]) {
  test(`server 2, modern only, answers as ${responseMode}`, { timeout: 60_000 }, async (t) => {
    const rejected = [];
    const handler = createMcpHandler(() => registerEcho(new McpServer({ name: "m", version: "1" })),
      { legacy: "reject", responseMode, onerror: (error) => rejected.push(error) });
    const url = await serve(t, web(handler));
    // The name has to be encoded in a header, and the server compares it with the body.
    const [server, answer] = await converse("--call", odd, '{"text":"x"}', url);
    assert.deepEqual(server, { name: "m", revision: "2026-07-28", tools: [odd] });
    assert.equal(answer.result.content[0].text, "x");
    assert.deepEqual(rejected, []);
  });
}

/** A key and a certificate for localhost, signed by itself. */
async function certificate(t) {
  const folder = mkdtempSync(join(tmpdir(), "paddock-h2-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") };
  await run("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", files.key, "-out", files.cert]);
  return files;
}

let speaksHTTP2 = false; // which is up to whoever built libcurl
for (const allowHTTP1 of [true, false]) {
  for (const responseMode of ["json", "sse"]) {
    test(`server 2 behind HTTP/2${allowHTTP1 ? " or 1.1" : ""}, answers as ${responseMode}`, { timeout: 60_000 }, async (t) => {
      if (!allowHTTP1 && !speaksHTTP2) return t.skip("this libcurl was built without HTTP/2");
      const files = await certificate(t);
      const handler = createMcpHandler(() => registerEcho(new McpServer({ name: "m", version: "1" })),
        { legacy: "reject", responseMode });
      const versions = new Set();
      const connections = new Set();
      const server = createSecureServer({ key: readFileSync(files.key), cert: readFileSync(files.cert), allowHTTP1 },
        async (request, response) => {
          versions.add(request.httpVersion);
          connections.add(request.socket.remotePort);
          const body = await bodyOf(request);
          const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith(":"));
          const answer = await handler.fetch(new Request(`https://localhost${request.url}`, { method: request.method, headers, body }));
          response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => name !== "connection")));
          for await (const piece of answer.body ?? []) response.write(piece);
          response.end();
        }).listen(0, "127.0.0.1");
      await once(server, "listening");
      t.after(() => server.close());
      const [hello, ...answers] = await converseWith({ SSL_CERT_FILE: files.cert }, "--call", odd, '{"text":"x"}', "--call", odd,
        JSON.stringify({ text: "y".repeat(100_000) }), `https://localhost:${server.address().port}/mcp`);
      assert.deepEqual(hello, { name: "m", revision: "2026-07-28", tools: [odd] });
      assert.deepEqual(answers.map((each) => each.result.content[0].text.length), [1, 100_000]);
      assert.equal(connections.size, 1);
      speaksHTTP2 = versions.has("2.0");
    });
  }
}

test("server 1, stateless, answers as JSON", { timeout: 60_000 }, async (t) => {
  const url = await serve(t, async (request, response) => {
    const body = await bodyOf(request);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    const server = new McpServerV1({ name: "o", version: "1" });
    server.registerTool("echo", { inputSchema: { text: z.string() } },
      async ({ text }) => ({ content: [{ type: "text", text }] }));
    await server.connect(transport);
    await transport.handleRequest(request, response, body.length ? JSON.parse(body) : undefined);
  });
  const [server, answer] = await converse("--call", "echo", '{"text":"x"}', url);
  assert.deepEqual(server, { name: "o", revision: "2025-11-25", tools: ["echo"] });
  assert.equal(answer.result.content[0].text, "x");
});

// As the SDK's examples keep sessions; what they say to one they do not know differs between versions.
for (const [status, say] of [[404, "Session not found"], [400, "Bad Request: No valid session ID provided"]]) {
  test(`server 1 that forgets its sessions and answers ${status}`, { timeout: 60_000 }, async (t) => {
    const sessions = new Map();
    const executed = [];
    const url = await serve(t, async (request, response) => {
      const body = await bodyOf(request);
      const message = body.length ? JSON.parse(body) : undefined;
      let transport = sessions.get(request.headers["mcp-session-id"]);
      if (!transport && message?.method === "initialize" && !request.headers["mcp-session-id"]) {
        transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => `s${Math.random()}`, onsessioninitialized: (id) => sessions.set(id, transport) });
        const server = new McpServerV1({ name: "o", version: "1" });
        for (const name of ["echo", "forget"])
          server.registerTool(name, { inputSchema: { text: z.string() } }, async ({ text }) => {
            executed.push(text);
            if (name === "forget") sessions.clear();
            return { content: [{ type: "text", text }] };
          });
        await server.connect(transport);
      }
      if (!transport) {
        response.writeHead(status, { "Content-Type": "application/json" });
        return response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message: say }, id: null }));
      }
      await transport.handleRequest(request, response, message);
    });
    const lines = await converse("--kind", "streamable", "--call", "echo", '{"text":"1"}', "--call", "forget",
      '{"text":"2"}', "--call", "echo", '{"text":"3"}', "--call", "echo", '{"text":"4"}', url);
    assert.deepEqual(lines.slice(1).map((line) => line.result?.content[0].text), ["1", "2", "3", "4"]);
    assert.deepEqual(executed, ["1", "2", "3", "4"]);
  });
}
