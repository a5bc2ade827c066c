"""The fault matrix: what every malformation means in every format."""

from bearsketch.reading import Limits

from .faults import Accepts, Fails, cases

SMALL = {"limits": Limits(line_bytes=200, name_bytes=50, row_features=4)}
LONG = b"x" * 300
WIDE = b"x" * 60

CASES = [
    *cases(
        1,
        "cut, grammar broken",
        {
            "vw": (b"1 |a x:", Fails("VW-VALUE-MISSING", 0, 7)),
            "svmlight": (b"1 5:", Fails("LSV-VALUE-MISSING", 0, 4)),
            "fasta": (b">r2 L=1", Fails("FA-EMPTY", 0, 1)),
            "fastq": (b"@r2 L=1\nACGTAC\n+", Fails("FQ-TRUNCATED", 2, 1)),
            "csv": (b"x,2", Fails("CSV-COLUMNS", 0, 4)),
            "jsonl": (b'{"a":', Fails("JSL-SYNTAX", 0, 5)),
        },
        place="end",
    ),
    *cases(
        2,
        "cut, still parses",
        {
            "vw": (b"1 |a x", Accepts(warns="COM-NO-NEWLINE")),
            "svmlight": (b"1 5:1", Accepts(warns="COM-NO-NEWLINE")),
            "fasta": (b">r2 L=1\nACG", Accepts(warns="COM-NO-NEWLINE")),
            "fastq": (b"@r2 L=1\nACGTAC\n+\nIII", Fails("FQ-LENGTH", 3, 1)),
            "csv": (b"x,2,1", Accepts(warns="COM-NO-NEWLINE")),
            "jsonl": (b'{"a":"x"}', Accepts(warns="COM-NO-NEWLINE")),
        },
        place="end",
    ),
    *cases(
        3,
        "no newline at the end",
        {
            "fastq": (b"@r2 L=1\nACGTAC\n+\nIIIIII", Accepts(warns="COM-NO-NEWLINE")),
        },
        place="end",
    ),
    *cases(
        4,
        "NUL byte",
        {
            "vw": (b"1 |a x\0y\n", Fails("COM-NUL", 0, 7)),
            "svmlight": (b"1 5:1\0\n", Fails("COM-NUL", 0, 6)),
            "fasta": (b">r2 L=1\nAC\0GT\n", Fails("COM-NUL", 1, 3)),
            "fastq": (b"@r2 L=1\nAC\0T\n+\nIIII\n", Fails("COM-NUL", 1, 3)),
            "csv": (b"x\0,2,1\n", Fails("COM-NUL", 0, 2)),
            "jsonl": (b'{"a":"x\0"}\n', Fails("COM-NUL", 0, 8)),
        },
    ),
    *cases(
        5,
        "not UTF-8, in names, titles and comments",
        {
            "vw": (b"1 |a abc\xe9\n", Accepts(warns="COM-ENCODING")),
            "svmlight": (b"1 5:1 # \xe9\n", Accepts()),
            "fasta": (b">r\xe9 L=1\nACG\n", Accepts()),
            "fastq": (b"@r\xe9 L=1\nACG\n+\nIII\n", Accepts()),
            "csv": (b"abc\xe9,2,1\n", Accepts(warns="COM-ENCODING")),
            "jsonl": (b'{"a":"abc\xe9"}\n', Fails("JSL-SYNTAX", 0, 10)),
        },
    ),
    *cases(
        5,
        "not UTF-8, elsewhere",
        {
            "svmlight": (b"1 \xe9:1\n", Fails("LSV-INDEX", 0, 3)),
            "fasta": (b">r2 L=1\nAC\xe9\n", Fails("FA-LETTER", 1, 3)),
            "fastq": (b"@r2 L=1\nACG\n+\nII\xe9\n", Fails("FQ-QUALITY", 3, 3)),
        },
    ),
    *cases(
        6,
        "line above the limit",
        {
            "vw": (b"1 |a " + LONG + b"\n", Fails("COM-LINE-LONG", 0, 1, 6)),
            "svmlight": (b"1 " + b"5:1 " * 99 + b"\n", Fails("COM-LINE-LONG", 0, 1, 6)),
            "fastq": (
                b"@r2 L=1\n" + b"A" * 300 + b"\n+\n" + b"I" * 300 + b"\n",
                Fails("COM-LINE-LONG", 1, 1, 6),
            ),
            "fasta": (b">r2 L=1\n" + b"A" * 300 + b"\n", Accepts()),
            "csv": (LONG + b",2,1\n", Fails("COM-LINE-LONG", 0, 1, 6)),
            "jsonl": (b'{"a":"' + LONG + b'"}\n', Fails("COM-LINE-LONG", 0, 1, 6)),
        },
        options=SMALL,
    ),
    *cases(
        7,
        "name above the limit",
        {
            "vw": (b"1 |a " + WIDE + b"\n", Fails("COM-NAME-LONG", 0, 6, 6)),
            "csv": (WIDE + b",2,1\n", Fails("TAB-NAME-LONG", 0, 1, 6)),
            "jsonl": (b'{"a":"' + WIDE + b'"}\n', Fails("COM-NAME-LONG", 0, 6, 6)),
        },
        options=SMALL,
    ),
    *cases(
        7,
        "more features than the limit",
        {
            "vw": (b"1 |a b c d e f\n", Fails("COM-FEATURES", 0, 14, 6)),
            "svmlight": (b"1 1:1 2:1 3:1 4:1 5:1\n", Fails("COM-FEATURES", 0, 19, 6)),
            "jsonl": (b'{"a":["p","q","r","s","t"]}\n', Fails("COM-FEATURES", 0, 23, 6)),
        },
        options=SMALL,
    ),
    *cases(
        8,
        "value above float32",
        {
            "vw": (b"1 |a x:1e308\n", Fails("VW-VALUE-RANGE", 0, 6)),
            "svmlight": (b"1 5:1e308\n", Fails("LSV-VALUE-RANGE", 0, 5)),
            "csv": (b"x,1e308,1\n", Fails("TAB-VALUE-RANGE", 0, 3)),
            "jsonl": (b'{"n":1e308}\n', Fails("JSL-VALUE-RANGE", 0, 6)),
        },
    ),
    *cases(
        9,
        "value above double",
        {
            "vw": (b"1 |a x:1e400\n", Fails("VW-VALUE-RANGE", 0, 6)),
            "svmlight": (b"1 5:-1e400\n", Fails("LSV-VALUE-RANGE", 0, 5)),
            "csv": (b"x,1e400,1\n", Fails("TAB-VALUE-RANGE", 0, 3)),
            "jsonl": (b'{"n":1e400}\n', Fails("JSL-VALUE-RANGE", 0, 6)),
        },
    ),
    *cases(
        10,
        "value NaN",
        {
            "vw": (b"1 |a x:nan\n", Fails("VW-VALUE", 0, 8)),
            "svmlight": (b"1 5:nan\n", Fails("LSV-VALUE", 0, 5)),
            "csv": (b"x,NaN,1\n", Fails("TAB-VALUE-FINITE", 0, 3)),
            "jsonl": (b'{"n":NaN}\n', Fails("JSL-TYPE", 0, 6)),
        },
    ),
    *cases(
        10,
        "value infinite",
        {
            "vw": (b"1 |a x:-inf\n", Fails("VW-VALUE", 0, 8)),
            "svmlight": (b"1 5:Infinity\n", Fails("LSV-VALUE", 0, 5)),
            "csv": (b"x,-inf,1\n", Fails("TAB-VALUE-FINITE", 0, 3)),
            "jsonl": (b'{"n":Infinity}\n', Fails("JSL-TYPE", 0, 6)),
        },
    ),
    *cases(
        11,
        "value not a number",
        {
            "vw": (b"1 |a x:1foo\n", Fails("VW-VALUE", 0, 8)),
            "svmlight": (b"1 5:foo\n", Fails("LSV-VALUE", 0, 5)),
            "csv": (b"x,foo,1\n", Fails("TAB-VALUE", 0, 3)),
            "jsonl": (b'{"n":1foo}\n', Fails("JSL-SYNTAX", 0, 7)),
        },
    ),
    *cases(
        11,
        "value hexadecimal or with a decimal comma",
        {
            "vw": (b"1 |a x:0x10\n", Fails("VW-VALUE", 0, 8)),
            "svmlight": (b"1 5:1,5\n", Fails("LSV-VALUE", 0, 5)),
            "csv": (b'x,"1,5",1\n', Fails("TAB-VALUE", 0, 3)),
            "jsonl": (b'{"n":0x10}\n', Fails("JSL-SYNTAX", 0, 7)),
        },
    ),
    *cases(
        11,
        "word as a VW value is a category",
        {"vw": (b"1 |a x:foo\n", Accepts(like=b"1 |a x^foo\n"))},
    ),
    *cases(
        12,
        "label NaN",
        {
            "vw": (b"nan |a x\n", Fails("VW-LABEL", 0, 1)),
            "svmlight": (b"nan 5:1\n", Fails("LSV-LABEL", 0, 1)),
            "fasta": (b">r2 L=nan\nACG\n", Fails("FA-LABEL", 0, 1)),
            "fastq": (b"@r2 L=nan\nACG\n+\nIII\n", Fails("FQ-LABEL", 0, 1)),
            "csv": (b"x,2,nan\n", Fails("TAB-LABEL", 0, 5)),
            "jsonl": (b'{"a":"x","label":"nan"}\n', Fails("JSL-LABEL", 0, 18)),
        },
    ),
    *cases(
        12,
        "label a word among numbers",
        {
            "vw": (b"spam |a x\n", Fails("VW-LABEL", 0, 1)),
            "svmlight": (b"spam 5:1\n", Fails("LSV-LABEL", 0, 1)),
            "fasta": (b">r2 L=spam\nACG\n", Fails("FA-LABEL", 0, 1)),
            "fastq": (b"@r2 L=spam\nACG\n+\nIII\n", Fails("FQ-LABEL", 0, 1)),
            "csv": (b"x,2,spam\n", Fails("TAB-LABEL", 0, 5)),
            "jsonl": (b'{"a":"x","label":"spam"}\n', Fails("JSL-LABEL", 0, 18)),
        },
    ),
    *cases(
        12,
        "label missing",
        {
            "vw": (b"|a x\n", Accepts(counts={"unlabelled": 1})),
            "svmlight": (b"5:1\n", Fails("LSV-LABEL", 0, 1)),
            "fasta": (b">r2\nACG\n", Fails("FA-LABEL", 0, 1)),
            "fastq": (b"@r2\nACG\n+\nIII\n", Fails("FQ-LABEL", 0, 1)),
            "csv": (b"x,2,\n", Accepts(counts={"unlabelled": 1})),
            "jsonl": (b'{"a":"x"}\n', Accepts(counts={"unlabelled": 1})),
        },
    ),
    *cases(
        15,
        "negative id",
        {
            "vw": (b"1 |a -5:1\n", Accepts()),
            "svmlight": (b"1 -5:1\n", Fails("LSV-INDEX", 0, 3)),
        },
    ),
    *cases(
        16,
        "feature twice",
        {
            "vw": (b"1 |a x:1 x:2\n", Accepts(like=b"1 |a x:3\n", counts={"duplicates": 1})),
            "svmlight": (b"1 5:1 5:2\n", Fails("LSV-DUPLICATE", 0, 7)),
            "fasta": (b">r2 L=1\nAAAAA\n", Accepts()),
            "fastq": (b"@r2 L=1\nAAAAA\n+\nIIIII\n", Accepts()),
            "jsonl": (b'{"n":1,"n":2}\n', Accepts(like=b'{"n":3}\n')),
        },
    ),
    *cases(
        16,
        "feature twice, added up",
        {"svmlight": (b"1 5:1 5:2\n", Accepts(like=b"1 5:3\n"), {"duplicates": "sum"})},
    ),
    *cases(
        17,
        "features in another order",
        {
            "vw": (b"1 |a q p:2\n", Accepts(like=b"1 |a p:2 q\n")),
            "svmlight": (b"1 9:1 5:2\n", Accepts(like=b"1 5:2 9:1\n")),
            "jsonl": (b'{"n":2,"a":"x"}\n', Accepts(like=b'{"a":"x","n":2}\n')),
        },
    ),
    *cases(
        18,
        "ids above 2^32 and 2^63",
        {
            "vw": (b"1 |a 4294967297:1 18446744073709551615:1\n", Accepts()),
            "svmlight": (b"1 1:1 4294967297:1 18446744073709551615:1\n", Accepts()),
        },
    ),
    *cases(
        19,
        "id above 2^64-1",
        {
            "vw": (b"1 |a 18446744073709551616:1\n", Accepts()),
            "svmlight": (b"1 18446744073709551616:1\n", Fails("LSV-IDX-RANGE", 0, 3)),
        },
    ),
    *cases(
        20,
        "no features",
        {
            "vw": (b"1 |\n", Accepts(counts={"empty": 1})),
            "svmlight": (b"1\n", Accepts(counts={"empty": 1})),
            "fasta": (b">r2 L=1\nAC\n", Accepts(counts={"empty": 1})),
            "fastq": (b"@r2 L=1\nAC\n+\nII\n", Accepts(counts={"empty": 1})),
            "csv": (b",,1\n", Accepts(counts={"empty": 1})),
            "jsonl": (b'{"label":1}\n', Accepts(counts={"empty": 1})),
        },
    ),
    *cases(
        22,
        "CR line ends",
        {
            "vw": (b"1 |a x\r1 |a y\n", Fails("COM-CR", 0, 7)),
            "svmlight": (b"1 5:1\r1 6:1\n", Fails("COM-CR", 0, 6)),
            "fasta": (b">r2 L=1\nACG\rTTT\n", Fails("COM-CR", 1, 4)),
            "fastq": (b"@r2 L=1\rACG\r+\rIII\n", Fails("COM-CR", 0, 8)),
            "csv": (b"x,2,1\rx,2,1\n", Fails("COM-CR", 0, 6)),
            "jsonl": (b'{"a":"x"}\r{"a":"y"}\n', Fails("COM-CR", 0, 10)),
        },
    ),
    *cases(
        38,
        "of this format only",
        {
            "vw": (b"shared |a x\n", Fails("VW-SHARED", 0, 1)),
            "svmlight": (b"# comment\n", Accepts(rows=2, counts={"comment": 1})),
            "fasta": (b">r2 L=1\nACGXACG\n", Fails("FA-LETTER", 1, 4)),
            "fastq": (b"@r2 L=1\nACG\nACG\n+\nIIIIII\n", Fails("FQ-PLUS", 2, 1)),
            "csv": (b'"x"y,2,1\n', Fails("CSV-QUOTE", 0, 4)),
            "jsonl": (b"[1,2]\n", Fails("JSL-OBJECT", 0, 1)),
        },
    ),
    *cases(
        38,
        "of this format only, second",
        {
            "vw": (b"1:2:0.5 |a x\n", Fails("VW-BANDIT", 0, 1)),
            "svmlight": (b"1 qid:3 5:1\n", Accepts(counts={"qid": 1})),
            "fasta": (b">r2 L=1\nACGNACG\n", Accepts(counts={"invalid_windows": 3})),
            "jsonl": (b'{"a":{"b":{"c":1}}}\n', Fails("JSL-NESTED", 0, 11)),
        },
    ),
    *cases(
        38,
        "of this format only, third",
        {
            "vw": (b"1 x y\n", Fails("VW-NO-BAR", 0, 1)),
            "svmlight": (b"1,2 5:1\n", Fails("LSV-MULTILABEL", 0, 1)),
        },
    ),
    *cases(
        38,
        "weight below zero",
        {
            "vw": (b"1 -2 |a x\n", Fails("VW-WEIGHT", 0, 3)),
            "csv": (b"x,-2,1\n", Fails("TAB-WEIGHT", 0, 3), {"weight_column": "n", "numeric": []}),
            "jsonl": (b'{"n":-2}\n', Fails("JSL-WEIGHT", 0, 6), {"weight_column": "n"}),
        },
    ),
]
