// SPDX-License-Identifier: MIT
// The page for skills in a real browser.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { button, photographer, skip, visit } from "./page_browser.mjs";
import { folderFor } from "./page_process.mjs";
import { skillText, startPage, zipOf } from "./skills_page.mjs";

/** One test in a fresh browser over a fresh directory; whatever the page complains about fails it. */
function inBrowser(name, { files = {}, ...context }, run) {
  test(name, { skip, timeout: 120_000 }, async (t) => {
    const served = await startPage(t, files);
    const how = { isReady: () => document.querySelector("#root").textContent, patience: 20_000, viewport: { width: 1100, height: 860 }, ...context };
    await visit(t, served.address, how, (page) => run(page, served));
  });
}

const photograph = photographer(process.env.SKILLS_PAGE_SCREENSHOTS, { fullPage: true });

const row = (page, id) => page.locator(`.row[data-id="${id}"]`);
const dialog = (page, name) => page.getByRole("dialog", { name });
const status = (page, text) => page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });
const skillFile = (served, id) => join(served.root, ".agents/skills", id, "SKILL.md");

const chooseArchive = (page, name, entries) =>
  page.setInputFiles("#archive", { name, mimeType: "application/zip", buffer: zipOf(entries) });
const importNow = (page) => dialog(page, "Import skill").getByRole("button", { name: "Import" }).click();

const sample = {
  ".agents/sys.skills/pdf-forms/SKILL.md": skillText("PDF forms", "Fill, merge and inspect PDF forms. Use when a PDF is mentioned."),
  ".agents/skills/brand-voice/SKILL.md": skillText("Brand voice", "House style for public texts: tone, words to avoid, examples.", "\n# Brand voice\n\nWrite <b>plainly</b>.\n"),
  ".agents/skills/brand-voice/references/tone.md": "# Tone\n",
  ".agents/skills/broken/SKILL.md": "# There is no frontmatter\n",
  ".agents/skills/empty/notes.txt": "no skill yet",
};

inBrowser("adds a skill, and says what is wrong with one", {}, async (page, served) => {
  await page.getByRole("heading", { name: "No skills yet" }).waitFor();
  await photograph(page, "empty");
  await button(page, "Add skill").click();
  const form = dialog(page, "Add skill");
  await form.getByLabel("Id").fill("a/b");
  await form.getByRole("button", { name: "Add skill" }).click();
  await form.getByText("Use letters, digits and hyphens").waitFor();
  assert.equal(await form.getByText("This must not be empty.").count(), 2);
  await photograph(page, "add");
  await form.getByLabel("Id").fill("weekly-report");
  await form.getByLabel("Name").fill("Weekly: report # 'quoted'");
  await form.getByLabel("Description").fill('Reports; "use" it - weekly: 每周报告\nand on demand');
  await form.getByRole("button", { name: "Add skill" }).click();
  await status(page, "weekly-report was added.");
  assert.equal(await row(page, "weekly-report").locator("h3").textContent(), "Weekly: report # 'quoted'");
  assert.equal(await row(page, "weekly-report").locator(".description").textContent(),
    'Reports; "use" it - weekly: 每周报告 and on demand');
  assert.match(readFileSync(skillFile(served, "weekly-report"), "utf8"), /^---\n/);

  await button(page, "Add skill").click();
  for (const field of ["Id", "Name", "Description"]) await form.getByLabel(field).fill("weekly-report");
  await form.getByRole("button", { name: "Add skill" }).click();
  await form.getByText("There is a skill with this id already.").waitFor();
  assert.equal(await form.getByLabel("Id").evaluate((input) => input === document.activeElement), true);
});

inBrowser("edits the name and the description only", { files: sample }, async (page, served) => {
  await button(page, "Edit brand-voice").click();
  const form = dialog(page, "Edit brand-voice");
  assert.equal(await form.getByLabel("Name").inputValue(), "Brand voice");
  await form.getByLabel("Name").fill("Voice");
  await form.getByRole("button", { name: "Save" }).click();
  await status(page, "brand-voice was saved.");
  assert.equal(await row(page, "brand-voice").locator("h3").textContent(), "Voice");
  assert.match(readFileSync(skillFile(served, "brand-voice"), "utf8"), /Write <b>plainly<\/b>\.\n$/);
});

inBrowser("imports an archive and shows its files", { files: sample }, async (page, served) => {
  await chooseArchive(page, "release-notes.zip", [
    ["release-notes/SKILL.md", skillText("release-notes", "Writes release notes.")],
    ["release-notes/scripts/collect.py", "print('notes')\n"],
  ]);
  await photograph(page, "import");
  await importNow(page);
  await status(page, "release-notes was imported: 2 files.");
  assert.ok(existsSync(skillFile(served, "release-notes")));
  await button(page, "Files of release-notes").click();
  await row(page, "release-notes").getByText("Writes release notes.", { exact: true }).waitFor();
  await row(page, "release-notes").locator("pre").filter({ hasText: "name: release-notes" }).waitFor();
  await row(page, "release-notes").getByRole("button", { name: /collect\.py/ }).click();
  await row(page, "release-notes").locator("pre").filter({ hasText: "print('notes')" }).waitFor();
  await photograph(page, "files");
});

