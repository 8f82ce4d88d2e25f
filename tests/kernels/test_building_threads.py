"""Several threads may ask for the same kernel at once: it is made once, and never replaced while one runs it."""

import threading
import time

import numpy as np

import kinode as kn
from kinode.jit import compiler


def test_kernels_are_built_once_by_many_threads(monkeypatch):
    dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    build, built, barrier, ends = compiler.build_several, [], threading.Barrier(6), []

    def slowly(requests):
        built.extend(request.words for request in requests)
        time.sleep(0.02)  # so that the others come meanwhile
        return build(requests)

    def work():
        barrier.wait()
        ends.extend(kn.simulate(dynamics, 0.2)["elbow.q"][-1] for _ in range(3))

    monkeypatch.setattr(compiler, "build_several", slowly)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ends) == 18 and np.ptp(ends) == 0.0
    assert "rate of double_pendulum" in built
    assert len(built) == len(set(built))
