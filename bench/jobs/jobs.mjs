// SPDX-License-Identifier: MIT
// The jobs of a coding agent, and for each server the plan of calls that is the best its tools allow. A mistake that a job
// is about is made by every plan. A plan returns what the model read in the end; `check` asks other programs. `shell` is
// what a model may do by a silent command instead of a tool that tells what it did: of Paddock both are measured.

import { strict as assert } from "node:assert";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { judge, patched, patchOf, program, project, put, sources } from "./workspaces.mjs";

const shell = (command) => ["start_process", { command, timeout_ms: 60_000 }];
const byExec = (command) => ["exec", { command: "sh", args: ["-c", command] }];
const grep = "grep -rnw parse_header .";
const sed = "grep -rlw parse_header src | xargs sed -i 's/\\bparse_header\\b/read_header/g'";
const gitApply = (at) => `git apply <<'END'\n${readFileSync(join(at, "patch"), "utf8")}END\n`;
const fetcher = (port) => `python3 -c "import urllib.request as r; print(r.urlopen('http://127.0.0.1:${port}/page.txt', timeout=20).read().decode())"`;
const listener = "import http.server as h; s = h.ThreadingHTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); "
  + "print('listening on', s.server_address[1], flush=True); s.serve_forever()";
const long = Array.from({ length: 800 }, (_, i) => `line ${String(i).padStart(4, "0")} of a long document, as models write\n`).join("");
const twice = (n) => `int f${n}(void) {\n  int x = ${n};\n  return 0;\n}\n`;
const fiveTimes = [1, 2, 3, 4, 5].map(twice).join("\n");
const wanted = [1, 2, 3, 4].reduce((text, n) => text.replace(`int x = ${n};`, `int y = ${n};`), fiveTimes)
  .replace(/return 0;(?![\s\S]*return 0;)/, "return 5;");
const fourEdits = [1, 2, 3, 4].map((n) => [`int x = ${n};`, `int y = ${n};`]);
const vague = ["return 0;", "return 5;"]; // there are five of it
const plain = ["int x = 5;\n  return 0;", "int x = 5;\n  return 5;"];

function same(directory, expected, actual) {
  judge(directory, "diff", "-r", expected, actual);
}

