"""The documentation says what there is, and all of it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest
import typer

import bearsketch
from experiments.commands import make_app

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md"), *DOCS.glob("explanation/*.md")])


@pytest.fixture(scope="module")
def pages():
    """The module that writes the pages of the commands."""
    spec = importlib.util.spec_from_file_location("command_pages", DOCS / "command_pages.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["command_pages"] = module
    spec.loader.exec_module(module)
    return module


def experiments():
    """Commands of the experiments by name."""
    return typer.main.get_command(make_app()).commands


def test_every_public_name_has_an_entry():
    text = (DOCS / "reference" / "python.md").read_text()
    documented = set(re.findall(r"\.\. auto\w+:: bearsketch\.(\w+)\s", text))
    assert set(bearsketch.__all__) <= documented


def test_every_command_has_a_section_with_all_its_options(pages, tmp_path):
    file = tmp_path / "commands.md"
    pages.write(file)
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", file.read_text(), re.M | re.S))
    assert set(sections) == set(pages.commands())
    for name, command in pages.commands().items():
        assert "```sh" in sections[name]
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("-"):
                    assert option in sections[name], f"{name} {option}"


def test_every_command_has_two_examples(pages):
    for name, command in pages.commands().items():
        assert command.help.count(f"bearsketch {name}") >= 2, name


def shell_lines():
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.S):
            for line in re.findall(r"(?:(?<!from )bearsketch|-m experiments) \w+[^|>\n]*", block):
                yield pytest.param(line.split("#")[0], id=f"{page.stem}: {line[:40]}")


@pytest.mark.parametrize("line", list(shell_lines()))
def test_options_on_the_pages_exist(line, pages):
    words = line.removeprefix("-m ").split()
    command = experiments() if words[0] == "experiments" else pages.commands()
    for word in words[1:]:
        command = command[word]
        if not hasattr(command, "commands"):
            break
        command = command.commands
    known = {o for p in command.params for o in (*p.opts, *p.secondary_opts)} | {"--help"}
    used = re.findall(r" (--?[a-z][a-z0-9-]*)", re.sub(r"'[^']*'", "", line))
    assert set(used) <= known


def test_pictures_and_pages_that_are_linked_exist():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            if target.startswith("examples/") or "/examples/" in target:
                name = "README.txt" if target.endswith("index") else f"{Path(target).name}.py"
                assert (DOCS.parent / "examples" / name).exists(), f"{page.name}: {target}"
            elif not target.startswith("reference/commands"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_files_that_the_contributors_guide_names_exist():
    root = DOCS.parent
    places = [
        root,
        root / "src" / "bearsketch",
        *(root / "core" / part for part in (".", "src", "include")),
    ]
    text = (root / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|cpp|hpp|md|toml|tsv))`", text)
    assert len(named) > 20
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert missing == []
