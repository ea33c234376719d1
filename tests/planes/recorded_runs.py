"""The runs that are recorded, in the order of recording; all seeds are fixed."""

from __future__ import annotations

from tests.planes.flow import priority_level
from tests.planes.recorded_corners import borrowing, one_queue, restart, rivalry, zero_seats
from tests.planes.recorded_crowds import bursts, contention, schemas, wide
from tests.planes.scenario import Scenario

OLD, NEW = "1.30.4", "1.37.2"

RUNS: tuple[Scenario, ...] = (
    contention(
        "contention-a-1.30.4",
        OLD,
        101,
        0.1,
        (60, 30),
        priority_level("load", shares=10, queue_length=12, lendable=50, borrowing=50),
        (30,),
    ),
    contention(
        "contention-b-1.37.2",
        NEW,
        202,
        0.25,
        (40, 20),
        priority_level("load", shares=25, queue_length=12, lendable=50, borrowing=50),
        (30, 18),
    ),
    contention(
        "contention-c-1.30.4", OLD, 303, 0.5, (60, 30), priority_level("load", shares=30, queue_length=12), (30,) * 2
    ),
    contention(
        "contention-d-1.37.2", NEW, 404, 0.1, (60, 30), priority_level("load", shares=10, queue_length=4), (30, 12)
    ),
    wide("wide-a-1.30.4", OLD, 505, 0.25, 80, (100, 60), 60, 4),
    wide("wide-b-1.37.2", NEW, 606, 0.12, 400, (120, 60), 80, 4),
    schemas("schemas-a-1.30.4", OLD, 707, 0.25, (50, 30), 20),
    bursts("bursts-a-1.37.2", NEW, 808, 0.3, (50, 20), priority_level("load", shares=20, queues=32, hand_size=5)),
    one_queue("onequeue-a-1.30.4", OLD, 909, (60, 30)),
    zero_seats("zeroseats-a-1.37.2", NEW, 1010, (60, 30)),
    borrowing("borrowing-a-1.30.4", OLD, 1111, (40, 20)),
    restart("restart-a-1.37.2", NEW, 1212, (60, 30)),
    schemas("schemas-b-1.37.2", NEW, 1313, 0.15, (40, 20), 16),
    bursts("bursts-b-1.30.4", OLD, 1414, 0.15, (40, 20), priority_level("load", shares=15, queues=64, hand_size=6)),
    rivalry("borrowing-b-1.37.2", NEW, 1515, (30, 20)),
)
