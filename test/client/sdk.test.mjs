// SPDX-License-Identifier: MIT
// The official TypeScript clients: version 1 (the handshake of 2025), version 2 in each of its modes.
// They validate every structured result against the tool's output schema themselves.

import assert from "node:assert/strict";
import test from "node:test";

import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";

import { converse, workspaceFor } from "./workspace.mjs";

const identity = { name: "paddock-test", version: "1.0.0" };

const clients = [
  ["sdk 1", TransportV1, () => new ClientV1(identity), "2025-11-25"],
  ["client 2, legacy", TransportV2, () => new ClientV2(identity, { versionNegotiation: { mode: "legacy" } }), "2025-11-25"],
  ["client 2, auto", TransportV2, () => new ClientV2(identity, { versionNegotiation: { mode: "auto" } }), "2026-07-28"],
  ["client 2, 2026-07-28", TransportV2, () => new ClientV2(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), "2026-07-28"],
];

for (const [name, Transport, create, version] of clients) {
  test(name, { timeout: 60_000 }, async (t) => {
    const { path, command, args } = workspaceFor(t);
    const client = create();
    const errors = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(new Transport({ command, args, stderr: "inherit" }));
    try {
      assert.equal(client.getServerVersion().name, "paddock");
      if (client.getNegotiatedProtocolVersion) assert.equal(client.getNegotiatedProtocolVersion(), version);
      await converse(client, path);
      assert.deepEqual(errors, []);
    } finally {
      await client.close();
    }
  });
}
