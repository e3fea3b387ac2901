"""The recurrence of Fan et al. 2024 by a parallel scan and letter after letter, timed as in their section 4.5."""

import time
from typing import Callable, List

import torch
from torch import Tensor

from krohn.rivals.state_spaces import BlockDiagonal

PAPER = {(40, 8): ("0.033", "0.021"), (500, 8): ("0.03", "0.03"), (500, 1): ("0.002", "0.0008")}
"""Seconds an instance, letter after letter and by scan, on a Quadro RTX 8000, by letters and block size."""


def seconds_of(work: Callable[[], None], runs: int) -> float:
    """The least processor time of several runs, after one to warm up."""
    work()
    taken = []
    for _ in range(runs):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def once(layer: BlockDiagonal, words: Tensor, by_scan: bool, is_training: bool) -> Callable[[], None]:
    def work() -> None:
        with torch.set_grad_enabled(is_training):
            states = layer(words, by_scan)
            if is_training:
                layer.zero_grad()
                states.square().mean().backward()

    return work


def report(words: int = 1, runs: int = 5) -> str:
    """Milliseconds a word as Markdown: training on 40 letters, forwards and backwards, and a test of 500, forwards."""
    lines: List[str] = ["| letters | | blocks | sequential, ms | scan, ms | ratio | the paper, sequential → scan, ms |",
                        "|---|---|---|---|---|---|---|"]  # fmt: skip
    for length, block, is_training in ((40, 8, True), (500, 8, False), (500, 1, False)):
        torch.manual_seed(1)
        layer, x = BlockDiagonal(64, block, 8), torch.randn(words, length, 64)
        one, two = (1000 * seconds_of(once(layer, x, by_scan, is_training), runs) / words for by_scan in (False, True))
        paper = " → ".join(f"{1000 * float(part):g}" for part in PAPER[length, block])
        lines.append(f"| {length} | {'training' if is_training else 'test'} | 8, of {block} by {block} | {one:.2f} | {two:.2f} | "
                     f"{one / two:.2f} | {paper} |")  # fmt: skip
    lines += ["", f"PyTorch {torch.__version__}, processor time, {words} {'word' if words == 1 else 'words'} at once, "
              f"{torch.get_num_threads()} thread(s), the least of {runs} runs."]  # fmt: skip
    return "\n".join(lines)
