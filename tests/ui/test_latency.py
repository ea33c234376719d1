"""Keys are answered whatever comes in meanwhile; how fast is measured by the bench, since machines are noisy."""

from __future__ import annotations

from tests.ui.latency import FLOOD, burdened, latencies, quantile

# What a person would call stuck, on a machine of which others take most.
STUCK_S = 1.0


def test_keys_are_answered_while_moments_come_in_without_end() -> None:
    assert quantile(latencies(FLOOD, "3 of 3 replicas", 6), 0.9) < STUCK_S


def test_keys_are_answered_while_a_large_answer_arrives_and_another_server_hangs() -> None:
    with burdened() as argv:
        assert quantile(latencies(argv, "workload-low", 8), 0.9) < STUCK_S
