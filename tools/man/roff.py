# SPDX-License-Identifier: MIT
"""Text as roff(7) wants it."""


def escape(text):
    """Every character as itself, also at the beginning of a line."""
    out = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\`")
    out = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in out)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in out.split("\n"))


def bold(text):
    return f"\\fB{escape(text)}\\fP"


def italic(text):
    return f"\\fI{escape(text)}\\fP"


def item(head, text):
    """A tagged paragraph; `head` is roff, `text` is plain."""
    return f".TP\n{head}\n{escape(text)}\n"
