// SPDX-License-Identifier: MIT
// The skills extension as its official clients see it: the Inspector verifies every digest and every field of
// frontmatter, and so does the TypeScript client, in both eras.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { Client } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { atEnd } from "./at_end.mjs";
import { contentOf, workspaceFor } from "./workspace.mjs";

const run = promisify(execFile);
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const inspector = join(dirname(manifest), "clients/launcher/build/index.js");

const files = {
  ".agents/sys.skills/forms/SKILL.md":
    "---\nname: forms\ndescription: >-\n  Fill in forms,\n  and check them.\nlicense: MIT\nallowed-tools: Read Write\n" +
    "metadata:\n  version: \"1.0\"\n  author: '技 & co'\ntags: [a, 2, true, null, 1.50]\n---\n# Forms\n",
  ".agents/sys.skills/forms/references/Q&A 100%.md": "Questions\r\nand answers\n",
  ".agents/sys.skills/forms/assets/logo.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255]),
  ".agents/sys.skills/forms/empty.txt": "",
  ".agents/skills/notes/SKILL.md": "\uFEFF---\r\nname: notes\r\ndescription: \"Takes notes: daily\"\r\n---\r\n# Notes\r\n",
  // Values of metadata that are no texts become texts, in the entry and in the file that is read.
  ".agents/skills/numbers/SKILL.md":
    "---\nname: numbers\ndescription: x\nmetadata: # said so\n  version: 1.10\n  draft: true\n  gone: ~\n" +
    "  tags: [a, 2, {b: '\"'}]\n  nested:\n    deep: 1\n  notes: |\n    two\n    lines\n" +
    "license: MIT\n---\n# Numbers\n",
  ".agents/skills/My Folder/SKILL.md": "---\nname: another-name\ndescription: Its directory is called otherwise.\n---\n",
  // What a verifying client would refuse must not reach it.
  ".agents/skills/repaired/SKILL.md": "---\nname: repaired\ndescription: not: yaml\n---\n",
  ".agents/skills/Loud/SKILL.md": "---\nname: LOUD\ndescription: No name by the specification.\n---\n",
  ".agents/skills/numbers/references/SKILL.md": "---\nmetadata: {version: 1}\n---\n",
  ".agents/skills/twice/SKILL.md": "---\nname: twice\ndescription: x\nlicense: a\nlicense: b\n---\n",
  ".agents/skills/tagged/SKILL.md": "---\nname: tagged\ndescription: x\nlicense: !!int 1\n---\n",
  ".agents/skills/not-one/SKILL.md": "no frontmatter\n",
  ".agents/skills/unseen/SKILL.md": "---\nname: unseen\ndescription: W\u{E0041}ords\u{200B}.\n---\n",
};
const published = ["skill://My%20Folder/another-name/SKILL.md", "skill://forms/SKILL.md", "skill://notes/SKILL.md", "skill://numbers/SKILL.md"];

function skillsFor(t) {
  const workspace = workspaceFor(t);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace.path, name)), { recursive: true });
    writeFileSync(join(workspace.path, name), content);
  }
  return { ...workspace, args: [...workspace.args, "--skills"] };
}

async function inspect(era, workspace, ...options) {
  const args = ["--protocol-era", era, ...options, "--format", "json", "-q", "--", workspace.command, ...workspace.args];
  const { code = 0, stdout, stderr } = await run(process.execPath, [inspector, "--cli", ...args], {
    env: { ...process.env, HOME: dirname(workspace.path), MCP_CATALOG_PATH: join(dirname(workspace.path), "mcp.json") },
    maxBuffer: 64 << 20,
  }).catch((failed) => failed);
  return { code, stderr, stdout };
}

for (const era of ["legacy", "modern"]) {
  test(`inspector verifies every skill, ${era}`, { timeout: 120_000 }, async (t) => {
    const workspace = skillsFor(t);
    const { code, stderr, stdout } = await inspect(era, workspace, "--method", "skills/list", "--verify", "--require-digests");
    assert.equal(code, 0, stderr + stdout);
    for (const uri of published) assert.ok(stdout.includes(uri), stdout);
    assert.doesNotMatch(stdout, /repaired|LOUD|twice|tagged|not-one|unseen/);
  });
}

