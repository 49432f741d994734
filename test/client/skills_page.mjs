// SPDX-License-Identifier: MIT
// The page for skills as a process, and archives to import: shared by its tests.

import assert from "node:assert/strict";
import { crc32 } from "node:zlib";

import { folderFor, serve } from "./page_process.mjs";

const paddock = process.env.PADDOCK;
assert.ok(paddock, "PADDOCK names the program under test");

export const skillText = (name, description, body = "\nBody.\n") =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;

// Threads get a stack of 2 MiB, as they do on small systems.
const start = ["-c", 'ulimit -s 2048 && exec "$0" "$@"', paddock, "skills", "ui"];

/** Starts the page over a directory with these files: {root, address, process, ended}. */
export async function startPage(test, files = {}, ...options) {
  const root = folderFor(test, files);
  return { root, ...(await serve(test, "sh", [...start, "--root", root, ...options])) };
}

/** A zip archive of stored entries: [name, content] each. */
export function zipOf(entries) {
  const local = [];
  const central = [];
  let offset = 0;
  for (const [name, content] of entries) {
    const bytes = Buffer.from(content);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26); // from the version to the length of the extra field
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2); // names are UTF-8
    common.writeUInt16LE(0x21, 8); // 1980-01-01
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    const place = Buffer.alloc(14); // comment, disk, attributes, offset
    place.writeUInt32LE(((0o100644 << 16) >>> 0), 6);
    place.writeUInt32LE(offset, 10);
    local.push(Buffer.from("PK\x03\x04"), common, path, bytes);
    central.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, place, path);
    offset += 4 + common.length + path.length + bytes.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
