// SPDX-License-Identifier: MIT
// What a Node.js host does to list skills: readdirSync, readFileSync, gray-matter.
//   skill_scan_peer.mjs DIRECTORY MODULES   prints the microseconds per skill of the best of five runs, and how many
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [directory, modules] = process.argv.slice(2);
const matter = createRequire(join(modules, "x"))("gray-matter");

let best = Infinity;
let found = 0;
for (let run = 0; run < 5; ++run) {
  matter.clearCache(); // it remembers whole files by their text
  found = 0;
  const start = process.hrtime.bigint();
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const { data } = matter(readFileSync(join(directory, entry.name, "SKILL.md"), "utf8"));
    if (typeof data.name === "string" && typeof data.description === "string") ++found;
  }
  best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000 / found);
}
console.log(best.toFixed(2), found);
