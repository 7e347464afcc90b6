# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The steps of .ci/Dockerfile without Docker: each stage in a fresh Debian of its own (mmdebstrap), entered with chroot.

usage: check_dockerfile.py ROOT, as root. Knows the instructions that the file has: FROM, RUN, COPY, CMD. What the image
holds at the end plans a model of testdata as it does here.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
INSIDE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
RELEASES = {"debian:12-slim": "bookworm"}


def run(*command: object, **keywords: object) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600,
                          check=False, **keywords)
    assert done.returncode == 0, (command, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def inside(root: Path, *command: str) -> str:
    # Mounts are gone when it ends, however it does.
    script = 'mount -t proc proc "$1/proc"; root=$1; shift; exec chroot "$root" "$@"'
    return run("unshare", "--mount", "--propagation", "private", "sh", "-euc", script, "sh", root, *command, env=INSIDE)


def start(image: str, root: Path) -> None:
    run("mmdebstrap", "--variant=minbase", RELEASES[image], root)
    for name in ("resolv.conf", "apt/apt.conf.d", "apt/trusted.gpg.d"):  # how this machine reaches the packages, as Docker would
        source, target = Path("/etc", name), root / "etc" / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            target.unlink(missing_ok=True)
            shutil.copy(source, target)


def copy_context(target: Path) -> None:
    """What `COPY .` brings: the files of the repository, as a checkout of CI has them."""
    for name in run("git", "-C", ROOT, "ls-files", "-z").split("\0")[:-1]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name, follow_symlinks=False)


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in (ROOT / ".ci/Dockerfile").read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def main() -> None:
    assert os.geteuid() == 0 and shutil.which("mmdebstrap"), "needs root and mmdebstrap"
    with tempfile.TemporaryDirectory() as folder:
        stages: dict[str, Path] = {}
        root, command = Path(), []
        for instruction, rest in instructions():
            print(instruction, rest, flush=True)
            words = shlex.split(rest)
            if instruction == "FROM":
                root = Path(folder, f"stage{len(stages)}")
                stages[words[2] if words[1:2] == ["AS"] else str(len(stages))] = root
                start(words[0], root)
            elif instruction == "RUN":
                inside(root, "sh", "-c", rest)
            elif instruction == "COPY" and words[0].startswith("--from="):
                shutil.copytree(stages[words[0].removeprefix("--from=")] / words[1].lstrip("/"), root / words[2].lstrip("/"), dirs_exist_ok=True,
                                symlinks=True)
            elif instruction == "COPY" and words[0] == ".":
                copy_context(root / words[1].lstrip("/"))
            else:
                assert instruction == "CMD", instruction
                command = [word.strip(' ",[]') for word in rest.split(",")]
        assert "usmp-plan" in inside(root, *command)
        shutil.copy(ROOT / "testdata/cast_subtract.tar", root / "tmp/model.tar")
        shown = inside(root, "usmp-plan", "/tmp/model.tar", "--dry-run")
        assert "module default of model.tar" in shown, shown
        assert (root / "usr/local/share/doc/usmp-plan/THIRD-PARTY.md").is_file(), "the licences are not in the image"
    print("the image's steps: ok")


main()
