#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Archives made to do harm: nothing is written but the output, and nothing of theirs becomes code.

Usage: hostile_archives.py BINARY TESTDATA

Three tables: members and what encloses them, texts that try to break out of the generated C, pools files. Every case has its
exit code and what its message must say; after each, no file but the output may have changed.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from hostile import Tir, members_of, tar_of

MAX_SECONDS = 60
OK, USAGE, ARCHIVE, OUTPUT = 0, 2, 3, 5


class Sandbox:
    """A directory with a victim in it, which must stay as it is."""

    def __init__(self, binary: Path, directory: Path):
        self.binary, self.directory = binary, directory
        self.out = directory / "place" / "out"
        self.passed = self.failed = 0

    def reset(self) -> None:
        shutil.rmtree(self.directory)
        for name in ("place", "victim"):
            (self.directory / name).mkdir(parents=True)
        (self.directory / "victim" / "file").write_text("victim")

    def outside(self) -> dict[str, bytes | None]:
        inside = (self.out, self.out.with_suffix(".tar"))
        return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(self.directory.rglob("*"))
                if not any(path == out or out in path.parents for out in inside)}

    def run(self, label: str, archive: bytes, code: int, *parts: str, arguments: tuple[str, ...] = (), output: str = "out",
            keep: bool = False) -> subprocess.CompletedProcess:
        if not keep:
            self.reset()
        model = self.directory / "model.tar"
        model.write_bytes(archive)
        before = self.outside()
        target = self.out.parent / output
        done = subprocess.run([self.binary, model, "-o", target, *arguments], capture_output=True, check=False, timeout=MAX_SECONDS)
        said = done.stderr.decode("utf-8", "replace")
        shown = (done.stdout + done.stderr).decode("utf-8", "replace")
        faults = []
        if done.returncode != code:
            faults.append(f"exit code {done.returncode}, expected {code}: {said[:300]}")
        if self.outside() != before:
            faults.append("files outside the output were touched")
        if code != OK:
            if not (said.startswith("usmp-plan: error: ") and said.count("\n") == 1):
                faults.append(f"no single message: {said[:300]!r}")
            if not keep and target.exists():
                faults.append("there is output")
        faults += [f"{part!r} is not in the message: {said[:300]!r}" for part in parts if part not in said]
        if re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown):
            faults.append(f"control characters on the terminal: {shown[:300]!r}")
        self.report(label, faults)
        return done

    def report(self, label: str, faults: list[str]) -> None:
        self.failed += bool(faults)
        self.passed += not faults
        if faults:
            print(f"FAILED {label}: " + "; ".join(faults))


# --- Members ------------------------------------------------------------------------------------------------------------


def member(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"int evil;\n", link: str = "", size: int | None = None,
           pax: dict[str, str] | None = None, form: int = tarfile.PAX_FORMAT) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.pax_headers = kind, link, pax or {}
    data = data if kind == tarfile.REGTYPE else b""
    info.size = len(data) if size is None else size
    return info.tobuf(form, errors="surrogateescape") + data + b"\0" * (-len(data) % 512)


def closed(*parts: bytes) -> bytes:
    return b"".join(parts) + b"\0" * 1024


def zstd(data: bytes) -> bytes:
    """A frame of zstd as RFC 8878 has it: raw blocks, and four bytes for a block of nothing but zeros."""
    size = 1 << 17
    frame = [b"\x28\xb5\x2f\xfd", bytes([0, 7 << 3])]  # a window of 128 KiB, no content size, no checksum
    for start in range(0, max(len(data), 1), size):
        block = data[start : start + size]
        zeros = len(block) == size and not block.strip(b"\0")
        header = int(start + size >= len(data)) | (2 if zeros else 0) | len(block) << 3
        frame.append(header.to_bytes(3, "little") + (b"\0" if zeros else block))
    return b"".join(frame)


