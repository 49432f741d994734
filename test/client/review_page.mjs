// SPDX-License-Identifier: MIT
// The page for changes as a process over a workspace with a history: shared by its tests.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { atEnd } from "./at_end.mjs";
import { folderFor, put, serve } from "./page_process.mjs";

const { PADDOCK: paddock, RECORDED_SESSION: recorder } = process.env;
assert.ok(paddock && recorder, "PADDOCK and RECORDED_SESSION name the programs under test");

export const png = (colour) =>
  Buffer.from({
    red: "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==",
    blue: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  }[colour], "base64");

/** A step by a tool: what it writes, by path, without anybody seeing the difference between a tool and this. */
export const byTool = (tool, files) => ({ tool, files });
/** A step by a command line. */
export const byCommand = (command) => ({ command });

/** A workspace with files, and a directory for its history: {root, stores, record(steps, session), begin(command)}. */
export function workspaceFor(test, files = {}) {
  const outer = folderFor(test);
  const [root, stores, staged] = ["project", "state", "staged"].map((name) => join(outer, name));
  for (const folder of [root, stores, staged]) mkdirSync(folder);
  chmodSync(stores, 0o700);
  put(root, files);
  let count = 0;
  const words = (step) => {
    if (step.command) return ["exec", step.command];
    const from = join(staged, String(count++));
    mkdirSync(from);
    put(from, step.files);
    return ["tool", step.tool, `cp -rT '${from}' .`, Object.keys(step.files).join("\n")];
  };
  const record = (steps, session = "look") => {
    const done = spawnSync(recorder, [session, stores, root, ...steps.flatMap(words)], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
  };
  /** Runs a command line that goes on afterwards, until the function that comes back is called. */
  const begin = async (command) => {
    const going = spawn(recorder, ["look", stores, root, "exec", `${command}; echo begun; read end || :`], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((resolve) => going.on("exit", resolve));
    const end = async () => {
      going.stdin.end();
      assert.equal(await ended, 0);
    };
    atEnd(test, end);
    assert.notEqual(await Promise.race([new Promise((resolve) => going.stdout.once("data", () => resolve("begun"))), ended]), 1);
    return end;
  };
  return { root, stores, record, begin };
}

/** Serves the page over it: {address, process, ended}. */
export const startReview = (test, { root, stores }, ...options) =>
  serve(test, paddock, ["review", "--workspace", root, "--history", stores, ...options]);
