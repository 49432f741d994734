// SPDX-License-Identifier: MIT
// The page for changes in a real browser, over the history of a workspace.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { officialClients } from "./clients.mjs";
import { button, photographer, skip, visit } from "./page_browser.mjs";
import { byCommand, byTool, png, startReview, workspaceFor } from "./review_page.mjs";

/** One test in a fresh browser over a fresh workspace; whatever the page complains about fails it. */
function inBrowser(name, { files = {}, steps = [], options = [], needs = [], ...context }, run) {
  const missing = needs.filter((program) => spawnSync(program, ["--version"]).status !== 0);
  test(name, { skip: skip || (missing.length > 0 && `there is no ${missing.join(" and no ")}`), timeout: 240_000 }, async (t) => {
    const workspace = workspaceFor(t, files);
    workspace.record(steps, "serve");
    const served = await startReview(t, workspace, ...options);
    const how = { isReady: () => document.documentElement.dataset.ready, patience: 30_000, viewport: { width: 1200, height: 780 }, ...context };
    await visit(t, served.address, how, (page) => run(page, { ...workspace, ...served }));
  });
}

const photograph = photographer(process.env.REVIEW_PAGE_SCREENSHOTS);

const rows = (page) => page.locator("#list .row");
const row = (page, name) => rows(page).filter({ has: page.locator(".name", { hasText: name }) });
const question = (page) => page.locator("#undo");
const content = (workspace, path) => readFileSync(join(workspace.root, path), "utf8");
const open = async (page, name) => {
  await row(page, name).click();
  await page.locator("#detail-title").filter({ hasText: name }).waitFor();
};
const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);

const router = `import { handlers } from "./handlers.js";

const limit = 100;

export function route(path) {
  const handler = handlers[path];
  if (!handler) return notFound(path);
  return handler;
}

function notFound(path) {
  return { status: 404, body: path };
}

export function paths() {
  return Object.keys(handlers);
}

export function count() {
  return paths().length;
}
`;
const newRouter = router
  .replace("const limit = 100;", "const limit = 250;")
  .replace("handlers[path];", "handlers.get(path);")
  .replace("return paths().length;", "return handlers.size;");
const sample = {
  files: {
    "src/router.js": router,
    "src/legacy.js": "export const old = true;\n",
    "assets/logo.png": png("red"),
    "README.md": "# Shop\n\nA small shop.\n",
    "run.sh": "#!/bin/sh\nnode src/router.js\n",
  },
  steps: [
    byTool("editFile", { "src/router.js": newRouter }),
    byTool("writeTextFile", { "src/handlers.js": "export const handlers = new Map();\n" }),
    byTool("writeTextFile", { "assets/logo.png": png("blue") }),
    byCommand("rm src/legacy.js && chmod +x run.sh"),
  ],
};

inBrowser("shows what was changed, and by whom", sample, async (page) => {
  assert.deepEqual(await rows(page).locator(".name").allTextContents(),
    ["logo.png", "run.sh", "handlers.js", "legacy.js", "router.js"]);
  await row(page, "router.js").filter({ hasText: "editFile" }).filter({ hasText: "+3" }).filter({ hasText: "−3" }).waitFor();
  await row(page, "legacy.js").filter({ hasText: "$ rm src/legacy.js && chmod +x run.sh" }).waitFor();
  await page.getByText("5 changes · +").waitFor();
  // Until a file is chosen, what happened is told in order.
  const happened = await page.locator("#events li").allTextContents();
  assert.match(happened[0], /rm src\/legacy\.js/);
  assert.match(happened.at(-2), /editFile.*src\/router\.js/);
  await open(page, "router.js");
  assert.equal(await page.locator(".gone mark").first().textContent(), "100", "the word that has changed");
  assert.deepEqual((await page.locator("td.gone").allTextContents()).slice(0, 1), ["const limit = 100;"]);
  await page.setViewportSize({ width: 1200, height: 640 });
  await photograph(page, "light");
  await open(page, "run.sh");
  await page.getByText("Mode 644 → 755").waitFor();
  await page.getByText("The content is the same.").waitFor();
});

