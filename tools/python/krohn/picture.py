"""The displays of notebooks: pictures, tables, cards, and pages in frames. Every text is escaped."""

import html
import os
from typing import Any, Iterable, Sequence, Tuple, Union

_CELL = "text-align:left;vertical-align:top;padding:.2em .8em .2em 0"
_COLOURS = {"good": "#11692f", "bad": "#a3171f", "open": "#7a5200", "": "#5c6270"}


class Picture:
    """An SVG picture. A notebook shows it; `save` writes it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return "<krohn.Picture>"

    def save(self, path: Union[str, os.PathLike]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def inline(svg: str) -> str:
    """The picture's own element, without what precedes it in a file."""
    return svg[svg.find("<svg"):]


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    def row(kind: str, cells: Sequence[Any]) -> str:
        return "".join(["<tr>", *(f"<{kind} style='{_CELL}'>{html.escape(str(cell))}</{kind}>" for cell in cells), "</tr>"])

    said = f"<caption style='text-align:left'>{html.escape(caption)}</caption>" if caption else ""
    return (f"<table style='border-collapse:collapse'>{said}<thead>{row('th', head)}</thead>"
            f"<tbody>{''.join(row('td', cells) for cells in rows)}</tbody></table>")


def card(headline: str, facts: Iterable[Tuple[str, Any]], mark: str = "") -> str:
    """A headline, and lines of name and value; `mark` is "good", "bad", "open" or nothing."""
    lines = "".join(f"<div><span style='opacity:.65'>{html.escape(name)}</span> {html.escape(str(value))}</div>"
                    for name, value in facts if value not in (None, ""))
    return (f"<div style='border-left:.4em solid {_COLOURS[mark]};padding:.3em .8em'>"
            f"<div style='font-weight:600'>{html.escape(headline)}</div>{lines}</div>")


def frame(page: str, height: int = 640) -> str:
    """A page of its own inside the notebook: its script sees nothing of what is around it."""
    return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(page, quote=True)}" loading="lazy" '
            f'style="width:100%;height:{height}px;border:1px solid #8886"></iframe>')
