#!/usr/bin/env python3
"""Steps of training a second beside PyTorch's CPU, in one run: pip install torch

    tools/bench/peer_train.py build/tools/krohn/krohn [build-bench/tools/bench/bench_peak] [--threads=1,2]
        [--letters=10,40] [--models=bilinear,reflections,LSTM] [--eager]

The bilinear model with one dense 64×64 matrix a letter, one layer of reflections with state 32×32, and an LSTM of 32
units, batches of 64 words of 10 and of 40 letters, AdamW in fp32. PyTorch's model is written in every way below, plainly and through
torch.compile (unless --eager), with the fused optimiser; the fastest counts, and every other is named with its rate.
What each way is, and what it computes that krohn does not, stands under the last table. First all ways are given the same weights and must answer alike.
PyTorch is given its letters ready, and drops subnormal numbers, as krohn does; krohn draws its own letters. krohn's step is the difference of two runs. Contenders take
turns, and each one's least time counts: of the processor with one thread, by the clock on the wall with more, where
only a machine that does nothing else tells the truth.

With bench_peak the bound is printed too: what the arithmetic of a step takes at the greatest rate of multiply-adds, or
its memory traffic at the rate of the third-level cache, whichever is longer, phase by phase.
"""
import json
import os
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
from peers import processor_seconds

torch.set_flush_denormal(True)  # as krohn's steps: on some processors a subnormal number takes a hundred cycles
WORDS, H, ROUNDS = 64, 64, 5


class Bilinear(nn.Module):
    """modadd5: 5 inputs, [BOS], [EOI]; the answer at the end."""

    def __init__(self, way, letters=7, labels=5, size=H):
        super().__init__()
        self.way, self.size = way, size
        self.embedding = nn.Embedding(letters, size)
        self.weights = nn.Parameter(torch.randn(size, size * size) / size)
        self.start = nn.Parameter(torch.randn(size))
        self.read = nn.Linear(size, labels)

    def prepare(self, letters):
        """Prepares the tensors that depend on the letters alone, and is not timed."""
        self.hot = F.one_hot(letters.T, 7).float()[..., None]  # position, word, letter
        self.columns = letters.T.contiguous()
        self.alike = [int(column[0]) if bool((column == column[0]).all()) else None for column in self.columns]
        self.words = torch.arange(len(letters))
        order = torch.argsort(self.columns, dim=1, stable=True)
        self.groups = [[(letter, order[t][self.columns[t][order[t]] == letter]) for letter in range(7)
                        if bool((self.columns[t] == letter).any())] for t in range(len(self.columns))]
        self.back = [torch.argsort(order[t]) for t in range(len(self.columns))]
        return letters

    def forward(self, letters):
        size = self.size
        matrices = (self.embedding.weight @ self.weights).view(-1, size, size)
        side_by_side = matrices.permute(2, 0, 1).reshape(size, -1)  # one product with all letters' matrices
        stacked = matrices.permute(0, 2, 1).reshape(-1, size)
        inputs = side_by_side[:, :5 * size]  # the five inputs' alone
        h = self.start.expand(len(letters), -1)
        for t, alike in enumerate(self.alike):
            if self.way == "a matrix gathered a word":
                h = torch.bmm(matrices[self.columns[t]], h[:, :, None])[:, :, 0]
            elif alike is not None:  # every word reads the same letter: [BOS], [EOI]
                h = h @ matrices[alike].T
            elif self.way == "one product, chosen by one-hot":
                h = ((h @ inputs).view(-1, 5, size) * self.hot[t, :, :5]).sum(1)
            elif self.way == "one product, chosen by index":
                h = (h @ inputs).view(-1, 5, size)[self.words, self.columns[t]]
            elif self.way == "spread by one-hot, one product":
                h = (self.hot[t, :, :5] * h[:, None, :]).view(-1, 5 * size) @ stacked[:5 * size]
            else:  # words sorted by letter
                h = torch.cat([h[words] @ matrices[letter].T for letter, words in self.groups[t]])[self.back[t]]
        return self.read(h)


