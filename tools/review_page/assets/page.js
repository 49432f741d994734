// SPDX-License-Identifier: MIT
// The page: what has changed since a checkpoint, as it comes, and the ways back.

import { open } from "./dialog.js";
import { announce, at, element, say } from "./dom.js";
import { FileView } from "./file.js";
import { VirtualList } from "./list.js";
import { request } from "./requests.js";
import { checkpointName, when, whoDid } from "./said.js";
import { choose, remember, remembered, text, translate } from "./texts.js";
import { askUndo } from "./undo.js";
import { plain, visible } from "./visible.js";

const pollEvery = 1500; // ms
const lookEvery = 3000; // ms; what goes on changing things tells nobody
const lookShare = 20; // of the time at most one part is spent on it
const countsAtOnce = 100;
const eventsAtOnce = 500;
const eventsShown = 100;
const letters = { created: "A", modified: "M", deleted: "D", moved: "R", mode: "P" };

const now = { state: {}, checkpoints: [], changes: [], notCovered: [], events: [], since: 0 };
let seen = ""; // what the list was made of, to leave the page alone when nothing has changed
let nextLook = 0; // by performance.now()
let view = remembered("view", ["unified", "split"]) ?? "unified";
const counts = new Map(); // by countKey

// ---- the list -----------------------------------------------------------------------------------

const countKey = (change) => `${now.since} ${change.time} ${change.files} ${change.after?.size} ${change.path}`;
const isSame = (a, b) => a.path === b.path && a.by === b.by; // a repository has a row for each author

function drawRow(change) {
  const [, folder, name] = /^(.*\/)?([^/]*)$/s.exec(change.path);
  const lines = counts.get(countKey(change));
  const isFolder = change.entry === "directory";
  return [
    element("span", { className: `kind ${change.kind}`, title: text(change.kind), role: "img", ariaLabel: text(change.kind) }, letters[change.kind]),
    element("span", { className: "name" }, element("bdi", {}, visible(name)), isFolder ? "/" : ""),
    element("span", { className: "counts" },
      isFolder && change.files > 0 ? element("span", {}, text("fileCount", change.files)) : "",
      lines?.added ? element("span", { className: "plus" }, `+${lines.added}`) : "",
      lines?.removed ? element("span", { className: "minus" }, `−${lines.removed}`) : "",
      change.reason ? element("span", { className: "warn", title: text("cannotRestore", change.reason), role: "img", ariaLabel: text("cannotRestore", change.reason) }, "⚠") : "",
    ),
    element("span", { className: "place" },
      folder ? element("bdi", {}, visible(folder)) : "", element("span", { className: "by" }, element("bdi", {}, visible(whoDid(change))), element("span", { className: "dot" }, "·"), when(change.time))),
  ];
}

const fileView = new FileView({
  node: at("file"),
  since: () => now.since,
  undo: (change, hunk) => undo({ paths: [change.path], hunk }),
});

const list = new VirtualList(at("list"), {
  draw: drawRow,
  changed: (change) => show(change),
  seen: (items) => countSoon(items),
});

function filtered() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [kind, who] = [at("kind").value, at("who").value];
  return now.changes.filter(
    (change) =>
      (kind === "all" || change.kind === kind) &&
      (who === "all" || change.by === who) &&
      words.every((word) => `${change.path} ${change.tool ?? ""} ${change.command ?? ""}`.toLowerCase().includes(word)),
  );
}

function sum() {
  let [added, removed, known] = [0, 0, true];
  for (const change of list.items) {
    const lines = counts.get(countKey(change));
    if (lines === undefined && isCountable(change)) known = false;
    added += lines?.added ?? 0;
    removed += lines?.removed ?? 0;
  }
  const shown = list.items.length;
  const files = shown === now.changes.length ? text("changeCount", now.total) : text("changesOf", shown, now.total);
  return known ? `${files} · +${added} −${removed}` : files;
}

