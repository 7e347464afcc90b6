# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The manual page and the completions of shells: complete, well-formed, and tried in the shells themselves.

usage: test_documents.py bash|zsh|fish|man USMP_PLAN DOCUMENTS [--required]. What a shell offers is held against what
--help lists. A shell or a checker that is not installed skips the test (exit code 77), with --required it is an error.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KIND, PROGRAM, DOCUMENTS = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
ROOT = Path(__file__).resolve().parents[2]
PATH = {"bash": DOCUMENTS / "bash/usmp-plan", "zsh": DOCUMENTS / "zsh/_usmp-plan",
        "fish": DOCUMENTS / "fish/usmp-plan.fish", "man": DOCUMENTS / "man/usmp-plan.1"}[KIND]


def needs(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        print(f"{tool} is not installed: skipped")
        sys.exit(1 if "--required" in sys.argv else 77)
    return found


def output(*command: object, **keywords: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **keywords)
    assert done.returncode == 0 and done.stderr == "", (command, done)
    return done.stdout


def section(text: str, title: str) -> list[str]:
    found = re.search(rf"^{title}.*:\n((?:  .*\n)+)", text, re.MULTILINE)
    return found.group(1).splitlines() if found else []


def names_of_commands() -> list[str]:
    lines = section(output(PROGRAM, "--help"), "Commands")
    # `plan` may be left out: what is completed and documented without a command is its.
    return [line.split()[0] for line in lines if re.match(r"  (?!plan )\w", line)]


def help_of(command: str) -> str:
    return output(PROGRAM, *([command] if command else []), "--help")


def options_of(command: str) -> set[str]:
    lines = [line for line in section(help_of(command), "Options") if re.match(r"  -", line)]
    return {name for line in lines for name in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", line[:25].split("  ")[1])}


class Terminal:
    """A shell at a terminal of its own, in a folder with a file and a directory."""

    def __init__(self, command: list[str], folder: str) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": folder, "LC_ALL": "C"})
        self.text = ""

    def wait_for(self, expected: str) -> None:
        deadline = time.monotonic() + 30
        while expected not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, (expected, self.text)
            self.text += os.read(self.master, 4096).decode(errors="replace")
        self.text = self.text.split(expected, 1)[1]

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def close(self) -> None:
        os.close(self.master)
        os.waitpid(self.pid, 0)


def folder_with_files(folder: str) -> None:
    Path(folder, "my model.tar").write_text("")
    Path(folder, "boards").mkdir()


def completed_by_bash(folder: str, *words: str) -> list[str]:
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _usmp_plan; '
              '[[ ${#COMPREPLY[@]} == 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"')
    # compopt complains outside of a completion, which the script expects.
    return output(needs("bash"), "--norc", "-c", script, "-", PATH, "usmp-plan", *words, cwd=folder).splitlines()


def test_bash() -> None:
    bash = needs("bash")
    output(bash, "-n", PATH)
    commands = names_of_commands()
    with tempfile.TemporaryDirectory() as folder:
        folder_with_files(folder)

        def completed(*words: str) -> list[str]:
            return completed_by_bash(folder, *words)

        assert set(completed("")) == {*commands, "plan", "help", "my model.tar", "boards"}
        assert set(completed("help", "")) == {*commands, "plan"}
        assert set(completed("plan", "-")) == options_of("")
        assert completed("plan", "diff", "--form") == [], "diff is a model's name here"
        assert completed("sol") == ["solve"]
        assert completed("my") == ["my model.tar"]
        for command in ["", *commands]:
            words = [command] if command else []
            assert set(completed(*words, "-")) == options_of(command), command
        assert completed("report", "--format", "m") == ["markdown"]
        assert completed("report", "--format", "=", "m") == ["markdown"]
        assert completed("report", "--format", "=") == ["text", "json", "csv", "markdown", "svg", "html"]
        assert completed("--pools", "diff", "--form") == [], "diff is a file's name here"
        assert completed("--dry-run", "diff", "--form") == ["--format"]
        assert completed("x.tar", "--transform", "fuse,na") == ["fuse,narrow"]
        assert completed("verify", "--keep", "") == ["boards"]
        assert "greedy_by_size" in completed("solve", "--algorithm", "greedy")
        assert completed("solve", "--seed", "") == []
        terminal = Terminal([bash, "--norc", "--noprofile", "-i"], folder)
        terminal.type(f"PS1='>'; source '{PATH}'; echo rea''dy\n")
        terminal.wait_for("ready")
        terminal.type("usmp-plan sol\t")
        terminal.wait_for("usmp-plan solve ")
        terminal.type("my\t")
        terminal.wait_for("my\\ model.tar ")
        terminal.close()


def test_zsh() -> None:
    zsh = needs("zsh")
    output(zsh, "-n", PATH)
    with tempfile.TemporaryDirectory() as folder:
        folder_with_files(folder)
        terminal = Terminal([zsh, "-f", "-i"], folder)
        terminal.type(f"PS1='>'; fpath=('{PATH.parent}' $fpath); autoload -Uz compinit; compinit -D; echo rea''dy\n")
        terminal.wait_for("ready")
        # Ctrl-U begins a new line. Of a completion, the terminal gets what is added.
        for keys, added in (("usmp-plan sol", "ve "), ("--cap", "acity="), ("\x15usmp-plan report --form", "at="),
                            ("mar", "kdown "), ("my", "\\ model.tar "), ("\x15usmp-plan x.tar --transform fuse,na", "rrow"),
                            ("\x15usmp-plan verify --keep ", "boards/"), ("\x15usmp-plan help sol", "ve "),
                            ("\x15usmp-plan plan --dry", "-run ")):
            terminal.type(keys)
            terminal.wait_for(keys.removeprefix("\x15"))
            terminal.type("\t")
            terminal.wait_for(added)
        terminal.close()


def test_fish() -> None:
    fish = needs("fish")
    output(fish, "-n", PATH)
    commands = names_of_commands()
    with tempfile.TemporaryDirectory() as folder:
        folder_with_files(folder)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C"}

        def completed(line: str) -> list[str]:
            script = f"source '{PATH}'; complete -C 'usmp-plan {line}'"
            return [found.split("\t")[0] for found in
                    output(fish, "--no-config", "-c", script, cwd=folder, env=environment).splitlines()]

        assert set(completed("")) == {*commands, "plan", "help", "my model.tar", "boards/"}, completed("")
        assert set(completed("help ")) == {*commands, "plan"}, completed("help ")
        assert set(completed("plan --dry")) == {"--dry-run"}
        assert completed("sol") == ["solve"]
        for command in ["", *commands]:
            offered = {name for name in completed(f"{command} -") if not name.startswith("-") or len(name) == 2}
            offered |= set(completed(f"{command} --"))
            assert offered == options_of(command), (command, offered ^ options_of(command))
        assert completed("report --format ma") == ["markdown"]
        assert completed("x.tar --transform fuse,na") == ["fuse,narrow"]
        assert completed("verify --keep b") == ["boards/"]
        assert completed("solve --seed ") == []


def synopses_of_docs() -> list[str]:
    """The block at the head of docs/cli.md, a line for each command, in the order of --help."""
    block = re.search(r"# Command line\n\n((?:    .*\n)+)", (ROOT / "docs/cli.md").read_text()).group(1)
    lines = {}
    for line in block.splitlines():
        _, commands, rest = re.split("  +", line.strip())[0].replace("[options]", "[OPTION]...").split(" ", 2)
        if commands == "MODEL...":
            lines[""] = f"usmp-plan {commands} {rest}"
        else:
            lines |= {command: f"usmp-plan {command} {rest}" for command in commands.split("|")}
    return [lines[command] for command in ["", *names_of_commands()]]


def test_man() -> None:
    mandoc = needs("mandoc")
    lint = subprocess.run([mandoc, "-Tlint", "-Wwarning", PATH], capture_output=True, text=True, timeout=60)
    assert lint.stdout == "", lint.stdout
    shown = re.sub(".\b", "", output(mandoc, "-Tutf8", "-Owidth=1000", PATH))
    for command in ["", *names_of_commands()]:
        assert f"usmp-plan {command}".strip() in shown, command
        for option in options_of(command):
            assert re.search(rf"(^|[\s,]){option}\b", shown), option
    for words in ("greedy", "pools file's, else", "NO_COLOR", "130"):
        assert (words in shown) == (words != "greedy"), words
    # The release's date, once, and none of the day on which the page is built.
    released = re.search(r"USMP_RELEASE_DATE (\d{4}-\d\d-\d\d)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert set(re.findall(r"\b20\d\d[-\d]*", shown)) == {released}, shown[-200:]
    synopses = re.search(r"SYNOPSIS\n(.*?)\n\n", shown, re.DOTALL).group(1)
    assert [line.strip() for line in synopses.splitlines()] == synopses_of_docs()


{"bash": test_bash, "zsh": test_zsh, "fish": test_fish, "man": test_man}[KIND]()
print(f"{KIND}: ok")
