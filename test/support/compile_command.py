# SPDX-License-Identifier: MIT
"""The compiler and the flags with which a build directory compiles the public headers."""
import json
import pathlib
import shlex


def headers_command(build):
    """The command that compiles all public headers together, without its source, outputs and dependency files."""
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    entry = next(c for c in commands if "headers-together" in c["output"])
    words, command = iter(shlex.split(entry["command"])), []
    for word in words:
        if word in ("-o", "-MQ", "-MF", "-c"):
            next(words)
        elif word != "-MD":
            command.append(word)
    return command


def run_options(build):
    """How to run it: the include paths are relative to the build directory."""
    return {"cwd": build, "capture_output": True, "text": True, "errors": "replace"}
