import datetime
import io

import numpy as np
import pytest

from bearsketch.exceptions import DataError, ParseError, SourceError
from bearsketch.reading import open_stream

from .helpers import Dribble, n_rows, read, rows_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PAIR = pa.struct([("name", pa.string()), ("value", pa.float64())])
TABLE = pa.table(
    {
        "city": ["a", "b", None],
        "n": [1.5, None, 0.0],
        "items": [["x", "y"], [], None],
        "ids": pa.array([[7, 8], None, [2**62]], pa.list_(pa.int64())),
        "map": pa.array([[("u", 1.0)], None, [("w", 3.0)]], pa.map_(pa.string(), pa.float32())),
        "pairs": pa.array([[{"name": "q", "value": 2.0}], None, []], pa.list_(PAIR)),
        "label": [1, 0, 1],
    }
)
ROWS = [
    {"city=a": 1, "n": 1.5, "items=x": 1, "items=y": 1, "ids=7": 1, "ids=8": 1}
    | {"map^u": 1, "pairs^q": 2},
    {"city=b": 1},
    {f"ids={2**62}": 1, "map^w": 3},
]


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    return path


def test_columns_of_every_shape():
    assert rows_of(TABLE) == ROWS


def test_marks_of_missing_numbers_are_absent_where_text_is_read_as_numbers():
    table = pa.table({"n": ["1.5", "NA", " n/a", None, "None", ""], "m": [1] * 6})
    assert rows_of(table, numeric=["n"]) == [{"n": 1.5, "m": 1.0}, *[{"m": 1.0}] * 5]
    assert rows_of(table)[1] == {"n=NA": 1.0, "m": 1.0}


@pytest.mark.parametrize("cut", [(1, 3), (0, 1), (2, 3)])
def test_slices_begin_where_they_say(cut):
    assert rows_of(TABLE.slice(cut[0], cut[1] - cut[0])) == ROWS[cut[0] : cut[1]]


def test_sliced_children_begin_where_they_say():
    batch = TABLE.combine_chunks().to_batches()[0].slice(1)
    nested = pa.Table.from_batches([batch, batch])
    assert rows_of(nested) == ROWS[1:] * 2


NUMBERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_number_type(kind):
    array = pa.array(np.array([0, 1, 100], dtype=kind), getattr(pa, kind)())
    assert rows_of(pa.table({"n": array})) == [{}, {"n": 1.0}, {"n": 100.0}]
    as_text = rows_of(pa.table({"n": array}), categorical=["n"])
    assert as_text == [{"n=0": 1.0}, {"n=1": 1.0}, {"n=100": 1.0}]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()]
)
def test_every_text_type(kind):
    texts = ["", "short", "longer than twelve bytes", None]
    array = pa.array([text and text.encode() for text in texts], pa.binary()).cast(kind)
    expected = [{}, {"t=short": 1}, {"t=longer than twelve bytes": 1}, {}]
    assert rows_of(pa.table({"t": array})) == expected
    if "view" not in str(kind):
        assert rows_of(pa.table({"t": array.dictionary_encode()})) == expected


def at_odd_addresses(array):
    """The same values in buffers that begin anywhere, as in a message from another process."""
    moved = []
    for buffer in array.buffers():
        kept = None if buffer is None else np.zeros(buffer.size + 16, dtype=np.uint8)
        if kept is not None:
            odd = 1 + kept.ctypes.data % 2
            kept[odd : odd + buffer.size] = np.frombuffer(buffer, dtype=np.uint8)
            buffer = pa.py_buffer(kept)[odd : odd + buffer.size]
        moved.append(buffer)
    return pa.Array.from_buffers(array.type, len(array), moved)


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_at_any_address(kind):
    array = pa.array(np.array([0, 1, 100], dtype=kind), getattr(pa, kind)())
    assert rows_of(pa.table({"n": at_odd_addresses(array)})) == rows_of(pa.table({"n": array}))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_texts_at_any_address(kind):
    array = pa.array(["", "short", "longer than twelve bytes", None], pa.string()).cast(kind)
    assert rows_of(pa.table({"t": at_odd_addresses(array)})) == rows_of(pa.table({"t": array}))


