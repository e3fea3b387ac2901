"""What several peers need: the command, the models that it writes as folders of tokens, and Triton's interpreter."""
import json
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def krohn(*arguments, statuses=(0,)):
    """Returns what the command in build/ prints; where it fails, ends with its message."""
    command = ROOT / "build" / "tools" / "krohn" / "krohn"
    outcome = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    if outcome.returncode not in statuses:
        raise SystemExit(outcome.stderr)
    return outcome.stdout


def processor_seconds(call):
    """Returns the processor time of the processes that a call starts, and what it gives."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, given


def kernel_device():
    """The device of flash-linear-attention's kernels: without a GPU they run in Triton's interpreter, each in the first of its
    configurations, as tuning measures on a device. To be called before the library is imported."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    os.environ["TRITON_INTERPRET"] = "1"
    from triton.runtime.autotuner import Autotuner

    construct = Autotuner.__init__
    Autotuner.__init__ = lambda self, fn, names, configs, *rest, **named: construct(self, fn, names, configs[:1], *rest, **named)
    return "cpu"


class Index(int):
    """A loop's index as kernels see it on a device: with a type to convert to."""

    def to(self, _):
        return self


def give_types_to_indices():
    """The interpreter loops over plain numbers, which have no `.to`; some kernels convert their index."""
    for name, module in list(sys.modules.items()):
        if name.startswith("fla.ops"):
            module.range = lambda *bounds: map(Index, range(*bounds))


class Tracker:
    """A folder: its automaton, its tokens, and the right answer to every text of its tokens."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.automaton = json.loads((self.folder / "automaton.json").read_text())
        tokens = json.loads((self.folder / "tokens.json").read_text())
        self.begin = tokens["begin"]
        self.letters = [row["token"] for row in tokens["letters"]]
        letter_of = {row["letter"]: i for i, row in enumerate(tokens["letters"])}
        self.token_of = {row["state"]: row["token"] for row in tokens["states"]}
        self.reads = dict(zip(self.letters, range(len(self.letters))))
        self.walks = any("as_input" in row for row in tokens["states"])
        self.reads.update({row["token"]: letter_of[row["as_input"]] for row in tokens["states"] if "as_input" in row})

    def answers(self, text):
        state, given = None, []
        for token in text:
            state = self.automaton["initial"] if token == self.begin else \
                self.automaton["transitions"][state][self.reads[token]]
            given.append(self.token_of[state])
        return given

    def word(self, length, draw):
        return [self.begin, *draw.choices(self.letters, k=length)]
