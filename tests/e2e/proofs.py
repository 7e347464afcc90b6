# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""--proof: bounds as constraints and a proof (include/usmp/bounds/certificate.hpp), checked by code of this file alone.

Usage: proofs.py USMP_PLAN ROOT, where ROOT is the project's directory; with ../shared, also its archives; or
proofs.py CONSTRAINTS.opb PROOF.pbp [PROBLEM.json], which checks one proof, and whether the constraints are the problem's.

A proof is one of cutting planes, as VeriPB's format 3.0 writes it: `pol` with constraints, literals, +, * d and s, so that a
search needs no other rule. The constraints are made here a second time, from the problem, as the header describes them. That they are true of plans is
tried with all plans of small problems.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BROKEN = 0


# --- Pseudo-Boolean constraints and proofs ---

class Bad(Exception):
    pass


Constraint = tuple[dict[int, int], int]  # coefficients of variables, whatever their sign; at least


def literal_form(constraint: Constraint) -> tuple[dict[int, int], int]:
    """The same over literals with positive coefficients: -x for the negation of x."""
    factors, least = constraint
    literals = {(v if c > 0 else -v): abs(c) for v, c in factors.items() if c != 0}
    return literals, least - sum(c for c in factors.values() if c < 0)


def variable_form(literals: dict[int, int], least: int) -> Constraint:
    return ({abs(x): (c if x > 0 else -c) for x, c in literals.items()}, least - sum(c for x, c in literals.items() if x < 0))


def added(a: Constraint, b: Constraint) -> Constraint:
    factors = dict(a[0])
    for variable, factor in b[0].items():
        factors[variable] = factors.get(variable, 0) + factor
    return {v: c for v, c in factors.items() if c != 0}, a[1] + b[1]


def read_constraints(text: str) -> list[Constraint]:
    head = re.match(r"\* #variable= (\d+) #constraint= (\d+)\n", text)
    if not head:
        raise Bad("no head of an OPB file")
    constraints = []
    for line in text.splitlines():
        if line.startswith("*"):
            continue
        found = re.fullmatch(r"((?:[+-]\d+ x\d+ )*)>= (-?\d+) ;", line)
        if not found:
            raise Bad(f"no constraint: {line[:80]}")
        factors: dict[int, int] = {}
        for factor, variable in re.findall(r"([+-]\d+) x(\d+) ", found[1]):
            if not 1 <= int(variable) <= int(head[1]) or int(variable) in factors:
                raise Bad(f"x{variable} in: {line[:80]}")
            factors[int(variable)] = int(factor)
        constraints.append((factors, int(found[2])))
    if len(constraints) != int(head[2]):
        raise Bad(f"{len(constraints)} constraints, not {head[2]}")
    return constraints


