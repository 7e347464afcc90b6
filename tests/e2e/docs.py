# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""What README, docs and --help show is true: their commands run, their figures and their picture are those of the program.

usage: docs.py USMP_PLAN ROOT. Commands are the lines of ```sh blocks, in a folder with the files that they name; blocks
behind "<!-- not run: REASON -->" are listed instead. docs/ci.md has a test of its own, and what docs/testing.md shows
are campaigns of hours.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROGRAM, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
TESTDATA = ROOT / "testdata"
PICTURE = ROOT / "docs/resnet8.svg"
OTHERWISE = {"ci.md", "testing.md"}


def output(*arguments: object, folder: str | None = None) -> str:
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, (arguments, done)
    return done.stdout


def without_indentation(text: str) -> str:
    """Blocks below an item of a list, and the comments in front of them, begin at the margin afterwards."""
    lines, inside = [], False
    for line in text.splitlines(keepends=True):
        fence = line.startswith("   ```")
        inside ^= fence
        lines.append(line[3:] if fence or inside and line.startswith("   ") or line.startswith("   <!--") else line)
    return "".join(lines)


def files_of(document: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of the blocks behind "<!-- file: NAME -->"."""
    text = without_indentation(document.read_text(encoding="utf-8"))
    yield from re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.DOTALL)


def commands_of(document: Path) -> Iterator[str]:
    text = without_indentation(document.read_text(encoding="utf-8"))
    for marker, block in re.findall(r"((?:<!-- not run: [^\n]* -->\n)?)```sh\n(.*?)```", text, re.DOTALL):
        if marker:
            print(f"{document.name}: not run: {marker[14:-5]}: {block.splitlines()[0]} …")
            continue
        yield from (line for line in block.replace("\\\n", "").splitlines() if line and not line.startswith("#"))


def prepare(folder: Path) -> None:
    """All files that commands name, the program in the path, and what a clone has after `make demo`."""
    (folder / "build").mkdir()
    (folder / "build/usmp-plan").symlink_to(PROGRAM)
    for name in ("docs", "examples", "testdata"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(TESTDATA / "narrow.tar", folder / "model.tar")
    shutil.copy(TESTDATA / "repeated_op.tar", folder / "kws.tar")
    shutil.copy(TESTDATA / "cast_subtract.tar", folder / "vww.tar")
    shutil.copy(TESTDATA / "tflite/keywords.tflite", folder / "model.tflite")
    shutil.copy(TESTDATA / "pools/dtcm_sram.yaml", folder / "pools.yaml")
    shutil.copy(TESTDATA / "instances/five.csv", folder / "buffers.csv")
    shutil.copy(ROOT / "docs/examples/external_planner.py", folder / "my_planner")
    (folder / "my_planner").chmod(0o755)
    (folder / "board.ld").write_text("MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 1M\nRAM (rw) : ORIGIN = 0x20000000, LENGTH = 64K }\n")
    for name in ("old", "new", "model_planned"):
        arguments = ["--pools", folder / "pools.yaml", "-o", folder / name, "--quiet"]
        output(folder / "model.tar", *arguments, *(["--algorithm", "none"] if name == "old" else []))
        shutil.copy(folder / name / "default.plan.json", folder / name / "kws.plan.json")
    shutil.copy(folder / "new/kws.plan.json", folder / "kws.plan.json")


def run(command: str, folder: Path, source: str) -> None:
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=300,
                          cwd=folder, env=environment)
    # 1 says of a diff that there is one.
    different = done.returncode == 1 and re.match(r"(build/)?usmp-plan diff ", command) and done.stderr == ""
    assert done.returncode == 0 or different, f"{source}: {command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"


def test_documents() -> None:
    count = 0
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if document.name in OTHERWISE:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            commands = list(commands_of(document))
            if commands:
                prepare(folder)
            for file, text in files_of(document):
                (folder / file).write_text(text)
            for command in commands:
                run(command, folder, document.name)
                count += 1
        stray = re.findall(r"^ {4}(?:usmp-plan|make) [^\[\n]*$", document.read_text(encoding="utf-8"), re.MULTILINE)
        assert not [line for line in stray if not re.search(r"\b[A-Z]{3,}\b", line)], (document.name, stray)
    assert count >= 12, count
    print(f"documents: {count} commands run")


def test_sizes_needed() -> None:
    """What docs/cli.md shows of a model that does not fit."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("## When no plan fits")[2]
    shown = re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)[0].replace("\n    ", "\n").strip()
    with tempfile.TemporaryDirectory() as name:
        pools = Path(name) / "pools.yaml"
        pools.write_text("workspace_pools:\n  - {name: dtcm, size_hint_bytes: 2KiB}\n  - {name: sram, size_hint_bytes: 1KiB}\n"
                         "parameter_pools:\n  - {name: flash, size_hint_bytes: 1KiB}\n")
        done = subprocess.run([PROGRAM, ROOT / "testdata" / "ds_cnn.tar", "--pools", pools, "--dry-run"], capture_output=True, text=True,
                              check=False, timeout=300)
    assert done.returncode == 4 and done.stderr.strip() == shown, (done, shown)


