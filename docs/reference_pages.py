"""The generated page about JSON results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).parent / "reference" / "results.schema.json"


def write(folder: Path) -> None:
    """Write the page, unless it stands there already."""
    path, text = folder / "json.md", "\n".join(results()) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def results() -> Iterator[str]:
    """Yield a table for every result of the schema."""
    schema = json.loads(SCHEMA.read_text())
    yield "# JSON results\n"
    yield "`--json` prints one JSON object on standard output; everything else goes to standard"
    yield "error. Numbers are finite; what does not apply is `null`. JSON Schema 2020-12:"
    yield "{download}`results.schema.json <results.schema.json>`.\n"
    for name, one in schema["$defs"].items():
        if "title" not in one:
            continue
        yield f"## {one['title']}\n"
        yield one["description"] + "\n"
        if name == "train":
            yield "```sh\nbearsketch train data.vw -o m.bear --json | jq .examples\n```\n"
        yield "| key | type | |"
        yield "|---|---|---|"
        required = set(one.get("required", ()))
        for key, spec in one["properties"].items():
            said = spec.get("description", "")
            optional = "" if key in required else " (optional)"
            yield f"| `{key}` | {_type(spec)} | {said}{optional} |"
        yield ""


def _type(spec: dict[str, Any]) -> str:
    if "$ref" in spec:
        return spec["$ref"].rsplit("/", 1)[-1]
    if "enum" in spec:
        return " or ".join(f"`{value}`" for value in spec["enum"])
    kinds = spec.get("type", "any")
    return " or ".join(kinds) if isinstance(kinds, list) else kinds
