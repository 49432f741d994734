// SPDX-License-Identifier: MIT
// The part of a row that opens: the files of a skill, and the content of one of them.

import { element } from "./dom.js";
import { request } from "./requests.js";
import { bytes, text } from "./texts.js";

function fileButton(panel, file) {
  if (file.kind !== "file")
    return element("span", { className: "special" }, file.path, element("small", {}, text(file.kind)));
  return element(
    "button",
    { type: "button", data: { path: file.path }, onclick: () => panel.show(file.path) },
    element("span", {}, file.path),
    element("small", {}, bytes(file.size)),
  );
}

/** The text with some of its lines (from 1) marked. */
function marked(content, lines) {
  const parts = [];
  let rest = [];
  content.split("\n").forEach((line, i, all) => {
    const whole = i + 1 < all.length ? `${line}\n` : line;
    if (!lines.has(i + 1)) return rest.push(whole);
    parts.push(rest.join(""), element("mark", {}, whole));
    rest = [];
  });
  return [...parts, rest.join("")];
}

export class FilePanel {
  /** `linesAtFault` gives the lines of SKILL.md that diagnostics point at. */
  constructor(id, domId, linesAtFault) {
    this.id = id;
    this.linesAtFault = linesAtFault;
    this.list = element("ul", { className: "file-list" });
    this.content = element("div", { className: "content" });
    this.node = element("div", { id: domId, className: "panel" }, this.list, this.content);
  }

  /** Reads everything again; the file that was shown stays shown. */
  async load() {
    try {
      const { files } = await request("GET", "files", { id: this.id });
      this.files = files.filter((file) => file.kind !== "directory");
    } catch (refusal) {
      this.files = [];
      this.list.replaceChildren();
      return this.content.replaceChildren(element("p", { className: "trouble" }, refusal.message));
    }
    this.render();
    const paths = this.files.filter((file) => file.kind === "file").map((file) => file.path);
    const first = paths.find((path) => path === this.shown) ?? paths.find((path) => path === "SKILL.md") ?? paths[0];
    if (first) await this.show(first);
    else this.content.replaceChildren(element("p", { className: "nothing" }, text("noFiles")));
  }

  render() {
    this.list.ariaLabel = text("fileList");
    this.list.replaceChildren(...(this.files ?? []).map((file) => element("li", {}, fileButton(this, file))));
    this.mark();
  }

  mark() {
    for (const button of this.list.querySelectorAll("button"))
      button.ariaCurrent = String(button.dataset.path === this.shown);
  }

  async show(path) {
    this.shown = path;
    this.mark();
    let parts;
    try {
      const file = await request("GET", "file", { id: this.id, path });
      const label = { tabIndex: 0, role: "region", ariaLabel: text("preview", path) };
      parts = [element("pre", label, marked(file.text, path === "SKILL.md" ? this.linesAtFault() : new Set()))];
      if (file.truncated) {
        const shown = bytes(new TextEncoder().encode(file.text).length);
        parts.push(element("p", { className: "nothing" }, text("truncated", shown, bytes(file.size))));
      }
    } catch (refusal) {
      parts = [element("p", { className: "nothing" }, refusal.message)];
    }
    if (this.shown === path) this.content.replaceChildren(...parts);
  }
}