def test_firmware() -> None:
    """README's main with README's pools, planned, compiled and run as README says; for a board, too, if its compiler is here."""
    readme = ROOT / "README.md"
    files = dict(files_of(readme))
    assert len(files["main.c"].splitlines()) <= 15, files["main.c"]
    (plan,) = (line for line in commands_of(readme) if "-o build/firmware" in line)
    (link,) = (line for line in commands_of(readme) if line.startswith("gcc "))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for file, text in files.items():
            (folder / file).write_text(text)
        run(plan, folder, "README.md")
        run(link.replace("gcc ", "gcc -Wall -Wextra -Werror -pedantic ", 1), folder, "README.md")
        run("build/model", folder, "README.md")
        large = files["pools.yaml"].replace(" 512\n", " 16KiB\n")
        assert large != files["pools.yaml"]
        (folder / "pools.yaml").write_text(large)  # nothing is left for sram
        run(plan, folder, "README.md")  # the same main.c
        assert "_SRAM_WORKSPACE_POOL_SIZE 0\n" in (folder / "build/firmware/codegen/host/include/tvmgen_keywords.h").read_text()
        run(link.replace("gcc ", "gcc -Wall -Wextra -Werror -pedantic ", 1), folder, "README.md")
        run("build/model", folder, "README.md")
        for file, text in [*files.items(), *files_of(ROOT / "docs/generated-c.md")]:
            (folder / file).write_text(text)
        both = [plan.replace("testdata/tflite/keywords.tflite", "testdata/resnet8.tar testdata/ds_cnn.tar"), link.replace("gcc ", "gcc -Wall -Wextra -Werror -pedantic ", 1)
                .replace("main.c", "two_models.c"), "build/model"]
        for command in both:
            run(command.replace("build/firmware", "build/both"), folder, "generated-c.md")
        run(plan, folder, "README.md")
        cross = "arm-none-eabi-gcc -mcpu=cortex-m7 -mthumb -specs=nosys.specs"
        if shutil.which("arm-none-eabi-gcc"):
            run(link.replace("gcc ", f"{cross} ", 1), folder, "README.md")
    print("README.md: firmware compiled, linked and run")


def test_board() -> None:
    """The commands of examples/firmware, the last of which runs the model on an emulated Cortex-M4; and the same words for a
    public model, where it is."""
    if not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")):
        print("examples/firmware: not run: needs arm-none-eabi-gcc and qemu-system-arm")
        return
    document = ROOT / "examples/firmware/README.md"
    words = {"keywords": "kws", "KEYWORDS": "KWS", "mfcc": "input_1", "MFCC": "INPUT_1", "scores": "Identity", "SCORES": "IDENTITY",
             "text[6] = (char)('0' + best)": "text[6] = (char)('a' + best)", "testdata/tflite/": f"{ROOT}/../shared/tflite/real/"}
    for others in ({}, words):
        if others and not (ROOT / "../shared/tflite").exists():
            continue

        def meant(text: str) -> str:
            for old, new in others.items():
                text = text.replace(old, new)
            return text

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepare(folder)
            for file, text in files_of(document):
                (folder / file).write_text(meant(text))
            *commands, emulate = commands_of(document)
            for command in commands:
                run(meant(command), folder, document.name)
            done = subprocess.run(["bash", "-eu", "-c", emulate], capture_output=True, text=True, timeout=300, cwd=folder)
            assert done.returncode == 0 and re.search(r"class [0-9a-l]: [01]\.\d\n", done.stdout + done.stderr), (emulate, done)
        print(f"examples/firmware: {others.get('keywords', 'keywords')} ran on an emulated Cortex-M4: {(done.stdout + done.stderr).strip()}")


