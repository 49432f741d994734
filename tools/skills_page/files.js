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

export class FilePanel {
  constructor(id, domId) {
    this.id = id;
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
      parts = [element("pre", { tabIndex: 0, role: "region", ariaLabel: text("preview", path) }, file.text)];
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