def test_categories_that_are_numbers_are_categories():
    coded = pa.array([3, 7, 3], pa.int64()).dictionary_encode()
    table = pa.table({"code": coded, "label": [1, 0, 1]})
    assert rows_of(table) == [{"code=3": 1}, {"code=7": 1}, {"code=3": 1}]
    assert rows_of(table, numeric=["code"]) == [{"code": 3}, {"code": 7}, {"code": 3}]


def test_labels_that_are_true_or_false_are_numbers():
    table = pa.table({"n": [1.0, 2.0, 3.0], "label": [True, False, None]})
    with open_stream(table, include_unlabelled=False) as stream:
        (batch,) = list(stream)
    assert batch.labels.tolist() == [1.0, 0.0]


def test_the_row_numbers_of_pandas_are_no_feature(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.0], "label": [1, 0, 1]}).iloc[[2, 0, 1]]
    assert rows_of(frame) == [{"n": 3}, {"n": 1}, {"n": 2}]
    frame.to_parquet(tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet") == [{"n": 3}, {"n": 1}, {"n": 2}]
    in_file = rows_of(tmp_path / "t.parquet", numeric=["__index_level_0__"])
    assert in_file[0] == {"n": 3, "__index_level_0__": 2}
    named = frame.rename_axis("id")
    assert rows_of(named) == rows_of(frame)  # an index in memory is none, whatever its name


def test_booleans_large_lists_and_fixed_lists():
    table = pa.table(
        {
            "b": [True, False, None],
            "l": pa.array([["x"], None, ["y", None]], pa.large_list(pa.string())),
            "f": pa.array([[1, 2], [3, 4], None], pa.list_(pa.int32(), 2)),
            "z": pa.nulls(3),
        }
    )
    assert rows_of(table.slice(1)) == [{"f=3": 1, "f=4": 1}, {"l=y": 1}]
    assert rows_of(table)[0] == {"b": 1, "l=x": 1, "f=1": 1, "f=2": 1}
    assert rows_of(table, categorical=["b"])[1] == {"b=false": 1, "f=3": 1, "f=4": 1}


def test_repeated_names_add_up():
    kind = pa.map_(pa.string(), pa.float32())
    array = pa.array([[("u", 1.0), ("u", 2.5)], [("u", 1.0), ("u", -1.0)]], kind)
    assert rows_of(pa.table({"m": array})) == [{"m^u": 3.5}, {}]


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (pa.array([1.0, float("nan")]), "TAB-VALUE-FINITE"),
        (pa.array([1.0, float("inf")]), "TAB-VALUE-FINITE"),
        (pa.array([1.0, 1e308]), "TAB-VALUE-RANGE"),
        (pa.array([b"a", b"\xff"]).cast(pa.binary()).view(pa.string()), "TAB-UTF8"),
    ],
)
def test_broken_value_is_named_by_row_and_column(tmp_path, column, code):
    table = pa.table({"ok": [1, 2], "x": column, "label": [0, 1]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    for source, where in ((table, ""), (tmp_path / "t.parquet", "row group 1, ")):
        with pytest.raises(ParseError) as caught:
            read(source)
        error = caught.value
        assert (error.code, error.line, error.column) == (code, 2, 2)
        assert error.message.startswith(where)
        assert n_rows(source, on_error="skip", max_errors=1) == 1


def test_text_labels_and_weights():
    table = pa.table({"a": ["x", "y", "z"], "y": ["p", None, "q"], "w": [1.0, 2.0, -1.0]})
    options = {"label_column": "y", "weight_column": "w", "on_error": "skip", "max_errors": 1}
    with open_stream(table, **options) as stream:
        batch = next(iter(stream))
    assert batch.labels.tolist() == ["p", ""]
    assert batch.weights.tolist() == [1.0, 2.0]
    with open_stream(table, include_unlabelled=False, **options) as stream:
        assert sum(len(batch) for batch in stream) == 1
    assert stream.counts.skipped_by_code == {"TAB-WEIGHT": 1}


def test_unsupported_types_are_refused_by_name_and_can_be_dropped():
    table = pa.table({"took": [datetime.timedelta(1)], "v": [[0.5]], "a": ["x"]})
    with pytest.raises(DataError, match="'took'") as caught:
        read(table)
    assert caught.value.code == "TAB-TYPE"
    with pytest.raises(DataError, match="'v'"):
        read(table, drop=["took"])
    assert rows_of(table, drop=["took", "v"]) == [{"a=x": 1.0}]


def test_parquet_equals_arrow(parquet):
    assert rows_of(parquet) == ROWS
    assert read(parquet, rows=2) == read(TABLE, rows=2)


def test_parquet_streams_row_groups(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": range(1, 2501)}), path, row_group_size=700)
    with open_stream(path, rows=1000) as stream:
        assert [len(batch) for batch in stream] == [1000, 1000, 500]
        assert stream.counts.lines == stream.counts.unlabelled == 2500
        assert stream.position.line == 2500


def test_parquet_from_a_file_object_and_not_from_a_pipe(parquet):
    data = parquet.read_bytes()
    assert rows_of(io.BytesIO(data)) == ROWS
    with pytest.raises(SourceError) as caught:
        read(Dribble(data, [100]))
    assert caught.value.code == "PQ-SEEK"


def test_parquet_cut_anywhere_is_refused(parquet):
    data = parquet.read_bytes()
    for cut in range(4, len(data), 7):
        with pytest.raises(DataError) as caught:
            read(io.BytesIO(data[:cut]), "parquet")
        assert caught.value.exit_code == 3


def test_extension_type_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    storage = pa.array([b"0123456789abcdef"], pa.binary(16))
    table = pa.table({"u": pa.ExtensionArray.from_storage(pa.uuid(), storage)})
    pq.write_table(table, path)
    with pytest.raises(DataError) as caught:
        read(path)
    assert caught.value.code == "TAB-TYPE"


def test_schema_must_be_the_same_in_all_files(parquet, tmp_path):
    pq.write_table(TABLE.drop_columns(["n"]), tmp_path / "u.parquet")
    with pytest.raises(DataError) as caught:
        read([parquet, tmp_path / "u.parquet"])
    assert caught.value.code == "TAB-SCHEMA"


def test_a_table_can_be_read_twice_and_a_used_reader_is_told():
    with open_stream(TABLE) as stream:
        assert [len(batch) for batch in stream] == [len(batch) for batch in stream] == [3]
    with open_stream(TABLE.to_reader()) as stream:
        assert [len(batch) for batch in stream] == [3]
        with pytest.raises((SourceError, DataError)):
            list(stream)


def test_failing_stream_is_an_error_of_the_data():
    def batches():
        yield TABLE.to_batches()[0]
        raise RuntimeError("lost")

    with pytest.raises(DataError, match="lost") as caught:
        read(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    assert caught.value.code == "TAB-STREAM"


def test_columns_of_text(tmp_path):
    table = pa.table({"a": ["Free tea", None, "free"], "n": [1, 2, 3], "l": [["x"], [], None]})
    pq.write_table(table, tmp_path / "t.parquet")
    wanted = [{"a^free": 1, "a^tea": 1, "n": 1, "l=x": 1}, {"n": 2}, {"a^free": 1, "n": 3}]
    assert rows_of(table, text_columns=["a"]) == wanted
    assert rows_of(tmp_path / "t.parquet", text_columns=["a"]) == wanted
    with pytest.raises(DataError, match="leave it out of the text columns"):
        rows_of(table, text_columns=["l"])


def test_columns_of_ids_and_of_texts_are_told_once():
    ids = [None if i % 30 == 7 else f"u{i}" for i in range(2500)]
    texts = [f"the film number {i} is fine" for i in range(2500)]
    rest = {"plan": ["a", "b"] * 1250, "n": range(2500), "tags": [["x"]] * 2500}
    data = pa.table({"id": ids, "review": texts, **rest, "label": [1, 0] * 1250})
    with open_stream(data) as stream:
        assert sum(map(len, stream)) == 2500
    told = {odd.code: odd.message for odd in stream.warnings}
    assert sorted(told) == ["TAB-TEXT", "TAB-UNIQUE"]
    assert "column 'id' is read as categories, and of 966 cells" in told["TAB-UNIQUE"]
    with open_stream(data, categorical=["id"], text_columns=["review"]) as stream:
        assert sum(map(len, stream)) == 2500
    assert stream.warnings == []
