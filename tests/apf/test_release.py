"""Releases and the ranges in which rules hold."""

from __future__ import annotations

import pytest

from apftop.apf.release import Release, holds, parse_release


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("v1.30.4", Release(1, 30, 4)),
        ("v1.29.3-eks-adc7111", Release(1, 29, 3)),
        ("1.30.4-gke.1348000", Release(1, 30, 4)),
        ("v1.28.8+k3s1", Release(1, 28, 8)),
        ("1.34", Release(1, 34, 0)),
        ("", None),
        ("unknown", None),
    ],
)
def test_releases_are_read_with_their_vendors_suffix(text: str, release: Release | None) -> None:
    assert parse_release(text) == release


def test_a_rule_with_back_ports_holds_where_it_was_put_in() -> None:
    ranges = (">=1.26.8 <1.27", ">=1.27.5 <1.28", ">=1.28")

    assert [
        holds(Release(1, minor, patch), ranges) for minor, patch in ((26, 7), (26, 8), (27, 4), (27, 5), (28, 0))
    ] == [
        False,
        True,
        False,
        True,
        True,
    ]


def test_a_range_without_a_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="not a release range"):
        holds(Release(1, 30), ("1.30",))
