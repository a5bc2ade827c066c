"""Columns of dates and times: hour, weekday, month and day number, alike in every kind of table."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bearsketch import SketchClassifier
from bearsketch.exceptions import ParseError
from bearsketch.reading import open_stream

from .helpers import rows_of, table

TEXT = b"t,label\n2024-05-01T13:45:00,1\n2023-12-31 00:05,0\n,1\n1969-12-31T23:59:59.5Z,0\n"
EXPECTED = [
    {"t^hour=13": 1, "t^weekday=wed": 1, "t^month=5": 1, "t^day": 19844},
    {"t^hour=0": 1, "t^weekday=sun": 1, "t^month=12": 1, "t^day": 19722},
    {},
    {"t^hour=23": 1, "t^weekday=wed": 1, "t^month=12": 1, "t^day": -1},
]


def test_times_of_a_text_table():
    assert rows_of(table(TEXT)) == EXPECTED


def test_dates_have_no_hour():
    assert rows_of(table(b"t,label\n2024-02-29,1\n2000-01-01,0\n")) == [
        {"t^weekday=thu": 1, "t^month=2": 1, "t^day": 19782},
        {"t^weekday=sat": 1, "t^month=1": 1, "t^day": 10957},
    ]


@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet"])
def test_times_of_frames_are_those_of_text(kind, tmp_path):
    stamps = pd.to_datetime(
        ["2024-05-01T13:45:00", "2023-12-31T00:05", None, "1969-12-31T23:59:59.5"], format="ISO8601"
    )
    frame = pd.DataFrame({"t": stamps, "label": [1, 0, 1, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    source = {"pandas": frame, "polars": pl.from_pandas(frame), "parquet": tmp_path / "t.parquet"}
    assert rows_of(source[kind]) == EXPECTED


@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet"])
def test_clocks_count_as_their_zone_shows_them(kind, tmp_path):
    stamps = pd.to_datetime(["2024-05-01T23:30:00Z", "2024-01-01T23:30:00Z"])
    frame = pd.DataFrame({"t": stamps.tz_convert("Europe/Rome"), "label": [1, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    source = {"pandas": frame, "polars": pl.from_pandas(frame), "parquet": tmp_path / "t.parquet"}
    hours = [[name for name in row if "hour" in name] for row in rows_of(source[kind])]
    assert hours == [["t^hour=1"], ["t^hour=0"]]


def test_dates_of_python_are_dates():
    frame = pd.DataFrame({"t": [datetime.date(2024, 5, 1)], "label": [1]})
    assert rows_of(frame)[0]["t^day"] == 19844


def test_times_that_rise_have_no_day_number():
    rows = b"".join(b"2024-05-%02dT%02d:00,1\n" % (1 + i // 24, i % 24) for i in range(200))
    assert not any("t^day" in row for row in rows_of(table(b"t,label\n" + rows)))
    declared = rows_of(table(b"t,label\n" + rows), time_columns="t")
    assert all("t^day" in row for row in declared)
    frame = pd.DataFrame({"t": pd.date_range("2024-05-01", periods=200, freq="h"), "label": 1})
    assert not any("t^day" in row for row in rows_of(frame))


def test_what_columns_are_read_as_can_be_declared():
    assert rows_of(table(TEXT), categorical="t")[0] == {"t=2024-05-01T13:45:00": 1}
    assert rows_of(table(TEXT), drop="t")[0] == {}
    assert "t^day" not in rows_of(table(TEXT), clock_columns="t")[0]
    frame = pd.DataFrame({"t": pd.to_datetime(["2024-05-01T13:45"]), "label": [1]})
    assert rows_of(frame, categorical="t") == [{"t=2024-05-01T13:45:00": 1}]
    assert rows_of(frame, numeric="t")[0]["t"] == pytest.approx(19844.573, abs=0.01)


@pytest.mark.parametrize(
    "cell",
    ["2024-02-30", "2024-13-01", "01.05.2024", "5/1/2024", "2024-05", "2024-05-01T25:00", "x"],
)
def test_other_texts_are_no_times(cell):
    text = f"t,label\n{cell},1\n{cell},0\n".encode()
    assert rows_of(table(text))[0] == {f"t={cell}": 1}
    with pytest.raises(ParseError, match="must be a date or time") as caught:
        rows_of(table(text), time_columns="t")
    assert caught.value.code == "TAB-TIME"
    assert "--categorical t" in caught.value.hint


def test_days_follow_the_calendar():
    days = [datetime.date(1600, 1, 1) + datetime.timedelta(days=97 * i) for i in range(2000)]
    text = "t,label\n" + "".join(f"{day},1\n" for day in days)
    rows = rows_of(table(text.encode()), time_columns="t")
    names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    for day, row in zip(days, rows, strict=True):
        number = (day - datetime.date(1970, 1, 1)).days
        expected = {f"t^weekday={names[day.weekday()]}", f"t^month={day.month}"}
        assert set(row) - {"t^day"} == expected
        assert row.get("t^day", 0) == number


def test_a_model_remembers_which_columns_are_times(tmp_path):
    rng = np.random.default_rng(0)
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, 600), "h")
    frame = pd.DataFrame({"t": stamps, "x": rng.normal(size=600)})
    y = np.where(stamps.hour < 8, "night", "day")
    fitted = SketchClassifier(memory="16KiB").fit(frame, y)
    assert fitted.score(frame, y) > 0.95
    assert any(name.startswith("t^hour=") for name in fitted.selected_names_[:8])
    assert fitted.learner_.run["options"]["time_columns"] == ["t"]
    with open_stream(frame.assign(label=y)) as stream:
        list(stream)
        assert stream.columns["time_columns"] == ("t",)
