# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Random C against GCC: the tokens behind the preprocessor, and values and types of constant expressions.

usage: c_against_gcc.py USMP_C [COUNT [FIRST_SEED]] [--sanitized]

Each seed makes a file and headers with macros in macros, # and ##, variadic macros, conditions, includes, comments and line
splices, and compares usmp-c's tokens with those of `gcc -E`; and a list of expressions, whose values GCC computes.
"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

TOKEN = re.compile(r'''(?:u8|[LuU])?"(?:\\.|[^"\\\n])*"|[LuU]?'(?:\\.|[^'\\\n])*'|\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*|[A-Za-z_][A-Za-z0-9_]*'''
                   r'''|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|\S''')


class Source:
    """Random text of C for the preprocessor."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["A", "B", "C", "D", "E", "F", "G", "H", "J", "K"]
        self.headers = ["#"]
        self.functions = {}  # name: parameters, or None for one without a list

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def atom(self, params=()):
        if params and self.chance(45):
            return self.random.choice(params)
        if self.chance(40):
            return self.random.choice(self.names)
        return self.pick("1", "23", "x", "y1", "0x1Fu", "1.5e-3f", '"s"', "'c'", '"a\\"b"', "+", "-", "*", "<<", "&&", "->", "==",
                         "int", "e", "L")

    def call(self, params, depth):
        """A macro's name, mostly with arguments; the count may be wrong."""
        name = self.random.choice(self.names)
        known = self.functions.get(name, None)
        if known is None and self.chance(70):
            return name
        count = len(known[0]) if known else 1
        if known and known[1]:
            count += self.random.randrange(3)
        arguments = [self.tokens(params, depth + 1) if self.chance(85) else "" for _ in range(count)]
        gap = self.pick("", "", "", " ", "/* */")
        return name + gap + "(" + ",".join(arguments) + ")"

    def tokens(self, params, depth=0):
        result = []
        for _ in range(self.random.randrange(1, 4 if depth else 6)):
            if depth < 3 and self.chance(35):
                result.append(self.call(params, depth))
            elif self.chance(6):
                result.append("(" + (self.tokens(params, depth + 1) if depth < 3 else "q, r") + ")")
            else:
                result.append(self.atom(params))
        return self.pick(" ", " ", "  ").join(result)

    def body(self, params, variadic):
        names = list(params) + (["__VA_ARGS__"] if variadic else [])
        parts = []
        for _ in range(self.random.randrange(5)):
            roll = self.random.randrange(10)
            if roll == 0 and names:
                parts.append("#" + self.pick("", " ") + self.random.choice(names))
            elif roll <= 2:
                left = self.random.choice(names) if names and self.chance(60) else self.pick("x", "A", "F", "1", "L")
                right = self.random.choice(names) if names and self.chance(60) else self.pick("y", "B", "2", "z")
                parts.append(left + self.pick(" ## ", "##") + right)
            elif roll == 3 and variadic:
                parts.append(self.pick("g(x, ## __VA_ARGS__)", "g(__VA_ARGS__)", "g(x, __VA_ARGS__)"))
            else:
                parts.append(self.tokens(names, 1))
        return " ".join(parts)

    def define(self):
        name = self.random.choice(self.names)
        lines = [f"#undef {name}"] if name in self.functions or self.chance(5) else []
        if self.chance(55):
            params = self.random.sample(["a", "b", "c"], self.random.randrange(4))
            variadic = self.chance(25)
            self.functions[name] = (params, variadic)
            listed = ", ".join(params + (["..."] if variadic else []))
            lines.append(f"#{self.pick('', ' ')}define {name}({listed}) {self.body(params, variadic)}")
        else:
            self.functions[name] = None
            lines.append(f"#define {name} {self.body((), False)}")
        return lines

    def condition(self, depth=0):
        roll = self.random.randrange(9)
        if depth > 3 or roll < 3:
            return self.pick("0", "1", "2u", "-1", "0x10", "'a'", "7L", self.random.choice(self.names), "zzz")
        if roll == 3:
            name = self.random.choice(self.names)
            return self.pick(f"defined {name}", f"defined({name})", f"!defined( {name} )")
        if roll == 4:
            return self.pick("!", "-", "~", "+") + " " + "(" + self.condition(depth + 1) + ")"
        if roll == 5:
            return f"({self.condition(depth + 1)} ? {self.condition(depth + 1)} : {self.condition(depth + 1)})"
        op = self.pick("+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||")
        return f"({self.condition(depth + 1)} {op} {self.condition(depth + 1)})"

    def lines(self, depth=0):
        result = []
        for _ in range(self.random.randrange(2, 7)):
            roll = self.random.randrange(12)
            if roll < 4:
                result += self.define()
            elif roll == 4:
                result.append(f"#undef {self.random.choice(self.names)}")
            elif roll == 5 and depth < 3:
                word = self.pick("#ifdef ", "#ifndef ")
                result.append(word + self.random.choice(self.names) if self.chance(50) else "#if " + self.condition())
                result += self.lines(depth + 1)
                while self.chance(30):
                    result.append("#elif " + self.condition())
                    result += self.lines(depth + 1)
                if self.chance(50):
                    result.append("#else")
                    result += self.lines(depth + 1)
                result.append("#endif")
            elif roll == 6:
                result.append(self.pick(*self.headers, "#"))
            else:
                result.append(self.tokens(()))
        return result

    def disguised(self, lines):
        """With comments and line splices where C allows them."""
        text = []
        for line in lines:
            if self.chance(8) and " " in line:
                at = self.random.choice([i for i, c in enumerate(line) if c == " "])
                line = line[:at] + self.pick(" /* c */ ", "/**/ ", " /* a\nb */ ", " \\\n ") + line[at:]
            if self.chance(4) and len(line) > 2:
                at = self.random.randrange(1, len(line))
                line = line[:at] + "\\\n" + line[at:]
            if self.chance(6):
                line += self.pick(" // c", " // c \\\n d", " /* c */")
            text.append(line)
        return "\n".join(text) + "\n"

    def files(self):
        two = self.disguised(self.lines(2))
        self.headers = ['#include "two.h"']
        one = "#ifndef ONE_H\n#define ONE_H\n" + self.disguised(self.lines(2)) + "#endif\n"
        self.headers.append('#include "one.h"')
        return {"one.h": one, "two.h": two, "main.c": self.disguised(self.lines() + self.lines() + self.lines())}