class Reflections(nn.Module):
    """S3/swaps: identity, 3 swaps, [BOS]; an answer at every letter."""

    def __init__(self, way, width=32, letters=5, labels=6, mlp=True):
        super().__init__()
        self.way, self.mlp = way, mlp
        self.embedding = nn.Embedding(letters, width)
        self.qkv, self.beta = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 1, bias=False)
        self.out, self.into = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.back, self.read = nn.Linear(width, width, bias=False), nn.Linear(width, labels)
        self.gains = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(4)])

    def prepare(self, letters):
        self.hot = F.one_hot(letters, self.embedding.num_embeddings).float()
        return letters

    def norm(self, x, i):
        return F.rms_norm(x, x.shape[-1:], self.gains[i], 1e-5)

    def solved(self, qk, kk, v, beta):
        """All tokens at once: (I + tril(β K Kᵀ, −1)) U = β V, O = tril(Q Kᵀ) U."""
        u = torch.linalg.solve_triangular(torch.tril(beta * kk, -1), beta * v, upper=False, unitriangular=True)
        return torch.tril(qk) @ u

    def stepped(self, q, k, v, beta):
        state, outputs = torch.zeros(len(q), 32, 32), []
        for t in range(q.shape[1]):
            key = k[:, t, :, None]
            lack = v[:, t, None] - key.mT @ state
            state = state + (beta[:, t, :, None] * key) @ lack
            outputs.append((q[:, t, None] @ state)[:, 0])
        return torch.stack(outputs, 1)

    def rows(self, embedded):
        normed = self.norm(embedded, 0)
        q, k, v = F.silu(self.qkv(normed)).chunk(3, -1)
        return F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, 2 * torch.sigmoid(self.beta(normed))

    def mixed(self, letters, x):
        if self.way == "token after token":
            return self.stepped(*self.rows(x))
        if self.way == "all tokens at once":
            q, k, v, beta = self.rows(x)
            return self.solved(q @ k.mT, k @ k.mT, v, beta)
        q, k, v, beta = self.rows(self.embedding.weight)  # what the letter alone gives, once a letter
        if self.way == "letters' tables, by index":
            left, right = letters[:, :, None], letters[:, None, :]
            return self.solved((q @ k.T)[left, right], (k @ k.T)[left, right], v[letters], beta[letters])
        hot = self.hot  # letters' tables, by one-hot products
        return self.solved(hot @ (q @ k.T) @ hot.mT, hot @ (k @ k.T) @ hot.mT, hot @ v, hot @ beta)

    def forward(self, letters):
        x = self.embedding(letters)
        x = x + self.out(self.norm(self.mixed(letters, x), 1))
        if self.mlp:
            left, right = self.into(self.norm(x, 2)).chunk(2, -1)
            x = x + self.back(F.silu(left) * right)
        return self.read(self.norm(x, 3))


class Lstm(nn.Module):
    """modadd5, as Bilinear."""

    def __init__(self, way, width=32, letters=7, labels=5):
        super().__init__()
        self.way = way
        self.embedding = nn.Embedding(letters, width)
        self.cell = nn.LSTM(width, width, batch_first=True)
        self.read = nn.Linear(width, labels)

    def prepare(self, letters):
        self.columns = letters.T.contiguous()
        return letters

    def forward(self, letters):
        if self.way == "torch.nn.LSTM":
            return self.read(self.cell(self.embedding(letters))[0][:, -1])
        cell = self.cell
        table = F.linear(self.embedding.weight, cell.weight_ih_l0, cell.bias_ih_l0 + cell.bias_hh_l0)
        h = c = torch.zeros(len(letters), cell.hidden_size)
        back = cell.weight_hh_l0.T
        for column in self.columns:
            i, f, g, o = torch.addmm(table[column], h, back).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.read(h)


# What each way is, and what it computes more than krohn, which makes what a letter determines once a step and reads what
# words begin with alike once.
BILINEAR = {
    "a matrix gathered a word": "every word is given a copy of its letter's matrix, 64 copies of 64×64 at every letter, and a product of its own; "
                                "no multiplication is wasted, but those of [BOS] and [EOI], which all words read, are gathered too",
    "one product, chosen by one-hot": "the states times all five inputs' matrices side by side, of which a mask keeps a fifth: five times the "
                                      "multiplications, in one large product",
    "one product, chosen by index": "the same product, of which each word's fifth is indexed: five times the multiplications, no mask",
    "spread by one-hot, one product": "each state in its letter's fifth of a row of 320, times the five matrices one below the other: five times "
                                      "the multiplications, four of them with zeros",
    "words sorted by letter": "the words that read the same letter together, a product for each letter; no multiplication is wasted, in up to "
                              "five small products a letter; the order is found before the clock starts",
}
REFLECTIONS = {
    "token after token": "the recurrence as it is written, one key at a time; norms and maps anew for every token, though the letter "
                         "determines them; never compiled, since unrolling takes minutes",
    "all tokens at once": "a triangular system for each word in place of the recurrence, of the square of its letters; norms and maps "
                          "for every token",
    "letters' tables, by index": "the same system; norms, maps and the products of keys once for each letter, looked up by index",
    "letters' tables, by one-hot": "the same system; the same tables, looked up by products with one-hot rows",
}
LSTM = {
    "torch.nn.LSTM": "PyTorch's own, with its kernel for this processor; the input's products for every token, though the letter determines "
                     "them; never compiled, since it is one operation",
    "letter after letter, inputs from a table": "the equations unrolled; the input's products once for each letter",
}
# Compiling what is unrolled over many tokens takes minutes; these have few operations a token.
COMPILED = {"one product, chosen by one-hot", "one product, chosen by index", "spread by one-hot, one product",
            "letter after letter, inputs from a table", "all tokens at once", "letters' tables, by index", "letters' tables, by one-hot"}