inBrowser("counts the lines of folders and of what the filter shows, and tells a command once", {
  files: { "a.txt": "1\n", "old/b": "1\n2\n" },
  steps: [byTool("editFile", { "a.txt": "2\n" }), byCommand("mkdir -p made/deep; seq 3 > made/x; seq 4 > made/deep/y; rm -r old")],
}, async (page, workspace) => {
  await row(page, "made").filter({ hasText: "2 files" }).filter({ hasText: "+7" }).waitFor();
  await row(page, "old").filter({ hasText: "1 file" }).filter({ hasText: "−2" }).waitFor();
  await page.getByText("3 changes · +8 −3", { exact: true }).waitFor();
  await page.locator("#filter").fill("made");
  await page.getByText("2 of 3 changes · +7 −2", { exact: true }).waitFor(); // the command of both
  await page.locator("#filter").fill("editFile");
  await page.getByText("1 of 3 changes · +1 −1", { exact: true }).waitFor();
  await page.locator("#filter").fill("");
  for (const turn of [1, 2]) workspace.record([byCommand(`echo ${turn} >> again; true`), byCommand("echo x >> goes-on")]);
  workspace.record([byCommand("echo x >> goes-on")]); // as one that goes on is told
  const happened = page.locator("#events li");
  await happened.filter({ hasText: "echo 2 >> again" }).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll("#events li")].filter((each) => each.textContent.includes("goes-on")).length === 2);
  assert.match(await happened.first().locator("time").getAttribute("title"), /\d{4}/);
});

inBrowser("shows both sides, and pictures", sample, async (page) => {
  await open(page, "router.js");
  assert.equal(await page.locator("table.unified").count(), await page.locator(".hunk").count());
  await page.keyboard.press("s");
  const pair = page.locator("table.split tr").filter({ hasText: "const limit = 250" });
  assert.deepEqual(await pair.locator("td.code").allTextContents(), ["const limit = 100;", "const limit = 250;"]);
  await photograph(page, "split");
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  assert.equal(await button(page, "Side by side").getAttribute("aria-pressed"), "true", "it is remembered");
  await open(page, "logo.png");
  await page.locator("figure").nth(1).waitFor();
  assert.deepEqual(await page.locator("figure img").evaluateAll((images) => images.map((image) => image.naturalWidth)), [2, 1]);
  assert.match(await page.locator("figcaption").first().textContent(), /^Before · \d+ B · 2 × 2$/);
});

inBrowser("tells checkpoints by their names, a repository as one row, and who has undone something", {
  files: { "a.txt": "1\n", ".git/HEAD": "ref: refs/heads/main\n" },
  steps: [byCommand("echo 2 > a.txt; mkdir -p .git/objects/ab; echo 1 > .git/objects/ab/cd; echo 2 > .git/HEAD")],
}, async (page) => {
  assert.deepEqual(await rows(page).locator(".name").allTextContents(), [".git/", "a.txt"]);
  const happened = page.locator("#events li");
  assert.match((await happened.allTextContents())[0], /echo 2 > a\.txt.*\.git.*a\.txt$/);
  assert.match((await happened.allTextContents()).at(-1), /start$/);
  await page.keyboard.press("c");
  await happened.nth(1).waitFor();
  await page.locator("#checkpoint").click();
  await page.getByLabel("Label").fill("before lunch");
  await button(page, "Make checkpoint").click();
  await happened.filter({ hasText: "before lunch" }).waitFor();
  assert.match((await happened.allTextContents())[1], /checkpoint \d+$/);
  await page.reload();
  await happened.filter({ hasText: "before lunch" }).waitFor();
  assert.deepEqual(await happened.filter({ hasText: /Checkpoint/ }).count(), 0);
  await open(page, ".git");
  await page.locator(".inside button").filter({ hasText: ".git/objects/ab/cd" }).waitFor();
  await open(page, "a.txt");
  await page.keyboard.press("z");
  await question(page).getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("1 entry undone.").waitFor();
  await page.keyboard.press("Escape");
  await happened.filter({ hasText: "Undone by a person" }).waitFor();
});

