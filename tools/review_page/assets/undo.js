// SPDX-License-Identifier: MIT
// The question before something is undone: what happens, and what stands against it.

import { open } from "./dialog.js";
import { at, element } from "./dom.js";
import { Refusal, request } from "./requests.js";
import { text } from "./texts.js";
import { plain, visible } from "./visible.js";

const namesShown = 8;

function names(place, entries, total = entries.length) {
  const shown = entries.slice(0, namesShown).map(({ path, reason }) =>
    element("li", {}, element("bdi", { className: "path" }, visible(path)), reason ? element("small", {}, reason) : ""));
  if (total > namesShown) shown.push(element("li", {}, text("more", total - namesShown)));
  place.replaceChildren(...shown);
}

function showConflicts(conflicts) {
  at("undo-conflicts").hidden = conflicts.length === 0;
  at("undo-force").checked = false;
  names(at("undo-conflict-list"), conflicts);
}

/** What is to be known beforehand, whatever is chosen. */
function showNotes({ left = [], lost = 0, running = [], commitsLeft: commits }) {
  const notes = [lost > 0 ? text("undoLost", lost) : "", running.length > 0 ? text("undoRunning", plain(running.map(({ tool, command }) => command || tool).join("; "))) : "",
    commits ? text("undoCommits", plain(commits.repository), commits.from, commits.to) : ""].filter(Boolean);
  at("undo-notes").hidden = notes.length === 0;
  at("undo-notes").textContent = notes.join(" ");
  at("undo-left").hidden = left.length === 0;
  names(at("undo-left-list"), left);
}

function titleOf({ paths, hunk }) {
  if (hunk !== undefined) return text("undoHunkTitle", hunk + 1, plain(paths[0]));
  return paths ? text("undoFileTitle", plain(paths[0])) : text("undoAllTitle");
}

/** What would be undone, with and without force: says so, and lets it be done if there is something. */
async function foresee(body, name) {
  const button = at("undo").querySelector("[type=submit]");
  const force = at("undo-force").checked;
  button.disabled = true;
  try {
    const outcome = await request("POST", "undo", {}, { ...body, force, check: true });
    const { restored, paths, pathsTotal, folded, conflicts } = outcome;
    const blocked = conflicts.length > 0 && !force;
    const message = blocked ? "undoBlocked" : restored > 0 ? "undoText" : "undoNothing";
    at("undo-text").textContent = text(message, restored, plain(name));
    const files = new Map(folded.map((each) => [each.path, each.files]));
    const rows = paths.map((path) => (files.has(path) ? { path: `${path}/`, reason: text("fileCount", files.get(path)) } : { path }));
    names(at("undo-paths"), blocked ? [] : rows, blocked ? 0 : pathsTotal);
    if (!force) showConflicts(conflicts);
    showNotes(blocked ? {} : outcome);
    button.disabled = blocked || restored === 0;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    at("undo-text").textContent = refusal.message;
  }
}

/** Asks; `done` gets what was restored. `seen` proves which differences a hunk's number is about. */
export async function askUndo({ to, name, paths, hunk, seen }, done) {
  const dialog = at("undo");
  const isHunk = hunk !== undefined;
  const body = isHunk ? { since: to, path: paths[0], hunk, seen } : { to, ...(paths && { paths }) };
  at("undo-title").textContent = titleOf({ paths, hunk });
  at("undo-text").textContent = isHunk ? text("undoHunkText", plain(name)) : text("undoAsking");
  names(at("undo-paths"), []);
  showConflicts([]);
  showNotes({});
  open(dialog, async () => {
    const outcome = await request("POST", isHunk ? "undo-hunk" : "undo", {}, { ...body, force: at("undo-force").checked });
    if (outcome.restored === 0 && outcome.conflicts.length > 0) {
      showConflicts(outcome.conflicts);
      throw new Refusal({ error: "conflict", message: text("nothingUndone") });
    }
    dialog.close();
    await done(outcome);
  });
  at("undo-force").onchange = isHunk ? null : () => foresee(body, name);
  dialog.querySelector("[data-close]").focus();
  if (!isHunk) await foresee(body, name);
}
