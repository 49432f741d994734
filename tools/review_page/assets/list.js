// SPDX-License-Identifier: MIT
// A list of any length, of which only the rows that are seen are elements.

import { element } from "./dom.js";

const rowHeight = 52; // pixels, as page.css has it
const around = 6; // rows beyond the edges that are drawn as well

export class VirtualList {
  #box;
  #spacer = element("div", { className: "spacer", role: "presentation" });
  #draw;
  #changed;
  #items = [];
  #chosen = -1;
  #waiting = false;

  /** `draw` makes the content of a row; `changed` is called with the row that was chosen; `seen` with those drawn. */
  constructor(box, { draw, changed, seen }) {
    this.#box = box;
    this.#draw = draw;
    this.#changed = changed;
    this.seen = seen;
    box.replaceChildren(this.#spacer);
    box.addEventListener("scroll", () => this.redrawSoon(), { passive: true });
    new ResizeObserver(() => this.redrawSoon()).observe(box);
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-index]");
      if (row) this.choose(Number(row.dataset.index));
    });
  }

  get items() {
    return this.#items;
  }

  get chosen() {
    return this.#items[this.#chosen];
  }

  get index() {
    return this.#chosen;
  }

  /** Nothing is chosen any more. */
  clear() {
    this.#chosen = -1;
    this.redraw();
  }

  /** Other items; the chosen one stays so if `isSame` finds it. */
  show(items, isSame) {
    const before = this.chosen;
    this.#items = items;
    this.#chosen = before === undefined ? -1 : items.findIndex((item) => isSame(item, before));
    this.redraw();
  }

  /** Chooses by a step from the chosen one, or from outside the list. */
  move(step) {
    if (this.#items.length === 0) return;
    const from = this.#chosen < 0 ? (step > 0 ? -1 : 0) : this.#chosen;
    this.choose(Math.min(this.#items.length - 1, Math.max(0, from + step)));
  }

  choose(index) {
    this.#chosen = index;
    const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
    if (top < this.#box.scrollTop) this.#box.scrollTop = top;
    else if (bottom > this.#box.scrollTop + this.#box.clientHeight) this.#box.scrollTop = bottom - this.#box.clientHeight;
    this.redraw();
    this.#changed(this.chosen);
  }

  get rowsOnPage() {
    return Math.max(1, Math.floor(this.#box.clientHeight / rowHeight) - 1);
  }

  redrawSoon() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.redraw();
    });
  }

  redraw() {
    this.#spacer.style.height = `${this.#items.length * rowHeight}px`; // first: it decides how far is scrolled
    const first = Math.max(0, Math.floor(this.#box.scrollTop / rowHeight) - around);
    const last = Math.min(this.#items.length, Math.ceil((this.#box.scrollTop + this.#box.clientHeight) / rowHeight) + around);
    const rows = [];
    for (let i = first; i < last; ++i) rows.push(this.#row(i));
    // What has the focus of the reader is there even when it is scrolled away.
    if (this.#chosen >= 0 && (this.#chosen < first || this.#chosen >= last)) rows.push(this.#row(this.#chosen));
    this.#spacer.replaceChildren(...rows);
    if (this.#chosen >= 0) this.#box.setAttribute("aria-activedescendant", `row-${this.#chosen}`);
    else this.#box.removeAttribute("aria-activedescendant");
    this.seen(this.#items.slice(first, last));
  }

  #row(index) {
    const chosen = index === this.#chosen;
    const aria = { selected: String(chosen), setsize: this.#items.length, posinset: index + 1 };
    const row = element("div", { id: `row-${index}`, className: "row", role: "option", data: { index }, aria });
    row.append(...this.#draw(this.#items[index]));
    row.style.top = `${index * rowHeight}px`;
    return row;
  }
}
