#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Which nodes, operators and types of TIR that the reader takes no archive has: those are tested with JSON of our own alone.

usage: tir_census.py DIRECTORY…   archives below them
"""
import json
import re
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODES = set(re.findall(r'\{"([\w.]+)", NodeType::', (ROOT / "src/tir_json/node_types.cpp").read_text()))
OPERATORS = set(re.findall(r'"(tir\.\w+)"', (ROOT / "src/tir/ops.cpp").read_text()))
KINDS = {"0": "serial", "1": "parallel", "2": "vectorized", "3": "unrolled", "4": "thread binding"}


def main() -> int:
    nodes: set[str] = set()
    operators: set[str] = set()
    types: set[str] = set()
    kinds: set[str] = set()
    keys: set[str] = set()
    count = 0
    for path in sorted(path for root in sys.argv[1:] for path in Path(root).rglob("*.tar*") if path.is_file()):
        with tarfile.open(path) as tar:
            texts = [tar.extractfile(member).read() for member in tar if member.name.endswith(".tir.json")]
        count += len(texts)
        for graph in map(json.loads, texts):
            all_nodes = graph["nodes"]
            for node in all_nodes:
                attributes = node.get("attrs", {})
                nodes.add(node["type_key"])
                types.add(attributes.get("dtype", "bool"))
                if node["type_key"] == "Op":
                    operators.add(node["repr_str"])
                if node["type_key"] == "tir.For":
                    kinds.add(KINDS[attributes["kind"]])
                if node["type_key"] == "tir.AttrStmt":
                    keys.add(all_nodes[int(attributes["attr_key"])].get("repr_str", ""))
    print(f"{count} modules")
    for what, names in (("nodes that no module has", NODES - nodes), ("operators that no module has", OPERATORS - operators),
                        ("types of expressions", types), ("kinds of loops", kinds), ("keys of AttrStmt", keys)):
        print(f"{what}: {', '.join(sorted(names))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
