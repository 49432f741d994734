#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tools/deploy says agrees with the adapter, with the source tree, and with itself.

usage: deploy_test.py PROJECT PADDOCK_MCP
"""
import pathlib
import re
import shlex
import subprocess
import sys

try:
    import yaml
except ImportError:
    yaml = None

project, server = pathlib.Path(sys.argv[1]), sys.argv[2]
deploy = project / "tools/deploy"
containerfile = (deploy / "Containerfile").read_text()
manifests = {path.relative_to(deploy): path.read_text() for path in sorted(deploy.glob("kubernetes/**/*.yaml"))}
workspace = manifests[pathlib.Path("kubernetes/workspace.yaml")]
HTTP_OPTIONS = {"--http", "--http-token-file"}


def without_comments(text):
    return re.sub(r"(?m)(^|\s)#.*$", "", text)


def instructions():
    """The instructions of the Containerfile, by name, with their continuation lines."""
    joined = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", containerfile))
    return [line.split(None, 1) for line in joined.splitlines() if line.strip()]


def words_of(name):
    """The words of the one instruction in exec form."""
    found = [rest for what, rest in instructions() if what == name]
    assert len(found) == 1, f"{len(found)} of {name}"
    return re.findall(r'"([^"]*)"', found[0])


def option_value(words, option):
    return words[words.index(option) + 1]


def check_options():
    help_text = subprocess.run([server, "--help-all"], capture_output=True, text=True, check=True, timeout=60).stdout
    known = set(re.findall(r"--[a-z][a-z-]+", help_text))
    used = {word for name in ("ENTRYPOINT", "CMD") for word in words_of(name) if word.startswith("--")}
    for text in manifests.values():
        for line in without_comments(text).splitlines():
            if "args" in line:
                used |= set(re.findall(r"--[a-z][a-z-]+", line))
    mentioned = set(re.findall(r"`(--[a-z][a-z-]+)`", "".join(manifests.values())))
    assert HTTP_OPTIONS <= used and used | mentioned <= known, f"no such option: {sorted((used | mentioned) - known)}"
    tools = subprocess.run([server, "--list-tools"], capture_output=True, text=True, check=True, timeout=60).stdout
    omitted = re.findall(r"--omit=([\w,]+)", "".join(manifests.values()))
    assert omitted and all(re.search(rf"(?m)^{tool}\b", tools) for names in omitted for tool in names.split(","))


def check_build():
    """The first stage has what it copies and builds what the second takes."""
    stages = [rest for what, rest in instructions() if what == "FROM"]
    assert len(stages) == 2 and stages[0].endswith(" AS build"), stages
    for what, rest in instructions():
        words = shlex.split(rest)
        if what == "COPY" and not words[0].startswith("--"):
            missing = [source for source in words[:-1] if not (project / source).exists()]
            assert not missing, f"COPY of what is not there: {missing}"
    built = set(re.findall(r"(?<=\s)tools/[a-z-]+(?=\s|$)", next(rest for _, rest in instructions() if "meson setup" in rest)))
    copied = re.findall(r"--from=build ((?:/build/\S+ )+)", containerfile)
    taken = {path.removeprefix("/build/") for paths in copied for path in paths.split()}
    assert built == taken, (built, taken)
    options = set(re.findall(r"-D([a-z_]+)=", containerfile))
    own = set(re.findall(r"(?m)^option\('(\w+)'", (project / "meson_options.txt").read_text()))
    assert options <= own | {"b_lto"}, options - own
    assert re.search(r"(?m)^USER 65532:65532$", containerfile)


def check_agreement():
    """One address, one port, one place for the token, one user, in all files."""
    command = words_of("CMD")
    address, token = (option_value(command, option) for option in ("--http", "--http-token-file"))
    port = address.rsplit(":", 1)[1]
    assert f"EXPOSE {port}\n" in containerfile
    assert words_of("ENTRYPOINT")[-1] == "/workspace" and "VOLUME /workspace\n" in containerfile
    plain = without_comments(workspace)
    assert f'args: [--http, "{address}", --http-token-file, {token}]' in plain
    assert f"containerPort: {port}" in plain and f"mountPath: {token.rsplit('/', 1)[0]}\n" in plain
    assert "mountPath: /workspace\n" in plain and plain.count("65532") == 3
    probes = re.findall(r"(\w+Probe):\n +httpGet: \{path: (\S+), port: (\w+)\}", plain)
    assert sorted(probe[0] for probe in probes) == ["livenessProbe", "readinessProbe", "startupProbe"], probes
    assert {probe[1:] for probe in probes} == {("/healthz", "http")}, probes
    for wanted in ("runAsNonRoot: true", "readOnlyRootFilesystem: true", "allowPrivilegeEscalation: false", "drop: [ALL]",
                   "type: RuntimeDefault", "automountServiceAccountToken: false"):
        assert wanted in plain, wanted


def check_yaml():
    objects = {}
    for path, text in manifests.items():
        for each in yaml.safe_load_all(text):
            objects[path, each["kind"]] = each
    place = pathlib.Path("kubernetes/workspace.yaml")
    deployment, service, claim = (objects[place, kind] for kind in ("Deployment", "Service", "PersistentVolumeClaim"))
    template = deployment["spec"]["template"]
    labels = template["metadata"]["labels"]
    assert service["spec"]["selector"] == labels == deployment["spec"]["selector"]["matchLabels"]
    container, = template["spec"]["containers"]
    volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    assert volumes["workspace"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert {port["name"] for port in container["ports"]} == {service["spec"]["ports"][0]["targetPort"]}
    for (path, kind), each in objects.items():
        if kind != "Kustomization":
            continue
        missing = [name for name in each["resources"] if not (deploy / path.parent / name).exists()]
        assert not missing, missing
        for patch in each.get("patches", []):
            target = next(o for (_, k), o in objects.items() if k == patch["target"]["kind"])
            assert target["metadata"]["name"] == patch["target"]["name"]
            for step in yaml.safe_load(patch["patch"]):
                at = target
                for part in step["path"].strip("/").split("/")[:-1]:
                    at = at[int(part)] if isinstance(at, list) else at[part]
                last = step["path"].rsplit("/", 1)[1]
                assert step["op"] == "add" or last in at, step


def main():
    check_options()
    check_build()
    check_agreement()
    if yaml:
        check_yaml()
    else:
        print("python3-yaml is not installed: the manifests' structure was not looked at")


if __name__ == "__main__":
    main()