def derived(words: list[str], known: list[Constraint]) -> Constraint:
    """What a line of reverse Polish notation derives."""
    stack: list = []
    for word in words:
        if re.fullmatch(r"\d+", word):
            stack.append(int(word))
        elif re.fullmatch(r"~?x\d+", word):
            variable = int(word.lstrip("~x"))
            stack.append(({variable: -1}, -1) if word[0] == "~" else ({variable: 1}, 0))
        elif word in "+*ds" and len(stack) >= (1 if word == "s" else 2):
            number = stack.pop() if word in "*d" else 0
            if word in "*d" and (not isinstance(number, int) or number < 1):
                raise Bad(f"{word} by {number}")
            one = constraint_of(stack.pop(), known)
            literals, least = literal_form(one)
            if word == "+":
                stack.append(added(constraint_of(stack.pop(), known), one))
            elif word == "*":
                stack.append(({v: number * c for v, c in one[0].items()}, number * one[1]))
            elif word == "d":
                stack.append(variable_form({x: -(-c // number) for x, c in literals.items()}, -(-least // number)))
            else:
                stack.append(variable_form({x: min(c, max(least, 0)) for x, c in literals.items()}, least))
        else:
            raise Bad(f"pol: {word}")
    if len(stack) != 1:
        raise Bad("pol leaves no single constraint")
    return constraint_of(stack[0], known)


def constraint_of(entry, known: list[Constraint]) -> Constraint:
    if not isinstance(entry, int):
        return entry
    if not 1 <= entry <= len(known):
        raise Bad(f"no constraint {entry}")
    return known[entry - 1]


def check_proof(constraints: list[Constraint], text: str) -> None:
    """Throws Bad unless the text proves that no values of the variables fulfil the constraints."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    if len(lines) < 5 or lines[0] != "pseudo-Boolean proof version 3.0" or lines[1] != f"f {len(constraints)} ;":
        raise Bad("no head of a proof of these constraints")
    if lines[-1] != "end pseudo-Boolean proof ;" or lines[-3] != "output NONE ;":
        raise Bad("no end of a proof")
    known = list(constraints)
    for line in lines[2:-3]:
        if not re.fullmatch(r"pol .* ;", line):
            raise Bad(f"no rule of these proofs: {line[:80]}")
        known.append(derived(line[4:-2].split(), known))
    found = re.fullmatch(r"conclusion UNSAT : (\d+) ;", lines[-2])
    literals, least = literal_form(constraint_of(int(found[1]), known)) if found else ({}, 0)
    if sum(literals.values()) >= least:
        raise Bad("what is concluded is no contradiction")


# --- The constraints of a problem ---

def overlap(a: list, b: list) -> bool:
    return any(x[0] < y[1] and y[0] < x[1] for x in a for y in b)


def up(value: int, step: int) -> int:
    return -(-value // step) * step


class Encoding:
    """That the buffers of one pool fit into `capacity` bytes; `members` is K, as numbers of buffers."""

    def __init__(self, problem: dict, pool_name: str, capacity: int, members: list[int]) -> None:
        pool = next(p for p in problem["pools"] if p["name"] == pool_name)
        bounds = {p["name"]: p for p in problem["pools"]}

        def first(buffer: dict, where: dict) -> int:
            return up(where["reserved"], math.lcm(buffer["alignment"], where["alignment"]))

        def possible(buffer: dict) -> list[str]:
            return [name for name in buffer["candidates"] if bounds[name]["capacity"] is None or buffer["pinned"] is not None
                    or first(buffer, bounds[name]) + buffer["size"] <= bounds[name]["capacity"]]

        self.capacity, self.reserved = capacity, pool["reserved"]
        self.buffers = [b for b in problem["buffers"] if b["size"] > 0 and possible(b) == [pool_name]]
        self.alignments = [math.lcm(b["alignment"], pool["alignment"]) for b in self.buffers]
        self.first = [b["pinned"] if b["pinned"] is not None else first(b, pool) for b in self.buffers]
        distances = {(d["below"], d["above"]): d["bytes"] for d in problem.get("distances", [])}
        n = range(len(self.buffers))
        self.apart = [[distances.get((self.buffers[i]["id"], self.buffers[j]["id"]), self.buffers[i]["size"]) for j in n] for i in n]
        count = itertools.count(1)
        self.bits = [[next(count) for _ in range((capacity // a).bit_length())] for a in self.alignments]
        self.orders = {(i, j): next(count) for i in n for j in n if i < j and overlap(self.buffers[i]["live"], self.buffers[j]["live"])}
        self.members = members

    def offset(self, i: int, factor: int = 1) -> Constraint:
        return {x: factor * self.alignments[i] << bit for bit, x in enumerate(self.bits[i])}, 0

    def order(self, below: int, above: int, factor: int) -> Constraint:
        if below < above:
            return {self.orders[below, above]: factor}, 0
        return {self.orders[above, below]: -factor}, -factor

    def constraints(self) -> list[Constraint]:
        result: list[Constraint] = []

        def require(least: int, *parts: Constraint) -> None:
            total: Constraint = ({}, least)
            for part in parts:
                total = added(total, part)
            result.append(total)

        for i, buffer in enumerate(self.buffers):
            require(self.first[i], self.offset(i))
            if buffer["pinned"] is not None:
                require(-buffer["pinned"], self.offset(i, -1))
            require(buffer["size"] - self.capacity, self.offset(i, -1))
        for i, j in self.orders:
            for a, b in ((i, j), (j, i)):
                slack = self.apart[a][b] + sum(self.offset(a)[0].values())
                require(self.apart[a][b] - slack, self.offset(b), self.offset(a, -1), self.order(a, b, -slack))
        if not self.members:
            return result
        granule = math.gcd(*(self.alignments[i] for i in self.members))
        weights = {i: up(min([self.buffers[i]["size"]] + [self.apart[i][k] for k in self.members if k != i]), granule) for i in self.members}
        beyond = max(weights[i] - self.buffers[i]["size"] for i in self.members)
        for j in self.members:
            others = [i for i in self.members if i != j]
            require(up(self.reserved, granule), self.offset(j), *(self.order(i, j, -weights[i]) for i in others))
            require(weights[j] - self.capacity - beyond, self.offset(j, -1), *(self.order(j, i, -weights[i]) for i in others))
        return result

    def values(self, offsets: list[int]) -> dict[int, bool]:
        """The values of the variables in a plan."""
        values = {x: bool(offsets[i] // self.alignments[i] >> bit & 1) for i, bits in enumerate(self.bits) for bit, x in enumerate(bits)}
        for (i, j), x in self.orders.items():
            values[x] = offsets[j] - offsets[i] >= self.apart[i][j]
        return values


def check_constraints(problem: dict, text: str) -> Encoding:
    """That these are the constraints of the problem and of the pool and capacity that they name."""
    head = re.search(r"\n\* pool (.*): a plan of at most (\d+) bytes\n", text)
    pile = re.search(r"\n\* live at one step:((?: \d+)*)\n", text)
    if not head:
        raise Bad("the constraints do not say of which pool they are")
    encoding = Encoding(problem, head[1], int(head[2]), [int(i) for i in pile[1].split()] if pile else [])
    if not all((min(i, j), max(i, j)) in encoding.orders for i in encoding.members for j in encoding.members if i != j):
        raise Bad("not live together")
    if read_constraints(text) != encoding.constraints():
        raise Bad("not the constraints of the problem")
    return encoding


# --- Tests ---

def run(*arguments: object, code: int = 0) -> str:
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (arguments, done)
    return done.stdout if code == 0 else done.stderr


def refused(action, *arguments) -> bool:
    try:
        action(*arguments)
    except Bad:
        return True
    return False


def check_breaking(constraints: str, proof: str) -> None:
    """A proof of weaker constraints, or with another number in it, is none."""
    global BROKEN
    parsed = read_constraints(constraints)
    line = next(line for line in proof.splitlines() if line.startswith("pol "))
    used = [int(word) for word in line.split() if word.isdigit()]
    alone = {}  # whether each of the two contradicts itself
    for number in used:
        literals, least = literal_form(parsed[number - 1])
        alone[number] = sum(literals.values()) < least
    for number, other in (used, reversed(used)):
        if alone[other]:
            continue
        weaker = list(parsed)
        weaker[number - 1] = (parsed[number - 1][0], parsed[number - 1][1] - 10**15)
        assert refused(check_proof, weaker, proof)
        assert refused(check_proof, parsed, proof.replace(line, f"pol {other} {other} + ;"))
        BROKEN += 2
    assert refused(check_proof, parsed[:-1], proof)
    assert refused(check_proof, parsed, proof.replace(line + "\n", ""))
    assert refused(check_proof, parsed, re.sub(r"UNSAT : \d+", "UNSAT : 1", proof))


def check_breaking_of_search(constraints: str, proof: str, rng: random.Random) -> None:
    """Each line of a proof by search is needed: there are no others in it."""
    global BROKEN
    parsed = read_constraints(constraints)
    rules = [line for line in proof.splitlines() if line.startswith("pol ")]
    for line in rng.sample(rules, min(len(rules), 2)):
        assert refused(check_proof, parsed, proof.replace(line + "\n", "pol 1 ;\n", 1)), line
        words = line.split()
        # A sum of lines: without one of them. A stack also contradicts a constraint less: then it says less, and what follows is wrong.
        number = rng.choice([word for i, word in enumerate(words) if word.isdigit() and words[i + 1] in "+"] or ["0"])
        if 0 < int(number) <= len(parsed):
            weaker = list(parsed)
            factors, least = weaker[int(number) - 1]
            weaker[int(number) - 1] = (factors, least - 10**15)
            assert refused(check_proof, weaker, proof), (line, number)
        BROKEN += 2


def random_problem(rng: random.Random, most: int = 5) -> dict:
    buffers, distances = [], []
    for i in range(rng.randint(1, most) if most == 5 else most):
        live = sorted(rng.sample(range(9), 4))
        live = [live[:2], live[2:]] if rng.random() < 0.3 else [[live[0], live[3]]]
        buffers.append({"id": i, "name": f"b{i}", "function": "f", "kind": "tensor", "size": rng.randint(0, 9), "alignment": rng.choice([1, 1, 2, 4, 6]),
                        "candidates": ["p"], "live": live, "pinned": None})
    pool = {"name": "p", "kind": "workspace", "capacity": None, "alignment": rng.choice([1, 1, 2]), "reserved": rng.choice([0, 0, 3])}
    if rng.random() < 0.3:
        buffers[0]["pinned"] = up(rng.randint(3, 12), math.lcm(buffers[0]["alignment"], pool["alignment"]))
    for a, b in itertools.permutations(buffers, 2):
        if a["size"] > 0 and b["size"] > 0 and overlap(a["live"], b["live"]) and rng.random() < 0.2:
            distances.append({"below": a["id"], "above": b["id"], "bytes": rng.randrange(a["size"])})
    return {"format": "usmp-plan/problem", "version": 1, "horizon": 9, "pools": [pool], "buffers": buffers, "distances": distances}


def plans(encoding: Encoding):
    """All plans of so many bytes."""
    choices = [[b["pinned"]] if b["pinned"] is not None else range(encoding.first[i], encoding.capacity - b["size"] + 1, encoding.alignments[i])
               for i, b in enumerate(encoding.buffers)]
    for offsets in itertools.product(*choices):
        apart = encoding.apart
        if all(offsets[i] + b["size"] <= encoding.capacity for i, b in enumerate(encoding.buffers)) and all(
                offsets[j] - offsets[i] >= apart[i][j] or offsets[i] - offsets[j] >= apart[j][i] for i, j in encoding.orders):
            yield offsets


def check_truth(encoding: Encoding, rng: random.Random) -> int:
    """Every plan of so many bytes fulfils the constraints."""
    constraints = encoding.constraints()
    count = 0
    for offsets in itertools.islice(plans(encoding), 100):
        values = encoding.values(list(offsets))
        for factors, least in constraints:
            assert sum(c for x, c in factors.items() if values[x]) >= least, (offsets, factors, least)
        count += 1
    return count


def check_random(folder: Path) -> None:
    rng = random.Random(1)
    proved = searched = true = 0
    for _ in range(120):
        problem = random_problem(rng)
        (folder / "p.json").write_text(json.dumps(problem))
        run_out = subprocess.run([sys.argv[1], "solve", folder / "p.json", "--json", "--proof", folder / "p.pbp"], capture_output=True, text=True)
        assert run_out.returncode in (0, 2), run_out
        if run_out.returncode == 0:
            text, proof = (folder / "p.opb").read_text(), (folder / "p.pbp").read_text()
            encoding = check_constraints(problem, text)
            check_proof(read_constraints(text), proof)
            if proof.count("\npol ") == 1:
                check_breaking(text, proof)
            else:
                check_breaking_of_search(text, proof, rng)
                searched += 1
            assert encoding.capacity == json.loads(run_out.stdout)["pools"][0]["lower_bound"] - 1
            assert next(plans(encoding), None) is None
            proved += 1
        # With more room there are plans, and the constraints are true of each; also of smaller sets of what is live.
        for extra in (1, 4):
            room = Encoding(problem, "p", 0, [])
            live = [i for i, b in enumerate(room.buffers) if overlap(b["live"], [[4, 5]])]
            members = sorted(rng.sample(live, rng.randint(0, len(live))))
            used = sum(b["size"] for b in room.buffers) + max([b["pinned"] or 0 for b in room.buffers], default=0) + 3
            true += check_truth(Encoding(problem, "p", min(used, 20) + extra, members), rng)
    assert proved > 100 and searched > 10 and true > 4000, (proved, searched, true)


def check_searches(folder: Path) -> None:
    """Bounds that only a search proves, of problems that are too large for trying all plans."""
    rng = random.Random(2)
    searched = lines = 0
    for _ in range(25):
        problem = random_problem(rng, 10)
        (folder / "s.json").write_text(json.dumps(problem))
        out = json.loads(run("solve", folder / "s.json", "--json", "--proof", folder / "s.pbp"))
        text, proof = (folder / "s.opb").read_text(), (folder / "s.pbp").read_text()
        encoding = check_constraints(problem, text)
        check_proof(read_constraints(text), proof)
        assert encoding.capacity == out["pools"][0]["lower_bound"] - 1 == out["pools"][0]["used"] - 1, out["pools"]
        if proof.count("\npol ") > 1:
            check_breaking_of_search(text, proof, rng)
            searched += 1
            lines += proof.count("\npol ")
    assert searched > 8 and lines > 300, (searched, lines)


def check_archives(folder: Path, archives: list[Path]) -> None:
    for archive in archives:
        for options in ([], ["--transform", "none"]):
            (folder / "m.json").write_text(run(archive, *options, "--dry-run", "--json"))
            run("report", folder / "m.json", "--proof", folder / "m.pbp")
            text, proof = (folder / "m.opb").read_text(), (folder / "m.pbp").read_text()
            check_proof(read_constraints(text), proof)
            check_breaking(text, proof)
            plan = json.loads((folder / "m.json").read_text())["modules"][0]
            pool = next(p for p in plan["pools"] if p["lower_bound"] > 0)
            assert f"a plan of at most {pool['lower_bound'] - 1} bytes" in text, (archive, options)
            if options:  # the trials of transformations may end at another program than the one that `problem` writes
                check_constraints(json.loads(run("problem", archive, *options)), text)


def check_instances(folder: Path, root: Path) -> None:
    """MiniMalloc's A to K but the two that are not proved by what is live, if they are there."""
    for path in sorted((root.parent / "shared" / "instances" / "minimalloc").glob("[ABCEFGHIK]*.csv")):
        run("solve", path, "--proof", folder / "i.pbp")
        constraints = read_constraints((folder / "i.opb").read_text())
        check_proof(constraints, (folder / "i.pbp").read_text())


def check_messages(folder: Path) -> None:
    (folder / "a.csv").write_text("id,lower,upper,size\na,0,2,10\nb,1,3,10\nc,0,1,5\n")
    before = set(folder.iterdir())
    for arguments, text in ((["--proof", folder / "a.txt"], "expected a name that ends in .pbp"),
                            (["--proof", folder / "no" / "a.pbp"], "no"),
                            (["--proof-pool", "pool"], "--proof-pool needs --proof FILE"),
                            (["--proof", folder / "b.pbp", "--proof-pool", "pol"], "did you mean 'pool'"),
                            (["--proof", folder / "b.pbp", "-o", folder / "b.pbp"], "--proof")):
        assert text in run("solve", folder / "a.csv", *arguments, code=2), arguments
    # An odd ring: the bound holds, but not by what is live at one step; a search proves it.
    ring = "id,lower,upper,size\n" + "".join(f"b{i},{t},{t + 1},10\n" for i in range(5) for t in sorted({2 * i, 2 * ((i + 4) % 5)}))
    (folder / "ring.csv").write_text(ring)
    with tempfile.TemporaryDirectory() as ringed:
        run("solve", folder / "ring.csv", "--proof", Path(ringed) / "r.pbp")
        check_proof(read_constraints((Path(ringed) / "r.opb").read_text()), (Path(ringed) / "r.pbp").read_text())
    # Two pools: what is proved of the larger one does not follow of what must be there alone.
    (folder / "two.json").write_text(json.dumps({
        "format": "usmp-plan/problem", "version": 1, "horizon": 2, "distances": [],
        "pools": [{"name": n, "kind": "workspace", "capacity": c, "alignment": 1, "reserved": 0} for n, c in (("fast", 10), ("slow", None))],
        "buffers": [{"id": i, "name": f"b{i}", "function": "f", "kind": "tensor", "size": 8, "alignment": 1, "candidates": ["fast", "slow"],
                     "live": [[0, 2]], "pinned": None} for i in range(3)]}))
    assert "and these fit into less" in run("solve", folder / "two.json", "-o", folder / "t.json", "--proof", folder / "t.pbp",
                                            "--proof-pool", "slow", code=2)
    many = "id,lower,upper,size\n" + "".join(f"b{i},0,1,1\n" for i in range(501))
    (folder / "many.csv").write_text(many)
    assert "501 buffers; proofs are written of at most 500" in run("solve", folder / "many.csv", "--proof", folder / "m.pbp", code=2)
    assert set(folder.iterdir()) - before == {folder / name for name in ("ring.csv", "many.csv", "two.json")}


def main() -> None:
    if sys.argv[1].endswith(".opb"):
        text = Path(sys.argv[1]).read_text(encoding="utf-8")
        if len(sys.argv) > 3:
            check_constraints(json.loads(Path(sys.argv[3]).read_text(encoding="utf-8")), text)
        check_proof(read_constraints(text), Path(sys.argv[2]).read_text(encoding="utf-8"))
        print("proved")
        return
    root = Path(sys.argv[2]).resolve()
    shared = root.parent / "shared" / "archives"
    archives = sorted((root / "testdata").glob("**/*.tar")) + sorted((shared / "mlperf_tiny").glob("*.tar"))
    for check in (check_random, check_searches, check_messages, lambda f: check_archives(f, [a for a in archives if a.stem in
                  ("ds_cnn", "mobilenet_v1", "randwire", "mlperf_vww", "unet", "inception")]), lambda f: check_instances(f, root)):
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder))
    assert BROKEN > 200, BROKEN


if __name__ == "__main__":
    try:
        main()
    except Bad as error:
        sys.exit(f"not proved: {error}")
