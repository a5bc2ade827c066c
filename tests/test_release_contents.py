"""What a release holds beside its files."""

from __future__ import annotations

import hashlib
import json

import pytest

from tools import release_contents


@pytest.fixture
def release(tmp_path):
    for name in ("bearsketch-0.1.0.tar.gz", "bearsketch-0.1.0-cp311-abi3-win_amd64.whl"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "notes.txt").write_text("no part of it")
    assert release_contents.main(tmp_path) == 0
    return tmp_path


def test_checksums_are_those_of_the_wheels_and_the_source(release):
    lines = (release / "SHA256SUMS").read_text().splitlines()
    found = dict(reversed(line.split("  ")) for line in lines)
    names = ["bearsketch-0.1.0-cp311-abi3-win_amd64.whl", "bearsketch-0.1.0.tar.gz"]
    assert list(found) == names
    for name, digest in found.items():
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == digest


def test_the_list_of_contents_names_files_and_what_is_needed(release):
    listed = json.loads((release / "bearsketch.cdx.json").read_text())
    assert listed["bomFormat"] == "CycloneDX"
    names = {part["name"] for part in listed["components"]}
    assert {"numpy", "nanobind-backend", "bearsketch-0.1.0.tar.gz"} <= names
    (own,) = listed["dependencies"]
    references = {part["bom-ref"] for part in listed["components"]}
    assert set(own["dependsOn"]) <= references


def test_a_folder_without_a_release_is_refused(tmp_path, capsys):
    assert release_contents.main(tmp_path) == 1
    assert "no wheel" in capsys.readouterr().err
