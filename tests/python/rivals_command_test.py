"""The tables of the rivals' papers, and the command that trains, measures and lists them."""

import contextlib
import io
import json
import os
import subprocess
import tempfile
import unittest
from dataclasses import replace
from unittest import mock

try:
    import safetensors  # noqa: F401
    import torch
except ImportError:
    raise unittest.SkipTest("the rivals need torch and safetensors")

import krohn
from krohn.rivals import models, papers, tables, timing, training
from krohn.rivals.__main__ import main

KROHN = os.environ.get("KROHN_COMMAND")


class PapersTest(unittest.TestCase):
    def test_one_cell_is_chosen_though_others_begin_with_its_name(self):
        names = [f"{cell.row}, {cell.column}" for cell in papers.table("ebrahimi1", only="addition, LSTM, m = 5").cells]
        self.assertEqual([name[-6:] for name in names], [" m = 5", "m = 50"])
        self.assertEqual(len(papers.table("ebrahimi1", only="addition, LSTM, m = 5$").cells), 1)
        self.assertEqual(len(papers.table("ebrahimi1", only="m = 5 $").cells), 0)

    def test_every_cell_has_a_task_and_a_model_of_its_own_file(self):
        for name in papers.TABLES:
            for scale in ("small", "paper"):
                cells = papers.table(name, scale).cells
                self.assertEqual(len({cell.stem for cell in cells}), len(cells))
                for cell in cells:
                    models.full_name(cell.model)
                for task, length in {(cell.task, cell.options.length) for cell in cells}:
                    krohn.dataset(task, 1, length=length, seed=1)

    def test_sizes_are_changed_one_at_a_time(self):
        def cells(name, scale):
            return papers.table(name, scale).cells

        def told(now, before):
            """The differences: options by name, and the model."""
            options = {key: value for key, value in vars(now.options).items() if value != vars(before.options)[key]}
            return {**options, **({"model": now.model} if now.model != before.model else {})}

        for name, scale, expected in (
            ("ebrahimi1", "paper,steps=8e3", {"steps": 8000}),
            ("ebrahimi1", "small,rates=1e-3,1e-5,words=1", {"rates": (1e-3, 1e-5), "words": 1}),
            ("grazzi5", "paper,steps=200", {"steps": 200, "warm_up": 20}),
            ("grazzi-figure2", "paper,samples=640,test-words=9", {"samples": 640, "test_words": 9}),
        ):
            for now, before in zip(cells(name, scale), cells(name, scale.split(",")[0])):
                self.assertEqual(told(now, before), expected)
        for now, before in zip(cells("ebrahimi1", "paper,width=40"), cells("ebrahimi1", "paper")):
            self.assertEqual(told(now, before), {"model": before.model.replace("=256", "=40")})
        # What small shrinks, undone.
        for name in ("ebrahimi1", "fan2", "grazzi5"):
            undone = cells(name, "small,steps=paper,rates=paper,words=paper,test-words=paper,width=paper")
            for now, small, paper in zip(undone, cells(name, "small"), cells(name, "paper")):
                for key, value in vars(now.options).items():
                    of = paper if key in ("steps", "rates", "words", "test_words") else small
                    if key != "warm_up":  # a tenth of the steps
                        self.assertEqual(value, vars(of.options)[key], (name, key))
                width = papers.WIDTH.search(now.model)
                self.assertEqual(width and width.group(2), width and papers.WIDTH.search(paper.model).group(2))
        for scale, text in (("paper,hidden=3", "no size of the rivals"), ("large", "small or paper"), ("paper,steps", "no size|once"),
                            ("paper,steps=1,steps=2", "once"), ("paper,steps=1.5", "whole number"), ("paper,steps=0", "whole number"),
                            ("paper,steps=many", "whole number"), ("paper,rates=0", "above 0"), ("paper,rates=1e-3,x", "above 0"),
                            ("paper,samples=3", "new ones")):  # fmt: skip
            with self.assertRaisesRegex(ValueError, text):
                cells("ebrahimi1", scale)
        with self.assertRaisesRegex(ValueError, "about"):
            cells("ebrahimi-figure2", "small,samples=3")

    def test_figures(self):  # read off the papers once more
        found = {(name, cell.row, cell.column): cell for name in papers.TABLES for cell in papers.table(name).cells}
        for place, paper, figure in (
            (("ebrahimi1", "modular addition, LSTM", "m = 50"), "0.99 → 0.02", 0.02),
            (("ebrahimi1", "modular addition, Transformer (4)", "m = 2"), "1.00 → 0.04", 0.04),
            (("ebrahimi1", "state machine, Mamba (2)", "m = 10"), "0.79 → 0.42", 0.42),
            (("ebrahimi1", "state machine, RNN", "m = 25"), "0.41 → 0.19", 0.19),
            (("ebrahimi1", "modular arithmetic, Mamba (4)", "m = 2"), "1.00 → 0.92", 0.92),
            (("ebrahimi1", "modular arithmetic, Transformer (1)", "m = 3"), "0.63 → 0.02", 0.02),
            (("grazzi5", "modular arithmetic without brackets", "sLSTM"), "0.124 ± 0.000, best 0.787", 0.124),
            (("grazzi5", "modular arithmetic with brackets", "Mamba [-1, 1]"), "0.126 ± 0.010, best 0.136", 0.126),
            (("fan2", "EvenPair(5)", "Liquid-S4"), "0.72: 0.44 scaled", 0.44),
        ):
            self.assertEqual(found[place].paper, paper)
            self.assertAlmostEqual(found[place].figure, figure)
        for place, figure in (
            (("grazzi3", "modular arithmetic without brackets", "sLSTM"), 0.787),
            (("grazzi3", "parity", "mLSTM"), 0.087),
            (("grazzi3", "modular arithmetic with brackets", "fla's DeltaNet [-1, 1]"), 0.200),
        ):
            self.assertAlmostEqual(found[place].figure, figure)
        self.assertEqual([replace(cell, figure=None) for cell in papers.table("grazzi3").cells],
                         [replace(cell, figure=None) for cell in papers.table("grazzi5").cells])  # fmt: skip
        self.assertEqual(sum(place[0] == "ebrahimi1" for place in found), 8 * 6 * 3)
        with self.assertRaisesRegex(ValueError, "grazzi5"):
            papers.table("ebrahimi3")


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def said(self, *arguments, status=0):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(main(list(arguments)), status, err.getvalue())
        return out.getvalue() + err.getvalue()

    def test_a_run_is_measured_as_krohn_measures(self):
        run = os.path.join(self.folder, "run")
        line = ["train", "parity", "--model", "lstm:hidden=8", "--length", "1..8", "--words", "32", "--rates", "3e-2",
                "--steps", "60", "--test-lengths", "10", "-o", run]  # fmt: skip
        self.assertIn("krohn import", self.said(*line))
        self.assertIn("is there already", self.said(*line, status=2))
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            facts = json.load(file)
        test = facts["runs"][0]["test"][0]
        measured = json.loads(self.said("eval", run, "--lengths", "10"))
        self.assertEqual(measured, test)
        self.assertAlmostEqual(test["scaled_accuracy"], (test["right"] / test["answers"] - 0.5) / 0.5)
        # Once more, from the samples and the model alone.
        model, _ = training.load(run)
        data = krohn.dataset("parity", 100, length=10, seed=training.TEST_SEED)
        with torch.no_grad():
            answers = model(torch.as_tensor(data.inputs).long()).argmax(-1).numpy()
        asked = data.targets >= 0
        self.assertEqual(int(((answers == data.targets) & asked).sum()), test["right"])
        self.assertEqual(test["answers"], int(asked.sum()))
        if KROHN:  # the command examines the same model, by its weights
            model_file, imported = os.path.join(run, "model.safetensors"), os.path.join(self.folder, "imported")
            subprocess.run([KROHN, "import", model_file, "--as", "lstm", "--against", "parity", "-o", imported], check=True,
                           capture_output=True)  # fmt: skip
            done = subprocess.run([KROHN, "eval", imported, "--lengths", "10", "--words", "100", "--seed", str(training.TEST_SEED), "--json"],
                                  check=True, capture_output=True, text=True)  # fmt: skip
            self.assertLess(abs(json.loads(done.stdout)["lengths"][0]["right"] - test["right"]), 3, done.stdout)  # the last bits differ

    def test_a_run_is_of_what_its_file_said(self):
        language, run = os.path.join(self.folder, "q.json"), os.path.join(self.folder, "run")
        krohn.Automaton("regex:(0|1)*1").save(language)
        self.said("train", language, "--model", "lstm:hidden=4", "--length", "1..4", "--words", "8", "--steps", "2", "--test-lengths", "6",
                  "-o", run)  # fmt: skip
        self.said("eval", run, "--lengths", "6")
        krohn.Automaton("regex:(0|1)*0").save(language)
        self.assertIn("has the file changed?", self.said("eval", run, "--lengths", "6", status=2))

    def test_nothing_is_written_of_runs_that_all_diverged(self):
        run = os.path.join(self.folder, "all-diverged")
        line = ["train", "parity", "--model", "lstm:hidden=4", "--steps", "5", "--words", "4", "--rates", "1e37", "-o", run]
        with mock.patch.object(training.Options, "check"):
            self.assertIn("every run diverged", self.said(*line, status=2))
        self.assertFalse(os.path.exists(run) or os.path.exists(run + ".part"))

    def test_words_that_are_too_long_for_a_model_are_refused_before_it_is_trained(self):
        try:
            import transformers  # noqa: F401
        except ImportError:
            self.skipTest("transformers is not installed")
        run = os.path.join(self.folder, "too-long")
        for length, status in (("16", 0), ("17", 2)):
            line = ["train", "parity", "--model", "transformer:width=8,heads=2,positions=16", "--length", "1..4", "--steps", "1",
                    "--words", "2", "--test-lengths", length, "-o", run + length]  # fmt: skip
            with mock.patch.object(training, "train_one", side_effect=training.train_one) as trained:
                said = self.said(*line, status=status)
            self.assertEqual(trained.called, status == 0)
            self.assertEqual("the model has 16 positions" in said, status == 2)

    def tiny(self, steps=3, rates=(1e-2,)):
        """A table of two models on two tasks whose runs take milliseconds."""
        options = training.Options(steps=steps, words=4, length=(1, 4), rates=rates, test_lengths=(4, 6), test_words=4)
        cells = [papers.Cell(task, model, papers.stem_of(model, task), task, f"{model}:hidden=4", options, "0.03 → 0.50", 0.5)
                 for task in ("parity", "rsm:m=2,seed=1") for model in ("lstm", "gru")]  # fmt: skip
        return mock.patch.dict(papers.TABLES, {"tiny": lambda is_paper: papers.Table("Nobody, Table 0", cells, "A note.")})

    def kept_lines(self, folder):
        counts = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                counts[name] = len(file.readlines())
        return counts

    def test_a_table_goes_on_after_its_runs_and_is_shared_out(self):
        folder, cells = os.path.join(self.folder, "tiny"), os.path.join(self.folder, "cells.json")
        line = ["table", "tiny", "-o", folder, "--seeds", "2", "--seed", "1"]
        with self.tiny():
            for part in ("1/3", "3/3"):
                self.assertNotIn("Nobody", self.said(*line, "--shard", part))
            self.assertEqual(self.kept_lines(folder), {"runs.1-of-3.jsonl": 3, "runs.3-of-3.jsonl": 2})
            partly = tables.markdown(papers.table("tiny"), tables.results(papers.table("tiny"), folder, range(1, 3)))
            first = self.said(*line, "--json", cells)
            lines = {"runs.1-of-3.jsonl": 3, "runs.3-of-3.jsonl": 2, "runs.jsonl": 3}
            self.assertEqual(self.kept_lines(folder), lines)
            again = self.said(*line)
            self.assertTrue(first.startswith(again), again)
            self.assertEqual((first.count(" of 8: "), again.count(" of 8: ")), (3, 0))  # only what was missing is trained
            self.assertEqual(self.kept_lines(folder), lines)
            self.assertEqual(self.said(*line, "--only", "parity, gru").count("| parity |"), 1)
            for wrong in ("0/3", "4/3", "x", "1/"):
                self.assertIn("--shard", self.said(*line, "--shard", wrong, status=2))
        self.assertEqual(first.count("0.03 → 0.50"), 4)
        self.assertEqual(partly.count("of 1 |") + partly.count("of 2 |"), 4)
        with open(cells, encoding="utf-8") as file:
            cell = json.load(file)["cells"][2]
        self.assertEqual((cell["row"], cell["column"], cell["paper"], cell["paper_length"]), ("rsm:m=2,seed=1", "lstm", 0.5, 6))
        self.assertEqual([run["seed"] for run in cell["runs"]], [1, 2])
        self.assertEqual([at["length"] for at in cell["lengths"]], [4, 6])
        best = cell["runs"][cell["best"]]
        self.assertEqual(best["validation_loss"], min(run["validation_loss"] for run in cell["runs"]))
        self.assertEqual(best["at"], cell["lengths"][1])
        self.assertTrue(best["at"]["low"] <= best["at"]["scaled_accuracy"] <= best["at"]["high"])
        with self.tiny(steps=4):
            self.assertIn("other options", self.said(*line, status=2))

    def kept(self, folder, *made):
        """The runs of a new folder: of `made`, the cell, the seed and what a run has."""
        os.mkdir(folder)
        kept = tables.Kept(folder)
        for cell, seed, run in made:
            kept.add(cell, seed, run)
        return kept

    def changed(self, kept, change):
        """A reader's findings after `change` of the only line."""
        with open(kept.path, encoding="utf-8") as file:
            facts = json.loads(file.read())
        change(facts)
        with open(kept.path, "w", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")
        return tables.Kept(os.path.dirname(kept.path))

    def test_a_run_of_before_an_option_came_is_known_again(self):
        with self.tiny():
            cell = papers.table("tiny").cells[0]
        run = tables.run_once(cell, 1)
        kept = self.kept(os.path.join(self.folder, "old"), (cell, 1, run))
        self.assertEqual(self.changed(kept, lambda facts: facts["options"].pop("samples")).run(cell, 1), run)
        self.assertIsNone(tables.Kept(os.path.dirname(kept.path)).run(cell, 2))
        for change in (lambda facts: facts.update(source="another package's layer of that name"), lambda facts: facts.pop("source"),
                       lambda facts: facts["options"].update(samples=1)):  # fmt: skip
            with self.assertRaisesRegex(ValueError, "runs.jsonl:1: made by other options, or by another package"):
                self.changed(kept, change).run(cell, 1)

    def test_a_line_that_was_cut_off_is_run_again_and_any_other_defect_is_named(self):
        with self.tiny():
            cell = papers.table("tiny").cells[0]
        run = tables.run_once(cell, 1)
        kept = self.kept(os.path.join(self.folder, "cut"), (cell, 1, run), (cell, 2, {**run, "seed": 2}))
        with open(kept.path, "rb") as file:
            lines = file.readlines()
        for size in range(len(lines[1])):
            with open(kept.path, "wb") as file:
                file.write(lines[0] + lines[1][:size])
            again = tables.Kept(os.path.dirname(kept.path))
            self.assertEqual((again.run(cell, 1), again.run(cell, 2)), (run, None))
            again.add(cell, 2, {**run, "seed": 2})
            with open(kept.path, "rb") as file:
                self.assertEqual(file.readlines(), lines)
        for wrong in (b"{}\n", b"[]\n", b"no\n", b"\n", lines[1][: len(lines[1]) // 2] + b"\n"):
            with open(kept.path, "wb") as file:
                file.write(lines[0] + wrong)
            with self.assertRaisesRegex(ValueError, "runs.jsonl:2: no run"):
                tables.Kept(os.path.dirname(kept.path))

    def test_a_run_that_diverged_has_no_loss_and_is_not_the_best(self):
        folder, cells = os.path.join(self.folder, "diverged"), os.path.join(self.folder, "diverged.json")
        with self.tiny(rates=(1e37,)):
            cell = papers.table("tiny").cells[0]
            run = tables.run_once(cell, 1)
            self.assertEqual((run["state"], run["validation_loss"]), ("diverged", None))
            self.kept(folder, (cell, 1, run), (cell, 2, {**run, "seed": 2, "validation_loss": 0.0}))
            self.said("table", "tiny", "-o", folder, "--seeds", "2", "--seed", "1", "--only", f"{cell.row}, {cell.column}", "--json", cells)
        with open(cells, encoding="utf-8") as file:
            facts = json.load(file, parse_constant=self.fail)["cells"][0]
        self.assertEqual(facts["best"], 1)
        self.assertIsNone(facts["runs"][0]["validation_loss"])

    def test_a_page_has_what_was_run_and_names_what_was_not(self):
        text = "# Mine\n<!-- krohn.rivals tiny -->\nold\n<!-- end -->\nMine, too.\n<!-- krohn.rivals tiny parity, gru -->\n<!-- end -->\n"
        path = os.path.join(self.folder, "page.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with self.tiny():
            self.said("table", "tiny", "-o", os.path.join(self.folder, "tiny"), "--seeds", "1", "--seed", "1", "--only", "parity")
            line = ["page", path, "--cells", self.folder, "--seeds", "1", "--seed", "1"]
            self.said(*line)
            with open(path, encoding="utf-8") as file:
                made = file.read()
            self.said(*line)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), made)
        made, _, only_gru = made.partition("<!-- krohn.rivals tiny parity, gru -->\n| |")
        self.assertTrue(made.startswith("# Mine\n<!-- krohn.rivals tiny -->\n| |") and made.endswith("<!-- end -->\nMine, too.\n"), made)
        self.assertNotIn("old", made)
        self.assertEqual((only_gru.count("| parity | gru |"), only_gru.count("| parity |")), (1, 1))
        self.assertEqual(made.count("| parity |"), 2)
        self.assertIn("Not run, 2 of 4 cells. rsm:m=2,seed=1: lstm, gru.", made)
        run = {"test": [{"length": 6, "words": 4, "words_right": 3, "scaled_accuracy": 0.9}], "seed": 1}
        self.assertEqual(tables.Result(None, [run]).figures(6), [0.9])
        self.assertEqual(tables.Result(None, [run]).figures(6, whole_words=True), [0.75])
        with self.assertRaises(ValueError):
            tables.rewritten("no place", self.folder, [1])

    def test_ways_of_the_recurrence_are_timed(self):
        lines = timing.report(runs=1).splitlines()
        self.assertEqual([line.split(" | ")[0] for line in lines[2:5]], ["| 40", "| 500", "| 500"])
        self.assertTrue(all(float(line.split(" | ")[3]) > 0 and float(line.split(" | ")[4]) > 0 for line in lines[2:5]))

    def test_mistakes(self):
        self.assertIn("no rival", self.said("train", "parity", "--model", "nosuch", "-o", os.path.join(self.folder, "x"), status=2))
        self.assertIn("parity", self.said("train", "paritty", "--model", "gru", "-o", os.path.join(self.folder, "x"), status=2))
        for options in (["--clip", "-1"], ["--clip", "nan"], ["--words", "0"], ["--seed", "-1"], ["--warm-up", "3"], ["--rates", "0"],
                        ["--test-lengths", "0"], ["--length", "5..2"], ["--validate-every", "0"]):  # fmt: skip
            said = self.said("train", "parity", "--model", "gru", "--steps", "2", "-o", os.path.join(self.folder, "x"), *options, status=2)
            self.assertIn(options[0], said)
        self.assertIn("at least 1", self.said("train", "parity", "--model", "gru:hidden=0", "-o", os.path.join(self.folder, "x"), status=2))
        self.assertIn("--only", self.said("table", "fan2", "--only", "nothing", "-o", os.path.join(self.folder, "x"), status=2))
        self.assertEqual(os.listdir(self.folder), [])
        file = os.path.join(self.folder, "file")
        open(file, "w", encoding="utf-8").close()
        said = self.said("train", "parity", "--model", "gru", "--steps", "2", "-o", os.path.join(file, "x"), status=2)
        self.assertIn("no folder can be made", said)

    def test_folders_on_the_way_to_a_run_are_made(self):
        path = os.path.join(self.folder, "a", "b", "run")
        self.said("train", "parity", "--model", "gru:hidden=2", "--steps", "1", "--length", "1..2", "--test-lengths", "2", "-o", path)
        self.assertEqual(sorted(os.listdir(path)), ["model.safetensors", "run.json"])
        self.assertEqual(os.listdir(os.path.dirname(path)), ["run"])

    def test_bounds_of_options_are_where_they_are_said_to_be(self):
        for inside in ({"rates": (10.0,)}, {"warm_up": 2000}, {"clip": 0.0}, {"weight_decay": 10.0}, {"test_words": 1}, {"length": (1, 1)}):
            replace(training.Options(), **inside).check()
        for outside in ({"rates": (10.01,)}, {"warm_up": 2001}, {"clip": -1e-9}, {"weight_decay": 10.01}, {"test_words": 0}, {"length": (0, 1)}):
            with self.assertRaises(ValueError):
                replace(training.Options(), **outside).check()

    def test_a_page_without_its_runs_stays_as_it_is(self):
        path, text = os.path.join(self.folder, "page.md"), "<!-- krohn.rivals fan2 -->\nold\n<!-- end -->\n"
        other = text.replace("fan2", "fan2 NoSuch")
        for written, cells in ((text, os.path.join(self.folder, "none")), (other, self.folder)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(written)
            self.said("page", path, "--cells", cells, status=2)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), written)


if __name__ == "__main__":
    unittest.main()
