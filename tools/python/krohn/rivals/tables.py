"""Runs the cells of a paper's table, several seeds each, keeps a line of every run, and says what came out.

What is measured is the run with the least validation loss among the rates: its scaled accuracy at every test length, and whether it is
right on every word of the last one.

Tables stand inside pages: what is between `<!-- krohn.rivals NAME -->`, or for the cells whose "row, column" have a text
`<!-- krohn.rivals NAME TEXT -->`, and `<!-- end -->` is made from the folders of their cells, the rest of a page is its writer's."""

import glob
import json
import math
import os
import re
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from krohn.rivals import models, papers, training
from krohn.rivals.papers import Cell, Table

MARKED = re.compile(r"(<!-- krohn\.rivals (\S+)(?: ([^\n]+))? -->\n).*?(<!-- end -->)", re.DOTALL)


def interval(successes: float, runs: int) -> Tuple[float, float]:
    """Wilson's interval of 95 % for a share."""
    z = 1.959964
    share, size = successes / runs, 1 + z * z / runs
    middle, half = share + z * z / (2 * runs), z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return max(0.0, (middle - half) / size), min(1.0, (middle + half) / size)


def asked_of(cell: Cell, seed: int) -> Dict[str, Any]:
    """The source that a kept run must have been made by: another package's layer is another model of the same name."""
    source = models.FAMILIES[models.parse(cell.model)[0]].source
    return {"cell": cell.stem, "task": cell.task, "model": cell.model, "source": source,
            "options": json.loads(json.dumps(vars(replace(cell.options, seed=seed))))}  # fmt: skip


