"""Selected features as the command line shows them."""

import json

from tests.cli.helpers import good


def test_a_column_without_a_header_is_shown_as_one(tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.bear"
    data.write_text(",a,label\n" + "1,0,yes\n0,1,no\n" * 100)
    trained = good("train", data, "-o", model, "--memory", "8KiB", "-k", "5")
    assert "(no name)" in trained.stderr
    assert "(no name)" in good("features", model).stdout
    listed = json.loads(good("features", model, "--format", "json").stdout)
    assert {row["name"] for row in listed} == {"", "a"}
    assert "#" not in good("features", model, "--format", "tsv").stdout
    good("report", model, "-o", tmp_path / "r.html")
    assert "(no name)" in (tmp_path / "r.html").read_text()


def test_a_column_without_a_header_can_be_left_out(tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.bear"
    data.write_text(",a,label\n" + "".join(f"{i},{i % 2},{i % 2}\n" for i in range(200)))
    told = good("train", data, "-o", model).stderr
    assert "numeric columns: (no name), a" in told
    assert "--drop, with '' for a column without a name" in told
    told = good("train", data, "-o", model, "--drop", "").stderr
    assert "numeric columns: a\n" in told
    assert "DATA-SCALE" not in told