def test_examples_of_help() -> None:
    commands = ["", *re.findall(r"^  (\w+) ", output("--help").split("\nCommands", 1)[1].split("\n\n", 1)[0], re.MULTILINE)]
    count = 0
    for command in commands:
        examples = output(*([command] if command else []), "--help").split("\nExamples:\n", 1)[1].split("\n\n")[0]
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name))
            if command == "init":
                Path(name, "pools.yaml").unlink()  # that it would not replace
            for line in re.findall(r"^  (usmp-plan .*?)(?: {4}.*)?$", examples, re.MULTILINE):
                run(line, Path(name), f"usmp-plan {command} --help")
                count += 1
    assert count >= len(commands), count
    print(f"--help: {count} examples run")


def rows(document: Path, header: str) -> list[list[str]]:
    """The cells of the table that begins with this header, as they stand there."""
    lines = document.read_text(encoding="utf-8").splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith(header))
    table = []
    for line in [lines[at], *lines[at + 2:]]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def workspace_bytes(archive: Path, *arguments: str) -> int:
    (plan,) = json.loads(output(archive, "--dry-run", "--json", *arguments))["modules"]
    assert all(pool["status"] == "optimal" for pool in plan["pools"]), (archive, plan["pools"])
    return sum(pool["used"] for pool in plan["pools"] if pool["kind"] == "workspace")


def test_figures() -> None:
    header, *table = rows(ROOT / "README.md", "| archive | unplanned |")
    assert header[1:] == ["unplanned", "TVM's planner, best of three", "as TVM wrote it", "transformed"], header
    assert len(table) >= 4
    measured = {row[0]: row for row in rows(ROOT / "docs/performance.md", "| archive | unplanned | TVM greedy_by_size |")}
    for name, unplanned, tvm, as_written, transformed in table:
        archive = TESTDATA / f"{name}.tar"
        assert int(as_written) == workspace_bytes(archive, "--transform", "none"), (name, as_written)
        assert int(transformed) == workspace_bytes(archive), (name, transformed, workspace_bytes(archive))
        assert unplanned == measured[name][1], (name, unplanned)
        assert int(tvm) == min(map(int, measured[name][2:5])), (name, tvm)
        for recorded in sorted((ROOT.parent / "shared/archives").glob(f"own/{name}.tvm.json")):
            plans = json.loads(recorded.read_text(encoding="utf-8"))["plans"].values()
            assert int(tvm) == min(plan["pool_sizes"]["global_workspace"] for plan in plans), (name, tvm)


def test_picture() -> None:
    assert output("report", TESTDATA / "resnet8.tar", "--format", "svg") == PICTURE.read_text(encoding="utf-8"), \
        "docs/resnet8.svg is not current: make picture"
    assert PICTURE.stat().st_size < 20_000
    assert f"({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_frontier() -> None:
    """The table's smaller network is planned again; the picture has the points of the larger one."""
    header, *table = rows(ROOT / "docs/performance.md", "| side | allowed | work |")
    assert header[:5] == ["side", "allowed", "work", "multiply-accumulates", "workspace"], header
    measured = {(row[0], row[1]): row[2:5] for row in table}
    small = sorted(int(allowed) for side, allowed in measured if side == "80")
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder) / "network.json"
        subprocess.run([sys.executable, "-B", ROOT / "bench/mobilenet_v2.py", network, "--side", "80"], check=True)
        frontier = json.loads(output("compare", network, "--recompute", ",".join(map(str, small)), "--json"))
    for point in frontier["modules"][0]["points"]:
        work = f"{1 + point['extra_work_permille'] / 1000:.3f}"
        found = [work, str(point["multiply_accumulates"]), str(point["workspace_used"])]
        assert found == measured["80", str(point["allowed_percent"])], (point, measured)
    picture = ROOT / "docs/frontier.svg"
    points = re.findall(r"<title>(\d+)% allowed: (\d+) bytes, work (\d+\.\d\d)<", picture.read_text(encoding="utf-8"))
    assert len(points) >= 5
    for allowed, workspace, work in points:
        row = measured["144", allowed]
        assert (row[2], row[0][:4]) == (workspace, work), (allowed, row)
    assert picture.stat().st_size < 20_000


def test_links() -> None:
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}, which is not there"


for test in (test_links, test_figures, test_sizes_needed, test_picture, test_frontier, test_firmware, test_board, test_documents, test_examples_of_help):
    test()
