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
    assert "--drop; '' is a column without a name" in told
    told = good("train", data, "-o", model, "--drop", "").stderr
    assert "numeric columns: a\n" in told
    assert "DATA-SCALE" not in told


def test_a_weight_stands_beside_the_class_it_speaks_for_as_in_the_report(tmp_path):
    data, model = tmp_path / "mails.vw", tmp_path / "m.bear"
    lines = [("spam | prize", "ham | lunch")[i % 2] + f" w{i % 7}\n" for i in range(400)]
    data.write_text("".join(lines))
    good("train", data, "-o", model, "--memory", "8KiB", "-k", "9")
    listed = json.loads(good("features", model, "--format", "json").stdout)
    of = {row["name"]: (row["class"], row["weight"] > 0) for row in listed}
    assert (of["prize"], of["lunch"]) == (("spam", True), ("ham", False))
    good("report", model, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    for name, label in (("prize", "spam"), ("lunch", "ham")):
        assert f'<td class="name">{name}</td><td class="label">{label}</td>' in page
    for_ham = good("features", model, "--class", "ham", "--format", "tsv").stdout.splitlines()
    assert for_ham[1].split("\t")[1:3] == ["lunch", "ham"]
