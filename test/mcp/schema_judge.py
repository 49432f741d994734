# SPDX-License-Identifier: MIT

"""Python's jsonschema judges what the tools check and answer.

The test programs named on the command line write schemas, values and whether these are to fit: of
every result of every tool of the workspace, and of random arguments for a nested table. Objects in
the schemas of results are closed here, so that a member that no schema names is noticed.
"""

import collections
import copy
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is missing")
    sys.exit(77)

TOOLS = 30
STEP = int(os.environ.get("PADDOCK_CAMPAIGN_STEP", "1"))  # one of so many cases is tried


def closed(schema):
    """The same schema, in which no object has members that it does not name."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        out["properties"] = {name: closed(value) for name, value in schema["properties"].items()}
        out.setdefault("additionalProperties", False)
    return out


def validators(cases):
    by_text = {}
    for case in cases:
        text = json.dumps(case["schema"])
        if text not in by_text:
            jsonschema.Draft202012Validator.check_schema(case["schema"])
            by_text[text] = jsonschema.Draft202012Validator(closed(case["schema"]))
        yield case, by_text[text]


def disagreements(cases):
    return [case for case, judge in validators(cases) if judge.is_valid(case["value"]) != case["fits"]]


def controls(cases):
    """Cases that a judge who looks has to find."""
    for case in cases:
        if not case["fits"]:
            yield {**case, "fits": True}
            return
    yield from ()


def spoiled_results(cases):
    for case in cases:
        names = list(case["schema"].get("required", []))
        if not case["fits"] or not names or names[0] not in case["value"]:
            continue
        says_more = names[0] in case["schema"].get("properties", {})
        for spoil in ("lacks", "type", "more") if says_more else ("lacks",):
            bad = copy.deepcopy(case)
            if spoil == "lacks":
                del bad["value"][names[0]]
            elif spoil == "type":
                bad["value"][names[0]] = None
            else:
                bad["value"]["unheardOf"] = 1
            yield bad


def main():
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for number, program in enumerate(sys.argv[1:]):
            path = os.path.join(folder, str(number))
            part = {"GTEST_TOTAL_SHARDS": str(STEP), "GTEST_SHARD_INDEX": "0"} if number == 0 else {}  # of the tools' tests
            done = subprocess.run([program, "--gtest_brief=1"], env={**os.environ, **part, "PADDOCK_SCHEMA_CASES": path},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode != 0:
                sys.exit(f"{program} failed:\n{done.stdout.decode(errors='replace')[-3000:]}")
            with open(path, encoding="utf-8") as lines:
                cases += [json.loads(line) for line in lines]
    count = collections.Counter((case["tool"], case["fits"]) for case in cases)
    results = {tool for tool, _ in count} - {"nested"}
    assert len(results) == TOOLS or STEP > 1 and len(results) > TOOLS / 3, f"results of {len(results)} tools: {sorted(results)}"
    assert min(count["nested", True], count["nested", False]) > 200, count
    wrong = disagreements(cases)
    for case in wrong[:5]:
        print(case["tool"], "fits" if case["fits"] else "does not fit", json.dumps(case["value"])[:500])
    assert not wrong, f"{len(wrong)} of {len(cases)} are judged otherwise"
    spoiled = list(controls(cases)) + list(spoiled_results(cases))[:3000]
    assert len(spoiled) > TOOLS / STEP and len(disagreements(spoiled)) == len(spoiled), "spoiled values pass"
    print(f"{len(cases)} values of {len(results)} tools and a nested table judged alike, {len(spoiled)} spoiled ones found")


main()
