"""Which API versions a release serves, and what a zero and a field left out mean in each."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.parse.objects import PRESERVE_ZERO
from apftop.records.linting import Fault
from tests.lint.policies import codes, exempt, level, lint, policy, schema

PRESERVED = {"annotations": {PRESERVE_ZERO: ""}}
RELEASES = range(26, 38)
SERVED = {"v1beta1": (), "v1beta2": range(26, 29), "v1beta3": range(26, 32), "v1": range(29, 38)}


def zero(version: str, metadata: dict[str, Any] | None = None) -> str:
    """A level of zero shares, by the name that the version has for them."""
    text = level(version=version, metadata=metadata, nominalConcurrencyShares=0)
    return text.replace("nominal", "assured") if version == "v1beta2" else text


def found(text: str, code: str, target: str = "1.34") -> Fault:
    (fault,) = (one for one in lint(text, target).faults if one.code == code)
    return fault


def shares(text: str, target: str) -> int:
    made = policy(text, target).given[0].object
    assert isinstance(made, PriorityLevelConfiguration)
    return made.shares


@pytest.mark.fires("version-gone", "version-not-yet")
@pytest.mark.spares("version-gone", "version-not-yet")
@pytest.mark.parametrize("minor", RELEASES)
@pytest.mark.parametrize("version", SERVED)
def test_a_version_is_refused_by_each_release_that_does_not_serve_it(version: str, minor: int) -> None:
    refused = codes(schema(version=version), f"1.{minor}") & {"version-gone", "version-not-yet"}

    assert bool(refused) is (minor not in SERVED[version])
    if refused:
        assert refused == ({"version-not-yet"} if version == "v1" else {"version-gone"})


@pytest.mark.fires("version-deprecated")
def test_a_version_that_goes_with_a_coming_release_is_deprecated() -> None:
    fault = found(schema(version="v1beta3"), "version-deprecated", "1.30")

    assert fault.gravity == "warning"
    assert "1.32" in fault.text
    assert fault.line == 2


@pytest.mark.spares("version-deprecated")
def test_the_best_version_of_a_release_is_not_deprecated() -> None:
    assert "version-deprecated" not in codes(schema(version="v1beta3"), "1.28")
    assert "version-deprecated" not in codes(schema(), "1.37")


@pytest.mark.spares("version-gone", "version-deprecated")
def test_the_version_in_which_a_server_gave_its_objects_out_is_no_fault() -> None:
    assert not codes(schema(version="v1beta3"), "1.31", whole=True) & {"version-gone", "version-deprecated"}


def test_a_dump_in_a_version_that_is_gone_is_noted_once_a_file() -> None:
    found = lint(schema("one", version="v1beta3") + "---\n" + schema("two", version="v1beta3"), "1.32", whole=True)

    assert [(one.gravity, one.line) for one in found.faults if one.code == "version-gone"] == [("note", 2)]


@pytest.mark.fires("unknown-version")
@pytest.mark.parametrize("version", ["v2", "v1beta4", "v1Beta3"])
def test_a_version_that_never_was_is_unknown(version: str) -> None:
    assert found(schema(version=version), "unknown-version").place == "apiVersion"


@pytest.mark.spares("unknown-version")
@pytest.mark.parametrize("version", SERVED)
def test_a_version_that_once_was_is_known(version: str) -> None:
    assert "unknown-version" not in codes(schema(version=version))


@pytest.mark.fires("wrong-field")
def test_the_old_name_of_shares_is_none_of_v1() -> None:
    text = level().replace("nominal", "assured")

    assert found(text, "wrong-field").advice == "call it nominalConcurrencyShares"
    assert shares(text, "1.34") == 30


@pytest.mark.fires("wrong-field")
def test_the_new_name_of_shares_is_none_of_v1beta2() -> None:
    assert "call it assured" in found(level(version="v1beta2"), "wrong-field", "1.28").advice


@pytest.mark.fires("wrong-field")
@pytest.mark.spares("wrong-field")
@pytest.mark.parametrize("minor", RELEASES)
def test_exempt_has_shares_since_1_28_in_each_version(minor: int) -> None:
    text = exempt("v1" if minor >= 29 else "v1beta2", nominalConcurrencyShares=5)

    assert ("wrong-field" in codes(text, f"1.{minor}")) is (minor < 28)


@pytest.mark.spares("wrong-field")
def test_shares_go_by_the_name_of_their_version() -> None:
    assert "wrong-field" not in codes(level())
    assert "wrong-field" not in codes(level(version="v1beta2").replace("nominal", "assured"), "1.28")


@pytest.mark.fires("wrong-annotation")
def test_v1_refuses_the_annotation_that_keeps_a_zero() -> None:
    assert found(zero("v1", PRESERVED), "wrong-annotation").gravity == "error"


@pytest.mark.spares("wrong-annotation")
def test_v1beta3_takes_the_annotation_that_keeps_a_zero() -> None:
    assert "wrong-annotation" not in codes(zero("v1beta3", PRESERVED), "1.31")


@pytest.mark.fires("zero-is-default")
@pytest.mark.parametrize(("version", "target"), [("v1beta2", "1.28"), ("v1beta3", "1.28"), ("v1beta3", "1.31")])
def test_a_zero_of_an_old_version_means_30(version: str, target: str) -> None:
    assert found(zero(version), "zero-is-default", target).gravity == "warning"
    assert shares(zero(version), target) == 30


@pytest.mark.fires("zero-is-default")
@pytest.mark.parametrize("target", ["1.26", "1.27", "1.28"])
def test_releases_that_do_not_know_the_annotation_make_30_of_a_zero(target: str) -> None:
    assert "does not know it" in found(zero("v1beta3", PRESERVED), "zero-is-default", target).text


@pytest.mark.spares("zero-is-default")
def test_a_zero_stays_one_in_v1_and_with_the_annotation_in_v1beta3() -> None:
    assert "zero-is-default" not in codes(zero("v1"))
    assert not codes(zero("v1beta3", PRESERVED), "1.30") & {"zero-is-default", "invalid-shares"}
    assert shares(zero("v1beta3", PRESERVED), "1.30") == 0


@pytest.mark.fires("default-shares")
@pytest.mark.parametrize("version", ["v1beta3", "v1"])
def test_shares_that_are_left_out_will_be_30(version: str) -> None:
    text = level(version=version, nominalConcurrencyShares=None)

    assert found(text, "default-shares", "1.30").gravity == "note"
    assert shares(text, "1.30") == 30


@pytest.mark.spares("default-shares")
def test_shares_that_are_left_out_beside_the_annotation_will_be_none() -> None:
    text = level(version="v1beta3", metadata=PRESERVED, nominalConcurrencyShares=None)

    assert "default-shares" not in codes(text, "1.30")
    assert shares(text, "1.30") == 0


@pytest.mark.spares("default-shares")
def test_shares_that_are_given_are_no_default() -> None:
    assert "default-shares" not in codes(level(nominalConcurrencyShares=30))
