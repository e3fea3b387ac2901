"""The rivals' rows of the papers' tables, every cell with several seeds.

What is measured is the scaled accuracy of the run with the least validation loss among the rates, at the paper's test length,
and how many seeds are right on every word there. `small` is a scale for two cores; `paper` is the protocol of the paper."""

import json
import math
import os
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Sequence, Tuple

from krohn.rivals import training
from krohn.rivals.training import Options


@dataclass(frozen=True)
class Row:
    name: str
    model: str
    """At the small scale."""
    paper: str
    """At the paper's."""
    rates: Sequence[float]
    """At the small scale: one, which nobody searched for."""


@dataclass(frozen=True)
class Table:
    source: str
    tasks: Sequence[str]
    rows: Sequence[Row]
    small: Options
    paper: Options
    reported: Dict[Tuple[str, str], str]
    """(row, task) ↦ the paper's figure, as it prints it."""
    note: str = ""


def stacked(name: str, family: str, rate: float, more: str = "", paper: Optional[str] = None) -> Row:
    options = f",{more}" if more else ""
    return Row(name, f"{family}:layers=1,width=32{options}", paper or f"{family}:layers=2,width=128{options}", (rate,))


GRAZZI_ROWS = (
    Row("Transformer", "transformer:layers=2,width=32", "transformer:layers=2,width=128", (1e-3,)),
    stacked("mLSTM", "mlstm", 3e-3),
    stacked("sLSTM", "slstm", 1e-2),
    stacked("Mamba [0, 1]", "mamba", 3e-3),
    stacked("Mamba [−1, 1]", "mamba", 3e-3, "signed=1"),
    # rows that the paper's table does not have
    Row("LSTM", "lstm:hidden=32", "lstm:hidden=128", (1e-2,)),
    Row("GRU", "gru:hidden=32", "gru:hidden=128", (1e-2,)),
    Row("Elman RNN", "rnn:hidden=32", "rnn:hidden=128", (3e-3,)),
    stacked("linear attention", "linear-attention", 3e-3),
    stacked("S4", "s4", 3e-3, "states=16"),
    stacked("S4D", "s4d", 3e-3, "states=16"),
    stacked("Liquid-S4", "liquid-s4", 3e-3, "states=16"),
    stacked("RWKV-4", "rwkv4", 3e-3),
)

FAN_ROWS = tuple(Row(name, f"{family}:layers=1,width=32,states=16", f"{family}:layers=1,width=512,states=64", (3e-3,))
                 for name, family in (("S4", "s4"), ("S4D", "s4d"), ("Liquid-S4", "liquid-s4")))  # fmt: skip

EBRAHIMI_ROWS = (
    Row("LSTM", "lstm:hidden=32", "lstm:hidden=256", (3e-3,)),
    Row("RNN", "rnn:hidden=32", "rnn:hidden=256", (1e-3,)),
    *(stacked(f"Mamba ({n})", "mamba", 3e-3, paper=f"mamba:layers={n},width=256") for n in (1, 2, 4)),
    *(Row(f"Transformer ({n})", f"transformer:layers={n},width=32", f"transformer:layers={n},width=256", (1e-3,)) for n in (1, 2, 4)),
)
EBRAHIMI_ROWS = tuple(replace(row, model=row.model.replace("layers=1", f"layers={row.name[-2]}")) if row.name.startswith("Mamba") else row
                      for row in EBRAHIMI_ROWS)  # fmt: skip

