#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""An external algorithm: largest buffer first, each at the lowest offset that is free in the first pool with room.

Use: usmp-plan model.tar --pools pools.yaml --algorithm exec:docs/examples/external_planner.py
"""
import json
import math
import sys

problem = json.load(sys.stdin)
pools = {pool["name"]: pool for pool in problem["pools"]}
placed = []  # (buffer, pool's name, offset)


def conflict(a, b):
    return any(x[0] < y[1] and y[0] < x[1] for x in a["live"] for y in b["live"])


def lowest_offset(buffer, pool):
    step = math.lcm(buffer["alignment"], pool["alignment"])
    taken = [(offset, offset + other["size"]) for other, name, offset in placed
             if name == pool["name"] and other["size"] > 0 and conflict(other, buffer)]
    offset = 0
    for begin, end in [(0, pool["reserved"]), *sorted(taken)]:
        if offset + buffer["size"] > begin:
            offset = max(offset, -(-end // step) * step)
    return offset


for buffer in sorted(problem["buffers"], key=lambda b: (b["pinned"] is None, -b["size"])):
    for pool in (pools[name] for name in buffer["candidates"]):
        offset = lowest_offset(buffer, pool) if buffer["pinned"] is None else buffer["pinned"]
        if pool["capacity"] is None or offset + buffer["size"] <= pool["capacity"]:
            placed.append((buffer, pool["name"], offset))
            break
    else:
        json.dump({"status": "not_found"}, sys.stdout)
        sys.exit()
json.dump({"allocations": [{"buffer": b["id"], "pool": p, "offset": o} for b, p, o in placed]}, sys.stdout)
