"""Faults of servers that carry a model's memory from one call of ONNX Runtime to the next."""
import numpy

from onnx_runtime import Runtime, Session
from planted import swapped

RUN = Session.run


def zeroed(memory):
    return {name: numpy.zeros_like(value) for name, value in memory.items()}


def after_prompts(change):
    """What a call of more than one letter leaves."""
    def run(self, rows, memory=None):
        states, after = RUN(self, rows, memory)
        return states, change(after, memory) if len(rows[0]) > 1 else after
    return {(Session, "run"): run}


def at_step(change):
    """Another step for one decoded letter of every 20."""
    count = [0]

    def run(self, rows, memory=None):
        count[0] += len(rows[0]) == 1
        return change(self, rows, memory) if len(rows[0]) == 1 and count[0] % 20 == 7 else RUN(self, rows, memory)
    return {(Session, "run"): run}


def twice(self, rows, memory):
    return RUN(self, rows, RUN(self, rows, memory)[1])


def lost(self, rows, memory):
    return RUN(self, rows, memory)[0], memory


def begun_anew(self, rows, memory=None):
    """Memory that is given with a piece of a prompt is not taken."""
    return RUN(self, rows, None if len(rows[0]) > 1 else memory)


def cut(at):
    def run(self, rows, memory=None):
        if len(rows[0]) <= at:
            return RUN(self, rows, memory)
        first, middle = RUN(self, [row[:at] for row in rows], memory)
        second, after = RUN(self, [row[at:] for row in rows], zeroed(middle))
        return [a + b for a, b in zip(first, second)], after
    return {(Session, "run"): run}


def exchanged(self, rows, memory=None):
    return RUN(self, [swapped(row) for row in rows], memory)


FAULTS = {
    "the prompt's memory is never written": after_prompts(lambda after, before: before or {}),
    "the memory after a prompt is zero": after_prompts(lambda after, before: zeroed(after)),
    "the memory is zero at the border 128 of a prompt": cut(128),
    "the memory is not taken with a further piece of a prompt": {(Session, "run"): begun_anew},
    "the update of a decoded token is applied twice": at_step(twice),
    "the update of a decoded token is lost": at_step(lost),
    "tokens 64 and 65 of a prompt are exchanged": {(Session, "run"): exchanged},
    "what was kept is the buffer itself": {(Runtime, "copy_of"): lambda self, memory: memory},
    "a row of a batch has its neighbour's memory": after_prompts(
        lambda after, before: {name: numpy.roll(value, 1, 0) for name, value in after.items()}),
}
