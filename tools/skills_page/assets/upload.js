// SPDX-License-Identifier: MIT
// What is sent to be imported.

import { address, answerOf, Refusal, token } from "./requests.js";
import { text } from "./texts.js";

const bodyBytesMax = 64 * 1024 * 1024; // the server accepts no more

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
