# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Holds the schemas of problems and answers against the examples of docs/instances.md and broken copies of them.

Exit code 77 (skipped) without the package python3-jsonschema.
"""

import copy
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import jsonschema
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]


def validator(name: str) -> "jsonschema.Draft202012Validator":
    schema = json.loads((ROOT / "docs" / "schema" / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def broken(value: object, required: set[str]) -> Iterator[object]:
    """Copies of the value in which one member is missing, one is too many, or one has another type."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key in required:
                yield {k: v for k, v in value.items() if k != key}
            yield {**value, key: {"none": "such"}}
            for worse in broken(member, required):
                yield {**value, key: worse}
        yield {**value, "unknown": 1}
    elif isinstance(value, list):
        for index, element in enumerate(value):
            for worse in broken(element, required):
                yield [*value[:index], worse, *value[index + 1:]]
    elif isinstance(value, int):
        yield -1
        yield value + 0.5
        yield str(value)


def without_optional(problem: dict) -> dict:
    """The problem with the members left out that have a default."""
    least = copy.deepcopy(problem)
    for pool in least["pools"]:
        for key in ("kind", "capacity", "alignment", "reserved"):
            del pool[key]
    for buffer in least["buffers"]:
        for key in ("name", "function", "kind", "alignment", "pinned"):
            del buffer[key]
    return least


def main() -> None:
    problems, answers = validator("problem.schema.json"), validator("answer.schema.json")
    text = (ROOT / "docs" / "instances.md").read_text(encoding="utf-8")
    examples = [json.loads(example) for example in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert [sorted(example) for example in examples][1:] == [["allocations"], ["status"]], examples
    for example, schema in zip(examples, (problems, answers, answers)):
        schema.validate(example)
    problems.validate(without_optional(examples[0]))
    count = 0
    cases = ((problems, examples[0], {"format", "version", "horizon", "pools", "buffers", "id", "size", "candidates", "live"}),
             (answers, examples[1], {"allocations", "buffer", "pool", "offset"}))
    for schema, example, required in cases:
        for worse in broken(example, required):
            assert next(schema.iter_errors(worse), None) is not None, worse
            count += 1
    assert count > 100
    for bad in ({}, {"status": "feasible"}, {"status": "good", "allocations": []},
                {"status": "infeasible", "allocations": []}):
        assert next(answers.iter_errors(bad), None) is not None, bad
    print(f"{len(examples)} examples accepted, {count + 4} broken ones refused")


if __name__ == "__main__":
    main()
