#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a program's completion: usage: completion.py DESCRIPTION.json bash|zsh|fish

The description is what the program prints for --describe-command-line.
"""
import json
import pathlib
import re
import shlex
import sys


def choices(value, tools):
    """The words that a value may be; none when it may be anything."""
    if value == "TOOL":
        return tools
    listed = value.strip("{}")
    return re.split(r"[,|]", listed) if re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:[,|][a-z0-9-]+)+", listed) else []


def kind(value):
    """"directory", "file" or ""."""
    return {"DIR": "directory", "FILE": "file", "PATH": "file", "CMD": "file", "SOURCE": "file"}.get(value, "")


def walk(command, path=()):
    """(names below the program, command), outermost first."""
    yield path, command
    for inner in command["commands"]:
        yield from walk(inner, (*path, inner["name"]))


def names(rows):
    return [row["name"] for row in rows]


def words(items):
    """For the inside of a quoted list."""
    return " ".join(items)


# ---- bash ------------------------------------------------------------------------------------------

def bash_value(value, tools):
    if found := choices(value, tools):
        return f'COMPREPLY=($(compgen -W "{words(found)}" -- "$current"))'
    if kind(value):
        return f"COMPREPLY=($(compgen -{'d' if kind(value) == 'directory' else 'f'} -- \"$current\")); compopt -o filenames 2>/dev/null"
    return ":"


def bash(program):
    function = "_" + program["name"].replace("-", "_")
    tools = program["tools"]
    yield f"# bash completion for {program['name']}"
    yield f"{function}() {{"
    yield "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= i"
    yield "  COMPREPLY=()"
    yield '  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi'
    yield "  for ((i = 1; i < COMP_CWORD; i++)); do"
    yield "    [[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -f -- \"$current\")); return; }"
    inner = ["/" + "/".join(path) for path, _ in walk(program) if path]
    if inner:
        yield f"    case $command/${{COMP_WORDS[i]}} in {'|'.join(inner)}) command+=/${{COMP_WORDS[i]}} ;; esac"
    yield "  done"
    yield '  case "$command $previous" in'
    by_action = {}
    for path, command in walk(program):
        at = "/" + "/".join(path) if path else ""
        for row in command["options"]:
            if "value" in row:
                by_action.setdefault(bash_value(row["value"], tools), []).extend(f"{at} {n}" for n in row["names"])
    for action, patterns in by_action.items():
        yield f"    {'|'.join(map(shlex.quote, patterns))}) {action}; return ;;"
    yield "  esac"
    yield "  case $command in"
    for path, command in walk(program):
        options = [name for row in command["options"] for name in row["names"]]
        at = "/" + "/".join(path) if path else "''"
        listed = names(command["commands"]) or [w for row in command["arguments"][:1] for w in choices(row["value"], tools)]
        places = {kind(row["value"]) for row in command["arguments"]} - {""}
        yield f"    {at})"
        yield f"      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W \"{words(options)}\" -- \"$current\"))"
        if listed:
            yield f"      else COMPREPLY=($(compgen -W \"{words(listed)}\" -- \"$current\"))"
        elif places:
            yield f"      else {bash_value('DIR' if places == {'directory'} else 'FILE', tools)}"
        yield "      fi ;;"
    yield "  esac"
    yield "}"
    yield f"complete -F {function} {program['name']}"


# ---- zsh -------------------------------------------------------------------------------------------

def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def zsh_action(value, tools):
    if found := choices(value, tools):
        return f"({words(found)})"
    return {"directory": "_files -/", "file": "_files"}.get(kind(value), " ")


def zsh_specs(command, tools):
    for row in command["options"]:
        value = f":{zsh_text(row['value'])}:{zsh_action(row['value'], tools)}" if "value" in row else ""
        for name in row["names"]:
            joint = "=" if value and name.startswith("--") else ""
            yield shlex.quote(f"*{name}{joint}[{zsh_text(row['text'])}]{value}")
    for row in command["arguments"]:
        many = "*" if row["repeated"] else ""
        yield shlex.quote(f"{many}:{zsh_text(row['name'])}:{zsh_action(row['value'], tools)}")


def zsh(program):
    base = "_" + program["name"]
    yield f"#compdef {program['name']}"
    for path, command in reversed(list(walk(program))):
        function = "_".join([base, *path])
        specs = list(zsh_specs(command, program["tools"]))
        if command["commands"]:
            specs += ["'1:command:->command'", "'*::argument:->rest'"]
        yield ""
        yield f"{function}() {{"
        yield "  local curcontext=$curcontext state line"
        yield "  typeset -A opt_args"
        yield "  _arguments -C \\\n    " + " \\\n    ".join(specs)
        if command["commands"]:
            listed = " ".join(shlex.quote(f"{inner['name']}:{inner['text']}") for inner in command["commands"])
            yield "  case $state in"
            yield f"    command) local -a commands=({listed}); _describe command commands ;;"
            yield "    rest) case $line[1] in"
            for inner in command["commands"]:
                yield f"      {inner['name']}) {function}_{inner['name']} ;;"
            yield "    esac ;;"
            yield "  esac"
        yield "}"
    yield ""
    yield f'if [[ $funcstack[1] == {base} ]]; then {base} "$@"; else compdef {base} {program["name"]}; fi'


# ---- fish ------------------------------------------------------------------------------------------

def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_condition(program, path, command):
    """True where exactly the commands of `path` were given."""
    if not path:
        return "__fish_use_subcommand" if program["commands"] else ""
    parts = [f"__fish_seen_subcommand_from {name}" for name in path]
    others = [c["name"] for c in program["commands"] if c["name"] != path[0] and path[-1] in names(c["commands"])]
    if len(path) == 1 and others:
        parts.append(f"not __fish_seen_subcommand_from {words(others)}")
    if command["commands"]:
        parts.append(f"not __fish_seen_subcommand_from {words(names(command['commands']))}")
    return "; and ".join(parts)


def fish_value(value, tools):
    if found := choices(value, tools):
        return " -x -a " + fish_quote(words(found))
    return {"directory": " -x -a '(__fish_complete_directories)'", "file": " -r -F"}.get(kind(value), " -x")


def fish(program):
    tools = program["tools"]
    yield f"# fish completion for {program['name']}"
    yield f"complete -c {program['name']} -f"
    for path, command in walk(program):
        condition = fish_condition(program, path, command)
        start = f"complete -c {program['name']}" + (f" -n {fish_quote(condition)}" if condition else "")
        for inner in command["commands"]:
            yield f"{start} -a {inner['name']} -d {fish_quote(inner['text'])}"
        for row in command["options"]:
            flags = "".join(f" -l {n[2:]}" if n.startswith("--") else f" -s {n[1:]}" for n in row["names"])
            value = fish_value(row["value"], tools) if "value" in row else ""
            yield f"{start}{flags}{value} -d {fish_quote(row['text'])}"
        for row in command["arguments"]:
            if choices(row["value"], tools):
                yield f"{start} -a {fish_quote(words(choices(row['value'], tools)))}"
            elif kind(row["value"]):
                yield f"{start} -F"


if __name__ == "__main__":
    shells = {"bash": bash, "zsh": zsh, "fish": fish}
    print("\n".join(shells[sys.argv[2]](json.loads(pathlib.Path(sys.argv[1]).read_text()))))