def members(sandbox: Sandbox, archive: bytes) -> None:
    body = archive.rstrip(b"\0")
    body += b"\0" * (-len(body) % 512)
    source = "codegen/host/src/"

    def refused(label: str, extra: bytes, *parts: str) -> None:
        sandbox.run(label, closed(body, extra), ARCHIVE, *parts)
        sandbox.run(label + ", first", closed(extra, body), ARCHIVE, *parts)
        sandbox.run(label + ", to an archive", closed(body, extra), ARCHIVE, *parts, output="out.tar")

    for name in ("../victim/file", "codegen/../../victim/file", source + "../../../../victim/file", "./../x", ".."):
        refused(f"name {name}", member(name), name, "leads out of the archive")
    for name in ("/etc/usmp-plan-evil", "//x", str(sandbox.directory / "victim" / "file")):
        refused(f"name {name}", member(name), "is absolute")
    refused("symbolic link", member(source + "evil.c", tarfile.SYMTYPE, link="../../../../victim/file"), "symbolic link")
    refused("link to a directory, and a member below", member("codegen/x", tarfile.SYMTYPE, link="/tmp") + member("codegen/x/evil.c"), "symbolic link")
    refused("hard link", member(source + "evil.c", tarfile.LNKTYPE, link="/etc/passwd"), "hard link")
    for kind, name in ((tarfile.CHRTYPE, "character device"), (tarfile.BLKTYPE, "block device"), (tarfile.FIFOTYPE, "pipe")):
        refused(name, member(source + "evil.c", kind), "a device, pipe or socket")
    refused("twice", member("x.c") + member("./x.c"), "the archive contains the member twice")
    refused("twice by another spelling", member("a/x.c") + member("a//./x.c"), "the archive contains the member twice")
    refused("a file that is a directory", member("a/b", data=b"") + member("a/b/c"), "a/b", "is a file, but other members are inside it")
    refused("newline", member(source + "evil\n::error::x.c"), "evil\\n::error::x.c", "control character or a backslash")
    refused("escape sequence", member(source + "\x1b]0;evil\x07.c"), "\\x1b]0;evil\\x07.c", "control character or a backslash")
    refused("backslash", member("codegen\\..\\..\\evil.c"), "control character or a backslash")
    refused("C1 control, name of bytes", member(source + "\udc9b.c", form=tarfile.GNU_FORMAT) + member(".."), "leads out")
    for size in (2**62, 2**33, 2**31 + 1):
        refused(f"claims {size} bytes", member("x.bin", size=size, data=b"", form=tarfile.GNU_FORMAT if size < 2**60 else tarfile.PAX_FORMAT), "x.bin" if size < 2**60 else "")
    sparse = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole.bin", "GNU.sparse.realsize": str(2**45)}
    refused("sparse bomb", member("hole.bin", data=b"1\n35184372088831\n1\n".ljust(512, b"\0") + b"x", pax=sparse), "hole.bin")

    # What is odd but harmless stays what it is, and where it belongs.
    accepted = [source + "evil\udcff.c", "codegen/host/SRC/Default_lib0.c", "METADATA.json", "src/.hidden", "-rf", "a b;touch x", "$(touch x)",
                "src/" + "d" * 200 + "/" + "e" * 200, "..codegen/x", "codegen/host/src/...c"]
    extra = b"".join(member(name, form=tarfile.GNU_FORMAT) for name in accepted)
    sandbox.run("odd names", closed(body, extra), OK)
    done = sandbox.run("odd names, to an archive", closed(body, extra), OK, output="out.tar")
    if done.returncode == OK:
        with tarfile.open(sandbox.out.with_suffix(".tar"), errors="surrogateescape") as tar:
            kinds = {info.name: info for info in tar.getmembers()}
        wrong = [name for name, info in kinds.items() if name.startswith("/") or ".." in name.split("/") or not (info.isreg() or info.isdir())]
        missing = [name for name in accepted if "./" + name not in kinds and name not in kinds]
        sandbox.report("odd names in the new archive", [f"{wrong} {missing}"] if wrong or missing else [])
    sandbox.run("a name longer than the file system's", closed(body, member(source + "n" * 300 + ".c", form=tarfile.GNU_FORMAT)), OUTPUT, "File name too long")
    taken = member("default.plan.json/x")
    sandbox.run("a member below a written file", closed(body, taken), ARCHIVE, "default.plan.json", "is a file in the output", output="out.tar")
    taken = member("codegen/host/include/metadata.h/evil.c", data=b"int evil(void) { return 0; }\n")
    sandbox.run("a library below a written file", closed(body, taken), ARCHIVE, "metadata.h", "is a file in the output")

    for name, pack in (("gzip", gzip.compress), ("xz", lzma.compress), ("zstd", zstd)):
        bomb = pack(closed(body, member("zeros.bin", size=2**31 + 512, data=b"\0" * 2**24, form=tarfile.GNU_FORMAT)))
        sandbox.run(f"{name} bomb", bomb, ARCHIVE, "zeros.bin", "more than the limit")
        sandbox.run(f"{name} in itself", pack(pack(archive)), ARCHIVE, f"compressed more than once: found {name} inside")
        # Hours of work, if what is inside is taken for compressed as well: nothing ever comes out.
        sandbox.run(f"{name} of nothing, three deep", pack(pack(pack(b"") * 2**16) * 2**10), ARCHIVE)
        sandbox.run(f"garbage behind {name}", pack(archive) + b"garbage", ARCHIVE)
        sandbox.run(f"{name} of nothing", pack(b""), ARCHIVE)


