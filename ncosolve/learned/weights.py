"""Weights in files: safetensors whose header says what network they are of, written whole or not at all."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from ncosolve.errors import InputError
from ncosolve.formats.text import save as write

CONTENT = "ncosolve"
"""The key of the header's JSON text."""


def save_weights(file: Path, network: nn.Module, header: Mapping[str, Any]) -> None:
    """Write the state of a network with a header of what can be said in JSON."""
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    write(file, save(tensors, metadata={CONTENT: json.dumps(header)}))


def load_weights(file: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file.

    Parameters
    ----------
    kind : str
        What ``header["kind"]`` must be.

    Raises
    ------
    InputError
        When the file cannot be read, is damaged, or is of another kind.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "pt") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - no mapping
            header = json.loads((opened.metadata() or {}).get(CONTENT, "{}"))
    except FileNotFoundError:
        raise InputError("no such file, expected weights", str(file)) from None
    except (OSError, SafetensorError, ValueError) as error:
        raise InputError(f"holds no weights: {error}", str(file)) from None
    if header.get("kind") != kind:
        raise InputError(f"holds weights of {header.get('kind', 'something else')!r}, expected {kind!r}", str(file))
    return tensors, header


def put_weights(network: nn.Module, tensors: Mapping[str, Tensor], file: Path) -> None:
    """Load tensors into a network; InputError where they do not fit it."""
    try:
        network.load_state_dict(dict(tensors))
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"does not fit the network: {reason[:200]}", str(file)) from None
