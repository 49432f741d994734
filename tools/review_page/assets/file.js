// SPDX-License-Identifier: MIT
// What has become of one file: who did it, its differences, and the way back.

import { DiffView } from "./diff.js";
import { element } from "./dom.js";
import { bytesOf, request } from "./requests.js";
import { when, whoDid } from "./said.js";
import { bytes, text } from "./texts.js";
import { plain, visible } from "./visible.js";

const insideShown = 300;
const mode = (state) => state.mode.toString(8).padStart(3, "0");

export class FileView {
  #node;
  #since;
  #undo;
  #view = "unified";
  #giveUp = new AbortController();
  #urls = [];
  #answer;
  #diff;
  #inside;
  seen; // what proves that the differences were seen

  constructor({ node, since, undo }) {
    [this.#node, this.#since, this.#undo] = [node, since, undo];
  }

  turn(view) {
    this.#view = view;
    this.#diff?.turn(view);
  }

  /** Reads and shows a change; gives up on the one before. */
  async load(change) {
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
    const { signal } = this.#giveUp;
    try {
      const query = { since: this.#since(), path: change.path };
      // What is in a repository is listed like a folder, however little of it has changed.
      const isRepository = change.kind === "modified" && change.before?.entry === "directory";
      const isWholeFolder = change.entry === "directory" && (change.files > 1 || isRepository);
      const [answer, inside] = isWholeFolder
        ? [{ change }, (await request("GET", "changes", { ...query, limit: insideShown }, undefined, signal))]
        : [await request("GET", "diff", query, undefined, signal), undefined];
      if (signal.aborted) return;
      [this.#answer, this.#inside, this.seen] = [answer, inside, answer.seen];
      this.#forget();
      this.#diff = new DiffView(this.#view, (hunk) => this.#undo(this.#answer.change, hunk));
      if (answer.hunks) this.#diff.add(answer.hunks, answer.hunkCount);
      this.draw();
      if (answer.before?.form === "image" || answer.after?.form === "image") await this.#showImages(signal);
    } catch (refusal) {
      if (refusal.code === "cancelled" || signal.aborted) return;
      if (refusal.code === undefined) throw refusal;
      [this.#answer, this.#diff] = [undefined, undefined];
      this.#node.replaceChildren(element("p", { className: "trouble" }, refusal.message));
    }
  }

  focus() {
    this.#node.querySelector("h2")?.focus();
  }

  goToHunk(step) {
    const hunks = [...this.#node.querySelectorAll(".hunk .lines")];
    const from = hunks.findIndex((hunk) => hunk === document.activeElement);
    const next = from < 0 ? (step > 0 ? 0 : hunks.length - 1) : from + step;
    hunks[next]?.focus();
    hunks[next]?.parentElement.scrollIntoView({ block: "nearest" });
  }

  draw() {
    if (!this.#answer) return;
    this.#diff?.draw();
    this.#node.replaceChildren(this.#head(), ...this.#body());
  }

  #forget() {
    for (const url of this.#urls) URL.revokeObjectURL(url);
    this.#urls = [];
  }

  #head() {
    const { change, added, removed } = this.#answer;
    const undo = element("button", { type: "button", className: "danger", id: "undo-file", title: text("keyUndoFile") }, text(change.entry === "directory" ? "undoFolder" : "undoFile"));
    undo.onclick = () => this.#undo(change);
    const lines = added === undefined ? "" : [element("span", { className: "plus" }, `+${added}`), element("span", { className: "minus" }, `−${removed}`)];
    return element("header", { className: "file-head" },
      element("h2", { id: "detail-title", tabIndex: -1 }, element("bdi", {}, visible(change.path))),
      undo,
      element("p", { className: "facts" },
        element("span", { className: `badge ${change.kind}` }, text(change.kind)), lines,
        element("span", { className: "who" }, element("bdi", {}, visible(whoDid(change)))), element("span", {}, when(change.time)), this.#sizes()),
      this.#notes().map((note) => element("p", { className: "note-line" }, note)),
    );
  }

  #sizes() {
    const { before, after } = this.#answer.change;
    const sizes = [before, after].filter((state) => state?.entry === "file").map((state) => bytes(state.size));
    return element("span", {}, [...new Set(sizes)].join(" → "));
  }

  #notes() {
    const { change, before, after } = this.#answer;
    const notes = [];
    const both = change.before && change.after;
    if (change.from) notes.push([text("movedFrom"), element("bdi", { className: "path" }, visible(change.from))]);
    if (both && change.before.entry !== change.after.entry)
      notes.push(text("entryChanged", text(`entry_${change.before.entry}`), text(`entry_${change.after.entry}`)));
    else if (both && change.before.mode !== change.after.mode) notes.push(text("modeChanged", mode(change.before), mode(change.after)));
    if (change.command && change.command.length > 80) notes.push(element("code", { className: "command" }, visible(change.command)));
    if (change.alsoOther) notes.push(text("alsoOther"));
    if (change.reason) notes.push(text("cannotRestore", change.reason));
    for (const side of [before, after]) if (side?.problem) notes.push(text(side === before ? "beforeUnknown" : "afterUnknown", side.problem));
    return notes;
  }

  #body() {
    const { before, after, hunks, hunkCount, next } = this.#answer;
    if (this.#inside) return [this.#folder()];
    const forms = [before.form, after.form];
    if (forms.includes("image")) return [element("div", { className: "images", id: "images" })];
    if (hunks) {
      if (hunkCount === 0) return [element("p", { className: "nothing" }, text("sameContent"))];
      return next === undefined ? [this.#diff.node] : [this.#diff.node, this.#moreButton(next)];
    }
    if (forms.includes("tooLarge")) return [element("p", { className: "nothing" }, text("tooLarge"))];
    if (forms.includes("binary")) return [element("p", { className: "nothing" }, text("binary"))];
    return [element("p", { className: "nothing" }, text("noContent"))];
  }

  #moreButton(from) {
    const button = element("button", { type: "button", className: "more" }, text("showMore"));
    button.onclick = async () => {
      button.disabled = true;
      const { change } = this.#answer;
      const { signal } = this.#giveUp;
      try {
        const answer = await request("GET", "diff", { since: this.#since(), path: change.path, from }, undefined, signal);
        if (signal.aborted) return;
        if (answer.seen !== this.seen) return await this.load(change);
        this.#diff.add(answer.hunks, answer.hunkCount);
        this.#answer.next = answer.next;
        if (answer.next === undefined) button.remove();
        else button.replaceWith(this.#moreButton(answer.next));
      } catch (refusal) {
        if (refusal.code === "cancelled") return;
        if (refusal.code === undefined) throw refusal;
        button.replaceWith(element("p", { className: "trouble" }, refusal.message));
      }
    };
    return button;
  }

  #folder() {
    const { changes, total } = this.#inside;
    const rows = changes.filter(({ entry }) => entry !== "directory").map((inner) => {
      const button = element("button", { type: "button" }, element("bdi", {}, visible(inner.path)), element("small", {}, bytes((inner.after ?? inner.before)?.size ?? 0)));
      button.onclick = () => this.load(inner);
      return element("li", {}, button);
    });
    const rest = total - changes.length;
    return element("ul", { className: "inside", aria: { label: text("inside", plain(this.#answer.change.path)) } }, rows,
      rest > 0 ? element("li", { className: "nothing" }, text("more", rest)) : "");
  }

  async #showImages(signal) {
    const { change } = this.#answer;
    const figures = [];
    for (const side of ["before", "after"]) {
      if (this.#answer[side].form !== "image") continue;
      const blob = await bytesOf("image", { since: this.#since(), path: change.path, side }, signal);
      const url = URL.createObjectURL(blob);
      this.#urls.push(url);
      const image = element("img", { src: url, alt: text(side === "before" ? "imageBefore" : "imageAfter", plain(change.path)) });
      await image.decode().catch(() => {});
      const size = image.naturalWidth > 0 ? ` · ${image.naturalWidth} × ${image.naturalHeight}` : ` · ${text("brokenImage")}`;
      figures.push(element("figure", {}, element("figcaption", {}, `${text(side)} · ${bytes(blob.size)}${size}`), image));
    }
    if (!signal.aborted) this.#node.querySelector("#images")?.replaceChildren(...figures);
  }
}