inBrowser("replaces a skill only when told to", { files: sample }, async (page, served) => {
  const old = readFileSync(skillFile(served, "brand-voice"), "utf8");
  await chooseArchive(page, "brand-voice.skill", [["SKILL.md", skillText("brand-voice", "The new one.")]]);
  await importNow(page);
  const question = page.getByRole("alertdialog", { name: "Replace brand-voice?" });
  await question.waitFor();
  await photograph(page, "overwrite");
  await question.getByRole("button", { name: "Cancel" }).click();
  assert.equal(readFileSync(skillFile(served, "brand-voice"), "utf8"), old);
  await importNow(page);
  await question.getByRole("button", { name: "Replace" }).click();
  await status(page, "brand-voice was imported: 1 file.");
  await page.waitForFunction(() => document.activeElement.ariaLabel === "Files of brand-voice");
  assert.equal(await row(page, "brand-voice").locator(".description").textContent(), "The new one.");
  assert.ok(!existsSync(join(served.root, ".agents/skills/brand-voice/references")));
});

inBrowser("says why an archive is refused, and changes nothing", { files: sample }, async (page, served) => {
  const shown = await page.locator(".row").count();
  await chooseArchive(page, "evil.zip", [["SKILL.md", skillText("evil", "Evil.")], ["../outside.txt", "x"]]);
  await importNow(page);
  await dialog(page, "Import skill").getByRole("alert").filter({ hasText: /two dots.*\.\.\/outside\.txt/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await row(page, "brand-voice").waitFor();
  assert.equal(await page.locator(".row").count(), shown);
  assert.ok(!existsSync(join(served.root, ".agents/outside.txt")));
});

inBrowser("imports a folder", { files: sample }, async (page, served) => {
  const folder = folderFor(test, {
    "meeting-notes/SKILL.md": skillText("meeting-notes", "Summarises meetings."),
    "meeting-notes/references/a b 会议.md": "text",
    "meeting-notes/empty.txt": "",
  });
  await page.setInputFiles("#folder", join(folder, "meeting-notes"));
  assert.equal(await dialog(page, "Import skill").getByLabel("Id").inputValue(), "meeting-notes");
  await importNow(page);
  await status(page, "meeting-notes was imported: 3 files.");
  assert.equal(readFileSync(join(served.root, ".agents/skills/meeting-notes/references/a b 会议.md"), "utf8"), "text");
});

inBrowser("imports what is dropped on it", { files: sample }, async (page) => {
  const drop = (name, bytes) =>
    page.evaluate(([fileName, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], fileName));
      for (const type of ["dragenter", "dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, [name, bytes.toString("base64")]);
  await drop("notes.txt", Buffer.from("text"));
  await page.getByRole("alert").filter({ hasText: "Drop one folder or one .zip" }).waitFor();
  await drop("dropped.zip", zipOf([["SKILL.md", skillText("dropped", "Was dropped.")]]));
  await importNow(page);
  await status(page, "dropped was imported: 1 file.");
});

inBrowser("deletes a skill when the answer is yes", { files: sample }, async (page, served) => {
  const question = page.getByRole("alertdialog", { name: "Delete brand-voice?" });
  await button(page, "Delete brand-voice").click();
  await photograph(page, "delete");
  await question.getByRole("button", { name: "Cancel" }).click();
  assert.ok(existsSync(skillFile(served, "brand-voice")));
  await button(page, "Delete brand-voice").click();
  await question.getByRole("button", { name: "Delete" }).click();
  await status(page, "brand-voice was deleted.");
  assert.equal(await row(page, "brand-voice").count(), 0);
  assert.ok(!existsSync(join(served.root, ".agents/skills/brand-voice")));
});

inBrowser("leaves system skills alone", { files: sample }, async (page) => {
  assert.equal(await row(page, "pdf-forms").locator(".badge").textContent(), "System");
  assert.equal(await button(page, "Files of pdf-forms").count(), 1);
  for (const name of ["Edit", "Delete"]) {
    assert.equal(await button(page, `${name} pdf-forms`).count(), 0);
    assert.equal(await button(page, `${name} brand-voice`).count(), 1);
  }
});

inBrowser("shows what is not loaded, and why", { files: sample }, async (page, served) => {
  const section = page.getByRole("region", { name: /Not loaded/ });
  await section.getByText(".agents/skills/broken/SKILL.md:1:1").waitFor();
  await section.getByText("no-frontmatter").waitFor();
  await row(page, "empty").getByText("There is no SKILL.md in it.").waitFor();
  await button(page, "Files of broken").click();
  await row(page, "broken").locator("pre").filter({ hasText: "There is no frontmatter" }).waitFor();
  await photograph(page, "light");
  // What is corrected elsewhere is seen when the person comes back.
  writeFileSync(skillFile(served, "broken"), skillText("Mended", "Works now."));
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await row(page, "broken").getByRole("heading", { name: "Mended" }).waitFor();
});

inBrowser("takes no text for markup", {
  files: {
    ".agents/skills/evil/SKILL.md": skillText('"<script>alert(1)</script>"', '"<img src=x onerror=alert(2)> &lt;b&gt;"', "<svg onload=alert(3)>\n"),
    ".agents/skills/evil/<img src=x onerror=alert(4)>.txt": "<iframe srcdoc='x'>",
    ".agents/skills/<b onclick=alert(5)>/a.txt": "",
  },
}, async (page) => {
  await button(page, "Files of evil").click();
  await page.locator("pre").filter({ hasText: "<svg onload" }).waitFor();
  assert.equal(await row(page, "evil").locator("h3").textContent(), "<script>alert(1)</script>");
  assert.equal(await row(page, "evil").locator(".description").textContent(), "<img src=x onerror=alert(2)> &lt;b&gt;");
  await button(page, "Delete <b onclick=alert(5)>").click();
  await page.getByRole("alertdialog", { name: "Delete <b onclick=alert(5)>?" }).waitFor();
  assert.equal(await page.locator("body :is(script, img, svg, iframe, b)").count(), 0);
});

inBrowser("speaks Chinese where the browser does", { files: sample, locale: "zh-CN" }, async (page) => {
  assert.equal(await page.title(), "Skills 配置");
  await page.getByRole("heading", { name: "Skills 配置" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "zh-CN");
  await row(page, "empty").getByText("目录中没有 SKILL.md。").waitFor();
  await photograph(page, "chinese");
  await button(page, "添加 Skill").click();
  await dialog(page, "添加 Skill").getByRole("button", { name: "添加 Skill" }).click();
  assert.equal(await page.getByText("此项不能为空。").count(), 3);
  await page.keyboard.press("Escape");

  await button(page, "English").click();
  await page.getByRole("heading", { name: "Skills", exact: true }).waitFor();
  await page.reload();
  assert.equal(await page.title(), "Skills");
  assert.equal(await button(page, "English").getAttribute("aria-pressed"), "true");
});

inBrowser("has every text in both languages", {}, async (page, served) => {
  const tables = await page.evaluate(async (address) => {
    const { choose, keys } = await import(`${address}texts.js`);
    return ["en", "zh"].map((language) => (choose(language), keys().sort()));
  }, served.address);
  assert.deepEqual(tables[0], tables[1]);
});

inBrowser("can be used with the keyboard alone", { files: sample }, async (page, served) => {
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
  const tabTo = async (name) => {
    for (let steps = 0; steps < 40 && (await focused()) !== name; ++steps) await page.keyboard.press("Tab");
    assert.equal(await focused(), name);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", `${name} shows that it has the focus`);
  };
  await tabTo("Add skill");
  await page.keyboard.press("Enter");
  for (const text of ["by-keyboard", "By keyboard", "Made without a mouse."]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Tab"); // over Cancel
  await page.keyboard.press("Enter");
  await status(page, "by-keyboard was added.");
  await page.waitForFunction(() => document.activeElement.ariaLabel === "Files of by-keyboard");
  await page.keyboard.press("Enter");
  await row(page, "by-keyboard").locator("pre").waitFor();
  assert.equal(await focused(), "Files of by-keyboard");
  await tabTo("Delete by-keyboard");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "Cancel");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.ariaLabel === "Delete by-keyboard");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await status(page, "by-keyboard was deleted.");
  await page.waitForFunction(() => document.activeElement.id === "add");
  assert.ok(!existsSync(skillFile(served, "by-keyboard")));
});

inBrowser("is dark where the system is", { files: sample, colorScheme: "dark" }, async (page) => {
  await button(page, "Files of brand-voice").click();
  await page.locator("pre").waitFor();
  const [red] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
  assert.ok(red < 64, "a dark background");
  await photograph(page, "dark");
});

inBrowser("fits a narrow window", { files: sample, viewport: { width: 360, height: 740 } }, async (page) => {
  await button(page, "Files of brand-voice").click();
  await page.locator("pre").waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  await photograph(page, "narrow");
});

inBrowser("says so when the program has ended", { files: sample }, async (page, served) => {
  served.process.kill("SIGINT");
  await served.ended;
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await page.getByRole("alert").filter({ hasText: "paddock does not answer" }).waitFor();
});
