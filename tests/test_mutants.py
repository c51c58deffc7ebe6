"""The mutants of ``benchmarks.mutants``: what is changed, and that an unchanged module is no mistake."""

import ast

from benchmarks import mutants

TEXT = '''"""A module."""

LIMIT = 3


def f(a: int, b: "str") -> bool:
    """A function."""
    if a == 1 and not b:
        return a + 2
    for item in b:
        break
    return None
'''


def told() -> list[str]:
    return [mutants.mutant(TEXT, n)[1] for n in range(len(list(mutants.places(ast.parse(TEXT)))))]


def test_what_is_changed() -> None:
    assert sorted(told()) == sorted(
        [
            "line 8: a == 1 and (not b) -> a == 1 or not b",
            "line 8: a == 1 -> a != 1",
            "line 8: 1 -> 2",
            "line 8: not b -> b",
            "line 9: return a + 2 -> return None",
            "line 9: a + 2 -> a - 2",
            "line 9: 2 -> 3",
            "line 11: break -> continue",
        ]
    )


def test_every_mutant_compiles() -> None:
    for n in range(len(told())):
        compile(mutants.mutant(TEXT, n)[0], "x", "exec")


def test_the_modules_and_their_tests_are_there() -> None:
    for module, tests in mutants.TESTS.items():
        assert (mutants.SOURCE / module).is_file()
        assert all((mutants.SOURCE.parents[1] / path).is_file() for path in tests)
