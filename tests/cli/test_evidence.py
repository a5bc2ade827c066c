"""Evidence on the command line: what is proven, and what is said where nothing is."""

from __future__ import annotations

import json
import random

import pytest

from bearsketch import load
from tests.cli.helpers import bearsketch


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("evidence")


def write(path, *, noise=False, order=None, rows=3000):
    """Rows of which good and fine come together, and go with one label; bad with the other."""
    rng = random.Random(1)
    lines = []
    for _ in range(rows):
        words = [f"w{rng.randint(0, 2000)}" for _ in range(8)]
        y = rng.choice([-1, 1])
        side = rng.choice([-1, 1]) if noise else y
        if rng.random() < 0.5:
            words += ["good", "fine"] if side > 0 else ["bad"]
        lines.append(f"{y} | {' '.join(words)}\n")
    path.write_text("".join(sorted(lines) if order else lines))
    return path


@pytest.fixture(scope="module")
def model(folder):
    data, out = write(folder / "a.vw"), folder / "a.bear"
    result = bearsketch("train", data, "-o", out, "--memory", "16KiB", "-k", 20)
    assert "3 of 20 names are proven at 10 %" in result.stderr
    return out


def refused(*arguments):
    result = bearsketch(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    return result.stderr


def listed(*arguments):
    return json.loads(bearsketch("features", *arguments, "--format", "json").stdout)


def test_proven_names_are_listed_by_their_evidence(model):
    rows = listed(model, "--fdr", 0.1)
    assert {row["name"] for row in rows} == {"good", "fine", "bad"}
    assert all(row["fdr"] <= 0.1 and row["log10_e"] > 10 for row in rows)
    assert [row["fdr"] for row in rows] == sorted(row["fdr"] for row in rows)
    ratios = {row["name"]: row["odds_ratio"] for row in rows}
    assert ratios["good"] > 5
    assert ratios["bad"] < 0.2
    assert {row["tested_class"] for row in rows} == {1}
    assert len(listed(model)) == 20
    assert [row["name"] for row in listed(model, "--fdr", 0.1, "--match", "g*")] == ["good"]
    text = bearsketch("features", model, "--fdr", 0.1).stdout
    assert text.startswith("3 names proven at 10 %\n")
    assert bearsketch("features", model).stdout.startswith("3 of 20 names are proven at 10 %\n")


def test_lines_have_members_and_rows_have_places(model, folder):
    rows = listed(model, "--fdr", 0.1, "--lines", "--examples", 2)
    assert sorted(sorted(row["members"]) for row in rows) == [["bad"], ["fine", "good"]]
    data = (folder / "a.vw").read_text().splitlines()
    for row in rows:
        assert len(row["examples"]) == 2
        for place in row["examples"]:
            name, line = place.split(":")
            assert name == "a.vw"
            assert row["name"] in data[int(line) - 1].split()
    table = bearsketch("features", model, "--fdr", 0.1, "--lines").stdout
    assert table.startswith("2 lines proven at 10 %\n")


def test_where_nothing_is_proven_the_first_line_says_so(folder):
    data, out = write(folder / "noise.vw", noise=True), folder / "noise.bear"
    result = bearsketch("train", data, "-o", out, "--memory", "16KiB", "-k", 20)
    assert "nothing is proven at 10 %" in result.stderr
    for arguments in (["--fdr", 0.1], [], ["--lines"], ["--match", "w*"]):
        first = bearsketch("features", out, *arguments).stdout.splitlines()[0]
        assert first.startswith("nothing is proven at 10 %")
    assert "nothing is proven" in bearsketch("info", out).stdout.splitlines()[1]
    assert json.loads(bearsketch("info", out, "--json").stdout)["evidence"]["proven"] == 0


def test_warnings_stand_above_the_list(folder):
    data, out = write(folder / "sorted.vw", order=True), folder / "sorted.bear"
    result = bearsketch(
        "train", data, "-o", out, "--memory", "16KiB", "-k", 20, "--classes", "-1,1"
    )
    assert "warning[EVIDENCE-SORTED]" in result.stderr
    assert bearsketch("features", out).stdout.startswith("warning[EVIDENCE-SORTED]")
    tsv = bearsketch("features", out, "--format", "tsv")
    assert tsv.stdout.startswith("rank\t")
    assert "warning[EVIDENCE-SORTED]" in tsv.stderr


def test_several_passes_are_evidence_once(folder, model):
    data, out = folder / "a.vw", folder / "twice.bear"
    result = bearsketch("train", data, "-o", out, "--memory", "16KiB", "-k", 20, "--passes", 2)
    assert "warning[EVIDENCE-PASSES]" in result.stderr
    assert load(out).evidence.rows == 3000


def test_workers_share_their_tests(folder, model):
    data, out = write(folder / "large.vw", rows=6000), folder / "workers.bear"
    bearsketch("train", data, "-o", out, "--memory", "16KiB", "-k", 20, "--workers", 2)
    assert {row["name"] for row in listed(out, "--fdr", 0.1)} == {"good", "fine", "bad"}
    assert load(out).evidence.rows == 6000


def test_merged_models_have_the_evidence_of_both(folder, model):
    both = folder / "both.bear"
    data, other = write(folder / "b.vw", rows=3100), folder / "b.bear"
    bearsketch("train", data, "-o", other, "--memory", "16KiB", "-k", 20)
    bearsketch("merge", model, other, "-o", both)
    strength = {row["name"]: row["log10_e"] for row in listed(model)}
    merged = {row["name"]: row["log10_e"] for row in listed(both, "--fdr", 0.1)}
    assert set(merged) == {"good", "fine", "bad"}
    assert all(merged[name] > 1.5 * strength[name] for name in merged)


def test_kmers_of_one_stretch_are_one_line_with_their_sequence(folder):
    rng = random.Random(2)
    motif = "".join(rng.choice("ACGT") for _ in range(24))
    records = []
    for i in range(3000):
        y = rng.choice("ab")
        read = "".join(rng.choice("ACGT") for _ in range(50))
        if y == "a" and rng.random() < 0.5:
            read = read[:10] + motif + read[34:]
        records.append(f">r{i} label={y}\n{read}\n")
    data, out = folder / "reads.fa", folder / "reads.bear"
    data.write_text("".join(records))
    options = ("--kmer", 15, "--label-regex", r"label=(\w)", "--memory", "64KiB", "-k", 60)
    bearsketch("train", data, "-o", out, *options)
    (line,) = listed(out, "--fdr", 0.1, "--lines")
    assert len(line["members"]) >= 8
    fasta = bearsketch("features", out, "--fdr", 0.1, "--lines", "--format", "fasta").stdout
    header, sequence = fasta.splitlines()
    assert f"kmers={len(line['members'])}" in header
    complement = sequence.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    assert motif in sequence or motif in complement or sequence in motif or complement in motif


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fdr", "0"], "EVIDENCE-LEVEL"),
        (["--fdr", "2"], "EVIDENCE-LEVEL"),
        (["--fdr", "nan"], "EVIDENCE-LEVEL"),
    ],
)
def test_levels_are_checked(model, arguments, code):
    assert f"error[{code}]" in refused("features", model, *arguments)


