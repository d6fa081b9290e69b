"""The heights of stacked blocks, with fast sums."""

from collections.abc import Iterable


class Heights:
    """A Fenwick tree: reading a top, finding a row and changing a height each take O(log n) steps."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self.total = sum(self._heights)
        #: Sums of heights; shorter than the heights by those that were appended since it was last needed.
        self._tree = [0]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        """Put a block of this height below the others."""
        self._heights.append(height)
        self.total += height

    def _update_sums(self) -> list[int]:
        """Return the updated tree: change single heights in place, build it again for many."""
        tree, heights = self._tree, self._heights
        if len(heights) - len(tree) > 8:
            tree[1:] = heights
            for position in range(1, len(tree)):
                parent = position + (position & -position)
                if parent < len(tree):
                    tree[parent] += tree[position]
        while len(tree) <= len(heights):
            position = len(tree)
            total, below = heights[position - 1], position - 1
            while below > position - (position & -position):
                total += tree[below]
                below -= below & -below
            tree.append(total)
        return tree

    def change(self, index: int, height: int) -> int:
        """Change the height of block `index`, and return the difference."""
        difference = height - self._heights[index]
        if difference:
            tree = self._update_sums()
            self._heights[index] = height
            self.total += difference
            position = index + 1
            while position < len(tree):
                tree[position] += difference
                position += position & -position
        return difference

    def find_top(self, index: int) -> int:
        """Return the row at which block `index` begins."""
        tree, total = self._update_sums(), 0
        while index > 0:
            total += tree[index]
            index -= index & -index
        return total

    def find(self, row: int) -> int:
        """Return the block that row `row` belongs to: the last for rows below all, -1 when there is none."""
        tree = self._update_sums()
        position, step = 0, 1 << len(self._heights).bit_length()
        while step:
            following = position + step
            if following < len(tree) and tree[following] <= row:
                position = following
                row -= tree[following]
            step >>= 1
        return min(position, len(self._heights) - 1)
