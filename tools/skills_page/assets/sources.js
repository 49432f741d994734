// SPDX-License-Identifier: MIT
// What a person chooses or drops to be imported: {kind, name, files: [{path, file}], size}.

import { text } from "./texts.js";

const isArchive = (name) => /\.(zip|skill)$/i.test(name);

/** An id that a source suggests; empty where the server knows better, who looks into archives. */
export function suggestedId({ kind, name }) {
  if (kind === "archive") return "";
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 64);
}

function source(kind, name, files) {
  return { kind, name, files, size: files.reduce((sum, { file }) => sum + file.size, 0) };
}

export function fromArchive(file) {
  return source("archive", file.name, [{ path: file.name, file }]);
}

/** From an input for folders: each path begins with the folder's name. */
export function fromFolder(list) {
  const files = Array.from(list, (file) => {
    const [, ...path] = file.webkitRelativePath.split("/");
    return { path: path.join("/"), file };
  });
  return source("folder", list[0].webkitRelativePath.split("/")[0], files);
}

async function entriesOf(directory) {
  const reader = directory.createReader();
  const all = [];
  // Each call gives some of them, and none when there are no more.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function walk(directory, prefix, files) {
  for (const entry of await entriesOf(directory)) {
    const path = prefix + entry.name;
    if (entry.isDirectory) await walk(entry, `${path}/`, files);
    else files.push({ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
  }
  return files;
}

/** From a drop. Rejects what is not one folder or one archive. */
export async function fromDrop(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  // The items are gone after the first wait, so look at all of them now.
  const entry = items[0]?.webkitGetAsEntry?.();
  const file = items[0]?.getAsFile();
  if (items.length !== 1) throw new Error(text("notOneSource"));
  if (entry?.isDirectory) return source("folder", entry.name, await walk(entry, "", []));
  if (!file || !isArchive(file.name)) throw new Error(text("notOneSource"));
  return fromArchive(file);
}
