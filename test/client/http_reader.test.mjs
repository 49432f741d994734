// SPDX-License-Identifier: MIT
// The server's reader of requests beside the parser of Node.js: whatever ours accepts, that one reads the same way. A
// stream that two programs in a row read as different requests is how requests are smuggled past the first of them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { METHODS, createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

const GENERATED = Number(process.env.PADDOCK_TEST_REQUESTS ?? 4000);
const SEED = 20260728;

// --- what is read -----------------------------------------------------------------------------------------------------

const host = "Host: localhost\r\n";
const hello = `POST /mcp HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello`;
const next = `GET /next HTTP/1.1\r\n${host}\r\n`;
const chunked = (body, headers = "") => `POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n${headers}\r\n${body}`;

const table = {
  "a body of a length": hello + next,
  "chunks": chunked("5\r\nhello\r\n0\r\n\r\n") + next,
  "chunks with extensions": chunked("5;a=b\r\nhello\r\n0;c\r\n\r\n") + next,
  "chunks with trailers": chunked("5\r\nhello\r\n0\r\nA: b\r\n\r\n") + next,
  "sizes of chunks in upper case": chunked("A\r\n0123456789\r\n0\r\n\r\n") + next,
  "sizes of chunks with zeros": chunked("0005\r\nhello\r\n000\r\n\r\n") + next,
  "sizes of chunks with 0x": chunked("0x5\r\nhello\r\n0\r\n\r\n") + next,
  "sizes of chunks with a sign": chunked("+5\r\nhello\r\n0\r\n\r\n") + next,
  "sizes of chunks behind a blank": chunked(" 5\r\nhello\r\n0\r\n\r\n") + next,
  "sizes of chunks before a blank": chunked("5 \r\nhello\r\n0\r\n\r\n") + next,
  "sizes of chunks beyond 64 bits": chunked("10000000000000005\r\nhello\r\n0\r\n\r\n") + next,
  "chunks that are longer": chunked("4\r\nhello\r\n0\r\n\r\n") + next,
  "chunks that end in LF": chunked("5\nhello\n0\n\n") + next,
  "both framings": `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
  "both framings, the other way round": `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${next}`,
  "two lengths": `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello${next}`,
  "a list of lengths": `POST / HTTP/1.1\r\n${host}Content-Length: 5, 5\r\n\r\nhello${next}`,
  "a length with a sign": `POST / HTTP/1.1\r\n${host}Content-Length: +5\r\n\r\nhello${next}`,
  "a length with zeros": `POST / HTTP/1.1\r\n${host}Content-Length: 0005\r\n\r\nhello${next}`,
  "a length with a blank": `POST / HTTP/1.1\r\n${host}Content-Length: 5 \t\r\n\r\nhello${next}`,
  "a length in hexadecimal": `POST / HTTP/1.1\r\n${host}Content-Length: 0x5\r\n\r\nhello${next}`,
  "a length behind a blank name": `POST / HTTP/1.1\r\n${host}Content-Length : 5\r\n\r\nhello${next}`,
  "a folded header": `GET / HTTP/1.1\r\n${host}A: b\r\n c\r\n\r\n${next}`,
  "a header without a colon": `GET / HTTP/1.1\r\n${host}A\r\n\r\n${next}`,
  "a header without a name": `GET / HTTP/1.1\r\n${host}: a\r\n\r\n${next}`,
  "a header without a value": `GET / HTTP/1.1\r\n${host}A:\r\nB: \t \r\n\r\n${next}`,
  "a header with NUL": `GET / HTTP/1.1\r\n${host}A: b\0c\r\n\r\n${next}`,
  "a header with CR": `GET / HTTP/1.1\r\n${host}A: b\rc\r\n\r\n${next}`,
  "a header with bytes beyond ASCII": `GET / HTTP/1.1\r\n${host}A: \xe4\xff\r\n\r\n${next}`,
  "lines that end in LF": `GET / HTTP/1.1\n${host}\n${next}`,
  "a blank line before": `\r\n${next}${next}`,
  "a length with GET": `GET / HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello${next}`,
  "chunks with GET": `GET / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
  "chunks in upper case": `POST / HTTP/1.1\r\n${host}Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n${next}`,
  "chunks, and before": `POST / HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${next}`,
  "chunks twice": `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
  "chunks behind VT": `POST / HTTP/1.1\r\n${host}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${next}`,
  "chunks in HTTP/1.0": `POST / HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
  "HTTP/1.0": `GET / HTTP/1.0\r\n${host}\r\n${next}`,
  "HTTP/1.0 that is kept": `GET / HTTP/1.0\r\n${host}Connection: keep-alive\r\n\r\n${next}`,
  "HTTP/1.1 that is not": `GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n${next}`,
  "HTTP/1.2": `GET / HTTP/1.2\r\n${host}\r\n${next}`,
  "HTTP/0.9": "GET /\r\n" + next,
  "an absolute target": `GET http://localhost/a?b HTTP/1.1\r\n${host}\r\n${next}`,
  "a target with blanks": `GET /a b HTTP/1.1\r\n${host}\r\n${next}`,
  "a target with bytes beyond ASCII": `GET /\xe4 HTTP/1.1\r\n${host}\r\n${next}`,
  "two blanks": `GET  / HTTP/1.1\r\n${host}\r\n${next}`,
  "a tab for a blank": `GET\t/ HTTP/1.1\r\n${host}\r\n${next}`,
  "an expectation": hello.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n") + next,
  "an upgrade": `GET / HTTP/1.1\r\n${host}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n${next}`,
};

