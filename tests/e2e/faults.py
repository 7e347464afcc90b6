#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Lets everything that usmp-plan does to files go wrong, one call after the other, and memory run out.

Usage: faults.py BINARY TESTDATA

Whatever happens: what stands under a final name is wholly old or wholly new, the
exit code is the documented one, there is one message, and the next run makes good whatever was left.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

OUTPUT, MEMORY = 5, 6
MAX_SECONDS = 60
STAGING = ".usmp-plan-"


@dataclass
class Scenario:
    """Where a run writes, and what is there before."""

    name: str
    output: str
    old: bool = False  # an earlier run of another configuration has written there
    foreign: bool = False  # and so have others
    no_exchange: bool = False  # the file system cannot exchange
    command: tuple[str, ...] = ()  # plan, unless it says so
    modes: tuple[str, ...] = ("kill", "fail")  # of fault_shim.c

    @property
    def one_step(self) -> bool:
        return not self.foreign and not (self.no_exchange and self.old and "." not in self.output)


SCENARIOS = [
    Scenario("new directory", "out", modes=("kill", "fail", "full", "term")),
    Scenario("directory of an earlier run", "out", old=True),
    Scenario("directory with other files", "out", old=True, foreign=True, modes=("kill", "fail", "term")),
    Scenario("directory with other files, no exchange", "out", old=True, foreign=True, no_exchange=True),
    Scenario("archive of an earlier run", "out.tar", old=True, modes=("kill", "full", "term")),
    Scenario("archive of zstd", "out.tar.zst", old=True, modes=("fail", "full")),
    Scenario("problem in a file", "problem.json", old=True, command=("problem",)),
]
FOREIGN = {"notes.txt": b"mine", "codegen/host/src/mine.c": b"int mine;", "codegen/host/include/tvmgen_other.h": b""}

State = dict[str, bytes]