inBrowser("undoes a part, a file, and everything, and takes that back", sample, async (page, workspace) => {
  await open(page, "router.js");
  await button(page, "Undo part 1").click();
  await question(page).getByText("The rest of the file stays as it is.").waitFor();
  await question(page).getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("1 entry undone.").waitFor();
  const half = router.replace("return paths().length;", "return handlers.size;");
  assert.equal(content(workspace, "src/router.js"), half);

  await open(page, "handlers.js");
  await page.locator("#undo-file").click();
  await question(page).getByText("What was created since is removed.").waitFor();
  await photograph(page, "undo");
  await question(page).getByRole("button", { name: "Cancel" }).click();
  assert.ok(existsSync(join(workspace.root, "src/handlers.js")), "nothing is done before the answer");
  await page.locator("#undo-file").click();
  await question(page).getByText("1 entry goes back").waitFor();
  await question(page).getByRole("button", { name: "Undo", exact: true }).click();
  await row(page, "handlers.js").waitFor({ state: "detached" });
  assert.ok(!existsSync(join(workspace.root, "src/handlers.js")));

  await page.keyboard.press("Shift+Z");
  await question(page).getByText("entries go back").waitFor();
  await question(page).getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  assert.equal(content(workspace, "src/router.js"), router);
  assert.equal(content(workspace, "src/legacy.js"), "export const old = true;\n");

  await page.locator("#take-back").click();
  await question(page).getByRole("button", { name: "Undo", exact: true }).click();
  await row(page, "router.js").waitFor();
  assert.equal(content(workspace, "src/router.js"), half);
  assert.ok(!existsSync(join(workspace.root, "src/legacy.js")));
});

/** Every entry with kind, mode, time and content, as Python sees it. */
function treeOf(folder) {
  const script = `
import os, sys
for top, folders, files in os.walk(sys.argv[1]):
    for name in sorted(folders + files):
        path = os.path.join(top, name)
        s = os.lstat(path)
        held = os.readlink(path) if os.path.islink(path) else open(path, "rb").read() if os.path.isfile(path) else ""
        print(os.path.relpath(path, sys.argv[1]), oct(s.st_mode), s.st_mtime_ns if not os.path.islink(path) else "", held)
`;
  const done = spawnSync("python3", ["-c", script, folder], { encoding: "utf8", maxBuffer: 2 ** 26 });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.split("\n").sort();
}

// What a session of an agent does, through the server: edits, a build, a commit, deletions.
const project = {
  "Makefile": "all: out/a.o\nout/a.o: a.c\n\tmkdir -p out\n\tcp a.c out/a.o\n",
  "a.c": "int main(void) { return 0; }\n",
  "docs/old.md": "# Old\n",
  "notes.txt": "first\n",
};
const session = [
  ["editFile", { path: "a.c", edits: [{ oldText: "return 0", newText: "return 1" }] }],
  ["writeTextFile", { path: "new/deep/file.txt", text: "new\n" }],
  ["deleteFile", { path: "docs/old.md" }],
  ["exec", { command: "make" }],
  ["exec", { command: "sh", args: ["-c", "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one && rm notes.txt && ln -s a.c link"] }],
  ["exec", { command: "sh", args: ["-c", "chmod 600 Makefile; echo more >> a.c; mv docs papers"] }],
];

inBrowser("undoes what a session of the server did by one click, to the byte", { files: project, needs: ["make", "git"] }, async (page, workspace) => {
  const copy = join(workspace.root, "../copy");
  spawnSync("cp", ["-a", workspace.root, copy]);
  const args = ["--workspace", workspace.root, "--history", workspace.stores, "--tools", "coding", "--exec", "confined"];
  const client = officialClients[0][2]();
  await client.connect(new StdioClientTransport({ command: process.env.PADDOCK_MCP, args, stderr: "inherit" }));
  try {
    for (const [name, given] of session) {
      const result = await client.callTool({ name, arguments: given });
      assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    }
    await row(page, "a.c").waitFor(); // as it comes
    assert.notDeepEqual(treeOf(workspace.root), treeOf(copy), "the control: something was done");
    await button(page, "Undo everything…").click();
    await question(page).getByText("entries go back").waitFor();
    await question(page).getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByText("entries undone.").waitFor();
    assert.deepEqual(treeOf(workspace.root), treeOf(copy));
  } finally {
    await client.close();
  }
});

inBrowser("shows what goes on while nobody tells it of anything", sample, async (page, workspace) => {
  for (const name of ["one-by-hand.txt", "another-by-hand.txt"]) {
    writeFileSync(join(workspace.root, name), "mine\n");
    await row(page, name).waitFor();
  }
});

inBrowser("asks before it overwrites what was not changed by an agent", sample, async (page, workspace) => {
  writeFileSync(join(workspace.root, "src/router.js"), "mine\n");
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await open(page, "router.js");
  await page.getByText("It was also changed, not by an agent.").waitFor();
  await page.keyboard.press("z");
  const undo = question(page).getByRole("button", { name: "Undo", exact: true });
  await question(page).getByText("These were changed since, not by an agent").waitFor();
  assert.equal(await undo.isDisabled(), true);
  await photograph(page, "conflict");
  await question(page).getByText("Nothing is undone like this.").waitFor();
  await question(page).getByLabel("Undo all the same").check();
  await question(page).getByText("1 entry goes back").waitFor();
  await undo.click();
  await row(page, "router.js").waitFor({ state: "detached" });
  assert.equal(content(workspace, "src/router.js"), router);
});

