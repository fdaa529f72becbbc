import math
import time

import pytest

from ncosolve.deadline import Deadline
from ncosolve.errors import InputError


@pytest.mark.parametrize("limit", [-1, math.nan, -math.inf])
def test_a_limit_must_be_a_number_of_seconds(limit):
    with pytest.raises(InputError, match="time_limit"):
        Deadline(limit)


def test_compilation_does_not_count():
    deadline = Deadline(0.05)
    time.sleep(0.06)
    assert deadline.over()
    deadline.compiling += 0.06
    assert not deadline.over()
    assert deadline.total() > deadline.elapsed()


def test_no_time_left_at_all():
    deadline = Deadline(0)
    assert deadline.over()
    assert deadline.remaining() == 0
    assert deadline.progress() == 1


def test_cancelling_ends_an_endless_one():
    deadline = Deadline()
    assert not deadline.over()
    assert deadline.progress() < 0.1
    deadline.cancel()
    assert deadline.over()
    assert deadline.remaining() == 0


def test_progress_without_a_limit_is_that_of_a_growing_horizon(monkeypatch):
    deadline = Deadline()
    shares = []
    for seconds in (1.0, 9.9, 10.1, 60.0, 63.0):
        monkeypatch.setattr(deadline, "elapsed", lambda seconds=seconds: seconds)
        shares.append(deadline.progress())
    assert shares == pytest.approx([0.1, 0.99, 10.1 / 62.5, 60 / 62.5, 63 / 390.625])