function renderList() {
  list.show(filtered(), isSame);
  at("summary").textContent = now.total > 0 ? sum() : "";
  at("no-match").hidden = list.items.length > 0 || now.changes.length === 0;
  at("undo-all").disabled = now.changes.length === 0;
  at("not-covered").hidden = now.notCovered.length === 0;
  at("not-covered-title").textContent = text("notCovered", now.notCovered.length);
  at("not-covered-list").replaceChildren(
    ...now.notCovered.map(({ path, reason, entries = 1 }) =>
      element("li", {}, element("bdi", { className: "path" }, visible(path)), element("small", {}, entries > 1 ? `${reason}; ${text("fileCount", entries)}` : reason)),
    ),
  );
  renderDetail();
}

function renderDetail() {
  const chosen = list.chosen;
  at("file").hidden = chosen === undefined;
  at("empty").hidden = chosen !== undefined || now.changes.length > 0;
  at("timeline").hidden = chosen !== undefined || now.events.length === 0;
  at("back").hidden = chosen === undefined;
  // A narrow window has one column: the list, or what is said of one file or of none.
  document.body.classList.toggle("reading", chosen !== undefined || now.changes.length === 0);
}

// ---- counts of lines, for what is seen first ----------------------------------------------------

let counting = false;
let wanted = []; // what is seen now

/** Files, and folders with all in them; not the `.git` of a repository. */
const isCountable = (change) => change.entry !== "directory" || change.kind === "created" || change.kind === "deleted";
const isUncounted = (change) => isCountable(change) && !counts.has(countKey(change));

async function countSoon(items) {
  wanted = items;
  if (counting) return;
  counting = true;
  try {
    for (;;) {
      const seenFirst = wanted.filter(isUncounted);
      const batch = (seenFirst.length > 0 ? seenFirst : now.changes.filter(isUncounted)).slice(0, countsAtOnce);
      if (batch.length === 0) break;
      const since = now.since;
      const answer = await request("POST", "counts", {}, { since, paths: batch.map(({ path }) => path) });
      if (since !== now.since) continue;
      const found = new Map(answer.counts.map((each) => [each.path, each]));
      for (const change of batch) counts.set(countKey(change), found.get(change.path) ?? {});
      at("summary").textContent = sum();
      if (batch.some((change) => wanted.includes(change))) list.redrawSoon();
    }
  } catch {
    // The next look at the list asks again, and polling says what is wrong.
  } finally {
    counting = false;
  }
}

// ---- what is asked of the server ----------------------------------------------------------------

async function refresh({ look }) {
  const { changes, notCovered, total } = await request("GET", "changes", { since: now.since, look: look ? "1" : "0" });
  if (look) await refreshState(); // the look may have met damage
  const made = JSON.stringify([now.since, changes, notCovered]);
  if (made === seen) return;
  seen = made;
  const before = list.chosen;
  Object.assign(now, { changes, notCovered, total });
  renderList();
  if (before && list.chosen && (before.time !== list.chosen.time || before.kind !== list.chosen.kind)) await fileView.load(list.chosen);
}

async function refreshCheckpoints() {
  ({ checkpoints: now.checkpoints } = await request("GET", "checkpoints"));
  const options = now.checkpoints.map((each) => element("option", { value: String(each.id) }, plain(checkpointName(each))));
  at("since").replaceChildren(...options);
  at("since").value = String(now.since);
  renderTimeline(); // which names them
}

async function refreshState() {
  now.state = await request("GET", "state");
  const { reading, trouble, workspace } = now.state;
  at("root").replaceChildren(...visible(workspace));
  at("root").title = plain(workspace);
  const message = trouble ? text("storeTrouble", trouble) : reading ? text("reading", reading.files, reading.of) : "";
  say(at("store-trouble"), message);
}

/** The operations that are not known yet; true when there were some. */
async function refreshEvents() {
  let found = false;
  for (;;) {
    const after = now.events.at(-1)?.number ?? 0;
    const { events } = await request("GET", "events", { after, limit: eventsAtOnce });
    now.events.push(...events);
    found ||= events.length > 0;
    if (events.length < eventsAtOnce) break;
  }
  if (found) renderTimeline();
  return found;
}

/** Not the time, which is told beside it. */
const pointName = (made, id) => (made?.start ? text("start") : made?.label) || text("checkpointNumber", id);

