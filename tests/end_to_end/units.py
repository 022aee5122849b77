"""Amounts as the program shows them: four digits, and the unit that shows them."""

import re

BYTES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def readable_bytes(count):
    unit = max((unit for unit in BYTES if BYTES[unit] <= count), key=BYTES.get, default="B")
    return f"{count / BYTES[unit]:.4g} {unit}"


def seconds(text):
    """The seconds that a text such as "12.34 ms" says."""
    number, unit = re.fullmatch(r"([\d.]+) (\w+)", text).groups()
    return float(number) * SECONDS[unit]
