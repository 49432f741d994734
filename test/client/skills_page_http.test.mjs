// SPDX-License-Identifier: MIT
// The page's server against what is not the page: other programs, other origins, broken requests.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import test from "node:test";

import { atEnd } from "./at_end.mjs";
import { send } from "./page_process.mjs";
import { skillText, startPage, zipOf } from "./skills_page.mjs";

const skills = {
  ".agents/skills/mine/SKILL.md": skillText("Mine", "First."),
  ".agents/skills/mine/binary.bin": "a\0b",
  ".agents/sys.skills/theirs/SKILL.md": skillText("Theirs", "Second."),
  "secret.txt": "secret",
};

/** Sends bytes as they are, and says that no more will come, or waits; gives what comes back until the server closes. */
function sendRaw(page, bytes, then = "end") {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(page.address).port), "127.0.0.1");
    const parts = [];
    socket.on("data", (part) => parts.push(part));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(parts).toString()));
    if (then === "end") socket.end(bytes);
    else socket.write(bytes);
  });
}

const upload = (files) => {
  const list = files.map(([path, content]) => ({ path, size: Buffer.byteLength(content) }));
  return Buffer.concat([Buffer.from(`${JSON.stringify(list)}\n`), ...files.map(([, content]) => Buffer.from(content))]);
};

async function isAlive(page) {
  assert.equal((await send(page, "GET", "/api/skills")).status, 200);
}

const newSkill = JSON.stringify({ id: "new", name: "New", description: "Third." });

test("every response is guarded", async (t) => {
  const page = await startPage(t, skills);
  const { pathname } = new URL(page.address);
  assert.match(pathname, /^\/[0-9a-f]{32}\/$/);
  for (const path of [pathname, `${pathname}page.js`, `${pathname}page.css`, "/api/skills", "/nothing"]) {
    const { status, headers } = await send(page, "GET", path, { headers: { "Accept-Encoding": "gzip, br" } });
    assert.equal(status, path === "/nothing" ? 404 : 200, path);
    const policy = headers["content-security-policy"];
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"])
      assert.ok(policy.includes(part), part);
    assert.ok(!policy.includes("unsafe"));
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["access-control-allow-origin"], undefined);
    assert.equal(headers["content-encoding"], undefined, "nothing is compressed, which would take seconds");
  }
});

test("only who knows the token gets an answer", async (t) => {
  const page = await startPage(t, skills);
  const { pathname } = new URL(page.address);
  const wrong = "0".repeat(32);
  const cases = [
    ["GET", "/", { without: ["X-Paddock-Token"] }],
    ["GET", `/${wrong}/`, { without: ["X-Paddock-Token"] }],
    ["GET", `${pathname.slice(0, -2)}/`, { without: ["X-Paddock-Token"] }],
    ["GET", "/page.js", { without: ["X-Paddock-Token"] }],
    ["GET", "/api/skills", { without: ["X-Paddock-Token"] }],
    ["GET", "/api/skills", { headers: { "X-Paddock-Token": wrong } }],
    ["GET", "/api/skills", { headers: { "X-Paddock-Token": "" } }],
    // A right path does not help a wrong header.
    ["GET", pathname, { headers: { "X-Paddock-Token": wrong } }],
    ["POST", "/api/skills", { body: newSkill, headers: { "X-Paddock-Token": wrong } }],
    ["DELETE", "/api/skills?id=mine", { without: ["X-Paddock-Token"] }],
  ];
  for (const [method, path, changes] of cases) {
    const { status, headers, text } = await send(page, method, path, changes);
    assert.equal(status, 403, path);
    assert.match(headers["content-type"], /^text\/plain/);
    assert.match(text, /Open the one it printed/);
  }
  assert.ok(!existsSync(join(page.root, ".agents/skills/new")));
  await isAlive(page);
});

test("other names of this machine are refused", async (t) => {
  const page = await startPage(t, skills);
  const { port } = new URL(page.address);
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${port}.evil.example`, ""])
    assert.equal((await send(page, "GET", "/api/skills", { headers: { Host: host } })).status, 403, host);
  const twice = await sendRaw(page, `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\n\r\n`);
  assert.match(twice, /^HTTP\/1.1 403 /);
  assert.match(await sendRaw(page, "GET / HTTP/1.1\r\n\r\n"), /^HTTP\/1.1 403 /);
  const origin = `http://localhost:${port}`;
  const localhost = { headers: { Host: `localhost:${port}`, Origin: origin } };
  assert.equal((await send(page, "GET", "/api/skills", localhost)).status, 200);
});

