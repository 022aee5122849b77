"""When tools/bench-guard calls a case slower.

Other programs and the host of a virtual machine make runs slower, never faster, and often several runs on end. So a case is
worse when both the medians and the best runs of the two sides differ by more than the limit: a disturbance moves medians,
but seldom all runs of a side. And it counts only when it is worse again in a second round, some time later.
"""

import dataclasses
import statistics

LIMIT = 1.08


@dataclasses.dataclass(frozen=True)
class Round:
    """Seconds of the runs of both sides."""
    base: list
    candidate: list

    @property
    def ratio(self):
        """How many times as long the candidate takes: of the medians."""
        return statistics.median(self.candidate) / statistics.median(self.base)

    @property
    def worse(self):
        return min(self.ratio, min(self.candidate) / min(self.base)) > LIMIT


@dataclasses.dataclass
class Outcome:
    """What became of a case."""
    name: str
    rounds: list = dataclasses.field(default_factory=list)
    skipped: str = ""  # why it was not compared
    broken: str = ""  # how the candidate failed where the base works

    @property
    def slower(self):
        return len(self.rounds) == 2 and all(one.worse for one in self.rounds)

    @property
    def needs_second_round(self):
        return len(self.rounds) == 1 and self.rounds[0].worse

    @property
    def verdict(self):
        """Of the last round."""
        if self.slower:
            return "SLOWER"
        if len(self.rounds) == 2:
            return "not again"
        return "once: no time for a second round" if self.needs_second_round else "-"

    @property
    def ratios(self):
        return ", ".join(f"{one.ratio:.2f} x" for one in self.rounds)


def summary(outcomes):
    """The last line: how many cases were compared, and what to look at."""
    compared = sum(bool(one.rounds) for one in outcomes)
    parts = [f"{compared} case{'s' * (compared != 1)}"]
    if skipped := sum(bool(one.skipped) for one in outcomes):
        parts.append(f"{skipped} skipped")
    if broken := [one.name for one in outcomes if one.broken]:
        parts.append(f"{len(broken)} failed: {', '.join(broken)}")
    slower = [f"{one.name} ({one.ratios})" for one in outcomes if one.slower]
    parts.append(f"{len(slower)} slower: {', '.join(slower)}" if slower else "none slower")
    return ", ".join(parts)


def exit_status(outcomes):
    return int(any(one.slower or one.broken for one in outcomes))
