#!/usr/bin/env python3
"""Runs a folder that `krohn compile --target fla-…` wrote inside the real flash-linear-attention library, and counts the
positions at which its next-token arg max is the state of the automaton.

    pip install torch transformers flash-linear-attention
    tools/bench/peer_fla.py s5-deltanet/ --length 200 --words 4 [--dtype bfloat16] [--mode chunk]

With a GPU the library's kernels run on it; without one, in Triton's interpreter, kernel by kernel, which is slow but the
same program."""
import argparse
import json
import os
import pathlib
import random
import sys

import torch

ON_DEVICE = torch.cuda.is_available()
if not ON_DEVICE:
    os.environ["TRITON_INTERPRET"] = "1"
    import triton.runtime.autotuner as autotuner

    # Tuning measures on a device; without one the first configuration of each kernel serves.
    construct = autotuner.Autotuner.__init__

    def construct_with_one(self, fn, arg_names, configs, *rest, **named):
        construct(self, fn, arg_names, configs[:1], *rest, **named)

    autotuner.Autotuner.__init__ = construct_with_one

import fla  # noqa: E402,F401  registers the models
from transformers import AutoModelForCausalLM  # noqa: E402


class Index(int):
    """A loop's index as kernels see it on a device: with a type to convert to."""

    def to(self, _):
        return self


def device():
    return "cuda" if ON_DEVICE else "cpu"


def give_types_to_indices():
    """The interpreter loops over plain numbers, which have no `.to`; some kernels convert their index."""
    for name, module in list(sys.modules.items()):
        if name.startswith("fla.ops"):
            module.range = lambda *bounds: map(Index, range(*bounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--words", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--mode", choices=["fused_recurrent", "chunk"], default="fused_recurrent")
    options = parser.parse_args()
    if not ON_DEVICE and options.mode == "chunk" and options.dtype == "bfloat16":
        parser.error("Triton's interpreter multiplies the bits of bfloat16 as if they were numbers; take --dtype float16")

    automaton = json.loads((options.folder / "automaton.json").read_text())
    tokens = json.loads((options.folder / "tokens.json").read_text())
    token_of = {row["state"]: row["token"] for row in tokens["states"]}
    letter_tokens = [row["token"] for row in tokens["letters"]]
    model = AutoModelForCausalLM.from_pretrained(options.folder, dtype=getattr(torch, options.dtype))
    model = model.eval().to(device())
    for layer in model.model.layers:
        layer.attn.mode = options.mode

    if not ON_DEVICE:
        give_types_to_indices()
    draw = random.Random(options.seed)
    words = [[draw.randrange(len(letter_tokens)) for _ in range(options.length)] for _ in range(options.words)]
    inputs = torch.tensor([[tokens["begin"], *(letter_tokens[letter] for letter in word)] for word in words],
                          device=model.device)
    with torch.no_grad():
        answers = model(inputs, use_cache=False).logits.argmax(-1).tolist()

    right = total = 0
    for word, answer in zip(words, answers):
        state = automaton["initial"]
        for position, token in enumerate(answer):
            if position > 0:
                state = automaton["transitions"][state][word[position - 1]]
            right += token == token_of[state]
            total += 1
    where = torch.cuda.get_device_name() if ON_DEVICE else "Triton's interpreter"
    print(f"{options.folder}: {right} of {total} positions right; {options.dtype}, {options.mode}, fla "
          f"{fla.__version__}, {where}")
    sys.exit(0 if right == total else 1)


if __name__ == "__main__":
    main()
