#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Breaks the program in named ways, one at a time, and shows which test sees it.

A mutant is an entry of one of the TOML files beside this one:

    [[mutant]]
    name = "load: a range's last tick is not counted"
    old = "<text that stands exactly once in src/ and apps/>"
    new = "<what stands there instead>"
    in = "largest_sum"
    tests = ["bounds: load is the largest sum*", "planners"]

Any .cpp file may hold the text, and its whitespace does not matter: faults stay where they are when code moves or is
formatted anew. `in` may be left out. It names the function (or lambda, or Class::function) around the text, for a text
that stands several times.

`tests` says which tests are asked first: a module's executable, and a filter of doctest's if only some cases are meant;
"e2e" is the golden runs of the emitted C, "products: cortex-m4" random sums of products under qemu. Only if these see nothing, the other executables are asked, then e2e.

Nothing of the source tree is touched, and nothing of the build but by bringing it up to date: the broken file is
compiled elsewhere, and its object is put in front of the libraries when the test is linked again; in a unity build, that
of all files that are compiled with it. The test that fails is run without the fault, too, and has to pass then. A mutant whose text is not found, that does not compile, or that no
test sees is a failure (exit code 1).

    run.py --check                       every mutant still applies (fast: nothing is compiled)
    run.py BUILD [--jobs N] [NAME …]     runs those whose names contain one of the words, or all
"""
import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

import places

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Cases of "products".
CORES = set(re.findall(r'on_arm\("([^"]+)"', (ROOT / "tests/random_modules/programs.cpp").read_text(encoding="utf-8")))
TIME_LIMIT = 300  # seconds a test, for mutants that never end
MEMORY_LIMIT = 4 << 30
RUN_SANITIZED = {"codegen", "driver", "e2e", "execute", "products", "random_modules"}  # they run programs under AddressSanitizer, which maps terabytes


class Failure(Exception):
    """A mutant that shows nothing: it does not apply, does not compile, or survives."""


def load_mutants():
    mutants = []
    for path in sorted(HERE.glob("*.toml")):
        for mutant in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            mutants.append(mutant)
    return mutants


LITERALS = r'(?:"(?:[^"\\]|\\.)*"\s*)+'


def test_cases(module):
    """The names of the module's test cases."""
    names = []
    for path in sorted((ROOT / "tests" / module).rglob("*.[ch]pp")):
        found = re.findall(r"TEST_CASE(?:_FIXTURE|_TEMPLATE)?\(\s*(?:[\w:]+,\s*)?(" + LITERALS + ")",
                           path.read_text(encoding="utf-8"))
        names += ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)) for literals in found]
    return names


def has_cases(pattern, names):
    """Whether doctest's filter finds any of them. If not, it runs nothing, and says that all is well."""
    pattern = re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.IGNORECASE)
    return any(pattern.fullmatch(name) for name in names)


def check(mutants, tree):
    """What is wrong with the entries, without compiling anything. Those that are right get their file and its text."""
    problems = []
    modules = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    cases_of = functools.cache(test_cases)
    seen = set()
    for mutant in mutants:
        name = mutant.get("name", "?")
        if set(mutant) - {"in"} != {"name", "old", "new", "tests"} or not mutant["old"].strip():
            problems.append(f"{name}: the members are name, old, new, tests and maybe in")
            continue
        if name in seen:
            problems.append(f"{name}: stands twice")
        seen.add(name)
        if mutant["old"] == mutant["new"]:
            problems.append(f"{name}: changes nothing")
        for test in mutant["tests"]:
            module, _, cases = (part.strip() for part in test.partition(":"))
            if module == "products" and cases in CORES:
                continue
            if module not in modules or (cases and not has_cases(cases, cases_of(module))):
                problems.append(f"{name}: there are no tests {test!r}")
        try:
            file, mutant["text"] = tree.mutate(mutant)
            mutant["file"] = file.name
        except places.NotFound as failure:
            problems.append(f"{name}: {failure}")
    return problems


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


