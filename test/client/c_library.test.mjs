// SPDX-License-Identifier: MIT
// The page's program for Node, over the library for C.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

test("the page's program", () => {
  const program = readFileSync(process.env.PADDOCK_PAGE, "utf8").match(/^```js\n(.*?)^```/ms)[1];
  const workspace = mkdtempSync(join(tmpdir(), "paddock-"));
  const script = new URL(`c_library_${process.pid}.mjs`, import.meta.url).pathname; // beside node_modules
  try {
    writeFileSync(script, program.replace("libpaddock-c.so.0", process.env.PADDOCK_C_LIBRARY));
    assert.equal(execFileSync(process.execPath, [script], { cwd: workspace, encoding: "utf8" }), "[ 1, 0 ]\n");
    assert.equal(readFileSync(join(workspace, "notes.txt"), "utf8"), "mend the fence\n");
  } finally {
    rmSync(script, { force: true });
    rmSync(workspace, { recursive: true });
  }
});
