"""What client-go says of its own limiter, in the wordings of its releases and of the loggers around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apftop.logs.read import logs_of
from apftop.logs.throttled import MOST_REQUESTS, Throttled
from apftop.logs.words import delay, duration
from apftop.records.logs import OTHERS, ClientLog

LISTED = "GET /apis/apps/v1/namespaces/team-1/deployments"
URL = "https://10.0.0.1:6443/apis/apps/v1/namespaces/team-1/deployments"
REASON = "client-side throttling, not priority and fairness"
WORDINGS = {
    "1.20": f"I0412 10:03:02.015838   77121 request.go:591] Throttling request took 1.2s, "
    f"request: GET:{URL}?timeout=32s",
    "1.21 to 1.32": f"I0412 10:03:02.015838   77121 request.go:697] Waited for 1.2s due to {REASON}, "
    f"request: GET:{URL}",
    "since 1.33": f'I0412 10:03:02.015838   77121 request.go:752] "Waited before sending request" delay="1.2s" '
    f'reason="{REASON}" verb="GET" URL="{URL}?limit=500"',
    "logrus around klog": f'time="2024-04-12T10:03:02Z" level=info msg="Waited for 1.2s due to {REASON}, request: '
    f'GET:{URL}" subsys=klog',
    "logrus around klog since 1.33": '2025-12-25T19:46:19Z level=info msg="\\"Waited before sending request\\" '
    f'delay=\\"1.2s\\" reason=\\"{REASON}\\" verb=\\"GET\\" URL=\\"{URL}\\"" subsys=klog',
    "zap JSON around klog": '{"level":"info","ts":1712916182.015838,"logger":"klog","msg":"Waited for 1.2s due to '
    f'{REASON}, request: GET:{URL}"}}',
    "zap JSON, durations in seconds": '{"level":"info","ts":1712916182.01,"msg":"Waited before sending request",'
    f'"delay":1.2,"reason":"{REASON}","verb":"GET","URL":"{URL}"}}',
    "zap console": "2024-04-12T10:03:02.015Z\tINFO\tWaited before sending request\t"
    f'{{"delay": "1.2s", "reason": "{REASON}", "verb": "GET", "URL": "{URL}"}}',
    "JSON of component-base": '{"ts":1712916182015.838,"caller":"rest/request.go:752","msg":"Waited before sending '
    f'request","v":0,"delay":"1.2s","reason":"{REASON}","verb":"GET","URL":"{URL}"}}',
    "slog JSON": '{"time":"2024-04-12T10:03:02Z","level":"INFO","msg":"Waited before sending request",'
    f'"delay":1200000000,"reason":"{REASON}","verb":"GET","URL":{{"Scheme":"https","Opaque":"","User":null,'
    '"Host":"10.0.0.1:6443","Path":"/apis/apps/v1/namespaces/team-1/deployments","RawPath":""}}',
    "klogr": f'I0412 10:03:02.015838   77121 request.go:752]  "msg"="Waited before sending request" "delay"="1.2s" '
    f'"reason"="{REASON}" "verb"="GET" "URL"="{URL}"',
    "a container's log": f"2024-04-12T10:03:02.015838Z stderr F I0412 10:03:02.015838       1 request.go:697] "
    f"Waited for 1.2s due to {REASON}, request: GET:{URL}",
}


def read(*lines: str) -> ClientLog:
    throttled = Throttled()
    for line in lines:
        assert throttled.take(line.encode()), line
    return throttled.log()


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_wait_is_read_in_every_wording(wording: str) -> None:
    log = read(WORDINGS[wording])

    assert (log.lines, log.max_wait_s, log.sum_wait_s) == (1, 1.2, 1.2)
    assert log.requests == {LISTED: 1} and log.longest == {LISTED: 1.2}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1.2s", 1.2),
        ("350ms", 0.35),
        ("1m2.3s", 62.3),
        ("1h0m0.5s", 3600.5),
        ("86.374315ms", 0.086374315),
        ("556.708µs", 556.708e-6),
        ("12us", 12e-6),
        ("100ns", 1e-7),
        ("0s", 0.0),
    ],
)
def test_durations_are_read_as_go_prints_them(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "1", "1m2", "1m2-", "s", ".s", "-1s", "1.2s,", "1.2S", "1e3s", "nan"])
def test_what_is_no_duration_is_unknown(text: str) -> None:
    assert duration(text) is None


def test_numbers_without_a_unit_are_seconds_or_nanoseconds_by_their_size() -> None:
    assert delay("1.2") == 1.2
    assert delay("1200354667") == pytest.approx(1.200354667)
    assert delay("1e-1") == 0.1


def test_waits_before_another_try_are_told_apart_with_the_schema_that_refused() -> None:
    uid = "b9cbf86d-2bb5-4a3e-8ea7-4e8bd1ee6c1b"
    again = f'retries: 1, retry-after: 1s - retry-reason: due to server-side throttling, FlowSchema UID: "{uid}"'
    escaped = again.replace('"', '\\"')
    log = read(
        f"I0412 10:03:02.015838   77121 request.go:697] Waited for 580ms, {again} - request: GET:{URL}",
        f'I0412 10:03:05.015838   77121 request.go:752] "Waited before sending request" delay="580ms" '
        f'reason="{escaped}" verb="GET" URL="{URL}"',
        f"I0412 10:03:09.015838   77121 request.go:697] Waited for 1.1s, retries: 2, retry-after: 1s - retry-reason: "
        f"due to retryable error, error: EOF - request: GET:{URL}",
    )

    assert log.lines == 0 and log.sum_wait_s == 0
    assert log.retries == 3 and log.refused == {uid: 2}


def test_a_wait_that_a_verbose_client_tells_twice_counts_once() -> None:
    wait = f"request.go:697] Waited for 1.049732876s due to {REASON}, request: GET:{URL}"
    log = read(
        f"I0412 10:03:02.015838   77121 {wait}",
        f"I0412 10:03:02.015871   77121 {wait}",
        f"I0412 10:03:09.015838   77121 {wait}",
    )

    assert log.lines == 2
    assert log.seconds == 7.0


def test_requests_given_up_in_the_limiter_are_counted_and_shutdowns_are_not() -> None:
    log = read(
        "E0412 10:03:02.015838 1 leaderelection.go:330] error retrieving resource lock kube-system/x: "
        "client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline",
        "E0412 10:03:03.015838 1 c.go:1] client rate limiter Wait returned an error: context canceled",
    )

    assert log.given_up == 1 and log.lines == 0


def test_other_waits_are_left_alone() -> None:
    log = read(
        "Waited for 3 seconds until pod web-0 was ready",
        "I0412 10:03:02.015838 1 reflector.go:535] failed to list *v1.Pod: the server has received too many requests",
        "",
    )

    assert log == ClientLog(0, 0.0, 0.0)


@pytest.mark.parametrize(
    "line",
    [
        f"I0412 10:03:02.015838   77121 request.go:697] Waited for due to {REASON}, request: GET:{URL}",
        f"I0412 10:03:02.015838   77121 request.go:697] Waited for 1.2 due to {REASON}, request: GET:{URL}",
        "I0412 10:03:02.015838   77121 request.go:697] Waited for 1.2",
        f"I0412 10:03:02.015838   77121 request.go:697] Waited for 1.2s due to {REASON}, requ",
        'I0412 10:03:02.015838   77121 request.go:752] "Waited before sending request" delay="1.2',
        "I0412 10:03:02.015838   77121 request.go:591] Throttling request took 1",
    ],
)
def test_a_torn_line_is_broken_and_not_guessed(line: str) -> None:
    throttled = Throttled()

    assert not throttled.take(line.encode())
    assert throttled.log().lines == 0


@given(st.sampled_from(sorted(WORDINGS)), st.data())
def test_a_line_cut_anywhere_never_tells_another_wait(wording: str, data: st.DataObject) -> None:
    line = WORDINGS[wording].encode()
    cut = data.draw(st.integers(0, len(line)))
    throttled = Throttled()
    throttled.take(line[:cut])
    throttled.take(line[cut:])

    assert throttled.log().max_wait_s in (0.0, 1.2)
    assert throttled.log().lines <= 1


@given(st.binary(max_size=300))
@example(b'"Waited before sending request" delay="\xff" reason=x verb="\\')
@example(b"Waited for 1s due to client-side throttling, not priority and fairness, request: GET:http://[")
def test_no_line_at_all_is_a_crash(line: bytes) -> None:
    Throttled().take(line)
    Throttled().take(b"Waited before sending request " + line)


def test_many_different_requests_are_counted_together_at_last() -> None:
    lines = [
        f"request.go:697] Waited for 1.2s due to {REASON}, request: PUT:https://h/api/v1/namespaces/n/pods/p-{number}"
        for number in range(MOST_REQUESTS + 50)
    ]
    log = read(*lines)

    assert log.lines == sum(log.requests.values()) == MOST_REQUESTS + 50
    assert log.requests[OTHERS] == 50


def test_the_case_of_a_terminal_tool_has_its_sums(tmp_path: Path) -> None:
    waits = ("1.091s", "4.377s", "9.802s", "17.204s", "16.988s")
    file = tmp_path / "tool.log"
    file.write_text(
        "".join(
            f"I0412 10:03:0{i}.1 1 r.go:1] Waited for {w} due to {REASON}, request: GET:{URL}\n"
            for i, w in enumerate(waits)
        )
    )
    log = logs_of(None, [file]).client

    assert log is not None
    assert (log.lines, log.max_wait_s) == (5, 17.204)
    assert log.sum_wait_s == pytest.approx(49.462)