inBrowser("refuses to undo a part of what has changed since it was shown", sample, async (page, workspace) => {
  await open(page, "router.js");
  await button(page, "Undo part 1").click();
  writeFileSync(join(workspace.root, "src/router.js"), `${newRouter}// more\n`);
  await question(page).getByRole("button", { name: "Undo", exact: true }).click();
  await question(page).getByRole("alert").filter({ hasText: "the file has changed since it was shown" }).waitFor();
  assert.equal(content(workspace, "src/router.js"), `${newRouter}// more\n`);
});

inBrowser("shows what comes while it is open", sample, async (page, workspace) => {
  await open(page, "handlers.js");
  workspace.record([byTool("appendTextFile", { "src/handlers.js": "export const handlers = new Map();\nhandlers.set('/', home);\n" }), byCommand("echo new > later.txt")]);
  await row(page, "later.txt").filter({ hasText: "$ echo new > later.txt" }).waitFor();
  await page.locator("td.come").filter({ hasText: "handlers.set" }).waitFor();
  assert.equal(await row(page, "handlers.js").getAttribute("aria-selected"), "true", "what was chosen stays so");
});

inBrowser("makes a checkpoint by one key, and shows what came after one", sample, async (page, workspace) => {
  await page.keyboard.press("c");
  await page.getByRole("status").filter({ hasText: "Checkpoint made" }).waitFor({ state: "attached" });
  await button(page, "Checkpoint").click();
  await page.getByLabel("Label").fill("before <b>tests</b>");
  await button(page, "Make checkpoint").click();
  const labelled = page.locator("#since option").filter({ hasText: "before <b>tests</b>" });
  await labelled.waitFor({ state: "attached" });
  workspace.record([byTool("editFile", { "README.md": "# Shop\n\nA large shop.\n" })]);
  await row(page, "README.md").waitFor();
  await page.locator("#since").selectOption(await labelled.getAttribute("value"));
  await page.getByText("1 change · +1 −1").waitFor();
  assert.deepEqual(await rows(page).locator(".name").allTextContents(), ["README.md"]);
});

const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`many/dir${i % 50}/file-${i}.txt`, `old ${i}\n`]));

inBrowser("draws of 5,000 changed files what is seen, and of a long file a part",
  { files: { ...many, "long.txt": "" }, steps: [byCommand("find many -type f -exec sed -i s/old/new/ {} +"), byCommand("seq 20000 > long.txt")] },
  async (page) => {
    await page.getByText(/^5001 changes/).waitFor();
    const bound = 1000;
    assert.ok((await nodes(page)) < bound, `${await nodes(page)} elements`);
    await page.getByText("5001 changes · +25000 −5000").waitFor({ timeout: 120_000 });
    await page.locator("#list").focus();
    await page.keyboard.press("End");
    await page.locator("#detail-title").filter({ hasText: "many/" }).waitFor();
    assert.ok((await nodes(page)) < bound, `${await nodes(page)} elements`);
    assert.equal(await page.locator("#list").getAttribute("aria-activedescendant"), "row-5000");
    assert.equal(await page.locator("#row-5000").getAttribute("aria-setsize"), "5001");
    for (let i = 0; i < 60; ++i) await page.keyboard.press("k");
    await page.locator('#row-4940[aria-selected="true"]').waitFor();
    await page.locator("#filter").fill("long");
    await open(page, "long.txt");
    await page.locator("td.come").nth(499).waitFor();
    assert.equal(await page.locator("td.come").count(), 500, "20,000 lines, of which a part is drawn");
    await button(page, "Show more").click();
    await page.locator("td.come").nth(999).waitFor();
  });

