// SPDX-License-Identifier: MIT
// Long commands as tasks, through the official clients and the package for tasks: those that a client of 2025-11-25 asks for,
// and those that a client of 2026-07-28 with the extension is given.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import test from "node:test";

import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { atEnd } from "./at_end.mjs";
import { identity, officialClients } from "./clients.mjs";
import { workspaceFor } from "./workspace.mjs";

const [sdk1, legacy2, , modern2] = officialClients.map(([, , create]) => create);
const extension = "io.modelcontextprotocol/tasks";

/** Waits until the file `gate` is there, having written "started"; then writes "done". */
const waiting = ["-c", "touch started; echo working on it; while ! test -e gate; do sleep 0.02; done; echo done"];

/** A client of the coding set; null where commands cannot be confined. */
async function coding(t, create, Transport, ...options) {
  const { path, command } = workspaceFor(t);
  const client = create();
  const transport = new Transport({ command, args: ["--workspace", path, "--tools", "coding", ...options], stderr: "inherit" });
  await client.connect(transport);
  atEnd(t, () => client.close());
  const { tools } = await client.listTools(); // the client then checks each result against the schema
  const tried = await client.callTool({ name: "exec", arguments: { command: "true" } });
  if (tried.isError && tried.content[0].text.includes("confinement_unavailable"))
    return t.skip("this system cannot confine commands") ?? null;
  assert.notEqual(tried.isError, true, tried.content[0].text);
  return { path, client, transport, tools };
}

