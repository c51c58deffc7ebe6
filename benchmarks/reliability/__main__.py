"""``python -m benchmarks.reliability``: the promises of the library, measured.

Without options, 200,000 inputs for every source; each option runs another part instead. ``docs/reliability.md`` says what the
figures mean. The exit status is 1 if anything was found that should not be.
"""

import argparse
import sys
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from benchmarks.ratio import table
from benchmarks.reliability import cuts, differential, fuzz, growth, hammer, memory, odd, recovery, suites
from convparse import SOURCES

INPUTS: Final = 200_000


def inputs(sources: Sequence[str], count: int, folder: Path) -> bool:
    """Each source in a process of its own, so that a peak of memory is its own, and a crash only its own end."""
    for source in sources:
        process = get_context("spawn").Process(target=fuzz.run, args=(source, count, folder))
        process.start()
        process.join()
        if process.exitcode:
            state = fuzz.load(folder, source)
            state.found(f"the process ended with {process.exitcode}", state.done)
            fuzz.save(folder, source, state)
    states = {source: fuzz.load(folder, source) for source in sources}
    print(shown(states))
    for source, state in states.items():
        for what, (times, *first) in state.findings.items():
            print(f"{source}: {what} ({times} times; inputs {', '.join(map(str, first[:5]))})")
    return all(state.done >= count and not state.findings for state in states.values())


def shown(states: dict[str, fuzz.State]) -> str:
    """The table of a run."""
    heads = ["source", "inputs", "MB", "databases", "folders", "examined", "entries", "drops", "refused", "findings"]
    heads += ["slowest ms", "peak MB", "inputs/s"]
    return table(heads, [row(source, state) for source, state in states.items()])


def row(source: str, s: fuzz.State) -> list[str]:
    """A line of the table."""
    findings = sum(found[0] for found in s.findings.values())
    counts = [s.done, s.bytes // 1_000_000, s.databases, s.folders, s.examined, s.entries, s.drops, s.own, findings]
    return [source, *map(str, counts), f"{1000 * s.slowest[0]:.0f}", f"{s.peak}", f"{s.done / (s.cpu or 1):.0f}"]


def hammered(seconds: float, kills: int) -> bool:
    """Snapshots of busy and of orphaned databases; half of the time in each mode."""
    tallies = [hammer.hammered(mode, seconds / 2) for mode in hammer.MODES if seconds]
    tallies += [hammer.killed(mode, kills) for mode in hammer.MODES if kills]
    print(table(hammer.HEADS, hammer.shown(tallies)))
    return all(tally.good for tally in tallies)


def everywhere(sources: Sequence[str]) -> bool:
    """Every fixture, cut and changed everywhere."""
    tallies = [cuts.tried(source) for source in sources]
    print(table(cuts.HEADS, cuts.shown(tallies)))
    for tally in tallies:
        for what, places in tally.broken.items():
            print(f"{tally.source}: {what} ({len(places)} times: {', '.join(places[:5])})")
    return not any(tally.broken for tally in tallies)


def oddly(sources: Sequence[str], count: int) -> bool:
    """Files of odd make, leaf by leaf."""
    tallies = [odd.tried(source, count) for source in sources]
    print(table(odd.HEADS, odd.shown(tallies)))
    for tally in tallies:
        for place, numbers in tally.silent.items():
            print(f"{tally.source}: {place} (inputs {', '.join(map(str, numbers[:5]))})")
    return not any(tally.silent for tally in tallies)


def recovered() -> bool:
    """Damaged logs, then databases with bad pages."""
    logs = recovery.log_rows()
    print(table(recovery.LOG_HEADS, logs), end="\n\n")
    print(table(recovery.PAGE_HEADS, recovery.page_rows()))
    return all(whole == found and false == "0" for _, _, whole, found, false in logs)


def cheap() -> bool:
    """Memory, then time."""
    peaks = {name: memory.peak(name) for name in memory.CASES}
    print(table(["what", "peak MB", "at most"], [[n, f"{peak}", f"{memory.CASES[n].most}"] for n, peak in peaks.items()]))
    times = {name: growth.growth(name) for name in growth.SHAPES}
    print(table(["shape", "time of twice the size"], [[name, f"{ratio:.2f}"] for name, ratio in times.items()]))
    return all(peak <= memory.CASES[n].most for n, peak in peaks.items()) and max(times.values()) <= growth.MOST


def collected(suite: Path | None, strings: Path | None) -> bool:
    """What others keep."""
    tallies = [suites.documents(suite)] if suite is not None else []
    tallies += [suites.strings(suites.read_strings(strings))] if strings is not None else []
    for tally in tallies:
        print(
            f"{tally.tried} tried, {tally.named_files} also as names of files, {len(tally.broken)} broken",
            *tally.broken,
            sep="\n",
        )
    return not any(tally.broken for tally in tallies)


def replayed(count: int) -> bool:
    """Mutation logs, here and in JavaScript."""
    tally = differential.compared(count)
    if tally is None:
        print("there is no node to compare with")
        return False
    print(f"{tally.logs} logs, {tally.operations} operations: {tally.equal} equal, {tally.told} told, silent: {tally.silent}")
    return not tally.silent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--inputs", type=int, metavar="N", help=f"mutated inputs for every source ({INPUTS})")
    parser.add_argument("--source", action="append", choices=list(SOURCES), help="only this source; may be given again")
    parser.add_argument("--state", type=Path, default=Path("build/reliability"), help="where runs are kept, to be gone on with")
    parser.add_argument("--hammer", type=float, metavar="SECONDS", help="snapshots of a database while another process writes")
    parser.add_argument("--kills", type=int, metavar="N", help="snapshots of databases whose writer was killed, N in each mode")
    parser.add_argument("--cuts", action="store_true", help="cut every fixture at every byte, and change every byte")
    parser.add_argument("--odd", type=int, metavar="N", help="files of odd make, leaf by leaf, for every source")
    parser.add_argument("--recovery", action="store_true", help="what is had of damaged logs and databases")
    parser.add_argument("--costs", action="store_true", help="memory at the peak, and how time grows with size")
    parser.add_argument("--replays", type=int, metavar="N", help="mutation logs replayed here and by node")
    parser.add_argument("--suite", type=Path, metavar="FOLDER", help="the test_parsing folder of JSONTestSuite")
    parser.add_argument("--strings", type=Path, metavar="FILE", help="a list of hostile strings")
    parser.add_argument("--again", action="store_true", help="only try the inputs once more that showed something")
    parser.add_argument("--show", metavar="SOURCE:N", help="write one input to standard output, and nothing else")
    given = parser.parse_args(arguments)
    if given.show:
        source, _, n = given.show.partition(":")
        sys.stdout.buffer.write(fuzz.input_of(source, int(n)).data)
        return 0
    if given.hammer or given.kills:
        return 0 if hammered(given.hammer or 0, given.kills or 0) else 1
    sources = given.source or list(SOURCES)
    if given.recovery:
        return 0 if recovered() else 1
    if given.costs:
        return 0 if cheap() else 1
    if given.replays:
        return 0 if replayed(given.replays) else 1
    if given.suite or given.strings:
        return 0 if collected(given.suite, given.strings) else 1
    if given.odd:
        return 0 if oddly(sources, given.odd) else 1
    if given.cuts:
        return 0 if everywhere(sources) else 1
    if given.again:
        for source in sources:
            fuzz.again(source, given.state)
    good = inputs(sources, 0 if given.again else given.inputs or INPUTS, given.state)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
