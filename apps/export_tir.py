#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Puts the TIR that usmp-plan reads into a Model Library Format archive.

No release of TVM exports TIR by itself. This file runs inside your own TVM (0.9 to 0.18, Python 3.8 or later), takes the
module that TVM hands to its memory planner, and adds it to the archive as src/<module>.tir.json.

From the command line, compile with TVM's own driver and export in one step:

    export_tir.py build --target c model.tflite -o model.tar

or, from a compile script of your own, wrap what builds, and then add to what was exported:

    with tvm.transform.PassContext(opt_level=3, config={"tir.disable_vectorize": True, "tir.usmp.enable": False}):
        factory = tvm.relay.build(mod, target, executor=..., runtime=..., params=params)
        modules = capture_tir(lambda: tvm.relay.build(mod, target, executor=..., runtime=..., params=params))
    tvm.micro.export_model_library_format(factory, "model.tar")
    add_tir("model.tar", {"default": modules[0]})

"tir.disable_vectorize" is for TVM's C, which has no vectors, and for the memory: usmp-plan does not look into vectors, so a
float network needed 12000 bytes with them and 56 without. capture_tir sets it for its own build.

`export_tir.py add model.tar default=default.tir.json` adds a file that was saved before.

TVM only runs its planner with "tir.usmp.enable", which is on by default from 0.12 and which capture_tir sees to. C that
TVM planned has lost the tensors that the TIR still has, so the archive itself comes from a second build, without planning.
The first one is left where the planner would begin.
"""

# This project's tests have a stand-in for TVM. In TVM 0.12 `build` ran with TFLite, ONNX and Relay models, both
# interfaces, other alignments and names, CMSIS-NN and gzip; it then let TVM finish the first build.

import argparse
import contextlib
import gzip
import io
import json
import lzma
import os
import posixpath
import re
import shutil
import sys
import tarfile
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

PLANNER_PASS = "tir.transform.UnifiedStaticMemoryPlanner"
PLANNER_OPTION = "tir.usmp.enable"
# Passes that the TIR is better without: tensors stay apart, and loops are what TVM's C can say.
OFF_BY_DEFAULT = ("tir.disable_storage_rewrite", "tir.disable_vectorize")


class ExportError(Exception):
    """What the user can do something about; printed without a traceback."""


class _Captured(Exception):
    """Leaves a build whose modules are captured."""


def capture_tir(build: Callable[[], Any], keep_passes: bool = False, count: int = 1) -> List[str]:
    """Runs `build` until `count` modules have reached TVM's memory planner, and returns them as JSON, in order.

    The build is left there by an exception: its plan is not needed, and with "tir.usmp.use_workspace_io" TVM's planner has
    crashed. Every PassContext that `build` enters, one made before and the one around it get the planner switched on, and
    the passes of OFF_BY_DEFAULT off unless `keep_passes` or their own configuration says so. Raises ExportError if fewer
    modules were planned.
    """
    captured: List[str] = []
    with _watched_pass_contexts(captured, count, {} if keep_passes else {name: True for name in OFF_BY_DEFAULT}):
        try:
            build()
        except Exception:  # pylint: disable=broad-except  # TVM may make another one of ours
            if len(captured) < count:
                raise
    if not captured:
        raise ExportError("TVM's memory planner never ran: the executor has to be \"aot\", the runtime \"crt\", and the build done inside")
    if len(captured) != count:
        raise ExportError("TVM planned %d modules, expected %d" % (len(captured), count))
    return captured


@contextlib.contextmanager
def _unplanned(options: Dict[str, Any]) -> Iterator[None]:
    """Every PassContext entered inside has the planner off, and the options."""
    with _changed_pass_contexts(options, {PLANNER_OPTION: False}, []):
        yield


@contextlib.contextmanager
def _watched_pass_contexts(captured: List[str], count: int, options: Dict[str, Any]) -> Iterator[None]:
    """Every PassContext entered inside switches the planner on, saves what it is given, and leaves at the last of `count`."""
    import tvm

    @tvm.instrument.pass_instrument
    class SaveBeforePlanning:  # pylint: disable=too-few-public-methods
        """Saves each module as it stands before the planner."""

        def run_before_pass(self, mod: Any, info: Any) -> None:
            """Called by TVM before every pass."""
            if info.name == PLANNER_PASS:
                captured.append(tvm.ir.save_json(_with_sorted_allocates(_without_external_modules(mod))))
                if len(captured) >= count:
                    raise _Captured("captured %d modules" % count)

    with _changed_pass_contexts(options, {PLANNER_OPTION: True}, [SaveBeforePlanning()]):
        yield


@contextlib.contextmanager
def _changed_pass_contexts(defaults: Dict[str, Any], forced: Dict[str, Any], instruments: List[Any]) -> Iterator[None]:
    """Inside, each PassContext that is entered, made before or not, is entered as a changed copy; so is the current one.

    A PassContext replaces the one around it, and TVM's driver makes its own, with no way in for an instrument before
    0.10; so entering and leaving are wrapped.
    """
    import tvm

    pass_context = tvm.transform.PassContext
    enter, leave = pass_context.__enter__, pass_context.__exit__
    copies: List[Any] = []

    def changed(context: Any) -> Any:
        return pass_context(
            opt_level=context.opt_level,
            required_pass=list(context.required_pass or []),
            disabled_pass=list(context.disabled_pass or []),
            instruments=[*(context.instruments or []), *instruments],
            config={**defaults, **dict(context.config or {}), **forced},
        )

    def enter_changed(self: Any) -> Any:
        copies.append(changed(self))
        return enter(copies[-1])

    def leave_changed(_self: Any, *error: Any) -> Any:
        return leave(copies.pop(), *error)

    around = changed(pass_context.current())
    enter(around)
    pass_context.__enter__, pass_context.__exit__ = enter_changed, leave_changed
    try:
        yield
    finally:
        pass_context.__enter__, pass_context.__exit__ = enter, leave
        leave(around, None, None, None)


def _without_external_modules(mod: Any) -> Any:
    """The module without "external_mods": compiled code of external generators, which has no JSON form."""
    import tvm

    if mod.attrs is None or "external_mods" not in mod.attrs.keys():
        return mod
    if hasattr(mod, "without_attr"):
        return mod.without_attr("external_mods")
    copy = tvm.IRModule(dict(mod.functions.items()))
    for key in mod.attrs.keys():
        if key != "external_mods":
            copy = copy.with_attr(key, mod.attrs[key])
    return copy


def _with_sorted_allocates(mod: Any) -> Any:
    """The module with the entry's tensors, sid_N, allocated in order of their numbers: TVM's order changes from run to run."""
    import tvm

    def all_in_order(stmt: Any) -> Any:
        return tvm.tir.stmt_functor.ir_transform(stmt, in_order, None, ["tir.Allocate"])

    def in_order(outermost: Any) -> Any:
        allocates = []
        body = outermost
        while isinstance(body, tvm.tir.Allocate) and re.fullmatch(r"sid_\d+", body.buffer_var.name):
            allocates.append(body)
            body = body.body
        if not allocates:
            return None
        body = all_in_order(body)
        for one in sorted(allocates, key=lambda allocate: int(allocate.buffer_var.name[4:]), reverse=True):
            body = tvm.tir.Allocate(one.buffer_var, one.dtype, one.extents, one.condition, body, one.annotations)
        return body

    functions = dict(mod.functions.items())
    for name, function in functions.items():
        if isinstance(function, tvm.tir.PrimFunc):
            functions[name] = function.with_body(all_in_order(function.body))
    copy = tvm.IRModule(functions)
    for key in mod.attrs.keys() if mod.attrs is not None else ():
        copy = copy.with_attr(key, mod.attrs[key])
    return copy


def add_tir(mlf_path: str, modules: Dict[str, str]) -> None:
    """Adds src/<name>.tir.json to the archive for each name and JSON text, replacing members of that name.

    All other members keep every byte, headers included, and the archive its compression (none, gzip or xz). The file
    is replaced in one step at the end; if anything fails it stays as it was.
    """
    with open(mlf_path, "rb") as file:
        tar, compress = _decompressed(file.read())
    for name, text in modules.items():
        _check_tir(name, text)
    names = {"src/%s.tir.json" % name for name in modules}
    tar = _without_members(tar, names, set(modules))
    new_members = b"".join(_member("./src/%s.tir.json" % name, modules[name].encode()) for name in sorted(modules))
    tar += new_members + b"\0" * (2 * tarfile.BLOCKSIZE)
    tar += b"\0" * (-len(tar) % tarfile.RECORDSIZE)
    _replace_file(mlf_path, compress(tar))


def _decompressed(data: bytes) -> Tuple[bytes, Callable[[bytes], bytes]]:
    """The tar in `data`, and what compresses a tar in the same way."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data), lambda tar: gzip.compress(tar, mtime=0)
        if data.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(data), lzma.compress
    except (EOFError, OSError, lzma.LZMAError) as error:
        raise ExportError("the archive cannot be decompressed: %s" % error) from error
    return data, lambda tar: tar


