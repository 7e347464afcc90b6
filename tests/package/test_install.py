# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""`make install` into an empty directory: what is there, that it runs from there, and that a program finds the library.

usage: test_install.py BUILD ROOT COMPILER
"""

import re
import sys
import tempfile
from pathlib import Path

from installed import install, run

BUILD, ROOT, COMPILER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
PUBLIC = ("bounds", "instance", "planners", "problem", "support", "verify")


def check_files(prefix: Path) -> None:
    def files(pattern: str) -> list[str]:
        return sorted(str(path.relative_to(prefix)) for path in prefix.glob(pattern) if path.is_file())

    assert files("bin/*") == ["bin/usmp-plan"]
    for one in ("share/man/man1/usmp-plan.1.gz", "share/bash-completion/completions/usmp-plan",
                "share/zsh/site-functions/_usmp-plan", "share/fish/vendor_completions.d/usmp-plan.fish",
                "share/usmp-plan/export_tir.py", "share/usmp-plan/usmp_plan.cmake",
                "share/usmp-plan/usmp-plan-config.cmake", "share/usmp-plan/zephyr/module.yml", "share/doc/usmp-plan/README.md", "share/doc/usmp-plan/LICENSE",
                "share/doc/usmp-plan/NOTICE", "share/doc/usmp-plan/THIRD-PARTY.md", "share/doc/usmp-plan/docs/cli.md"):
        assert files(one) == [one], one
    # A text for each library that the document names; those who do not build with Debian's packages have none there.
    packages = re.findall(r"\| (\S+-dev) \|", (ROOT / "THIRD-PARTY.md").read_text(encoding="utf-8"))
    assert len(packages) == 8, packages
    for package in packages:
        source = Path(f"/usr/share/doc/{package}/copyright")
        if source.exists():
            assert (prefix / "share/doc/usmp-plan/licences" / package).read_bytes() == source.read_bytes(), package
    headers = files("include/**/*")
    sources = [path.relative_to(ROOT) for module in PUBLIC for path in (ROOT / f"include/usmp/{module}").glob("*.hpp")]
    assert headers == sorted(map(str, sources)), headers
    libraries = [Path(path).name for path in files("lib/**/*.a")]
    assert libraries == [f"libusmp_{module}.a" for module in PUBLIC], libraries
    for text in (*prefix.glob("lib/**/*.cmake"), *prefix.glob("share/**/*.cmake"), *prefix.glob("share/**/completions/*"), *prefix.glob("share/zsh/**/_*")):
        assert str(BUILD) not in text.read_text() and str(ROOT) not in text.read_text(), f"{text} names this machine"


def check_links(documentation: Path) -> None:
    """What installed documents link to is installed."""
    documents = sorted(documentation.rglob("*.md"))
    assert len(documents) > 15
    for document in documents:
        for target in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.relative_to(documentation)}: {target}"


def check_headers(prefix: Path, folder: Path) -> None:
    """Each can be included by itself, and nothing of the project but what is installed."""
    sources = []
    for header in sorted((prefix / "include").glob("**/*.hpp")):
        name = header.relative_to(prefix / "include")
        sources.append(folder / (str(name).replace("/", "_") + ".cpp"))
        sources[-1].write_text(f'#include "{name}"\n#include "{name}"\n')
    assert len(sources) > 15
    run(COMPILER, "-std=c++20", "-fsyntax-only", "-I", prefix / "include", *sources)


def check_example(prefix: Path, folder: Path) -> None:
    run("cmake", "-S", ROOT / "docs/examples/library", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={COMPILER}")
    run("cmake", "--build", folder)
    lines = run(folder / "plan_buffers").splitlines()
    # All four fit the first pool, and no plan of it is smaller: 600 and 400 bytes are live together.
    assert [line.split(" + ")[0] for line in lines[:4]] == [f"{name}: dtcm" for name in ("input", "conv", "pool", "dense")], lines
    assert lines[4:] == ["dtcm: 1000 bytes used", "sram: 0 bytes used", "status: optimal"], lines


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = install(BUILD, folder / "stage")
        check_files(prefix)
        plan = run(prefix / "bin/usmp-plan", ROOT / "testdata/cast_subtract.tar", "--dry-run")
        assert "module default of cast_subtract.tar" in plan, plan
        check_links(prefix / "share/doc/usmp-plan")
        check_headers(prefix, folder)
        check_example(prefix, folder / "example")
    print("installed tree: ok")


main()