for (const [name, mode] of [["2025-11-25", "legacy"], ["2026-07-28", { pin: "2026-07-28" }]]) {
  test(`TypeScript client, ${name}`, { timeout: 60_000 }, async (t) => {
    const { path, command, args } = skillsFor(t);
    const client = new Client({ name: "paddock-test", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
    atEnd(t, () => client.close());
    const skills = new SkillsClient(client);
    assert.ok(skills.supported && skills.directoryRead);

    const listed = await skills.list();
    assert.deepEqual(listed.skills.map((skill) => skill.uri), published);
    const forms = listed.skills[1];
    assert.deepEqual(forms.frontmatter, {
      name: "forms", description: "Fill in forms, and check them.", license: "MIT", "allowed-tools": "Read Write",
      metadata: { version: "1.0", author: "技 & co" }, tags: ["a", 2, true, null, 1.5],
    });
    assert.deepEqual(forms, (await skills.get(forms.uri)).skill);

    // Every file of every skill, each verified against its digest, and SKILL.md against the frontmatter.
    const folders = {
      forms: ".agents/sys.skills/forms", notes: ".agents/skills/notes", "another-name": ".agents/skills/My Folder",
      numbers: ".agents/skills/numbers",
    };
    for (const skill of listed.skills)
      for (const { uri } of skill.resources) {
        const read = await skills.read(skill, uri);
        assert.ok(read.verified);
        if (uri === "skill://numbers/SKILL.md") continue; // is not as it lies on the disk
        const relative = decodeURIComponent(uri.slice(skill.uri.length - "SKILL.md".length));
        assert.deepEqual(Buffer.from(read.bytes), readFileSync(join(path, folders[skill.frontmatter.name], relative)));
      }
    assert.equal((await skills.read(forms, "references/Q&A 100%25.md")).text, "Questions\r\nand answers\n");

    const [{ size }] = (await skills.readDirectory("skill://numbers")).resources;
    const numbers = await skills.read(listed.skills[3]);
    assert.equal(size, numbers.bytes.length);
    assert.deepEqual(numbers.frontmatter, {
      name: "numbers", description: "x", license: "MIT",
      metadata: {
        version: "1.10", draft: "true", gone: "null", tags: '["a",2,{"b":"\\""}]', nested: '{"deep":1}', notes: "two\nlines\n",
      },
    });
    assert.match(numbers.text, /\nlicense: MIT\n---\n# Numbers\n$/);

    const root = await skills.readDirectory("skill://forms");
    assert.deepEqual(root.resources.map(({ name, mimeType }) => [name, mimeType]), [
      ["SKILL.md", "text/markdown"], ["assets", "inode/directory"], ["empty.txt", "text/plain"], ["references", "inode/directory"],
    ]);
    await assert.rejects(skills.readDirectory("skill://forms/SKILL.md"), { code: -32602 });
    await assert.rejects(skills.get("skill://repaired/SKILL.md"), { code: -32602 });
    await assert.rejects(client.readResource({ uri: "skill://forms/../notes/SKILL.md" }), { code: -32602 });

    assert.match(client.getInstructions(), /\n- \*\*notes\*\*: notes — Takes notes: daily\n/);
    const read = await client.callTool({ name: "ReadFile", arguments: { path: ".agents/skills/notes/SKILL.md" } });
    assert.match(contentOf(read).content, /# Notes/);

    // What changes on disk is seen by the next request.
    writeFileSync(join(path, ".agents/skills/notes/SKILL.md"), "---\nname: notes\ndescription: Changed.\n---\n");
    assert.equal((await skills.get("skill://notes/SKILL.md")).skill.frontmatter.description, "Changed.");
    await assert.rejects(skills.read(listed.skills[2]), { name: "SkillVerificationError" });
  });
}