def _check_tir(name: str, text: str) -> None:
    try:
        root = json.loads(text)
    except ValueError as error:
        raise ExportError("the TIR of module '%s' is no JSON: %s" % (name, error)) from error
    if not isinstance(root, dict) or not {"root", "nodes"} <= root.keys():
        raise ExportError("the TIR of module '%s' does not come from tvm.ir.save_json" % name)


def _without_members(tar: bytes, names: "set[str]", modules: "set[str]") -> bytes:
    """The blocks of `tar` up to its end marker without the members `names`. Checks that it holds `modules`."""
    try:
        with tarfile.open(fileobj=io.BytesIO(tar), mode="r:") as reader:
            members = reader.getmembers()
            metadata = next((m for m in members if posixpath.normpath(m.name) == "metadata.json"), None)
            content = reader.extractfile(metadata) if metadata else None
            if content is None:
                raise ExportError("there is no metadata.json: not a Model Library Format archive")
            _check_modules(json.loads(content.read()), modules)
            end = reader.offset
    except (tarfile.TarError, ValueError) as error:
        raise ExportError("the archive cannot be read: %s" % error) from error
    if end > len(tar):
        raise ExportError("the archive is truncated inside %s" % members[-1].name)
    kept = []
    position = 0
    for member in members:
        if posixpath.normpath(member.name) in names:
            kept.append(tar[position : member.offset])
            position = member.offset_data + -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
    return b"".join(kept) + tar[position:end]


