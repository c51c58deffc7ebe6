"""How many deliberate mistakes the tests notice: a sample of the mutants of a module, each tried on the tests that are its own.

A mutant is a module with one change: a comparison, an operator or a condition turned round, a number one more, a constant
text another, a ``return`` without its value, a ``continue`` for a ``break``. It takes the module's place in a forked process,
which imports the library and runs the tests; if none fails, it *survives*. Docstrings and annotations are not changed. Which
mutants a sample holds depends on the module alone.

``python -m benchmarks.mutants [--sample N] [--only MODULE]``; needs ``fork``. One mutant takes some seconds, since every
process imports the tests anew.
"""

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import io
import os
import random
import resource
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from benchmarks.ratio import table

SOURCE: Final = Path(__file__).parents[1] / "src" / "convparse"
SECONDS: Final = 40
"""CPU seconds after which a mutant counts as noticed: it does not end."""
SLOW: Final = "not linear and not busy and not parallel and not steps_are_bounded and not docs"
CONTAINERS: Final = ("tests/test_jsonl.py", "tests/test_decoding.py", "tests/test_parse.py")
DATABASES: Final = ("tests/test_sqlite_edges.py", "tests/test_sqlite_malformed.py", "tests/test_sqlite_hostile.py")
SNAPSHOTS: Final = ("tests/test_sqlite_snapshot.py", "tests/test_sqlite_edges.py")
CLI: Final = ("tests/test_copilot_fixtures.py", "tests/test_copilot.py", "tests/test_found.py")
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "ledger.py": ("tests/test_drops.py", "tests/test_jsonl.py", "tests/test_decoding.py", "tests/test_claude_code.py"),
    "reading/jsonl.py": CONTAINERS,
    "reading/decoding.py": CONTAINERS,
    "reading/documents.py": CONTAINERS,
    "reading/texts.py": (*CONTAINERS, "tests/test_cursor_files.py"),
    "reading/joined.py": ("tests/test_jsonl.py", "tests/test_parse.py", *CLI),
    "reading/racing.py": ("tests/test_codex.py", "tests/test_parse.py", "tests/test_codex_fixtures.py"),
    "reading/mutation_log.py": ("tests/test_mutation_log.py", "tests/test_copilot_fixtures.py"),
    "reading/opening.py": ("tests/test_opening.py", "tests/test_hostile_paths.py", "tests/test_claude_code.py"),
    "reading/rows.py": (*DATABASES, "tests/test_cursor_fixtures.py"),
    "reading/sqlite.py": (*DATABASES, "tests/test_cursor_fixtures.py"),
    "reading/salvage.py": (*DATABASES, "tests/test_salvage.py"),
    "reading/snapshot.py": SNAPSHOTS,
    "reading/handles.py": SNAPSHOTS,
    "sources/copilot_cli/messages.py": CLI,
    "sources/copilot_cli/resolve.py": CLI,
    "sources/copilot_cli/rows.py": CLI,
    "sources/copilot_cli/state.py": CLI,
    "sources/copilot_cli/history.py": CLI,
    "sources/copilot_cli/edits.py": CLI,
    "sources/copilot_cli/files.py": CLI,
}
"""The modules whose mutants are tried, and the tests of each."""
TURNED: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


# ---- the changes -----------------------------------------------------------------------------------------------------------


def changed(node: ast.AST) -> list[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in TURNED:
        return [ast.Compare(node.left, [TURNED[type(node.ops[0])](), *node.ops[1:]], node.comparators)]  # type: ignore[list-item]
    if isinstance(node, ast.BoolOp):
        return [ast.BoolOp(TURNED[type(node.op)](), node.values)]  # type: ignore[arg-type]
    if isinstance(node, ast.BinOp) and type(node.op) in TURNED:
        return [ast.BinOp(node.left, TURNED[type(node.op)](), node.right)]  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.Constant):
        return _other_constant(node.value)
    if isinstance(node, ast.IfExp):
        return [ast.IfExp(node.test, node.orelse, node.body)]
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        return [ast.Return(ast.Constant(None))]
    if isinstance(node, ast.Break):
        return [ast.Continue()]
    return [ast.Break()] if isinstance(node, ast.Continue) else []


def _other_constant(value: Any) -> list[ast.AST]:
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if isinstance(value, int):
        return [ast.Constant(value + 1)]
    if isinstance(value, str | bytes) and value:
        return [ast.Constant(value + (b"X" if isinstance(value, bytes) else "X"))]
    return []


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place in the functions of a module that can be changed: the parent, its field, and the index in it."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    seen = {id(inner) for node in ast.walk(tree) for note in _annotations(node) for inner in ast.walk(note)}
    for node in dict.fromkeys(inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Expr):
            continue  # what stands alone is a docstring, or called for what it does
        for field, value in ast.iter_fields(node):
            for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(item, ast.AST) and id(item) not in seen and changed(item):
                    seen.add(id(item))
                    yield node, field, index


def _annotations(node: ast.AST) -> list[ast.AST]:
    """What is no code in a node: annotations and decorators."""
    found = [getattr(node, "annotation", None), getattr(node, "returns", None), *getattr(node, "decorator_list", ())]
    return [note for note in found if note is not None]


def mutant(text: str, number: int) -> tuple[ast.Module, str]:
    """The module with its change of that number, and what was changed."""
    tree = ast.parse(text)
    node, field, index = list(places(tree))[number]
    old = getattr(node, field) if index is None else getattr(node, field)[index]
    new = ast.copy_location(copy.deepcopy(changed(old)[0]), old)
    told = f"line {old.lineno}: {ast.unparse(old)} -> {ast.unparse(new)}"
    if index is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[index] = new
    return ast.fix_missing_locations(tree), told.replace("\n", " ")[:150]


# ---- the trial -------------------------------------------------------------------------------------------------------------


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives a mutant in the place of a module."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """The mutant, if it is asked for."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def create_module(self, spec: ModuleSpec) -> None:
        """As usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutant's code."""
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def noticed(module: str, tree: ast.Module, tests: Sequence[str]) -> bool:
    """True if a test fails, or does not end, with a mutant in the place of its module."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    status = 1
    with (
        contextlib.suppress(BaseException),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        name = "convparse." + module.removesuffix(".py").replace("/", ".")
        sys.meta_path.insert(0, _Finder(name, SOURCE / module, tree))
        import pytest

        arguments = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", SLOW, *tests]
        status = int(pytest.main(arguments))
    os._exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try a sample of mutants of every module, and print the share that was noticed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--sample", type=int, default=10, metavar="N", help="mutants of every module; 0 for all")
    parser.add_argument("--only", action="append", choices=list(TESTS), help="only this module; may be given again")
    given = parser.parse_args(arguments)
    rows, survivors = [], []
    for module in given.only or TESTS:
        text = (SOURCE / module).read_text("utf-8")
        count = len(list(places(ast.parse(text))))
        rng = random.Random(module)
        chosen = sorted(rng.sample(range(count), min(given.sample or count, count)))
        killed = 0
        for number in chosen:
            tree, told = mutant(text, number)
            if noticed(module, tree, TESTS[module]):
                killed += 1
            else:
                survivors.append(f"{module} {number}, {told}")
                print(survivors[-1], flush=True)
        rows.append([module, f"{count}", f"{len(chosen)}", f"{killed}", f"{killed / (len(chosen) or 1):.0%}"])
        print(*rows[-1], flush=True)
    print(table(["module", "mutants", "tried", "noticed", "share"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