def check_alike(make, ways, tokens, special):
    """Every way is the same function: no rival is fast by computing something else."""
    answers, weights = [], None
    for way in ways:
        model = make(way)
        weights = weights or model.state_dict()
        model.load_state_dict(weights)
        answers.append(model(model.prepare(some_letters(tokens, special))))
    for way, answer in zip(ways, answers):
        torch.testing.assert_close(answer, answers[0], rtol=2e-3, atol=2e-4, msg=lambda text: f"{way}: {text}")


def some_letters(tokens, special):
    letters = torch.randint(0, 5 if special == 2 else 4, (WORDS, tokens), generator=torch.Generator().manual_seed(1))
    letters[:, 0] = 5 if special == 2 else 4
    if special == 2:
        letters[:, -1] = 6
    return letters


class Rival:
    def __init__(self, model, tokens, labels, special, compiled):
        self.name = model.way + (", compiled" if compiled else "")
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        self.letters = model.prepare(some_letters(tokens, special))
        targets = torch.randint(0, labels, (WORDS,) if special == 2 else (WORDS, tokens)).view(-1)
        loss = lambda letters: F.cross_entropy(model(letters).view(-1, labels), targets)  # noqa: E731
        self.loss = torch.compile(loss, dynamic=False) if compiled else loss
        self.best = float("inf")
        self.time(3)
        self.best = float("inf")

    def time(self, steps, wall=False):
        clock = time.perf_counter if wall else time.process_time
        start = clock()
        for _ in range(steps):
            self.optimiser.zero_grad()
            self.loss(self.letters).backward()
            self.optimiser.step()
        self.best = min(self.best, (clock() - start) / steps)


