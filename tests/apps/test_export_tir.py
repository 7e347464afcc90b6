# SPDX-License-Identifier: Apache-2.0
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

    def __init__(self, attrs: Dict[str, Any]) -> None:
        self.attrs = attrs
        self.functions = {"main": 1}

    def with_attr(self, key: str, value: Any) -> "FakeModule":
        """A copy with one more attribute."""
        return FakeModule({**self.attrs, key: value})


def fake_tvm(entered: List[Any]) -> types.ModuleType:
    """As much of TVM as capture_tir touches. It shows how TVM is called, not that TVM is right to be called so."""

    class PassContext:
        """Keeps what it is made with."""

        def __init__(self, opt_level: int = 2, required_pass: Any = None, disabled_pass: Any = None,
                     instruments: Any = None, config: Any = None) -> None:
            self.opt_level, self.disabled_pass = opt_level, disabled_pass
            self.instruments, self.config = instruments, config

        def __enter__(self) -> None:
            entered.append(self)

        def __exit__(self, *_: Any) -> None:
            entered.pop()

    tvm = types.ModuleType("tvm")
    setattr(tvm, "transform", types.SimpleNamespace(PassContext=PassContext))
    setattr(tvm, "instrument", types.SimpleNamespace(pass_instrument=lambda cls: cls))
    setattr(tvm, "ir", types.SimpleNamespace(save_json=lambda mod: json.dumps(mod.attrs)))
    setattr(tvm, "IRModule", lambda functions: FakeModule({}))
    return tvm


class CaptureTir(unittest.TestCase):
    """The wrapping of PassContext, against a stand-in for TVM."""

    def run_passes(self, build_context: bool, names: List[str]) -> Tuple[Any, List[str]]:
        """Captures from a build that runs these passes."""
        entered: List[Any] = []
        tvm: Any = fake_tvm(entered)
        original = tvm.transform.PassContext.__init__

        def passes() -> Dict[str, Any]:
            for name in names:
                for instrument in entered[-1].instruments:
                    instrument.run_before_pass(FakeModule({"external_mods": [], "kept": name}),
                                               types.SimpleNamespace(name=name))
            return {"config": entered[-1].config, "disabled": entered[-1].disabled_pass}

        def build() -> Dict[str, Any]:
            if not build_context:
                return passes()
            with tvm.transform.PassContext(1, None, ["x"], [], {"a": 1, "tir.usmp.enable": False}):
                return passes()

        with mock.patch.dict(sys.modules, {"tvm": tvm}):
            try:
                return export_tir.capture_tir(build)  # type: ignore[no-any-return]
            finally:
                self.assertIs(tvm.transform.PassContext.__init__, original)

    def test_only_the_planner_is_watched(self) -> None:
        result, modules = self.run_passes(False, ["tir.transform.Simplify", export_tir.PLANNER_PASS])
        self.assertEqual(modules, [json.dumps({"kept": export_tir.PLANNER_PASS})])
        self.assertEqual(result["config"], {"tir.usmp.enable": True})

    def test_a_context_of_the_build_keeps_its_settings(self) -> None:
        result, modules = self.run_passes(True, [export_tir.PLANNER_PASS] * 2)
        self.assertEqual(len(modules), 2)
        self.assertEqual(result, {"config": {"a": 1, "tir.usmp.enable": True}, "disabled": ["x"]})

    def test_a_build_without_planning_is_an_error(self) -> None:
        with self.assertRaises(export_tir.ExportError):
            self.run_passes(False, ["tir.transform.Simplify"])


if __name__ == "__main__":
    unittest.main()
