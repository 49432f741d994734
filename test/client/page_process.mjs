// SPDX-License-Identifier: MIT
// A page that a program serves: how it is started, and asked for by what is not the page. Shared by the tests of all pages.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

import { atEnd } from "./at_end.mjs";

/** Writes files, by their paths below a directory. */
export function put(root, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

/** A fresh directory with these files, removed when the test ends. */
export function folderFor(test, files = {}) {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "paddock-page-")));
  atEnd(test, () => rmSync(outer, { recursive: true, force: true }));
  put(outer, files);
  return outer;
}

/** Starts what prints the address of its page: {address, process, ended}. */
export async function serve(test, program, words) {
  const process = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  process.stderr.on("data", (part) => (complaint += part));
  const ended = new Promise((resolve) => process.on("exit", (code, signal) => resolve({ code, signal, complaint })));
  atEnd(test, async () => {
    process.kill("SIGTERM");
    await ended;
  });
  const lines = createInterface(process.stdout);
  const address = await Promise.race([new Promise((resolve) => lines.once("line", resolve)), ended]);
  assert.equal(typeof address, "string", complaint || address?.complaint);
  return { address, process, ended };
}

/** Sends one request as the page would, but for what `changes` says: {status, headers, text}. */
export function send({ address }, method, path, { body, headers = {}, without = [] } = {}) {
  const { port, pathname } = new URL(address);
  const all = {
    Host: `127.0.0.1:${port}`,
    Origin: `http://127.0.0.1:${port}`,
    "X-Paddock-Token": pathname.split("/")[1],
    ...(body !== undefined && { "Content-Length": Buffer.byteLength(body) }),
    ...headers,
  };
  for (const name of without) delete all[name];
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers: all, setHost: false }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
