"""Magics of notebooks about the cells that ran: `%history`, `%rerun`, `%save`, `%macro`, `%notebook`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import fnmatch
import getopt
import json
import os
import re
import shlex

_RANGE = re.compile(r"(?:~0/)?(\d+)(?:(-|:)(\d+)?)?$")


def parse_whole_number(text, option):
    """Return the number that was typed after an option. Raises ValueError for anything but a whole number."""
    if not text.isdecimal():
        raise ValueError("{} takes a whole number, not {!r}".format(option, text))
    return int(text)


def _take_last(items, text, option):
    """Return as many of the last items as was typed."""
    many = parse_whole_number(text, option)
    return items[-many:] if many else []


class HistoryMagics:
    """A part of the magics, whose driver it uses."""

    @property
    def _inputs(self):
        """The texts of the cells by their numbers; code may have put other values into `In`."""
        return {
            at: text for at, text in enumerate(self._driver.history.inputs) if isinstance(text, str) and text
        }

    def _parse_numbers(self, text):
        """Return the numbers of the cells that are meant by numbers and ranges."""
        inputs, numbers = self._inputs, []
        for word in text.split():
            matched = _RANGE.match(word)
            if matched is None:
                raise ValueError("{} is not the number of a cell or a range, such as 3 or 5-7".format(word))
            first = int(matched.group(1))
            # In IPython `3-5` has its end in it, and `3:5` has not.
            last = int(matched.group(3) or max(inputs, default=0)) if matched.group(2) else first
            last -= matched.group(2) == ":" and matched.group(3) is not None
            cell_numbers = [at for at in range(first, last + 1) if at in inputs]
            if not cell_numbers:
                raise ValueError("there is no Python cell {}".format(word))
            numbers += cell_numbers
        return numbers

    def _line_history(self, rest):
        """The cells that ran: `%history 3 5-7`, `-l 5` the last five, `-g TEXT` those with a text, `-n`
        with numbers, `-o` with values, `-u` each text once, `-f FILE` into a file.
        """
        try:
            options, arguments = getopt.gnu_getopt(shlex.split(rest), "nopturgl:f:")
        except getopt.GetoptError as error:
            raise ValueError("%history: {}".format(error)) from None
        options, inputs = dict(options), self._inputs
        if "-g" in options:
            pattern = " ".join(arguments) or "*"
            pattern = "*" if pattern == "*" else "*{}*".format(pattern)
            numbers = [at for at, text in inputs.items() if fnmatch.fnmatchcase(text, pattern)]
        elif "-l" in options:
            earlier = [at for at in inputs if at != self._driver.number]
            numbers = _take_last(earlier, options["-l"], "%history -l")
        else:
            numbers = self._parse_numbers(" ".join(arguments)) if arguments else list(inputs)
        if "-u" in options:
            numbers = sorted({inputs[at]: at for at in numbers}.values())
        text = "".join(
            self._format_entry(at, "-n" in options or "-g" in options, "-p" in options, "-o" in options)
            for at in numbers
        )
        if "-f" not in options:
            print(text, end="")
            return
        path = os.path.expanduser(options["-f"])
        if os.path.exists(path):
            answer = builtins.input("File {!r} exists. Overwrite (y/[n])? ".format(path))
            if answer.strip().lower() not in ("y", "yes"):
                print("Nothing was written.")
                return
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    _line_hist = _line_history

    def _format_entry(self, number, numbered, prompted, valued):
        """Return a cell as %history shows it."""
        text = self._inputs[number].rstrip("\n")
        if prompted:
            lines = text.split("\n")
            text = "\n".join([">>> " + lines[0], *("... " + line for line in lines[1:])])
        if numbered:
            text = "{:>4}:{}{}".format(number, "\n" if "\n" in text else " ", text)
        if valued and number in self._driver.history.outputs:
            text += "\n" + repr(self._driver.history.outputs[number])
        return text + "\n"

    def _line_rerun(self, rest):
        """Runs cells again: `%rerun 3 5-7`, `-l 2` the last two, `-g TEXT` the last with a text."""
        arguments = rest.split(None, 1)
        earlier = {at: text for at, text in self._inputs.items() if at != self._driver.number}
        if arguments[:1] == ["-g"] and arguments[1:]:
            texts = [text for text in earlier.values() if arguments[1] in text][-1:]
        elif arguments[:1] == ["-l"] and arguments[1:]:
            texts = _take_last(list(earlier.values()), arguments[1], "%rerun -l")
        elif arguments:
            texts = [self._inputs[at] for at in self._parse_numbers(rest)]
        else:
            texts = list(earlier.values())[-1:]
        if not texts:
            raise ValueError("%rerun {}: there is no such cell".format(rest).replace(" :", ":"))
        code = "\n".join(text.rstrip("\n") for text in texts)
        print("=== Executing: ===\n{}\n=== Output: ===".format(code))
        return self._driver.run_part(code)

    def _line_recall(self, rest):
        """Prints cells again, for you to copy: `%recall 3 5-7`; without numbers the last value."""
        if rest:
            print(self.cells_of(rest), end="")
        else:
            print(builtins._)

    _line_rep = _line_recall

    def _line_notebook(self, rest):
        """Writes the cells that ran, and their values as text, into a notebook: `%notebook FILE`."""
        arguments = [argument for argument in shlex.split(rest) if argument not in ("-e", "--export")]
        if len(arguments) != 1:
            raise ValueError("%notebook takes the name of the file: %notebook work.ipynb")
        cells = []
        for number, text in self._inputs.items():
            outputs, head = [], {"metadata": {}, "execution_count": number}
            if number in self._driver.history.outputs:
                value = self._driver.shows.make_text(self._driver.history.outputs[number], whole=False)
                data = {"text/plain": value.splitlines(True)}
                outputs.append({"output_type": "execute_result", "data": data, **head})
            source = text.rstrip("\n").splitlines(True)
            cells.append({"cell_type": "code", "source": source, "outputs": outputs, **head})
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
        with open(os.path.expanduser(arguments[0]), "w", encoding="utf-8") as file:
            json.dump(book, file, indent=1, ensure_ascii=False)
            file.write("\n")

    def cells_of(self, text):
        """Return the cells that are meant by numbers and ranges, such as `3 5-7`, or a variable with text."""
        inputs, cells = self._inputs, []
        for word in text.split():
            if not _RANGE.match(word):
                value = getattr(self._names.get(word), "value", self._names.get(word))
                if not isinstance(value, str):
                    raise ValueError("{} is not the number of a cell, a range or a text".format(word))
                cells.append(value)
                continue
            cells += [inputs[at] for at in self._parse_numbers(word)]
        return "\n".join(item.rstrip("\n") for item in cells) + "\n" if cells else ""

    def _line_save(self, rest):
        """Writes cells into a file: `%save [-f] [-a] FILE 3 5-7`; -f replaces it, -a appends."""
        arguments = shlex.split(rest)
        options = {argument for argument in arguments if argument in ("-f", "-a", "-r")}
        arguments = [argument for argument in arguments if argument not in options]
        if len(arguments) < 2:
            raise ValueError("%save takes a file and the numbers of cells: %save file.py 3 5-7")
        path = os.path.expanduser(arguments[0])
        path = path if path.endswith((".py", ".ipy")) else path + ".py"
        text = self.cells_of(" ".join(arguments[1:]))
        append = "-a" in options
        there = os.path.exists(path)
        if there and not options & {"-f", "-a"}:
            answer = builtins.input("File `{}` exists. Overwrite (y/[N])?  ".format(path))
            if answer.strip().lower() not in ("y", "yes"):
                print("Operation cancelled.")
                return
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            file.write(text if append and there else "# coding: utf-8\n" + text)
        print("The following commands were written to file `{}`:\n{}".format(path, text.rstrip("\n")))

    def _line_macro(self, rest):
        """Gives cells a name; `NAME` runs them again: `%macro NAME 3 5-7`."""
        name, _, numbers = rest.partition(" ")
        if not name.isidentifier() or not numbers.strip():
            raise ValueError("%macro takes a name and the numbers of cells: %macro again 3 5-7")
        text = self.cells_of(numbers)
        self._names[name] = Macro(self._driver, text)
        print("Macro `{}` created. To execute, type its name (without quotes).".format(name))
        print("=== Macro contents: ===\n" + text)


class Macro:
    """Cells that run again where the value is shown."""

    def __init__(self, driver, text):
        self._driver = driver
        self.value = text

    def _ipython_display_(self):
        value = self._driver.run_part(self.value)
        if value is not None:
            self._driver.shows.result(value)

    def __repr__(self):
        return "IPython.macro.Macro({!r})".format(self.value)

    def __str__(self):
        return self.value
