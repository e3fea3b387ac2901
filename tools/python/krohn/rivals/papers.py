"""The papers' tables as lists of cells: what is trained, on what, and the papers' figures as they print them.

Rows and columns are named as `krohn table` names its own. `small` is a scale for two cores; at `paper`, the paper's protocol."""

import re
from dataclasses import dataclass, replace
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from krohn.rivals.training import Options


@dataclass(frozen=True)
class Cell:
    row: str
    column: str
    stem: str
    """The beginning of the names of its files."""
    task: str
    model: str
    options: Options
    """Test lengths: those of training, where there are some, and last the paper's."""
    paper: str = ""
    """Its figure, as it prints it; of lengths of training → of the test where it has both."""
    figure: Optional[float] = None
    """The same at the length of the test, as a number."""


@dataclass(frozen=True)
class Table:
    source: str
    cells: Sequence[Cell]
    note: str = ""
    whole_words: bool = False
    """The paper counts words whose answers are all right."""

    @property
    def authors(self) -> str:
        return self.source.split(",")[0]


@dataclass(frozen=True)
class Model:
    name: str
    small: str
    paper: str
    rate: float
    """At the small scale, which nobody searched for."""


def stem_of(model: str, task: str) -> str:
    return ".".join("".join(c if c.isalnum() else "-" for c in text) for text in (model, task))


def stacked(name: str, family: str, rate: float, more: str = "") -> Model:
    options = f",{more}" if more else ""
    return Model(name, f"{family}:layers=1,width=32{options}", f"{family}:layers=2,width=128{options}", rate)


# The first five and DeltaNet's are the paper's; krohn trains Mamba's and DeltaNet's recurrences itself, these are the layers as published.
GRAZZI = (
    Model("Transformer", "transformer:layers=2,width=32", "transformer:layers=2,width=128", 1e-3),
    stacked("mLSTM", "mlstm", 3e-3),
    stacked("sLSTM", "slstm", 1e-2),
    stacked("Mamba [0, 1]", "mamba", 3e-3),
    stacked("Mamba [-1, 1]", "mamba", 3e-3, "signed=1"),
    stacked("fla's DeltaNet [0, 1]", "deltanet", 3e-3),
    stacked("fla's DeltaNet [-1, 1]", "deltanet", 3e-3, "signed=1"),
    stacked("fla's DeltaProduct [-1, 1]", "deltaproduct", 3e-3, "signed=1"),
    Model("full matrix", "full-matrix:size=8", "full-matrix:size=32", 3e-3),
    Model("LSTM", "lstm:hidden=32", "lstm:hidden=128", 1e-2),
    Model("GRU", "gru:hidden=32", "gru:hidden=128", 1e-2),
    Model("Elman RNN", "rnn:hidden=32", "rnn:hidden=128", 3e-3),
    stacked("linear attention", "linear-attention", 3e-3),
    stacked("S4", "s4", 3e-3, "states=16"),
    stacked("S4D", "s4d", 3e-3, "states=16"),
    stacked("Liquid-S4", "liquid-s4", 3e-3, "states=16"),
    stacked("RWKV-4", "rwkv4", 3e-3),
    stacked("RWKV-7", "rwkv7", 3e-3),
)

# Table 5, medians of three seeds, and Table 3, the best of them: parity, modular arithmetic without and with brackets.
GRAZZI_FIGURES = {
    "Transformer": (("0.003 ± 0.013", "0.018 ± 0.009", "0.025 ± 0.000"), ("0.022", "0.031", "0.025")),
    "mLSTM": (("0.018 ± 0.035", "0.027 ± 0.013", "0.034 ± 0.001"), ("0.087", "0.040", "0.034")),
    "sLSTM": (("1.000 ± 0.000", "0.124 ± 0.000", "0.153 ± 0.020"), ("1.000", "0.787", "0.173")),
    "Mamba [0, 1]": (("0.000 ± 0.000", "0.066 ± 0.029", "0.072 ± 0.008"), ("0.000", "0.095", "0.092")),
    "Mamba [-1, 1]": (("1.000 ± 0.000", "0.214 ± 0.027", "0.126 ± 0.010"), ("1.000", "0.241", "0.136")),
    "fla's DeltaNet [0, 1]": (("0.010 ± 0.005", "0.214 ± 0.056", "0.113 ± 0.009"), ("0.017", "0.314", "0.137")),
    "fla's DeltaNet [-1, 1]": (("0.999 ± 0.006", "0.826 ± 0.146", "0.129 ± 0.016"), ("1.000", "0.971", "0.200")),
}  # fmt: skip

