"""Faults of servers that keep sequences in llama.cpp's memory, and of files that were converted wrongly."""
import numpy

import llama_gguf
from llama_runtime import Context, Sequences
from planted import swapped

DECODE, COPY, LOAD, SAVE, FORGET = Context.decode, Context.copy, Context.load, Context.save, Context.forget
TENSORS = llama_gguf.model_tensors


def emptied(context, row):
    """The sequence is empty, and what follows is read at the same positions as if it were not."""
    length = context.lengths[row]
    FORGET(context, row)
    context.lengths[row] = length


def after_prompts(change):
    """When more than one token was read of a sequence."""
    def decode(self, rows):
        said = DECODE(self, rows)
        change(self, [row for row, tokens in rows if len(tokens) > 1])
        return said
    return {(Context, "decode"): decode}


def neighbours(context, rows):
    """All rows are moved on by one."""
    if len(rows) < 2:
        return
    kept = [SAVE(context, row) for row in rows]
    for i, row in enumerate(rows):
        length = context.lengths[row]
        FORGET(context, row)
        LOAD(context, row, kept[i - 1])
        context.lengths[row] = max(length, context.lengths[row])


def before_pieces(self, rows):
    for row, tokens in rows:
        if len(tokens) > 1 and self.lengths[row] > 0:
            emptied(self, row)
    return DECODE(self, rows)


def at_step(change):
    """Another step for one decoded token of every 20."""
    count = [0]

    def decode(self, rows):
        is_step = all(len(tokens) == 1 for _, tokens in rows)
        count[0] += is_step
        return change(self, rows) if is_step and count[0] % 20 == 7 else DECODE(self, rows)
    return {(Context, "decode"): decode}


def twice(self, rows):
    DECODE(self, rows)
    return DECODE(self, rows)


def lost(self, rows):
    """The token is read in a copy of each sequence, which is thrown away."""
    copies = Sequences(self, len(rows))
    for (row, _), to in zip(rows, copies.rows):
        COPY(self, row, to)
    return DECODE(self, [(to, tokens) for (_, tokens), to in zip(rows, copies.rows)])


def exchanged(self, rows):
    return DECODE(self, [(row, swapped(tokens)) for row, tokens in rows])


def narrowed(self, row):
    """What is a float of at least 1, and no count of cells or bytes, keeps the digits that bf16 has."""
    state, length = SAVE(self, row)
    whole = len(state) // 4 * 4
    numbers = numpy.frombuffer(state[:whole], "<u4").copy()
    numbers[(numbers >> 23 & 255) >= 127] &= 0xFFFF0000
    return numbers.tobytes() + state[whole:], length


def converted(change):
    """A file whose tensors are changed by name."""
    def tensors(folder):
        named, config = TENSORS(folder)
        return {name: change(name, tensor) for name, tensor in named.items()}, config
    return {(llama_gguf, "model_tensors"): tensors}


FAULTS = {
    "the prompt's state is never written": after_prompts(lambda context, rows: [emptied(context, row) for row in rows]),
    "the state is lost between two pieces of a prompt": {(Context, "decode"): before_pieces},
    "the update of a decoded token is applied twice": at_step(twice),
    "the update of a decoded token is lost": at_step(lost),
    "tokens 64 and 65 of a prompt are exchanged": {(Context, "decode"): exchanged},
    "a sequence of a batch has its neighbour's state": after_prompts(neighbours),
    "a sequence is not copied": {(Context, "copy"): lambda self, row, to: self.lengths.__setitem__(to, self.lengths[row])},
    "a saved state is not loaded": {
        (Context, "load"): lambda self, row, saved: self.lengths.__setitem__(row, max(saved[1], self.lengths[row]))},
    "a saved state has the digits of bf16": {(Context, "save"): narrowed},
    "tokens that were taken back stay in the state": {(Context, "take_back"): lambda self, row, count: True},
    "the file has no decay": converted(lambda name, tensor: tensor * 0 if name.endswith("ssm_a") else tensor),
    "the file has the logarithm of the decay": converted(
        lambda name, tensor: numpy.log(-tensor) if name.endswith("ssm_a") else tensor),
    "the file has the convolution's taps in reverse": converted(
        lambda name, tensor: tensor[:, ::-1] if name.endswith("ssm_conv1d.weight") else tensor),
    "the file's norms lack the 1 that is added": converted(
        lambda name, tensor: tensor - 1 if name.endswith("norm.weight") and "ssm" not in name else tensor),
    "the file has keys for queries": converted(
        lambda name, tensor: numpy.concatenate([numpy.split(tensor, 3)[i] for i in (1, 1, 2)])
        if name.endswith("attn_qkv.weight") else tensor),
}
