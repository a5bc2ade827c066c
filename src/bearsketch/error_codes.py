"""Error codes, warning codes and exit codes: one table of each; the reference lists them.

All are stable: a code keeps its meaning.
"""

from __future__ import annotations

from typing import NamedTuple

# How a command ends.
EXIT_CODES: dict[int, str] = {
    0: "done",
    2: "usage: an option or argument is wrong",
    3: "bad input data",
    4: "a file cannot be read or written",
    5: "a model or checkpoint is damaged, foreign or incompatible",
    6: "a limit on size or memory would be passed",
    7: "training diverged",
    8: "workers are lost, or disagree",
    70: "an internal error of bearsketch: please report it",
    130: "interrupted (Ctrl-C); a checkpoint is written first",
    141: "the reader of the output is gone",
    143: "terminated (SIGTERM); a checkpoint is written first",
}


class ErrorCode(NamedTuple):
    """A row of :data:`ERROR_CODES`."""

    exit_code: int
    meaning: str
    cure: str


class WarningCode(NamedTuple):
    """A row of :data:`WARNING_CODES`."""

    meaning: str
    cure: str


# Errors of lines and records come with their place.
ERROR_CODES: dict[str, ErrorCode] = {
    # any text format
    "COM-CR": ErrorCode(3, "a carriage return inside a line", "convert CR line ends to LF"),
    "COM-FEATURES": ErrorCode(
        6, "an example has more features than `row_features`", "raise the limit with `--limit`"
    ),
    "COM-FORMAT": ErrorCode(3, "the data looks like another format", "name it with `--format`"),
    "COM-LABEL-TABLE": ErrorCode(
        3, "a line of the label table is not `name TAB label`", "correct the table"
    ),
    "COM-LINE-LONG": ErrorCode(
        6, "a line is longer than `line_bytes`", "raise the limit with `--limit`"
    ),
    "COM-MAX-ERRORS": ErrorCode(
        3, "more examples are broken than `--max-errors` allows", "correct the data, or allow more"
    ),
    "COM-NAME-LONG": ErrorCode(
        6, "a name is longer than `name_bytes`", "raise the limit with `--limit`"
    ),
    "COM-NUL": ErrorCode(3, "a NUL byte in text", "decompress or convert the file"),
    "COM-UTF16": ErrorCode(3, "the text is UTF-16", "`iconv -f UTF-16 -t UTF-8`"),
    # VW text
    "VW-BANDIT": ErrorCode(3, "a contextual bandit label", "give plain labels"),
    "VW-COST": ErrorCode(3, "a cost-sensitive label", "give plain labels"),
    "VW-INITIAL": ErrorCode(
        3, "a third number before the bar (initial prediction) is not supported", "remove it"
    ),
    "VW-LABEL": ErrorCode(
        3, "the label is not a number or word that can be used", "correct the line"
    ),
    "VW-MULTILABEL": ErrorCode(3, "several labels in a line", "one label a line"),
    "VW-MULTILINE": ErrorCode(3, "a line of a multiline example", "one example a line"),
    "VW-NO-BAR": ErrorCode(3, "the line has no bar", "VW lines are a label, a bar and features"),
    "VW-SHARED": ErrorCode(3, "a `shared` line of multiline examples", "one example a line"),
    "VW-SPACE-WEIGHT": ErrorCode(3, "a namespace weight is not a number", "correct it"),
    "VW-TAB": ErrorCode(
        3,
        "a number after a tab before the bar, which Vowpal Wabbit ignores",
        "separate label and importance by a space",
    ),
    "VW-VALUE": ErrorCode(3, "a value is not a number", "correct it"),
    "VW-VALUE-MISSING": ErrorCode(3, "nothing follows the colon", "correct it"),
    "VW-VALUE-RANGE": ErrorCode(3, "a value is beyond float32", "rescale it"),
    "VW-WEIGHT": ErrorCode(3, "a weight is negative or not a number", "correct it"),
    # svmlight
    "LSV-DUPLICATE": ErrorCode(3, "an id occurs twice in a line", "`--duplicates sum`"),
    "LSV-FEATURE": ErrorCode(3, "an entry is not `id:value`", "correct the line"),
    "LSV-IDX-RANGE": ErrorCode(3, "an id is above 2^64 - 1", "renumber the features"),
    "LSV-INDEX": ErrorCode(3, "an id is not a whole number", "correct the line"),
    "LSV-LABEL": ErrorCode(3, "the label is missing or not a number", "correct the line"),
    "LSV-MULTILABEL": ErrorCode(3, "several labels in a line", "one label a line"),
    "LSV-QID": ErrorCode(3, "a `qid` is malformed", "correct the line"),
    "LSV-VALUE": ErrorCode(3, "a value is not a number", "correct the line"),
    "LSV-VALUE-MISSING": ErrorCode(3, "nothing follows the colon", "correct the line"),
    "LSV-VALUE-RANGE": ErrorCode(3, "a value is beyond float32", "rescale it"),
    # FASTA and FASTQ
    "EVIDENCE-ADJUST": ErrorCode(
        2, "the column of `--adjust` is missing", "name a categorical column or a namespace"
    ),
    "EVIDENCE-LEVEL": ErrorCode(
        2, "`--fdr` is no share above 0 and below 1", "0.1 allows for one false name in ten"
    ),
    "EVIDENCE-NONE": ErrorCode(
        2, "the model has no evidence about its names", "train again without `--no-evidence`"
    ),
    "FA-EMPTY": ErrorCode(
        3, "a record has no sequence; the file may be cut", "complete it, or `--on-error skip`"
    ),
    "FA-HEADER": ErrorCode(3, "sequence before the first `>`", "check the file"),
    "FA-LABEL": ErrorCode(
        3, "no label for a record", "`--label-regex`, `--label-from` or `--label-table`"
    ),
    "FA-LETTER": ErrorCode(3, "a letter is not in the alphabet", "`--alphabet iupac`"),
    "FA-TITLE-LONG": ErrorCode(3, "a header line is longer than 1 MiB", "shorten it"),
    "FQ-TRUNCATED": ErrorCode(3, "the last record is incomplete", "fetch the file again"),
    "FQ-HEADER": ErrorCode(3, "a record does not start with `@`", "check the file"),
    "FQ-LABEL": ErrorCode(
        3, "no label for a record", "`--label-regex`, `--label-from` or `--label-table`"
    ),
    "FQ-LENGTH": ErrorCode(3, "sequence and quality differ in length", "correct the record"),
    "FQ-LETTER": ErrorCode(3, "a letter is not in the alphabet", "`--alphabet iupac`"),
    "FQ-PLUS": ErrorCode(3, "the third line does not start with `+`", "correct the record"),
    "FQ-QUALITY": ErrorCode(3, "a quality is outside the printable range", "correct the record"),
    "FQ-TITLE-DIFFERS": ErrorCode(3, "the two titles of a record differ", "correct the record"),
    "FQ-TITLE-LONG": ErrorCode(3, "a header line is longer than 1 MiB", "shorten it"),
    # tables
    "CSV-COLUMNS": ErrorCode(
        3, "a row has more or fewer cells than the header", "correct the row; check the separator"
    ),
    "CSV-QUOTE": ErrorCode(3, "text follows a closing quote", "write a quote inside quotes twice"),
    "CSV-QUOTE-OPEN": ErrorCode(3, "a quote opens and never closes", "close it"),
    "TAB-COLUMN-MISSING": ErrorCode(
        3, "a named column is not in the table", "check the name; the message lists the columns"
    ),
    "TAB-COLUMN-TWICE": ErrorCode(3, "two columns have the same name", "rename with `--columns`"),
    "TAB-FEATURES": ErrorCode(
        6, "a row has more features than `row_features`", "raise the limit with `--limit`"
    ),
    "TAB-LABEL": ErrorCode(3, "a label is missing or not usable", "correct the row"),
    "TAB-NAME-LONG": ErrorCode(
        6, "a name is longer than `name_bytes`", "raise the limit, or `--text-columns`"
    ),
    "TAB-SCHEMA": ErrorCode(3, "inputs differ in their columns", "same columns in the same order"),
    "TAB-STREAM": ErrorCode(3, "the table cannot be read as Arrow", "one type per column"),
    "TAB-TIME": ErrorCode(
        3,
        "a cell of a column of times is no ISO date or time",
        "`--categorical`, or empty the cell",
    ),
    "TAB-TYPE": ErrorCode(
        3, "a column has a type that cannot be used", "`--drop` it, or convert it"
    ),
    "TAB-UTF8": ErrorCode(3, "a name is not UTF-8", "convert the table"),
    "TAB-VALUE": ErrorCode(
        3, "a cell of a numeric column is not a number", "correct it, or `--categorical`"
    ),
    "TAB-VALUE-FINITE": ErrorCode(3, "NaN or infinity", "leave the cell empty"),
    "TAB-VALUE-RANGE": ErrorCode(3, "a number is beyond float32", "rescale it"),
    "TAB-WEIGHT": ErrorCode(3, "a weight is negative or not a number", "correct it"),
    "PQ-COMPRESSED": ErrorCode(3, "a compressed Parquet file", "decompress it"),
    "PQ-FILE": ErrorCode(3, "not a complete Parquet file", "fetch it again"),
    "PQ-SEEK": ErrorCode(4, "Parquet from a pipe", "save it as a file"),
    # JSON Lines and text
    "JSL-ARRAY": ErrorCode(
        3, "a JSON array, where JSON Lines has an object a line", "one object a line: `jq -c '.[]'`"
    ),
    "JSL-LABEL": ErrorCode(
        3, "the label is missing, repeated or of the wrong type", "correct the line"
    ),
    "JSL-NESTED": ErrorCode(
        3, "an object is nested more than one level deep", "`--drop` the field, or flatten it"
    ),
    "JSL-OBJECT": ErrorCode(3, "a line is not a JSON object", "one object a line"),
    "JSL-SYNTAX": ErrorCode(3, "invalid JSON", "correct the line"),
    "JSL-TYPE": ErrorCode(
        3, "a value has a type that cannot be used", "correct the line, or `--drop` the field"
    ),
    "JSL-VALUE-RANGE": ErrorCode(3, "a number is beyond float32", "rescale it"),
    "JSL-WEIGHT": ErrorCode(3, "a weight is negative or not a number", "correct the line"),
    "TXT-LABEL": ErrorCode(3, "no `label TAB text`", "correct the line"),
    # sources
    "SRC-ALIGNMENTS": ErrorCode(3, "SAM, BAM or CRAM", "`samtools fasta reads.bam`"),
    "SRC-ARCHIVE": ErrorCode(3, "an archive of several files", "unpack it and name the files"),
    "SRC-CHANGED": ErrorCode(
        3,
        "the file changed during the run, or differs between workers",
        "train on a file that nobody writes",
    ),
    "SRC-CLOSED": ErrorCode(4, "the file object is closed", "open it again"),
    "SRC-CORRUPT": ErrorCode(3, "compressed data is damaged", "fetch it again"),
    "SRC-CUT": ErrorCode(3, "compressed data ends too early", "fetch it again"),
    "SRC-DIRECTORY": ErrorCode(4, "the input is a directory", "name its files, or a pattern"),
    "SRC-EMPTY": ErrorCode(
        3, "no example in the input (a warning for one of several)", "check the input"
    ),
    "SRC-EXTRA": ErrorCode(
        4, "an optional package is missing", "install the extra that the message names"
    ),
    "SRC-MISSING": ErrorCode(4, "no such file, or the pattern matches none", "check the path"),
    "SRC-OBJECT": ErrorCode(
        3, "an object of an iterable cannot be read", "give mappings of plain values, or frames"
    ),
    "SRC-ONCE": ErrorCode(
        4, "the input can be read only once", "save it as a file, or use one pass"
    ),
    "SRC-OPEN": ErrorCode(4, "the file cannot be opened", "check the path and permissions"),
    "SRC-READ": ErrorCode(4, "reading failed midway", "check the disk or the network"),
    "SRC-SIZE": ErrorCode(
        6, "more decoded bytes than `input_bytes`", "raise the limit if the input is right"
    ),
    "SRC-STDIN": ErrorCode(4, "standard input is closed", "give a file, or a pipe"),
    "SRC-TRAILING": ErrorCode(3, "other bytes follow the compressed data", "remove them"),
    "SRC-UNREADABLE": ErrorCode(4, "no permission to read", "change the permissions"),
    "SRC-WINDOW": ErrorCode(
        6,
        "decompression needs more than `window_bytes`",
        "raise the limit, or compress with a smaller window",
    ),
    # labels and data
    "DATA-EMPTY": ErrorCode(3, "the stream holds no example", "check the input"),
    "DATA-WEIGHT": ErrorCode(3, "all examples have weight 0", "check the weight column"),
    "LABEL-CLASSES": ErrorCode(
        6,
        "more classes than there is room for",
        "`--classes`, `--max-classes N`, or `--loss squared` for numbers",
    ),
    "LABEL-KIND": ErrorCode(
        3,
        "labels are words where numbers are needed, or the other way round",
        "set `--loss`, or name the classes",
    ),
    "LABEL-ONE": ErrorCode(
        3,
        "all examples have one label (a warning if the stream is accepted)",
        "check the label column; shuffle; name all classes",
    ),
    "LABEL-PER-CLASS": ErrorCode(6, "too many classes for a selection each", "`--shared`"),
    "LABEL-UNKNOWN": ErrorCode(
        3, "a label the model does not know", "name all classes with `--classes`"
    ),
    # models, memory, training
    "CKPT-BUSY": ErrorCode(
        4, "another run uses the checkpoint folder", "wait, or name another folder"
    ),
    "CKPT-CONTENTS": ErrorCode(
        5, "the checkpoint's parts do not fit together", "remove it; the previous one is used"
    ),
    "CKPT-DAMAGED": ErrorCode(
        5, "no checkpoint in the folder is usable", "start again in another folder"
    ),
    "CKPT-DATA": ErrorCode(
        5, "the data differ from those the checkpoint learned", "give the same data from its start"
    ),
    "CKPT-EXISTS": ErrorCode(
        2, "the folder holds checkpoints of an earlier run", "`--resume`, or name another folder"
    ),
    "CKPT-FOLDER": ErrorCode(
        4,
        "the checkpoint folder cannot be used or locked",
        "check permissions, or name another folder",
    ),
    "CKPT-LINK": ErrorCode(4, "a checkpoint is a symbolic link", "replace it by the file"),
    "CKPT-MODEL": ErrorCode(
        5, "the file is a model, not a checkpoint", "continue from models with `--init`"
    ),
    "CKPT-OTHER": ErrorCode(
        5,
        "options, data or version differ from those of the checkpoint",
        "resume with the same ones, or start in another folder",
    ),
    "INIT-OTHER": ErrorCode(
        5,
        "options disagree with the model that `--init` continues from",
        "leave the option out, or train a new model",
    ),
    "INT-ACCOUNT": ErrorCode(
        70, "lines read and lines counted differ", "report it: a bug in bearsketch"
    ),
    "IO-READ": ErrorCode(4, "a model cannot be read", "check the file and its permissions"),
    "IO-WRITE": ErrorCode(
        4,
        "an output cannot be written; nothing was replaced",
        "check folder, permissions and free space",
    ),
    "MEM-BUDGET": ErrorCode(
        6, "`--memory` is too small for k, classes and depth", "more memory, or a smaller k"
    ),
    "MEM-CAP": ErrorCode(
        6, "the run could take more than `--max-memory`", "allow more, or a smaller model"
    ),
    "MEM-MODEL": ErrorCode(6, "the model does not fit into memory", "a smaller model"),
    "MEM-SYSTEM": ErrorCode(6, "the system has no more memory", "a smaller model"),
    "MERGE-STRANGERS": ErrorCode(
        5,
        "models differ in seed, shape, labels or learner",
        "train all parts with the same options",
    ),
    "MODEL-ARRAYS": ErrorCode(
        5, "the arrays of the file are not those of a model", "fetch or train it again"
    ),
    "MODEL-CONTENTS": ErrorCode(5, "the contents do not fit together", "fetch or train it again"),
    "MODEL-DAMAGED": ErrorCode(
        5, "the checksum is wrong: the file is cut or changed", "fetch or train it again"
    ),
    "MODEL-FOREIGN": ErrorCode(5, "not a model file", "name a `.bear` file"),
    "MODEL-HEADER": ErrorCode(
        5, "the header is not one of a model file", "fetch or train it again"
    ),
    "MODEL-LARGE": ErrorCode(5, "the header would be larger than 1 MiB", "shorter labels"),
    "MODEL-RUN": ErrorCode(6, "the record of the run is larger than 256 KiB", "shorter options"),
    "MODEL-VERSION": ErrorCode(
        5, "a format of another version", "use the version that wrote it, or train again"
    ),
    "NUM-DIVERGED": ErrorCode(
        7,
        "weights or the loss left the safe range",
        "rescale values, or drop the column; use the automatic step",
    ),
    "NUM-MODEL": ErrorCode(
        7, "the model holds a number that is not finite", "train again with the automatic step"
    ),
    "OPT-UNUSED": ErrorCode(
        2, "an option has no meaning for the format of the data", "leave it out"
    ),
    "REPORT-STRANGERS": ErrorCode(
        5, "models in one report must predict the same", "write a report each"
    ),
    "USAGE": ErrorCode(2, "an option or argument is wrong", "`bearsketch COMMAND --help`"),
    # workers
    "DIST-CONNECT": ErrorCode(
        8, "no Dask scheduler answers", "give the address that the scheduler printed"
    ),
    "DIST-DIFFERS": ErrorCode(
        8, "a partition gave two different results", "same build and processor kind on all workers"
    ),
    "DIST-PARTITION": ErrorCode(
        8,
        "a partition cannot be learned; with `--on-error skip` a warning",
        "look at the data there and at the workers' memory",
    ),
    "DIST-SILENT": ErrorCode(
        8,
        "the cluster is silent longer than `--patience`",
        "check the scheduler, or raise `--patience`",
    ),
    "DIST-VERSION": ErrorCode(
        5, "a worker has another version of bearsketch", "install one version everywhere"
    ),
}

