"""Finds the files that a program writes, and those whose content it replaces."""

import re
from collections.abc import Iterator
from itertools import pairwise

#: Programs whose last argument is the file or folder that they write.
_COPYING = frozenset(("cp", "mv", "rsync", "scp", "install", "ln"))
#: Options by which they leave files alone that are there.
_KEEPING = frozenset(("-n", "--no-clobber", "--update=none", "--ignore-existing", "--dry-run"))
_FOLDER_OPTION = "--target-directory"
#: How programs are told which file to write: the short option, behind letters that take no word, and the
#: long one.
_OUTPUTS = {
    "curl": (re.compile(r"-[sSLfkviIgGjJlnNOpqaRB#0-6]*o"), "--output"),
    "wget": (re.compile(r"-[qcNvxrpkEnd]*O"), "--output-document"),
    "sort": (re.compile(r"-[bcCdfghiMnrRsuVzm]*o"), "--output"),
}
#: The option by which curl names the file as the address does.
_NAMED_BY_ADDRESS = re.compile(r"-[sSLfkviIgGjJlnNpqaRB#0-6]*O[\w#]*|--remote-name(?:-all)?")

#: unzip: it lists, tests or prints what is in the archive.
_SHOWING = re.compile(r"-[qajnoCLMXu]*[lvtzZpc]\w*")


def find_written(name: str, arguments: list[str], files: list[str]) -> list[str]:
    """Return the files that a program writes; "" for one that it does not name.

    `files` are the arguments that are no options.
    """
    if name == "tee":
        return files
    if name in ("cp", "rsync", "scp", "mv"):
        _, target = _split_copy(arguments, files)
        return [target] if target else []
    if name == "dd":
        return [word[3:] for word in arguments if word.startswith("of=")]
    if name == "sed" and any(word.startswith(("-i", "--in-place")) for word in arguments):
        return files[1:]
    if name == "unzip" and any(map(_SHOWING.fullmatch, arguments)):
        return []
    if name == "unzip" or (name in ("tar", "bsdtar") and re.match(r"-?-?\w*x", " ".join(arguments[:1]))):
        return [""]
    return list(_find_outputs(name, arguments, files))


def find_replaced(name: str, arguments: list[str], files: list[str]) -> list[str]:
    """Return the files whose content a program replaces if they are there, and not those that it adds to."""
    if name == "tee":
        return [] if _has_option(arguments, "a", "--append") else files
    if name == "dd":
        return [] if "conv=notrunc" in arguments else find_written(name, arguments, files)
    if name == "truncate":
        return files
    if name in _COPYING:
        if _KEEPING.intersection(arguments) or (name == "ln" and not _has_option(arguments, "f", "--force")):
            return []
        sources, target = _split_copy(arguments, files)
        # In a folder each file keeps its name.
        return [target, *(f"{target.rstrip('/')}/{name_in_folder(source)}" for source in sources)]
    return list(_find_outputs(name, arguments, files))


def name_in_folder(source: str) -> str:
    """Return the name that a copied file has in its new folder."""
    return source.rstrip("/").rpartition("/")[2]


def _split_copy(arguments: list[str], files: list[str]) -> tuple[list[str], str]:
    """Return what is copied or moved, and where to; "" where that does not show."""
    for option, word in pairwise(arguments):
        if option in ("-t", _FOLDER_OPTION):
            return [file for file in files if file != word], word
    if whole := next((word for word in arguments if word.startswith(f"{_FOLDER_OPTION}=")), ""):
        return files, whole.partition("=")[2]
    return (files[:-1], files[-1]) if len(files) > 1 else ([], "")


def _find_outputs(name: str, arguments: list[str], files: list[str]) -> Iterator[str]:
    """Yield the files that options such as `-o` name."""
    if name not in _OUTPUTS:
        return
    short, long = _OUTPUTS[name]
    for word, after in pairwise([*arguments, ""]):
        output_file = ""
        if word == long:
            output_file = after
        elif word.startswith(f"{long}="):
            output_file = word.partition("=")[2]
        elif match := short.match(word):
            output_file = word[match.end() :] or after
        elif name == "curl" and _NAMED_BY_ADDRESS.fullmatch(word):
            yield from (
                path.rpartition("/")[2] for file in files if "/" in (path := re.split(r"[?#]", file)[0])
            )
        if output_file and output_file != "-":
            yield output_file


def _has_option(arguments: list[str], letter: str, long: str) -> bool:
    return long in arguments or any(re.fullmatch(rf"-\w*{letter}\w*", word) for word in arguments)