export const jobs = [
  {
    name: "find a symbol",
    setup: sources,
    paddock: (call) => call("searchText", { pattern: "parse_header", word: true }),
    shell: (call) => call(...byExec(grep)),
    desktop: (call, at) => call(...shell(`cd ${at} && ${grep}`)),
    filesystem: async (call, at) => {
      const listed = await call("search_files", { path: at, pattern: "**/*.c" });
      return call("read_multiple_files", { paths: listed.trim().split("\n") });
    },
    check: (at, told) => {
      const files = judge(at, "grep", "-rlw", "parse_header", "src").trim().split("\n");
      assert.equal(files.length, 16);
      for (const file of files) assert.ok(told.includes(file), file);
    },
  },
  {
    name: "rename in 16 files",
    setup: sources,
    paddock: (call, at) => {
      const paths = judge(at, "grep", "-rlw", "parse_header", "src").trim().split("\n");
      return call("applyChanges", { changes: [{ paths, edits: [{ oldText: "parse_header", newText: "read_header", all: true }] }] });
    },
    shell: (call) => call(...byExec(sed)),
    desktop: (call, at) => call(...shell(`cd ${at} && ${sed}`)),
    filesystem: async (call, at) => {
      let told = "";
      for (const path of judge(at, "grep", "-rlw", "parse_header", at).trim().split("\n"))
        told = await call("edit_file", { path, edits: [{ oldText: "parse_header", newText: "read_header" }] });
      return told;
    },
    check: (at) => {
      assert.equal(judge(at, "grep", "-rlw", "read_header", "src").trim().split("\n").length, 16);
      assert.throws(() => judge(at, "grep", "-rq", "parse_header", "src"));
    },
  },
  {
    name: "five edits, one ambiguous",
    setup: (at) => put(at, { "f.c": fiveTimes, "wanted": wanted }),
    paddock: async (call) => {
      const edits = [...fourEdits, vague].map(([oldText, newText]) => ({ oldText, newText }));
      const refused = await call("editFile", { path: "f.c", edits });
      const line = JSON.parse(refused).occurrencesAt.at(-1);
      return call("editFile", { path: "f.c", edits: [...edits.slice(0, 4), { ...edits[4], line }] });
    },
    desktop: async (call, at) => {
      for (const [old_string, new_string] of [...fourEdits, vague, plain]) await call("edit_block", { file_path: join(at, "f.c"), old_string, new_string });
    },
    // It takes the first of several without a word: the plan reads that in the answer, and mends it.
    filesystem: async (call, at) => {
      const edits = (pairs) => pairs.map(([oldText, newText]) => ({ oldText, newText }));
      await call("edit_file", { path: join(at, "f.c"), edits: edits([...fourEdits, vague]) });
      return call("edit_file", { path: join(at, "f.c"), edits: edits([["return 5;", "return 0;"], plain]) });
    },
    check: (at) => same(at, "wanted", "f.c"),
  },
  {
    name: "build and test",
    setup: program,
    paddock: (call) => call("exec", { command: "make", args: ["test"] }),
    desktop: (call, at) => call(...shell(`cd ${at} && make test`)),
    check: (at, told) => {
      assert.equal(judge(at, "grep", "-c", "^ok", "result").trim(), "20");
      assert.ok(told.includes("ok 19 - add"));
    },
  },
  {
    name: "change three files and undo it",
    setup: (at) => {
      sources(at);
      judge(at, "cp", "-r", "src", "kept");
    },
    paddock: async (call) => {
      const paths = [0, 1, 2].map((i) => `src/part${i}.c`);
      await call("applyChanges", { changes: [{ paths, edits: [{ oldText: "value", newText: "total", all: true }] }] });
      return call("restore", {});
    },
    shell: async (call) => {
      await call(...byExec("cp -a src before && sed -i s/value/total/g src/part0.c src/part1.c src/part2.c"));
      return call(...byExec("rm -r src && mv before src"));
    },
    desktop: async (call, at) => {
      await call(...shell(`cd ${at} && cp -a src before && sed -i s/value/total/g src/part0.c src/part1.c src/part2.c`));
      return call(...shell(`cd ${at} && rm -r src && mv before src`));
    },
    check: (at) => same(at, "kept", "src"),
  },
  {
    name: "map of a project",
    setup: project,
    paddock: (call) => call("mapDirectory", {}),
    desktop: (call, at) => call("list_directory", { path: at, depth: 3 }),
    filesystem: (call, at) => call("directory_tree", { path: at, excludePatterns: ["node_modules"] }),
    check: (at, told) => {
      for (const area of judge(at, "ls", "lib").trim().split("\n")) assert.ok(told.includes(area), area);
    },
  },
  {
    name: "dev server",
    setup: (at) => put(at, { "page.txt": "served" }),
    paddock: async (call) => {
      const server = JSON.parse(await call("startProcess", { command: "python3", args: ["-c", listener], until: "listening on \\d+", waitMs: 20_000 }));
      const page = await call("exec", { command: "sh", args: ["-c", fetcher(/listening on (\d+)/.exec(server.output)[1])] });
      await call("stopProcess", { process: server.process });
      return page;
    },
    desktop: async (call, at) => {
      const server = await call("start_process", { command: `cd ${at} && exec python3 -c "${listener}"`, timeout_ms: 3000 });
      const page = await call(...shell(fetcher(/listening on (\d+)/.exec(server)[1])));
      await call("force_terminate", { pid: Number(/PID (\d+)/.exec(server)[1]) });
      return page;
    },
    check: (at, told) => assert.ok(told.includes("served")),
  },
  {
    name: "write 40 KB",
    setup: () => {},
    paddock: (call) => call("writeTextFile", { path: "long.txt", text: long }),
    desktop: (call, at) => call("write_file", { path: join(at, "long.txt"), content: long }),
    filesystem: (call, at) => call("write_file", { path: join(at, "long.txt"), content: long }),
    check: (at) => {
      assert.equal(judge(at, "sha256sum", "long.txt").slice(0, 64), judge(at, "python3", "-c",
        "import hashlib; print(hashlib.sha256(''.join('line %04d of a long document, as models write\\n' % i for i in range(800)).encode()).hexdigest())").trim());
    },
  },
  {
    name: "apply a patch of 12 files",
    setup: (at) => {
      patched(at);
      put(at, { patch: patchOf(at) });
      cpSync(join(at, "before"), at, { recursive: true });
    },
    paddock: (call, at) => call("applyChanges", { patch: readFileSync(join(at, "patch"), "utf8") }),
    shell: (call, at) => call(...byExec(gitApply(at))),
    desktop: (call, at) => call(...shell(`cd ${at} && ${gitApply(at)}`)),
    filesystem: async (call, at) => {
      for (let i = 0; i < 12; ++i)
        await call("edit_file", { path: join(at, `file${i}.txt`), edits: [{ oldText: `line 20 of ${i}`, newText: `changed ${i}` }] });
    },
    check: (at) => {
      for (let i = 0; i < 12; ++i) same(at, `after/file${i}.txt`, `file${i}.txt`);
    },
  },
];

export function freshWorkspace(at) {
  rmSync(at, { recursive: true, force: true });
  mkdirSync(at, { recursive: true });
}