test("only the page itself may change something", async (t) => {
  const page = await startPage(t, skills);
  const { port } = new URL(page.address);
  const foreign = ["null", "http://evil.example", `https://127.0.0.1:${port}`, `http://localhost:${port}`, "http://127.0.0.1"];
  for (const Origin of foreign) {
    assert.equal((await send(page, "POST", "/api/skills", { body: newSkill, headers: { Origin } })).status, 403, Origin);
    assert.equal((await send(page, "GET", "/api/skills", { headers: { Origin } })).status, 403, Origin);
  }
  const changes = [
    ["POST", "/api/skills", newSkill],
    ["PUT", "/api/skills?id=mine", newSkill],
    ["DELETE", "/api/skills?id=mine"],
    ["POST", "/api/import?name=new", upload([["SKILL.md", skillText("New", "Third.")]])],
  ];
  for (const [method, path, body] of changes) {
    const { status, text } = await send(page, method, path, { body, without: ["Origin"] });
    assert.equal(status, 403, path);
    assert.match(text, /from the page itself only/);
  }
  const asking = await send(page, "OPTIONS", "/api/skills", {
    headers: { Origin: "http://evil.example", "Access-Control-Request-Method": "DELETE" }, without: ["X-Paddock-Token"] });
  assert.equal(asking.status, 403);
  assert.ok(existsSync(join(page.root, ".agents/skills/mine/SKILL.md")));
  assert.ok(!existsSync(join(page.root, ".agents/skills/new")));
  // The same requests from the page work.
  assert.equal((await send(page, "POST", "/api/skills", { body: newSkill })).status, 201);
});

test("bodies have a length and a bound", async (t) => {
  const page = await startPage(t, skills);
  const status = async (headers, body = "") => (await send(page, "POST", "/api/import", { body, headers })).status;
  assert.equal(await status({ "Content-Length": 64 * 1024 * 1024 + 1 }, undefined).catch(() => 413), 413);
  assert.equal(await status({ "Content-Type": "multipart/form-data; boundary=x" }), 415);
  assert.equal(await status({ "Content-Encoding": "gzip" }), 415);
  const { port, pathname } = new URL(page.address);
  const head = (line) => `POST /api/import HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\n` +
    `X-Paddock-Token: ${pathname.slice(1, -1)}\r\n${line}\r\n`;
  assert.match(await sendRaw(page, head("Transfer-Encoding: chunked\r\n") + "1\r\na\r\n0\r\n\r\n"), /^HTTP\/1.1 411 /);
  assert.match(await sendRaw(page, head("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n") + "1\r\na\r\n0\r\n\r\n"),
    /^HTTP\/1.1 400 /);
  assert.match(await sendRaw(page, head("")), /^HTTP\/1.1 411 /);
  for (const [length, status] of [["-1", 400], ["1e3", 400], ["99999999999999999999", 413], ["67108865", 413]])
    assert.match(await sendRaw(page, head(`Content-Length: ${length}\r\n`)), new RegExp(`^HTTP/1.1 ${status} `), length);
  await isAlive(page);
});

