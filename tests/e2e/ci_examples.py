# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/ci.md: what a reader types, and the steps of the workflows, within budget and beyond it.

Usage: ci_examples.py USMP_PLAN ROOT, where ROOT is the project's directory. Exit code 77 (skipped) without the package
python3-yaml.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SMALL_MAX = "max: 1KiB"  # beyond which the model is


def blocks(language: str) -> list[str]:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found, language
    return found


def file_of(name: str) -> str:
    """The example file whose first line names it."""
    [found] = [block for block in blocks("yaml") if block.startswith(f"# {name}\n")]
    return found


class Repository:
    """A repository as the page describes it, with usmp-plan on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.pools = self.root / "memory" / "pools.yaml"
        self.summary = folder / "summary.md"
        (self.root / "models").mkdir(parents=True)
        self.pools.parent.mkdir()
        shutil.copy(ROOT / "testdata" / "ds_cnn.tar", self.root / "models" / "kws.tar")
        self.pools.write_text(file_of("memory/pools.yaml"), encoding="utf-8")
        tools = folder / "tools"
        tools.mkdir()
        (tools / "usmp-plan").symlink_to(PROGRAM)
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(self.summary)}

    def run(self, script: str, code: int = 0, warned: bool = False) -> str:
        """What the script prints; with `warned`, on standard error."""
        assert "usmp-plan" in script, script
        done = subprocess.run(["sh", "-e", "-c", script], cwd=self.root, env=self.environment, capture_output=True,
                              text=True, timeout=600)
        assert done.returncode == code, (script, done)
        assert bool(done.stderr) == warned, (script, done)
        return done.stderr if warned else done.stdout

    def shrink_budget(self) -> None:
        changed = re.sub(r"max: \w+", SMALL_MAX, file_of("memory/pools.yaml"), count=1)
        assert SMALL_MAX in changed
        self.pools.write_text(changed, encoding="utf-8")

    def restore_budget(self) -> None:
        self.pools.write_text(file_of("memory/pools.yaml"), encoding="utf-8")

    def line_of_max(self) -> int:
        return 1 + self.pools.read_text(encoding="utf-8").splitlines().index(
            next(line for line in self.pools.read_text(encoding="utf-8").splitlines() if SMALL_MAX in line))


def check_typed(repository: Repository) -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    for command in commands:
        repository.run(command)
    assert (repository.root / "memory" / "baseline.json").stat().st_size > 1000
    [shown] = blocks("text")
    said = repository.run(commands[1].strip() + " --transform none", code=1)
    assert said == shown, said


def check_github(repository: Repository) -> None:
    [job] = yaml.safe_load(file_of(".github/workflows/memory.yml"))["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert len(steps) == 3
    for step in steps:
        assert "::error" not in repository.run(step)
    summary = repository.summary.read_text(encoding="utf-8")
    assert summary.startswith("### Memory budgets of kws.tar: within budget\n"), summary
    assert "no difference" in summary or "as before" in summary, summary
    [artifact] = [step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert (repository.root / artifact).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    repository.shrink_budget()
    said = repository.run(steps[0], code=1)
    annotation = f"::error file=memory/pools.yaml,line={repository.line_of_max()},col="
    assert annotation in said, said
    summary = repository.summary.read_text(encoding="utf-8")[len(summary):]
    assert summary.startswith("### Memory budgets of kws.tar: 1 breach\n"), summary
    repository.restore_budget()
    too_small = file_of("memory/pools.yaml").replace("size_hint_bytes: 96KiB", "size_hint_bytes: 2KiB").replace("max: 24KiB", "max: 1KiB")
    repository.pools.write_text(too_small, encoding="utf-8")
    (repository.root / artifact).unlink()
    repository.summary.unlink()
    warning = "warning: module 'default': no plan fits the pools; the one shown ignores their sizes"
    show, draw = steps[1:]
    repository.run(show)
    assert "\n- warning: no plan fits the pools; the one" in repository.summary.read_text(encoding="utf-8")
    assert warning in repository.run(draw, warned=True)
    page = (repository.root / artifact).read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and ">warning: no plan fits the pools; the one" in page
    repository.restore_budget()


def check_gitlab(repository: Repository) -> None:
    [job] = yaml.safe_load(file_of(".gitlab-ci.yml")).values()
    junit = repository.root / job["artifacts"]["reports"]["junit"]
    for change, failures in ((repository.restore_budget, 0), (repository.shrink_budget, 1)):
        change()
        for command in job["script"]:
            repository.run(command, code=1 if failures else 0)
        suites = xml.etree.ElementTree.parse(junit).getroot()
        assert suites.get("failures") == str(failures)
        assert len(suites.findall("testsuite/testcase/failure")) == failures
        assert len(suites.findall("testsuite/testcase")) == int(suites.get("tests")) > 5
    for command in job["after_script"]:
        repository.run(command)
    for path in job["artifacts"]["paths"]:
        assert (repository.root / path).is_file()
    repository.restore_budget()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder))
        check_typed(repository)
        check_github(repository)
        check_gitlab(repository)
    print("ok")


if __name__ == "__main__":
    main()