def links_in_the_output(sandbox: Sandbox, archive: bytes) -> None:
    victim = sandbox.directory / "victim"

    def case(label: str, prepare: str, link_to: Path | None, code: int, *parts: str) -> None:
        sandbox.reset()
        path = sandbox.out / prepare
        path.parent.mkdir(parents=True, exist_ok=True)
        if link_to is None:
            path.mkdir()
            (path / "mine").write_text("mine")
        else:
            path.symlink_to(link_to)
        (sandbox.out / "notes.txt").write_text("mine")
        sandbox.run(label, archive, code, *parts, keep=True)
        kept = path.is_symlink() == (link_to is not None) if code != OK else path.is_file() and not path.is_symlink()
        left = [entry.name for entry in sandbox.out.parent.iterdir() if entry != sandbox.out]
        faults = [] if kept else ["what was in the way is not what it was, or the file is not there"]
        sandbox.report(label + ", afterwards", faults + ([f"left: {left}"] if left else []))

    case("a link for a directory", "codegen", victim, OUTPUT, "codegen: is a symbolic link")
    case("a link for an inner directory", "codegen/host/src", victim, OUTPUT, "src: is a symbolic link")
    case("a link for a file", "codegen/host/src/default_lib0.c", victim / "file", OK)
    case("a dangling link for a file", "default.plan.json", victim / "none", OK)
    case("a directory for a file", "default.plan.json", None, OUTPUT, "is a directory, expected a file")
    case("a directory for a file in C", "codegen/host/src/default_lib1.c", None, OUTPUT, "is a directory, expected a file")


# --- Texts --------------------------------------------------------------------------------------------------------------

TOKEN = "injected_token"
PAYLOADS = [
    f"*/ int {TOKEN}; /*",
    f"\n#error {TOKEN}\n",
    f"\\\n{TOKEN}();//",
    f"??/\n{TOKEN}();//",
    f'"; system("{TOKEN}"); //',
    f"\r{TOKEN}\x00{TOKEN}\x1b[2J",
    f"%s%n {TOKEN} ${{{TOKEN}}}",
    f"\u2028{TOKEN}\u202e\u0085{TOKEN}",
    f"'; }} {TOKEN}: {{ asm(\"{TOKEN}\")",
    f"#include \"{TOKEN}.h\"",
]
# Names with a meaning of their own.
FIXED = re.compile(r"(global(\..*)?|c|cpu|crt|aot|__tvm_main__|tvmgen_default___tvm_main__|\w*NCHW\w*|OIHW\w*|[0-9a-f]{16}|)$")
C_FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wmissing-prototypes", "-Wstrict-prototypes", "-Wconversion", "-Wshadow", "-Wundef"]
CXX_FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-Wundef"]
COMPILERS = [["gcc", "-std=c99", *C_FLAGS], ["clang", "-std=c99", *C_FLAGS], ["g++", "-x", "c++", "-std=c++11", *CXX_FLAGS],
             ["clang++", "-x", "c++", "-std=c++11", *CXX_FLAGS]]
CODE = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
FORBIDDEN = re.compile(rb"\b" + TOKEN.encode() + rb"\b|#\s*error|\bsystem\b|\\\n|\?\?/|[^\x09\x0a\x20-\x7e]|\binclude\b\s*\"(?!tvmgen_)")


def renamed(archive: bytes, payload: str) -> bytes:
    """The archive with the payload behind every name of its TIR and of its tensors."""
    tir = Tir(archive)
    for node in tir.nodes:
        text = node.get("repr_str", "")
        if node["type_key"] == "runtime.String" and not FIXED.match(text):
            node["repr_str"] = text + payload
    name = next(name for name in tir.members if name.endswith("metadata.json"))
    metadata = json.loads(tir.members[name])
    main = metadata["modules"]["default"]["memory"]["functions"]["main"][0]
    for tensors in ("inputs", "outputs"):
        main[tensors] = {tensor + payload: value for tensor, value in main[tensors].items()}
    tir.members[name] = json.dumps(metadata).encode()
    tir.members = {name: data for name, data in tir.members.items() if not name.endswith(".h")}  # it would give the names
    return tir.archive()


