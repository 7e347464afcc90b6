# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Long searches as somebody at a terminal meets them: the line that shows how far they are, Ctrl-C, limits.

Usage: test_search_cli.py USMP_PLAN TESTDATA. Every program runs on a terminal of its own, and Ctrl-C is typed there. Nothing is
measured: what takes a second or a minute is waited for, up to a limit that no machine should meet.
"""

import csv
import heapq
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import List, Tuple

from terminal import Terminal

PROGRAM = Path(sys.argv[1]).resolve()
TESTDATA = Path(sys.argv[2]).resolve()
TILES = 1001
CTRL_C = b"\x03"
WARNING = "usmp-plan: warning: interrupted: the results are those of what was found by then\n"


def hard_instance(path: Path) -> None:
    """A square cut into pinwheels of five, the largest tile again and again, every tile with an odd alignment. Then the
    load is less than any plan needs, which nothing but a search without end could show."""
    rng = random.Random(7)
    side = 1 << 20
    tiles = [(-side * side, 0, side, 0, side)]
    while len(tiles) < TILES:
        _, left, right, bottom, top = heapq.heappop(tiles)

        def cuts(low: int, high: int) -> Tuple[int, int]:
            length = high - low
            return (low + rng.randrange(length // 6, length * 2 // 5), low + rng.randrange(length * 3 // 5, length * 5 // 6))

        (a, b), (c, d) = cuts(left, right), cuts(bottom, top)
        for x, x_end, y, y_end in ((left, b, bottom, c), (b, right, bottom, d), (a, right, d, top), (left, a, c, top),
                                   (a, b, c, d)):
            heapq.heappush(tiles, (-(x_end - x) * (y_end - y), x, x_end, y, y_end))
    rng.shuffle(tiles)
    lines = [f"b{i},{left},{right},{top - bottom},{rng.choice((1, 3000, 5000, 7000))}\n"
             for i, (_, left, right, bottom, top) in enumerate(tiles)]
    path.write_text("id,lower,upper,size,alignment\n" + "".join(lines), encoding="ascii")


def lines_of(terminal: Terminal) -> List[str]:
    """What stands there: a line is written over from its start after a carriage return."""
    lines = []
    for line in terminal.shown.decode().replace("\r\n", "\n").split("\n"):
        cells: List[str] = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        lines.append("".join(cells).rstrip())
    return lines


def check_plan(instance: Path, plan: Path) -> int:
    """The rows with offsets at which no two meet; returns the peak."""
    rows = list(csv.DictReader(plan.open(encoding="ascii")))
    given = list(csv.DictReader(instance.open(encoding="ascii")))
    assert [{key: row[key] for key in given[0]} for row in rows] == given
    boxes = [tuple(int(row[key]) for key in ("lower", "upper", "offset", "size")) for row in rows]
    for i, (lower, upper, offset, size) in enumerate(boxes):
        for other in boxes[:i]:
            assert (upper <= other[0] or other[1] <= lower or offset + size <= other[2] or
                    other[2] + other[3] <= offset), (rows[i], other)
    return max(offset + size for _, _, offset, size in boxes)


def shows_progress(shown: bytes) -> bool:
    return b" bytes, gap " in shown and b" steps; Ctrl-C keeps this plan" in shown


def check_interrupt(folder: Path, instance: Path) -> None:
    plan = folder / "plan.csv"
    terminal = Terminal(PROGRAM, "solve", instance, "--node-limit", 10**15, "-o", plan)
    terminal.read(until=shows_progress)
    assert terminal.shown.startswith(b"\rpool: "), terminal.shown
    assert not plan.exists()
    terminal.type(CTRL_C)
    assert terminal.status() == 130, terminal.shown
    lines = lines_of(terminal)
    assert lines[-1] == "" and "Ctrl-C" not in "".join(lines), lines
    start = "search: interrupted after "
    assert lines[-2] == WARNING.rstrip(), lines
    assert lines[-3].startswith(start) and lines[-3].endswith(" steps; the plan depends on this machine"), lines
    peak = check_plan(instance, plan)
    assert any(line.startswith(f"pool: {peak} bytes, gap of ") for line in lines), (peak, lines)


def check_dumb(instance: Path) -> None:
    unset = {name: value for name, value in os.environ.items() if name != "TERM"}
    for environment in ({**unset, "TERM": "dumb"}, {**unset, "TERM": ""}, unset):
        terminal = Terminal(PROGRAM, "solve", instance, "--node-limit", 10**15, "--time-limit", "1.5", environment=environment)
        assert terminal.status() == 0, terminal.shown
        shown = terminal.shown.replace(b"\r\n", b"\n")
        assert b"\r" not in shown and b"Ctrl-C" not in shown and b" steps" in shown, (environment.get("TERM"), shown)


def until_caught(process: int) -> None:
    """Waits until the process has a handler for SIGINT, as it has while it searches."""
    while True:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines())
        if int(fields["SigCgt"], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.01)


def check_quiet(instance: Path) -> None:
    """Where the output says nothing of it, standard error does."""
    for option in ("--quiet", "--json"):
        run = subprocess.Popen([PROGRAM, "solve", instance, "--node-limit", str(10**15), option], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        until_caught(run.pid)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate()
        assert (run.returncode, err) == (130, WARNING) and ('"interrupted"' in out) == (option == "--json"), (option, out, err)


def check_steps(folder: Path) -> None:
    """Ctrl-C while transformations are tried: what they have made of the program so far is planned."""
    model = TESTDATA / "repeated_op.tar"
    whole = ["--allow-recompute", "100"]  # seconds of trials
    terminal = Terminal(PROGRAM, model, *whole, "-o", folder / "steps")
    terminal.read(until=lambda shown: b"module default: transformations, " in shown)
    assert not (folder / "steps").exists()
    terminal.type(CTRL_C)
    assert terminal.status() == 130, terminal.shown
    text = "\n".join(lines_of(terminal))
    assert "interrupted while transformations were tried: the plan may lack some" in text, text
    assert "default: transformations, " not in text, text
    assert (folder / "steps" / "codegen" / "host" / "src").is_dir()
    # Nothing of this where nobody looks.
    run = subprocess.run([PROGRAM, model, *whole, "--dry-run"], capture_output=True, check=True)
    assert run.stderr == b"", run.stderr
    assert b"interrupted" not in run.stdout, run.stdout


def check_deaf_algorithm(folder: Path, instance: Path) -> None:
    """An external algorithm that takes no notice of Ctrl-C is ended."""
    plan = folder / "never.csv"
    deaf = folder / "deaf"
    deaf.write_text("#!/bin/sh\ntrap '' INT\necho started > /dev/tty\nwhile :; do sleep 1; done\n", encoding="ascii")
    deaf.chmod(0o700)
    terminal = Terminal(PROGRAM, "solve", instance, "--algorithm", f"exec:{deaf}", "-o", plan)
    terminal.read(until=lambda shown: b"started" in shown)
    terminal.type(CTRL_C)
    status = terminal.status()
    assert status == 130, (status, terminal.shown)
    assert b"no plan was found that fits the pools (algorithm exec:deaf, interrupted)" in terminal.shown, terminal.shown
    assert not plan.exists()


def check_meek_algorithm(folder: Path, instance: Path) -> None:
    """Ctrl-C reaches an external algorithm too, whose death is then no failure of its own."""
    meek = folder / "meek"
    meek.write_text("#!/bin/sh\necho started > /dev/tty\nexec sleep 1000\n", encoding="ascii")
    meek.chmod(0o700)
    terminal = Terminal(PROGRAM, "solve", instance, "--algorithm", f"exec:{meek}")
    terminal.read(until=lambda shown: b"started" in shown)
    terminal.type(CTRL_C)
    status = terminal.status()
    assert status == 130, (status, terminal.shown)
    assert b"(algorithm exec:meek, interrupted)" in terminal.shown, terminal.shown


def check_limits(folder: Path, instance: Path) -> None:
    plans = []
    for name in ("first.csv", "second.csv"):
        terminal = Terminal(PROGRAM, "solve", instance, "--node-limit", 2000, "-o", folder / name)
        assert terminal.status() == 0, terminal.shown
        assert any(line.startswith("search: stopped by the node limit after ") for line in lines_of(terminal))
        check_plan(instance, folder / name)
        plans.append((folder / name).read_bytes())
    assert plans[0] == plans[1]
    terminal = Terminal(PROGRAM, "solve", instance, "--node-limit", 10**15, "--time-limit", "0.3")
    assert terminal.status() == 0, terminal.shown
    assert any(line.startswith("search: stopped by the time limit after ") for line in lines_of(terminal))


def main() -> None:
    os.environ["TERM"] = "xterm"  # progress is for terminals that can write a line anew
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instance = folder / "pinwheels.csv"
        hard_instance(instance)
        check_interrupt(folder, instance)
        check_quiet(instance)
        check_dumb(instance)
        check_steps(folder)
        check_deaf_algorithm(folder, instance)
        check_meek_algorithm(folder, instance)
        check_limits(folder, instance)
    print("ok")


if __name__ == "__main__":
    main()