def _check_modules(metadata: Any, modules: "set[str]") -> None:
    known = set(metadata.get("modules", [metadata.get("model_name")])) if isinstance(metadata, dict) else set()
    unknown = modules - known
    if unknown:
        found = ", ".join("'%s'" % name for name in sorted(str(name) for name in known))
        raise ExportError("the archive has no module '%s', it holds %s" % (sorted(unknown)[0], found))


def _member(name: str, content: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    header = info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    return header + content + b"\0" * (-len(content) % tarfile.BLOCKSIZE)


def _replace_file(path: str, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=".export_tir.", dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _build(arguments: argparse.Namespace) -> None:
    from tvm.driver import tvmc
    from tvm.relay.backend import Executor, Runtime

    options = {
        "interface-api": arguments.interface_api,
        "unpacked-api": arguments.interface_api == "c",
        "workspace-byte-alignment": arguments.alignment,
        "constant-byte-alignment": arguments.alignment,
    }
    keeps = arguments.keep_passes
    off = {} if keeps else {name: True for name in OFF_BY_DEFAULT}

    def compile_to(path: str) -> None:
        tvmc.compile(
            tvmc.load(arguments.model, model_format=arguments.model_format, shape_dict=_shapes(arguments.input_shapes)),
            target=arguments.target,
            executor=Executor("aot", options),
            runtime=Runtime(arguments.runtime),
            package_path=path,
            output_format="mlf",
            pass_context_configs=arguments.pass_config,
            mod_name=arguments.module_name,
        )

    with tempfile.TemporaryDirectory(prefix="export_tir.") as directory:
        planned, unplanned = (os.path.join(directory, name) for name in ("planned.tar", "unplanned.tar"))
        with _foreign_errors():
            captured = capture_tir(lambda: compile_to(planned), keeps)
            with _unplanned(off):
                compile_to(unplanned)
        add_tir(unplanned, {arguments.module_name: captured[0]})
        shutil.copyfile(unplanned, arguments.output)


@contextlib.contextmanager
def _foreign_errors() -> Iterator[None]:
    """What TVM and the packages that it loads models with raise, as one line: a wrong target, a model that is cut off, …"""
    try:
        yield
    except (ExportError, ImportError, OSError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ExportError("TVM: %s: %s" % (type(error).__name__, lines[-1] if lines else "no message")) from error


def _shapes(text: Optional[str]) -> Optional[Dict[str, List[int]]]:
    """{"input": [1, 3]} of "input:[1,3] other:[2]", as tvmc has it."""
    if text is None:
        return None
    shapes = {}
    for name, numbers in re.findall(r"([^\s,:]+):\s*\[([^\]]*)\]", text):
        try:
            shapes[name] = [int(number) for number in numbers.split(",")]
        except ValueError:
            raise ExportError("--input-shapes: found '%s', expected numbers" % numbers) from None
    if not shapes:
        raise ExportError("--input-shapes: found '%s', expected NAME:[1,3,224,224]" % text)
    return shapes


def _alignment(text: str) -> int:
    """A power of two up to 2^20, as pools have it."""
    if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) > 1 << 20 or bin(int(text)).count("1") != 1:
        raise argparse.ArgumentTypeError("found '%s', expected a power of two up to 1048576" % text)
    return int(text)


def _add(arguments: argparse.Namespace) -> None:
    modules = {}
    for assignment in arguments.modules:
        name, equals, path = assignment.partition("=")
        if not name or not equals or not path:
            raise ExportError("found '%s', expected MODULE=FILE.json" % assignment)
        with open(path, encoding="utf-8") as file:
            modules[name] = file.read()
    add_tir(arguments.archive, modules)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Puts the TIR that usmp-plan reads into an MLF archive.")
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="compile a model with TVM and export it with its TIR")
    build.add_argument("model", help="model file that tvmc can load: TFLite, ONNX, Relay, ...")
    build.add_argument("-o", "--output", required=True, help="archive to write")
    build.add_argument("--target", default="c", help="as for tvmc: 'c' or 'cmsis-nn,c' (default: %(default)s)")
    build.add_argument("--runtime", default="crt", help="TVM's runtime (default: %(default)s)")
    build.add_argument("--interface-api", choices=("c", "packed"), default="c", help="default: %(default)s")
    build.add_argument("--alignment", type=_alignment, default=16, help="of buffers, in bytes (default: %(default)s)")
    build.add_argument("--module-name", default="default", help="default: %(default)s")
    build.add_argument("--input-shapes", metavar="NAME:[N,...]", help="as for tvmc; several are separated by blanks")
    build.add_argument("--model-format", help="as for tvmc (default: by the file's name)")
    build.add_argument("--keep-passes", action="store_true", help="leave %s as they are" % " and ".join(OFF_BY_DEFAULT))
    build.add_argument("--pass-config", action="append", default=[], metavar="NAME=VALUE", help="as for tvmc")
    build.set_defaults(run=_build)
    add = commands.add_parser("add", help="add saved TIR to an archive")
    add.add_argument("archive")
    add.add_argument("modules", nargs="+", metavar="MODULE=FILE.json")
    add.set_defaults(run=_add)
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    """The command line; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        parsed.run(parsed)
    except ImportError as error:
        print("export_tir: %s: run this with the Python that TVM is installed for" % error, file=sys.stderr)
        return 1
    except (ExportError, OSError) as error:
        print("export_tir: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
