# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Holds docs/schema/pools.schema.json against the pools files of the project.

Exit code 77 (skipped) without the packages python3-jsonschema and python3-yaml.
"""

import copy
import json
import re
import sys
from pathlib import Path

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
POOLS = ROOT / "testdata" / "pools"

# The bad fixtures that the schema takes for good.
ACCEPTED = {
    # Rules across values.
    "name_differs_in_case", "name_is_keyword", "name_twice", "name_twice_across_lists", "size_overflow",
    "pool_offset_takes_all", "pool_offset_too_large", "budget_max_above_size", "budget_warn_at_of_nothing",
    "budget_headroom_without_size", "budget_headroom_takes_all", "state_twice", "state_with_budget", "state_alone",
    # Python's YAML keeps the last of two equal keys, merges, resolves tags, and reads 1.1, where yes is a boolean.
    "file_key_twice", "internal_is_capital", "internal_is_word", "key_twice", "merge_key", "size_hexadecimal", "tag",
    "anchor", "carriage_return", "emit_not_internal",
    # Without --memory; rules across keys.
    "address_of_region", "address_and_section",
}


def load(name: str) -> dict:
    return json.loads((ROOT / "docs" / "schema" / name).read_text(encoding="utf-8"))


def accepts(validator: "jsonschema.Draft202012Validator", value: object) -> bool:
    return next(validator.iter_errors(value), None) is None


def check_good(validator: "jsonschema.Draft202012Validator") -> int:
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(POOLS.glob("*.yaml"))}
    assert len(texts) >= 6, texts.keys()
    examples = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "pools.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 3
    texts.update({f"example {number} of docs/pools.md": text for number, text in enumerate(examples, 1)})
    for name, text in texts.items():
        errors = [f"{name}: {error.json_path}: {error.message}" for error in validator.iter_errors(yaml.safe_load(text))]
        assert not errors, errors
    return len(texts)


def check_bad(validator: "jsonschema.Draft202012Validator") -> int:
    accepted, refused = set(), set()
    for path in (POOLS / "bad").glob("*.yaml"):
        try:
            good = accepts(validator, yaml.safe_load(path.read_bytes()))
        except (yaml.YAMLError, UnicodeDecodeError):
            good = False
        (accepted if good else refused).add(path.stem)
    assert accepted == ACCEPTED, accepted ^ ACCEPTED
    assert len(refused) > 60
    return len(refused)


def check_examples(schema: dict) -> int:
    """Every "examples" of the schema satisfies the part of the schema it stands in."""
    count = 0
    parts = [schema["properties"], schema["$defs"]["pool"]["properties"], schema["$defs"]]
    for name, part in (item for group in parts for item in group.items()):
        for example in part.get("examples", []):
            validator = jsonschema.Draft202012Validator({"$defs": schema["$defs"], **part})
            assert accepts(validator, example), (name, example)
            count += 1
    return count


def check_teeth(validator: "jsonschema.Draft202012Validator") -> None:
    """Every key of a full file, turned into something wrong, is noticed."""
    full = yaml.safe_load((POOLS / "dtcm_sram.yaml").read_text(encoding="utf-8"))
    assert accepts(validator, full)
    for group in ("workspace_pools", "parameter_pools"):
        for index, pool in enumerate(full[group]):
            for key in pool:
                broken = copy.deepcopy(full)
                broken[group][index][key] = None
                assert not accepts(validator, broken), (group, key)
                broken[group][index].pop(key)
                broken[group][index][key + "_"] = pool[key]
                assert not accepts(validator, broken), (group, key + "_")


def main() -> None:
    schema = load("pools.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good, bad, examples = check_good(validator), check_bad(validator), check_examples(schema)
    check_teeth(validator)
    print(f"{good} files and examples accepted, {bad} bad files refused, {examples} examples of the schema hold")


if __name__ == "__main__":
    main()