test("hostile heads do no harm", async (t) => {
  const page = await startPage(t, skills);
  const { port } = new URL(page.address);
  const ranges = `bytes=1-1${",1-1".repeat(2000)}`;
  const heads = [
    `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nRange: ${ranges}\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nrAnGe: bytes=1-${"1".repeat(8000)}\r\n\r\n`,
    `GET / HTTP/1.1\nRange: ${ranges}\r\n\r\n`,
    `GET /${"a".repeat(9000)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
    `GET /${"%".repeat(500)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
    `GET / HTTP/1.1\r\n${"A: b\r\n".repeat(20_000)}\r\n`,
    "A".repeat(100_000),
    "\r\n\r\n",
    "\0".repeat(1000),
    "GET",
    "",
  ];
  for (const head of heads) assert.doesNotMatch(await sendRaw(page, head), /^HTTP\/1.1 200 /);
  await isAlive(page);
});

test("only files of a skill are shown", async (t) => {
  const page = await startPage(t, skills);
  symlinkSync("../../../secret.txt", join(page.root, ".agents/skills/mine/link.txt"));
  const show = (id, path) => send(page, "GET", `/api/file?${new URLSearchParams({ id, path })}`);
  assert.deepEqual(JSON.parse((await show("mine", "SKILL.md")).text),
    { text: skills[".agents/skills/mine/SKILL.md"], size: 46, truncated: false });
  assert.equal((await show("theirs", "SKILL.md")).status, 200);
  assert.equal((await show("mine", "binary.bin")).status, 415);
  const shown = 2 ** 20 - 1; // the limit cuts the next character
  writeFileSync(join(page.root, ".agents/skills/mine/long.txt"), `${"a".repeat(shown)}会议`);
  assert.deepEqual(JSON.parse((await show("mine", "long.txt")).text),
    { text: "a".repeat(shown), size: shown + 6, truncated: true });
  const outside = ["../../../secret.txt", "../mine/SKILL.md", "./SKILL.md", "/etc/passwd", join(page.root, "secret.txt"),
    "link.txt", "SKILL.md/../SKILL.md", "", "SKILL.md\0.txt", "..%2f..%2fsecret.txt"];
  for (const path of outside) {
    const { status, text } = await show("mine", path);
    assert.equal(status, 404, path);
    assert.ok(!text.includes("secret"), path);
  }
  for (const id of ["..", ".", "", "../..", "mine/../mine", "/etc", "../../.agents/skills/mine"])
    for (const answer of [await show(id, "SKILL.md"), await send(page, "GET", `/api/files?${new URLSearchParams({ id })}`),
      await send(page, "DELETE", `/api/skills?${new URLSearchParams({ id })}`)])
      assert.equal(answer.status, 404, id);
  assert.ok(existsSync(join(page.root, ".agents/skills/mine/SKILL.md")));
});

test("requests that cannot be done say why", async (t) => {
  const page = await startPage(t, skills);
  const answer = async (method, path, body) => {
    const { status, text } = await send(page, method, path, { body });
    return [status, JSON.parse(text).error, JSON.parse(text).refusal ?? JSON.parse(text).field];
  };
  const skill = upload([["SKILL.md", skillText("Mine", "Again.")]]);
  assert.deepEqual(await answer("POST", "/api/skills", "[]"), [422, "invalid_argument", "body"]);
  assert.deepEqual(await answer("POST", "/api/skills", "{"), [422, "invalid_argument", "body"]);
  assert.deepEqual(await answer("POST", "/api/skills", "{}"), [422, "invalid_argument", "id"]);
  assert.deepEqual(await answer("POST", "/api/skills", newSkill.replace("New", " ")), [422, "invalid_argument", "name"]);
  assert.deepEqual(await answer("POST", "/api/skills", newSkill.replace('"new"', '"mine"')),
    [409, "already_exists", undefined]);
  assert.deepEqual(await answer("PUT", "/api/skills?id=theirs", newSkill), [403, "read_only", undefined]);
  assert.deepEqual(await answer("DELETE", "/api/skills?id=theirs"), [403, "read_only", undefined]);
  assert.deepEqual(await answer("DELETE", "/api/skills?id=absent"), [404, "not_found", undefined]);
  assert.deepEqual(await answer("POST", "/api/import?name=mine&kind=folder", skill), [409, "already_exists", "id-exists"]);
  assert.deepEqual(await answer("POST", "/api/import?name=x&kind=folder", upload([["../SKILL.md", "x"]])),
    [422, "escapes_root", "parent-component"]);
  assert.deepEqual(await answer("POST", "/api/import?name=x.zip&kind=archive", upload([["x.zip", "no zip"]])),
    [422, "unsupported_type", "not-a-zip"]);
  assert.deepEqual(await answer("POST", "/api/import?name=x.zip&kind=archive", upload([["x.zip", zipOf([["a.txt", "a"]])]])),
    [404, "not_found", "no-skill-file"]);
  const malformed = ["", "[]", "{}\n", '[{"path":"SKILL.md","size":5}]\nabc', '[{"path":"SKILL.md","size":-1}]\nabc',
    '[{"path":1,"size":3}]\nabc', "[]\nabc"];
  for (const body of malformed)
    assert.deepEqual((await answer("POST", "/api/import?name=x&kind=folder", body)).slice(0, 2), [422, "invalid_argument"]);
  assert.ok(!existsSync(join(page.root, ".agents/skills/x")));
});

test("a folder may have many files", async (t) => {
  const page = await startPage(t, skills);
  const files = Array.from({ length: 1500 }, (_, i) => [`references/${i}.md`, `${i}\n`]);
  const body = upload([["SKILL.md", skillText("large", "Has many files.")], ...files]);
  const { status, text } = await send(page, "POST", "/api/import?name=large&kind=folder", { body });
  assert.deepEqual([status, JSON.parse(text).files], [201, 1501]);
  assert.ok(existsSync(join(page.root, ".agents/skills/large/references/1499.md")));
});

test("many slow clients do not lock others out for long, and Ctrl-C ends it at once", { timeout: 60_000 }, async (t) => {
  const page = await startPage(t, skills);
  const { port } = new URL(page.address);
  const slow = Array.from({ length: 20 }, () => connect(Number(port), "127.0.0.1").on("error", () => {}));
  atEnd(t, () => slow.forEach((socket) => socket.destroy()));
  for (const socket of slow) socket.write("GET / HTTP/1.1\r\n");
  await isAlive(page);
  for (const socket of slow) socket.write("Host: 127");
  page.process.kill("SIGINT");
  const { code, signal } = await page.ended;
  assert.deepEqual([code, signal], [0, null]);
});

test("a closed terminal and a polite kill end it as Ctrl-C does", async (t) => {
  for (const name of ["SIGHUP", "SIGTERM"]) {
    const page = await startPage(t, skills);
    await isAlive(page);
    page.process.kill(name);
    const { code, signal } = await page.ended;
    assert.deepEqual([code, signal], [0, null], name);
  }
});

test("a method that means nothing there changes nothing, and HEAD has no body", async (t) => {
  const page = await startPage(t, skills);
  const { port, pathname } = new URL(page.address);
  const cases = [
    ["POST", pathname, 405, "GET, HEAD"],
    ["PATCH", "/api/skills?id=mine", 405, "GET, HEAD, POST, PUT, DELETE"],
    ["delete", "/api/skills?id=mine", 405, "GET, HEAD, POST, PUT, DELETE"],
    ["GET", "/api/import", 405, "POST"],
    ["TRACE", "/api/file", 405, "GET, HEAD"],
    ["GET", `${pathname}page.html/`, 404],
    ["GET", `${pathname}../api/skills`, 404],
    ["DELETE", "/api", 404],
  ];
  const head = (method, path) => `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\n` +
    `X-Paddock-Token: ${pathname.slice(1, -1)}\r\nConnection: close\r\n\r\n`;
  for (const [method, path, status, allow] of cases) {
    const answer = await sendRaw(page, head(method, path), "and wait");
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), `${method} ${path}`);
    if (allow) assert.ok(answer.includes(`\r\nAllow: ${allow}\r\n`), answer);
    assert.match(answer, /\r\nContent-Security-Policy: default-src 'none'/);
  }
  assert.ok(existsSync(join(page.root, ".agents/skills/mine/SKILL.md")));
  for (const path of [pathname, "/api/skills"]) {
    const [got, asked] = [await sendRaw(page, head("GET", path), "and wait"), await sendRaw(page, head("HEAD", path), "and wait")];
    const lengthOf = (text) => /\r\nContent-Length: (\d+)\r\n/.exec(text)[1];
    assert.ok(Number(lengthOf(got)) > 0);
    assert.equal(lengthOf(asked), lengthOf(got));
    assert.ok(asked.endsWith("\r\n\r\n"), "nothing follows the head");
  }
});

