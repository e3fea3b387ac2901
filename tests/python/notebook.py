#!/usr/bin/env python3
"""Runs notebooks without Jupyter: the cells in order, in an empty folder, what they print and what their last lines are.

    tests/python/notebook.py NOTEBOOK…     puts fresh outputs into the files

A cell with the tag "varies" has figures that another machine may not have; one with the tag "torch" needs PyTorch."""
import ast
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile

MOST_HTML = 60_000


class Cell:
    def __init__(self, found):
        self.found = found
        self.source = "".join(found["source"])
        self.tags = found["metadata"].get("tags", [])

    @property
    def stored(self):
        """The output that the file says it prints, and its last line's text; None where it has none."""
        said, value = "", None
        for output in self.found["outputs"]:
            if output["output_type"] == "stream":
                said += "".join(output["text"])
            else:
                value = "".join(output["data"]["text/plain"])
        return said, value

    def run(self, names, title):
        """Its output, and the value of its last line."""
        tree = ast.parse(self.source, title)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(tree, title, "exec"), names)
            value = eval(compile(last, title, "eval"), names) if last else None
        return said.getvalue(), value


def cells_of(path):
    notebook = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return notebook, [Cell(found) for found in notebook["cells"] if found["cell_type"] == "code"]


@contextlib.contextmanager
def empty_folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def shown(value):
    """As Jupyter stores it, without frames: those hold whole pages, which are there again when the cell is run."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    for kind, method in (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_")):
        text = getattr(value, method, lambda: None)()
        if text and (kind != "text/html" or "<iframe" not in text and "<svg" not in text) and len(text) < MOST_HTML:
            data[kind] = text.splitlines(keepends=True)
    return data


def refresh(path):
    notebook, cells = cells_of(path)
    names = {"__name__": "__main__"}
    with empty_folder():
        for number, cell in enumerate(cells, 1):
            said, value = cell.run(names, f"{pathlib.Path(path).name}[{number}]")
            cell.found["execution_count"] = number
            cell.found["outputs"] = []
            if said:
                cell.found["outputs"].append({"output_type": "stream", "name": "stdout", "text": said.splitlines(keepends=True)})
            if value is not None:
                result = {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": shown(value)}
                cell.found["outputs"].append(result)
    pathlib.Path(path).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(pathlib.Path(name).resolve())