class Build:
    """An up-to-date build directory, and how its files were compiled and linked."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory).resolve()
        database = json.loads((self.directory / "compile_commands.json").read_text(encoding="utf-8"))
        self.compile = {os.path.realpath(entry["file"]): shlex.split(entry["command"]) for entry in database}
        self.unity_of = {os.path.realpath(included): file for file in self.compile if "/Unity/" in file
                         for included in re.findall(r'#include "(.*)"', pathlib.Path(file).read_text(encoding="utf-8"))}
        self.lock = threading.Lock()
        self.links = {}
        self.sound = {}

    def compile_mutant(self, mutant, work):
        """The object of the mutated file; the options are the build's but for the level of optimisation."""
        original = ROOT / mutant["file"]
        source = work / original.name
        source.write_text(mutant["text"], encoding="utf-8")
        compiled = os.path.realpath(original)
        if compiled in self.unity_of:
            # The object in the library defines what all files of the batch do; another of the whole batch goes in front.
            batch = pathlib.Path(self.unity_of[compiled])
            text = re.sub(r'(?<=#include ")(.*)(?=")',
                          lambda found: str(source) if os.path.realpath(found.group()) == compiled else found.group(),
                          batch.read_text(encoding="utf-8"))
            source = work / ("batch_" + batch.name)
            source.write_text(text, encoding="utf-8")
            compiled = str(batch)
        command = list(self.compile[compiled])
        output = work / "mutant.o"
        command[command.index("-o") + 1] = str(output)
        command[command.index("-c") + 1] = str(source)
        command += ["-iquote", str(original.parent), "-O1", "-w"]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure("does not compile:\n" + done.stderr[-2000:])
        return output

    def link_command(self, target):
        with self.lock:
            if target not in self.links:
                listed = subprocess.run(["ninja", "-t", "commands", "-s", target], cwd=self.directory, check=True,
                                        capture_output=True, text=True).stdout
                # ": && g++ … -o target … && what is done afterwards"
                self.links[target] = shlex.split(listed.split("&&")[1])
            return list(self.links[target])

    def link(self, target, mutant_object, work):
        command = self.link_command(target)
        place = command.index("-o") + 1
        program = work / pathlib.Path(target).name
        command[place] = str(program)
        command.insert(place + 1, str(mutant_object))
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure("does not link:\n" + done.stderr[-2000:])
        return program

    def modules(self):
        """All test executables."""
        return sorted(path.name[len("test_"):] for path in (self.directory / "tests").glob("test_*")
                      if path.is_file() and os.access(path, os.X_OK))


def run_limited(module, command, seconds=TIME_LIMIT):
    """(exit code or None for the time limit, output)"""
    # Into a file: of a pipe the end is not seen as long as a process has it that a fault has left behind.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT,
                                   preexec_fn=None if module in RUN_SANITIZED else limit_memory, start_new_session=True)
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            code = None
        output.seek(0)
        return code, output.read()


def doctest_failure(module, program, cases, environment=(), seconds=TIME_LIMIT):
    """The first test case that fails, or None. `environment`: NAME=VALUE."""
    command = ["env", *environment, str(program), "--abort-after=1", "--no-colors", "--no-path-filenames"]
    if cases:
        command.append("--test-case=" + cases.replace(",", "\\,"))
    code, output = run_limited(module, command, seconds)
    if code == 0:
        return None
    if code is None:
        return (cases or "any") + " (never ends)"
    failed = re.search(r"^TEST CASE:\s+(.*)$", output, re.MULTILINE)
    return failed.group(1).strip() if failed else f"(exit code {code})"


def e2e_failure(program):
    code, output = run_limited("e2e", [sys.executable, "-B", str(ROOT / "tests/e2e/golden.py"), str(program),
                                       str(ROOT / "testdata"), "--optimize", "0"])
    if code == 0:
        return None
    return "golden runs of testdata" + (" (never ends)" if code is None else "")


