// SPDX-License-Identifier: MIT
// Text as it is: what is not seen, or turns the order of what is seen, is shown by its number.

import { element } from "./dom.js";

// Controls but tab and line feed, marks of direction, joiners, fillers, tags, and byte order marks.
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

const names = { "\r": "CR", "\0": "NUL", "\u001b": "ESC" };
const nameOf = (character) =>
  names[character] ?? `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** For attributes and sentences. */
export const plain = (text) => text.replace(unseen, (character) => `⟨${nameOf(character)}⟩`).replace(/[\n\t]/g, " ");

/** For elements: strings, and an element for each character that is not seen. */
export function visible(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(unseen)) {
    parts.push(text.slice(end, found.index), element("span", { className: "unseen" }, nameOf(found[0])));
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== "");
}
