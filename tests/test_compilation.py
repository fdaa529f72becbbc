"""The first-ever compilation of kernels is announced and not counted."""

import json
import os
import subprocess
import sys

CODE = """
import json, logging, ncosolve
messages = []
handler = logging.Handler()
handler.emit = lambda record: messages.append(record.getMessage())
logging.getLogger("ncosolve").addHandler(handler)
logging.getLogger("ncosolve").setLevel(logging.INFO)
instance = ncosolve.generate("tsp", 200, seed=1)
solution = ncosolve.solve(instance, "tour-search", time_limit=1.0)
print(json.dumps([solution.time_total, solution.time_compile, solution.time_search, solution.history[0][0], messages]))
"""


def run(cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_cold_start_gets_its_whole_time(tmp_path):
    """With an empty cache the search still has its second; with a full one nothing is called compilation."""
    total, compiling, searching, first, messages = run(tmp_path)
    assert compiling > 1.0
    assert abs(total - compiling - searching) < 1e-3
    assert first < 0.7 < searching < 1.5
    assert messages == ["compiling kernels, first run only"]
    _, compiling, _, _, messages = run(tmp_path)
    assert compiling == 0.0
    assert messages == []
