// SPDX-License-Identifier: MIT
// What the page asks of the server.

import { text } from "./language.js";

export const token = location.pathname.split("/")[1];

export class Refusal extends Error {
  constructor(answer) {
    super(answer.entry ? text("where", answer.message, answer.entry) : answer.message);
    this.code = answer.error;
    this.field = answer.field;
    this.refusal = answer.refusal; // of an import
    this.id = answer.id;
  }
}

/** The body of an answer, or what it refuses. */
export function answerOf(status, body) {
  let answer;
  try {
    answer = JSON.parse(body);
  } catch {
    answer = { error: "io", message: body.trim() || text("unreachable") };
  }
  if (status < 200 || status > 299) throw new Refusal(answer);
  return answer;
}

/** Where something of the server is. */
export function address(path, query) {
  return `/api/${path}?${new URLSearchParams(query)}`;
}

async function fetched(path, query, options) {
  try {
    return await fetch(address(path, query), { ...options, headers: { ...options.headers, "X-Paddock-Token": token } });
  } catch {
    const code = options.signal?.aborted ? "cancelled" : "io";
    throw new Refusal({ error: code, message: text("unreachable") });
  }
}

/** What the server answers; `signal` gives up. */
export async function request(method, path, query = {}, body = undefined, signal = undefined) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const response = await fetched(path, query, { method, headers, signal, body: body && JSON.stringify(body) });
  return answerOf(response.status, await response.text());
}

/** Bytes, as a Blob. */
export async function bytesOf(path, query, signal = undefined) {
  const response = await fetched(path, query, { method: "GET", signal });
  return response.ok ? response.blob() : answerOf(response.status, await response.text());
}
