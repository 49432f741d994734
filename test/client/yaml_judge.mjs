// SPDX-License-Identifier: MIT
// What js-yaml, a parser of YAML 1.2, says of blocks of frontmatter: on standard input a JSON object {id: text}, on
// standard output {id: mapping or null}. The argument names the schema: "failsafe" (all scalars are text) or "core".

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { version } = require("js-yaml/package.json");
if (!version.startsWith("4.")) throw new Error(`js-yaml 4 is needed, and ${version} is installed`);
const yaml = require("js-yaml");
const schema = { failsafe: yaml.FAILSAFE_SCHEMA, core: yaml.CORE_SCHEMA }[process.argv[2]];

function judged(text) {
  try {
    const said = yaml.load(text, { schema });
    return said !== null && typeof said === "object" && !Array.isArray(said) ? said : null;
  } catch (refused) {
    if (refused instanceof yaml.YAMLException) return null;
    throw refused;
  }
}

const blocks = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(Object.fromEntries(Object.entries(blocks).map(([id, text]) => [id, judged(text)]))));