TABLES: Dict[str, Table] = {
    "grazzi5": Table(
        "Grazzi et al. 2025, Table 5 (median of three seeds)", ("parity",), GRAZZI_ROWS,
        Options(length=(3, 40), steps=1000, words=64, schedule="cosine", warm_up=100, least_rate=1e-6, test_lengths=(40, 256)),
        Options(length=(3, 40), steps=100_000, words=1024, rates=(1e-2, 1e-3, 5e-4, 1e-4), schedule="cosine", warm_up=10_000,
                least_rate=1e-6, weight_decay=0.1, stop_at=0, test_lengths=(40, 256), test_words=8192),
        {("Transformer", "parity"): "0.003 ± 0.013", ("mLSTM", "parity"): "0.018 ± 0.035", ("sLSTM", "parity"): "1.000 ± 0.000",
         ("Mamba [0, 1]", "parity"): "0.000 ± 0.000", ("Mamba [−1, 1]", "parity"): "1.000 ± 0.000"},
        "The paper's words are 40 to 256 letters long, these have 256."),
    "fan2": Table(
        "Fan et al. 2024, Table 2 (mean of five trials, the best test accuracy of each)", ("sum5", "evenpair5", "modarith5"), FAN_ROWS,
        Options(length=(1, 40), steps=2000, words=64, test_lengths=(39, 499)),
        Options(length=(1, 40), steps=40_000, words=128, rates=(1e-4,), stop_at=0, test_lengths=(39, 499)),
        {(row, task): figure for row, figures in (("S4", "0.27 0.81 0.27"), ("S4D", "0.27 0.82 0.27"), ("Liquid-S4", "0.27 0.72 0.27"))
         for task, figure in zip(("sum5", "evenpair5", "modarith5"), figures.split())},
        "The paper's figures are accuracies, of which 0.20 (0.50 for EvenPair) is chance; these are scaled, chance is 0."),
    "ebrahimi1": Table(
        "Ebrahimi & Memisevic 2025, Table 1, modular addition at 500 letters", ("modadd2", "modadd3", "modadd5", "modadd10"), EBRAHIMI_ROWS,
        Options(length=(2, 10), steps=3000, words=64, test_lengths=(10, 500)),
        Options(length=(2, 10), steps=100_000, words=64, rates=(1e-3, 1e-4, 1e-5), test_lengths=(10, 500)),
        {("Transformer (1)", task): figure for task, figure in
         zip(("modadd2", "modadd3", "modadd5", "modadd10"), ("0.03", "0.01", "0.01", "0.00"))}),
}  # fmt: skip


def interval(successes: int, runs: int) -> Tuple[float, float]:
    """Wilson's interval of 95 % for a share."""
    z = 1.959964
    share, size = successes / runs, 1 + z * z / runs
    middle, half = share + z * z / (2 * runs), z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return max(0.0, (middle - half) / size), min(1.0, (middle + half) / size)


def cell_file(folder: str, row: str, task: str, seed: int) -> str:
    plain = "".join(c if c.isalnum() else "-" for c in row.replace("−", "minus"))
    return os.path.join(folder, f"{plain}.{task}.seed={seed}.json")


def cell(table: Table, row: Row, task: str, seed: int, scale: str, folder: str) -> Dict[str, Any]:
    """The figures of one run of one cell; from its file where that is there and of the same options."""
    options = replace(table.paper, seed=seed) if scale == "paper" else replace(table.small, seed=seed, rates=tuple(row.rates))
    model = row.paper if scale == "paper" else row.model
    asked = {"task": task, "model": model, "scale": scale, "options": json.loads(json.dumps(vars(options)))}
    path = cell_file(folder, row.name, task, seed)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
        if {key: facts.get(key) for key in asked} != asked:
            raise ValueError(f"{path}: made by other options; give another folder, or remove it")
        return facts
    runs = [training.train_one(model, task, rate, seed, options)[1] for rate in options.rates]
    best = min(runs, key=lambda run: run.validation_loss)
    facts = {**asked, "run": json.loads(json.dumps(best, default=vars))}
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1, ensure_ascii=False)
    os.replace(path + ".part", path)
    return facts


def run(name: str, folder: str, seeds: int, seed: int, only: str, scale: str) -> str:
    """Trains what is missing and returns the table as Markdown."""
    table = TABLES[name]
    os.makedirs(folder, exist_ok=True)
    options = table.paper if scale == "paper" else table.small
    short, long = options.test_lengths[0], options.test_lengths[-1]
    lines = [f"| model | task | at {short} | at {long} | every word right at {long} | 95 % of | {table.source.split(',')[0]} |", "|---|---|---|---|---|---|---|"]
    for row in (row for row in table.rows if only in row.name):
        for task in table.tasks:
            cells = [cell(table, row, task, seed + i, scale, folder) for i in range(seeds)]
            tests: List[Dict[int, Dict[str, Any]]] = [{score["length"]: score for score in each["run"]["test"]} for each in cells]
            held = sum(test[long]["words_right"] == test[long]["words"] for test in tests)
            low, high = interval(held, seeds)
            lines.append(f"| {row.name} | {task} | {summary([test[short]['scaled_accuracy'] for test in tests])} | "
                         f"{summary([test[long]['scaled_accuracy'] for test in tests])} | {held} of {seeds} | "
                         f"{low:.2f} … {high:.2f} | {table.reported.get((row.name, task), '–')} |")  # fmt: skip
            print(lines[-1], flush=True)
    lines.append("")
    lines.append(f"{table.source}. {table.note}".strip())
    return "\n".join(lines)


def summary(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1))
    return f"{mean:.3f} ± {spread:.3f}"
