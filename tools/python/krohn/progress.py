"""How far long work is: what `progress=` of krohn's functions means."""

import importlib.util
import sys
from typing import Any, Callable, Optional, Union

Progress = Union[None, bool, Callable[[str, int, int], Any]]
"""None (the default): a bar of tqdm where that is installed and somebody watches, otherwise silence. False: silence. A
function: it is called with what is being done ("training, steps"), how much of it is, and how much there is (0: unknown), at
the start and ten times a second, from any thread; what it raises ends the work."""


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class Bars:
    """One bar of tqdm after another, each for one kind of work, and none for work of less than a second."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        # Elsewhere than on a terminal and in a notebook nobody watches. tqdm takes a notebook without widgets for a file.
        self._disable = False if _in_notebook() else None
        self._what, self._bar = None, None  # type: Optional[str], Any

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self.close()
            bar = self._tqdm(desc=what, total=total or None, leave=False, delay=1, disable=self._disable)
            self._what, self._bar = what, bar
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class told:
    """`with told(progress) as tell:` gives the extension module what to call, and closes the bar in the end."""

    def __init__(self, progress: Progress) -> None:
        self._bars: Optional[Bars] = None
        self._tell: Optional[Callable[[str, int, int], Any]] = progress if callable(progress) else None
        if progress is None or progress is True:
            try:
                # Bars of notebooks are widgets; without those tqdm.auto warns, and a bar of text does.
                if importlib.util.find_spec("ipywidgets") is None:
                    from tqdm import tqdm
                else:
                    from tqdm.auto import tqdm
            except ImportError:
                return
            self._tell = self._bars = Bars(tqdm)

    def __enter__(self) -> Optional[Callable[[str, int, int], Any]]:
        return self._tell

    def __exit__(self, *_: Any) -> None:
        if self._bars is not None:
            self._bars.close()
