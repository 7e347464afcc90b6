# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Runs the steps of .ci/action, the job of .ci/gitlab and the hook of .pre-commit-hooks.yaml in a repository as docs/ci.md describes it.

Usage: test_ci_templates.py USMP_PLAN ROOT. GitHub's own parts are stood in for: expressions, and `gh`, which keeps comments in a file.
Exit code 77 (skipped) without the package python3-yaml.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree
from pathlib import Path

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
POOLS = "workspace_pools:\n  - {name: sram, size_hint_bytes: 96KiB, budget: {max: 24KiB, max_growth: 2%}}\n"

# Comments as gh shows them: {"ID": "text"}. Understands what the action asks for, and nothing else.
GH = """#!/usr/bin/env python3
import json, os, re, sys
store = os.environ["COMMENTS"]
comments = json.load(open(store))
words = sys.argv[1:]
assert words.pop(0) == "api" and os.environ["GH_TOKEN"] == "secret"
if "--jq" in words:
    assert words[0] == "repos/me/firmware/issues/7/comments" and "--paginate" in words
    marker = re.search(r'startswith[(]"(.*?)"[)]', words[words.index("--jq") + 1]).group(1)
    print("".join(f"{key}\\n" for key, text in comments.items() if text.startswith(marker)), end="")
else:
    method, path, body = words[words.index("-X") + 1], words[words.index("-X") + 2], words[words.index("-F") + 1]
    text = open(body.removeprefix("body=@")).read()
    if method == "POST":
        assert path == "repos/me/firmware/issues/7/comments"
        comments[str(100 + len(comments))] = text
    else:
        assert method == "PATCH"
        key = path.removeprefix("repos/me/firmware/issues/comments/")
        assert key in comments, key
        comments[key] = text
    json.dump(comments, open(store, "w"))
"""


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "repository"
        (self.root / "models").mkdir(parents=True)
        shutil.copy(ROOT / "testdata/ds_cnn.tar", self.root / "models/kws.tar")
        self.set_budget("24KiB")
        tools = folder / "tools"
        tools.mkdir()
        (tools / "gh").write_text(GH)
        (tools / "gh").chmod(stat.S_IRWXU)
        self.comments = folder / "comments.json"
        self.comments.write_text('{"3": "Looks good."}')
        self.path = f"{tools}:{os.environ['PATH']}"
        (tools / "usmp-plan").symlink_to(PROGRAM)
        shutil.copy(ROOT / "testdata/resnet8.tar", self.root / "models/image.tar")
        for baseline, models in (("baseline.json", ["models/kws.tar"]), ("both.json", ["models/kws.tar", "models/image.tar"])):
            done = subprocess.run([PROGRAM, *models, "--pools", "pools.yaml", "--dry-run", "--json"], cwd=self.root, capture_output=True, text=True, check=True)
            (self.root / baseline).write_text(done.stdout)

    def set_budget(self, most: str) -> None:
        (self.root / "pools.yaml").write_text(POOLS.replace("24KiB", most))

    def texts(self) -> dict[str, str]:
        return json.loads(self.comments.read_text())


class Action:
    """Its steps as GitHub runs them: bash, an environment by expressions, files for outputs, the path and the summary."""

    def __init__(self) -> None:
        self.definition = yaml.safe_load((ROOT / ".ci/action/action.yml").read_text())
        self.steps = self.definition["runs"]["steps"]

    def run(self, repository: Repository, given: dict[str, str], event: str = "pull_request") -> tuple[int, str]:
        """The exit code of the step that failed, and what all have printed."""
        inputs = {}
        for name, declared in self.definition["inputs"].items():
            assert name in given or not declared.get("required"), name
            inputs[name] = given.get(name, "secret" if name == "token" else str(declared.get("default", "")))
        assert set(given) <= set(inputs)
        temporary = Path(tempfile.mkdtemp(dir=repository.folder))
        files = {name: temporary / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        self.summary, self.temporary = files["GITHUB_STEP_SUMMARY"], temporary
        values = {"github.event_name": event, "github.repository": "me/firmware", "github.event.pull_request.number": "7", **{f"inputs.{key}": value for key, value in inputs.items()}}

        def text_of(expression: str) -> str:
            if (output := re.fullmatch(r"steps\.check\.outputs\.(\w+)", expression)) is not None:
                return dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())[output.group(1)]
            return values[expression]

        said = ""
        for step in self.steps:
            if "uses" in step:
                assert step["uses"].startswith("actions/upload-artifact@")
                continue
            if "if" in step:
                parts = [re.fullmatch(r"([\w.]+) == '(.*)'", part).groups() for part in step["if"].split(" && ")]
                if not all(text_of(name) == value for name, value in parts):
                    continue
            assert step["shell"] == "bash" and "${{" not in step["run"], "what others write is not pasted into a script"
            environment = {name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: text_of(found.group(1)), str(value)) for name, value in step.get("env", {}).items()}
            added = files["GITHUB_PATH"].read_text().splitlines()
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=repository.root, capture_output=True, text=True, timeout=600,
                                  env={"PATH": ":".join([*reversed(added), repository.path]), "RUNNER_TEMP": str(temporary), "COMMENTS": str(repository.comments),
                                       **{name: str(path) for name, path in files.items()}, **environment})
            said += done.stdout + done.stderr
            if done.returncode != 0:
                return done.returncode, said
        return 0, said


