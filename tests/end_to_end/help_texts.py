"""What the program says of its commands and options."""

import re


def commands(edgewire, *path):
    """The names of all commands and the text of their help, as a user finds them."""
    text = edgewire.ok(*path, "--help")
    yield path, text
    for name in re.findall(r"^  ([a-z-]+)$", text.partition("Subcommands:\n")[2], re.M):
        yield from commands(edgewire, *path, name)


def options(text):
    return {name for line in re.findall(r"^  (-.*)$", text, re.M) for name in re.findall(r"(?:^|, )(-[a-z]|--[a-z0-9-]+)", line)}
