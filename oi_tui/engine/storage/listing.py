"""The list of saved conversations: a few bytes for each, the whole summary only for visible ones."""

from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from oi_tui.engine.storage.packed_texts import PackedTexts

#: The words for a conversation without a title.
UNTITLED = "(no request)"
#: Where a search found its words, best first.
IN_TITLE, IN_MESSAGES, ELSEWHERE = "In the title", "In messages", "In the folder or the model"


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation as a list shows it. `updated` is in seconds since 1970."""

    id: str
    title: str
    updated: float
    messages: int
    model: str
    cwd: str
    pinned: bool = False
    #: Why it cannot be opened, in words; None when it can.
    problem: str | None = None


class Listing:
    """Conversations in the order of a list: pinned ones, then the others, each the last written first.

    Kept in columns: ten thousand summaries would be several megabytes, for the twenty that are on the screen.
    """

    def __init__(self) -> None:
        self._ids = PackedTexts()
        self._titles = PackedTexts()
        #: The titles in lower case, as they are searched.
        self._lowered = PackedTexts()
        self._times = array("d")
        self._counts = array("I")
        #: Folder and model of each, as a number: there are few of them among many conversations.
        self._places = array("I")
        self._known: dict[tuple[str, str], int] = {}
        self._names: list[tuple[str, str]] = []
        self._problems: dict[str, str] = {}
        self._pinned = 0

    @classmethod
    def of(cls, summaries: Iterable[Summary]) -> "Listing":
        """Make a listing of these conversations."""
        listing = cls()
        entries = sorted(summaries, key=lambda entry: (not entry.pinned, -entry.updated))
        listing.extend(
            [item.id for item in entries],
            [item.title for item in entries],
            [item.updated for item in entries],
            [item.messages for item in entries],
            [(item.cwd, item.model) for item in entries],
            pinned=sum(item.pinned for item in entries),
            problems={item.id: item.problem for item in entries if item.problem is not None},
        )
        return listing

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.all())

    def extend(
        self,
        ids: Sequence[str],
        titles: Sequence[str],
        times: Sequence[float],
        counts: Sequence[int],
        places: Sequence[tuple[str, str]],
        *,
        pinned: int,
        problems: Mapping[str, str],
    ) -> None:
        """Append conversations, of which `pinned` are pinned. The caller keeps the order."""
        self._ids.extend(ids)
        self._titles.extend(titles)
        self._lowered.extend([title.lower() for title in titles])
        self._times.extend(times)
        self._counts.extend(counts)
        for place in places:
            if place not in self._known:
                self._known[place] = len(self._names)
                self._names.append(place)
        self._places.extend([self._known[place] for place in places])
        self._pinned += pinned
        self._problems |= problems

    def copy_with(self, item: Summary) -> "Listing":
        """Return a list in which this conversation replaces its earlier entry."""
        return Listing.of([*self.copy_without(item.id), item])

    def copy_without(self, id: str) -> "Listing":
        """Return a list without this conversation. This list does not change: it may be on the screen."""
        return Listing.of(item for item in self if item.id != id)

    def get_summary(self, row: int) -> Summary:
        """Return all that is known of the conversation at this place."""
        id_ = self._ids[row]
        cwd, model = self._names[self._places[row]]
        return Summary(
            id=id_,
            title=self._titles[row],
            updated=self._times[row],
            messages=self._counts[row],
            model=model,
            cwd=cwd,
            pinned=row < self._pinned,
            problem=self._problems.get(id_),
        )

    def find_row(self, id: str) -> int | None:
        """Return the row of the conversation; None where it is not listed."""
        return self._ids.place_of(id)

    @property
    def readable(self) -> list[str]:
        """The ids of those that can be opened, in order."""
        return [id_ for id_ in self._ids if id_ not in self._problems]

    def all(self) -> "Rows":
        """Return all of them."""
        return Rows(self, range(len(self)))

    def matching(self, words: Sequence[str], folder: str | None = None, found: Container[str] = ()) -> "Rows":
        """Return those whose title, folder or model has all the words, or whose id was `found`
        in their messages.

        The best come first: those with all the words in the title, then those found in their messages, then
        the others; within these groups the order stays. With a folder: only those begun in it, or below it.
        """
        rows: Sequence[int] = range(len(self))
        if folder is not None:
            below = f"{folder.rstrip('/')}/"
            inside = {n for (cwd, _), n in self._known.items() if cwd == folder or cwd.startswith(below)}
            rows = [row for row in rows if self._places[row] in inside]
        if not words:
            return Rows(self, rows)
        titles = list(self._lowered)
        in_title = [row for row in rows if all(word in titles[row] for word in words)]
        grouped_rows = set(in_title)
        in_messages: list[int] = []
        if found:
            ids = list(self._ids)
            in_messages = [row for row in rows if ids[row] in found and row not in grouped_rows]
            grouped_rows.update(in_messages)
        for word in words:
            rows = self._select_by_word(word, rows)
        elsewhere = [row for row in rows if row not in grouped_rows]
        groups = ((IN_TITLE, in_title), (IN_MESSAGES, in_messages), (ELSEWHERE, elsewhere))
        return Rows(
            self,
            [*in_title, *in_messages, *elsewhere],
            tuple((name, len(members)) for name, members in groups if members),
        )

    def _select_by_word(self, word: str, rows: Sequence[int]) -> Sequence[int]:
        """Return the rows that have the word. Every key press checks all rows, so the loops are short."""
        places = {n for key, n in self._known.items() if any(word in name.lower() for name in key)}
        if len(places) == len(self._known):
            return rows
        titles = list(self._lowered)
        if not places and len(rows) == len(titles):
            return [row for row, title in enumerate(titles) if word in title]
        if not places:
            return [row for row in rows if word in titles[row]]
        return [row for row in rows if word in titles[row] or self._places[row] in places]


class Rows(Sequence[Summary]):
    """Some conversations of a listing; each is put together when it is looked at.

    `groups` are those of a search, in order: where the words are, and how many conversations have them there.
    Without a search there are none, and the order is that of the listing.
    """

    def __init__(
        self, listing: Listing, rows: Sequence[int], groups: tuple[tuple[str, int], ...] = ()
    ) -> None:
        self._listing, self._rows, self.groups = listing, rows, groups

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Summary: ...

    @overload
    def __getitem__(self, index: slice) -> "Rows": ...

    def __getitem__(self, index: int | slice) -> "Summary | Rows":
        if isinstance(index, slice):
            return Rows(self._listing, self._rows[index])  # a part has no groups of its own
        return self._listing.get_summary(self._rows[index])

    def place_of(self, id: str) -> int | None:
        """Return the position of the conversation among these; None where it is not."""
        row = self._listing.find_row(id)
        if row is None:
            return None
        if self.groups:
            return self._rows.index(row) if row in self._rows else None
        at = bisect_left(self._rows, row)
        return at if at < len(self._rows) and self._rows[at] == row else None
