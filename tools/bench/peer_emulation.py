#!/usr/bin/env python3
"""Compares krohn's emulation of flash-linear-attention's layers (krohn.Checkpoint) with the library: its own model in
Triton's interpreter or on a GPU, and its naive.py recurrences in plain PyTorch. On random weights the greatest difference
of two logits is printed, as a part of the greatest logit; on weights that krohn compiled every bit has to be the same.

    pip install ./tools/python torch transformers flash-linear-attention
    tools/bench/peer_emulation.py

Exit status: 0 when random weights agree to 1e-5 (chunks: 1e-4) and compiled ones bit for bit, 1 otherwise."""
import pathlib
import sys
import tempfile

import torch
from peers import give_types_to_indices, kernel_device

DEVICE = kernel_device()
from fla.models import DeltaNetConfig, DeltaNetForCausalLM, GatedDeltaProductConfig, GatedDeltaProductForCausalLM  # noqa: E402
from fla_naive import NaiveCheckpoint  # noqa: E402

import krohn  # noqa: E402

TOLERANCE, CHUNK_TOLERANCE = 1e-5, 1e-4
SHARED = dict(hidden_size=64, num_heads=2, num_hidden_layers=2, vocab_size=32, intermediate_size=96, use_short_conv=True,
              allow_neg_eigval=True, fuse_cross_entropy=False, attn_mode="fused_recurrent")


def random_models():
    torch.manual_seed(1)
    yield "DeltaNet, SiLU on keys, convolution of 4", DeltaNetForCausalLM(
        DeltaNetConfig(**SHARED, conv_size=4, qk_activation="silu", use_gate=False))
    yield "DeltaNet, keys as they are, convolution of 2", DeltaNetForCausalLM(
        DeltaNetConfig(**SHARED, conv_size=2, qk_activation="identity", use_gate=False))
    yield "gated DeltaProduct of 3 Householders", GatedDeltaProductForCausalLM(
        GatedDeltaProductConfig(**SHARED, head_dim=32, expand_v=1, num_householder=3, use_forget_gate=False,
                                use_output_gate=False))


def difference(ours, theirs):
    theirs = theirs.float().numpy()
    return float(abs(ours - theirs).max() / abs(theirs).max())


def compare_random(folder):
    right = True
    tokens = torch.randint(0, 32, (1, 128), generator=torch.Generator().manual_seed(2))
    for name, model in random_models():
        with torch.no_grad():  # larger than the library's start, so that the layers' parts matter
            for parameter in model.parameters():
                if parameter.ndim > 1:
                    parameter.mul_(4)
        path = pathlib.Path(folder) / str(abs(hash(name)))
        model.save_pretrained(path)
        ours = krohn.Checkpoint(path)
        recurrent, chunked = ours.logits(tokens[0]), ours.logits(tokens[0], chunked=True)
        with torch.no_grad():
            library = model.to(DEVICE).eval()(tokens.to(DEVICE), use_cache=False).logits[0].cpu()
        found = {"library": difference(recurrent, library),
                 "naive.py": difference(recurrent, NaiveCheckpoint(path).logits(tokens)[0])}
        if name.startswith("DeltaNet"):
            found["naive.py, chunks"] = difference(chunked, NaiveCheckpoint(path, chunked=True).logits(tokens)[0])
        found["our chunks beside our tokens"] = difference(chunked, torch.from_numpy(recurrent))
        right &= all(value <= (CHUNK_TOLERANCE if "chunks" in which else TOLERANCE) for which, value in found.items())
        print(f"{name}: " + ", ".join(f"{which} {value:.1e}" for which, value in found.items()), flush=True)
    return right


def compare_compiled(folder):
    right = True
    for name, target in (("regex:(a|b)*abb", "fla-deltanet"), ("name:tomita3", "fla-deltanet"),
                         ("name:tomita7", "fla-gated-deltaproduct"), ("name:T3", "fla-gated-deltaproduct")):
        path = pathlib.Path(folder) / f"{target}-{abs(hash(name))}"
        krohn.export(name, target, path)
        letters = len(krohn.Automaton(name).letters)
        draw = torch.randint(0, letters, (1, 255), generator=torch.Generator().manual_seed(3))
        tokens = torch.cat([torch.tensor([[letters]]), draw], 1)
        ours = krohn.Checkpoint(path)
        theirs = NaiveCheckpoint(path).logits(tokens)[0].numpy()
        same = bool((ours.logits(tokens[0]) == theirs).all() and (ours.logits(tokens[0], chunked=True) == theirs).all())
        right &= same
        print(f"{name} as {target}: {'the same bits' if same else 'OTHER BITS'} in {theirs.size:,} logits, token by token "
              f"and in chunks, as naive.py", flush=True)
    return right


def main():
    give_types_to_indices()
    with tempfile.TemporaryDirectory() as folder:
        right = compare_random(folder)
        right &= compare_compiled(folder)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
