// SPDX-License-Identifier: MIT
// The page: the list of skills and what can be done with them.

import { confirm } from "./dialog.js";
import { edit, importSource } from "./dialogs.js";
import { announce, at, element, say } from "./dom.js";
import { FilePanel } from "./files.js";
import { request } from "./requests.js";
import { fromArchive, fromDrop, fromFolder } from "./sources.js";
import { choose, text, translate } from "./texts.js";

const rowsAtOnce = 200;
const filterFrom = 8; // fewer rows need no filter

let list = { root: "", skills: [], notLoaded: [] };
let seen = ""; // what the list was made of, to leave the page alone when nothing has changed
let rowsShown = rowsAtOnce;
const panels = new Map(); // of open rows, by key

// ---- rows ---------------------------------------------------------------------------------------

const keyOf = (entry) => `${entry.source}/${entry.id}`;
const domIdOf = (entry) => `files-${encodeURIComponent(keyOf(entry))}`;

/** Whether this is what the server takes the id for, should there be a system and a user directory of that name. */
function idNames(entry) {
  const same = ({ id }) => id === entry.id;
  const others = list.notLoaded.filter(same);
  return entry === (list.skills.find(same) ?? others.find(({ source }) => source === "system") ?? others[0]);
}

function action(name, entry, act, { className = "", aria = {} } = {}) {
  const key = `${name}:${keyOf(entry)}`;
  const label = { label: text(`${name}Of`, entry.id), ...aria };
  return element("button", { type: "button", className, data: { focus: key }, aria: label, onclick: act }, text(name));
}

function actions(entry, { editable }) {
  const panel = panels.get(keyOf(entry));
  const open = panel !== undefined;
  const aria = { expanded: String(open), ...(open && { controls: panel.node.id }) };
  const made = [];
  if (idNames(entry)) made.push(action("files", entry, () => toggleFiles(entry), { className: "expander", aria }));
  if (entry.source === "user" && editable) made.push(action("edit", entry, () => edit(entry, changed("edited"))));
  if (entry.source === "user")
    made.push(action("delete", entry, () => remove(entry), { className: "quiet-danger" }));
  return element("div", { className: "row-actions" }, made);
}

function badge(entry) {
  const system = entry.source === "system";
  return element(
    "span",
    { className: `badge ${entry.source}`, title: system ? text("systemHelp") : "" },
    text(entry.source),
  );
}

function diagnostics(entry, file) {
  return entry.diagnostics.map((each) =>
    element(
      "li",
      { className: each.severity },
      element("code", {}, `${file}:${each.line}:${each.column}`),
      element("span", {}, `${text(each.severity)}: ${each.message}`),
      element("code", { className: "code" }, each.code),
    ),
  );
}

function skillRow(skill) {
  const panel = panels.get(keyOf(skill));
  const warnings = skill.diagnostics.length;
  return element(
    "li",
    { className: "row", data: { id: skill.id } },
    element(
      "div",
      { className: "row-head" },
      element("h3", {}, skill.name),
      skill.id === skill.name ? "" : element("code", { className: "id" }, skill.id),
      badge(skill),
      warnings ? element("span", { className: "badge warning" }, text("warnings", warnings)) : "",
    ),
    element("p", { className: panel ? "description whole" : "description" }, skill.description),
    actions(skill, { editable: true }),
    panel && warnings ? element("ul", { className: "diagnostics" }, diagnostics(skill, skill.path)) : "",
    panel?.node,
  );
}

function unloadedRow(entry) {
  const panel = panels.get(keyOf(entry));
  return element(
    "li",
    { className: "row unloaded", data: { id: entry.id } },
    element("div", { className: "row-head" }, element("h3", {}, entry.id), badge(entry)),
    element("p", { className: "description whole" }, [text(entry.why), entry.reason].filter(Boolean).join(" ")),
    actions(entry, { editable: false }),
    element("ul", { className: "diagnostics" }, diagnostics(entry, `${entry.path}/SKILL.md`)),
    panel?.node,
  );
}

// ---- the list -----------------------------------------------------------------------------------

function matches(entry, words) {
  const haystack = `${entry.id} ${entry.name ?? ""} ${entry.description ?? ""}`.toLowerCase();
  return words.every((word) => haystack.includes(word));
}