GRAZZI_TASKS = (("parity", "parity"), ("modular arithmetic without brackets", "modarith-equals5"),
                ("modular arithmetic with brackets", "modarith-brackets5"))  # fmt: skip


def deeper(model: Model, layers: int) -> Model:
    """With so many layers at the paper's scale, two at the small one; xLSTM narrower, as E.1.1 says."""
    name = model.paper
    if name.startswith(("mlstm", "slstm")):
        name = name.replace("width=128", "width=64,heads=1")
    if name.startswith(("lstm", "gru", "rnn")):
        return replace(model, small=model.small + ",layers=2", paper=f"{name},layers={layers}")
    return replace(model, small=model.small.replace("layers=1", "layers=2"), paper=name.replace("layers=2", f"layers={layers}"))


def grazzi5(is_paper: bool, is_best: bool = False) -> Table:
    """Table 5, or Table 3, which has the best of the same runs."""
    small = Options(length=(3, 40), steps=1000, words=64, schedule="cosine", warm_up=100, least_rate=1e-6, test_lengths=(40, 256))
    paper = Options(length=(3, 40), steps=100_000, words=1024, rates=(1e-2, 1e-3, 5e-4, 1e-4), schedule="cosine", warm_up=10_000,
                    least_rate=1e-6, weight_decay=0.1, stop_at=0, test_lengths=(40, 256), test_words=8192)  # fmt: skip
    cells = []
    for place, (row, task) in enumerate(GRAZZI_TASKS):
        for model in GRAZZI:
            options = replace(paper, words=512) if is_paper and model.name == "mLSTM" else paper if is_paper else small
            if place > 0:
                model = deeper(model, 3)
                is_clipped = model.name == "Transformer" or "Mamba" in model.name or "Delta" in model.name
                options = replace(options, clip=1.0 if is_clipped else 0.0, **({} if is_paper else {"steps": 2000, "warm_up": 200}))
            options = options if is_paper else replace(options, rates=(model.rate,))
            figures = GRAZZI_FIGURES.get(model.name)
            text = f"{figures[0][place]}, best {figures[1][place]}" if figures else ""
            cells.append(Cell(row, model.name, stem_of(model.name, task), task, model.paper if is_paper else model.small, options, text,
                              float(figures[is_best][place].split()[0]) if figures else None))  # fmt: skip
    return Table("Grazzi et al. 2025, Tables 5 and 3 (median and best of three seeds)", cells,
                 "The paper's words are 40 to 256 letters long, these have 256.")  # fmt: skip


Setup = Tuple[str, str, Tuple[int, int]]
"""A row, its task, lengths of training."""


def grazzi_figure2(is_paper: bool) -> Table:
    setups: List[Setup]
    if is_paper:
        setups = [("S_5, only swaps", "S5/swaps", (32, 32)), ("S_5, swaps and 3-cycles", "S5/swaps and 3-cycles", (32, 32)),
                  ("S_5, 4 tokens per transition", "S5/tokens=4", (64, 64)), ("S_5", "S5", (32, 32))]  # fmt: skip
    else:
        setups = [("S_3, only swaps", "S3/swaps", (2, 32)), ("S_5, only swaps", "S5/swaps", (2, 48)),
                  ("S_4, swaps and 3-cycles", "S4/swaps and 3-cycles", (2, 12)), ("S_3", "S3", (2, 32)),
                  ("S_3, 2 tokens per transition", "S3/tokens=2", (4, 32)), ("S_4", "S4", (2, 16)), ("Z_12", "Z12", (2, 16)),
                  ("Z_12, 2 tokens per transition", "Z12/tokens=2", (4, 32))]  # fmt: skip
    cells = word_problems(setups, is_paper)
    return Table("Grazzi et al. 2025, Figures 2 and 5 (drawn without numbers)", cells, whole_words=True)