test("a connection serves several requests, and none after one that is refused half read", async (t) => {
  const page = await startPage(t, skills);
  const { port, pathname } = new URL(page.address);
  const head = (line, more = "") => `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\n` +
    `X-Paddock-Token: ${pathname.slice(1, -1)}\r\n${more}\r\n`;
  const count = (text) => text.split("HTTP/1.1 200 ").length - 1;
  const good = head("GET /api/skills");
  assert.equal(count(await sendRaw(page, good + good + head("GET /api/skills", "Connection: close\r\n"), "and wait")), 3);
  // What could be taken for a request is the body of one that was refused for its foreign origin.
  const smuggled = head("POST /api/skills", "Content-Length: 1000\r\n").replace(`Origin: http://127`, "Origin: http://128") + good;
  const answer = await sendRaw(page, smuggled);
  assert.match(answer, /^HTTP\/1.1 403 /);
  assert.equal(count(answer), 0);
});

test("what cannot be served is an error", async (t) => {
  const page = await startPage(t, skills);
  const absent = spawnSync(process.env.PADDOCK, ["skills", "ui", "--root", join(page.root, "absent")], { encoding: "utf8" });
  assert.deepEqual([absent.status, absent.stdout], [2, ""]);
  assert.match(absent.stderr, /absent cannot be used: no such file or directory/);
  const { port } = new URL(page.address);
  await assert.rejects(startPage(t, {}, "--port", port), /cannot be used/);
});
