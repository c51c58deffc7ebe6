"""Inputs that are sought rather than drawn: ``atheris`` changes those that reach new code. It is not for every system.

``python -m benchmarks.reliability.guided SOURCE SECONDS FOLDER`` begins with the fixtures of a source, keeps in the folder what
it finds, and goes on from there when it is run again. Needs ``pip install atheris``. The laws are those of every other input.
"""

import sys
from pathlib import Path

LONGEST = 1 << 14


def main(source: str, seconds: str, folder: str) -> None:
    """Seek for so long; a broken law or an exception ends the process, and its input is kept as ``crash-…``."""
    import atheris

    with atheris.instrument_imports(include=["convparse"]):
        import convparse._databases  # noqa: F401 - what is imported later is not watched
        from convparse import SOURCES, parse_bytes

        adapter = SOURCES[source]

    from benchmarks.reliability import laws, seeds

    inputs = Path(folder, source)
    inputs.mkdir(parents=True, exist_ok=True)
    for number, (_, data) in enumerate(seeds.files(source)):
        if len(data) <= LONGEST:
            (inputs / f"fixture-{number}").write_bytes(data)

    def one(data: bytes) -> None:
        result = parse_bytes(data, source=source, name="x.jsonl")
        container = adapter.variants[result.variant].container
        broken = laws.shallow(result, len(data), "sqlite" if data.startswith(seeds.MAGIC) else container)
        if broken:
            raise AssertionError(broken)

    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={folder}/",
        "-seed=1",
        "-rss_limit_mb=1024",
    ]
    atheris.Setup([sys.argv[0], *options, str(inputs)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