def grazzi_figure6(is_paper: bool) -> Table:
    setups: List[Setup] = [("Z_60", "Z60", (32, 32) if is_paper else (2, 32)),
                           ("Z_60, 2 tokens per transition", "Z60/tokens=2", (64, 64) if is_paper else (2, 64))]  # fmt: skip
    return Table("Grazzi et al. 2025, Figure 6 (drawn without numbers)", word_problems(setups, is_paper), whole_words=True)


def word_problems(setups: Sequence[Setup], is_paper: bool) -> List[Cell]:
    """Mamba's rows, DeltaNet's, and the full matrix."""
    names = [model for model in GRAZZI if "Mamba" in model.name or "Delta" in model.name or model.name == "full matrix"]
    cells = []
    for row, task, length in setups:
        for model in names:
            lengths = (8, 16, 32, 64, 128, 256, 500)
            if is_paper:
                options = Options(length=length, steps=100 * (1_600_000 // 512), words=512, rates=(1e-4,), weight_decay=0.01, clip=1.0,
                                  stop_at=0, samples=1_600_000, sample_seed=1, test_lengths=lengths, test_words=40_000)  # fmt: skip
            else:
                options = Options(length=length, steps=2000, rates=(model.rate,), clip=1.0, schedule="cosine", warm_up=100,
                                  test_lengths=lengths)  # fmt: skip
            name = model.paper.replace("layers=2", "layers=5") if is_paper else model.small
            name += ",taps=0" if name.startswith("delta") else ""
            cells.append(Cell(row, model.name, stem_of(model.name, task), task, name, options))
    return cells


FAN_TASKS = (("Sum(5)", "sum5", 40, 500), ("EvenPair(5)", "evenpair5", 40, 500), ("ModArith(5)", "modarith5", 39, 499))
FAN = (("S4", "s4", ("0.27", "0.81", "0.27")), ("S4D", "s4d", ("0.27", "0.82", "0.27")),
       ("Liquid-S4", "liquid-s4", ("0.27", "0.72", "0.27")), ("RWKV-4", "rwkv4", None), ("vanilla LRNN", "lrnn", None))  # fmt: skip


def fan2(is_paper: bool) -> Table:
    cells = []
    for place, (row, task, short, long) in enumerate(FAN_TASKS):
        for name, family, figures in FAN:
            states = "" if family == "rwkv4" else f",states={64 if is_paper else 16}"
            model = f"{family}:layers=1,width={512 if is_paper else 32}{states}"
            if is_paper:
                options = Options(length=(short, short), steps=40_000, words=128, rates=(1e-4,), stop_at=0, test_lengths=(short, long))
            else:
                options = Options(length=(1, short), steps=1000, words=64, rates=(3e-3,), test_lengths=(short, long))
            chance = 0.5 if task == "evenpair5" else 0.2
            figure = (float(figures[place]) - chance) / (1 - chance) if figures else None
            text = f"{figures[place]}: {figure:.2f} scaled" if figures else "behind S4, says its text"
            cells.append(Cell(row, name, stem_of(name, task), task, model, options, text, figure))
    return Table("Fan et al. 2024, Table 2 (mean of five trials, the best test accuracy of each)", cells,
                 "The paper's figures are accuracies, of which 0.20 (0.50 for EvenPair) is chance; these are scaled, chance is 0. Four words in five of "
                 "EvenPair(5) end in another letter than they begin with: who always says so has 0.80, 0.60 scaled.")


MODULI = (2, 3, 5, 10, 25, 50)
EBRAHIMI_TASKS = (("modular addition", "modadd{}"), ("state machine", "rsm:m={},seed=1"), ("modular arithmetic", "ltrarith{}"))
EBRAHIMI = (
    Model("LSTM", "lstm:hidden=32", "lstm:hidden=256", 3e-3),
    Model("RNN", "rnn:hidden=32", "rnn:hidden=256", 1e-3),
    *(Model(f"Mamba ({n})", f"mamba:layers={n},width=32", f"mamba:layers={n},width=256", 3e-3) for n in (1, 2, 4)),
    *(Model(f"Transformer ({n})", f"transformer:layers={n},width=32", f"transformer:layers={n},width=256", 1e-3) for n in (1, 2, 4)),
)

# Table 1: accuracy at 2 to 10 inputs, then at 500, by modulus.
EBRAHIMI_FIGURES = {
    "modular addition": """
        LSTM            1.00 1.00 1.00 1.00 1.00 0.99   1.00 1.00 0.98 1.00 0.00 0.02
        RNN             1.00 1.00 1.00 1.00 1.00 1.00   1.00 1.00 1.00 0.98 0.37 0.07
        Mamba (1)       0.99 0.92 0.96 0.85 0.74 0.61   0.00 0.01 0.01 0.00 0.00 0.00
        Mamba (2)       1.00 1.00 1.00 1.00 1.00 1.00   0.00 0.02 0.01 0.00 0.00 0.00
        Mamba (4)       1.00 1.00 1.00 1.00 1.00 0.47   0.01 0.01 0.00 0.01 0.00 0.00
        Transformer (1) 1.00 1.00 1.00 0.47 0.98 0.19   0.03 0.01 0.01 0.00 0.00 0.00
        Transformer (2) 1.00 1.00 1.00 0.99 0.89 0.00   0.01 0.02 0.00 0.00 0.00 0.00
        Transformer (4) 1.00 1.00 1.00 0.99 0.92 0.02   0.04 0.00 0.00 0.00 0.01 0.00""",
    "state machine": """
        LSTM            1.00 1.00 1.00 1.00 1.00 0.30   1.00 1.00 1.00 1.00 0.64 0.09
        RNN             1.00 1.00 1.00 1.00 0.41 0.18   1.00 1.00 1.00 0.99 0.19 0.07
        Mamba (1)       1.00 1.00 0.96 0.55 0.34 0.19   0.00 0.99 0.87 0.31 0.16 0.07
        Mamba (2)       1.00 1.00 1.00 0.79 0.44 0.30   0.00 1.00 0.96 0.42 0.18 0.09
        Mamba (4)       1.00 1.00 1.00 0.99 0.62 0.41   0.03 0.99 0.97 0.47 0.24 0.10
        Transformer (1) 1.00 0.94 0.83 0.46 0.27 0.18   0.03 0.01 0.02 0.01 0.00 0.00
        Transformer (2) 1.00 1.00 0.97 0.61 0.39 0.17   0.01 0.01 0.01 0.01 0.00 0.00
        Transformer (4) 1.00 1.00 1.00 0.84 0.49 0.17   0.00 0.02 0.01 0.00 0.00 0.00""",
    "modular arithmetic": """
        LSTM            1.00 1.00 1.00 1.00 1.00 0.90   1.00 1.00 1.00 1.00 0.99 0.64
        RNN             1.00 1.00 1.00 1.00 0.82 0.22   1.00 1.00 1.00 1.00 0.55 0.16
        Mamba (1)       0.99 0.83 0.56 0.59 0.24 0.14   0.74 0.55 0.29 0.32 0.08 0.08
        Mamba (2)       1.00 0.99 0.80 0.93 0.35 0.33   0.85 0.38 0.41 0.29 0.11 0.07
        Mamba (4)       1.00 1.00 0.99 0.99 0.55 0.29   0.92 0.75 0.48 0.51 0.17 0.09
        Transformer (1) 0.88 0.63 0.46 0.32 0.10 0.08   0.19 0.02 0.04 0.01 0.03 0.01
        Transformer (2) 1.00 0.97 0.81 0.32 0.11 0.08   0.19 0.15 0.05 0.04 0.02 0.01
        Transformer (4) 1.00 0.99 0.75 0.32 0.07 0.08   0.19 0.12 0.03 0.03 0.02 0.03""",
}


def ebrahimi_figures(task: str) -> Dict[str, List[Tuple[str, str]]]:
    """Model ↦ (at 2 to 10 inputs, at 500) of every modulus."""
    figures = {}
    for words in (line.split() for line in EBRAHIMI_FIGURES[task].strip().splitlines()):
        figures[" ".join(words[:-12])] = list(zip(words[-12:-6], words[-6:]))
    return figures


def ebrahimi_options(is_paper: bool, rate: float) -> Options:
    if is_paper:
        return Options(length=(2, 10), steps=100_000, words=64, rates=(1e-3, 1e-4, 1e-5), test_lengths=(10, 500))
    return Options(length=(2, 10), steps=3000, words=64, rates=(rate,), test_lengths=(10, 500))


def ebrahimi1(is_paper: bool) -> Table:
    cells = []
    for part, task in EBRAHIMI_TASKS:
        figures = ebrahimi_figures(part)
        for model in EBRAHIMI:
            for place, modulus in enumerate(MODULI):
                short, long = figures[model.name][place]
                named = task.format(modulus)
                cells.append(Cell(f"{part}, {model.name}", f"m = {modulus}", stem_of(model.name, named), named,
                                  model.paper if is_paper else model.small, ebrahimi_options(is_paper, model.rate),
                                  f"{short} → {long}", float(long)))  # fmt: skip
    return Table("Ebrahimi & Memisevic 2025, Table 1", cells,
                 "The paper's figures are at 2 to 10 inputs → at 500; ours at 10 and at 500.")  # fmt: skip


def ebrahimi_figure2(is_paper: bool) -> Table:
    """LSTM on a fixed number of words of 2 to 10 inputs, as often as krohn's own rows."""
    cells = []
    for part, task in EBRAHIMI_TASKS:
        samples = 16
        while samples <= (65_536 if is_paper else 4096):
            batches = max(1, samples // 64)
            steps = 1000 * batches if is_paper else min(max(1000 * batches, 4000), 12_000)
            options = replace(ebrahimi_options(is_paper, 3e-3), samples=samples, steps=steps)
            named = task.format(5)
            cells.append(Cell(f"{part}, LSTM", f"{samples} words", stem_of(f"LSTM-{samples}", named), named,
                              "lstm:hidden=256" if is_paper else "lstm:hidden=32", options))  # fmt: skip
            samples *= 2 if is_paper else 4
    return Table("Ebrahimi & Memisevic 2025, Figure 2 (drawn without numbers)", cells)


TABLES: Dict[str, Callable[[bool], Table]] = {
    "ebrahimi1": ebrahimi1, "ebrahimi-figure2": ebrahimi_figure2, "fan2": fan2, "grazzi3": lambda is_paper: grazzi5(is_paper, is_best=True), "grazzi5": grazzi5,
    "grazzi-figure2": grazzi_figure2, "grazzi-figure5": grazzi_figure2, "grazzi-figure6": grazzi_figure6,
}  # fmt: skip
"""Tables 3 and 5 are of the same runs, and so are Figures 2 and 5."""


COUNTS = {"steps": "steps", "words": "words", "samples": "samples", "test-words": "test_words"}
"""Sizes that are numbers of the options."""
SIZES = (*COUNTS, "rates", "width")
WIDTH = re.compile(r"\b(width|hidden|size)=(\d+)")


def parse_scale(text: str) -> Tuple[bool, Dict[str, str]]:
    """"paper,steps=8000,rates=1e-3,1e-4" ↦ (True, {"steps": "8000", "rates": "1e-3,1e-4"}), as `krohn table` reads it. Raises
    ValueError listing the sizes."""
    scale, *items = text.split(",")
    if scale not in ("small", "paper"):
        raise ValueError(f"--scale {text!r}: small or paper comes first, then sizes: paper,steps=8000")
    changes: Dict[str, str] = {}
    last = ""
    for item in items:
        key, is_new, value = item.partition("=")
        if not is_new and last == "rates" and key:
            changes[last] += f",{key}"
        elif key not in SIZES:
            raise ValueError(f"--scale: {key!r} is no size of the rivals; there are {', '.join(SIZES)}")
        elif not value or key in changes:
            raise ValueError(f"--scale: {item!r}: KEY=NUMBER is expected, once")
        else:
            last, changes[key] = key, value
    return scale == "paper", changes


def count_of(key: str, value: str) -> int:
    try:
        count = float(value)
    except ValueError:
        count = 0.0
    if not (1 <= count < 1e15 and count == int(count)):
        raise ValueError(f"--scale: {key}={value}: a whole number above 0, or paper, is expected")
    return int(count)


def rates_of(value: str) -> Tuple[float, ...]:
    try:
        rates = tuple(float(part) for part in value.split(","))
    except ValueError:
        rates = (0.0,)
    if not all(0 < rate < float("inf") for rate in rates):
        raise ValueError(f"--scale: rates={value}: numbers above 0, or paper, are expected")
    return rates


def changed(cell: Cell, changes: Dict[str, str], paper: Optional[Cell]) -> Cell:
    """The cell with these sizes; `paper` is what the paper's scale has in its place. A warm-up keeps its share of the steps."""
    options, model = cell.options, cell.model
    for key, value in changes.items():
        if value == "paper" and paper is None:
            raise ValueError(f"--scale: {key}=paper: the paper has no cell {cell.row}, {cell.column}")
        if key == "rates":
            options = replace(options, rates=paper.options.rates if value == "paper" else rates_of(value))
        elif key == "width":
            found = WIDTH.search(paper.model) if value == "paper" else None
            model = WIDTH.sub(rf"\g<1>={found.group(2) if found else count_of(key, value)}", model)
        else:
            name = COUNTS[key]
            count = getattr(paper.options, name) if value == "paper" else count_of(key, value)
            if key == "samples" and options.samples == 0:
                raise ValueError(f"--scale: samples: {cell.row}, {cell.column} has new ones at every step")
            if key == "steps":
                options = replace(options, warm_up=options.warm_up * count // options.steps)
            options = replace(options, **{name: count})
    return replace(cell, options=options, model=model)


def is_chosen(cell: str, only: str) -> bool:
    """Whether a cell's "row, column" has the text; with "$" behind it, whether it ends with it: "m = 5" is in "m = 50", too."""
    return cell.endswith(only[:-1]) if only.endswith("$") else only in cell


def table(name: str, scale: str = "small", only: str = "") -> Table:
    """The cells that are chosen; `scale` as `krohn table` takes it, "paper,steps=8000". Raises ValueError naming the tables, or the
    sizes."""
    if name not in TABLES:
        raise ValueError(f"no rival is in a table {name!r}; they are in {', '.join(TABLES)}")
    is_paper, changes = parse_scale(scale)
    found = TABLES[name](is_paper)
    cells = [cell for cell in found.cells if is_chosen(f"{cell.row}, {cell.column}", only)]
    if changes:
        if "samples" in changes and len({cell.options.samples for cell in TABLES[name](True).cells}) > 1:
            raise ValueError(f"--scale: samples is what the cells of {name} are about, and cannot be one number for all")
        of_paper = {(cell.row, cell.column): cell for cell in TABLES[name](True).cells}
        cells = [changed(cell, changes, of_paper.get((cell.row, cell.column))) for cell in cells]
    return replace(found, cells=cells)
