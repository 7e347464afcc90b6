#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Breaks source files in small ways that follow from their text, one at a time, and names what no test sees.

Usage: mutate.py BUILD FILE... [--tests MODULE...] [--sample N] [--seed N] [--jobs N] [--list]

Each comparison gets its neighbour (< becomes <=, == becomes !=), each && and || loses its right side, each `if` takes the
other branch, each one-line `if (…) return …;` (continue, break, throw) is left out, each binary + and - becomes the other.
How a fault is built and run is run.py's. Without --tests, the tests of all modules that use the file are asked. A fault
that does not compile counts for nothing; --sample takes so many of all, the same for the same seed. The exit code is 1
if a fault is not seen. It is no test: some faults change nothing that can be seen.
"""
import argparse
import concurrent.futures
import pathlib
import random
import re
import sys
import tempfile

import run

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CLOSING = {"(": ")", "[": "]", "{": "}"}


def blanked(text):
    """The text with comments, literals and directives as blanks, of the same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)+'|^#[^\n]*",
                         re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def behind_brackets(code, at):
    """Behind the bracket that closes the one at `at`; None: none does."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in CLOSING:
            depth += 1
        elif code[i] in CLOSING.values():
            depth -= 1
            if depth == 0:
                return i + 1
    return None


def operand_end(code, at):
    """Where the operand of && or || ends that begins at `at`."""
    i = at
    while i < len(code):
        if code[i] in CLOSING:
            end = behind_brackets(code, i)
            if end is None:
                return None
            i = end
            continue
        if code[i] in ")]};,?:" or code[i:i + 2] in ("&&", "||"):
            if code[i:i + 2] != "::" and code[i - 1:i + 1] != "::":
                return i
        i += 1
    return None


def faults(text):
    """(begin, end, what stands there instead, what was done)"""
    code = blanked(text)
    result = []
    for found in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?= )", code):
        result.append((found.start(), found.end(), COMPARISONS[found.group()], f"{found.group()} becomes {COMPARISONS[found.group()]}"))
    for found in re.finditer(r"(?<=[\w)\]] )([+-])(?= [\w(])", code):
        other = "-" if found.group() == "+" else "+"
        result.append((found.start(), found.end(), other, f"{found.group()} becomes {other}"))
    for found in re.finditer(r"\s(&&|\|\|)\s", code):
        end = operand_end(code, found.end())
        if end is not None:
            result.append((found.start(), end, "", f"{found.group(1)} without {' '.join(text[found.end():end].split())}"))
    for found in re.finditer(r"\bif \(", code):
        end = behind_brackets(code, found.end() - 1)
        if end is None or ";" in code[found.end():end - 1]:
            continue
        result.append((found.end(), end - 1, f"!({text[found.end():end - 1]})", "the other branch"))
        left = re.match(r"\s*(return|continue|break|throw|fail_at)\b[^;{}]*;", code[end:])
        is_else = code[:found.start()].rstrip().endswith("else")
        if left and not is_else and not re.match(r"\s*else\b", code[end + left.end():]):
            result.append((found.start(), end + left.end(), "", f"without the early {left.group(1)}"))
    return result


def mutants_of(file):
    text = (run.ROOT / file).read_text(encoding="utf-8")
    for begin, end, new, what in faults(text):
        line = text.count("\n", 0, begin) + 1
        yield {"file": file, "text": text[:begin] + new + text[end:], "name": f"{file}:{line}: {what}", "tests": []}


class Runner(run.Runner):
    """Asks only the tests that were named, if some were."""

    def __init__(self, build, tests):
        super().__init__(build)
        self.named = tests

    def tests_of(self, mutant):
        return self.named or super().tests_of(mutant)

    def seen(self, mutant):
        """What sees it; None: nothing does; '': it does not compile."""
        with tempfile.TemporaryDirectory(prefix="mutant-") as directory:
            try:
                mutant_object = self.build.compile_mutant(mutant, pathlib.Path(directory))
            except run.Failure:
                return ""
            for test in self.tests_of(mutant):
                failed = self.ask(test, mutant_object, pathlib.Path(directory))
                if failed is not None:
                    return f"{test}: {failed}"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    files = [str(pathlib.Path(file).resolve().relative_to(run.ROOT)) for file in options.files]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    if options.sample and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    if options.list:
        print("\n".join(mutant["name"] for mutant in mutants))
        return 0
    runner = Runner(run.Build(options.build), options.tests)

    def one(mutant):
        seen = runner.seen(mutant)
        print(f"{mutant['name']}: {'does not compile' if seen == '' else seen or 'NOT SEEN'}", file=sys.stderr, flush=True)
        return seen

    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        results = list(pool.map(one, mutants))
    unseen = [mutant["name"] for mutant, seen in zip(mutants, results) if seen is None]
    built = sum(1 for seen in results if seen != "")
    print(f"{built} faults, {built - len(unseen)} seen")
    print("\n".join(unseen))
    return 1 if unseen or built == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
