"""krohn: regular languages, the exact weights of linear recurrent networks, and proofs that the two agree.

    >>> import krohn
    >>> language = krohn.Automaton("regex:(a|b)*abb")
    >>> network = krohn.compile(language)
    >>> krohn.verify(network).proved
    True

Words are texts, one-dimensional arrays of letters (indices of `Automaton.letters`), or two-dimensional arrays, a word in
each row. Arrays of NumPy and tensors of PyTorch are taken alike; what comes back is NumPy's. Whatever is wrong with an
argument raises `InputError`, a `ValueError`; a limit that was met raises `LimitError`. Other threads run while krohn works,
and Ctrl-C ends what it does."""

from krohn import adapters, testing
from krohn._krohn import Error, FileError, InputError, LimitError
from krohn._krohn import version as __version__
from krohn.automaton import Automaton
from krohn.black_box import BlackBox
from krohn.asking import Facts
from krohn.certificate import Certificate, sample, verify
from krohn.checking import Audit, Check, Report, audit, check, kit, report
from krohn.checkpoint import Checkpoint
from krohn.extraction import Extracted, extract
from krohn.network import Network, compile, export, plan, targets
from krohn.picture import Picture
from krohn.probe import Probe, probe
from krohn.questions import (Answer, Decomposition, classify, combine, decompose, disjoint, elements, empty, equal, included,
                             info, words)  # fmt: skip
from krohn.tasks import Dataset, dataset, tasks
from krohn.training import (Comparison, Evaluation, Learned, Run, Snapped, Table, compare, contract_loss, evaluate,
                            extract_model, import_model, snap, table, train)  # fmt: skip
from krohn.trial import Trial, test

__all__ = ["__version__", "adapters", "Answer", "Audit", "Automaton", "BlackBox", "Certificate", "Check",
           "Checkpoint", "Comparison", "Dataset", "Decomposition", "Error", "Evaluation", "Extracted", "Facts",
           "FileError", "InputError", "Learned", "LimitError", "Network", "Picture", "Probe", "Report", "Run",
           "Snapped", "Table", "Trial", "audit", "check", "classify", "combine", "compare", "compile",
           "contract_loss", "dataset", "decompose", "disjoint", "elements", "empty", "equal", "evaluate", "export",
           "extract", "extract_model", "import_model", "included", "info", "kit", "plan", "probe", "report", "sample",
           "snap", "table", "targets", "tasks", "test", "testing", "train", "verify", "words"]  # fmt: skip
