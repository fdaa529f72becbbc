import os
import threading
import time
from pathlib import Path

import psutil
import pytest

from ncosolve import child
from ncosolve.child import Child, ChildError


def never():
    return False


@pytest.fixture(autouse=True)
def this_module_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1])


@pytest.fixture
def process():
    started = Child()
    yield started
    started.kill()


def test_values_and_environment(process):
    assert process.call(divmod, 17, 5, over=never) == (3, 2)
    other = Child({"A_VARIABLE_OF_MINE": "7"})
    assert other.call(os.getenv, "A_VARIABLE_OF_MINE", over=never) == "7"
    other.kill()


def test_large_values_cross(process):
    data = os.urandom(5_000_000)
    assert process.call(bytes, data, over=never) == data


def test_an_exception_is_told_and_the_process_goes_on(process):
    with pytest.raises(ChildError, match="ValueError: invalid literal"):
        process.call(int, "x", over=never)
    assert process.call(int, "3", over=never) == 3


def test_what_it_prints_does_not_mix_with_its_answers(process, capfd):
    assert process.call(os.system, "echo noise", over=never) == 0
    assert process.call(print, "more noise", over=never) is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("function", "argument", "how"),
    [(os._exit, 3, "exit code 3"), (os.system, "echo last words; kill -9 $PPID", "last words")],
)
def test_a_death_has_its_reason(function, argument, how):
    with pytest.raises(ChildError, match=how):
        Child().call(function, argument, over=never)


def test_it_is_killed_when_time_is_up(process):
    began = time.perf_counter()
    assert process.call(time.sleep, 30, over=lambda: time.perf_counter() > began + 0.1) is None
    assert time.perf_counter() - began < 2
    assert not process.alive


def test_a_kept_process_is_used_again_and_a_killed_one_replaced():
    first = child.call(os.getpid, over=never)
    assert child.call(os.getpid, over=never) == first
    assert child.call(time.sleep, 30, over=lambda: True) is None
    assert child.call(os.getpid, over=never) != first


def test_threads_get_processes_of_their_own():
    seen = []
    both = threading.Barrier(2)

    def call():
        both.wait()
        seen.append(child.call(_pid_after_a_while, over=never))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 2
    child.end_idle()
    assert not any(psutil.pid_exists(pid) for pid in seen)


def _pid_after_a_while():
    time.sleep(0.3)
    return os.getpid()


def test_it_dies_with_its_parent():
    parent = Child()
    grandchild = parent.call(_start_and_leave, over=never)
    parent.kill()
    for _ in range(100):
        if not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.02)
    pytest.fail("it outlived its parent")


def _start_and_leave():
    return child.call(os.getpid, over=never)
