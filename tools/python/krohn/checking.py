"""Certificates re-checked, published models judged, reports."""

import os
from typing import Any, Dict, List, Optional, Union

import numpy as np

from krohn import _krohn
from krohn.asking import Facts, ask
from krohn.automaton import Language
from krohn.certificate import Certificate
from krohn.network import Network
from krohn.picture import card, frame, table
from krohn.progress import Progress

Path = Union[str, "os.PathLike[str]"]


class Check(Facts):
    """The verdict of independent code on a certificate: true where it is `established`, and is about the language where one was
    named. `claim`, `method`, `finding`; `is_language`, and `difference`, a word on which the two differ."""

    def __bool__(self) -> bool:
        return bool(self.established) and bool(self.get("is_language", True))

    def __repr__(self) -> str:
        return f"<krohn.Check: {'' if self else 'NOT '}established: {self.claim}; {self.finding}>"

    def _repr_html_(self) -> str:
        told = {name: self.get(name) for name in ("claim", "method", "finding", "language", "difference")}
        return card("Established" if self else "NOT established", told.items(), "good" if self else "bad")


def check(
    certificate: Union[Certificate, Path],
    model: Union[Network, Path],
    *,
    against: Optional[Language] = None,
    progress: Progress = None,
    **options: Any,
) -> Check:
    """Re-checks a certificate with code that shares nothing with the prover but the readers of the two files, as `krohn check`
    does. `against` is the language that the model's automaton has to be."""
    return ask("check", certificate, model, kind=Check, against=against, progress=progress, **options)


class Audit(Facts):
    """The limits that the config and the weights of a published model set: `architecture`, `recurrent_layers`, `by_layer`, `all`;
    `never`, sentences on what no input makes its recurrent layers do; `fades`, on how fast states shrink; `flags`, members
    of the config that do nothing."""

    def arrays(self) -> Dict[str, np.ndarray]:
        """For each recurrent layer: layer, slowest_rate and fastest_rate of decay, least_eigenvalue, and horizon, in tokens;
        infinity where there is none."""
        names = ("slowest_rate", "fastest_rate", "least_eigenvalue", "horizon")
        columns = {name: np.array([np.inf if row[name] is None else row[name] for row in self.by_layer]) for name in names}
        return {"layer": np.array([row.layer for row in self.by_layer]), **columns}

    def __repr__(self) -> str:
        layers = f"{self.recurrent_layers} of {self.layers} layers recurrent"
        return f"<krohn.Audit of {self.architecture}: {layers}; {len(self.never)} things never>"

    def _repr_html_(self) -> str:
        found = self.arrays()
        names = [name for name in found if name != "layer"]
        rows = [(layer, *(f"{found[name][i]:.4g}" for name in names)) for i, layer in enumerate(found["layer"])]
        said = [("never", sentence) for sentence in self.never] + [("fades", sentence) for sentence in self.fades]
        said += [("ignored", sentence) for sentence in self.flags]
        return card(f"{self!r}"[1:-1], said) + table(("layer", *(name.replace("_", " ") for name in names)), rows)


def audit(checkpoint: Path) -> Audit:
    """Judges a folder with a config.json, and weights unless the config alone is to be judged, without running it."""
    return ask("audit", checkpoint, kind=Audit)


def kit(folder: Path, *, seed: int = 1) -> List[str]:
    """Writes the conformance kit for runtimes, a folder with models whose every answer is known, and gives their names."""
    return _krohn.kit(os.fspath(folder), seed)


class Report(Facts):
    """The page of `krohn report`, `html`: it loads nothing, steps, and re-checks its proof. A notebook shows it."""

    html: str

    def save(self, path: Path) -> None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        said = self.verdict.claim if "verdict" in self else self.get("no_network", "")
        return f"<krohn.Report of {self.subject}: {said}, {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        return frame(self.html, 800)


def report(subject: Union[Language, Network], *, precision: str = "fp32", progress: Progress = None, **options: Any) -> Report:
    """One page about a language or a model, for people to look at. `options`: construction, any_order, max_pairs, time."""

    def read(found: Report, path: str, _: Any) -> None:
        with open(path, encoding="utf-8", newline="") as file:
            found.html = file.read()

    return ask("report", subject, kind=Report, write=("output", ".html"), read=read, precision=precision, progress=progress,
               **options)  # fmt: skip