/** Numbers below 2^32 that depend on the seed only. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Mostly requests, partly not quite. */
function generator(seed) {
  const number = numbers(seed);
  const one = (...list) => list[number() % list.length];
  const seldom = (odd, usual) => (number() % 12 === 0 ? odd() : usual);
  const body = () => Array.from({ length: number() % 20 }, () => one("a", "{", "\r\n", "\0", "\xff", " ", "GET / ")).join("");
  const chunk = (text) =>
    `${seldom(() => one(" ", "0", "0x", "+", "-"), "")}${text.length.toString(16)}${seldom(() => one(";x", ";x=y", " ", "g", ";\n"), "")}` +
    `${seldom(() => "\n", "\r\n")}${text}${seldom(() => one("\n", "x\r\n", ""), "\r\n")}`;
  const header = () =>
    one("A", "x-b", "Accept", "C!#$%&'*+.^_`|~9", "Content-Type", "Cookie") + seldom(() => one(" :", "", "::", "\t:"), ":") +
    one("", " ", "\t", "  ") + one("1", "a b", "", "\"q,\"", "\xe4", "=?x?", seldom(() => one("\0", "\r", "\n b", "\x7f", "\x0b"), "z")) +
    one("", " ", "\t") + seldom(() => "\n", "\r\n");
  const request = () => {
    const text = body();
    const framing = number() % 4;
    const length = `Content-Length:${one("", " ")}${text.length}${seldom(() => one("0", " ", ",1", "x"), "")}\r\n`;
    const coding = `Transfer-Encoding: ${seldom(() => one("gzip", "chunked, chunked", "identity", "xchunked"), one("chunked", "Chunked"))}\r\n`;
    const framed = [
      ["", ""], [length, text],
      [coding, one("", chunk(text) || "") + (number() % 2 ? chunk("xyz") : "") + "0\r\n" + seldom(() => header(), "") + "\r\n"],
      [seldom(() => length + coding, length), text],
    ][framing];
    const headers = [host, framed[0], ...Array.from({ length: number() % 4 }, header)];
    if (number() % 2) headers.reverse();
    return seldom(() => "\r\n", "") + seldom(() => one("get", "G T", "", "GET\t"), one("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT")) +
      one(" ", seldom(() => "  ", " ")) + one("/", "/mcp", "/a?b=%20#", "*", "http://localhost/x", seldom(() => one("/\xe4", "x", "/ y", "\x01"), "/z")) +
      " " + seldom(() => one("HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 "), "HTTP/1.1") + seldom(() => "\n", "\r\n") +
      headers.join("") + seldom(() => "\n", "\r\n") + framed[1];
  };
  return () => {
    let stream = Array.from({ length: 1 + (number() % 3) }, request).join("");
    if (number() % 4 === 0) {
      const at = number() % stream.length;
      stream = stream.slice(0, at) + one("", " ", "\r", "\n", "\0", ":", "\r\n", "0") + stream.slice(at + (number() % 3));
    }
    return stream;
  };
}

// --- who reads it -----------------------------------------------------------------------------------------------------

