#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""editFile against an obvious reference that shares no code: random small files and edits. Prints TAP.

The reference takes a file apart into bytes and line breaks (LF, or CR LF as one), looks at every place, and puts it together again.
"""
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SERVER = os.environ["PADDOCK_MCP"]
CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 3000


def pieces(text):
    """Bytes, and whole line breaks."""
    found = []
    while text:
        size = 2 if text.startswith(b"\r\n") else 1
        found.append(text[:size])
        text = text[size:]
    return found


def plain(parts):
    return [b"\n" if part == b"\r\n" else part for part in parts]


def places(content, old):
    """The indices of the pieces where `old` begins, none of which overlaps the one before."""
    wanted, there = plain(pieces(old)), plain(pieces(content))
    found, at = [], 0
    while at + len(wanted) <= len(there):
        if there[at:at + len(wanted)] == wanted:
            found.append(at)
            at += len(wanted)
        else:
            at += 1
    return found


def replaced(content, begins, old, new):
    """The pieces from each of `begins` on are exchanged; each new line break is as those near it."""
    parts, count = pieces(content), len(pieces(old))
    out = b""
    at = 0
    breaks = (b"\n", b"\r\n")
    for begin in begins:
        inside = [part for part in parts[begin:begin + count] if part in breaks]
        before = [part for part in parts[:begin] if part in breaks]
        behind = [part for part in parts[begin + count:] if part in breaks]
        line_break = (inside or before[-1:] or behind or [b"\n"])[0]
        out += b"".join(parts[at:begin])
        out += b"".join(line_break if part == b"\n" else part for part in plain(pieces(new)))
        at = begin + count
    return out + b"".join(parts[at:])


def line_of(content, piece):
    return 1 + sum(part.endswith(b"\n") for part in pieces(content)[:piece])


def is_of_other_encoding(content):
    """Bytes beyond ASCII, and no character of UTF-8 among them."""
    readable = content.decode(errors="ignore")
    return readable.isascii() and len(readable) < len(content)


def expected(content, edits):
    """The new content, and how often each was replaced; or (code, number of the edit, lines)."""
    first, counts = content, []
    for number, edit in enumerate(edits):
        if not edit["newText"].isascii() and is_of_other_encoding(first):
            return "not_text", number, None
    for number, edit in enumerate(edits):
        old, new = edit["oldText"].encode(), edit["newText"].encode()
        found = places(content, old)
        lines = [line_of(content, place) for place in found]
        if not found:
            return "no_match", number, None
        every, near, said = edit.get("all", False), edit.get("line"), edit.get("occurrences")
        fits = said == len(found) if said else len(found) == 1 or every or near
        if not fits or (len(found) > 1 and not every and not near):
            return "ambiguous", number, lines if content == first else None
        if not every:
            if near:
                away = [abs(line - near) for line in lines]
                if away.count(min(away)) > 1:
                    return "ambiguous", number, lines if content == first else None
                found = [found[away.index(min(away))]]
        content = replaced(content, found, old, new)
        counts.append(len(found))
    return content, counts


def random_text(random_, letters, most):
    return "".join(random_.choice(letters) for _ in range(random_.randint(0, most)))


def random_case(random_):
    content = random_text(random_, ["a", "b", "a\n", "\n", "\r\n", "\r", " ", "é"], 14).encode()
    if random_.random() < 0.2:
        content += b"\xff a\n"
    if random_.random() < 0.1:
        content = b"\xef\xbb\xbf" + content
    edits = []
    for number in range(random_.randint(1, 3)):
        edit = {"oldText": random_text(random_, ["a", "b", "\n", "\r\n", "\r", " "], 2) or "a",
                "newText": random_text(random_, ["a", "c", "\n", "\r\n", "é"], 3)}
        if random_.random() < 0.4:
            edit["all"] = True
        elif random_.random() < 0.4 and number == 0:
            edit["line"] = random_.randint(1, 5)
        if random_.random() < 0.3:
            edit["occurrences"] = random_.randint(1, 3)
        edits.append(edit)
    return content, edits


def sha(content):
    return hashlib.sha256(content).hexdigest()[:16]


def check(call, file, content, edits, is_trial):
    file.write_bytes(content)
    got = call({"path": "f", "edits": edits, "dryRun": is_trial})
    want = expected(content, edits)
    after = file.read_bytes()
    if isinstance(want[0], str):
        assert (got["error"], got["edit"], after, got["hash"]) == (want[0], want[1], content, sha(content)), (want, got)
        assert want[2] is None or got["occurrencesAt"] == want[2], (want, got)
        return want[0]
    new, counts = want
    assert got.get("applied") is not is_trial and "error" not in got, (want, got)
    assert [edit["occurrences"] for edit in got["edits"]] == counts, (want, got)
    assert after == (content if is_trial else new), (want, got, after)
    assert got["hash"] == sha(after), (want, got)
    return "trial" if is_trial else "made"


with tempfile.TemporaryDirectory() as folder:
    process = subprocess.Popen([SERVER, "--workspace", folder, "--tools", "coding", "--exec", "off"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(arguments):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}},
            "name": "editFile", "arguments": arguments}}).encode() + b"\n")
        process.stdin.flush()
        return json.loads(json.loads(process.stdout.readline())["result"]["content"][0]["text"])

    tally, random_ = {}, random.Random(17)
    try:
        for case in range(CASES):
            content, edits = random_case(random_)
            outcome = check(call, pathlib.Path(folder, "f"), content, edits, case % 5 == 0)
            tally[outcome] = tally.get(outcome, 0) + 1
    finally:
        process.stdin.close()
        process.wait(60)
    print(f"# {tally}")
    assert all(tally.get(outcome, 0) > CASES // 50 for outcome in ("made", "trial", "no_match", "ambiguous", "not_text")), tally
    print("ok 1 - random edits are made as the reference makes them\n1..1")
