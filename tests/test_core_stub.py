"""The stub names exactly what the compiled module has."""

from __future__ import annotations

import ast
from pathlib import Path

import bearsketch
from bearsketch import _core

STUB = Path(bearsketch.__file__).with_name("_core.pyi")


def public(names):
    return {name for name in names if not name.startswith("_")}


def stubbed(body):
    """Names a block of the stub defines; for classes, with the names inside."""
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = set(stubbed(node.body))
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = [argument.arg for argument in node.args.args]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = None
    return names


def test_the_stub_names_what_the_module_has():
    stub = stubbed(ast.parse(STUB.read_text()).body)
    assert public(stub) == public(dir(_core))
    for name, inside in stub.items():
        if isinstance(inside, set) and name != "Diverged":
            assert public(inside) == public(vars(getattr(_core, name))), name


def test_arguments_have_the_stub_s_names():
    tree = ast.parse(STUB.read_text())
    functions = stubbed(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = stubbed(node.body)
            functions |= {f"{node.name}.{name}": args for name, args in methods.items()}
    checked = 0
    for path, arguments in functions.items():
        owner, _, name = path.rpartition(".")
        home = getattr(_core, owner) if owner else _core
        thing = getattr(home, name, None)
        if not isinstance(arguments, list) or name.startswith("_") or not callable(thing):
            continue
        shown = thing.__doc__.split("->")[0]
        if "/)" in shown:
            continue  # its arguments have no names
        for argument in arguments:
            assert f"{argument}: " in shown or argument == "self", (path, argument)
        checked += 1
    assert checked >= 10
