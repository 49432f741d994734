// SPDX-License-Identifier: MIT
// What the page asks of the server.

import { text } from "./texts.js";

const token = location.pathname.split("/")[1];
const bodyBytesMax = 64 * 1024 * 1024; // the server accepts no more

export class Refusal extends Error {
  constructor(answer) {
    super(answer.entry ? text("where", answer.message, answer.entry) : answer.message);
    this.code = answer.error;
    this.field = answer.field;
    this.refusal = answer.refusal; // of an import
    this.id = answer.id;
  }
}

function answerOf(status, body) {
  let answer;
  try {
    answer = JSON.parse(body);
  } catch {
    answer = { error: "io", message: body.trim() || text("unreachable") };
  }
  if (status < 200 || status > 299) throw new Refusal(answer);
  return answer;
}

function address(path, query) {
  return `/api/${path}?${new URLSearchParams(query)}`;
}

export async function request(method, path, query = {}, body = undefined) {
  const headers = { "X-Paddock-Token": token };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address(path, query), { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Refusal({ error: "io", message: text("unreachable") });
  }
  return answerOf(response.status, await response.text());
}

/** Sends files as the server reads them: a line that lists them, then their bytes. `signal` gives up. */
export async function upload(query, files, onProgress, signal) {
  const list = JSON.stringify(files.map(({ path, file }) => ({ path, size: file.size })));
  const body = new Blob([list, "\n", ...files.map(({ file }) => file)]);
  if (body.size > bodyBytesMax) throw new Refusal({ error: "too_large", message: text("tooLarge") });
  // Unlike fetch this tells how much is sent.
  const sending = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    sending.open("POST", address("import", query));
    sending.setRequestHeader("X-Paddock-Token", token);
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    sending.upload.onprogress = (event) => onProgress(event.total ? event.loaded / event.total : 1);
    sending.onload = () => {
      try {
        resolve(answerOf(sending.status, sending.responseText));
      } catch (refusal) {
        reject(refusal);
      }
    };
    sending.onerror = () => reject(new Refusal({ error: "io", message: text("unreachable") }));
    sending.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => sending.abort(), { once: true });
    sending.send(body);
  });
}
