# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""What the tests of the installed tree share."""

import os
import subprocess
from pathlib import Path


def run(*command: object, **environment: str) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def install(build: Path, stage: Path) -> Path:
    """DESTDIR and a prefix, as packagers use them."""
    run("cmake", "--install", build, "--prefix", "/opt/usmp", DESTDIR=str(stage))
    return stage / "opt/usmp"