function render() {
  const focused = document.activeElement?.dataset?.focus;
  const { skills, notLoaded } = list;
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = skills.filter((skill) => matches(skill, words));
  const rest = found.length - rowsShown;

  at("root").textContent = list.root;
  at("filter").hidden = skills.length < filterFrom && words.length === 0;
  at("empty").hidden = skills.length + notLoaded.length > 0;
  at("loaded").hidden = skills.length === 0;
  at("loaded-count").textContent = skills.length;
  at("skills").replaceChildren(...found.slice(0, rowsShown).map(skillRow));
  at("no-match").hidden = found.length > 0;
  at("more").hidden = rest <= 0;
  at("more").textContent = rest > 0 ? text("more", Math.min(rest, rowsAtOnce)) : "";
  at("unloaded").hidden = notLoaded.length === 0;
  at("unloaded-count").textContent = notLoaded.length;
  at("not-loaded").replaceChildren(...notLoaded.map(unloadedRow));
  if (focused) focusOn(focused);
}

function focusOn(key) {
  document.querySelector(`[data-focus="${CSS.escape(key)}"]`)?.focus();
}

async function refresh() {
  try {
    const answer = await request("GET", "skills");
    say(at("trouble"), "");
    const now = JSON.stringify(answer);
    if (now === seen) return;
    seen = now;
    list = answer;
    const present = new Set([...list.skills, ...list.notLoaded].map(keyOf));
    for (const key of panels.keys()) if (!present.has(key)) panels.delete(key);
    render();
  } catch (refusal) {
    say(at("trouble"), refusal.message);
  }
}

// ---- what can be done ---------------------------------------------------------------------------

function linesAtFault(key) {
  const entry = [...list.skills, ...list.notLoaded].find((each) => keyOf(each) === key);
  return new Set(entry?.diagnostics.map(({ line }) => line));
}

async function toggleFiles(entry) {
  const key = keyOf(entry);
  if (panels.delete(key)) return render();
  const panel = new FilePanel(entry.id, domIdOf(entry), () => linesAtFault(key));
  panels.set(key, panel);
  render();
  await panel.load();
}

/** After a change of one skill: says so, and shows it. */
function changed(message) {
  return async ({ id }) => {
    await refresh();
    await panels.get(`user/${id}`)?.load();
    announce(text(message, id));
    focusOn(`files:user/${id}`);
  };
}

function remove(entry) {
  const path = entry.why ? entry.path : entry.path.replace(/\/[^/]*$/, "");
  const question = { title: text("deleteTitle", entry.id), question: text("deleteText", path), yes: text("delete") };
  const act = () => request("DELETE", "skills", { id: entry.id });
  confirm(question, act, async () => {
    await refresh();
    announce(text("deleted", entry.id));
    at("add").focus(); // the button that was pressed is gone
  });
}

function startImport(source) {
  importSource(source, async (report) => {
    const failed = report.diagnostics.some(({ severity }) => severity === "error");
    await refresh();
    await panels.get(`user/${report.id}`)?.load();
    announce(failed ? text("importedUnloaded", report.id) : text("imported", report.id, report.files));
    focusOn(`files:user/${report.id}`);
  });
}

// ---- events -------------------------------------------------------------------------------------

function chooseWith(button, input, sourceOf) {
  button.onclick = () => input.click();
  input.onchange = () => {
    const files = [...input.files];
    input.value = ""; // the same choice again is a change
    if (files.length > 0) startImport(sourceOf(files));
  };
}

function acceptDrops() {
  const overlay = at("drop");
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files") && !document.querySelector("dialog[open]");
  let inside = 0; // elements entered and not left
  addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    inside += 1;
    overlay.hidden = false;
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("dragleave", () => {
    inside = Math.max(0, inside - 1);
    overlay.hidden = inside === 0;
  });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    inside = 0;
    overlay.hidden = true;
    if (!hasFiles(event)) return;
    try {
      startImport(await fromDrop(event.dataTransfer));
    } catch (problem) {
      say(at("trouble"), problem.message);
    }
  });
}

at("add").onclick = () => edit(undefined, changed("added"));
at("filter").oninput = () => {
  rowsShown = rowsAtOnce;
  render();
};
at("more").onclick = () => {
  rowsShown += rowsAtOnce;
  render();
};
chooseWith(at("import-archive"), at("archive"), ([file]) => fromArchive(file));
chooseWith(at("import-folder"), at("folder"), fromFolder);
acceptDrops();
for (const button of document.querySelectorAll("[data-language]"))
  button.onclick = () => {
    choose(button.dataset.language);
    for (const panel of panels.values()) panel.render();
    render();
  };
// Other programs change skills too, and an import that was given up may have come through.
addEventListener("focus", refresh);
at("importer").addEventListener("close", refresh);
translate();
await refresh();
