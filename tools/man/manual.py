#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a program's manual page: usage: manual.py DESCRIPTION.json PAGE.in ERROR.HPP CONFIG_KEYS.HPP VERSION

In the page @VERSION@, @SYNOPSIS@, @COMMANDS@, @OPTIONS@, @ERRORS@ and @CONFIGURATION@ are replaced; the description is
what the program prints for --describe-command-line, and the headers have the tables of errors and of keys.
"""
import json
import pathlib
import sys

from roff import bold, escape, italic, item
from tables import rows


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def option(row):
    names = ", ".join(map(bold, row["names"]))
    return item(names + (" " + italic(row["value"]) if "value" in row else ""), sentence(row["text"]))


def options(rows):
    """Without headings for the usual group; the others follow under theirs."""
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    for name, members in groups.items():
        if name != "Options":
            yield f".PP\n{escape(name)}:\n"
        yield from map(option, members)


def argument(row):
    shown = italic(row["name"]) + ("..." if row["repeated"] else "")
    return shown if row["required"] else f"[{shown}]"


def synopsis(words, command):
    parts = [bold(" ".join(words)), "[" + italic("options") + "]", *map(argument, command["arguments"])]
    if command["commands"]:
        parts.append(italic("command"))
    return " ".join(parts)


def leaves(words, command):
    """Every command that is not only a family of others."""
    if not command["commands"]:
        yield words, command
    for inner in command["commands"]:
        yield from leaves([*words, inner["name"]], inner)


def commands(program, shared):
    """A subsection for each; the options that `shared` has already told of are not told again."""
    for words, command in leaves([program["name"]], program):
        if len(words) == 1:
            continue
        yield f".SS {synopsis(words, command)}\n{escape(sentence(command['text']))}\n"
        for row in command["arguments"]:
            yield item(italic(row["name"]), sentence(row["text"]))
        own = [row for row in command["options"] if row not in shared]
        yield from options(own)
        if len(own) + 1 < len(command["options"]): # but for --help
            yield ".PP\nAnd the options of the workspace, below.\n"
        if command["footer"] != program["footer"] and command["footer"]:
            yield f".PP\n{escape(command['footer'].strip())}\n"


def workspace_options(program):
    """What `call` and others have in common, which is told once; of a program without commands, all it has."""
    if not program["commands"]:
        return program["options"]
    by_name = {command["name"]: command["options"] for command in program["commands"]}
    return [row for row in by_name["call"] if row in by_name["tools"]]


def errors(header):
    for _, wire, text, advice in rows(header, "PADDOCK_ERROR_CODES"):
        yield item(bold(wire), f"{sentence(text)} What to do: {advice}.")


def configuration(header):
    """What Paddock itself uses; a heading for each section of the file."""
    titles = {"file": "At the top of the file", "expert": "experts.NAME", "stdio": "Skills of type mcpStdioSkill",
              "http": "Skills of type mcpSseSkill", "interactive": "Skills of type interactiveSkill",
              "tool": "A tool of an interactive skill", "limits": "limits of a mcpStdioSkill"}
    table = rows(header, "PADDOCK_CONFIG_KEYS")
    for section, title in titles.items():
        yield f".SS {escape(title)}\n"
        for where, key, kind, text in table:
            if where == section:
                yield item(f"{bold(key)} ({escape(kind.replace('_', ' '))})", sentence(text))


def main(description, page, error_header, config_header, version):
    program = json.loads(pathlib.Path(description).read_text())
    shared = workspace_options(program)
    print(pathlib.Path(page).read_text()
          .replace("@VERSION@", version)
          .replace("@SYNOPSIS@", synopsis([program["name"]], program))
          .replace("@COMMANDS@\n", "".join(commands(program, shared)))
          .replace("@OPTIONS@\n", "".join(options(shared)))
          .replace("@ERRORS@\n", "".join(errors(error_header)))
          .replace("@CONFIGURATION@\n", "".join(configuration(config_header))), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
