// SPDX-License-Identifier: MIT
// The official clients: shared by the tests of each transport.

import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";

export const identity = { name: "paddock-test", version: "1.0.0" };

/** The official clients, each with its SDK, whose transports it needs, and the revision that it comes to speak. */
export const officialClients = [
  ["sdk 1", "sdk 1", () => new ClientV1(identity), "2025-11-25"],
  ["client 2, legacy", "client 2", () => new ClientV2(identity, { versionNegotiation: { mode: "legacy" } }), "2025-11-25"],
  ["client 2, auto", "client 2", () => new ClientV2(identity, { versionNegotiation: { mode: "auto" } }), "2026-07-28"],
  ["client 2, 2026-07-28", "client 2", () => new ClientV2(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), "2026-07-28"],
];
