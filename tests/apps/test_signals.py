#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Signals while programs run: what `verify --execute` and `exec:` algorithms have started ends first, with all that it has
started itself, no temporary directory stays, and then the signal ends usmp-plan as ever, soon; --execute says so.

Usage: test_signals.py USMP_PLAN TESTDATA
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import List

PATIENCE = 60.0  # seconds, on a busy machine
SOON = 20.0  # seconds, of what ends in a tenth of one on a machine of its own, and else sleeps for a thousand
TOLD = "usmp-plan: interrupted: compilers and programs were ended, the C was not verified\n"

# Says who it is and what it has started, in files called pids…, and hears no signal that can be ignored. It may end at
# any of its lines, and is started once more where sizes that would fit are looked for.
SCRIPT = """#!/bin/sh
trap '' INT TERM HUP
sleep 1000 &
first=$!
setsid sh -c 'echo $$ > {pids}.'$$'; trap "" INT TERM HUP; sleep 1000; sleep 1000' &
while ! [ -s {pids}.$$ ]; do sleep 0.01; done
echo "$$ $first $(cat {pids}.$$)" > {pids}.new
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


def check(arguments: List[str], folder: Path, number: signal.Signals, ignored: bool = False, told: str = "") -> None:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    pids = folder / "pids"
    pids.unlink(missing_ok=True)
    started: List[int] = []
    errors = (folder / "errors").open("w+", encoding="utf-8")
    run = subprocess.Popen(arguments, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL,
                           stderr=errors, cwd=folder,
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
        begin = time.monotonic()
        status = run.wait(PATIENCE)
        assert status == -number and time.monotonic() - begin < SOON, (arguments, number, status)
        errors.seek(0)
        said = errors.read()
        assert said == told, (arguments, number, said)
        until(f"all ends at {number.name}: {arguments}", lambda: not any(is_alive(pid) for pid in started))
    finally:
        run.kill()
        errors.close()
        for pid in filter(is_alive, started):
            os.kill(pid, signal.SIGKILL)
    assert list(temporary.iterdir()) == [], (arguments, number, list(temporary.iterdir()))


def between_programs(program: str, model: str, folder: Path) -> None:
    """The signal comes when no program runs: with each compilation that has just ended, in its turn."""
    compiler = folder / "compiler"
    compiler.write_text("""#!/bin/sh
cc "$@" || exit
count=$(($(cat calls 2>/dev/null || echo 0) + 1))
echo $count > calls
[ $count = "$STOP" ] && kill -INT $PPID
exit 0
""", encoding="ascii")
    compiler.chmod(0o700)
    for stop in range(1, 6):
        (folder / "calls").unlink(missing_ok=True)
        run = subprocess.run([program, "verify", model, "--execute", "--cc", str(compiler)], cwd=folder, capture_output=True,
                             text=True, timeout=PATIENCE, env={**os.environ, "TMPDIR": str(folder / "tmp"), "STOP": str(stop)})
        assert run.returncode == -signal.SIGINT and run.stderr == TOLD and "executed" not in run.stdout, (stop, run)
        assert list((folder / "tmp").iterdir()) == []
    (folder / "calls").unlink()
    compiler.unlink()


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
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # of what SIGQUIT ends, on machines that keep one
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
            check(execute, folder, number, told=TOLD)
        for number in (signal.SIGTERM, signal.SIGHUP):
            check(solve, folder, number)
            check(plan, folder, number)
        for number in (signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU):
            check(execute, folder, number, told=TOLD)
            check(plan, folder, number)
        check(execute, folder, signal.SIGHUP, ignored=True, told=TOLD)
        between_programs(program, f"{testdata}/cast_subtract.tar", folder)
        at_limit([*solve, "--time-limit", "1"], folder)
        left = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("pids"))
        assert left == ["endless", "errors", "tmp", "two.csv"], left
    print("ok")


if __name__ == "__main__":
    main()
