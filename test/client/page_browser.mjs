// SPDX-License-Identifier: MIT
// A real browser for the tests of the pages.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before } from "node:test";

import { chromium } from "playwright-core";

import { atEnd } from "./at_end.mjs";

const programs = (process.env.CHROMIUM ?? "chromium,chromium-browser,google-chrome").split(",");
const browserPath = process.env.PATH.split(delimiter)
  .flatMap((folder) => programs.map((name) => join(folder, name)))
  .find(existsSync);

/** Why there is no test in a browser; false: nothing keeps it from running. */
export const skip = browserPath ? false : "there is no Chromium; install it or name it in CHROMIUM";

let browser;
before(async () => {
  if (!skip) browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
});
after(async () => browser?.close());

/** Runs `run(page)` in a fresh browser at the address, once `isReady` holds there; whatever the page complains about fails it. */
export async function visit(test, address, { isReady, patience, ...context }, run) {
  const opened = await browser.newContext({ locale: "en-US", ...context });
  atEnd(test, () => opened.close());
  const page = await opened.newPage();
  page.setDefaultTimeout(patience);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(`a dialog of a script: ${dialog.message()}`));
  // Refusals are loads that fail, which the browser logs.
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  await page.goto(address);
  await page.waitForFunction(isReady);
  await run(page);
  assert.deepEqual(complaints, []);
}

/** Takes pictures of pages into a directory; none where it is not given. */
export const photographer = (folder, how = {}) => async (page, name) => {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), ...how });
};

export const button = (page, name) => page.getByRole("button", { name, exact: true });