async function readByOurs(streams) {
  const child = spawn(process.env.PADDOCK_HTTP_READER, [], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const pieces = [];
  child.stdout.on("data", (piece) => pieces.push(piece));
  for (const stream of streams) {
    const bytes = Buffer.from(stream, "latin1");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    child.stdin.write(Buffer.concat([length, bytes]));
  }
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
  const decoded = (text) => Buffer.from(text, "base64").toString("latin1");
  return Buffer.concat(pieces).toString().trim().split("\n").map((line) => {
    const { requests, ...rest } = JSON.parse(line);
    return { ...rest, requests: requests.map(({ method, target, headers, body, keepsAlive }) => ({
      method, target: decoded(target), headers: headers.map(([name, value]) => [name, decoded(value)]), body: decoded(body), keepsAlive,
    })) };
  });
}

async function readByNode(t, streams) {
  const folder = mkdtempSync(join(tmpdir(), "paddock-reader-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const take = (request, response) => {
    const headers = [];
    for (let i = 0; i < request.rawHeaders.length; i += 2)
      headers.push([request.rawHeaders[i].toLowerCase(), request.rawHeaders[i + 1]]);
    const record = { method: request.method, target: request.url, headers, body: "", whole: false };
    request.socket.records.push(record);
    request.on("data", (piece) => (record.body += piece.toString("latin1")));
    request.on("end", () => {
      record.whole = request.complete;
      response.end();
    });
    request.on("error", () => {});
  };
  const server = createServer({ requireHostHeader: false, maxHeaderSize: 65536 }, take);
  server.on("checkContinue", take).on("checkExpectation", take);
  server.on("connection", (socket) => (socket.records = []));
  server.on("clientError", (error, socket) => {
    socket.refused = error.code;
    socket.end();
  });
  server.listen(join(folder, "socket"));
  await once(server, "listening");
  const read = async (stream) => {
    const arrived = once(server, "connection");
    const client = connect(join(folder, "socket"));
    client.on("error", () => {});
    client.resume();
    const [socket] = await arrived;
    const closed = once(socket, "close");
    client.end(Buffer.from(stream, "latin1"));
    await closed;
    return { requests: socket.records.filter((each) => each.whole), refused: socket.refused };
  };
  const results = [];
  for (const stream of streams) results.push(await read(stream)); // one at a time: connections have no names
  server.close();
  return results;
}

// --- what may differ --------------------------------------------------------------------------------------------------

const same = (a, b) => a.method === b.method && a.target === b.target && a.body === b.body && JSON.stringify(a.headers) === JSON.stringify(b.headers);

/** Why the judge may read nothing where we read a request; none is another reading. */
const exceptions = {
  "Node.js knows a list of methods only": (request, refused) => refused === "HPE_INVALID_METHOD" && !METHODS.includes(request.method),
  "Node.js reads no HTTP behind an offer to upgrade, which this server never takes": (request, refused, before) =>
    before?.headers.some(([name]) => name === "upgrade"),
};

/** The first request that we accept and the judge reads otherwise. */
function difference(ours, theirs) {
  for (const [i, request] of ours.requests.entries()) {
    const other = theirs.requests[i];
    if (other && same(request, other)) continue;
    const allowed = ([, allows]) => !other && allows(request, theirs.refused, ours.requests[i - 1]);
    const [reason] = Object.entries(exceptions).find(allowed) ?? [];
    return reason ? { reason } : { request, other, refused: theirs.refused };
  }
  return null;
}

async function compare(t, streams) {
  const ours = await readByOurs(streams);
  assert.equal(ours.length, streams.length);
  const theirs = await readByNode(t, streams);
  const differences = [];
  const reasons = {};
  streams.forEach((stream, i) => {
    const found = difference(ours[i], theirs[i]);
    if (found?.reason) reasons[found.reason] = (reasons[found.reason] ?? 0) + 1;
    else if (found) differences.push({ stream, ...found });
  });
  return { ours, theirs, differences, reasons };
}

test("a table of requests", { timeout: 120_000 }, async (t) => {
  const { ours, differences } = await compare(t, Object.values(table));
  assert.deepEqual(differences, []);
  const accepted = Object.keys(table).filter((name, i) => ours[i].requests.length > 0);
  assert.ok(accepted.length >= 15 && accepted.length <= Object.keys(table).length - 15, accepted.join("; "));
  for (const name of ["a body of a length", "chunks", "chunks with trailers", "a blank line before", "an expectation"])
    assert.equal(ours[Object.keys(table).indexOf(name)].requests.length, 2, name);
  for (const name of ["both framings", "two lengths", "a folded header", "chunks, and before", "chunks that end in LF"])
    assert.equal(ours[Object.keys(table).indexOf(name)].requests.length, 0, name);
});

test("generated requests", { timeout: 600_000 }, async (t) => {
  const make = generator(SEED);
  const streams = Array.from({ length: GENERATED }, make);
  const { ours, differences, reasons } = await compare(t, streams);
  const accepted = ours.reduce((n, each) => n + each.requests.length, 0);
  const refused = ours.filter((each) => each.status).length;
  t.diagnostic(`${streams.length} streams: ${accepted} requests accepted, ${refused} streams refused; ${JSON.stringify(reasons)}`);
  assert.deepEqual(differences.slice(0, 5), [], `${differences.length} differences`);
  assert.ok(accepted > GENERATED / 3 && refused > GENERATED / 4, `${accepted} accepted, ${refused} refused`);
});

test("control: another reading is noticed", { timeout: 60_000 }, async (t) => {
  const [theirs] = await readByNode(t, [hello + next]);
  const [ours] = await readByOurs([hello + next]);
  assert.equal(difference(ours, theirs), null);
  for (const change of [{ body: "hell" }, { target: "/" }, { method: "PUT" }, { headers: [] }])
    assert.ok(difference({ requests: [{ ...ours.requests[0], ...change }] }, theirs)?.request, JSON.stringify(change));
  assert.ok(difference({ requests: [...ours.requests, ours.requests[0]] }, theirs)?.request, "one more");
});