def products_failure(program, core):
    code, _ = run_limited("products", [str(program), "--products", "--transform", "all", "--count", "25", "--compiler", core,
                                       "--no-warnings", "--shrink", "0"])
    if code == 0:
        return None
    return f"random products on a {core}" + (" (never ends)" if code is None else "")


class Runner:
    def __init__(self, build):
        self.build = build

    def ask(self, test, mutant_object, work):
        """The first failure of a module's tests or of e2e, with the fault built in; None if they see nothing."""
        module, _, cases = (part.strip() for part in test.partition(":"))
        if module == "e2e":
            return e2e_failure(self.build.link("usmp-plan", mutant_object, work))
        if module == "products":
            return products_failure(self.build.link("tests/usmp-random-modules", mutant_object, work), cases)
        failed = doctest_failure(module, self.build.link("tests/test_" + module, mutant_object, work), cases)
        if failed is None:
            return None
        case = cases if failed.endswith("(never ends)") or failed.startswith("(exit") else failed
        if not self.is_sound(module, case):
            raise Failure(f"{module}: {case} fails without the fault, too")
        return failed

    def is_sound(self, module, case):
        key = (module, case)
        if key not in self.build.sound:
            program = self.build.directory / "tests" / ("test_" + module)
            self.build.sound[key] = doctest_failure(module, program, case) is None
        return self.build.sound[key]

    def tests_of(self, mutant):
        """Those named first; then each module's whole executable, the named ones' first; then e2e."""
        named = [test.split(":")[0] for test in mutant["tests"] if not test.startswith("products")]
        top, module = pathlib.Path(mutant["file"]).parts[:2]
        library = "libusmp_" + ("command_line" if top == "apps" else module) + ".a"
        rest = [module for module in self.build.modules() if library in self.build.link_command("tests/test_" + module)]
        return list(dict.fromkeys([*mutant["tests"], *named, *rest, "e2e"]))

    def run(self, mutant):
        """(module, test) that sees it."""
        with tempfile.TemporaryDirectory(prefix="mutant-") as directory:
            work = pathlib.Path(directory)
            mutant_object = self.build.compile_mutant(mutant, work)
            for test in self.tests_of(mutant):
                failed = self.ask(test, mutant_object, work)
                if failed is not None:
                    return test.split(":")[0], failed
        raise Failure("SURVIVES: no test sees it")


def table(rows):
    lines = ["| file | fault | seen by |", "|---|---|---|"]
    lines += [f"| `{file}` | {name} | {seen} |".replace("<", "&lt;") for file, name, seen in rows]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    mutants = load_mutants()
    problems = check(mutants, places.Tree(ROOT))
    for problem in problems:
        print(problem)
    if problems or options.check:
        print(f"{len(mutants)} mutants, {len(problems)} problems")
        return 1 if problems else 0
    if not options.build:
        parser.error("which build directory?")
    words = [word.lower() for word in options.names]
    chosen = [m for m in mutants if not words or any(w in (m["name"] + " " + m["file"]).lower() for w in words)]
    runner = Runner(Build(options.build))

    def one(mutant):
        begin = time.monotonic()
        try:
            seen = runner.run(mutant)
        except Failure as failure:
            seen = failure
        print(f"{time.monotonic() - begin:5.0f} s  {mutant['name']}: "
              f"{seen if isinstance(seen, Failure) else ': '.join(seen)}", file=sys.stderr, flush=True)
        return mutant, seen

    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        results = list(pool.map(one, chosen))
    rows = [(m["file"].removeprefix("src/"), m["name"], f"{seen[0]}: {seen[1]}")
            for m, seen in results if not isinstance(seen, Failure)]
    failures = [(m["name"], seen) for m, seen in results if isinstance(seen, Failure)]
    print(table(rows))
    print(f"\n{len(chosen)} faults, {len(rows)} seen")
    for name, failure in failures:
        print(f"FAILED {name}: {failure}")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
