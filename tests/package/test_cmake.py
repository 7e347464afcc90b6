# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The installed function usmp_plan: what it builds, what it plans again and when, what it refuses; and its Zephyr module.

usage: test_cmake.py BUILD ROOT. Zephyr itself is not needed: zephyr_stub has the few functions of it that modules call.
"""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import yaml

from installed import install, run

BUILD, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
EXAMPLE, STUB = ROOT / "docs/examples/planned_model", ROOT / "tests/package/zephyr_stub"
MODELS = ROOT / "testdata"
GENERATORS = [name for name, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")) if shutil.which(tool)]


def fails(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    assert done.returncode != 0, (command, done.stdout)
    return done.stdout + done.stderr


def capacity(plan: Path) -> int:
    return json.loads(plan.read_text())["pools"][0]["capacity"]


def check_example(prefix: Path, folder: Path, generator: str) -> None:
    """Planned again when a model, the pools file or the program changes, compiled when the C does, and else not."""
    source, build = folder / "source", folder / "build"
    shutil.copytree(EXAMPLE, source)
    model = source / "model.tar"
    shutil.copy(MODELS / "repeated_op.tar", model)
    run("cmake", "-G", generator, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    plan, objects = build / "usmp_plan/app/default.plan.json", "**/default_lib1.c.o"

    def times() -> tuple[int, int]:
        run("cmake", "--build", build)
        lines = run(build / "app")
        assert re.fullmatch(r"status 0, \d+ bytes of sram\n", lines), lines
        (compiled,) = build.glob(objects)
        return plan.stat().st_mtime_ns, compiled.stat().st_mtime_ns

    def changed(path: Path, text: str | bytes) -> tuple[bool, bool]:
        """Whether it is planned and compiled again if the file has this text."""
        before = times()
        if isinstance(text, str):
            path.write_text(text)
        else:
            path.write_bytes(text)
        after = times()
        return before[0] != after[0], before[1] != after[1]

    pools, main, lists = source / "pools.yaml", source / "main.c", source / "CMakeLists.txt"
    assert times() == times()
    assert changed(main, main.read_text() + "\n") == (False, False)
    assert changed(lists, lists.read_text() + "\n") == (False, False)
    assert changed(pools, pools.read_text()) == (False, False)  # the time alone is no change
    assert capacity(plan) == 65536
    assert changed(pools, pools.read_text().replace("64KiB", "32KiB")) == (True, True)
    assert capacity(plan) == 32768
    program = prefix / "bin/usmp-plan"
    assert changed(program, program.read_bytes() + b"\0") == (True, True)
    assert changed(lists, lists.read_text().replace("pools.yaml)", "pools.yaml OPTIONS --algorithm greedy_by_size)")) == (True, True)
    assert json.loads(plan.read_text())["algorithm"] == "greedy_by_size"

    # What cannot be planned fails the build, with the message as it is, until it can be.
    fitting = pools.read_text()
    pools.write_text(fitting.replace("32KiB", "1KiB"))
    text = fails("cmake", "--build", build)
    assert "  usmp-plan: error: module 'default': no plan fits the pools\n" in text, text
    assert re.search(r"\n      sram: .* needed, .*1024 available, ", text), text
    pools.write_text(fitting)
    assert times() == times()

    # Another model: other files. Those of the old one go.
    assert (build / "usmp_plan/app/codegen/host/src/default_lib0.c").exists()
    model.write_bytes((MODELS / "lstm.tar").read_bytes())
    assert "error" in fails("cmake", "--build", build)  # main.c is for the first one
    lists.write_text(lists.read_text().replace("OPTIONS ", "OPTIONS --name other=model.tar "))
    fails("cmake", "--build", build)
    assert not (build / "usmp_plan/app/codegen/host/src/default_lib0.c").exists()
    assert (build / "usmp_plan/app/codegen/host/src/other_lib0.c").exists()


SEVERAL = """cmake_minimum_required(VERSION 3.20)
project(several LANGUAGES C)
find_package({package} REQUIRED)
add_subdirectory(below)
add_library(models STATIC)
usmp_plan(TARGET models MODEL lstm.tar MODEL model POOLS pools.yaml OPTIONS --name rnn=lstm.tar --memory=board.ld --linker-script OUTPUT planned)
add_executable(both both.c)
target_link_libraries(both PRIVATE models m)
"""
BOTH = """#include "tvmgen_cast.h"
#include "tvmgen_rnn.h"
static void (*volatile linked[])(void) = {(void (*)(void))tvmgen_cast_run, (void (*)(void))tvmgen_rnn_run};
int main(void) { return TVMGEN_RNN_SRAM_WORKSPACE_POOL_SIZE == 0 || !linked[0] || !linked[1]; }
"""
BELOW = """add_library(below STATIC)
usmp_plan(TARGET below MODEL ../keywords.tflite)
"""


def write_several(source: Path, package: str) -> None:
    """Two calls, one of a TensorFlow Lite model; two models, of which one is an extracted archive; headers through a library."""
    (source / "below").mkdir(parents=True)
    (source / "below/CMakeLists.txt").write_text(BELOW)
    (source / "CMakeLists.txt").write_text(SEVERAL.format(package=package))
    (source / "both.c").write_text(BOTH)
    (source / "pools.yaml").write_text("workspace_pools:\n  - name: sram\n")
    (source / "board.ld").write_text("MEMORY { SRAM (rw) : ORIGIN = 0, LENGTH = 64K }\n")
    shutil.copy(MODELS / "lstm.tar", source)
    shutil.copy(MODELS / "tflite/keywords.tflite", source)
    (source / "model").mkdir()
    shutil.unpack_archive(MODELS / "cast_subtract.tar", source / "model")


def check_several(prefix: Path, folder: Path) -> None:
    source, build = folder / "source", folder / "build"
    write_several(source, "usmp")  # the library's package has the function, too
    (source / "CMakeLists.txt").write_text((source / "CMakeLists.txt").read_text().replace("rnn=lstm.tar", "rnn=lstm.tar --name cast=model"))
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    run(build / "both")
    plans = [build / "planned/rnn.plan.json", build / "planned/cast.plan.json", build / "below/usmp_plan/below/keywords.plan.json"]
    before = [plan.stat().st_mtime_ns for plan in plans]
    assert capacity(plans[0]) == 65536
    assert (build / "planned/codegen/host/usmp_memory.ld").exists()
    link = (build / "CMakeFiles/both.dir/link.txt").read_text()
    assert f"-L{build}/planned/codegen/host" in link, link
    for changed in (source / "board.ld", source / "model/metadata.json"):  # an option's file, one of a directory
        changed.write_text(changed.read_text().replace("64K", "32K") + "\n")
        run("cmake", "--build", build)
        after = [plan.stat().st_mtime_ns for plan in plans]
        assert after[0] != before[0] and after[1] != before[1] and after[2] == before[2], changed
        before = after
    assert capacity(plans[0]) == 32768


def check_cross(prefix: Path, folder: Path) -> None:
    """For a processor of other width, where only the target's tree is searched for packages."""
    if shutil.which("arm-none-eabi-gcc") is None:
        print("arm-none-eabi-gcc is not installed: left out")
        return
    source, build = folder / "source", folder / "build"
    write_several(source, "usmp-plan 0.1")
    text = (source / "CMakeLists.txt").read_text()
    (source / "CMakeLists.txt").write_text(text[:text.index("add_executable")])
    run("cmake", "-S", source, "-B", build, "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_SYSTEM_PROCESSOR=arm",
        "-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", "-DCMAKE_C_FLAGS=-mcpu=cortex-m7 -mthumb",
        f"-DCMAKE_FIND_ROOT_PATH={folder}", "-DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY", f"-Dusmp-plan_DIR={prefix}/share/usmp-plan")
    run("cmake", "--build", build)
    compiled = list(build.glob("**/*.obj")) + list(build.glob("**/*_lib1.c.o"))
    assert len(compiled) >= 3, compiled
    machine_arm = 40
    assert all(int.from_bytes(path.read_bytes()[18:20], "little") == machine_arm for path in compiled)