class Krohn:
    def __init__(self, command, task, model, length, threads):
        self.command = [command, "train", task, "--model", model, "--length", str(length), "--stop-at", "0",
                        "--validate-every", "1000000", "--threads", str(threads)]
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.best = float("inf")

    def seconds(self, steps, wall):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            used, _ = processor_seconds(lambda: subprocess.run(
                [*self.command, "--steps", str(steps), "-o", folder], check=True, env=self.environment,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            return time.perf_counter() - start if wall else used

    def time(self, steps, wall=False):
        took = (self.seconds(50 + steps, wall) - self.seconds(50, wall)) / steps
        self.best = min(self.best, took) if took > 0 else self.best


def prefixes(inputs, length, end):
    """Distinct prefixes among a batch's words: what words share is computed once."""
    letters = torch.randint(0, inputs, (20, WORDS, length), generator=torch.Generator().manual_seed(1)).tolist()
    count = sum(len({tuple(word[:t]) for word in batch}) for batch in letters for t in range(length + 1)) / 20
    return count + (WORDS if end else 0)


def phases(name, length):
    """(what, floating-point operations, bytes) of a step as krohn makes it, every pass over the weights counted."""
    if name.startswith("bilinear"):
        nodes, weights = prefixes(5, length, True), H * H * H
        return [("matrices", 2 * 7 * weights, 4 * weights),
                ("recurrence and adjoint", 3 * 2 * H * H * nodes, 0),
                ("by embedding", 2 * 7 * weights, 4 * weights),
                ("optimiser, with the gradient by weights", 2 * 7 * weights, 4 * weights * 6)]
    if name.startswith("LSTM"):
        # Five functions a unit forward and one backward, of about 20 operations each.
        nodes = prefixes(5, length, True)
        return [("products and adjoint", 3 * 2 * 4 * 32 * 32 * nodes, 0), ("functions", 6 * 20 * 32 * nodes, 0)]
    # A token's state and all that is linear in it are combinations of the letters' rows.
    tokens, rows = prefixes(4, length, False), 5
    maps = 3 * 2 * (rows * 32 + rows * 64 + 32 * 32 + 32 * 6)
    recurrence = rows * (4 * rows + 2) + rows * (8 * rows + 6) + 3 * 2 * rows * rows
    return [("maps", maps * tokens, 0), ("recurrence and adjoint", recurrence * tokens, 0)]


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    programs = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    threads_of = next((option[len("--threads="):] for option in options if option.startswith("--threads=")), "1,2")
    lengths = next((option[len("--letters="):] for option in options if option.startswith("--letters=")), "10,40")
    wanted = next((option[len("--models="):].split(",") for option in options if option.startswith("--models=")), None)
    krohn, peak = programs[0], None
    if len(programs) > 1:
        peak = json.loads(subprocess.run([programs[1]], check=True, capture_output=True, text=True).stdout)
        print(f"one core: {peak['flops'] / 1e9:.0f} GFlop/s in fp32; 4 MB read at {peak['read_4096K'] / 1e9:.0f} GB/s, "
              f"changed at {peak['change_4096K'] / 1e9:.0f} GB/s")
    for threads in map(int, threads_of.split(",")):
        torch.set_num_threads(threads)
        wall = threads > 1
        print(f"PyTorch {torch.__version__}, {threads} thread{'s' * wall}, {'wall' if wall else 'processor'} time, "
              f"{WORDS} words a step, load {os.getloadavg()[0]:.1f}")
        for length in map(int, lengths.split(",")):
            for name, task, model, make, ways, labels, special in [
                    ("bilinear, full, H=64", "modadd5", "bilinear:hidden=64", Bilinear, BILINEAR, 5, 2),
                    ("reflections, state 32×32", "S3/swaps", "deltaproduct:signed,width=32,heads=1,mlp=32",
                     Reflections, REFLECTIONS, 6, 1),
                    ("LSTM, 32 units", "modadd5", "lstm:hidden=32,inputs=32", Lstm, LSTM, 5, 2)]:
                if wanted and name.split(",")[0] not in wanted:
                    continue
                check_alike(make, ways, length + special, special)
                own, rivals, failed = Krohn(krohn, task, model, length, threads), [], []
                for way in ways:
                    for compiled in (False, True):
                        if compiled and ("--eager" in options or way not in COMPILED):
                            continue
                        try:
                            torch._dynamo.reset()
                            rivals.append(Rival(make(way), length + special, labels, special, compiled))
                        except Exception as error:  # a compiler that is absent, or a graph that it refuses
                            failed.append(f"{way}, compiled: {type(error).__name__}")
                for _ in range(ROUNDS):
                    own.time(1000 if length == 10 else 400, wall)
                    for rival in rivals:
                        rival.time(10, wall)
                rivals.sort(key=lambda rival: rival.best)
                best = rivals[0]
                print(f"{name}, {length} letters: krohn {1 / own.best:.0f}, PyTorch {1 / best.best:.0f} steps/s, ratio "
                      f"{best.best / own.best:.1f}; fastest: {best.name}")
                print("    " + "; ".join([f"{rival.name} {1 / rival.best:.0f}" for rival in rivals[1:]] + failed))
                own_rows, all_rows = prefixes(5 if special == 2 else 4, length, special == 2), WORDS * (length + special)
                print(f"    krohn computes {own_rows:.0f} of a batch's {all_rows} letters: where words begin alike, once; PyTorch all")
                if peak and threads == 1:
                    parts = [(what, max(flops / peak["flops"], size / peak["change_4096K"]))
                             for what, flops, size in phases(name, length)]
                    bound = sum(seconds for _, seconds in parts)
                    flops = sum(part[1] for part in phases(name, length))
                    print(f"    bound {1e6 * bound:.0f} µs of krohn's {1e6 * own.best:.0f} ({100 * bound / own.best:.0f} "
                          f"%): {flops / 1e6:.1f} MFlop; "
                          + ", ".join(f"{what} {1e6 * seconds:.0f}" for what, seconds in parts), flush=True)
    print("Every way: fp32, torch.optim.AdamW(fused=True), its letters ready before the clock starts. Compiled: loss and gradient by torch.compile,\n"
          "whose own time does not count; otherwise eager. All read every word from its first letter on, krohn a common beginning once.")  # fmt: skip
    for way, note in {**BILINEAR, **REFLECTIONS, **LSTM}.items():
        print(f"  {way}: {note}")


if __name__ == "__main__":
    main()
