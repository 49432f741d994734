// SPDX-License-Identifier: MIT
// The official TypeScript clients: version 1 (the handshake of 2025), version 2 in each of its modes.
// They validate every structured result against the tool's output schema themselves.

import assert from "node:assert/strict";
import test from "node:test";

import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";

import { officialClients } from "./clients.mjs";
import { converse, workspaceFor } from "./workspace.mjs";

const transports = { "sdk 1": TransportV1, "client 2": TransportV2 };

for (const [name, sdk, create, version] of officialClients) {
  test(name, { timeout: 60_000 }, async (t) => {
    const { path, command, args } = workspaceFor(t);
    const client = create();
    const errors = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(new transports[sdk]({ command, args, stderr: "inherit" }));
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