# What a run accepts and reports.
WARNING_CODES: dict[str, WarningCode] = {
    "COM-BOM": WarningCode("a byte order mark opens the file; it is skipped", "none needed"),
    "COM-ENCODING": WarningCode(
        "names are not UTF-8 and are kept as bytes", "convert the file to UTF-8"
    ),
    "COM-NO-NEWLINE": WarningCode(
        "the last line has no line end; the file may be cut", "check that the file is complete"
    ),
    "DATA-FEATURES": WarningCode(
        "many examples have no feature", "check the format; reads may be shorter than k"
    ),
    "DATA-FORMAT": WarningCode(
        "the model learned another format than this data has", "give data of the model's format"
    ),
    "DATA-IDS": WarningCode(
        "ids from 1 and columns from 0 are mixed", "read with `zero_based=True`, or use `open_like`"
    ),
    "DATA-LOSS": WarningCode(
        "predictions were worse than a constant in the second half",
        "shuffle; leave out columns that grow",
    ),
    "DATA-NOISE": WarningCode(
        "12 passes or more follow noise in the target", "compare with 3 passes on held-out data"
    ),
    "DATA-ORDER": WarningCode(
        "labels come in long runs, as in sorted data", "shuffle the examples"
    ),
    "DATA-SCALE": WarningCode(
        "values grow along the data, or differ greatly in size",
        "leave the column out, or rescale it",
    ),
    "DATA-TARGET": WarningCode(
        "a target is far beyond the others", "leave the example out if it is an error"
    ),
    "DATA-UNKNOWN": WarningCode(
        "no example has a selected feature", "check that columns and names match the model's data"
    ),
    "DIST-PARTITION": WarningCode(
        "partitions were lost and are not in the model", "look at the data there, and train again"
    ),
    "DIST-WHOLE": WarningCode(
        "compressed files and tables are not split, so workers idle", "give one file per worker"
    ),
    "JSL-FIELD-MISSING": WarningCode(
        "no line has a field that an option names", "check the spelling"
    ),
    "LABEL-RARE": WarningCode(
        "labels are rare, or differ only in case or blanks",
        "correct typing errors, or name the classes",
    ),
    "MEM-SMALL": WarningCode(
        "the memory was too small for this data", "more memory or a smaller k; `bearsketch plan`"
    ),
    "MERGE-MISSING": WarningCode(
        "missing numbers count differently in the models",
        "none needed: the first model's rule is used",
    ),
    "SRC-SUFFIX": WarningCode(
        "the content does not match the suffix; the content decides", "rename the file"
    ),
    "TAB-DECIMAL": WarningCode("cells look like numbers with a decimal comma", "`--decimal ,`"),
    "TAB-EMPTY": WarningCode(
        "a column has no value yet and is read as categories", "`--numeric` or `--drop`"
    ),
    "TAB-HEADER": WarningCode(
        "the first row looks like data, or `--columns` replaces a header", "`--no-header`"
    ),
    "TAB-MARKS": WarningCode(
        "numbers with marks such as `$5` or `13,540` are read as numbers",
        "`--categorical` if they are names, `--decimal ,` if the comma is a decimal one",
    ),
    "TAB-STRAY": WarningCode(
        "some cells keep a column from being numeric", "correct them, or `--numeric`"
    ),
    "TAB-TEXT": WarningCode(
        "a column of nearly unique texts is read as categories", "`--text-columns`"
    ),
    "TAB-UNIQUE": WarningCode(
        "nearly every value of a column is different", "`--drop` it, or `--categorical`"
    ),
    "TAB-WEIGHT-MISSING": WarningCode("missing weights count as 1", "fill them in"),
    "VW-TAG-NUMBER": WarningCode(
        "a number touches the bar and is read as a tag, so the example has no label",
        "put a space before the bar",
    ),
}
