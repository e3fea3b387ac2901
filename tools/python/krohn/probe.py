"""Which arithmetic a library's sums of products have."""

import json
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from krohn import _krohn


class Probe:
    """Facts seen of sums of products: their order, digits, roundings, and which certificates hold there."""

    def __init__(self, facts: Dict[str, Any], text: str) -> None:
        self._facts = facts
        self._text = text

    @property
    def arithmetic(self) -> Optional[str]:
        """The one of krohn's arithmetics ("fp32+fma") that gave every sum bit for bit, or None."""
        return self._facts.get("arithmetic")

    @property
    def order(self) -> Optional[str]:
        """In which order terms are added, in words; None where sums are not rounded two or more numbers at a time."""
        return self._facts.get("order")

    @property
    def any_order(self) -> List[str]:
        """The formats in which certificates with the order "any" hold there."""
        return list(self._facts["certificates"]["any"])

    def to_dict(self) -> Dict[str, Any]:
        """As `krohn probe --json` prints it, the tree of the order included."""
        return dict(self._facts)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<krohn.Probe: {self.arithmetic or 'no stated arithmetic'}; {self.order or 'no order seen'}>"


def probe(
    dot: Callable[[np.ndarray, np.ndarray], Any], *, format: str = "fp32", terms: int = 64, compare: int = 2_000
) -> Probe:
    """Finds which arithmetic `dot` has, by asking it for thousands of sums of products.

    `dot` takes two float64 arrays of `terms` numbers (8 to 256), all of them numbers of `format` (fp64, fp32, fp16, bf16), and
    returns Σ left[i] right[i], computed by whatever is to be probed, as a number of that format: `lambda a, b:
    float(np.float32(a) @ np.float32(b))`, or a matrix product on a device. It is a test: it speaks of the sums that it
    asked for."""
    facts, text = _krohn.probe(dot, format, terms, compare)
    return Probe(json.loads(facts), text)
