"""The examples of docs/reference/python.md, line by line, and the notebooks, cell by cell."""
import doctest
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest

import notebook

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAS_TORCH = importlib.util.find_spec("torch") is not None
TORCH = doctest.register_optionflag("TORCH")


def failures_of(text):
    """The examples of a page that do not say what happens, as doctest reports them, and how many there are."""
    test = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, "docs/reference/python.md", "docs/reference/python.md", 0)
    for example in test.examples:
        if TORCH in example.options and not HAS_TORCH:
            example.options[doctest.SKIP] = True
    said = io.StringIO()
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.write)
    return results.failed, said.getvalue(), len(test.examples)


class Page(unittest.TestCase):
    def test_the_page_says_what_happens(self):
        failed, said, examples = failures_of((ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8"))
        self.assertGreater(examples, 60)
        self.assertEqual(failed, 0, said)

    def test_a_wrong_message_is_seen(self):
        page = """>>> import krohn
>>> krohn.Automaton("regex:(a")
Traceback (most recent call last):
    ...
krohn.InputError: {}
"""
        right = "regex:1: this ( is not closed; write \\( for the character"
        self.assertEqual(failures_of(page.format(right))[0], 0)
        self.assertEqual(failures_of(page.format("regex:3: the group is not closed"))[0], 1)


class Notebooks(unittest.TestCase):
    def test_the_cells_say_what_the_files_say(self):
        paths = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
        self.assertEqual(len(paths), 4)
        for path in paths:
            names = {"__name__": "__main__"}
            with notebook.empty_folder():
                for number, cell in enumerate(notebook.cells_of(path)[1], 1):
                    if "torch" in cell.tags and not HAS_TORCH:
                        continue
                    with self.subTest(notebook=path.name, cell=number):
                        said, value = cell.run(names, f"{path.name}[{number}]")
                        if "varies" not in cell.tags:
                            self.assertEqual((said, None if value is None else repr(value)), cell.stored)

    def test_a_wrong_cell_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wrong.ipynb"
            source = ["print(1)\n", "2 + 2"]
            outputs = [{"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                       {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": ["5"]}}]
            cells = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": outputs, "execution_count": 1}]
            path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
            [cell] = notebook.cells_of(path)[1]
            self.assertEqual(cell.stored, ("1\n", "5"))
            self.assertEqual(cell.run({}, "wrong"), ("1\n", 4))
            notebook.refresh(path)
            self.assertEqual(notebook.cells_of(path)[1][0].stored, ("1\n", "4"))


if __name__ == "__main__":
    unittest.main()