def injected(directory: Path) -> list[str]:
    """What stands outside of comments and strings of the files and should not."""
    found = []
    for path in sorted(directory.rglob("*.[ch]")):
        text = path.read_bytes()
        raw = re.search(rb"\\\n[^ ]|\?\?/|[\x00-\x08\x0b-\x1f\x7f-\xff]", re.sub(rb"^#define[^\n]*(\\\n[^\n]*)*", b"", text, flags=re.MULTILINE))
        if raw:
            found.append(f"{path.name}: {raw.group()!r}")
        macros = re.sub(rb"\\\n", b" ", text)  # of initialiser macros, which are ours
        found += [f"{path.name}: {match.group()!r}" for match in FORBIDDEN.finditer(CODE.sub(b" ", macros))]
    return found


def compiled(directory: Path) -> list[str]:
    faults = []
    include = directory / "codegen" / "host" / "include"
    for compiler in COMPILERS:
        for path in sorted((directory / "codegen" / "host" / "src").glob("*.c")):
            done = subprocess.run([*compiler, "-trigraphs", "-fsyntax-only", "-I", include, path], capture_output=True, text=True, check=False)
            if done.returncode != 0 or done.stderr:
                faults.append(f"{compiler[0]} {path.name}: {done.stderr[:300]}")
    return faults


def texts(sandbox: Sandbox, archive: bytes, pools: Path) -> None:
    for index, payload in enumerate(PAYLOADS):
        label = f"names with {payload!r}"
        hostile = renamed(archive, payload)
        done = sandbox.run(label, hostile, OK, arguments=("--pools", str(pools), "--verbose"))
        if done.returncode == OK:
            # Compilers are slow: each payload with one of them, the first ones with all.
            chosen = COMPILERS if index < 2 else [COMPILERS[index % len(COMPILERS)]]
            saved, COMPILERS[:] = list(COMPILERS), chosen
            sandbox.report(label + ", emitted C", injected(sandbox.out) + compiled(sandbox.out))
            COMPILERS[:] = saved
        for command in (("inspect",), ("inspect", "--tir"), ("inspect", "--json"), ("init",), ("problem",)):
            show = subprocess.run([sandbox.binary, *command, sandbox.directory / "model.tar"], capture_output=True, check=False)
            shown = show.stdout.decode("utf-8", "replace")
            bad = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", shown)
            faults = [f"exit code {show.returncode}: {show.stderr[:200]!r}"] if show.returncode else []
            sandbox.report(f"{label}, {' '.join(command)}", faults + ([f"{bad.group()!r} is shown"] if bad else []))


def imports(sandbox: Sandbox, archive: bytes) -> None:
    """C that the archive brings along is emitted, as it must be, and named."""
    source = '\n// \x1b[2J\n#include <stdint.h>\n/* \x1b[2J */ static int evil(void) { return 1; }\n'
    tir = Tir(archive)
    loop = tir.first("tir.For")
    text = tir.add({"type_key": "runtime.String", "repr_b64": base64.b64encode(struct.pack("<Q", len(source)) + source.encode()).decode()})
    value = tir.add({"type_key": "tir.StringImm", "attrs": {"dtype": "handle", "span": "0", "value": text}})
    key = tir.add({"type_key": "runtime.String", "repr_str": "pragma_import_c"})
    tir.nodes.append(dict(loop))
    inner = str(len(tir.nodes) - 1)
    loop["type_key"] = "tir.AttrStmt"
    loop["attrs"] = {"attr_key": key, "node": "0", "value": value, "body": inner, "span": "0"}
    done = sandbox.run("imported C", tir.archive(), OK)
    line = f"tvmgen_default_fused_cast_subtract: {len(source)} bytes, /* \\x1b[2J */ static int evil(void) {{ return 1; }}"
    sandbox.report("imported C is named", [] if line in done.stdout.decode() else [done.stdout.decode()])
    listed = json.loads((sandbox.out / "default.plan.json").read_text())["imported_c"]
    wanted = [{"function": "tvmgen_default_fused_cast_subtract", "bytes": len(source), "first_line": "/* \x1b[2J */ static int evil(void) { return 1; }"}]
    sandbox.report("imported C is in the plan file", [] if listed == wanted else [str(listed)])
    sandbox.report("imported C is emitted", [] if source in (sandbox.out / "codegen/host/src/default_lib1.c").read_text() else ["it is not"])