inBrowser("takes no text for markup, and shows what is not seen", {
  files: { "a.txt": "plain\n" },
  steps: [
    byTool("<img src=x onerror=alert(1)>", { "a.txt": "<script>alert(2)</script>\nif (admin\u202e\u2066) {\u2069\n" }),
    byTool("writeTextFile", { "<img src=x onerror=alert(3)>.txt": "x\n", "gpj\u202e.exe": "x\n", "\u0627\u0644 b.txt": "x\n" }),
    byCommand("printf '<b>alert(4)</b>' > '<svg onload=alert(5)>'; : '<iframe srcdoc=x>'"),
    byCommand("printf x > \"$(printf 'not\\377utf8')\""),
  ],
}, async (page, workspace) => {
  await open(page, "a.txt");
  assert.deepEqual(await page.locator("td.come").allTextContents(), ["<script>alert(2)</script>", "if (adminU+202EU+2066) {U+2069"]);
  assert.equal(await page.locator("td.come .unseen").count(), 3);
  assert.equal(await row(page, "gpj").locator(".unseen").textContent(), "U+202E");
  await open(page, "gpj");
  await open(page, "not");
  await page.locator("td.come").filter({ hasText: "x" }).waitFor();
  await row(page, "<svg onload").filter({ hasText: "<iframe srcdoc=x>" }).click();
  await page.locator("td.come").filter({ hasText: "<b>alert(4)</b>" }).waitFor();
  await page.keyboard.press("z");
  await page.getByRole("alertdialog", { name: "Undo <svg onload=alert(5)>?" }).waitFor();
  await page.keyboard.press("Escape");
  await button(page, "Checkpoint").click();
  await page.getByLabel("Label").fill("<img src=x onerror=alert(6)>\u202e");
  await button(page, "Make checkpoint").click();
  await page.locator("#since option").filter({ hasText: "<img src=x onerror=alert(6)>⟨U+202E⟩" }).waitFor({ state: "attached" });
  assert.equal(await page.locator("body :is(script, img, svg, iframe, b)").count(), 0);
  assert.ok(existsSync(join(workspace.root, "<svg onload=alert(5)>")));
});

inBrowser("filters by words, kind and who did it", sample, async (page) => {
  const names = () => rows(page).locator(".name").allTextContents();
  await page.keyboard.press("/");
  await page.keyboard.type("src edit");
  await page.getByText("1 of 5 changes").waitFor();
  assert.deepEqual(await names(), ["router.js"]);
  await page.keyboard.press("Escape");
  await page.locator("#filter").fill("");
  await page.locator("#kind").selectOption("deleted");
  assert.deepEqual(await names(), ["legacy.js"]);
  await page.locator("#kind").selectOption("all");
  await page.locator("#who").selectOption("exec");
  assert.deepEqual(await names(), ["run.sh", "legacy.js"]);
  await page.locator("#who").selectOption("other");
  await page.getByText("No change matches the filter.").waitFor();
});

inBrowser("can be used with the keyboard alone", sample, async (page, workspace) => {
  await page.keyboard.press("j");
  await page.locator('#row-0[aria-selected="true"]').waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.locator('#row-1[aria-selected="true"]').waitFor();
  await page.locator("#list").focus();
  assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "solid", "focus is seen");
  await page.keyboard.press("End");
  await page.locator("#detail-title").filter({ hasText: "src/router.js" }).waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "detail-title");
  await page.keyboard.press("n");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Part 1 of \d/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("Make a checkpoint now").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("z");
  await question(page).getByText("1 entry goes back").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await row(page, "router.js").waitFor({ state: "detached" });
  assert.equal(content(workspace, "src/router.js"), router);
  await page.keyboard.press("Escape");
  await page.locator("#timeline").waitFor();
});

inBrowser("speaks Chinese where the browser does, and is dark where the system is", { ...sample, locale: "zh-CN", colorScheme: "dark" }, async (page) => {
  assert.equal(await page.title(), "变更审查");
  await open(page, "router.js");
  await page.getByRole("button", { name: "撤销此文件…" }).waitFor();
  const red = () => page.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]));
  assert.ok((await red()) < 64, "a dark background");
  await photograph(page, "dark");
  await page.keyboard.press("t");
  assert.ok((await red()) > 192, "a light one");
  await button(page, "English").click();
  await page.getByRole("button", { name: "Undo this file…" }).waitFor();
  await page.reload();
  assert.equal(await page.title(), "Review");
  assert.ok((await red()) > 192, "what was chosen is remembered");
});

inBrowser("has every text in both languages", {}, async (page, served) => {
  const tables = await page.evaluate(async (address) => {
    const { choose, keys } = await import(`${address}texts.js`);
    return ["en", "zh"].map((language) => (choose(language), keys().sort()));
  }, served.address);
  assert.deepEqual(tables[0], tables[1]);
});

