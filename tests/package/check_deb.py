# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The Debian packages: what is in them, what they depend on, lintian, and that they run where nothing else is.

usage: check_deb.py FOLDER_WITH_PACKAGES ROOT. As root with mmdebstrap at hand, both are installed by apt into a minimal
Debian of their own; else the program runs from the unpacked package with this machine's libraries.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
# The packages are not made for Debian's archive: these ask for its bug tracker and a real person, and for shared libraries.
# export_tir.py runs in the Python of the user's TVM.
ACCEPTED = {"python3-script-but-no-python3-dep", "initial-upload-closes-no-bugs", "no-copyright-file", "copyright-without-copyright-notice",
            "bogus-mail-host-in-debian-changelog", "bogus-mail-host", "maintainer-address-malformed", "embedded-library"}


def run(*command: object, **keywords: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1800, **keywords)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def package(name: str) -> Path:
    (found,) = FOLDER.glob(f"{name}_*.deb")
    return found


def field(deb: Path, name: str) -> str:
    return run("dpkg-deb", "--field", deb, name).strip()


def check_contents() -> None:
    program, library = package("usmp-plan"), package("libusmp-dev")
    depends = re.findall(r"([a-z0-9.+-]+)(?: \([^)]*\))?", field(program, "Depends"))
    assert depends == ["libc6"], depends  # nothing of one release
    files = run("dpkg-deb", "--contents", program)
    for path in ("bin/usmp-plan", "share/man/man1/usmp-plan.1.gz", "share/bash-completion/completions/usmp-plan",
                 "share/zsh/vendor-completions/_usmp-plan", "share/fish/vendor_completions.d/usmp-plan.fish",
                 "share/doc/usmp-plan/README.md", "share/doc/usmp-plan/copyright"):
        assert f" ./usr/{path}\n" in files, path
    assert "/include/" not in files and ".a\n" not in files
    assert " ./usr/include/usmp/problem/problem.hpp\n" in run("dpkg-deb", "--contents", library)
    for line in (files + run("dpkg-deb", "--contents", library)).splitlines():
        assert line.split()[1] == "root/root", line


def check_lintian() -> None:
    if shutil.which("lintian") is None:
        print("lintian is not installed: left out")
        return
    done = subprocess.run(["lintian", "--allow-root", *sorted(FOLDER.glob("*.deb"))], capture_output=True, text=True, timeout=600)
    faults = [line for line in done.stdout.splitlines()
              if re.match(r"[EW]: ", line) and line.split()[2] not in ACCEPTED]
    assert not faults, "\n".join(faults)
    print("lintian: ok")


def check_unpacked() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run("dpkg-deb", "-x", package("usmp-plan"), folder)
        shown = run(Path(folder, "usr/bin/usmp-plan"), ROOT / "testdata/cast_subtract.tar", "--dry-run")
        assert "module default of cast_subtract.tar" in shown, shown
    print("unpacked: runs")


def check_clean_root() -> None:
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        print("not root, or no mmdebstrap: not installed into a root of its own")
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        # apt installs them with what they depend on, as it would from an archive. Mounts are gone when it ends, however it does.
        run("unshare", "--mount", "--propagation", "private", "mmdebstrap", "--variant=apt", "--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount",
            f"--include=man-db,{package('usmp-plan')},{package('libusmp-dev')}", "bookworm", root)
        shutil.copy(ROOT / "testdata/cast_subtract.tar", root / "tmp/model.tar")

        def inside(script: str) -> str:
            return run("chroot", root, "sh", "-euc", script, env={"PATH": "/usr/bin:/usr/sbin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"})

        shown = inside("cd /tmp; usmp-plan model.tar --quiet; usmp-plan report model_planned/default.plan.json; "
                       "dpkg --verify usmp-plan libusmp-dev")
        assert "module default of model.tar" in shown, shown
        assert "usmp-plan" in inside("man -w usmp-plan")
        inside("apt-get purge -y -qq usmp-plan libusmp-dev; test ! -e /usr/bin/usmp-plan; test ! -e /usr/include/usmp")
    print("installed by apt into a minimal Debian, run, removed: ok")


check_contents()
check_lintian()
check_unpacked()
check_clean_root()
