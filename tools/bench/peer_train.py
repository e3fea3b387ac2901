#!/usr/bin/env python3
"""Steps of training a second beside PyTorch's CPU, in one run: pip install torch

    tools/bench/peer_train.py build/tools/krohn/krohn

The bilinear model with one dense 64×64 matrix a letter, and one layer of reflections with state 32×32, batches of 64
words of 10 and of 40 letters, AdamW, one thread, processor time. krohn's step is the difference of two runs; PyTorch's
model is written in every way below and the fastest counts. PyTorch is given its letters ready; krohn draws them.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    print("skipped: torch is not installed")
    sys.exit(0)

WORDS = 64


class Bilinear(nn.Module):
    """modadd5: 5 inputs, [BOS], [EOI]; the answer at the end."""

    def __init__(self, hidden=64, inputs=64, letters=7, labels=5):
        super().__init__()
        self.embedding = nn.Embedding(letters, inputs)
        self.weights = nn.Parameter(torch.randn(inputs, hidden * hidden) / hidden)
        self.start = nn.Parameter(torch.randn(hidden))
        self.read = nn.Linear(hidden, labels)

    def forward(self, letters):
        matrices = (self.embedding.weight @ self.weights).view(-1, 64, 64)
        h = self.start.expand(len(letters), -1)
        for letter in letters.T:
            h = torch.bmm(matrices[letter], h[:, :, None])[:, :, 0]
        return self.read(h)


class Reflections(nn.Module):
    """S3/swaps: identity, 3 swaps, [BOS]; an answer at every letter."""

    def __init__(self, parallel, width=32, letters=5, labels=6):
        super().__init__()
        self.parallel = parallel
        self.embedding = nn.Embedding(letters, width)
        self.qkv, self.beta = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 1, bias=False)
        self.out, self.into = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.back, self.read = nn.Linear(width, width, bias=False), nn.Linear(width, labels)
        self.gains = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(4)])

    def norm(self, x, i):
        return self.gains[i] * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)

    def mix(self, q, k, v, beta):
        if self.parallel:  # all tokens at once: (I + tril(β K Kᵀ, −1)) U = β V, O = tril(Q Kᵀ) U
            lower = torch.tril(beta * (k @ k.mT), -1)
            u = torch.linalg.solve_triangular(lower, beta * v, upper=False, unitriangular=True)
            return torch.tril(q @ k.mT) @ u
        state, outputs = torch.zeros(len(q), 32, 32), []
        for t in range(q.shape[1]):
            key = k[:, t, :, None]
            lack = v[:, t, None] - key.mT @ state
            state = state + (beta[:, t, :, None] * key) @ lack
            outputs.append((q[:, t, None] @ state)[:, 0])
        return torch.stack(outputs, 1)

    def forward(self, letters):
        x = self.embedding(letters)
        normed = self.norm(x, 0)
        q, k, v = F.silu(self.qkv(normed)).chunk(3, -1)
        mixed = self.mix(F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, 2 * torch.sigmoid(self.beta(normed)))
        x = x + self.out(self.norm(mixed, 1))
        left, right = self.into(self.norm(x, 2)).chunk(2, -1)
        x = x + self.back(F.silu(left) * right)
        return self.read(self.norm(x, 3))


def seconds_of_torch(model, tokens, labels, at_end):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    letters = torch.randint(0, 5, (WORDS, tokens))
    targets = torch.randint(0, labels, (WORDS,) if at_end else (WORDS, tokens))
    best = float("inf")
    for _ in range(4):
        start = time.process_time()
        for _ in range(20):
            optimiser.zero_grad()
            F.cross_entropy(model(letters).view(-1, labels), targets.view(-1)).backward()
            optimiser.step()
        best = min(best, (time.process_time() - start) / 20)
    return best


def seconds_of_krohn(krohn, task, model, length):
    def processor(steps):
        with tempfile.TemporaryDirectory() as folder:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([krohn, "train", task, "--model", model, "--length", str(length), "--steps", str(steps),
                            "--stop-at", "0", "--validate-every", "1000000", "--threads", "1", "-o", folder], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, "OMP_NUM_THREADS": "1"})
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return min((processor(450) - processor(50)) / 400 for _ in range(3))


def main():
    krohn = sys.argv[1]
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, one thread, processor time, {WORDS} words a step")
    print(f"{'model':26} {'letters':>7} {'krohn, steps/s':>15} {'PyTorch, steps/s':>17} {'ratio':>6}")
    for length in (10, 40):
        for name, task, model, rivals, labels, at_end, special in [
                ("bilinear, full, H=64", "modadd5", "bilinear:hidden=64", [Bilinear()], 5, True, 2),
                ("reflections, state 32×32", "S3/swaps", "deltaproduct:signed,width=32,heads=1,mlp=32",
                 [Reflections(False), Reflections(True)], 6, False, 1)]:
            own = seconds_of_krohn(krohn, task, model, length)
            other = min(seconds_of_torch(rival, length + special, labels, at_end) for rival in rivals)
            print(f"{name:26} {length:7} {1 / own:15.0f} {1 / other:17.0f} {other / own:6.1f}", flush=True)


main()
