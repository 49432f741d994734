// SPDX-License-Identifier: MIT
// The dialogs: to add or edit, and to import.

import { confirm, open } from "./dialog.js";
import { at } from "./dom.js";
import { Refusal, request } from "./requests.js";
import { suggestedId } from "./sources.js";
import { bytes, text } from "./texts.js";
import { upload } from "./upload.js";

// What the server certainly refuses; it judges the rest.
const idPattern = /^[^\s./\\:][^/\\:]*$/;

function complain(input, message) {
  at(`${input.id}-problem`).textContent = message ?? "";
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** Says what is wrong with the inputs and goes to the first of them; true when nothing is. */
function check(inputs) {
  const wrong = inputs.filter(([input, message]) => (complain(input, message), message));
  wrong[0]?.[0].focus();
  return wrong.length === 0;
}

function idProblem(value) {
  if (!value) return text("required");
  return idPattern.test(value) ? undefined : text("idProblem");
}

const required = (value) => (value.trim() ? undefined : text("required"));

/** To add a skill, or to edit `skill`. `done` gets the skill as it is then. */
export function edit(skill, done) {
  const dialog = at("editor");
  const [id, name, description] = ["id", "name", "description"].map((field) => at(`editor-${field}`));
  at("editor-title").textContent = skill ? text("editTitle", skill.id) : text("addTitle");
  dialog.querySelector("[type=submit]").textContent = skill ? text("save") : text("add");
  at("editor-id-field").hidden = Boolean(skill);
  [id.value, name.value, description.value] = [skill?.id ?? "", skill?.name ?? "", skill?.description ?? ""];
  for (const input of [id, name, description]) complain(input);
  const submit = async () => {
    const sound = check([
      [id, skill ? undefined : idProblem(id.value)],
      [name, required(name.value)],
      [description, required(description.value)],
    ]);
    if (!sound) return;
    const fields = { name: name.value, description: description.value };
    const changed = skill
      ? await request("PUT", "skills", { id: skill.id }, fields)
      : await request("POST", "skills", {}, { id: id.value, ...fields });
    dialog.close();
    await done(changed);
  };
  const showRefusal = (refusal) => {
    if (refusal.code === "already_exists") return !check([[id, text("idTaken")]]);
    if (refusal.field === "frontmatter") refusal.message = text("frontmatterProblem");
    const input = { id, name, description }[refusal.field];
    return input !== undefined && !check([[input, text(input === id ? "idProblem" : "fieldProblem")]]);
  };
  open(dialog, submit, showRefusal);
  (skill ? name : id).focus();
}

function showProgress(fraction) {
  const bar = at("importer-progress");
  bar.hidden = fraction === undefined;
  const progress = bar.querySelector("progress");
  if (fraction === undefined || fraction >= 1) progress.removeAttribute("value");
  else progress.value = fraction;
  at("importer-state").textContent =
    fraction === undefined ? "" : fraction >= 1 ? text("storing") : text("uploading", Math.floor(fraction * 100));
}

/** To import a source; `done` gets what the server says about it. */
export function importSource(source, done) {
  const dialog = at("importer");
  const id = at("importer-id");
  const giveUp = new AbortController();
  at("importer-source").textContent = source.name;
  at("importer-size").textContent =
    source.kind === "archive" ? bytes(source.size) : text("sourceSize", source.files.length, bytes(source.size));
  id.value = suggestedId(source);
  at("importer-id-help").hidden = source.kind !== "archive";
  complain(id);
  showProgress();
  dialog.onclose = () => giveUp.abort(new Refusal({ error: "cancelled", message: "" }));

  const send = async (overwrite) => {
    const query = { kind: source.kind, name: source.name, id: id.value, overwrite: overwrite ? "1" : "0" };
    showProgress(0);
    try {
      const report = await upload(query, source.files, showProgress, giveUp.signal);
      at("question").close();
      dialog.close();
      await done(report);
    } finally {
      showProgress();
    }
  };
  const askToOverwrite = (name) => {
    confirm(
      { title: text("overwriteTitle", name), question: text("overwriteText", name), yes: text("overwrite") },
      () => send(true),
    );
    return true;
  };
  const submit = async () => {
    if (check([[id, id.value && idProblem(id.value)]])) await send(false);
  };
  open(dialog, submit, (refusal) => {
    if (refusal.refusal === "id-exists") return askToOverwrite(refusal.id || id.value);
    return refusal.refusal === "bad-id" && !check([[id, text("idProblem")]]);
  });
  id.focus();
}