inBrowser("fits a narrow window", { ...sample, viewport: { width: 360, height: 740 } }, async (page) => {
  /** What is wider than the window. */
  const tooWide = () => page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth ? []
      : [...document.querySelectorAll("body *")].filter((node) => node.getBoundingClientRect().right > innerWidth).map((node) => `${node.tagName} ${node.id} ${node.className}`));
  assert.deepEqual(await tooWide(), []);
  await row(page, "router.js").click();
  await page.locator(".hunk").first().waitFor();
  assert.deepEqual(await tooWide(), []);
  assert.equal(await page.locator("#list").isVisible(), false, "one column");
  await photograph(page, "narrow");
  await button(page, "← Changed files").click();
  assert.equal(await page.locator("#list").isVisible(), true);
});

inBrowser("says what cannot be undone, and why", {
  files: { ".gitignore": "build/\n", "build/out.js": "made\n", "kept.txt": "1\n" },
  steps: [byCommand("echo again > build/out.js; echo 2 > kept.txt")],
}, async (page) => {
  await page.getByText("1 change cannot be undone").click();
  await page.locator("#not-covered-list").getByText("build").waitFor();
  await page.locator("#not-covered-list").getByText(/ignored/).waitFor();
});

inBrowser("tells before an undo what stays, what is gone for good, and what goes on", {
  files: { ".gitignore": "out/\n", "tool.sh": "#!/bin/sh\n", "a.txt": "1\n" },
  steps: [byCommand("echo 2 > a.txt")],
}, async (page, workspace) => {
  const notes = page.locator("#undo-notes");
  const left = page.locator("#undo-left");
  const ask = async () => {
    await page.keyboard.press("Shift+Z");
    await question(page).getByText(/(goes|go) back to how/).waitFor();
  };
  const cancel = () => question(page).getByRole("button", { name: "Cancel" }).click();
  await row(page, "a.txt").waitFor();
  await ask();
  assert.deepEqual([await notes.isVisible(), await left.isVisible()], [false, false], "the control: there is nothing to be said");
  await cancel();

  chmodSync(join(workspace.root, "tool.sh"), 0o4755);
  workspace.record([byCommand("echo 2 > a.txt && mkdir out && echo new > out/new.o && rm tool.sh")], "serve");
  await page.reload();
  await row(page, "tool.sh").waitFor();
  await ask();
  await left.getByText("These stay as they are, or are not restored whole:").waitFor();
  assert.match((await left.locator("li").allTextContents()).join(), /^tool\.shit comes back without its set-user-ID/);
  assert.match(await notes.textContent(), /^\d entr(y|ies) made in ignored directories cannot be restored once removed\.$/);
  await cancel();

  const end = await workspace.begin("echo 3 > a.txt");
  await ask();
  assert.match(await notes.textContent(), / A command is still running and may change it again: echo 3 > a\.txt; /);
  await cancel();
  await end();
  await ask();
  assert.doesNotMatch(await notes.textContent(), /goes on/);
});

inBrowser("tells after an undo where it put what could not go back", {
  files: { "a.txt": "1\n" }, steps: [byCommand("echo 2 > a.txt")],
}, async (page) => {
  const undo = async (start) => {
    await start();
    await question(page).getByText("1 entry goes back").waitFor();
    await question(page).getByRole("button", { name: "Undo", exact: true }).click();
    await question(page).waitFor({ state: "hidden" });
  };
  await row(page, "a.txt").waitFor();
  await undo(() => page.keyboard.press("Shift+Z"));
  await page.locator("#done-text").getByText("1 entry undone.", { exact: true }).waitFor();
  // Only who saves within the very moment of the exchange brings this about: the answer is made to say so.
  const kept = "what could not go back to a.txt is in paddock-kept-1/\u202e0";
  await page.route(/\/api\/undo(\?|$)/, async (route) => {
    const response = await route.fetch();
    const outcome = await response.json();
    await route.fulfill({ response, json: route.request().postDataJSON().check ? outcome : { ...outcome, kept } });
  });
  await undo(() => page.locator("#take-back").click());
  await page.locator("#done-text").getByText("1 entry undone. what could not go back to a.txt is in paddock-kept-1/⟨U+202E⟩0", { exact: true }).waitFor();
});

inBrowser("says so when nothing has changed, and when the program has ended", { files: { a: "1\n" } }, async (page, served) => {
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  assert.equal(await button(page, "Undo everything…").isDisabled(), true);
  served.process.kill("SIGINT");
  await served.ended;
  await page.getByRole("alert").filter({ hasText: "paddock does not answer" }).waitFor();
});
