"""The tables inside a page, made from the folders of their cells: what stands between `<!-- krohn.rivals NAME -->`, or for the cells whose
"row, column" have a text `<!-- krohn.rivals NAME TEXT -->`, and `<!-- end -->` is replaced, the rest of the page is its writer's."""

import os
import re
from typing import Sequence

from krohn.rivals import papers, tables

MARKED = re.compile(r"(<!-- krohn\.rivals (\S+)(?: ([^\n]+))? -->\n).*?(<!-- end -->)", re.DOTALL)


def rewritten(text: str, cells: str, seeds: Sequence[int]) -> str:
    """The page with the tables of CELLS/NAME, small scale. Raises ValueError where it has no place for one, and where
    there is no such folder or no such cell."""
    if not MARKED.search(text):
        raise ValueError("the page has no <!-- krohn.rivals NAME --> … <!-- end -->")

    if not os.path.isdir(cells):
        raise ValueError(f"--cells {cells}: no such folder")

    def table_of(place: "re.Match[str]") -> str:
        table = papers.table(place[2], only=place[3] or "")
        if not table.cells:
            raise ValueError(f"no cell of {place[2]} has {place[3]!r} in its name")
        return place[1] + tables.markdown(table, tables.results(table, os.path.join(cells, place[2]), seeds)) + "\n" + place[4]

    return MARKED.sub(table_of, text)


def rewrite(path: str, cells: str, seeds: Sequence[int]) -> None:
    with open(path, encoding="utf-8") as file:
        text = rewritten(file.read(), cells, seeds)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
