# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Holds the schemas of plans, diffs, reports, checks, comparisons and modules in docs/schema against the golden files.

Exit code 77 (skipped) without the package python3-jsonschema. Further plan files may be given as arguments.
"""

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import jsonschema
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "report" / "golden"
PLANS = ROOT / "tests" / "plan_file" / "golden"
OPTIONAL = ("section", "left_out", "extra_work_permille", "ring", "by_rows", "all_modules", "of_pixels", "row_operator", "occupied_at_peak",
            "same_growth_at_peak", "bytes_at_peak", "grown")


def broken(value: object) -> Iterator[object]:
    """Copies of the value in which one member is missing, one is too many, or one has another type."""
    if isinstance(value, dict):
        for key, member in value.items():
            is_of_rows = "number" in value and key in ("instructions", "kernels")  # of an operator of by_rows
            if key not in OPTIONAL and not is_of_rows:
                yield {k: v for k, v in value.items() if k != key}
            yield {**value, key: {"none": "such"}}
            for worse in broken(member):
                yield {**value, key: worse}
        yield {**value, "unknown": 1}
    elif isinstance(value, list):
        for index, element in enumerate(value):
            for worse in broken(element):
                changed = copy.copy(value)
                changed[index] = worse
                yield changed


def check(name: str, goldens: list[Path]) -> None:
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in goldens:
        document = json.loads(path.read_text(encoding="utf-8"))
        errors = [f"{path.name}: {error.json_path}: {error.message}" for error in validator.iter_errors(document)]
        assert not errors, errors
    count = 0
    for worse in broken(json.loads(goldens[0].read_text(encoding="utf-8"))):
        assert next(validator.iter_errors(worse), None) is not None, worse
        count += 1
    assert count > 100
    print(f"{name}: {len(goldens)} accepted, {count} broken ones refused")


def main() -> None:
    check("plan", [PLANS / "plan.json", PLANS / "plan_empty.json", *map(Path, sys.argv[1:])])
    check("diff", [GOLDEN / "diff.json"])
    check("report", [GOLDEN / "report.json"])
    check("check", [GOLDEN / "check.json"])
    check("compare", [GOLDEN / "compare.json"])
    check("frontier", [GOLDEN / "frontier.json"])
    check("cores", [GOLDEN / "cores.json"])
    check("inspect", [GOLDEN / "inspect.json"])


if __name__ == "__main__":
    main()
