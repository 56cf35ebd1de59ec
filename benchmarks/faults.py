"""The safety of an archive against kills, power cuts, flipped bits, and hostile or truncated answers.

    python benchmarks/faults.py [kills power flips cuts bombs] [--count N]

Each experiment runs the commands of a user on sites on loopback. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import fault_bombs
import fault_cuts
import fault_flips
import fault_kills
import fault_power
from tables import Table, report

# Each experiment with its default number of trials.
EXPERIMENTS: Mapping[str, tuple[Callable[[Path, int], Table], int]] = {
    "kills": (fault_kills.measure, 100),
    "power": (fault_power.measure, 20),
    "flips": (fault_flips.measure, 1000),
    "cuts": (fault_cuts.measure, 100),
    "bombs": (fault_bombs.measure, len(fault_bombs.BOMBS)),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help="all unless some are named")
    parser.add_argument("--count", type=int, help="trials of each experiment, or kinds of bombs")
    options = parser.parse_args()
    unknown = set(options.experiments) - EXPERIMENTS.keys()
    if unknown:
        parser.error(f"there is no experiment {min(unknown)}: choose from {', '.join(EXPERIMENTS)}")
    tables = []
    for name in options.experiments or EXPERIMENTS:
        measure, count = EXPERIMENTS[name]
        with tempfile.TemporaryDirectory() as folder:
            tables.append(measure(Path(folder), options.count or count))
    return report(*tables)


if __name__ == "__main__":
    sys.exit(main())