def state_of(directory: Path) -> State:
    """All files but those in temporary directories, and whatever else is there."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if STAGING in name:
            continue
        if path.is_file():
            found[name] = path.read_bytes()
        elif not path.is_dir():
            found[name] = b"?"
    return found


def staging_in(directory: Path) -> list[str]:
    return [path.name for path in directory.rglob(STAGING + "*")]


class Faults:
    def __init__(self, binary: Path, testdata: Path, shim: Path, directory: Path):
        self.binary, self.shim = binary, shim
        self.model = testdata / "cast_subtract.tar"
        self.directory = directory
        self.work = directory / "work"
        self.cases = 0
        self.failed = 0

    def check(self, condition: bool, label: str, detail: object = "") -> None:
        self.cases += 1
        if not condition:
            self.failed += 1
            print(f"FAILED {label}: {detail}")

    def arguments(self, scenario: Scenario, old: bool = False) -> list[str]:
        plan = ["--quiet", "--algorithm", "none" if old else "fast"]
        options = ["--workspace-io"] if old else []
        return [str(self.binary), *scenario.command, str(self.model), "-o", str(self.work / scenario.output), *options,
                *([] if scenario.command else plan)]

    def run(self, arguments: list[str], shim: dict[str, object] | None = None, **options: object) -> subprocess.CompletedProcess:
        environment = dict(os.environ)
        if shim is not None:
            environment |= {"LD_PRELOAD": str(self.shim), **{f"FAULT_{key}": str(value) for key, value in shim.items()}}
        return subprocess.run(arguments, env=environment, capture_output=True, text=True, errors="replace",
                              timeout=MAX_SECONDS, **options)

    def prepare(self, scenario: Scenario) -> None:
        """Brings the work directory into the state before the run, kept from the first time."""
        kept = self.directory / "kept" / scenario.name
        if not kept.exists():
            self.work.mkdir(exist_ok=True)
            if scenario.old:
                assert self.run(self.arguments(scenario, old=True)).returncode == 0
            if scenario.foreign:
                for name, data in FOREIGN.items():
                    (self.work / scenario.output / name).write_bytes(data)
            kept.parent.mkdir(exist_ok=True)
            self.work.rename(kept)
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(kept, self.work)

    def every_call(self, scenario: Scenario) -> None:
        """The scenario's faults at each of its calls."""
        base = {"NO_EXCHANGE": 1} if scenario.no_exchange else {}
        self.prepare(scenario)
        old = state_of(self.work)
        count_file = self.directory / "count"
        done = self.run(self.arguments(scenario), {**base, "MODE": "count", "COUNT": count_file})
        self.check(done.returncode == 0 and not done.stderr, f"{scenario.name}: undisturbed", done.stderr)
        new = state_of(self.work)
        calls = int(count_file.read_text().split()[0])
        assert calls > 5 and new != old, "the run must do something"
        for at in range(1, calls + 1):
            for mode in scenario.modes:
                self.prepare(scenario)
                done = self.run(self.arguments(scenario), {**base, "MODE": mode, "AT": at})
                self.judge(f"{scenario.name}: {mode} at call {at} of {calls}", scenario, mode, done, old, new)
        print(f"{scenario.name}: {calls} calls, each with {len(scenario.modes)} faults")

    def judge(self, label: str, scenario: Scenario, mode: str, done: subprocess.CompletedProcess, old: State, new: State) -> None:
        now = state_of(self.work)
        if mode == "kill":
            self.check(done.returncode == -signal.SIGKILL, label, f"exit code {done.returncode}")
            self.check_whole(label, scenario, now, old, new)
            again = self.run(self.arguments(scenario))
            self.check(again.returncode == 0 and state_of(self.work) == new, label, f"the next run: {again.stderr}")
            self.check(not staging_in(self.work), label, f"the next run leaves {staging_in(self.work)}")
            return
        if mode == "term":
            self.check(done.returncode in (-signal.SIGTERM, 0), label, f"exit code {done.returncode}")
            self.check(now in (old, new), label, f"old and new are mixed: {sorted(now)}")
            self.check(not staging_in(self.work), label, f"left: {staging_in(self.work)}")
            return
        # What fails after everything is in place, as the removal of a temporary directory, fails nothing.
        self.check(done.returncode in (0, OUTPUT), label, f"exit code {done.returncode}: {done.stderr}")
        self.check(now == (new if done.returncode == 0 else old), label, f"exit code {done.returncode}, but {sorted(now)}")
        self.check_message(label, done, OUTPUT)

    def check_whole(self, label: str, scenario: Scenario, now: State, old: State, new: State) -> None:
        if scenario.one_step:
            self.check(now in (old, new), label, f"neither old nor new: {sorted(now)}")
            return
        for name in {*now, *old}:
            whole = now.get(name) in {old.get(name), new.get(name)}
            self.check(whole, label, f"{name} is neither old nor new")

    def check_message(self, label: str, done: subprocess.CompletedProcess, *codes: int) -> None:
        if done.returncode == 0:
            self.check(done.stderr == "", label, f"a message: {done.stderr!r}")
        elif done.returncode in codes:
            one = done.stderr.startswith("usmp-plan: error: ") and done.stderr.count("\n") == 1
            self.check(one, label, f"no single message: {done.stderr!r}")

    def sized_out(self) -> None:
        """Files that may not grow beyond a limit: a full disk of every size."""
        scenario = SCENARIOS[1]
        self.prepare(scenario)
        old = state_of(self.work)
        self.run(self.arguments(scenario))
        new = state_of(self.work)
        largest = max(map(len, new.values()))
        for size in (0, 1, *range(512, largest + 1024, max(512, largest // 12))):
            self.prepare(scenario)
            done = self.run(self.arguments(scenario), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
            label = f"files of at most {size} bytes"
            self.check(done.returncode == (0 if size >= largest else OUTPUT), label, f"exit code {done.returncode}: {done.stderr}")
            self.check(state_of(self.work) == (new if size >= largest else old), label, "another state")
            self.check(not staging_in(self.work), label, staging_in(self.work))
            self.check_message(label, done, OUTPUT)

    def full_disk(self) -> None:
        """A file system that really is full, if this user may mount one."""
        mount = self.directory / "disk"
        mount.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "usmp-faults", mount], capture_output=True, check=False)
        if made.returncode != 0:
            print("no file system can be mounted here: the full disk is left to the other tests")
            return
        try:
            for output in ("out", "out.tar"):
                done = self.run([str(self.binary), str(self.model), "--quiet", "-o", str(mount / output)])
                self.check(done.returncode == OUTPUT and "No space left on device" in done.stderr, f"full disk, {output}", done.stderr)
                self.check(not list(mount.iterdir()), f"full disk, {output}", "files were left")
            done = self.run([str(self.binary), str(self.model), "--quiet", "-o", str(self.directory / "beside")])
            shutil.rmtree(self.directory / "beside")
            # A mounted directory is no place for an exchange with what stands beside it.
            subprocess.run(["mount", "-o", "remount,size=4m", mount], check=True)
            done = self.run([str(self.binary), str(self.model), "--quiet", "-o", str(mount)])
            self.check(done.returncode == 0 and not staging_in(mount), "a mounted directory", done.stderr)
        finally:
            subprocess.run(["umount", mount], check=True)

    def read_only(self) -> None:
        """Directories that may not be written to, as a user to whom that matters."""
        place = self.directory / "locked"
        place.mkdir()
        self.directory.chmod(0o755)
        place.chmod(0o555)
        become: Callable[[], None] | None = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None
        # The other user may have no access to where the program was built.
        binary = Path(shutil.copy(self.binary, self.directory)) if become else self.binary
        model = Path("/proc/self/fd/0") if become else self.model
        for output, command in (("out", ()), ("out.tar", ()), ("p.json", ("problem",))):
            with self.model.open("rb") as stdin:
                done = self.run([str(binary), *command, str(model), "-o", str(place / output)], stdin=stdin, preexec_fn=become)
            self.check(done.returncode == OUTPUT and "Permission denied" in done.stderr, f"read-only, {output}", done.stderr)
            self.check_message(f"read-only, {output}", done, OUTPUT)
            self.check(not list(place.iterdir()), f"read-only, {output}", "files were left")
        place.chmod(0o755)

    def allocations(self) -> None:
        """Each of a sample of allocations fails alone, then with all that follow."""
        scenario = SCENARIOS[1]
        self.prepare(scenario)
        old = state_of(self.work)
        count_file = self.directory / "count"
        self.run(self.arguments(scenario), {"MODE": "count", "COUNT": count_file})
        new = state_of(self.work)
        total = int(count_file.read_text().split()[1])
        step = total // 60
        seen = set()
        crashes = 0
        for at in range(total // 5, total, step):  # before, the loader and the runtime start
            for times in (1, 10**9):
                self.prepare(scenario)
                done = self.run(self.arguments(scenario), {"MODE": "malloc", "AT": at, "TIMES": times})
                label = f"allocation {at} of {total} fails, {times} times"
                seen.add(done.returncode)
                # libarchive ends the program by itself where it cannot get a few bytes, and says so; nlohmann/json may
                # crash when a value cannot be built. Nothing has been written then.
                by_library = done.returncode == MEMORY and "in libarchive: Out of memory" in done.stderr
                crashes += done.returncode == -signal.SIGSEGV
                known = done.returncode in (0, MEMORY, -signal.SIGSEGV)
                self.check(known, label, f"exit code {done.returncode}: {done.stderr}")
                now = state_of(self.work)
                self.check(now == (new if done.returncode == 0 else old), label, "another state")
                if times == 1:
                    self.check(not staging_in(self.work), label, staging_in(self.work))
                if not by_library:
                    self.check_message(label, done, MEMORY)
        self.check(crashes <= 3, "allocations", f"{crashes} crashes")
        self.check(MEMORY in seen, "allocations", f"nothing failed: {seen}")

    def memory_limits(self) -> None:
        """Address spaces of every size between too small to start and enough."""
        scenario = SCENARIOS[1]

        def limited(kib: int, arguments: list[str]) -> subprocess.CompletedProcess:
            return self.run(arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10)))

        low, high = 1 << 10, 1 << 20
        while high - low > 64:
            middle = (low + high) // 2
            low, high = (low, middle) if limited(middle, [str(self.binary), "--version"]).returncode == 0 else (middle, high)
        self.prepare(scenario)
        old = state_of(self.work)
        seen = []
        for kib in range(high, high + 4096, 96):
            done = limited(kib, self.arguments(scenario))
            label = f"address space of {kib} KiB"
            seen.append(done.returncode)
            self.check(done.returncode in (0, MEMORY), label, f"exit code {done.returncode}: {done.stderr}")
            self.check_message(label, done, MEMORY)
            self.check(not staging_in(self.work), label, staging_in(self.work))
            if done.returncode == 0:
                break
            self.check(state_of(self.work) == old, label, "another state")
        self.check(MEMORY in seen and seen[-1] == 0, "address spaces", f"exit codes {seen}")

    def streams(self) -> None:
        """Standard output and error that are full, closed or without a reader."""
        plan = [str(self.binary), str(self.model)]

        def shell(label: str, command: str, code: int, message: str | None) -> None:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir()
            done = subprocess.run(["bash", "-c", command, "bash", *plan], cwd=self.work, capture_output=True, text=True,
                                  timeout=MAX_SECONDS, check=False)
            self.check(done.returncode == code, label, f"exit code {done.returncode}: {done.stderr}")
            if message is not None:
                self.check(message in done.stderr and done.stderr.count("\n") == bool(message), label, done.stderr)
            whole = [path for path in (self.work / "out").rglob("*") if path.is_file() and "planned by" in path.read_text()]
            self.check(not whole, label, f"the report went into {whole}")

        told = "usmp-plan: error: standard output could not be written"
        shell("full standard output", '"$@" -o out >/dev/full', OUTPUT, told + ": No space left on device")
        shell("closed standard output", '"$@" -o out >&-', OUTPUT, told)
        shell("closed standard output, nothing to say", '"$@" -o out --quiet >&-', 0, "")
        shell("all closed", '"$@" -o out <&- >&- 2>&-', OUTPUT, "")
        shell("closed standard error", '"$@" -o out 2>&-', 0, "")
        shell("closed standard error, an error", '"$@" -o out --minimize none 2>&-', 2, "")
        shell("no reader", 'set -o pipefail; mkfifo gone; { : <gone; "$1" inspect "$2"; } | { exec <&-; : >gone; }',
              128 + signal.SIGPIPE, "")
        shell("-o /dev/full", '"$1" problem "$2" -o /dev/full', OUTPUT, "/dev/full: writing failed: No space left on device")
        shell("-o /dev/full, a directory", '"$@" -o /dev/full', 2,
              "/dev/full: is a device, expected a directory or an archive such as model.tar")
        shell("-o /dev/stdout, closed", '"$1" problem "$2" -o /dev/stdout >&-', OUTPUT, "/dev/stdout: writing failed")
        shell("-o FIFO, without a reader", 'mkfifo fifo; timeout --kill-after=20 1 "$1" problem "$2" -o fifo', 124, "")
        if Path("/dev/shm").is_dir():  # a place like others, not a device
            shell("-o /dev/shm/…, twice", 'f=$(mktemp /dev/shm/usmp-XXXXXX); for i in 1 2; do "$1" problem "$2" -o $f; done; '
                  '"$1" problem "$2" -o once; cmp $f once; code=$?; rm $f; exit $code', 0, "")

    def two_at_a_time(self, rounds: int) -> None:
        """Pairs of runs of two configurations into one directory: it holds the files of one of them."""
        for scenario in (SCENARIOS[0], SCENARIOS[1], SCENARIOS[2]):
            wanted = []
            for old in (False, True):
                self.prepare(scenario)
                self.run(self.arguments(scenario, old))
                wanted.append(state_of(self.work))
            won = [0, 0]
            for _ in range(rounds):
                self.prepare(scenario)
                both = [subprocess.Popen(self.arguments(scenario, old), stderr=subprocess.PIPE, text=True) for old in (False, True)]
                said = [run.communicate(timeout=MAX_SECONDS)[1] for run in both]
                now = state_of(self.work)
                label = f"two at a time, {scenario.name}"
                self.check([run.returncode for run in both] == [0, 0], label, said)
                self.check(now in wanted, label, "the files of both are mixed")
                self.check(not staging_in(self.work), label, staging_in(self.work))
                if now in wanted:
                    won[wanted.index(now)] += 1
            print(f"two at a time, {scenario.name}: {won[0]} and {won[1]} times the last one")


def main() -> int:
    binary, testdata = (Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="usmp-faults-") as temporary:
        shim = Path(temporary).resolve() / "shim.so"
        source = Path(__file__).parent / "fault_shim.c"
        subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", shim, source], check=True)
        faults = Faults(binary, testdata, shim, Path(temporary).resolve())
        for scenario in SCENARIOS:
            faults.every_call(scenario)
        for test in (faults.sized_out, faults.full_disk, faults.read_only, faults.streams, faults.allocations, faults.memory_limits):
            test()
        faults.two_at_a_time(int(os.environ.get("USMP_FAULT_ROUNDS", "10")))
    print(f"{faults.cases} checks, {faults.failed} failed")
    return 1 if faults.failed else 0


if __name__ == "__main__":
    sys.exit(main())