class Kept:
    """The runs of a folder, a line of JSON each. Every share of the runs has a file of its own, so that processes that share a folder
    write into different ones; `runs.jsonl` has those of the whole list, and files that are put together are one, too."""

    def __init__(self, folder: str, shard: str = ""):
        """Reads them all. Raises ValueError for a line that is no run, saying which."""
        self.path = os.path.join(folder, f"runs.{shard.replace('/', '-of-')}.jsonl" if shard else "runs.jsonl")
        self.runs: Dict[Tuple[str, int], Tuple[str, Dict[str, Any]]] = {}
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.jsonl"))):
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if line.endswith("\n"):  # without, its writer was stopped in the middle of it
                        self._read(f"{path}:{number}", line)

    def _read(self, place: str, line: str) -> None:
        try:
            facts = json.loads(line)
            self.runs.setdefault((facts["cell"], facts["options"]["seed"]), (place, facts))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{place}: no run of krohn.rivals; remove the line") from error

    def run(self, cell: Cell, seed: int) -> Optional[Dict[str, Any]]:
        """None where it is not there yet. Raises ValueError where it was made by other options."""
        place, facts = self.runs.get((cell.stem, seed), ("", {}))
        if not place:
            return None
        made = {**facts, "options": {**json.loads(json.dumps(vars(training.Options()))), **facts["options"]}}
        run = made.pop("run", None)
        if run is None or made != asked_of(cell, seed):
            raise ValueError(f"{place}: made by other options, or by another package's model; give another folder, or remove the line")
        return run

    def add(self, cell: Cell, seed: int, run: Dict[str, Any]) -> None:
        """In one write at the end of the file."""
        facts = {**asked_of(cell, seed), "run": run}
        line = json.dumps(facts, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with open(self.path, "ab+", buffering=0) as file:
            file.seek(0)
            before = file.read()
            if before and not before.endswith(b"\n"):  # the last line was not written to its end
                file.truncate(before.rfind(b"\n") + 1)
            file.write(line)
        self.runs[cell.stem, seed] = (self.path, facts)


def run_once(cell: Cell, seed: int) -> Dict[str, Any]:
    """Trains and measures one run of one cell."""
    options = replace(cell.options, seed=seed)
    runs = [training.train_one(cell.model, cell.task, rate, seed, options)[1] for rate in options.rates]
    return json.loads(json.dumps(training.facts_of(min(runs, key=lambda each: each.validation_loss)), allow_nan=False))


@dataclass(frozen=True)
class Result:
    """A cell and those of its runs that there are."""

    cell: Cell
    runs: Sequence[Dict[str, Any]]

    def figures(self, length: int, whole_words: bool = False) -> List[float]:
        """Every run's result at a length: scaled accuracy, or the share of words that are right at every answer."""
        return [test["words_right"] / test["words"] if whole_words else test["scaled_accuracy"]
                for run in self.runs for test in run["test"] if test["length"] == length]  # fmt: skip

    def holding(self) -> int:
        """Runs that are right on every word of the last length."""
        last = self.cell.options.test_lengths[-1]
        return sum(test["words_right"] == test["words"] for run in self.runs for test in run["test"] if test["length"] == last)


def results(table: Table, folder: str, seeds: Sequence[int]) -> List[Result]:
    """Returns the cells in the folder; nothing is trained."""
    kept = Kept(folder)
    return [Result(cell, [run for seed in seeds for run in [kept.run(cell, seed)] if run is not None]) for cell in table.cells]


def shard_of(text: str) -> Tuple[int, int]:
    """"2/3" ↦ (2, 3). Raises ValueError."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ValueError(f"--shard {text}: I/N, the I-th of N shares")
    return int(part), int(parts)


def train(table: Table, folder: str, seeds: Sequence[int], shard: str = "", progress: Callable[[str], None] = lambda line: None) -> None:
    """Trains what is missing, or every N-th run of the list for one share. Models that cannot be trained here are left out, and
    `progress` is told why."""
    os.makedirs(folder, exist_ok=True)
    part, parts = shard_of(shard) if shard else (1, 1)
    kept = Kept(folder, shard)
    runs = [(cell, seed) for cell in table.cells for seed in seeds]
    unable: Dict[str, str] = {}
    for place, (cell, seed) in enumerate(runs):
        if place % parts != part - 1:
            continue
        family = cell.model.split(":")[0]
        if family not in unable:
            unable[family] = models.obstacle(cell.model)
            if unable[family]:
                progress(f"{cell.model} is left out: {unable[family]}")
        if not unable[family] and kept.run(cell, seed) is None:
            run = run_once(cell, seed)
            kept.add(cell, seed, run)
            progress(f"{place + 1} of {len(runs)}: {cell.row}, {cell.column}, seed {seed}: {run['test'][-1]['scaled_accuracy']:.3f} "
                     f"at {run['test'][-1]['length']}")  # fmt: skip


def summary(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1))
    return f"{mean:.3f} ± {spread:.3f}"


def markdown(table: Table, found: Sequence[Result]) -> str:
    """A line for every cell that has runs, and what has none."""
    rows = [result for result in found if result.runs]
    lines = []
    if rows:
        figures = "shares of words" if table.whole_words else ""
        lines = [f"| | {figures} | short | long | every word right | 95 % of | {table.authors} |", "|---|---|---|---|---|---|---|"]
    for result in rows:
        cell, runs = result.cell, len(result.runs)
        short, long = cell.options.test_lengths[0], cell.options.test_lengths[-1]
        low, high = interval(result.holding(), runs)
        shown = (f"{summary(result.figures(length, table.whole_words))} at {length}" for length in (short, long))
        lines.append(f"| {cell.row} | {cell.column} | {' | '.join(shown)} | {result.holding()} of {runs} | {low:.2f} … {high:.2f} | "
                     f"{cell.paper or '–'} |")  # fmt: skip
    lines += ["", f"{table.source}. {table.note}".strip()]
    missing: Dict[str, List[str]] = {}  # row ↦ columns
    for result in (each for each in found if not each.runs):
        missing.setdefault(result.cell.row, []).append(result.cell.column)
    rows_of: Dict[str, List[str]] = {}
    for row, columns in missing.items():
        rows_of.setdefault(", ".join(columns), []).append(row)
    if missing:
        count = sum(map(len, missing.values()))
        named = ". ".join(f"{'; '.join(rows)}: {columns}" for columns, rows in rows_of.items())
        lines += ["", f"Not run, {count} of {len(found)} cells. {named}."]
    return "\n".join(lines)


def as_krohn_has_them(table: Table, found: Sequence[Result], seeds: Sequence[int]) -> List[Dict[str, Any]]:
    """The cells that have runs, as `krohn table --json` has its own."""
    cells = []
    for result in (each for each in found if each.runs):
        cell = result.cell
        losses = [math.inf if run["validation_loss"] is None else run["validation_loss"] for run in result.runs]
        best = min(range(len(losses)), key=lambda i: losses[i])
        last = cell.options.test_lengths[-1]
        facts: Dict[str, Any] = {"row": cell.row, "column": cell.column, "task": cell.task, "model": f"torch:{cell.model}",
                                 "trained": "by PyTorch", "seeds": list(seeds), "paper_length": last}  # fmt: skip
        if cell.figure is not None:
            facts["paper"] = cell.figure
        facts["runs"] = [{**{key: run[key] for key in ("rate", "seed", "steps", "validation_loss", "seconds")},
                          "end": run["state"], "at": measured(cell, run["test"][-1])} for run in result.runs]  # fmt: skip
        facts.update(best=best, lengths=[measured(cell, test) for test in result.runs[best]["test"]], holding_runs=result.holding(),
                     reading="as trained", claim="", claim_length=0, snapped="",
                     seconds=sum(run["seconds"] for run in result.runs))  # fmt: skip
        cells.append(facts)
    return cells


def measured(cell: Cell, test: Dict[str, Any]) -> Dict[str, Any]:
    chance = training.batch_of(cell.task, 1, cell.options.length, 0, 0)[2].chance
    words = test["words"]  # as krohn counts: several answers of a word are not independent
    low, high = ((share - chance) / (1 - chance) for share in interval(test["right"] / test["answers"] * words, words))
    return {"length": test["length"], "words": words, "scaled_accuracy": test["scaled_accuracy"], "low": low, "high": high,
            "words_right": test["words_right"] / words}  # fmt: skip


def run(name: str, folder: str, seeds: int, seed: int, only: str, scale: str, shard: str = "",
        progress: Callable[[str], None] = lambda line: None) -> Tuple[Table, List[Result]]:  # fmt: skip
    """Trains what is missing of a table, and says what there is then."""
    table = papers.table(name, scale, only)
    if not table.cells:
        raise ValueError(f"--only: no rival's cell of {name} has {only!r} in its name")
    if seeds < 1 or seed < 0:
        raise ValueError("--seeds is at least 1, --seed at least 0")
    chosen = range(seed, seed + seeds)
    train(table, folder, chosen, shard, progress)
    return table, results(table, folder, chosen)


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
        return place[1] + markdown(table, results(table, os.path.join(cells, place[2]), seeds)) + "\n" + place[4]

    return MARKED.sub(table_of, text)


def rewrite(path: str, cells: str, seeds: Sequence[int]) -> None:
    with open(path, encoding="utf-8") as file:
        text = rewritten(file.read(), cells, seeds)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
