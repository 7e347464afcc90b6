# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Runs the commands of docs/ci.md, and holds its examples against the templates that they use.

Usage: ci_examples.py USMP_PLAN ROOT, where ROOT is the project's directory. Exit code 77 (skipped) without the package
python3-yaml.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()


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
        (self.root / "models").mkdir(parents=True)
        self.pools.parent.mkdir()
        shutil.copy(ROOT / "testdata" / "ds_cnn.tar", self.root / "models" / "kws.tar")
        self.pools.write_text(file_of("memory/pools.yaml"), encoding="utf-8")
        tools = folder / "tools"
        tools.mkdir()
        (tools / "usmp-plan").symlink_to(PROGRAM)
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}"}

    def run(self, script: str, code: int = 0) -> str:
        """What the script prints."""
        assert "usmp-plan" in script, script
        done = subprocess.run(["sh", "-e", "-c", script], cwd=self.root, env=self.environment, capture_output=True,
                              text=True, timeout=600)
        assert done.returncode == code, (script, done)
        assert not done.stderr, (script, done)
        return done.stdout


def check_typed(repository: Repository) -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    for command in commands:
        repository.run(command)
    assert (repository.root / "memory" / "baseline.json").stat().st_size > 1000
    [shown] = blocks("text")
    said = repository.run(commands[1].strip() + " --transform none", code=1)
    assert said == shown, said


def check_uses(repository: Repository) -> None:
    """The three templates are used as they are declared; tests/package/test_ci_templates.py runs them."""
    [job] = yaml.safe_load(file_of(".github/workflows/memory.yml"))["jobs"].values()
    [step] = [step for step in job["steps"] if "/.ci/action@" in step["uses"]]
    inputs = yaml.safe_load((ROOT / ".ci/action/action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(step["with"]) <= set(inputs)
    assert {name for name, one in inputs.items() if one.get("required")} <= set(step["with"])
    gitlab = yaml.safe_load(file_of(".gitlab-ci.yml"))
    template = yaml.safe_load((ROOT / gitlab["include"]["file"]).read_text(encoding="utf-8"))[gitlab["memory"]["extends"]]
    assert set(gitlab["memory"]["variables"]) <= set(template["variables"])
    [[hook]] = [one["hooks"] for one in yaml.safe_load(file_of(".pre-commit-config.yaml"))["repos"]]
    [declared] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == declared["id"]
    repository.run(" ".join([declared["entry"], *hook["args"]]))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder))
        check_typed(repository)
        check_uses(repository)
    print("ok")


if __name__ == "__main__":
    main()