class Expressions:
    """Random integer constant expressions."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def literal(self):
        number = self.random.choice([0, 1, 2, 3, 7, 31, 32, 100, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1,
                                     self.random.randrange(1000)])
        spelled = self.random.choice([str(number), hex(number), "0" + oct(number)[2:]])
        suffix = self.random.choice(["", "", "", "u", "l", "ul", "ll", "ULL", "U"])
        return self.random.choice([spelled + suffix, spelled, "'a'", r"'\n'", r"'\x41'", r"'\101'"])

    def make(self, depth=0):
        roll = self.random.randrange(10)
        if depth > 4 or roll < 2:
            return self.literal()
        if roll == 2:
            return self.random.choice("!-~+") + f"({self.make(depth + 1)})"
        if roll == 3:
            kind = self.random.choice(["int8_t", "uint8_t", "int16_t", "unsigned short", "int", "uint32_t", "int64_t", "uint64_t", "size_t",
                                       "long", "char", "_Bool", "signed char", "unsigned long long int"])
            return f"({kind})({self.make(depth + 1)})"
        if roll == 4:
            return self.random.choice(["sizeof(int8_t)", "sizeof(int32_t[3])", "sizeof(double)", "sizeof(uint16_t[2][4])"])
        if roll == 5:
            return f"({self.make(depth + 1)} ? {self.make(depth + 1)} : {self.make(depth + 1)})"
        op = self.random.choice(["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||"])
        left, right = self.make(depth + 1), self.make(depth + 1)
        return f"({left} {op} {right})" if self.random.randrange(2) else f"{left} {op} {right}"


def run(*command, **options):
    def limited():  # macros in macros may stand for gigabytes; a sanitizer takes more than any limit
        if "--sanitized" not in sys.argv:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    return subprocess.run(command, preexec_fn=limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options)


def compare_tokens(tool, seed, folder):
    """'same', 'refused' by both, 'ours' only refuses; else raises."""
    for name, text in Source(seed).files().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    main = os.path.join(folder, "main.c")
    ours = run(tool, "tokens", main, "--known")
    if len(ours.stdout) > 1_000_000 or "macros stand for more than" in ours.stdout:
        return "large"
    theirs = run("gcc", "-E", "-P", "-w", "-std=gnu99", "-undef", main)
    if ours.returncode == 3:
        return "refused" if theirs.returncode != 0 else "ours: " + ours.stdout.rsplit(": ", 1)[-1].strip()
    if ours.returncode != 0:
        raise AssertionError(f"seed {seed}: exit code {ours.returncode}: {ours.stderr}")
    if theirs.returncode != 0:
        return "theirs: " + theirs.stderr.splitlines()[0].rsplit(": ", 1)[-1]
    expected = TOKEN.findall(theirs.stdout)
    found = ours.stdout.split("\n")[:-2]
    if any(word in found for word in ("if", "elif", "endif")):
        return "ours: the value of a condition is not known"  # an overflow, a shift that C leaves open
    if found != expected:
        at = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), min(len(found), len(expected)))
        raise AssertionError(f"seed {seed}: token {at}: found {found[at - 3:at + 5]}, expected {expected[at - 3:at + 5]}")
    return "same"


KINDS = {"int": ("32", "s"), "unsigned": ("32", "u"), "long": ("64", "s"), "unsigned long": ("64", "u"), "long long": ("64", "s"),
         "unsigned long long": ("64", "u")}


def compare_values(tool, seeds, folder):
    """How many values are known, of how many."""
    expressions = []
    for seed in seeds:
        expressions += [Expressions(seed * 1000 + i).make() for i in range(20)]
    source = os.path.join(folder, "values.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(f"long long v{i} = {text};\n" for i, text in enumerate(expressions)))
    ours = run(tool, "constants", source, "--known")
    if ours.returncode != 0:
        raise AssertionError(f"exit code {ours.returncode}: {ours.stdout}")
    known = {}
    for line in ours.stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            known[int(words[0][1:])] = words[1:]
    program = ["#include <stdint.h>", "#include <stddef.h>", "#include <stdio.h>"]
    cases = ", ".join(f'{kind}: "{"/".join(meaning)}"' for kind, meaning in KINDS.items())
    program.append(f"#define SHOW(i, e) printf(\"%d %lld %s\\n\", i, (long long)(e), _Generic(+(e), {cases}));")
    program.append("int main(void) {")
    program += [f"  SHOW({i}, {expressions[i]})" for i in known]
    program.append("}")
    path = os.path.join(folder, "program.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(program) + "\n")
    binary = os.path.join(folder, "program")
    built = run("gcc", "-w", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover", path, "-o", binary)
    if built.returncode != 0:
        raise AssertionError(built.stderr)
    values = run(binary)
    if values.returncode != 0:
        line = int(re.search(r"program.c:(\d+)", values.stderr).group(1))
        raise AssertionError(program[line - 1] + values.stderr)
    for line in values.stdout.splitlines():
        index, value, kind = line.split(" ", 2)
        ours_value, ours_kind = known[int(index)]
        bits, sign = kind.split("/")
        expected = int(value) if sign == "s" or bits == "32" else int(value) % 2**64
        is_open = ours_kind[:-1] == "0"  # long and size_t: 64 bits here
        if int(ours_value) != expected or (ours_kind != bits + sign and not (is_open and bits == "64")):
            raise AssertionError(f"{expressions[int(index)]}: found {ours_value} {ours_kind}, expected {value} {kind}")
    return len(known), len(expressions)


def main():
    arguments = [one for one in sys.argv[1:] if one != "--sanitized"]
    tool = os.path.abspath(arguments[0])
    count = int(arguments[1]) if len(arguments) > 1 else 300
    first = int(arguments[2]) if len(arguments) > 2 else 0
    seen = {}
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                result = compare_tokens(tool, seed, folder)
            except AssertionError as error:
                print(error)
                faults += 1
                continue
            seen[result] = seen.get(result, 0) + 1
        known, total = 0, 0
        for begin in range(first, first + count, 100):
            try:
                found = compare_values(tool, range(begin, min(begin + 100, first + count)), folder)
                known, total = known + found[0], total + found[1]
            except AssertionError as error:
                print(error)
                faults += 1
    for result, number in sorted(seen.items(), key=lambda item: -item[1]):
        print(f"{number:6} {result}")
    print(f"{known} of {total} constant expressions are known; {faults} faults")
    # What is compared must not be nothing.
    return 0 if faults == 0 and seen.get("same", 0) > count // 4 and known > total // 4 else 1


if __name__ == "__main__":
    sys.exit(main())
