#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Breaks source files in small ways that follow from their text, one at a time, and names what no test sees.

Usage: mutate.py BUILD FILE... [--tests MODULE...] [--sample N] [--seed N] [--jobs N] [--list]

Each comparison gets its neighbour (< becomes <=, == becomes !=), each && and || loses its right side, each `if` takes the
other branch, each one-line `if (…) return …;` (continue, break, throw) is left out, each binary + and - becomes the other.

A file is compiled once with all of them, of which an environment variable chooses one: `a < b` becomes
`usmp_fault::less(7, a, b)`. A first run tells which are reached at all. What cannot be written so (a line that does not
compile) counts for nothing. Without --tests, the tests of all modules that use the file are asked. --sample takes so
many of each file, the same for the same seed. The exit code is 1 if a fault is not seen. It is no test: some faults
change nothing that can be seen.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import sys
import tempfile
import time

import run

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {close: open for open, close in CLOSING.items()}
COMPARISONS = {"<": ("less", "<="), "<=": ("not_more", "<"), ">": ("more", ">="), ">=": ("not_less", ">"), "==": ("equal", "!="), "!=": ("unequal", "==")}
SUMS = {"+": ("sum", "-"), "-": ("difference", "+")}
# Binary operators, loosest first; blanks stand around them, which tells them from brackets of templates and references.
LEVELS = [("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "?", ":"), ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<=>",),
          ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-")]
LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}
BINARY = re.compile(r"(?<=\s)(?:" + "|".join(sorted(map(re.escape, LEVEL), key=len, reverse=True)) + r")(?=\s)")
BLANKS = re.compile(r"\s*")
WORDS = re.compile(r"\b(?:return|case|throw|else|co_return|requires|default)\b")
HEADER = """
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>
namespace usmp_fault {
struct Chosen {
  int id = 0;
  const char* reached_file = nullptr;
  unsigned char reached[COUNT + 1] = {};
  Chosen() {
    const char* chosen = std::getenv("USMP_FAULT");
    id = chosen == nullptr ? 0 : std::atoi(chosen);
    reached_file = std::getenv("USMP_FAULTS_REACHED");
  }
  ~Chosen() {
    if (reached_file == nullptr) return;
    if (std::FILE* file = std::fopen(reached_file, "a")) {
      for (int i = 1; i <= COUNT; ++i) if (reached[i]) std::fprintf(file, "%d\\n", reached[i] == 1 ? i : -i);
      std::fclose(file);
    }
  }
};
inline Chosen& chosen() { static Chosen one; return one; }
constexpr bool on(int id) {
  if (std::is_constant_evaluated()) return false;
  Chosen& one = chosen();
  one.reached[id] = 1;
  return one.id == id;
}
constexpr void no_fault(int id) {  // strings are not subtracted
  if (!std::is_constant_evaluated()) chosen().reached[id] = 2;
}
OPERATORS
}  // namespace usmp_fault
"""


def header(count):
    operators = []
    for operator, (name, other) in (COMPARISONS | SUMS).items():
        same = "std::is_same_v<decltype(a OTHER b), decltype(a OP b)>"
        operators.append(f"template <class A, class B> constexpr auto {name}(int id, const A& a, const B& b) {{\n"
                         f"  if constexpr (requires {{ a OTHER b; requires {same}; }}) return on(id) ? a OTHER b : a OP b;\n"
                         "  else return no_fault(id), a OP b; }".replace("OTHER", other).replace("OP", operator))
    return HEADER.replace("COUNT", str(count)).replace("OPERATORS", "\n".join(operators))


