"""What a model made of parts of texts, kept beside the records of whole texts.

Reports share sentences, and sentences share entities. A model that reads those one by one pays for each of them once,
and not once a submission.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from rexrank.encoders.encoder import Record
    from rexrank.encoders.recent import Records

Output = NDArray[Any]
Run = Callable[[list[list[int]]], Iterator[tuple[int, Output | None]]]

_NAME = "output"
_WRITTEN_AT_ONCE = 1000


class Parts:
    """Outputs of one model by the ids of the tokens that it read; without a place to keep them, each is made anew."""

    def __init__(self, name: str) -> None:
        """Keep nothing yet.

        Args:
            name: Of the part, unique among those of the encoder; raise the encoder's version when outputs change.
        """
        self._name = name
        self._records: Records | None = None
        self._shelf = ""

    def keep_in(self, records: "Records", shelf: str) -> None:
        """Keep outputs there from now on.

        Args:
            records: Takes them.
            shelf: That of the encoder's records.
        """
        self._records, self._shelf = records, f"{shelf}/{self._name}"

    def outputs(self, rows: Sequence[list[int]], run: Run) -> Iterator[tuple[int, Output | None]]:
        """The output for each row: those that are kept first, then the others as they are made.

        Args:
            rows: Ids of the tokens of each part.
            run: Makes the outputs of rows; None where one cannot be made.

        Yields:
            Number of a row and its output, each number once.
        """
        if self._records is None:
            yield from run(list(rows))
            return
        keys = [" ".join(map(str, row)) for row in rows]
        left = self._records.missing(self._shelf, keys)
        for number in sorted(set(range(len(rows))).difference(left)):
            kept = self._records.get(self._shelf, keys[number])
            if kept is None:  # damaged
                left.append(number)
            else:
                yield number, kept[_NAME]
        made: list[tuple[str, Record]] = []
        for at, output in run([rows[number] for number in left]):
            if output is not None:
                made.append((keys[left[at]], {_NAME: output}))
            if len(made) == _WRITTEN_AT_ONCE:
                self._records.put(self._shelf, made)
                made = []
            yield left[at], output
        self._records.put(self._shelf, made)
