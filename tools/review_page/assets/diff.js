// SPDX-License-Identifier: MIT
// The differences of one file: hunks as tables, unified or side by side.

import { element } from "./dom.js";
import { text } from "./texts.js";
import { visible } from "./visible.js";
import { changedWords } from "./words.js";

/** The rows of a hunk as lines: {sign, text, before?, after?, cut, open, words?}. `numbers` go on from the part before. */
function linesOf(hunk, numbers) {
  const [cut, open] = [new Set(hunk.cut), new Set(hunk.open)];
  return hunk.rows.map((row, i) => {
    const line = { sign: row[0], text: row.slice(1), cut: cut.has(i), open: open.has(i) };
    if (line.sign !== "+") line.before = numbers.before++;
    if (line.sign !== "-") line.after = numbers.after++;
    return line;
  });
}

/** Lines that stand beside each other: [removed or same, added or same]. Marks the words that changed. */
function pairsOf(lines) {
  const pairs = [];
  for (let i = 0; i < lines.length; ) {
    if (lines[i].sign === " ") {
      pairs.push([lines[i], lines[i]]);
      ++i;
      continue;
    }
    const [gone, come] = [[], []];
    for (; i < lines.length && lines[i].sign === "-"; ++i) gone.push(lines[i]);
    for (; i < lines.length && lines[i].sign === "+"; ++i) come.push(lines[i]);
    for (let k = 0; k < Math.max(gone.length, come.length); ++k) {
      const words = gone[k] && come[k] && changedWords(gone[k].text, come[k].text);
      if (words) [gone[k].words, come[k].words] = [words.before, words.after];
      pairs.push([gone[k], come[k]]);
    }
  }
  return pairs;
}

const kinds = { " ": "same", "-": "gone", "+": "come" };

function numberCell(line) {
  return element("td", { className: "number", data: line === undefined ? {} : { line } });
}

function codeCell(line) {
  if (line === undefined) return element("td", { className: "code none" });
  const parts = line.words
    ? line.words.map(([part, changed]) => (changed ? element("mark", {}, visible(part)) : visible(part))).flat()
    : visible(line.text);
  if (line.cut) parts.push(element("span", { className: "note" }, text("lineCut")));
  if (line.open) parts.push(element("span", { className: "note" }, text("noNewline")));
  return element("td", { className: `code ${kinds[line.sign]}`, data: { sign: line.sign } }, parts);
}

function unifiedRows(lines) {
  return lines.map((line) =>
    element("tr", { className: kinds[line.sign] }, numberCell(line.before), numberCell(line.after), codeCell(line)),
  );
}

function splitRows(pairs) {
  return pairs.map(([gone, come]) =>
    element("tr", {}, numberCell(gone?.before), codeCell(gone), numberCell(come?.after), codeCell(come)),
  );
}

export class DiffView {
  #view;
  #undo;
  #parts = []; // of the hunks, as they came
  node = element("div", { className: "diff" });

  /** `undo` is called with a hunk's number, and what it is called. */
  constructor(view, undo) {
    this.#view = view;
    this.#undo = undo;
  }

  /** Hunks of an answer; the first one may go on with the last one of the answer before. */
  add(hunks, count) {
    this.count = count;
    for (const hunk of hunks) {
      const last = this.#parts.at(-1);
      if (hunk.first) {
        const [before, beforeCount, after, afterCount] = hunk.lines;
        const numbers = { before: before + (beforeCount === 0 ? 1 : 0), after: after + (afterCount === 0 ? 1 : 0) };
        this.#parts.push({ ...hunk, numbers, linesSeen: linesOf(hunk, numbers) });
        this.node.append(this.#section(this.#parts.at(-1)));
      } else if (last?.number === hunk.number) {
        last.linesSeen.push(...linesOf(hunk, last.numbers));
        this.node.lastElementChild?.replaceWith(this.#section(last));
      }
    }
  }

  /** The other way to show the same. */
  turn(view) {
    this.#view = view;
    this.draw();
  }

  draw() {
    this.node.replaceChildren(...this.#parts.map((part) => this.#section(part)));
  }

  #section(part) {
    const [before, beforeCount, after, afterCount] = part.lines;
    const place = `@@ -${before},${beforeCount} +${after},${afterCount} @@`;
    const name = text("hunkName", part.number + 1, this.count, after, Math.max(after, after + afterCount - 1));
    const undo = element(
      "button",
      { type: "button", className: "quiet-danger", data: { hunk: part.number }, aria: { label: text("undoHunkOf", part.number + 1) } },
      text("undoHunk"),
    );
    undo.onclick = () => this.#undo(part.number);
    const pairs = pairsOf(part.linesSeen); // marks the words for both views
    const rows = this.#view === "split" ? splitRows(pairs) : unifiedRows(part.linesSeen);
    return element(
      "section",
      { className: "hunk", aria: { label: name } },
      element("header", {}, element("code", {}, place), undo),
      element(
        "div",
        { className: "lines", tabIndex: 0, role: "group", aria: { label: name } },
        element("table", { className: this.#view }, element("tbody", {}, rows)),
      ),
    );
  }
}
