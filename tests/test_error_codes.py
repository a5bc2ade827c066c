"""The tables of error codes and exit codes against what the source raises."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import bearsketch.exceptions as exceptions
from bearsketch.error_codes import ERROR_CODES, EXIT_CODES, WARNING_CODES

ROOT = Path(__file__).parents[1]
PREFIXES = {"vw": "VW", "svmlight": "LSV", "fasta": "FA", "fastq": "FQ", "jsonl": "JSL"}


def python_codes():
    for path in (ROOT / "src/bearsketch").rglob("*.py"):
        yield from re.findall(r"code=\"([A-Z][A-Z0-9-]+)\"", path.read_text())
        yield from re.findall(r"error\[([A-Z][A-Z0-9-]+)\]", path.read_text())


def core_literals():
    text = "".join(path.read_text() for path in (ROOT / "core").rglob("*.[ch]pp"))
    return set(re.findall(r"\"([A-Z][A-Z0-9-]+)\"", text))


def test_every_code_that_is_raised_is_in_the_table():
    assert set(python_codes()) - set(ERROR_CODES) == set()
    whole = {code for code in core_literals() if re.match(r"(COM|CSV|TAB)-", code)}
    warnings = {"COM-BOM", "COM-NO-NEWLINE"}
    assert whole - warnings - set(ERROR_CODES) == set()


def test_every_code_in_the_table_is_raised():
    source = "".join(path.read_text() for path in (ROOT / "src/bearsketch").rglob("*.py"))
    source = source.replace((ROOT / "src/bearsketch/error_codes.py").read_text(), "")
    parts = core_literals()
    unused = [
        code
        for code in ERROR_CODES
        if f'"{code}"' not in source
        and f"[{code}]" not in source
        and code not in parts
        and code.partition("-")[2] not in parts
        and code not in ("FA-LABEL", "FQ-LABEL", "USAGE")
    ]
    assert unused == []


def test_every_error_ends_with_an_exit_code_of_the_table():
    errors = [kind for kind in vars(exceptions).values() if isinstance(kind, type)]
    assert {kind.exit_code for kind in errors} <= set(EXIT_CODES)
    assert {row.exit_code for row in ERROR_CODES.values()} <= set(EXIT_CODES)
    for row in (*ERROR_CODES.values(), *WARNING_CODES.values()):
        assert row.meaning
        assert row.cure
        assert not row.meaning.endswith(".")


def test_errors_have_the_exit_code_of_their_kind():
    kinds = {name: kind for name, kind in vars(exceptions).items() if isinstance(kind, type)}
    raised = defaultdict(set)
    for path in (ROOT / "src/bearsketch").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                named = [k.value for k in call.keywords if k.arg == "code"]
                if call.func.id in kinds and named and isinstance(named[0], ast.Constant):
                    raised[named[0].value].add(kinds[call.func.id].exit_code)
    for code, found in raised.items():
        assert ERROR_CODES[code].exit_code in found, code


def test_every_warning_is_in_the_table():
    """What a reader or a run may report without an error."""
    source = "".join(path.read_text() for path in (ROOT / "src/bearsketch").rglob("*.py"))
    warned = set(re.findall(r"warning\[([A-Z][A-Z0-9-]+)\]", source))
    assert warned - set(WARNING_CODES) - set(ERROR_CODES) == set()
    for code in WARNING_CODES:
        assert f'"{code}"' in source or f"[{code}]" in source, code
