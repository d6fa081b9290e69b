"""How long code takes: `%time`, `%timeit` and `%prun`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import getopt
import math
import resource
import time as clock

from python_history_magics import parse_whole_number

_UNITS = ((100.0, "min", 60.0), (1.0, "s", 1.0), (1e-3, "ms", 1e-3), (1e-6, "µs", 1e-6), (0.0, "ns", 1e-9))


def _format_duration(seconds, digits=3):
    unit, length = next(item[1:] for item in _UNITS if seconds >= item[0])
    return "{:.{}g} {}".format(seconds / length, digits, unit)


def time(driver, source, code, options=None):
    """Run the code once, and say how long it took; its value."""
    before, began = resource.getrusage(resource.RUSAGE_SELF), clock.perf_counter()
    try:
        return driver.run_part(source)
    finally:
        took, after = clock.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        driver.streams.flush()
        print(
            "CPU times: user {}, sys: {}, total: {}\nWall time: {}".format(
                *map(_format_duration, (user, system, user + system, took))
            )
        )


class TimeitResult:
    """What `%timeit -o` gives."""

    def __init__(self, loops, runs):
        self.loops, self.repeat = loops, len(runs)
        self.all_runs = [run * loops for run in runs]
        self.timings = runs
        self.best, self.worst = min(runs), max(runs)
        self.average = math.fsum(runs) / len(runs)
        self.stdev = math.sqrt(math.fsum((run - self.average) ** 2 for run in runs) / len(runs))

    def __str__(self):
        return "{} ± {} per loop (mean ± std. dev. of {} run{}, {:,} loop{} each)".format(
            _format_duration(self.average),
            _format_duration(self.stdev),
            self.repeat,
            "s" if self.repeat != 1 else "",
            self.loops,
            "s" if self.loops != 1 else "",
        )

    def __repr__(self):
        return "<TimeitResult : {}>".format(self)


def _split_options(name, letters, text):
    """Return the options before a code, and the code as it stands."""
    words, at = [], 0
    for word in text.split():
        takes = bool(words) and words[-1].startswith("-") and letters.find(words[-1][-1] + ":") >= 0
        if not (word.startswith("-") or (takes and len(words[-1]) == 2)):
            break
        at = text.index(word, at) + len(word)
        words.append(word)
    try:
        return dict(getopt.getopt(words, letters)[0]), text[at:].strip()
    except getopt.GetoptError as error:
        raise ValueError("%{}: {}".format(name, error)) from None


def timeit(driver, source, code, options=None):
    """Run the code many times, and say how long once takes. A cell's first line is what goes before."""
    import timeit as timeit_module

    switches, rest = _split_options("timeit", "n:r:tcp:qov:", code if options is None else options)
    statement, setup = (rest, "pass") if options is None else (code, rest or "pass")
    if not statement.strip():
        where = "behind it" if options is None else "below its first line"
        raise ValueError("%timeit: there is no code {} to measure".format(where))
    timer = timeit_module.Timer(statement, setup, globals=driver.module.__dict__)
    loops = parse_whole_number(switches.get("-n", "0"), "%timeit -n")
    runs = parse_whole_number(switches.get("-r", "7"), "%timeit -r")
    if not loops:
        loops = next(10**power for power in range(10) if timer.timeit(10**power) >= 0.2 or power == 9)
    timed = TimeitResult(loops, [run / loops for run in timer.repeat(max(1, runs), loops)])
    if "-q" not in switches:
        print(timed)
    return timed if "-o" in switches else None


def prun(driver, source, code, options=None):
    """Run the code once, and say in which functions the time went."""
    import cProfile
    import pstats

    switches, rest = _split_options("prun", "s:l:qrT:D:", code if options is None else options)
    most, order = parse_whole_number(switches.get("-l", "30"), "%prun -l"), switches.get("-s", "time")
    orders = sorted(pstats.Stats.sort_arg_dict_default)
    if order not in orders:
        raise ValueError("%prun -s takes one of {}, not {!r}".format(", ".join(orders), order))
    profile = cProfile.Profile()
    try:
        profile.enable()
        driver.run_part(rest if options is None else source)
    finally:
        profile.disable()
        stats = pstats.Stats(profile).strip_dirs().sort_stats(order)
        if "-q" not in switches:
            stats.print_stats(most)
    return stats if "-r" in switches else None
