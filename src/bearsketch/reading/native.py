"""Native formats: chunks handed to a parser of the core, its blocks as pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from bearsketch import _core
from bearsketch.batch import Names, Position
from bearsketch.exceptions import ParameterError, ParseError
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.columnar import Shared, long_name_hint, with_last_line
from bearsketch.reading.labels import SequenceLabels, names_array
from bearsketch.reading.lanes import Lanes
from bearsketch.reading.limits import CHUNK_BYTES
from bearsketch.reading.nulls import missing_fields
from bearsketch.reading.options import SEQUENCES, ReadOptions
from bearsketch.reading.pieces import Piece, Trouble

_LETTERS = (
    "Sequences are DNA or RNA, without gaps. Records that are not can be left out (on_error, "
    "--on-error skip)."
)
# What to do about an error, where the parser's message does not say.
_HINTS = {
    "FA-EMPTY": "Fetch the file again, or leave the record out (on_error, --on-error skip).",
    "FA-LETTER": _LETTERS,
    "FQ-LETTER": _LETTERS,
    "LSV-LABEL": "A line starts with its label, as in 1 3:0.5; to predict, any word will do: ?.",
    "TXT-LABEL": "Lines without a label are read with label_from='none' (--label-from none), and "
    "lines of another kind with their format (--format vw, svmlight, csv or jsonl).",
    "JSL-NESTED": "Leave the field out (drop=[...], --drop FIELD), or write its parts as fields.",
}


def parser_options(form: str, options: ReadOptions, labels: str) -> dict[str, Any]:
    """Options of the parser of a format."""
    if form in SEQUENCES and options.kmer is None:
        raise ParameterError(
            f"kmer must be given for {form}: the length of the k-mers that are its features",
            hint="12 to 31 is usual; odd lengths have no k-mer that is its own complement.",
        )
    limits = options.limits
    return {
        "labels": labels,
        "max_line_bytes": limits.line_bytes,
        "max_name_bytes": limits.name_bytes,
        "max_features": limits.row_features,
        **options.for_parser(form),
    }


def named_fields(options: ReadOptions) -> dict[str, str]:
    """Fields that were named and should be there, with the option that names them."""
    named = {"text_columns": options.text_columns or ()}
    if options.labels_needed and options.drop_needed:
        named["drop"] = options.drop
    if options.labels_needed:
        for option in ("label_column", "weight_column"):
            field = getattr(options, option)
            named[option] = () if field is None else (field,)
    return {field: option for option, fields in named.items() for field in fields}


class NativeReader:
    """One input in a format that the core parses."""

    def __init__(
        self, chunks: Chunks, form: str, index: int, options: ReadOptions, shared: Shared
    ) -> None:
        self._chunks, self._index, self._form = chunks, index, form
        self._options, self._shared = options, shared
        # Asked before anything is read; what only predicts, maybe line by line, does not wait.
        if form == "jsonl" and shared.missing_columns is None and options.labels_needed:
            shared.missing_columns = missing_fields(chunks.head(CHUNK_BYTES))
        self._parser = _core.Parser(form, **parser_options(form, options, shared.labels.kind))
        self.naming = naming_of(form, options)
        self._sequence_labels = SequenceLabels(options) if form in SEQUENCES else None
        # Where an example is no line, or lines come in their own time, there is nothing to share.
        shared_out = (
            options.threads > 1
            and form not in SEQUENCES
            and not chunks.may_wait
            and chunks.any_thread
            and options.max_examples is None  # no more is taken than is wanted
        )
        self._lanes = Lanes(self._parser, chunks, options) if shared_out else None
        self._blocks = None if self._lanes is None else self._lanes.__iter__()
        if not shared_out and chunks.any_thread:
            chunks.read_ahead()
        self._done = False
        if form == "jsonl" and shared.unmet is None:
            shared.unmet = named_fields(options)

    def close(self) -> None:
        """Stop reading."""
        if self._blocks is not None:
            self._blocks.close()
        self._chunks.close()

    def take(self, rows: int, entries: int) -> Piece | None:
        """At most ``rows`` examples, or None at the end."""
        if self._done:
            return None
        block = self._take(rows, entries) if self._blocks is None else next(self._blocks)
        self._done = block.done
        piece = self._piece(block)
        if self._done and self._shared.unmet:
            unmet = (self._lanes or self._parser).unmet_fields
            self._shared.unmet = {k: v for k, v in self._shared.unmet.items() if k in unmet}
        if self._sequence_labels is not None:
            piece = self._label_sequences(piece, self._sequence_labels)
        return piece

    def _take(self, rows: int, entries: int) -> Any:
        while (block := self._parser.take(rows, max(entries, 0))).hungry:
            if self._options.live and rows > 1 and self._chunks.waits:
                rows = 1  # one will do, and all that are whole by then come with it
            else:
                self._feed()
        return block

    def _feed(self) -> None:
        try:
            chunk = self._chunks.next()
        except ParseError as error:
            raise with_last_line(error, self._parser.lines_read) from None
        self._parser.feed(chunk or b"", chunk is None)

    def _piece(self, block: Any) -> Piece:
        labels = block.labels
        if block.label_names is not None:
            labels, _ = names_array(block.label_names)
        names = None
        if block.name_data is not None and block.name_offsets is not None:
            names = Names(block.name_data, block.name_offsets)
        piece = Piece(
            indptr=block.indptr,
            keys=block.keys,
            values=block.values,
            position=Position(self._chunks.name, self._index, block.byte, block.line),
            labels=labels,
            weights=block.weights,
            names=names,
            tags=block.tags,
            lines=block.line_of_row,
            errors=[Trouble(*error)._replace(hint=self._hint(error[2])) for error in block.errors],
            fatal=None if block.fatal is None else Trouble(*block.fatal),
            counts=dict(block.counts),
            warnings=dict(block.warnings),
        )
        return self._settle_label_kind(piece)

    def _hint(self, code: str) -> str:
        if code == "COM-NAME-LONG" and self._form == "jsonl":
            return long_name_hint("FIELD")
        return _HINTS.get(code, "")

    def _settle_label_kind(self, piece: Piece) -> Piece:
        """Until a label is seen, the absent ones are neither numbers nor names."""
        kind = self._shared.labels
        if kind.kind == "auto" and piece.labels is not None:
            if piece.labelled().any():
                kind.kind = "name" if piece.labels.dtype.kind == "U" else "number"
            else:
                piece.labels = None
        return piece

    def _label_sequences(self, piece: Piece, source: SequenceLabels) -> Piece:
        """Labels from the headers; a record without one is broken."""
        if source.place == "none":
            piece.counts["unlabelled"] = piece.counts.pop("examples", 0)
            return piece
        headers = piece.tags or [b""] * len(piece)
        found = [source.of(header, self._chunks.name) for header in headers]
        self._shared.labels.settle_identifier(next(filter(None, found), b""))
        labels, wrong = self._shared.labels.convert([label or b"" for label in found])
        missing = {i: source.missing for i, label in enumerate(found) if not label}
        bad = wrong | missing
        assert piece.lines is not None
        code = ("FA" if self._form == "fasta" else "FQ") + "-LABEL"
        errors = [
            Trouble(int(piece.lines[i]), 1, code, bad[i], headers[i][:40], source.hint)
            for i in sorted(bad)
        ]
        piece.labels = labels
        kept = piece.keep(~np.isin(np.arange(len(piece)), list(bad)))
        kept.errors = sorted([*piece.errors, *errors], key=lambda error: error.line)
        kept.fatal, kept.warnings, kept.counts = piece.fatal, piece.warnings, piece.counts
        kept.counts |= {
            "examples": len(kept),
            "unlabelled": 0,
            "skipped": piece.counts.get("skipped", 0) + len(errors),
            "empty": int((np.diff(kept.indptr) == 0).sum()),
        }
        return kept


def naming_of(form: str, options: ReadOptions) -> str:
    """How the keys of a format come about."""
    if form == "svmlight":
        return "id"
    if form in SEQUENCES:
        return f"{'kmer' if options.alphabet == 'acgt' else 'iupac'}:{options.kmer}"
    return "name"