/** Until the file is there. */
async function appears(file) {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Until no process has this in its arguments. */
async function gone(mark) {
  const alive = async () => {
    const ps = spawn("ps", ["-eo", "args"], { stdio: ["ignore", "pipe", "inherit"] });
    let all = "";
    ps.stdout.on("data", (bytes) => { all += bytes; });
    await once(ps, "close");
    return all.includes(mark);
  };
  while (await alive()) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("a task that the client of SDK 1 asks for", { timeout: 60_000 }, async (t) => {
  const job = await coding(t, sdk1, TransportV1);
  if (job === null) return;
  const { path, client, tools } = job;
  assert.deepEqual(tools.filter((each) => each.execution).map((each) => [each.name, each.execution]),
    [["exec", { taskSupport: "optional" }]]);
  const tasks = client.experimental.tasks;
  const seen = [];
  let result;
  for await (const said of tasks.callToolStream({ name: "exec", arguments: { command: "sh", args: waiting } }, undefined,
    { task: { ttl: 60_000 } })) {
    seen.push(said.type);
    if (said.type === "taskCreated") {
      assert.equal(said.task.status, "working");
      assert.equal(said.task.ttl, 60_000);
      await appears(join(path, "started"));
      // The server answers meanwhile, and says of the task what there is to say.
      const read = await client.callTool({ name: "readTextFile", arguments: { path: "started" } });
      assert.notEqual(read.isError, true);
      assert.equal((await tasks.getTask(said.task.taskId)).status, "working");
      assert.deepEqual((await tasks.listTasks()).tasks.map((each) => each.taskId), [said.task.taskId]);
      writeFileSync(join(path, "gate"), "");
    }
    if (said.type === "result") result = said.result;
  }
  assert.deepEqual([seen[0], seen.at(-1)], ["taskCreated", "result"]);
  assert.equal(result.structuredContent.output, "working on it\ndone\n");
});

test("a task is cancelled, and its command ends", { timeout: 60_000 }, async (t) => {
  const job = await coding(t, sdk1, TransportV1);
  if (job === null) return;
  const { path, client } = job;
  const tasks = client.experimental.tasks;
  const script = `touch started; sh -c 'sleep 1000 # ${path}#1' & wait`;
  const stream = tasks.callToolStream({ name: "exec", arguments: { command: "sh", args: ["-c", script] } }, undefined, { task: {} });
  const { value: created } = await stream.next();
  await appears(join(path, "started"));
  assert.equal((await tasks.cancelTask(created.task.taskId)).status, "cancelled");
  await gone(`${path}#1`);
  await assert.rejects(tasks.cancelTask(created.task.taskId), /cancelled already/);
  await stream.return();
});

test("tasks belong to their session over HTTP", { timeout: 60_000 }, async (t) => {
  const job = await coding(t, sdk1, TransportV1);
  if (job === null) return;
  const { path, command } = workspaceFor(t);
  const server = spawn(command, ["--workspace", path, "--tools", "coding", "--http", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(server, "exit");
  atEnd(t, async () => {
    server.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
  });
  const address = await new Promise((resolve) => {
    let said = "";
    server.stderr.on("data", (bytes) => {
      said += bytes;
      const found = said.match(/listening on (\S+)/);
      if (found) resolve(found[1]);
    });
  });
  const connect = async () => {
    const client = sdk1();
    await client.connect(new StreamableHTTPClientTransport(new URL(address)));
    atEnd(t, () => client.close());
    await client.listTools();
    return client.experimental.tasks;
  };
  const [mine, other] = [await connect(), await connect()];
  const stream = mine.callToolStream({ name: "exec", arguments: { command: "sh", args: waiting } }, undefined, { task: {} });
  const { value: created } = await stream.next();
  const id = created.task.taskId;
  assert.equal((await mine.getTask(id)).status, "working");
  await assert.rejects(other.getTask(id), /there is no task/);
  await assert.rejects(other.cancelTask(id), /there is no task/);
  assert.deepEqual((await other.listTasks()).tasks, []);
  writeFileSync(join(path, "gate"), "");
  let last;
  for await (const said of stream) last = said;
  assert.equal(last.type, "result");
  assert.equal(last.result.structuredContent.output, "working on it\ndone\n");
});

test("the package for tasks, 2025-11-25", { timeout: 60_000 }, async (t) => {
  const job = await coding(t, legacy2, TransportV2);
  if (job === null) return;
  const { path, client } = job;
  const session = createTaskSessionFromClient(client, { endpointId: "paddock" });
  atEnd(t, () => session.close());
  const execution = await session.callTool("exec", { command: "sh", args: waiting }, { task: { preference: "require" } });
  assert.equal(execution.kind, "task");
  await appears(join(path, "started"));
  writeFileSync(join(path, "gate"), "");
  const { outcome } = await execution.settle();
  assert.equal(resultFromTaskOutcome(outcome).structuredContent.output, "working on it\ndone\n");
});

/** Sends what the SDK's client does not know by itself, on its connection. */
function rawDispatchOf(transport) {
  const open = new Map();
  const before = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const answered = open.get(message.id);
    if (answered === undefined) return before?.(message, extra);
    open.delete(message.id);
    answered(message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  let last = 0;
  return (request) =>
    new Promise((resolve, reject) => {
      const id = `raw-${++last}`;
      open.set(id, resolve);
      transport.send({ jsonrpc: "2.0", id, ...request }).catch(reject);
    });
}

test("the package for tasks, 2026-07-28", { timeout: 60_000 }, async (t) => {
  const job = await coding(t, modern2, TransportV2);
  if (job === null) return;
  const { path, client, transport, tools } = job;
  assert.ok(tools.every((each) => each.execution === undefined));
  assert.deepEqual(client.getServerCapabilities().extensions[extension], {});
  const session = createTaskSessionFromClient(client, {
    endpointId: "paddock",
    rawDispatch: rawDispatchOf(transport),
    v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo: identity, clientCapabilities: {} },
  });
  atEnd(t, () => session.close());
  const prompt = await session.callTool("exec", { command: "echo", args: ["quick"] });
  assert.equal(prompt.kind, "immediate");
  const execution = await session.callTool("exec", { command: "sh", args: waiting });
  assert.equal(execution.kind, "task");
  writeFileSync(join(path, "gate"), "");
  const { outcome } = await execution.settle();
  assert.equal(resultFromTaskOutcome(outcome).structuredContent.output, "working on it\ndone\n");
  const failing = await session.callTool("exec", { command: "sh", args: ["-c", "sleep 1.2; exit 3"] });
  const failed = resultFromTaskOutcome((await failing.settle()).outcome);
  assert.equal(failed.isError, true);
  // The control: the same client without the extension waits for the result.
  const plain = await client.callTool({ name: "exec", arguments: { command: "sh", args: ["-c", "sleep 1.2; echo late"] } });
  assert.equal(plain.structuredContent.output, "late\n");
});

test("a task ends with its server, and history has what it changed", { timeout: 60_000 }, async (t) => {
  const job = await coding(t, sdk1, TransportV1);
  if (job === null) return;
  const { path, client } = job;
  const tasks = client.experimental.tasks;
  const run = async (args) => {
    let last;
    for await (const said of tasks.callToolStream({ name: "exec", arguments: { command: "sh", args } }, undefined, { task: {} })) last = said;
    return last.result;
  };
  assert.notEqual((await run(["-c", "echo made > made.txt"])).isError, true);
  const changed = await client.callTool({ name: "listChanges", arguments: {} });
  assert.deepEqual(changed.structuredContent.changes.map(({ path, kind, by }) => [path, kind, by]), [["made.txt", "created", "exec"]]);
  const stream = tasks.callToolStream(
    { name: "exec", arguments: { command: "sh", args: ["-c", `touch started; sleep 1000 # ${path}#1`] } }, undefined, { task: {} });
  await stream.next();
  await appears(join(path, "started"));
  await client.close();
  await gone(`${path}#1`);
});