/** What one command did in several steps, as it is told of one that goes on, is one event. */
function joined(events) {
  const out = [];
  for (const event of events) {
    const last = out.at(-1);
    const goesOn = last && event.command && !event.checkpoint && last.command === event.command && last.by === event.by;
    if (!goesOn) out.push(event);
    else {
      const paths = [...new Set([...last.paths, ...event.paths])];
      const twice = last.paths.length + event.paths.length - paths.length;
      out[out.length - 1] = { ...event, paths, entries: last.entries + event.entries - twice };
    }
  }
  return out;
}

function renderTimeline() {
  const items = joined(now.events).slice(-eventsShown).reverse().map((event) => {
    const made = now.checkpoints.find(({ id }) => id === event.checkpoint);
    const paths = event.paths.slice(0, 3).map((path) => element("bdi", { className: "path" }, visible(path)));
    const rest = event.entries - paths.length;
    return element("li", { className: event.checkpoint ? "point" : "" },
      when(event.time),
      element("span", {}, visible(event.checkpoint ? pointName(made, event.checkpoint) : whoDid(event))),
      element("span", { className: "touched" }, paths, rest > 0 ? element("small", {}, text("more", rest)) : ""),
    );
  });
  at("events").replaceChildren(...items);
  renderDetail();
}

/** Says what is wrong, if anything is. */
async function attempt(work) {
  try {
    await work();
    say(at("trouble"), "");
  } catch (refusal) {
    if (refusal.code === undefined) throw refusal;
    say(at("trouble"), refusal.message);
  }
}

const look = () => attempt(async () => {
  await refreshState();
  await refreshEvents();
  await refreshCheckpoints();
  await refresh({ look: true });
});

async function lookAgain() {
  const began = performance.now();
  await refresh({ look: true });
  if (await refreshEvents()) await refreshCheckpoints();
  const ended = performance.now();
  nextLook = ended + Math.max(lookEvery, lookShare * (ended - began));
}

async function poll() {
  if (document.visibilityState === "visible" && !document.querySelector("dialog[open]"))
    await attempt(async () => {
      if (now.state.reading) await refreshState();
      if (performance.now() >= nextLook) return lookAgain();
      if (!(await refreshEvents())) return;
      await refreshCheckpoints();
      await refresh({ look: false });
    });
  setTimeout(poll, pollEvery);
}

// ---- what can be done ---------------------------------------------------------------------------

function show(change) {
  renderDetail();
  if (change) fileView.load(change);
}

function back() {
  list.clear();
  renderDetail();
  at("list").focus();
}

async function undo({ paths, hunk, to = now.since }) {
  const index = list.index;
  const point = now.checkpoints.find(({ id }) => id === to);
  askUndo({ to, name: point ? checkpointName(point) : "", paths, hunk, seen: fileView.seen }, async (outcome) => {
    seen = "";
    await look();
    if (index >= 0 && !list.chosen && list.items.length > 0) list.choose(Math.min(index, list.items.length - 1));
    else if (list.chosen) await fileView.load(list.chosen);
    at("done-text").textContent = [text("undone", outcome.restored), ...[outcome.kept, outcome.notice].filter(Boolean).map(plain)].join(" ");
    at("take-back").hidden = outcome.checkpoint === undefined;
    at("take-back").onclick = () => undo({ to: outcome.checkpoint });
    at("done").hidden = false;
    at("list").focus();
  });
}

const makeCheckpoint = async (label) => {
  const made = await request("POST", "checkpoints", {}, { label });
  await refreshEvents();
  await refreshCheckpoints();
  announce(text("checkpointMade", checkpointName(made)));
};

function askForLabel() {
  at("label-text").value = "";
  open(at("label"), async () => {
    await makeCheckpoint(at("label-text").value);
    at("label").close();
  });
  at("label-text").focus();
}

function turn(chosen) {
  view = chosen;
  remember("view", view);
  fileView.turn(view);
  for (const button of document.querySelectorAll("[data-view]")) button.ariaPressed = String(button.dataset.view === view);
}

function paint(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  for (const button of document.querySelectorAll("[data-theme-choice]"))
    button.ariaPressed = String(button.dataset.themeChoice === (dark ? "dark" : "light"));
}

