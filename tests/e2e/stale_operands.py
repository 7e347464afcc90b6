# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Where TVM's C computes something else than its TIR.

TVM puts an operand of min or max into a variable, and names the variable again wherever the same expression stands later in
the block, also if what it loads was stored to in between:

    int32_t v_ = red0[0];
    red0[0] = ((v_) > (x) ? (v_) : (x));
    int32_t v__1 = y;
    red0[0] = ((v_) > (v__1) ? (v_) : (v__1));    /* TIR: max(red0[0], y), of the new red0[0] */
"""

import re

DECLARED = re.compile(r"^\s*(?:const )?\w+ (\w+) = (.+);$")
LOADED = re.compile(r"\b(\w+)\)?\[")
STORED = re.compile(r"^\s*\(*(?:\((?:const )?\w+\*+\))?(\w+)\)*\[.*?\] = (.+);$")


def stale_operands(text: str) -> list[str]:
    """The lines that name such a variable after what it loads was stored to."""
    found = []
    open_blocks: list[dict[str, list]] = [{}]  # of each block, by variable: what it loads, whether that was stored to
    for line in text.splitlines():
        declared = DECLARED.match(line)
        stored = STORED.match(line)
        value = declared.group(2) if declared else line
        named = set(re.findall(r"\w+", value))
        if any(name in named and stale for block in open_blocks for name, (_, stale) in block.items()):
            found.append(line.strip())
        for character in re.sub(r'"[^"]*"', "", line):
            if character == "{":
                open_blocks.append({})
            elif character == "}" and len(open_blocks) > 1:
                open_blocks.pop()
        if declared and "[" in declared.group(2):
            open_blocks[-1][declared.group(1)] = [set(LOADED.findall(declared.group(2))), False]
        elif stored:
            for block in open_blocks:
                for variable in block.values():
                    variable[1] = variable[1] or stored.group(1) in variable[0]
    return found
