"""NumPy archives (``.npz``) of one instance or of a batch: every field of every problem, to the last bit.

Fields with one entry a node, row or column are concatenated over the batch, fields with one value an instance stacked;
``n`` (and ``m``, the rows of a MILP) tell where each instance begins. No pickled objects are read or written.
"""

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.errors import InputError
from ncosolve.formats.text import LARGEST, load, save
from ncosolve.problems import PROBLEMS, module
from ncosolve.problems.distance import Distance

Arrays = Mapping[str, NDArray[Any]]

NODES = ("demand", "ready_time", "due_date", "service_time", "draft_limit", "ids")
"""Fields of a routing problem with one entry a node."""
COLUMNS = ("objective", "lower", "upper", "integer", "column_names")
"""Fields of a MILP with one entry a column; ``row_lower``, ``row_upper`` and ``row_names`` have one a row."""
ROWS = ("row_lower", "row_upper", "row_names")
FREE = -1
"""What stands for a fleet without a limit."""


def write_batch(instances: Sequence[Any], path: str | PathLike[str]) -> None:
    """Write instances of one problem to one archive, whole or not at all.

    Raises
    ------
    InputError
        When there are none, they differ in problem, metric, rounding or objective, or the file cannot be written.
    """
    batch = list(instances)
    if not batch:
        raise InputError("no instances to write", str(path))
    kinds = {_kind(instance) for instance in batch}
    if len(kinds) > 1:
        first, second = sorted(map(str, kinds))[:2]
        raise InputError(f"instances of one archive must be alike, found {first} and {second}", str(path))
    arrays = _milp_arrays(batch) if batch[0].problem == "milp" else _routing_arrays(batch)
    arrays |= {"problem": np.array(batch[0].problem), "name": np.array([each.name for each in batch])}
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    save(path, stream.getvalue())


def _kind(instance: Any) -> tuple[Any, ...]:
    if instance.problem == "milp":
        return ("milp",)
    distance = instance.distance
    held = ("coords" if distance.coords is not None else "", "weights" if distance.weights is not None else "")
    width = 0 if distance.coords is None else distance.coords.shape[1]
    return (instance.problem, distance.metric, distance.rounding, *held, width, getattr(instance, "objective", ""))


def _routing_arrays(batch: Sequence[Any]) -> dict[str, NDArray[Any]]:
    first = batch[0]
    arrays = {
        "n": np.array([each.n for each in batch]),
        "metric": np.array(first.distance.metric),
        "rounding": np.array(first.distance.rounding),
    }
    if first.distance.coords is not None:
        arrays["coords"] = np.concatenate([each.distance.coords for each in batch])
    if first.distance.weights is not None:
        arrays["weights"] = np.concatenate([each.distance.weights.ravel() for each in batch])
    arrays |= {key: np.concatenate([getattr(each, key) for each in batch]) for key in NODES if hasattr(first, key)}
    if hasattr(first, "capacity"):
        arrays["capacity"] = np.array([each.capacity for each in batch])
        limits = [FREE if each.max_vehicles is None else each.max_vehicles for each in batch]
        arrays["max_vehicles"] = np.array(limits)
    if hasattr(first, "objective"):
        arrays["objective"] = np.array(first.objective)
    return arrays


def _milp_arrays(batch: Sequence[Any]) -> dict[str, NDArray[Any]]:
    kinds = {key: np.str_ if key.endswith("names") else None for key in COLUMNS + ROWS}
    arrays = {key: np.concatenate([np.asarray(getattr(each, key), kinds[key]) for each in batch]) for key in kinds}
    arrays |= {key: np.array([getattr(each, key) for each in batch]) for key in ("maximise", "offset")}
    arrays |= {
        key: np.concatenate([getattr(each.rows, key) for each in batch]) for key in ("indptr", "indices", "data")
    }
    return arrays | {"n": np.array([each.n for each in batch]), "m": np.array([each.rows.shape[0] for each in batch])}


def read_batch(path: str | PathLike[str]) -> list[Any]:
    """All instances of an archive.

    Raises
    ------
    InputError
        When the file is no archive of ncosolve, is damaged, or holds a number that is not allowed.
    """
    try:
        return parse(load(path))
    except InputError as error:
        raise error.within(str(path)) from None


def parse(data: bytes) -> list[Any]:
    """All instances in the bytes of an archive; errors as for `read_batch`."""
    try:
        arrays = _unpack(data)
    except Exception as error:  # a damaged archive makes zipfile, zlib and NumPy raise a dozen kinds
        raise InputError(f"is no readable NumPy archive ({str(error)[:80]!r})") from None
    problem = _word(arrays, "problem")
    if problem not in PROBLEMS:
        raise InputError(f"is {problem[:40]!r}, expected one of {', '.join(PROBLEMS)}", where="problem")
    sizes = _sizes(arrays, "n")
    return _milps(arrays, sizes) if problem == "milp" else _routings(arrays, problem, sizes)


