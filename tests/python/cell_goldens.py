#!/usr/bin/env python3
"""Writes the models of tests/data/cells that have more than an embedding, a cell and a linear read-out, with words and PyTorch's
own logits after every letter, in fp32 and in fp64; and one that is trained to forget on parity:

    pip install torch safetensors ./tools/python && tests/python/cell_goldens.py
"""
import pathlib

import krohn
import torch
from safetensors.torch import save_file
from torch import nn

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "cells"


class Sequence(nn.Sequential):
    """torch.nn.Sequential, which takes of a recurrence the outputs alone."""

    def forward(self, x):
        for module in self:
            x = module(x)
            x = x[0] if isinstance(x, tuple) else x
        return x


class Blocks(nn.Module):
    """x + rnn(norm(x)) twice, an RMS norm, and an MLP."""

    def __init__(self, width=6):
        super().__init__()
        self.emb = nn.Embedding(3, width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"norm": nn.LayerNorm(width, eps=1e-3), "rnn": nn.LSTM(width, width, batch_first=True)}) for _ in range(2))
        self.norm = nn.RMSNorm(width, eps=1e-3)
        self.head = nn.Sequential(nn.Linear(width, 9), nn.SiLU(), nn.Dropout(0.5), nn.Linear(9, 2, bias=False))

    def forward(self, ids):
        x = self.emb(ids)
        for block in self.blocks:
            x = x + block["rnn"](block["norm"](x))[0]
        return self.head(self.norm(x))


class Functions(nn.Module):
    """One-hot letters, a norm without tensors, and a residual around every function that a head may have."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(3, 4, bias=False, batch_first=True)
        self.norm = nn.LayerNorm(4, elementwise_affine=False)
        self.fc = nn.ModuleList(nn.Linear(4, 4, bias=i != 1) for i in range(6))
        self.out = nn.Linear(4, 2)

    def forward(self, ids):
        dtype = self.out.weight.dtype
        x = self.norm(self.rnn(nn.functional.one_hot(ids, 3).to(dtype))[0])
        for fc, function in zip(self.fc, (nn.ReLU(), nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Tanh(), nn.Sigmoid())):
            x = x + function(fc(x))
        return self.out(x)


def models():
    yield "gru-sequential", Sequence(nn.Embedding(3, 5), nn.LayerNorm(5), nn.GRU(5, 6, 2, batch_first=True), nn.LayerNorm(6),
                                     nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, 2))
    yield "lstm-blocks", Blocks()
    yield "rnn-functions", Functions()


for name, net in models():
    torch.manual_seed(len(name))
    with torch.no_grad():
        for key, parameter in net.named_parameters():
            is_gain = parameter.dim() == 1 and key.endswith("weight")
            parameter.copy_((1 if is_gain else 0) + torch.randn_like(parameter) * 0.7)
        words = torch.randint(0, 3, (6, 40))
        net.eval()
        tensors = {"words": words, "logits32": net(words)}
        tensors.update({key: value.clone() for key, value in net.state_dict().items()})
        tensors["logits64"] = net.double()(words)
    save_file(tensors, DATA / f"{name}.safetensors")


class Trained(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.emb, self.norm_in = nn.Embedding(2, 8), nn.LayerNorm(8)
        self.rnn, self.norm = nn.GRU(8, hidden, batch_first=True), nn.LayerNorm(hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 2))


torch.manual_seed(1)
net, steps = Trained(), 1500
optimiser = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
for step in range(steps):
    ids, grown = torch.randint(0, 2, (64, 20)), min(1, 3 * step / steps)
    outputs, distance = krohn.contract_loss(net.rnn, net.norm_in(net.emb(ids)), 0.1 * grown)
    logits, odd = net.head(net.norm(outputs)), (ids.cumsum(1) % 2).repeat(2, 1)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), odd.flatten()) + 10 * grown * distance
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1)
    optimiser.step()
    schedule.step()
save_file(net.state_dict(), DATA / "gru-trained.safetensors")
