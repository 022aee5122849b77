"""What the program says of its commands and options."""

import re


def commands(edgewire, *path):
    """The names of all commands and the text of their help, as a user finds them."""
    text = edgewire.ok(*path, "--help")
    yield path, text
    for name in names_below(text):
        yield from commands(edgewire, *path, name)


def names_below(text):
    """The names of the commands that this help lists: those of the program several in a line."""
    lines = re.findall(r"^  ((?:[a-z-]+, )*[a-z-]+)(?:  .*)?$", text.partition("ommands:\n")[2], re.M)
    return [name for line in lines for name in line.split(", ")]


def examples(text):
    """The command lines with which a help begins."""
    return re.findall(r"^  (edgewire .*)$", text.partition("\nUsage: ")[0], re.M)


def options(text):
    return {name for line in re.findall(r"^  (-.*)$", text, re.M) for name in re.findall(r"(?:^|, )(-[a-z]|--[a-z0-9-]+)", line)}