BINARY = """workspace_pools: [{name: sram}]
parameter_pools: [{name: flash, emit: binary}]
"""
USES_BINARY = """#include <stdio.h>
#include "tvmgen_default.constants.h"
int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof tvmgen_default_flash_pool; ++i) sum += tvmgen_default_flash_pool[i];
  return printf("%u\\n", sum) < 0;
}
"""


def check_binary_constants(prefix: Path, folder: Path, generator: str) -> None:
    """The assembler finds the binary file, and assembles again when only that has changed."""
    source, build = folder / "source", folder / "build"
    (source / "below").mkdir(parents=True)
    (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES C ASM)\nfind_package(usmp-plan REQUIRED)\n"
                                           "add_executable(app main.c)\nadd_subdirectory(below)\n")
    (source / "below/CMakeLists.txt").write_text("usmp_plan(TARGET app MODEL ../lstm.tar POOLS ../pools.yaml)\ntarget_link_libraries(app PRIVATE m)\n")
    (source / "main.c").write_text(USES_BINARY)
    (source / "pools.yaml").write_text(BINARY)
    shutil.copy(MODELS / "lstm.tar", source)
    run("cmake", "-G", generator, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    (binary,) = build.glob("**/default_flash.bin")
    assert int(run(build / "app")) == sum(binary.read_bytes()) > 0
    changed = bytes([binary.read_bytes()[0] ^ 1]) + binary.read_bytes()[1:]
    binary.write_bytes(changed)
    run("cmake", "--build", build)
    assert int(run(build / "app")) == sum(changed)


def check_refusals(prefix: Path, folder: Path) -> None:
    head = "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES {0})\nfind_package(usmp-plan REQUIRED)\nadd_library(a STATIC {1})\n"
    (folder / "e.c").write_text("int e;\n")
    (folder / "binary.yaml").write_text(BINARY)
    (folder / "e.cpp").write_text("int e;\n")
    shutil.copy(MODELS / "lstm.tar", folder)
    c = head.format("C", "e.c")
    for text, message in (
            (c + "usmp_plan(MODEL lstm.tar)", "expected TARGET and MODEL"),
            (c + "usmp_plan(TARGET a)", "expected TARGET and MODEL"),
            (c + "usmp_plan(TARGET b MODEL lstm.tar)", "TARGET b is no target: expected add_executable or add_library above"),
            (c + "usmp_plan(a lstm.tar)", "unexpected 'a lstm.tar', without a value ''"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar POOLS)", "unexpected '', without a value 'POOLS'"),
            (c + "usmp_plan(TARGET a MODEL no.tar)", "/no.tar does not exist"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar POOLS no.yaml)", "/no.yaml does not exist"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar OPTIONS -o x)", "OPTIONS has -o: expected OUTPUT and POOLS"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar OPTIONS --pools=x)", "OPTIONS has --pools=x"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar)\nusmp_plan(TARGET a MODEL lstm.tar)", "two calls write into "),
            (c + "usmp_plan(TARGET a MODEL lstm.tar OUTPUT ${CMAKE_CURRENT_SOURCE_DIR})", " holds other files: expected OUTPUT to be"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar OPTIONS --algorthm x)",
             "usmp-plan: error: unknown option '--algorthm' (did you mean '--algorithm'?); see usmp-plan --help\n    exit code 2"),
            (c.replace("find_package(usmp-plan REQUIRED)", f"include({prefix}/share/usmp-plan/usmp_plan.cmake)\nset(USMP_PLAN_EXECUTABLE /no)") +
             "usmp_plan(TARGET a MODEL lstm.tar)", "usmp-plan was not found"),
            (c + "usmp_plan(TARGET a MODEL lstm.tar POOLS binary.yaml)",
             "the project does not compile assembler, which a needs: expected project(... LANGUAGES C ASM)"),
            (head.format("CXX", "e.cpp") + "usmp_plan(TARGET a MODEL lstm.tar)", "the project does not compile C")):
        (folder / "CMakeLists.txt").write_text(text)
        shutil.rmtree(folder / "build", ignore_errors=True)
        said = fails("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        assert message in said, (text, said)


def check_warnings(prefix: Path, folder: Path) -> None:
    (folder / "pools.yaml").write_text("workspace_pools:\n  - {name: sram, section: .sram}\n")
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES C)\nfind_package(usmp-plan REQUIRED)\n"
                                           "add_library(a STATIC)\nusmp_plan(TARGET a MODEL lstm.tar POOLS pools.yaml)\n")
    shutil.copy(MODELS / "lstm.tar", folder)
    done = subprocess.run(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0 and "CMake Warning at " in done.stderr, done
    assert "  usmp-plan: warning: module 'default': pool 'sram': section .sram takes space in the image for zeros unless" in done.stderr, done


# The project as others have it inside of theirs, but its program is the one of this build.
INSIDE = """cmake_minimum_required(VERSION 3.25)
if(NOT CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT USMP_LIBRARY)
  include(cmake/subproject.cmake)
  return()
endif()
project(usmp-plan LANGUAGES NONE)
file(WRITE ${{CMAKE_BINARY_DIR}}/seen "${{USMP_TESTS}} $ENV{{CC}} $ENV{{CFLAGS}} ${{CMAKE_TOOLCHAIN_FILE}}")
add_custom_target(usmp-plan COMMAND ${{CMAKE_COMMAND}} -E copy {program} ${{CMAKE_BINARY_DIR}}/usmp-plan)
"""
FETCHES = """cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES C)
include(FetchContent)
FetchContent_Declare(usmp-plan SOURCE_DIR {source})
FetchContent_MakeAvailable(usmp-plan)
add_executable(app main.c)
usmp_plan(TARGET app MODEL model.tar POOLS pools.yaml)
target_link_libraries(app PRIVATE m)
"""


def check_inside(folder: Path) -> None:
    """As a part of another project: by FetchContent, its program built for this machine, not for the board."""
    head = (ROOT / "CMakeLists.txt").read_text().split("project(usmp-plan")[0]
    assert INSIDE.split("project(usmp-plan")[0] in head + "\n", head
    inside, source = folder / "inside", folder / "source"
    shutil.copytree(ROOT / "cmake", inside / "cmake")
    (inside / "CMakeLists.txt").write_text(INSIDE.format(program=BUILD / "usmp-plan"))
    shutil.copytree(EXAMPLE, source)
    shutil.copy(MODELS / "repeated_op.tar", source / "model.tar")
    (source / "CMakeLists.txt").write_text(FETCHES.format(source=inside))
    (folder / "board.cmake").write_text("set(CMAKE_C_FLAGS_INIT -DBOARD)\n")
    build = folder / "build"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={folder}/board.cmake", CC="gcc", CFLAGS="-O1")
    run("cmake", "--build", build)
    assert run(build / "app").startswith("status 0, ")
    (seen,) = build.glob("_deps/**/seen")
    assert seen.read_text().split() == ["OFF"], seen.read_text()
    # One that is there already is taken.
    build = folder / "again"
    run("cmake", "-S", source, "-B", build, f"-DUSMP_PLAN_EXECUTABLE={BUILD / 'usmp-plan'}")
    assert not list(build.glob("_deps/**/seen"))
    run("cmake", "--build", build)


def check_esp_idf(prefix: Path, folder: Path) -> None:
    """examples/esp_idf, with a stand-in for ESP-IDF, which reads components twice."""
    source, build = folder / "source", folder / "build"
    shutil.copytree(ROOT / "examples/esp_idf", source)
    shutil.copy(MODELS / "tflite/keywords.tflite", source)
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", IDF_PATH=str(ROOT / "tests/package/esp_idf_stub"))
    run("cmake", "--build", build)
    assert re.fullmatch(r"status 0, first score -?\d+, \d+ bytes of workspace\n", run(build / "image"))


def check_platformio(prefix: Path, folder: Path) -> None:
    """examples/platformio, its script with a stand-in for PlatformIO's environment."""
    source = folder / "source"
    shutil.copytree(ROOT / "examples/platformio", source)
    shutil.copy(MODELS / "tflite/keywords.tflite", source)
    options = configparser.ConfigParser()
    options.read(source / "platformio.ini")
    board = options["env:board"]
    assert board["extra_scripts"] == "pre:usmp_plan.py"
    paths, built, ended = [], [], []
    environment = types.SimpleNamespace(
        subst=lambda text: text.replace("$PROJECT_DIR", str(source)).replace("$BUILD_DIR", str(folder / "build")),
        GetProjectOption=lambda name, default=None: board.get(name, default) if default is not None else board[name],
        Append=lambda CPPPATH: paths.extend(CPPPATH), BuildSources=lambda objects, sources: built.append(sources), Exit=ended.append)
    script = (source / "usmp_plan.py").read_text()
    path = os.environ["PATH"]
    try:
        os.environ["PATH"] = f"{prefix}/bin:{path}"
        exec(compile(script, "usmp_plan.py", "exec"), {"Import": lambda name: None, "env": environment})
        assert not ended and len(paths) == len(built) == 1
        run("gcc", "-I", paths[0], *sorted(Path(built[0]).glob("*.c")), source / "src/main.c", "-lm", "-o", folder / "app")
        run(folder / "app")
        (source / "pools.yaml").write_text("workspace_pools: [{name: sram, size_hint_bytes: 16}]\n")
        exec(compile(script, "usmp_plan.py", "exec"), {"Import": lambda name: None, "env": environment})
        assert ended == [1]
    finally:
        os.environ["PATH"] = path


def check_zephyr(prefix: Path, folder: Path) -> None:
    """The module as Zephyr finds it: by the keys of module.yml; configured by Kconfig, and by the function."""
    root = prefix / "share/usmp-plan"
    module = yaml.safe_load((root / "zephyr/module.yml").read_text())
    assert module["name"] == "usmp-plan" and set(module["build"]) == {"cmake", "kconfig"}, module
    assert (root / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    symbols = re.findall(r"^config (\w+)\n\t(bool|string) \"", (root / module["build"]["kconfig"]).read_text(), re.MULTILINE)
    assert dict(symbols)["USMP_PLAN"] == "bool", symbols
    used = set(re.findall(r"CONFIG_(\w+)", (root / "zephyr/CMakeLists.txt").read_text()))
    assert used == set(dict(symbols)), (used, symbols)
    source = folder / "source"
    shutil.copytree(STUB, source)
    (source / "models").mkdir()
    shutil.copy(MODELS / "repeated_op.tar", source / "models/model.tar")
    for name in ("main.c", "pools.yaml"):
        shutil.copy(EXAMPLE / name, source)
    for name, configuration in (
            ("function", []),
            ("kconfig", ["-DCONFIG_USMP_PLAN=y", "-DCONFIG_USMP_PLAN_MODEL=models/model.tar", "-DCONFIG_USMP_PLAN_POOLS=pools.yaml",
                         "-DCONFIG_USMP_PLAN_OPTIONS=--algorithm greedy_by_size"])):
        build = folder / name
        run("cmake", "-S", source, "-B", build, f"-DZEPHYR_EXTRA_MODULES={root}", *configuration)
        run("cmake", "--build", build)
        assert run(build / "image").startswith("status 0, "), name
        (plan,) = build.glob("**/default.plan.json")
        assert json.loads(plan.read_text())["algorithm"] == ("greedy_by_size" if configuration else "optimal")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = install(BUILD, folder / "stage")
        for index, generator in enumerate(GENERATORS):
            check_example(prefix, folder / f"example{index}", generator)
            check_binary_constants(prefix, folder / f"binary{index}", generator)
        check_several(prefix, folder / "several")
        check_cross(prefix, folder / "cross")
        (folder / "refusals").mkdir()
        check_refusals(prefix, folder / "refusals")
        (folder / "warnings").mkdir()
        check_warnings(prefix, folder / "warnings")
        check_zephyr(prefix, folder / "zephyr")
        check_inside(folder / "inside")
        check_esp_idf(prefix, folder / "esp_idf")
        check_platformio(prefix, folder / "platformio")
    print(f"usmp_plan: ok with {', '.join(GENERATORS)}")


main()
