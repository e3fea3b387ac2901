"""krohn: regular languages, the exact weights of linear recurrent networks, and proofs that the two agree.

    >>> import krohn
    >>> language = krohn.Automaton("regex:(a|b)*abb")
    >>> network = krohn.compile(language)
    >>> krohn.verify(network).proved
    True

Words are texts, one-dimensional arrays of letters (indices of `Automaton.letters`), or two-dimensional arrays, a word in
each row. Arrays of NumPy and tensors of PyTorch are taken alike; what comes back is NumPy's. Whatever is wrong with an
argument raises `InputError`, a `ValueError`; a limit that was met raises `LimitError`. Other threads run while krohn works,
and Ctrl-C ends `verify`, `sample`, `dataset` and running words."""

from krohn._krohn import Error, FileError, InputError, LimitError
from krohn.automaton import Automaton, classify
from krohn.black_box import BlackBox
from krohn.certificate import Certificate, sample, verify
from krohn.checkpoint import Checkpoint
from krohn.extraction import Extracted, extract
from krohn.network import Network, compile, export, plan, targets
from krohn.picture import Picture
from krohn.probe import Probe, probe
from krohn.tasks import Dataset, dataset, tasks
from krohn.trial import Trial, test

__all__ = [
    "Automaton",
    "BlackBox",
    "Certificate",
    "Checkpoint",
    "Dataset",
    "Error",
    "Extracted",
    "FileError",
    "InputError",
    "LimitError",
    "Network",
    "Picture",
    "Probe",
    "Trial",
    "classify",
    "compile",
    "dataset",
    "export",
    "extract",
    "plan",
    "probe",
    "sample",
    "targets",
    "tasks",
    "test",
    "verify",
]
