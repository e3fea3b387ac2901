"""The verbs of the command, asked in this process. Every function of this package that stands for a verb goes through
`ask`: it takes the verb's options by their names, with _ for -, and gives what the verb prints with --json."""

import json
import os
import re
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypeVar

from krohn import _krohn
from krohn.arrays import is_module
from krohn.picture import Picture
from krohn.progress import Progress, told

Told = TypeVar("Told", bound="Facts")


class Facts(dict):
    """The answer of a verb: fields by name, `facts.states` or `facts["states"]`; objects inside are Facts too. `json.dumps`
    takes it as it is."""

    status: int
    """The verb's exit status: 0 yes, done or proved; 1 no or refuted; 3 undecided within the limits."""
    verdict_core: Any
    """The object that `verify` leaves beside its JSON; None after other verbs."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self)}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self]


def facts_of(text: str) -> Any:
    """JSON with its objects as Facts."""
    return json.loads(text, object_hook=Facts)


def _text_of(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, (list, tuple)):
        return ",".join(_text_of(part) for part in value)
    if isinstance(value, dict):
        return ",".join(f"{name}={_text_of(part)}" for name, part in value.items())
    return value if isinstance(value, str) else os.fspath(value) if hasattr(value, "__fspath__") else str(value)


class _Operands:
    """Languages and models as the command takes them: those of this process, which have `as_file`, the ending and the name of
    a file, and `save(path)`, are in files meanwhile."""

    def __init__(self) -> None:
        self._folder: Optional[tempfile.TemporaryDirectory] = None
        self._names: Dict[str, str] = {}

    def __enter__(self) -> "_Operands":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def file(self, ending: str, name: str) -> str:
        """A path for a file that is gone when the work is done, and what texts call it."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="krohn-")
        path = os.path.join(self._folder.name, f"{len(self._names)}{ending}")
        self._names[path] = name
        return path

    def text_of(self, value: Any) -> str:
        if getattr(value, "is_temporary", False):
            self._names[os.fspath(value)] = "the run"
        if hasattr(value, "as_file"):  # an object of this process, which is in a file meanwhile
            ending, name = value.as_file
            path = self.file(ending, name)
            value.save(path)
            return path
        if is_module(value) or (isinstance(value, dict) and any(hasattr(part, "shape") for part in value.values())):
            raise TypeError(f"{type(value).__name__} is a model of PyTorch: krohn.import_model(net, kind=…, against=…) makes a run "
                            "of its weights, which every function about trained models takes; krohn.test(net, …) tests it as it is")
        return _text_of(value)

    def named(self, text: str, in_json: bool = False) -> str:
        for path, name in self._names.items():
            text = text.replace(path, json.dumps(name)[1:-1] if in_json else name)
        return text


def _as_parameters(message: str) -> str:
    """Options in a message as this package calls them, max_pairs for --max-pairs, except in command lines."""
    pattern = r"(`krohn [^`]*`)|(?<![\w-])--([a-z][a-z-]*)"
    return re.sub(pattern, lambda found: found[1] or found[2].replace("-", "_"), message)


def ask(
    verb: str,
    *operands: Any,
    kind: Type[Told] = Facts,  # type: ignore[assignment]
    progress: Progress = None,
    read: Optional[Callable[[Told, str, Callable[[str], str]], Any]] = None,
    write: Tuple[str, str] = ("output", ""),
    **options: Any,
) -> Told:
    """The answer of `krohn VERB OPERANDS… --option=value…`. None and False leave an option out, True stands for a flag,
    lists are joined by commas, dicts as NAME=VALUE. `write` is an option and the ending of the file that the verb writes
    there; `read(answer, file, named)` is called while that file exists, `named` puts names for files in a text."""
    with _Operands() as given, told(progress) as tell:
        written, ending = write
        file = given.file(ending, "its output") if read is not None else ""
        if file:
            options[written] = file
        arguments: List[str] = []
        for name, value in options.items():
            if value is None or value is False:
                continue
            option = "--" + name.rstrip("_").replace("_", "-")
            arguments.append(option if value is True else f"{option}={given.text_of(value)}")
        try:
            named = [given.text_of(operand) for operand in operands]
            # An option that is a list takes what follows it; what begins like an option stands behind a mark.
            is_plain = not any(name.startswith("-") for name in named)
            status, text, verdict = _krohn.ask([verb, *named, *arguments] if is_plain else [verb, *arguments, "--", *named], tell)
        except (_krohn.InputError, _krohn.LimitError, _krohn.Error) as error:
            raise type(error)(_as_parameters(given.named(str(error)))) from None
        answer = kind(facts_of(given.named(text, in_json=True)))
        object.__setattr__(answer, "status", status)
        object.__setattr__(answer, "verdict_core", verdict)
        if read is not None:
            read(answer, file, given.named)
            answer.pop(written, None)
        return answer


def drawn(verb: str, *operands: Any, option: str, **options: Any) -> Picture:
    """The picture that a verb draws into the file of `option`."""
    pictures: List[Picture] = []

    def read(_: Facts, path: str, named: Callable[[str], str]) -> None:
        with open(path, encoding="utf-8") as file:
            pictures.append(Picture(named(file.read())))

    ask(verb, *operands, progress=False, read=read, write=(option, ".svg"), **options)
    return pictures[0]
