#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals while programs run: what `verify --execute` and `exec:` algorithms have started ends first, with all that it has
started itself, no temporary directory stays, and then the signal ends usmp-plan as ever.

Usage: test_signals.py USMP_PLAN TESTDATA
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import List

PATIENCE = 60.0  # seconds, on a busy machine

# Says who it is and what it has started, and hears no signal that can be ignored.
SCRIPT = """#!/bin/sh
trap '' INT TERM HUP
sleep 1000 &
first=$!
setsid sh -c 'echo $$ > {pids}.session; trap "" INT TERM HUP; sleep 1000; sleep 1000' &
while ! [ -s {pids}.session ]; do sleep 0.01; done
echo "$$ $first $(cat {pids}.session)" > {pids}.new
rm {pids}.session
mv {pids}.new {pids}
wait
sleep 1000
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def until(what: str, holds) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what} within {PATIENCE} s"
        time.sleep(0.02)


def check(arguments: List[str], folder: Path, number: signal.Signals, ignored: bool = False) -> None:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    pids = folder / "pids"
    pids.unlink(missing_ok=True)
    started: List[int] = []
    run = subprocess.Popen(arguments, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, cwd=folder,
                           preexec_fn=(lambda: signal.signal(number, signal.SIG_IGN)) if ignored else None)
    try:
        until("a program is started", pids.exists)
        started = [int(pid) for pid in pids.read_text(encoding="ascii").split()]
        assert all(is_alive(pid) for pid in started)
        run.send_signal(number)
        if ignored:
            time.sleep(0.5)
            assert run.poll() is None and all(is_alive(pid) for pid in started), "an ignored signal ends nothing"
            run.send_signal(signal.SIGTERM)
            number = signal.SIGTERM
        status = run.wait(PATIENCE)
        assert status == -number, (arguments, number, status)
        until(f"all ends at {number.name}: {arguments}", lambda: not any(is_alive(pid) for pid in started))
    finally:
        run.kill()
        for pid in filter(is_alive, started):
            os.kill(pid, signal.SIGKILL)
    assert list(temporary.iterdir()) == [], (arguments, number, list(temporary.iterdir()))


def at_limit(arguments: List[str], folder: Path) -> None:
    """What the program has started ends with it, also in a session of its own."""
    pids = folder / "pids"
    pids.unlink(missing_ok=True)
    run = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    started: List[int] = []
    try:
        until("a program is started", pids.exists)
        started = [int(pid) for pid in pids.read_text(encoding="ascii").split()]
        assert run.wait(PATIENCE) != 0, arguments
        until("all ends at the limit", lambda: not any(is_alive(pid) for pid in started))
    finally:
        run.kill()
        for pid in filter(is_alive, started):
            os.kill(pid, signal.SIGKILL)


def main() -> None:
    program = os.path.abspath(sys.argv[1])
    testdata = os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "endless"
        script.write_text(SCRIPT.format(pids=folder / "pids"), encoding="ascii")
        script.chmod(0o700)
        instance = folder / "two.csv"
        instance.write_text("id,lower,upper,size\na,0,2,8\nb,1,3,8\n", encoding="ascii")
        execute = [program, "verify", f"{testdata}/cast_subtract.tar", "--execute", "--cc", str(script)]
        solve = [program, "solve", str(instance), "--algorithm", f"exec:{script}"]
        plan = [program, f"{testdata}/cast_subtract.tar", "--algorithm", f"exec:{script}"]
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            check(execute, folder, number)
        for number in (signal.SIGTERM, signal.SIGHUP):
            check(solve, folder, number)
            check(plan, folder, number)
        for number in (signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU):
            check(execute, folder, number)
            check(plan, folder, number)
        check(execute, folder, signal.SIGHUP, ignored=True)
        at_limit([*solve, "--time-limit", "1"], folder)
        assert sorted(entry.name for entry in folder.iterdir()) == ["endless", "pids", "tmp", "two.csv"]
    print("ok")


if __name__ == "__main__":
    main()
