"""The models that the papers compare with, in PyTorch, trained on krohn's tasks and measured by krohn's metric. Needs torch and
safetensors: `pip install krohn[rivals]`.

    python -m krohn.rivals train parity --model lstm:hidden=32 -o run/
"""

try:
    import safetensors  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("krohn.rivals trains with PyTorch: pip install 'krohn[rivals]' (torch, safetensors)") from error

from krohn.rivals.models import FAMILIES, build, full_name, parse
from krohn.rivals.training import Options, Run, Score, load, measure, train

__all__ = ["FAMILIES", "Options", "Run", "Score", "build", "full_name", "load", "measure", "parse", "train"]
