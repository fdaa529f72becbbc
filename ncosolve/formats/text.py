"""Files in and out, and plain text as numbers: what all formats share."""

import contextlib
import gzip
import io
import math
import os
import re
import zlib
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from ncosolve.errors import InputError
from ncosolve.problems.base import BoolArray, FloatArray, IntArray

LARGEST = 2**30
"""A file with more bytes than this, unpacked, is refused."""

_COMMENT = re.compile(r"(?:[#!(]|//)[^\n]*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def load(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, unpacked where it is gzip'd.

    Raises
    ------
    InputError
        When it does not exist, cannot be read, is damaged, or is larger than `LARGEST`.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
        if data[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
                data = unpacked.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError("no such file", str(path)) from None
    except IsADirectoryError:
        raise InputError("is a directory, expected a file", str(path)) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"is a damaged gzip file ({error})", str(path)) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {_reason(error)}", str(path)) from None
    if len(data) > LARGEST:
        raise InputError(f"holds more than {LARGEST} bytes", str(path))
    return data


def decode(data: bytes) -> str:
    """Text from UTF-8 (with or without a mark) or Latin-1, its lines ended by a line feed alone.

    Raises
    ------
    InputError
        When it is binary, or empty.
    """
    if b"\0" in data:
        raise InputError("is a binary file, expected text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a")
    if not text.strip():
        raise InputError("is empty")
    return text


def save(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write a file whole or not at all, packed where the name ends with ``.gz``; InputError where that fails."""
    payload = data.encode() if isinstance(data, str) else data
    if str(path).lower().endswith(".gz"):
        payload = gzip.compress(payload, mtime=0)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            # a directory fails here; a pipe or a device must be written to, not replaced
            with open(path, "wb") as stream:
                stream.write(payload)
            return
        target = Path(os.path.realpath(path))
        part = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
        try:
            part.write_bytes(payload)
            os.replace(part, target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {_reason(error)}", str(path)) from None


def writable_folder(path: Path, create: bool = False) -> None:
    """Make sure that files can be written to a folder, made first with ``create``; InputError where they cannot."""
    try:
        if create:
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", str(path)) from None
    if not path.is_dir():
        raise InputError("is not a folder", str(path))
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError("cannot be written to", str(path))


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def shown(text: str) -> str:
    """A piece of a file as it may stand in an error message: quoted, on one line, short."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def written(value: float) -> str:
    """A number as text that reads back to the same float64; whole numbers without a decimal point."""
    value = float(value)
    return str(int(value)) if value == math.floor(value) and abs(value) < 1e15 else repr(value)


def line(number: int) -> str:
    """How a line is named in an error."""
    return f"line {number}"


def numeric(token: str) -> float | None:
    """A finite number written in the usual way, or None."""
    value = float(token) if _NUMBER.fullmatch(token) else math.inf
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Block:
    """A run of lines that hold numbers; comments behind ``#``, ``!``, ``//`` or ``(`` do not count.

    Attributes
    ----------
    text : str
        The lines.
    first : int
        The number of the first of them in the file.
    """

    text: str
    first: int = 1

    def tokens(self) -> list[str]:
        """What stands between blanks."""
        return self._plain().split()

    def numbers(self) -> FloatArray:
        """All numbers in reading order, wherever the lines break; InputError names the line of anything else."""
        return self._parse(self.tokens())

    def rows(self, width: int, meaning: str) -> FloatArray:
        """Numbers as an array (k, width) where each line that is not blank holds ``width`` of them.

        Raises
        ------
        InputError
            Naming the line that holds something else; ``meaning`` says what a line should be.
        """
        lines = [entry.split() for entry in self._plain().split("\n")]
        if not {len(entry) for entry in lines} <= {0, width}:
            k = next(k for k, entry in enumerate(lines) if len(entry) not in (0, width))
            found = f"holds {len(lines[k])} values, expected {width}: {meaning}"
            raise InputError(found, where=line(self.first + k))
        return self._parse(list(chain.from_iterable(lines))).reshape(-1, width)

    def line_of(self, k: int) -> str:
        """The line on which the k-th number stands, counted from 0; the last line if there are fewer."""
        seen, here = 0, self.first
        for offset, entry in enumerate(self._plain().split("\n")):
            count = len(entry.split())
            here = self.first + offset if count else here
            seen += count
            if seen > k:
                break
        return line(here)

    def require(self, good: BoolArray, values: FloatArray, expected: str, width: int = 1) -> None:
        """InputError at the first number that is not good; ``width`` numbers of the block belong to each value."""
        if not good.all():
            k = int(np.argmin(good))
            raise InputError(f"{written(values[k])} is not allowed, expected {expected}", where=self.line_of(k * width))

    def _plain(self) -> str:
        return _COMMENT.sub("", self.text)

    def _parse(self, tokens: list[str]) -> FloatArray:
        try:
            values = np.array(tokens, dtype=np.float64)
            # Python's float() takes 1_000 and digits of other scripts; no format does
            strange = not np.isfinite(values).all() or any("_" in t or not t.isascii() for t in tokens)
        except ValueError:
            strange = True
        if strange:
            k = next(k for k, token in enumerate(tokens) if numeric(token) is None)
            raise InputError(f"{shown(tokens[k])} is not a finite number", where=self.line_of(k))
        return values


def whole(values: FloatArray, block: Block, expected: str, width: int = 1) -> IntArray:
    """Numbers as int64; InputError names the line of one that is not whole."""
    block.require((values == np.floor(values)) & (np.abs(values) < 2**53), values, expected, width)
    return values.astype(np.int64)
