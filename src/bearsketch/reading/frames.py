"""Tables in memory, of pandas, polars or any library that gives Arrow streams, as they are read."""

from __future__ import annotations

from typing import Any

from bearsketch.exceptions import DataError, SourceError


def is_frame(found: Any) -> bool:
    """Whether an object is a table in memory: one that gives an Arrow stream of several columns."""
    return hasattr(found, "__arrow_c_stream__") and not hasattr(found, "dtype")


def is_pandas(frame: Any) -> bool:
    """Whether a frame is one of pandas, whose index is no column."""
    return hasattr(frame, "iloc") and hasattr(frame, "reset_index")


def is_polars(frame: Any) -> bool:
    """Whether a frame is one of polars."""
    return hasattr(frame, "null_count") and hasattr(getattr(frame, "schema", None), "dtypes")


def is_matrix(frame: Any) -> bool:
    """Whether a frame is one of numbers alone with none missing, as an array is.

    Such a frame is learned by the places of its columns, and others by names.
    """
    if is_pandas(frame):
        kinds = {getattr(kind, "kind", "O") for kind in frame.dtypes}
        return kinds <= set("biuf") and not frame.isna().to_numpy().any()
    if not is_polars(frame):
        return False
    kinds = frame.schema.dtypes()
    if not all(kind.is_numeric() or str(kind) == "Boolean" for kind in kinds):
        return False
    return not sum(frame.null_count().row(0))


def column_names(frame: Any) -> list[str]:
    """Names of the columns of a frame, in order."""
    names = getattr(frame, "column_names", None)  # of pyarrow, where ``columns`` are the data
    return [str(name) for name in (frame.columns if names is None else names)]


def as_table(frame: Any) -> Any:
    """Give what a frame is read from: without an index, times as clocks in their zone show them."""
    if not is_pandas(frame):
        return _local_polars(frame) if is_polars(frame) else _local_arrow(frame)
    frame = frame.reset_index(drop=True)
    zoned = [name for name, kind in frame.dtypes.items() if getattr(kind, "tz", None) is not None]
    if zoned:
        frame = frame.assign(**{name: frame[name].dt.tz_localize(None) for name in zoned})
    return frame


def stream_of(table: Any, name: str) -> Any:
    """Capsule of the Arrow stream of a table."""
    try:
        return table.__arrow_c_stream__(None)
    except ImportError:
        raise SourceError(
            f"{name}: a frame of {type(table).__module__.partition('.')[0]} is read with the "
            "package pyarrow, which is not installed",
            code="SRC-EXTRA",
            hint="Install it with: pip install 'bearsketch[arrow]'",
        ) from None
    except (ValueError, TypeError) as error:  # of the library the table is of
        raise DataError(
            f"{name}: this is no table that Arrow can hold ({'; '.join(map(str, error.args))})",
            code="TAB-STREAM",
            hint="Each column needs a name of its own, and values of one type: rename columns, "
            "and turn those of mixed values into text.",
        ) from None


def _local_polars(frame: Any) -> Any:
    schema = frame.schema
    zoned = [name for name, kind in schema.items() if getattr(kind, "time_zone", None)]
    if not zoned:
        return frame
    import polars

    return frame.with_columns(polars.col(zoned).dt.replace_time_zone(None))


def _local_arrow(frame: Any) -> Any:
    schema = getattr(frame, "schema", None)
    if not hasattr(frame, "set_column") or schema is None:
        return frame
    for place, column in enumerate(schema):
        if getattr(column.type, "tz", None):
            import pyarrow.compute

            local = pyarrow.compute.local_timestamp(frame.column(place))
            frame = frame.set_column(place, column.name, local)
    return frame
