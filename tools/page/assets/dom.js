// SPDX-License-Identifier: MIT
// Elements. Strings become text, never markup.

export const at = (id) => document.getElementById(id);

/** An element with properties (`data` and `aria` for those attributes) and children; empty ones are left out. */
export function element(tag, { data = {}, aria = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  Object.assign(made.dataset, data);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(`aria-${name}`, value);
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ""));
  return made;
}

/** Shows a message, or hides its place when there is none. */
export function say(place, message) {
  place.textContent = message ?? "";
  place.hidden = !message;
}

/** Says something that has come to pass, for a while. */
export function announce(message) {
  const status = at("status");
  status.textContent = message;
  status.classList.remove("shown");
  void status.offsetWidth; // starts the animation again
  status.classList.add("shown");
}