def blanked(text):
    """The text with comments, literals and directives as blanks, of the same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)+'|^#[^\n]*",
                         re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda found: re.sub(r"[^\n]", "_" if found.group()[0] in "\"'R" else " ", found.group()), text)


def partners(code):
    """For each bracket, the other one of its pair."""
    pairs, opened = {}, []
    for at, char in enumerate(code):
        if char in CLOSING:
            opened.append(at)
        elif char in OPENING:
            if opened and code[opened[-1]] == OPENING[char]:
                pairs[at] = opened.pop()
                pairs[pairs[at]] = at
    return pairs


class Text:
    def __init__(self, text):
        self.code = blanked(text)
        self.pairs = partners(self.code)
        self.stops = {found.start(): found.group() for found in BINARY.finditer(self.code)}
        self.stops_by_end = {begin + len(operator): operator for begin, operator in self.stops.items()}
        self.words_by_end = {found.end() for found in WORDS.finditer(self.code)}

    def left(self, at, level):
        """Where the left operand of an operator at `at` begins."""
        i = at
        while i > 0:
            char = self.code[i - 1]
            if char in OPENING and char != "}":
                if i - 1 not in self.pairs:
                    return None
                i = self.pairs[i - 1]
                continue
            if char == "}":  # of a brace initializer or a lambda; otherwise a statement ends here
                open = self.pairs.get(i - 1)
                if open is None or not re.search(r"[\w>)\]]\s*$", self.code[:open]) or "\n" in self.code[open:i]:
                    break
                i = open
                continue
            if char in "([{;,":
                break
            operator = self.stops_by_end.get(i)
            if operator is not None and LEVEL[operator] < level:
                break
            if i in self.words_by_end:
                break
            i -= 1
        return self.skip_blanks(i)

    def skip_blanks(self, i):
        return BLANKS.match(self.code, i).end()

    def right(self, at, level):
        """Where the right operand that begins at `at` ends."""
        i = at
        while i < len(self.code):
            char = self.code[i]
            if char in CLOSING:
                if i not in self.pairs:
                    return None
                i = self.pairs[i] + 1
                continue
            if char in ")]};,":
                break
            if i in self.stops and LEVEL[self.stops[i]] <= level:
                break
            i += 1
        while self.code[i - 1].isspace():
            i -= 1
        return i


def is_declaration(condition):
    return re.match(r"\s*(const\b|auto\b|[\w:<>]+[*&]? \w+ (=|\{))", condition) is not None or ";" in condition


def faults(text):
    """(offset, what was done, insertions: (offset, is_end, extent, text), replacement of [begin, end))"""
    source = Text(text)
    code = source.code
    for begin, operator in source.stops.items():
        end = begin + len(operator)
        level = LEVEL[operator]
        if operator in COMPARISONS or operator in SUMS:
            left, right = source.left(begin, level), source.right(source.skip_blanks(end), level)
            if left is None or right is None or left >= begin or re.match(r"operator\b", code[left:]):
                continue
            name, other = (COMPARISONS | SUMS)[operator]
            yield begin, f"{operator} becomes {other}", [(left, False, right - left, f"usmp_fault::{name}(ID, "), (right, True, right - left, ")")], (begin, end, ",")
        elif operator in ("&&", "||"):
            first = source.skip_blanks(end)
            right = source.right(first, level)
            if right is None or right <= first or is_declaration(code[source.left(begin, level):begin]):
                continue
            front = "(usmp_fault::on(ID) || bool(" if operator == "&&" else "(!usmp_fault::on(ID) && bool("
            yield begin, f"{operator} without {' '.join(text[first:right].split())}", [(first, False, right - first, front), (right, True, right - first, "))")], None
    for found in re.finditer(r"\bif \(", code):
        open = found.end() - 1
        close = source.pairs.get(open)
        if close is None or is_declaration(code[open + 1:close]):
            continue
        extent = close - open
        yield found.start(), "the other branch", [(open + 1, False, extent + 1, "usmp_fault::on(ID) != bool("), (close, True, extent + 1, ")")], None
        left = re.match(r"\s*(return|continue|break|throw|fail_at)\b[^;{}]*;", code[close + 1:])
        is_else = code[:found.start()].rstrip().endswith("else")
        if left and not is_else and not re.match(r"\s*else\b", code[close + 1 + left.end():]):
            yield found.start(), f"without the early {left.group(1)}", [(open + 1, False, extent + 2, "!usmp_fault::on(ID) && bool("), (close, True, extent + 2, ")")], None


class File:
    """A file with all its faults built in."""

    def __init__(self, build, path):
        self.path = path
        self.text = (run.ROOT / path).read_text(encoding="utf-8")
        self.build = build
        self.found = [(self.text.count("\n", 0, at) + 1, *rest) for at, *rest in sorted(faults(self.text), key=lambda one: one[0])]
        self.left_out = set()  # lines

    def name(self, number):
        line, what, *_ = self.found[number - 1]
        return f"{self.path}:{line}: {what}"

    def numbers(self):
        return [number for number, (line, *_) in enumerate(self.found, 1) if line not in self.left_out]

    def broken(self):
        """The text, line for line where it was."""
        edits = []  # (offset, order, behind, text)
        for number in self.numbers():
            _, _, insertions, replacement = self.found[number - 1]
            for at, is_end, extent, text in insertions:
                edits.append((at, 0 if is_end else 1, extent if is_end else -extent, at, text.replace("ID", str(number))))
            if replacement:
                begin, end, text = replacement
                edits.append((begin, 2, 0, end, text))
        parts, at = [], 0
        for begin, _, _, end, text in sorted(edits, key=lambda one: one[:3]):
            parts += [self.text[at:begin], text]
            at = end
        return "".join([*parts, self.text[at:]])

    def compile(self, work):
        front = work / "usmp_fault.hpp"
        front.write_text(header(len(self.found)), encoding="utf-8")
        while True:
            mutant = {"file": self.path, "text": f'#include "{front}"\n#line 1 "{self.path}"\n' + self.broken()}
            try:
                return self.build.compile_mutant(mutant, work)
            except run.Failure as failure:
                lines = set(map(int, re.findall(rf"{re.escape(self.path)}:(\d+):\d+: error", str(failure))))
                lines |= set(map(int, re.findall(rf"{re.escape(self.path)}:(\d+):\d+:   required from", str(failure))))
                if not lines - self.left_out:
                    raise
                self.left_out |= lines


class Runner(run.Runner):
    """Asks only the tests that were named, if some were."""

    def __init__(self, build, tests):
        super().__init__(build)
        self.named = tests

    def tests_of(self, mutant):
        return self.named or [test for test in super().tests_of(mutant) if test != "e2e"]

    def programs(self, file, work):
        mutant_object = file.compile(work)
        programs = []
        for module in self.tests_of({"file": file.path, "tests": []}):
            linked = self.build.link("tests/test_" + module, mutant_object, work)
            programs.append((module, linked))
        return programs

    @staticmethod
    def reached(programs, work):
        """By program: numbers of faults that a run comes to, negative of what is none; seconds that are too many with one."""
        result, limits = {}, {}
        for module, program in programs:
            listed = work / f"reached_{module}"
            begin = time.monotonic()
            code, output = run.run_limited(module, ["env", f"USMP_FAULTS_REACHED={listed}", str(program)])
            if code != 0:
                raise run.Failure(f"{module}: fails without a fault, too:\n{output[-2000:]}")
            limits[module] = 5 + 10 * (time.monotonic() - begin)
            result[module] = set(map(int, listed.read_text().split())) if listed.exists() else set()
        return result, limits

    @staticmethod
    def seen(programs, number, reached, limits):
        """What sees it; None: nothing does."""
        for module, program in programs:
            if number not in reached[module]:
                continue
            failed = run.doctest_failure(module, program, "", [f"USMP_FAULT={number}"], limits[module])
            if failed is not None:
                return f"{module}: {failed}"
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
    build = run.Build(options.build)
    runner = Runner(build, options.tests)
    files = [File(build, str(pathlib.Path(file).resolve().relative_to(run.ROOT))) for file in options.files]
    if options.list:
        print("\n".join(file.name(number) for file in files for number in file.numbers()))
        return 0
    count = seen = 0
    unseen = []
    for file in files:
        with tempfile.TemporaryDirectory(prefix="mutate-") as directory, concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
            work = pathlib.Path(directory)
            programs = runner.programs(file, work)
            reached, limits = runner.reached(programs, work)
            numbers = [number for number in file.numbers() if not any(-number in one for one in reached.values())]
            if options.sample and options.sample < len(numbers):
                numbers = sorted(random.Random(options.seed).sample(numbers, options.sample))
            results = pool.map(lambda number: runner.seen(programs, number, reached, limits), numbers)
            for number, result in zip(numbers, results):
                count += 1
                seen += result is not None
                said = result or ("NOT SEEN" if any(number in one for one in reached.values()) else "NOT REACHED")
                if result is None:
                    unseen.append(f"{file.name(number)}: {said}")
                print(f"{file.name(number)}: {said}", file=sys.stderr, flush=True)
    print(f"{count} faults, {seen} seen")
    print("\n".join(unseen))
    return 1 if unseen or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