def test_without_evidence_names_are_not_tested(folder, model):
    out = folder / "without.bear"
    data = folder / "a.vw"
    bearsketch("train", data, "-o", out, "--memory", "16KiB", "-k", 20, "--no-evidence")
    assert bearsketch("features", out).stdout.startswith("names are not tested")
    for arguments in (["--fdr", "0.1"], ["--lines"]):
        assert "error[EVIDENCE-NONE]" in refused("features", out, *arguments)
    silent = folder / "fh.bear"
    bearsketch("train", data, "-o", silent, "--learner", "fh", "--memory", "16KiB")
    assert refused("features", silent, "--lines").startswith("error")


def sites(path, form):
    """Rows whose marker comes with the site, as the label does, and whose cause with the label."""
    rng = random.Random(3)
    lines = ["label,site,marker,cause,noise\n"] if form == "csv" else []
    for _ in range(6000):
        site = rng.choice("ab")
        y = int(rng.random() < (0.8 if site == "b" else 0.2))
        marker = "yes" if rng.random() < (0.6 if site == "b" else 0.1) else "no"
        cause = "yes" if rng.random() < (0.4 if y else 0.2) else "no"
        values = [str(y), site, marker, cause, f"n{rng.randint(0, 99)}"]
        if form == "csv":
            lines.append(",".join(values) + "\n")
        else:
            lines.append(f"{y} |s {site} |f marker={marker} cause={cause} {values[4]}\n")
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(("form", "column"), [("csv", "site"), ("vw", "s")])
def test_adjusting_for_a_site_takes_its_markers_off_the_list(folder, form, column):
    data, out = sites(folder / f"sites.{form}", form), folder / f"sites-{form}.bear"
    options = ("--memory", "16KiB", "-k", 20, "--label-column", "label")
    options = options if form == "csv" else options[:4]
    for adjust in ((), ("--adjust", column)):
        done = bearsketch("train", data, "-o", out, *options, *adjust)
        assert done.returncode == 0, done.stderr
        names = {row["name"] for row in listed(out, "--fdr", 0.1)}
        assert any("cause" in name for name in names)
        assert any(name.startswith(column) for name in names) == (not adjust)
        if adjust:  # selected, and no longer proven
            every = {row["name"] for row in listed(out)}
            assert any("marker" in name for name in every)
            assert not any("marker" in name or name.startswith(column) for name in names)
    assert bearsketch("evaluate", out, data).returncode == 0
    stderr = refused("train", data, "-o", out, *options, "--adjust", "nothing")
    assert "error[EVIDENCE-ADJUST]" in stderr
    assert '"nothing"' in stderr