def _unpack(data: bytes) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
            raise ValueError(f"unpacked, it holds more than {LARGEST} bytes")
        for entry in archive.infolist():
            # a header may claim more than the file holds, and memory would be taken for it
            with archive.open(entry) as stream:
                if np.lib.format.read_magic(stream) != (1, 0):
                    raise ValueError(f"{entry.filename} is of an unknown version")
                shape, _, kind = np.lib.format.read_array_header_1_0(stream)
            if math.prod(shape) * kind.itemsize > entry.file_size:
                raise ValueError(f"{entry.filename} is cut off")
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def _array(arrays: Arrays, key: str, shape: tuple[int, ...], kinds: str = "biuf") -> NDArray[Any]:
    """An array of that shape and of one of those kinds (of NumPy's ``dtype.kind``)."""
    if key not in arrays:
        raise InputError("is missing", where=key)
    array = arrays[key]
    if array.shape != shape or array.dtype.kind not in kinds:
        found = f"is {array.dtype} of shape {array.shape}"
        raise InputError(f"{found}, expected shape {shape} and a kind of {kinds}", where=key)
    return array


def _word(arrays: Arrays, key: str) -> str:
    return str(_array(arrays, key, (), "U"))


def _sizes(arrays: Arrays, key: str) -> list[int]:
    """One size an instance; how many instances there are is told by their names."""
    if "name" not in arrays or arrays["name"].ndim != 1 or not len(arrays["name"]):
        raise InputError("is missing or no list of names", where="name")
    sizes = _array(arrays, key, arrays["name"].shape, "iu")
    if (sizes < 0).any() or (sizes > LARGEST).any():
        raise InputError("holds something else than sizes", where=key)
    return [int(size) for size in sizes]


def _split(arrays: Arrays, key: str, sizes: Sequence[int], width: int = 0) -> list[NDArray[Any]]:
    """A concatenated field, taken apart by the sizes of the instances."""
    shape = (sum(sizes), width) if width else (sum(sizes),)
    kinds = "U" if key.endswith("names") else "iu" if key in ("ids", "indptr", "indices") else "biuf"
    return np.split(_array(arrays, key, shape, kinds), np.cumsum(sizes)[:-1])


def _routings(arrays: Arrays, problem: str, sizes: list[int]) -> list[Any]:
    count = len(sizes)
    shared: dict[str, Any] = {key: _word(arrays, key) for key in ("metric", "rounding")}
    coords: Sequence[Any] = [None] * count
    weights: Sequence[Any] = [None] * count
    if "coords" in arrays:
        width = arrays["coords"].shape[-1] if arrays["coords"].ndim == 2 else 2
        coords = _split(arrays, "coords", sizes, width)
    if shared["metric"] == "matrix":
        weights = [
            table.reshape(n, n)
            for table, n in zip(_split(arrays, "weights", [n * n for n in sizes]), sizes, strict=True)
        ]
    made = module(problem).INSTANCE
    wanted = made.__dataclass_fields__
    fields: dict[str, Sequence[Any]] = {key: _split(arrays, key, sizes) for key in NODES if key in wanted}
    if "capacity" in wanted:
        limits = _array(arrays, "max_vehicles", (count,)).tolist()
        fields["capacity"] = _array(arrays, "capacity", (count,)).tolist()
        fields["max_vehicles"] = [None if limit == FREE else limit for limit in limits]
    if "objective" in wanted:
        fields["objective"] = [_word(arrays, "objective")] * count
    return [
        made(
            Distance(shared["metric"], shared["rounding"], coords[k], weights[k]),
            name=str(arrays["name"][k]),
            **{key: values[k] for key, values in fields.items()},
        )
        for k in range(count)
    ]


def _milps(arrays: Arrays, sizes: list[int]) -> list[Any]:
    from scipy.sparse import csr_array

    heights, count = _sizes(arrays, "m"), len(sizes)
    fields = {key: _split(arrays, key, sizes) for key in COLUMNS} | {key: _split(arrays, key, heights) for key in ROWS}
    starts = _split(arrays, "indptr", [m + 1 for m in heights])
    entries = [int(start[-1]) for start in starts]
    if min(entries) < 0:
        raise InputError("ends below 0", where="indptr")
    indices, data = _split(arrays, "indices", entries), _split(arrays, "data", entries)
    maximise, offset = _array(arrays, "maximise", (count,)), _array(arrays, "offset", (count,))
    made = []
    for k in range(count):
        try:
            rows = csr_array((data[k], indices[k], starts[k]), shape=(heights[k], sizes[k]))
            rows.check_format(full_check=True)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"are no sparse matrix ({error})", where="indptr, indices, data") from None
        values = {key: each[k] for key, each in fields.items() if key != "objective"}
        options = {"maximise": bool(maximise[k]), "offset": float(offset[k]), "name": str(arrays["name"][k])}
        made.append(module("milp").INSTANCE(fields["objective"][k], rows, **values, **options))
    return made
