// SPDX-License-Identifier: MIT
// Dialogs, and the question whether something is to be done. Escape and the cancel button close each.

import { at, say } from "./dom.js";
import { Refusal } from "./requests.js";

for (const dialog of document.querySelectorAll("dialog"))
  dialog.querySelector("[data-close]").onclick = () => dialog.close();

/** Opens a dialog; `submit` is called for its form, one call at a time, and its refusals are shown. */
export function open(dialog, submit, showRefusal = () => false) {
  const form = dialog.querySelector("form");
  const trouble = form.querySelector(".trouble");
  const button = form.querySelector("[type=submit]");
  say(trouble, "");
  button.disabled = false;
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    say(trouble, "");
    try {
      await submit();
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      if (!showRefusal(refusal)) say(trouble, refusal.message);
    } finally {
      button.disabled = false;
    }
  };
  dialog.showModal();
}

/** Asks; `act` is called when the answer is yes, and may refuse; `done` when it has not. */
export function confirm({ title, question, yes }, act, done = () => {}) {
  const dialog = at("question");
  at("question-title").textContent = title;
  at("question-text").textContent = question;
  dialog.querySelector("[type=submit]").textContent = yes;
  open(dialog, async () => {
    await act();
    dialog.close();
    await done();
  });
  dialog.querySelector("[data-close]").focus();
}