def modules(sandbox: Sandbox, archive: bytes) -> None:
    """Names of modules become names of files and of C."""

    def named(*names: str) -> bytes:
        found = members_of(archive)
        metadata = json.loads(found["./metadata.json"])
        module = metadata["modules"].pop("default")
        for name in names:
            metadata["modules"][name] = module
            found[f"./src/{name}.tir.json"] = found["./src/default.tir.json"]
        found["./metadata.json"] = json.dumps(metadata).encode()
        return tar_of(found)

    for name in ("../evil", "a/b", "a\\b", "", ".", "..", ".hidden", "a\nb", "a\x1b[2J", "x" * 201):
        found = members_of(archive)
        found["./metadata.json"] = json.dumps({**json.loads(found["./metadata.json"]), "modules": {name: json.loads(found["./metadata.json"])["modules"]["default"]}}).encode()
        sandbox.run(f"module {name[:20]!r}", tar_of(found), ARCHIVE, "cannot be part of a file name")
    for name in ("a b;touch x", "-rf", "$(touch x)", "*x; int y;", 'x" y', "??x", "\u202eabc", "CON", "x" * 200):
        done = sandbox.run(f"module {name[:20]!r}", named(name), OK)
        if done.returncode == OK:
            odd = [path.name for path in (sandbox.out / "codegen").rglob("*") if re.search(r"[^A-Za-z0-9_.-]|^-", path.name)]
            sandbox.report(f"module {name[:20]!r}, files", [f"odd names: {odd}"] if odd else injected(sandbox.out))
    sandbox.run("modules of one C name", named("Net", "net"), ARCHIVE, "two modules have the C name 'tvmgen_net'")


# --- Pools files --------------------------------------------------------------------------------------------------------


def pools_files(sandbox: Sandbox, archive: bytes) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(ord(c) + 1)}: &{chr(ord(c) + 1)} [{', '.join(['*' + c] * 9)}]\n" for c in "abcdefgh")
    pool = "workspace_pools:\n  - name: {}\n"
    table = [
        ("an alias bomb", bomb, "anchor"),
        ("an alias", "workspace_pools: *x\n", "alias"),
        ("an anchor that refers to itself", "workspace_pools: &x [*x]\n", "anchor"),
        ("a merge key", "workspace_pools:\n  - <<: {name: sram}\n", "<<"),
        ("a tag", "workspace_pools: !!python/object/apply:os.system [x]\n", "tag"),
        ("deep lists", "workspace_pools: " + "[" * 100000, ""),
        ("deep maps", "workspace_pools: " + "{a: " * 100000, ""),
        ("deep blocks", "".join(" " * i + "-\n" for i in range(3000)), ""),
        ("a huge document", "#" + "x" * (1 << 25), "larger than 1048576 bytes"),
        ("many documents", "---\n" * 1000 + "a: b\n", "document"),
        ("a pool name of C", pool.format("'sram]; int x[1'"), "C identifier"),
        ("a pool name with a newline", pool.format('"s\\nint x;"'), "C identifier"),
        ("an escape sequence", pool.format('"\\e[2J"'), ""),
        ("binary", "\0\1\2", "control character"),
    ]
    for label, text, part in table:
        sandbox.reset()
        path = sandbox.directory / "pools.yaml"
        path.write_text(text)
        sandbox.run(f"pools file: {label}", archive, USAGE, "pools.yaml", part, arguments=("--pools", str(path)), keep=True)
        sandbox.report(f"pools file: {label}, afterwards", ["there is output"] if sandbox.out.exists() else [])
    section = pool.format("sram") + "    internal: true\n    section: {}\n"
    for text in ("'.x\" ))) int injected_token;'", '".x\\nint injected_token;"', "'.x??/'"):
        sandbox.reset()
        path = sandbox.directory / "pools.yaml"
        path.write_text(section.format(text))
        target = [sandbox.binary, sandbox.directory / "model.tar", "--pools", path, "-o", sandbox.out]
        (sandbox.directory / "model.tar").write_bytes(archive)
        done = subprocess.run(target, capture_output=True, check=False)
        faults = injected(sandbox.out) if done.returncode == OK else [] if done.returncode == USAGE else [str(done)]
        sandbox.report(f"section {text}", faults)


def main() -> int:
    binary, testdata = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    plain = (testdata / "cast_subtract.tar").read_bytes()
    with tempfile.TemporaryDirectory(prefix="usmp-hostile-") as temporary:
        sandbox = Sandbox(binary, Path(temporary).resolve() / "sandbox")
        sandbox.directory.mkdir()
        os.environ["TMPDIR"] = temporary
        members(sandbox, plain)
        links_in_the_output(sandbox, plain)
        texts(sandbox, (testdata / "repeated_op.tar").read_bytes(), (testdata / "pools" / "dtcm_sram.yaml").resolve())
        imports(sandbox, plain)
        modules(sandbox, plain)
        pools_files(sandbox, plain)
    print(f"{sandbox.passed} passed, {sandbox.failed} failed")
    return 1 if sandbox.failed else 0


if __name__ == "__main__":
    sys.exit(main())
