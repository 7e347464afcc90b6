# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The commands on instances as a shell sees them: command line, exit codes, formats that hold against their schemas.

Usage: instances.py USMP_PLAN ROOT, where ROOT is the project's directory.
"""

import csv
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

PROGRAM, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
FIVE = ROOT / "testdata" / "instances" / "five.csv"
EXAMPLE = f"exec:{ROOT / 'docs' / 'examples' / 'external_planner.py'}"


def run(*arguments: object, code: int = 0, text: str = "") -> str:
    """Runs the program; what it prints, or for an exit code that is not 0 its message."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (arguments, done)
    assert (done.stderr == "") == (code == 0), (arguments, done)
    assert text in done.stdout + done.stderr, (arguments, done)
    return done.stdout


def check_schema(name: str, value: object) -> None:
    if jsonschema is not None:
        schema = json.loads((ROOT / "docs" / "schema" / name).read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(value)


def check_command_line() -> None:
    solve = ("solve", FIVE)
    run(*solve, "--node-limit", 1, "--time-limit", "0.5", "--seed", 7)
    for option, value in (("--node-limit", 0), ("--node-limit", -1), ("--node-limit", "x"), ("--seed", -1)):
        run(*solve, option, value, code=2, text=option)
    for seconds in ("0", "-1", "nan", "inf", "1e3", "1,5", "5s", "0x1", "10000000000", ""):
        run(*solve, "--time-limit", seconds, code=2, text="expected seconds from 0.001 to 1000000000")
    run("solve", code=2, text="FILE is required")
    run("problem", code=2, text="MODEL is required")
    run(*solve, "--capacity", "-1", code=2, text="--capacity: found '-1'")
    run(*solve, "--capacity", "1KiB", "--minimize", text="160 of 1024 bytes")
    run("--list-algorithms", text="exec:PROGRAM")


def check_solutions(folder: Path) -> None:
    plan = folder / "plan.csv"
    for algorithm in ("hill_climb", "none", EXAMPLE):
        check_schema("solution.schema.json", json.loads(run("solve", FIVE, "--algorithm", algorithm, "--json", "-o", plan)))
        rows = list(csv.DictReader(io.StringIO(plan.read_text(encoding="utf-8"))))
        assert [row["id"] for row in rows] == ["input", "conv1", "conv2", "pool", "output"]
        for i, one in enumerate(rows):
            for other in rows[:i]:
                a, b = ({key: int(row[key]) for key in ("lower", "upper", "size", "offset")} for row in (one, other))
                assert (a["upper"] <= b["lower"] or b["upper"] <= a["lower"] or
                        a["offset"] + a["size"] <= b["offset"] or b["offset"] + b["size"] <= a["offset"]), (one, other)
    done = subprocess.run([PROGRAM, "solve", FIVE, "--capacity", "100", "--json"], capture_output=True, text=True)
    assert done.returncode == 4
    check_schema("solution.schema.json", json.loads(done.stdout))


def check_archive(folder: Path) -> None:
    model = (ROOT / "testdata" / "lstm.tar", "--pools", ROOT / "testdata" / "pools" / "dtcm_sram.yaml")
    problem = run("problem", *model)
    check_schema("problem.schema.json", json.loads(problem))
    (folder / "problem.json").write_text(problem, encoding="utf-8")
    answers = []
    for _ in range(2):
        run("solve", folder / "problem.json", "-o", folder / "answer.json")
        answers.append((folder / "answer.json").read_bytes())
    assert answers[0] == answers[1]
    check_schema("answer.schema.json", json.loads(answers[0]))
    # The plan that was written is an answer that an external algorithm may give.
    repeat = folder / "repeat"
    repeat.write_text(f"#!/bin/sh\ncat '{folder}/answer.json'\n", encoding="utf-8")
    repeat.chmod(0o700)
    run("solve", folder / "problem.json", "--algorithm", f"exec:{repeat}", "-o", folder / "again.json")
    places = [json.loads(path.read_text(encoding="utf-8"))["allocations"]
              for path in (folder / "answer.json", folder / "again.json")]
    assert places[0] == places[1]
    run(*model, "--algorithm", f"exec:{repeat}", "--dry-run", text="planned by exec:repeat")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_command_line()
        check_solutions(Path(folder))
        check_archive(Path(folder))
    print("ok" if jsonschema else "ok, without the schemas: no package jsonschema")


if __name__ == "__main__":
    main()
