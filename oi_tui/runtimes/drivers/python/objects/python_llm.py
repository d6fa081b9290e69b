"""The functions `llm` and `llm_map` of cells: the model of the conversation, for texts that code has."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import operator
import os
import sys

#: Set by the application to the path of its socket, where cells can ask its model.
VARIABLE = "OI_TUI_MODEL_SOCKET"
_NOBODY = (
    "There is no model to ask here: llm() works in Python cells that oi-tui runs on its own machine, outside "
    "of the sandbox."
)
#: How many failures a message lists.
_LISTED = 3
_LONGEST_ROW = 60
#: Imports our modules, whatever the program did to the search path.
_import = __import__


def install(import_quietly):
    """Make `llm` and `llm_map` names that every cell knows, and return them."""
    global _import
    _import = import_quietly
    builtins.llm, builtins.llm_map = llm, llm_map
    return {"llm": llm, "llm_map": llm_map}


class LlmError(Exception):
    """The model gave no answer; the message says why. `results` of `llm_map` are the answers so far."""

    results = ()


def llm(prompt, *, system=None, max_tokens=None, cache=True):
    """Ask the model of this conversation, and return its reply as a string.

    `system` is a system message. The same question is answered from a cache, unless `cache` is False. It
    counts against the budget of the conversation. Raises `llm.Error` where there is no reply.
    """
    if not isinstance(prompt, str):
        raise TypeError("llm() takes the prompt as a string, not {}".format(type(prompt).__name__))
    (result,) = _ask([prompt], system, max_tokens, 1, cache, None)
    if isinstance(result, LlmError):
        raise result
    return result


def llm_map(
    prompt, rows, *, system=None, max_tokens=None, at_once=8, errors="raise", cache=True, progress=True
):
    """Ask the model once for each row, and return the replies as a list of strings, in the order of the rows.

    `{}` in the prompt stands for the row, `{name}` for an entry of a row that is a dictionary (the rows of a
    data frame are); braces that are text are written twice. Without any, the row follows the prompt. A
    function is called with the row, and returns the prompt.

    `at_once` is the number of requests in progress at the same time. The error of a row is raised after all
    others were asked, with what came as its `results`; with `errors="return"` the list has the error in its
    place.
    """
    if errors not in ("raise", "return"):
        raise ValueError('errors is "raise" or "return", not {!r}'.format(errors))
    rows = _list_rows(rows)
    prompts = [_prompt(prompt, row) for row in rows]
    bar = _Progress(len(prompts)) if progress and prompts else None
    results = _ask(prompts, system, max_tokens, at_once, cache, bar) if prompts else []
    failed = [index for index, result in enumerate(results) if isinstance(result, LlmError)]
    if failed and errors == "raise":
        lines = ["{} of {} rows failed:".format(len(failed), len(rows))]
        for index in failed[:_LISTED]:
            row_text = repr(rows[index])
            row_text = row_text if len(row_text) <= _LONGEST_ROW else row_text[: _LONGEST_ROW - 1] + "…"
            lines.append("  row {} ({}): {}".format(index, row_text, results[index]))
        if len(failed) > _LISTED:
            lines.append("  and {} more".format(len(failed) - _LISTED))
        lines.append('The replies that came are in the results of this error; errors="return" returns them.')
        error = LlmError("\n".join(lines))
        error.results = results
        raise error
    return results


llm.Error = llm_map.Error = LlmError
for _item in (llm, llm_map):
    # What help() shows.
    _item.__module__ = "builtins"


def _list_rows(rows):
    """Return the rows as a list; those of a data frame as dictionaries."""
    if isinstance(rows, (str, bytes)):
        raise TypeError("llm_map() takes the rows as a list, not as one text; llm() asks about one")
    records = getattr(rows, "to_dicts", None) or getattr(rows, "to_pylist", None)
    if callable(records):
        return list(records())
    is_frame = any(kind.__name__ == "DataFrame" for kind in type(rows).__mro__)
    if is_frame and callable(getattr(rows, "to_dict", None)):
        return rows.to_dict("records")
    return list(rows)


def _prompt(prompt, row):
    if callable(prompt):
        text = prompt(row)
        if not isinstance(text, str):
            raise TypeError("the function of llm_map() returns a string, not {}".format(type(text).__name__))
        return text
    if not isinstance(prompt, str):
        raise TypeError("llm_map() takes the prompt as a string or a function")
    if "{" not in prompt and "}" not in prompt:
        return "{}\n\n{}".format(prompt, row)
    names = {str(key): value for key, value in row.items()} if isinstance(row, dict) else {}
    try:
        return prompt.format(row, **names)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise ValueError(
            "the prompt of llm_map() cannot be filled with a row ({}: {}): {{}} stands for the row, {{name}} "
            "for an entry of a dictionary, and braces that are text are written twice: {{{{ }}}}".format(
                type(error).__name__, error
            )
        ) from None


def _ask(prompts, system, max_tokens, at_once, cache, bar):
    """Return the reply to each prompt, or an LlmError in its place."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise LlmError(_NOBODY)
    max_tokens = None if max_tokens is None else _count("max_tokens", max_tokens)
    at_once = _count("at_once", at_once)
    request = {
        "prompts": prompts,
        "system": None if system is None else str(system),
        "max_tokens": max_tokens,
        "at_once": at_once,
        "cache": bool(cache),
    }
    results = [None] * len(prompts)
    ended = False
    try:
        for answer in _import("python_requests").exchange(path, request, LlmError):
            if "at" not in answer:
                if "error" in answer:
                    error = LlmError(answer["error"])
                    error.results = results
                    raise error
                ended = True
                break
            result = LlmError(answer["error"]) if "error" in answer else answer["text"]
            for index in answer["at"]:
                results[index] = result
            if bar is not None:
                bar.count(len(answer["at"]), isinstance(result, LlmError), "cached" in answer)
                bar.show(answer.get("cost"))
    finally:
        if bar is not None:
            bar.close()
    if not ended:
        raise LlmError("oi-tui ended before the model answered.")
    return results


def _count(name, value):
    """Return the value as an integer above 0; also one of numpy. Raises TypeError or ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("{} is a whole number, not {!r}".format(name, value)) from None
    if number < 1:
        raise ValueError("{} is at least 1, not {}".format(name, number))
    return number


class _Progress:
    """One line on the terminal that says how far it is."""

    def __init__(self, total):
        self._total = total
        self._done = self._failed = self._cached = 0
        self._cost = 0.0
        self._shown = ""
        stream = sys.stderr
        try:
            self._stream = stream if stream.isatty() else None
        except Exception:
            self._stream = None
        self.show(None)

    def count(self, rows, failed, cached):
        self._done += rows
        self._failed += rows if failed else 0
        self._cached += rows if cached else 0

    def show(self, cost):
        if cost:
            self._cost = cost
        parts = ["llm_map: {:,} of {:,}".format(self._done, self._total)]
        if self._failed:
            parts.append("{:,} failed".format(self._failed))
        if self._cached:
            parts.append("{:,} from the cache".format(self._cached))
        if self._cost:
            parts.append("${:.4f}".format(self._cost))
        line = ", ".join(parts)
        if line != self._shown:
            self._write("\r" + line.ljust(len(self._shown)))
            self._shown = line

    def close(self):
        self._write("\n")

    def _write(self, text):
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()