function showHelp() {
  const keys = [["j ↓", "keyNext"], ["k ↑", "keyPrevious"], ["n", "keyNextHunk"], ["p", "keyPreviousHunk"], ["u", "keyUnified"], ["s", "keySplit"],
    ["c", "keyCheckpoint"], ["z", "keyUndoFile"], ["Z", "keyUndoAll"], ["/", "keyFilter"], ["t", "keyTheme"], ["Esc", "keyBack"], ["?", "keyHelp"]];
  at("keys").replaceChildren(...keys.flatMap(([key, name]) =>
    [element("dt", {}, key.split(" ").map((each) => element("kbd", {}, each))), element("dd", {}, text(name))]));
  at("help").showModal();
}

// ---- events -------------------------------------------------------------------------------------

const toggleTheme = () => {
  const dark = document.querySelector('[data-theme-choice="dark"]').ariaPressed === "true";
  paint(dark ? "light" : "dark");
  remember("theme", dark ? "light" : "dark");
};
const keys = {
  j: () => list.move(1),
  k: () => list.move(-1),
  n: () => fileView.goToHunk(1),
  p: () => fileView.goToHunk(-1),
  u: () => turn("unified"),
  s: () => turn("split"),
  c: () => attempt(() => makeCheckpoint("")),
  z: () => list.chosen && undo({ paths: [list.chosen.path] }),
  Z: () => now.changes.length > 0 && undo({}),
  t: toggleTheme,
  "/": () => at("filter").focus(),
  "?": showHelp,
  Escape: back,
};
const keysOfList = {
  ArrowDown: () => list.move(1),
  ArrowUp: () => list.move(-1),
  PageDown: () => list.move(list.rowsOnPage),
  PageUp: () => list.move(-list.rowsOnPage),
  Home: () => list.move(-list.items.length),
  End: () => list.move(list.items.length),
  Enter: () => fileView.focus(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const inField = event.target.matches("input, select, textarea");
  if (inField && !(event.key === "Escape" && event.target.id === "filter")) return;
  const inList = event.target === at("list") || event.target === document.body;
  const act = keys[event.key] ?? (inList ? keysOfList[event.key] : undefined);
  if (!act) return;
  event.preventDefault();
  act();
});

function fillFilters() {
  for (const [id, names] of [["kind", ["created", "modified", "deleted", "moved", "mode"]], ["who", ["tool", "exec", "other"]]]) {
    const { value } = at(id);
    at(id).replaceChildren(element("option", { value: "all" }, text(`${id}All`)), ...names.map((name) => element("option", { value: name }, text(name))));
    at(id).value = value || "all";
  }
}

function speakAgain() {
  fillFilters();
  renderList();
  renderTimeline();
  fileView.draw();
  if (now.checkpoints.length > 0) attempt(refreshCheckpoints);
  attempt(refreshState);
}

for (const id of ["filter", "kind", "who"]) at(id).oninput = renderList;
at("since").onchange = () => {
  now.since = Number(at("since").value);
  look();
};
at("checkpoint").onclick = askForLabel;
at("undo-all").onclick = () => undo({});
at("help-button").onclick = showHelp;
at("back").onclick = back;
for (const button of document.querySelectorAll("[data-view]")) button.onclick = () => turn(button.dataset.view);
for (const button of document.querySelectorAll("[data-theme-choice]"))
  button.onclick = () => {
    paint(button.dataset.themeChoice);
    remember("theme", button.dataset.themeChoice);
  };
for (const button of document.querySelectorAll("[data-language]"))
  button.onclick = () => {
    choose(button.dataset.language);
    speakAgain();
  };
matchMedia("(prefers-color-scheme: dark)").onchange = () => paint(document.documentElement.dataset.theme);
// A person has changed something meanwhile, perhaps.
addEventListener("focus", look);

translate();
fillFilters();
turn(view);
paint(remembered("theme", ["light", "dark"]));
await attempt(async () => {
  await refreshState();
  now.since = now.state.since;
});
await look();
document.documentElement.dataset.ready = "true";
poll();
