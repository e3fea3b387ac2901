"""Pictures that notebooks show."""

import os
from typing import Union


class Picture:
    """An SVG picture. A notebook shows it; `save` writes it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Union[str, os.PathLike]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)