def check_action(repository: Repository) -> None:
    action = Action()
    given = {"models": "models/kws.tar", "pools": "pools.yaml", "baseline": "baseline.json"}
    code, said = action.run(repository, given)
    assert code == 0 and "::error" not in said, said
    assert "### Memory budgets of kws.tar: within budget" in action.summary.read_text()
    texts = repository.texts()
    [mine] = set(texts) - {"3"}
    assert texts["3"] == "Looks good." and texts[mine].startswith("<!-- usmp-plan -->\nMemory: within budget.\n"), texts
    assert (action.temporary / "usmp-plan-map.html").read_text().startswith("<!DOCTYPE html>")

    # Beyond the budget: an error, and the comment that is there already says so.
    repository.set_budget("1KiB")
    code, said = action.run(repository, given)
    assert code == 1 and "::error file=pools.yaml,line=2,col=" in said, said
    texts = repository.texts()
    assert set(texts) == {"3", mine} and "Memory: `usmp-plan check` ended with 1." in texts[mine], texts
    # What has grown stands in it.
    repository.set_budget("96KiB")
    code, said = action.run(repository, {**given, "planning": "--transform none"})
    assert code == 1 and "max_growth" in said and "4160" in repository.texts()[mine] and "64000" in repository.texts()[mine], said
    repository.set_budget("24KiB")

    # Two models: each is compared with its own plan, and both are on the map.
    both = {"models": "models/kws.tar models/image.tar", "pools": "pools.yaml", "baseline": "both.json"}
    code, said = action.run(repository, both)
    assert code == 0 and "::error" not in said, said
    text = repository.texts()[mine]
    assert all(text.count(f"### module {name}:") == 1 for name in ("kws", "image")) and "gone" not in text, text
    assert all(f">module {name} of {name}.tar<" in (action.temporary / "usmp-plan-map.html").read_text() for name in ("kws", "image"))

    # Without a pull request, without a wish for comments, without a baseline; a model that cannot be read.
    before = repository.texts()
    assert action.run(repository, given, event="push")[0] == 0
    assert action.run(repository, {**given, "comment": "false"})[0] == 0
    assert repository.texts() == before
    assert action.run(repository, {"models": "models/kws.tar models/kws.tar", "pools": "pools.yaml", "planning": "--name a=models/kws.tar"})[0] == 2
    (repository.root / "broken.tar").write_bytes(b"no archive")
    code, said = action.run(repository, {**given, "models": "broken.tar"})
    assert code == 3 and "::error" in said and "ended with 3" in repository.texts()[mine], (code, said)

    # From an archive of `make static`, by its path.
    packed = repository.folder / "usmp-plan.tar.xz"
    with tarfile.open(packed, "w:xz", preset=0) as archive:
        archive.add(PROGRAM, "usmp-plan-0-any/bin/usmp-plan")
    (repository.folder / "tools/usmp-plan").unlink()
    assert action.run(repository, given)[0] != 0
    code, said = action.run(repository, {**given, "archive": str(packed)})
    assert code == 0, said
    (repository.folder / "tools/usmp-plan").symlink_to(PROGRAM)


def check_gitlab(repository: Repository) -> None:
    job = yaml.safe_load((ROOT / ".ci/gitlab/usmp-plan.yml").read_text())[".usmp-plan"]
    variables = {**job["variables"], "USMP_MODELS": "models/kws.tar models/image.tar", "USMP_POOLS": "pools.yaml", "USMP_BASELINE": "both.json"}

    def run(lines: list[str]) -> int:
        return subprocess.run(["sh", "-e", "-c", "\n".join(lines)], cwd=repository.root, env={"PATH": repository.path, **variables}, timeout=600, capture_output=True).returncode

    junit = repository.root / job["artifacts"]["reports"]["junit"]
    for budget, code, failures in (("24KiB", 0, 0), ("1KiB", 1, 2)):
        repository.set_budget(budget)
        assert run(job["script"]) == code
        suites = xml.etree.ElementTree.parse(junit).getroot()
        assert suites.get("failures") == str(failures) and int(suites.get("tests")) > 2
    assert run(job["after_script"]) == 0
    for pattern in job["artifacts"]["paths"]:
        assert [path.stat().st_size > 100 for path in repository.root.glob(pattern)] == [True], pattern
    repository.set_budget("24KiB")


def check_hook(repository: Repository) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "system" and hook["pass_filenames"] is False
    arguments = ["models/kws.tar", "--pools", "pools.yaml"]
    for budget, code in (("24KiB", 0), ("1KiB", 1)):
        repository.set_budget(budget)
        done = subprocess.run([*hook["entry"].split(), *arguments], cwd=repository.root, env={"PATH": repository.path}, capture_output=True, timeout=600)
        assert done.returncode == code, done
    for name, is_watched in (("models/kws.tar", True), ("a/b.tflite", True), ("pools.yaml", True), ("main.c", False)):
        assert bool(re.search(hook["files"], name)) == is_watched, name
    repository.set_budget("24KiB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder))
        check_action(repository)
        check_gitlab(repository)
        check_hook(repository)
    print("ok")


if __name__ == "__main__":
    main()
