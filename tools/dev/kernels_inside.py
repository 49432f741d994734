# SPDX-License-Identifier: MIT
"""What tools/dev/kernels runs on another kernel: the four reports of the fence, compared, and ordinary work inside.

Prints one line of JSON; ends with 1 when the reports do not agree with each other or with what `exec` does.
"""
import json
import os
import shutil
import subprocess
import sys

WORK = [ # what an agent does all day, as a command each
    ("touch, twice", "touch a && touch a"),
    ("chmod", "echo >b && chmod 755 b && test -x b"),
    ("cp -p", "echo >c && cp -p c d"),
    ("install", "install -m 755 /bin/true e && ./e"),
    ("tar x", "mkdir f && echo >f/g && tar cf f.tar f && rm -r f && tar xf f.tar && test -e f/g"),
    ("git init, commit", "git init -q h && cd h && echo >i && git add i && git -c user.name=a -c user.email=a@b commit -qm j && git status"),
    ("git clone", "git clone -q h k"),
    ("whoami", "id -un"),
    ("cc", "echo 'int main(){return 0;}' >l.c && cc -o l l.c && ./l"),
    ("loopback", "python3 -c 'import socket as s; l=s.create_server((\"127.0.0.1\",0)); s.create_connection(l.getsockname())'"),
    ("mktemp", "mktemp >m && test -e $(cat m)"),
    ("truncate", "echo 123 >n && truncate -s 1 n"),
    ("make", "printf 'o:\\n\\techo >o\\n' >Makefile && make && test -e o"),
    ("python -m venv", "python3 -m venv --without-pip p && p/bin/python -c 1"),
    ("node --test", "echo 'require(\"node:test\")(\"a\", () => {})' >q.test.js && node --test q.test.js"),
    ("npm install", "mkdir -p r/s && cd r && echo '{\"name\":\"s\",\"version\":\"1.0.0\",\"bin\":\"s.js\"}' >s/package.json"
     " && echo '#!/usr/bin/env node' >s/s.js && npm pack ./s && npm install --offline ./s-1.0.0.tgz && node_modules/.bin/s"),
    ("timeout", "timeout 1 sleep 100; test $? = 124"),
    ("kill of a child", "sleep 100 & kill $!; wait $!; test $? = 143"),
]
NEEDED = {"npm install": "npm", "node --test": "node", "cc": "cc", "make": "make"} # programs that a machine may lack


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def main():
    doctor = run("paddock", "doctor", "--json")
    report = json.loads(doctor.stdout)
    layers = report.get("confinement", [])
    check = run("paddock-mcp", "--check", "--workspace", ".")
    health = json.loads(run("paddock", "call", "healthCheck").stdout)
    executed = run("paddock", "exec", "--", "true")
    runs = executed.returncode == 0
    wrong = []
    if health.get("confinement") != layers: wrong.append("healthCheck and doctor differ")
    if (health.get("status") == "ok") != runs: wrong.append(f"healthCheck says {health.get('status')}, exec ended with {executed.returncode}")
    if (doctor.returncode == 0) != runs: wrong.append(f"doctor ended with {doctor.returncode}, exec with {executed.returncode}")
    if runs == ("commands" in report and "are refused" in report["commands"]): wrong.append("doctor says otherwise than exec")
    if (trouble := report.get("commands", "")) not in check.stdout: wrong.append(f"--check does not say: {trouble}")
    skipped = [name for name, program in NEEDED.items() if not shutil.which(program)]
    fails = {name: tried.stderr.strip().splitlines()[-1:] for name, command in WORK
             if name not in skipped and (tried := run("paddock", "exec", "--", "sh", "-c", command)).returncode != 0} if runs else {}
    if sys.argv[1:] == ["whole"] and (not runs or fails): wrong.append("ordinary work fails here")
    print(json.dumps({
        "system": report["system"], "exec": "runs" if runs else "refused: " + executed.stderr.strip(),
        "lacking": {row["layer"]: "; ".join(filter(None, [row.get("missing"), row.get("remedy")]))
                    for row in layers if row.get("missing")},
        "fails": fails, "skipped": skipped,
        "wrong": wrong}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
