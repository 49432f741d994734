# SPDX-License-Identifier: MIT
"""The jobs of a coding agent, measured by run.mjs, as rows of the report of tools/bench."""
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
CLIENT = HERE.parent.parent / "test/client"
DESKTOP_COMMANDER = "@wonderwhy-er/desktop-commander@0.2.52"
BYTES_TIMES = 1.2
NAMES = {"filesystem": "server-filesystem", "desktop": "Desktop Commander"}
WHY = "the answer has the hash of what was written, by which a later change sees that nobody else wrote in between"


def desktop_commander(build):
    """Its program, installed into the build directory; None where npm cannot."""
    place = build / "desktop-commander"
    program = place / "node_modules/@wonderwhy-er/desktop-commander/dist/index.js"
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", DESKTOP_COMMANDER],
                       check=False, stdin=subprocess.DEVNULL, capture_output=True)
    return program if program.exists() else None


def measure(server, build):
    """job -> server -> {"calls", "bytes", "ms", "listed"} or {"failed"}; {} without the official client."""
    nodes = sorted(CLIENT.glob("node_modules/node-linux-*/bin/node"))
    if not nodes:
        return {}
    servers = [f"paddock={server}", f"shell={server}"]
    reference = CLIENT / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    servers += [f"filesystem={reference}"] if reference.exists() else []
    other = desktop_commander(build)
    servers += [f"desktop={other}"] if other else []
    done = subprocess.run([nodes[0], HERE / "run.mjs", CLIENT, *servers], check=True, text=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def shown(cost):
    return f"{cost['calls']} call{'s' * (cost['calls'] != 1)}, {cost['bytes']:,} B"


def rows(found):
    """(cells as in the table of bounds, met, why) for each job."""
    for job, costs in found.items():
        done = {name: cost for name, cost in costs.items() if "failed" not in cost}
        peers = {name: cost for name, cost in done.items() if name in NAMES}
        if "paddock" not in done:
            yield (f"job: {job}", "failed", "", "", "done"), False, costs["paddock"]["failed"]
        elif peers:
            best = min(peers, key=lambda name: (peers[name]["calls"], peers[name]["bytes"]))
            calls, size = (min(cost[what] for cost in peers.values()) for what in ("calls", "bytes"))
            ours = [done[name] for name in ("paddock", "shell") if name in done]
            met = any(cost["calls"] <= calls and cost["bytes"] <= BYTES_TIMES * size for cost in ours)
            by_exec = f"; by `exec` {shown(ours[1])}" if len(ours) > 1 else ""
            yield ((f"job: {job} / {NAMES[best]}", shown(ours[0]) + by_exec, shown(peers[best]),
                    f"{min(cost['bytes'] for cost in ours) / size:.2f}", f"≤ calls, ≤ {BYTES_TIMES:g} of the bytes"), met, WHY)
    yield from total(found)


def total(found):
    """What a model reads in all of them, the list of tools once."""
    sums = {}
    for name in ("paddock", "desktop"):
        costs = [job.get(name, {"failed": ""}) for job in found.values()]
        if costs and not any("failed" in cost for cost in costs):
            sums[name] = {"calls": sum(cost["calls"] for cost in costs), "bytes": costs[0]["listed"] + sum(cost["bytes"] for cost in costs)}
    if len(sums) == 2:
        ours, theirs = sums["paddock"], sums["desktop"]
        met = ours["calls"] <= theirs["calls"] and ours["bytes"] <= BYTES_TIMES * theirs["bytes"]
        yield (("all jobs and the list of tools / Desktop Commander", shown(ours), shown(theirs), f"{ours['bytes'] / theirs['bytes']:.2f}",
                f"≤ calls, ≤ {BYTES_TIMES:g} of the bytes"), met, "")
