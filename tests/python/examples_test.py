"""The examples of docs/python.md, line by line, and the notebook, cell by cell."""
import contextlib
import doctest
import importlib.util
import io
import json
import os
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAS_TORCH = importlib.util.find_spec("torch") is not None
TORCH = doctest.register_optionflag("TORCH")


class Examples(unittest.TestCase):
    def test_the_page_says_what_happens(self):
        text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").replace("```", "")
        test = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", "docs/python.md", 0)
        self.assertGreater(len(test.examples), 40)
        for example in test.examples:
            if TORCH in example.options and not HAS_TORCH:
                example.options[doctest.SKIP] = True
        said = io.StringIO()
        results = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(test, out=said.write)
        self.assertEqual(results.failed, 0, said.getvalue())

    def test_the_notebook_runs(self):
        for path in sorted((ROOT / "tools" / "python" / "notebooks").glob("*.ipynb")):
            notebook = json.loads(path.read_text(encoding="utf-8"))
            code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
            if any("torch" in cell for cell in code) and not HAS_TORCH:
                self.skipTest("PyTorch is not installed")
            names = {"__name__": "__main__"}
            with tempfile.TemporaryDirectory() as folder:
                before = os.getcwd()
                os.chdir(folder)
                try:
                    for number, cell in enumerate(code):
                        with self.subTest(notebook=path.name, cell=number), contextlib.redirect_stdout(io.StringIO()):
                            exec(compile(cell, f"{path.name}[{number}]", "exec"), names)
                finally:
                    os.chdir(before)


if __name__ == "__main__":
    unittest.main()
