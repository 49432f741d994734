// SPDX-License-Identifier: MIT
// The workspaces of the jobs: the same bytes each time.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What an independent program prints; throws where it ends with another code than 0. */
export function judge(directory, program, ...args) {
  return execFileSync(program, args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 26 });
}

export function put(directory, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

const numbers = (n) => Array.from({ length: n }, (_, i) => i);

/** 40 sources of 60 lines; `parse_header` is defined in one and used in 15 others. */
export function sources(directory) {
  const files = {};
  for (const i of numbers(40)) {
    const body = numbers(50).map((line) => `  value += step(${i}, ${line});`);
    if (i >= 8 && i < 23) body[20] = "  value += parse_header(value);";
    files[`src/part${i}.c`] = [`#include "parts.h"`, "", `int part${i}(int value) {`, ...body, "  return value;", "}", ""].join("\n");
  }
  files["src/header.c"] = "#include \"parts.h\"\n\nint parse_header(int value) {\n  return value + 1;\n}\n";
  files["src/parts.h"] = "#pragma once\nint step(int part, int line);\n" + numbers(40).map((i) => `int part${i}(int value);\n`).join("");
  put(directory, files);
}

/** A program of three sources with its test. */
export function program(directory) {
  put(directory, {
    "add.c": "int add(int a, int b) { return a + b; }\n",
    "main.c": "#include <stdio.h>\nint add(int, int);\nint main(void) {\n  int bad = 0;\n  for (int i = 0; i < 20; ++i) {\n"
      + "    int ok = add(i, i) == 2 * i;\n    printf(\"%s %d - add\\n\", ok ? \"ok\" : \"not ok\", i);\n    bad += !ok;\n  }\n  return bad != 0;\n}\n",
    Makefile: "test: tests\n\t./tests | tee result\ntests: add.o main.o\n\tcc -o tests add.o main.o\n%.o: %.c\n\tcc -c $<\n",
  });
}

/** 300 sources in 12 folders, and 2,000 files that are installed. */
export function project(directory) {
  const files = { ".gitignore": "node_modules/\n" };
  for (const i of numbers(300)) files[`lib/area${i % 12}/module${i}.js`] = `export const value${i} = ${i};\n`;
  for (const i of numbers(2000)) files[`node_modules/package${i % 100}/file${i}.js`] = "x\n";
  put(directory, files);
}

/** Twelve files of 40 lines; `after` is what the patch makes of them. */
export function patched(directory) {
  const text = (i, changed) => numbers(40).map((line) => line === 20 && changed ? `changed ${i}\n` : `line ${line} of ${i}\n`).join("");
  put(join(directory, "before"), Object.fromEntries(numbers(12).map((i) => [`file${i}.txt`, text(i, false)])));
  put(join(directory, "after"), Object.fromEntries(numbers(12).map((i) => [`file${i}.txt`, text(i, true)])));
}

/** What `diff` of two folders says, with the names that git gives. */
export function patchOf(directory) {
  try {
    judge(directory, "diff", "-ru", "before", "after");
  } catch (difference) {
    return difference.stdout.replace(/^diff .*\n/gm, "").replace(/^(---|\+\+\+) (before|after)\/(\S+)\t.*$/gm,
      (_, mark, side, name) => `${mark} ${side === "before" ? "a" : "b"}/${name}`);
  }
  throw new Error("no difference");
}
