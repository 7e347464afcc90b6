# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Tests of apps/export_tir.py that need no TVM: python3 -B tests/apps/test_export_tir.py."""

import contextlib
import gzip
import importlib.util
import io
import json
import lzma
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import types
import unittest
from typing import Any, Dict, List, Tuple
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("export_tir", str(ROOT / "apps" / "export_tir.py"))
assert _SPEC is not None and _SPEC.loader is not None
export_tir = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(export_tir)

TIR = json.dumps({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "IRModule"}]})
PASSES_OFF = {"tir.disable_storage_rewrite": True, "tir.disable_vectorize": True}
LONG = "src/" + "n" * 150 + "/" + "m" * 120
MEMBERS = [
    ("./metadata.json", json.dumps({"version": 7, "modules": {"default": {}, "other": {}}}).encode()),
    ("./codegen/host/src/default_lib0.c", b"int x;\n" * 200),
    ("./src/default.tir.json", b"old"),
    (LONG, b"long name"),
    ("./parameters/default.params", bytes(range(256))),
]


def tar_of(members: List[Tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar whose headers carry what TVM's do: fractional times, owners."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mtime = 1700000000.25  # type: ignore[assignment]
            info.uname = "someone"
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def contents(path: str) -> List[Tuple[str, bytes]]:
    """Names and contents of all members, in order."""
    with tarfile.open(path) as tar:
        return [(member.name, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]


def raw_blocks(tar: bytes) -> Dict[str, bytes]:
    """Each member's blocks, all headers included."""
    with tarfile.open(fileobj=io.BytesIO(tar)) as reader:
        members = reader.getmembers()
        ends = [member.offset for member in members[1:]] + [reader.offset]
    return {member.name: tar[member.offset : end] for member, end in zip(members, ends)}


class AddTir(unittest.TestCase):
    """add_tir on archives of all kinds."""

    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "model.tar")

    def write(self, data: bytes) -> None:
        """Makes the archive."""
        with open(self.path, "wb") as file:
            file.write(data)

    def read(self) -> bytes:
        """The archive's bytes."""
        with open(self.path, "rb") as file:
            return file.read()

    def refused(self, modules: Dict[str, str]) -> str:
        """The message of the refusal; checks that nothing was changed or left."""
        before = self.read()
        with self.assertRaises(export_tir.ExportError) as caught:
            export_tir.add_tir(self.path, modules)
        self.assertEqual(self.read(), before)
        self.assertEqual(os.listdir(self.directory), ["model.tar"])
        return str(caught.exception)

    def test_adds_and_replaces(self) -> None:
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            self.write(tar_of(MEMBERS, form))
            export_tir.add_tir(self.path, {"other": TIR, "default": TIR})
            kept = [member for member in MEMBERS if member[0] != "./src/default.tir.json"]
            added = [("./src/%s.tir.json" % name, TIR.encode()) for name in ("default", "other")]
            self.assertEqual(contents(self.path), kept + added)

    def test_other_members_keep_every_byte(self) -> None:
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            before = tar_of(MEMBERS, form)
            self.write(before)
            export_tir.add_tir(self.path, {"default": TIR})
            old, new = raw_blocks(before), raw_blocks(self.read())
            for name, _ in MEMBERS:
                self.assertEqual(old[name] == new[name], name != "./src/default.tir.json", name)

    def test_compression_is_kept(self) -> None:
        for compress, decompress in ((gzip.compress, gzip.decompress), (lzma.compress, lzma.decompress)):
            self.write(compress(tar_of(MEMBERS)))
            export_tir.add_tir(self.path, {"default": TIR})
            self.assertEqual(contents(self.path)[-1], ("./src/default.tir.json", TIR.encode()))
            self.assertTrue(decompress(self.read()).endswith(b"\0" * 1024))

    def test_same_archive_same_bytes(self) -> None:
        results = []
        for _ in range(2):
            self.write(gzip.compress(tar_of(MEMBERS), mtime=0))
            export_tir.add_tir(self.path, {"default": TIR})
            results.append(self.read())
        self.assertEqual(results[0], results[1])
        export_tir.add_tir(self.path, {"default": TIR})
        self.assertEqual(self.read(), results[0])

    def test_mode_is_kept(self) -> None:
        self.write(tar_of(MEMBERS))
        os.chmod(self.path, 0o640)
        export_tir.add_tir(self.path, {"default": TIR})
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)

    def test_real_archive(self) -> None:
        before = (ROOT / "testdata" / "cast_subtract.tar").read_bytes()
        self.write(before)
        export_tir.add_tir(self.path, {"default": TIR})
        old, new = raw_blocks(before), raw_blocks(self.read())
        self.assertEqual(old.keys(), new.keys())
        changed = [name for name in old if old[name] != new[name]]
        self.assertEqual(changed, ["./src/default.tir.json"])

    def test_flat_version_5(self) -> None:
        self.write(tar_of([("metadata.json", b'{"version": 5, "model_name": "net"}')]))
        export_tir.add_tir(self.path, {"net": TIR})
        self.assertEqual(contents(self.path)[1][0], "./src/net.tir.json")

    def test_refusals_leave_the_archive_alone(self) -> None:
        whole = tar_of(MEMBERS)
        self.write(whole)
        self.assertEqual(self.refused({"defalt": TIR}), "the archive has no module 'defalt', it holds 'default', 'other'")
        self.assertIn("is no JSON", self.refused({"default": "{"}))
        self.assertIn("does not come from tvm.ir.save_json", self.refused({"default": "[1]"}))
        self.write(b"not a tar at all")
        self.assertIn("cannot be read", self.refused({"default": TIR}))
        self.write(gzip.compress(whole)[:-30])
        self.assertIn("cannot be decompressed", self.refused({"default": TIR}))
        self.write(tar_of(MEMBERS[1:]))
        self.assertIn("no metadata.json", self.refused({"default": TIR}))
        with tarfile.open(fileobj=io.BytesIO(whole)) as reader:
            last = reader.getmembers()[-1]
        self.write(whole[: last.offset_data + 100])
        self.refused({"default": TIR})

    def test_a_failing_write_leaves_the_archive_alone(self) -> None:
        self.write(tar_of(MEMBERS))
        before = self.read()
        with mock.patch.object(os, "replace", side_effect=OSError("no space")):
            with self.assertRaises(OSError):
                export_tir.add_tir(self.path, {"default": TIR})
        self.assertEqual(self.read(), before)
        self.assertEqual(os.listdir(self.directory), ["model.tar"])

    def test_command_line(self) -> None:
        self.write(tar_of(MEMBERS))
        tir_path = os.path.join(self.directory, "default.json")
        with open(tir_path, "w", encoding="utf-8") as file:
            file.write(TIR)
        self.assertEqual(export_tir.main(["add", self.path, "default=" + tir_path]), 0)
        self.assertEqual(contents(self.path)[-1], ("./src/default.tir.json", TIR.encode()))
        for arguments in (["add", self.path, tir_path], ["add", self.path, "x=" + tir_path], ["add", "no.tar", "a=b"]):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                self.assertEqual(export_tir.main(arguments), 1)
            self.assertTrue(errors.getvalue().startswith("export_tir: "))


class FakeModule:
    """As much of an IRModule as is looked at."""

    def __init__(self, attrs: Dict[str, Any], functions: Any = None) -> None:
        self.attrs = attrs
        self.functions = functions or {"main": 1}

    def with_attr(self, key: str, value: Any) -> "FakeModule":
        """A copy with one more attribute."""
        return FakeModule({**self.attrs, key: value}, self.functions)


class FakeAllocate:  # pylint: disable=too-few-public-methods
    """Allocates one tensor around a body."""

    def __init__(self, buffer_var: Any, dtype: str, extents: Any, condition: Any, body: Any, annotations: Any) -> None:
        self.buffer_var, self.dtype, self.extents, self.condition = buffer_var, dtype, extents, condition
        self.body, self.annotations = body, annotations


class FakeFunction:  # pylint: disable=too-few-public-methods
    """As much of a PrimFunc as is looked at."""

    def __init__(self, body: Any) -> None:
        self.body = body

    def with_body(self, body: Any) -> "FakeFunction":
        """A copy with another body."""
        return FakeFunction(body)


def transformed(body: Any, before: Any, _after: Any, names: Any) -> Any:
    """As tvm.tir.stmt_functor.ir_transform: what `before` returns is not looked into."""
    assert names == ["tir.Allocate"]
    if isinstance(body, FakeAllocate):
        changed = before(body)
        if changed is not None:
            return changed
        return FakeAllocate(body.buffer_var, body.dtype, body.extents, body.condition,
                            transformed(body.body, before, None, names), body.annotations)
    return ("let", transformed(body[1], before, None, names)) if isinstance(body, tuple) else body


def fake_tvm(entered: List[Any]) -> types.ModuleType:
    """As much of TVM as capture_tir touches. It shows how TVM is called, not that TVM is right to be called so."""

    class PassContext:
        """Keeps what it is made with."""

        def __init__(self, opt_level: int = 2, required_pass: Any = None, disabled_pass: Any = None,
                     instruments: Any = None, config: Any = None) -> None:
            self.opt_level, self.required_pass, self.disabled_pass = opt_level, required_pass, disabled_pass
            self.instruments, self.config = instruments, config

        def __enter__(self) -> None:
            entered.append(self)

        def __exit__(self, *_: Any) -> None:
            # As TVM does.
            if entered.pop() is not self:
                raise AssertionError("contexts are left in another order than entered")

        @staticmethod
        def current() -> Any:
            """The innermost, or the default."""
            return entered[-1] if entered else PassContext()

    tvm = types.ModuleType("tvm")
    setattr(tvm, "transform", types.SimpleNamespace(PassContext=PassContext))
    setattr(tvm, "instrument", types.SimpleNamespace(pass_instrument=lambda cls: cls))
    setattr(tvm, "ir", types.SimpleNamespace(save_json=lambda mod: json.dumps(mod.attrs)))
    setattr(tvm, "IRModule", lambda functions: FakeModule({}, functions))
    setattr(tvm, "tir", types.SimpleNamespace(Allocate=FakeAllocate, PrimFunc=FakeFunction,
                                              stmt_functor=types.SimpleNamespace(ir_transform=transformed)))
    return tvm


class CaptureTir(unittest.TestCase):
    """The wrapping of PassContext, against a stand-in for TVM."""

    def run_passes(self, build_context: bool, names: List[str], around: bool = False,
                   keep_passes: bool = False, count: int = 1) -> Tuple[Any, List[str]]:
        """Captures from a build that runs these passes. What was seen in the last of them, and the modules."""
        seen: Dict[str, Any] = {}
        entered: List[Any] = []
        tvm: Any = fake_tvm(entered)
        pass_context = tvm.transform.PassContext
        original = pass_context.__enter__
        outer = pass_context(3, None, ["y"], [self], {"b": 2, "tir.disable_vectorize": False})
        made_before = pass_context(1, None, ["x"], [], {"a": 1, "tir.usmp.enable": False})

        def passes() -> None:
            for name in names:
                seen.update({"config": entered[-1].config, "disabled": entered[-1].disabled_pass, "last": name,
                             "level": entered[-1].opt_level, "kept": self in entered[-1].instruments})
                for instrument in (i for i in entered[-1].instruments if i is not self):
                    try:
                        instrument.run_before_pass(FakeModule({"external_mods": [], "kept": name}),
                                                   types.SimpleNamespace(name=name))
                    except Exception as error:  # on its way through TVM
                        raise RuntimeError(str(error)) from None

        def build() -> None:
            if not build_context:
                return passes()
            with made_before:
                return passes()

        with mock.patch.dict(sys.modules, {"tvm": tvm}):
            try:
                with outer if around else contextlib.nullcontext():
                    return seen, export_tir.capture_tir(build, keep_passes, count)
            finally:
                self.assertIs(pass_context.__enter__, original)
                self.assertEqual(entered, [])

    def test_only_the_planner_is_watched(self) -> None:
        result, modules = self.run_passes(False, ["tir.transform.Simplify", export_tir.PLANNER_PASS])
        self.assertEqual(modules, [json.dumps({"kept": export_tir.PLANNER_PASS})])
        self.assertEqual(result["config"], {"tir.usmp.enable": True, **PASSES_OFF})
        result, _ = self.run_passes(False, [export_tir.PLANNER_PASS], keep_passes=True)
        self.assertEqual(result["config"], {"tir.usmp.enable": True})

    def test_what_stands_around_it_is_kept(self) -> None:
        result, modules = self.run_passes(False, [export_tir.PLANNER_PASS], around=True)
        self.assertEqual(len(modules), 1)
        self.assertEqual(result["config"], {**PASSES_OFF, "b": 2, "tir.disable_vectorize": False, "tir.usmp.enable": True})
        self.assertEqual((result["disabled"], result["level"], result["kept"]), (["y"], 3, True))

    def test_a_context_of_the_build_keeps_its_settings(self) -> None:
        result, modules = self.run_passes(True, [export_tir.PLANNER_PASS] * 3, count=2)
        self.assertEqual(len(modules), 2)
        self.assertEqual(result["config"], {**PASSES_OFF, "a": 1, "tir.usmp.enable": True})
        self.assertEqual((result["disabled"], result["level"], result["kept"]), (["x"], 1, False))

    def test_tensors_are_allocated_in_order(self) -> None:
        def body_of(names: List[str]) -> Any:
            body: Any = "calls"
            for name in reversed(names):
                body = ("let", body) if name == "let" else FakeAllocate(
                    types.SimpleNamespace(name=name), "int8", [name], 1, body, {"of": name})
            return body

        def text_of(body: Any) -> List[str]:
            names = []
            while body != "calls":
                if isinstance(body, tuple):
                    names.append("let")
                    body = body[1]
                    continue
                names.append(body.buffer_var.name)
                self.assertEqual((body.dtype, body.extents, body.condition, body.annotations),
                                 ("int8", [names[-1]], 1, {"of": names[-1]}))
                body = body.body
            return names

        given = ["let", "sid_10", "sid_9", "sid_2", "let", "pad", "conv", "sid_3", "sid_1"]
        original = FakeFunction(body_of(given))
        module = FakeModule({"kept": 1}, {"main": original, "other": "no TIR"})
        with mock.patch.dict(sys.modules, {"tvm": fake_tvm([])}):
            result = export_tir._with_sorted_allocates(module)  # pylint: disable=protected-access
        self.assertEqual(text_of(result.functions["main"].body),
                         ["let", "sid_2", "sid_9", "sid_10", "let", "pad", "conv", "sid_1", "sid_3"])
        self.assertEqual((result.attrs, result.functions["other"]), ({"kept": 1}, "no TIR"))
        self.assertEqual(text_of(original.body), given)  # TVM goes on with it

    def test_a_build_without_planning_is_an_error(self) -> None:
        with self.assertRaises(export_tir.ExportError):
            self.run_passes(False, ["tir.transform.Simplify"])
        with self.assertRaisesRegex(export_tir.ExportError, "planned 1 modules, expected 2"):
            self.run_passes(False, [export_tir.PLANNER_PASS], count=2)

    def test_the_build_is_left_when_its_modules_are_captured(self) -> None:
        result, modules = self.run_passes(True, ["a", export_tir.PLANNER_PASS, "b", export_tir.PLANNER_PASS])
        self.assertEqual((len(modules), result["last"]), (1, export_tir.PLANNER_PASS))
        result, modules = self.run_passes(True, ["a", export_tir.PLANNER_PASS, "b", export_tir.PLANNER_PASS, "c"], count=2)
        self.assertEqual((len(modules), result["last"]), (2, export_tir.PLANNER_PASS))

    def test_what_fails_in_front_of_the_planner_is_told(self) -> None:
        entered: List[Any] = []
        with mock.patch.dict(sys.modules, {"tvm": fake_tvm(entered)}), self.assertRaises(KeyError):
            export_tir.capture_tir(lambda: {}["no such operator"])
        self.assertEqual(entered, [])


class Build(unittest.TestCase):
    """The command `build`, against a stand-in for tvmc."""

    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.output = os.path.join(self.directory, "model.tar")

    def run_build(self, options: List[str], fails: Any = None) -> Tuple[int, str, List[Dict[str, Any]]]:
        """Exit code, messages, and what each compilation was called with."""
        entered: List[Any] = []
        tvm: Any = fake_tvm(entered)
        calls: List[Dict[str, Any]] = []

        def load(path: str, **arguments: Any) -> str:
            if fails:
                raise fails
            calls.append({"path": path, **arguments})
            return "model"

        def compile_model(_model: str, **arguments: Any) -> None:
            with tvm.transform.PassContext(3, None, None, None, {}):
                config = dict(entered[-1].config)
                calls[-1].update(arguments, config=config)
                if config[export_tir.PLANNER_OPTION]:
                    for instrument in entered[-1].instruments:
                        instrument.run_before_pass(FakeModule(json.loads(TIR)), types.SimpleNamespace(name=export_tir.PLANNER_PASS))
                source = b"planned" if config[export_tir.PLANNER_OPTION] else b"unplanned"
                with open(arguments["package_path"], "wb") as file:
                    file.write(tar_of([MEMBERS[0], ("./codegen/host/src/default_lib1.c", source)]))

        tvmc = types.SimpleNamespace(load=load, compile=compile_model)
        modules = {"tvm": tvm, "tvm.driver": types.SimpleNamespace(tvmc=tvmc), "tvm.relay": types.SimpleNamespace(),
                   "tvm.relay.backend": types.SimpleNamespace(Executor=lambda *_: None, Runtime=lambda *_: None)}
        errors = io.StringIO()
        with mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(errors):
            code = export_tir.main(["build", "net.onnx", "-o", self.output, *options])
        return code, errors.getvalue(), calls

    def test_the_archive_is_not_planned(self) -> None:
        code, errors, calls = self.run_build(["--input-shapes", "x:[1, 3] y:[2]", "--model-format", "onnx"])
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual([call["config"] for call in calls],
                         [{**PASSES_OFF, "tir.usmp.enable": True}, {**PASSES_OFF, "tir.usmp.enable": False}])
        self.assertEqual(calls[1]["shape_dict"], {"x": [1, 3], "y": [2]})
        self.assertEqual(calls[1]["model_format"], "onnx")
        members = dict(contents(self.output))
        self.assertEqual(members["./codegen/host/src/default_lib1.c"], b"unplanned")
        self.assertEqual(json.loads(members["./src/default.tir.json"]), json.loads(TIR))
        self.assertEqual(os.listdir(self.directory), ["model.tar"])

    def test_passes_may_be_kept(self) -> None:
        _, _, calls = self.run_build(["--keep-passes"])
        self.assertEqual([call["config"] for call in calls], [{"tir.usmp.enable": True}, {"tir.usmp.enable": False}])

    def test_errors_are_one_line(self) -> None:
        for error in (RuntimeError("Traceback:\n  frame\nValueError: no such target"), ImportError("onnx"), KeyError("crt")):
            code, errors, _ = self.run_build([], error)
            self.assertEqual(code, 1)
            self.assertEqual(errors.count("\n"), 1, errors)
        for alignment in ("3", "0", "-16", "a", "2097152"):
            errors_of_parser = io.StringIO()
            with contextlib.redirect_stderr(errors_of_parser), self.assertRaises(SystemExit):
                self.run_build(["--alignment=" + alignment])
        for shapes in ("x", "x:[a]"):
            code, errors, _ = self.run_build(["--input-shapes", shapes])
            self.assertEqual((code, errors.count("\n")), (1, 1))
        self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    unittest.main()
