#!/usr/bin/env python3
"""Runs a folder that `krohn compile --target fla-…` wrote inside the real flash-linear-attention library, and counts the
positions at which its next-token arg max is the state of the automaton.

    pip install torch transformers flash-linear-attention
    tools/bench/peer_fla.py s5-deltanet/ --length 200 --words 4 [--dtype bfloat16] [--mode chunk]

With a GPU the library's kernels run on it; without one, in Triton's interpreter, kernel by kernel, which is slow but the
same program."""
import argparse
import pathlib
import random
import sys

import torch
from peers import Tracker, give_types_to_indices, kernel_device

DEVICE = kernel_device()
import fla  # noqa: E402,F401  registers the models
from transformers import AutoModelForCausalLM  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--words", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--mode", choices=["fused_recurrent", "chunk"], default="fused_recurrent")
    options = parser.parse_args()
    if DEVICE == "cpu" and options.mode == "chunk" and options.dtype == "bfloat16":
        parser.error("Triton's interpreter multiplies the bits of bfloat16 as if they were numbers; take --dtype float16")

    tracker, draw = Tracker(options.folder), random.Random(options.seed)
    model = AutoModelForCausalLM.from_pretrained(options.folder, dtype=getattr(torch, options.dtype)).eval().to(DEVICE)
    for layer in model.model.layers:
        layer.attn.mode = options.mode
    if DEVICE == "cpu":
        give_types_to_indices()
    texts = [tracker.word(options.length, draw) for _ in range(options.words)]
    with torch.no_grad():
        answers = model(torch.tensor(texts, device=DEVICE), use_cache=False).logits.argmax(-1).tolist()

    same = [said == due for text, row in zip(texts, answers) for said, due in zip(row, tracker.answers(text))]
    where = torch.cuda.get_device_name() if DEVICE == "cuda" else "Triton's interpreter"
    print(f"{options.folder}: {sum(same)} of {len(same)} positions right; {options.dtype}, {options.mode}, fla "
          f"{fla.__version__}, {where}")
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
