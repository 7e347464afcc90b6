#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""What --emit-metadata writes, for TVM and for C, used by programs that know no model.

One is a runtime in the manner of TVM's for AoT, against declarations of our own: it asks get_c_metadata, makes the tensors that
the tables describe (the array of constants from their serialised form), sets inputs by name, calls the entry by the name that
the tables give, and gets the outputs, which have to be the golden ones. The other prints tvmgen_M_info, which has to say what
the plan says.

usage: metadata_tables.py USMP_PLAN TESTDATA [SHARED]
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import golden
from golden import GCC, SANITIZE, WARNINGS, Model, run, sanitised

PROGRAM, TESTDATA = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()

RUNTIME_API = """#ifndef RUNTIME_API_H
#define RUNTIME_API_H
#include <stdint.h>
#define TVM_DLL
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { void* data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t* shape; int64_t* strides; uint64_t byte_offset; } DLTensor;
typedef union { int64_t v_int64; double v_float64; void* v_handle; const char* v_str; } TVMValue;
enum { kTVMOpaqueHandle = 3, kTVMDLTensorHandle = 7 };
#endif
"""
METADATA_TYPES = """#ifndef METADATA_TYPES_H
#define METADATA_TYPES_H
#include "c_runtime_api.h"
struct TVMTensorInfo { const char* name; const int64_t* shape; int64_t num_shape; DLDataType dtype; };
struct TVMConstantInfo { const char* name_hint; int64_t byte_offset; int64_t data_len; const void* data_bytes; };
struct TVMMetadata {
  int64_t version;
  const struct TVMTensorInfo* inputs; int64_t num_inputs;
  const struct TVMTensorInfo* outputs; int64_t num_outputs;
  const struct TVMTensorInfo* workspace_pools; int64_t num_workspace_pools;
  const struct TVMConstantInfo* constant_pools; int64_t num_constant_pools;
  const char* mod_name;
};
#endif
"""
# Functions are registered under these names, as TVM's registry has them.
RUNTIME = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/metadata_types.h>
typedef int32_t function(TVMValue*, int*, int, TVMValue*, int*, void*);
function tvmgen_default_get_c_metadata, usmp_default___tvm_main__;
static const struct { const char* name; function* address; } registry[] = {
  {"get_c_metadata", tvmgen_default_get_c_metadata}, {"usmp_default___tvm_main__", usmp_default___tvm_main__}};
static function* found(const char* name) {
  for (size_t i = 0; i < 2; ++i) if (strcmp(registry[i].name, name) == 0) return registry[i].address;
  fprintf(stderr, "no function %s\n", name);
  exit(1);
}
static void check(int good, const char* what) { if (!good) { fprintf(stderr, "%s\n", what); exit(1); } }
static DLTensor tensors[64];
static size_t sizes[64];
static int count = 0;
static int64_t shape_of_constants[1];
static void add(const int64_t* shape, int64_t rank, DLDataType type) {
  size_t size = type.lanes * (size_t)((type.bits + 7) / 8);
  for (int64_t i = 0; i < rank; ++i) size *= (size_t)shape[i];
  DLTensor* t = &tensors[count];
  sizes[count++] = size;
  t->device.device_type = 1;
  t->ndim = (int32_t)rank;
  t->dtype = type;
  t->shape = (int64_t*)(uintptr_t)shape;
  check(posix_memalign(&t->data, 128, size + 1) == 0, "memory");
  memset(t->data, 0xa5, size);
}
static int64_t number(const unsigned char* bytes, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i) value |= (uint64_t)bytes[i] << (8 * i);
  return (int64_t)value;
}
/* The data of a serialised NDArray. */
static const unsigned char* array(const struct TVMConstantInfo* c, int64_t* size) {
  const unsigned char* bytes = (const unsigned char*)c->data_bytes;
  check(number(bytes, 8) == (int64_t)0xDD5E40F096B4A13Fu && number(bytes + 8, 8) == 0 && number(bytes + 16, 4) == 1, "head of an array");
  int64_t rank = number(bytes + 24, 4), elements = 1;
  for (int64_t i = 0; i < rank; ++i) elements *= number(bytes + 32 + 8 * i, 8);
  *size = number(bytes + 32 + 8 * rank, 8);
  check(elements * ((bytes[29] + 7) / 8) * number(bytes + 30, 2) == *size && 40 + 8 * rank + *size == c->data_len, c->name_hint);
  return bytes + 40 + 8 * rank;
}
static char path[4096];
static FILE* opened(const char* folder, const char* name, const char* ending, const char* mode) {
  snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
  return fopen(path, mode);
}
int main(int argc, char** argv) {
  check(argc == 3, "arguments");
  TVMValue result;
  int code = 0;
  check(found("get_c_metadata")(NULL, NULL, 0, &result, &code, NULL) == 0 && code == kTVMOpaqueHandle, "get_c_metadata");
  const struct TVMMetadata* md = (const struct TVMMetadata*)result.v_handle;
  check(md->version == 1, "version");
  for (int64_t i = 0; i < md->num_inputs; ++i) add(md->inputs[i].shape, md->inputs[i].num_shape, md->inputs[i].dtype);
  for (int64_t i = 0; i < md->num_outputs; ++i) add(md->outputs[i].shape, md->outputs[i].num_shape, md->outputs[i].dtype);
  if (md->num_workspace_pools > 0) {
    int64_t end = 0, size = 0;
    for (int64_t i = 0; i < md->num_constant_pools; ++i) {
      (void)array(&md->constant_pools[i], &size);
      if (md->constant_pools[i].byte_offset + size > end) end = md->constant_pools[i].byte_offset + size;
    }
    DLDataType bytes = {1, 8, 1};
    shape_of_constants[0] = end;
    add(shape_of_constants, 1, bytes);
    for (int64_t i = 0; i < md->num_constant_pools; ++i) {
      const unsigned char* data = array(&md->constant_pools[i], &size);
      memcpy((char*)tensors[count - 1].data + md->constant_pools[i].byte_offset, data, (size_t)size);
    }
    for (int64_t i = 0; i < md->num_workspace_pools; ++i)
      add(md->workspace_pools[i].shape, md->workspace_pools[i].num_shape, md->workspace_pools[i].dtype);
  }
  TVMValue args[64];
  int codes[64];
  for (int i = 0; i < count; ++i) { args[i].v_handle = &tensors[i]; codes[i] = kTVMDLTensorHandle; }
  for (int64_t i = 0; i < md->num_inputs; ++i) { /* set_input */
    FILE* f = opened(argv[1], md->inputs[i].name, ".in.bin", "rb");
    check(f && fread(tensors[i].data, 1, sizes[i], f) == sizes[i] && fgetc(f) == EOF, md->inputs[i].name);
    fclose(f);
  }
  char name[256];
  snprintf(name, sizeof name, "%s___tvm_main__", md->mod_name);
  function* entry = found(name);
  int least = count - (md->num_workspace_pools > 0 && md->num_constant_pools == 0); /* an array of no constants may be left out */
  check(entry(args, codes, least - 1, &result, &code, NULL) == -1, "an argument too few");
  check(entry(args, codes, count + 2, &result, &code, NULL) == -1, "arguments too many");
  void* data = tensors[0].data;
  tensors[0].data = NULL;
  check(entry(args, codes, count, &result, &code, NULL) == -1, "a tensor without data");
  tensors[0].data = (char*)data - 64;
  tensors[0].byte_offset = 64;
  check(entry(args, codes, count, &result, &code, NULL) == 0, "run");
  tensors[0].data = data;
  for (int64_t i = 0; i < md->num_outputs; ++i) { /* get_output */
    FILE* f = opened(argv[2], md->outputs[i].name, ".out.bin", "wb");
    size_t at = (size_t)(md->num_inputs + i);
    check(f && fwrite(tensors[at].data, 1, sizes[at], f) == sizes[at] && fclose(f) == 0, md->outputs[i].name);
  }
  for (int i = 0; i < count; ++i) free(tensors[i].data);
  return 0;
}
"""
PRINTER = r"""
#include <stdio.h>
#include "tvmgen_default.info.h"
static void tensors(const char* key, const struct usmp_tensor_info* t, size_t count) {
  size_t i, k;
  printf("\"%s\": [", key);
  for (i = 0; i < count; ++i) {
    printf("%s{\"name\": \"%s\", \"dtype\": \"%s\", \"size\": %lu, \"pool\": \"%s\", \"offset\": %lu, \"shape\": [", i ? ", " : "", t[i].name, t[i].dtype,
           (unsigned long)t[i].size, t[i].pool ? t[i].pool->name : "", (unsigned long)t[i].offset);
    for (k = 0; k < t[i].rank; ++k) printf("%s%ld", k ? ", " : "", (long)t[i].shape[k]);
    printf("]}");
  }
  printf("], ");
}
int main(void) {
  const struct usmp_module_info* m = &tvmgen_default_info;
  size_t i;
  printf("{");
  tensors("inputs", m->inputs, m->num_inputs);
  tensors("outputs", m->outputs, m->num_outputs);
  tensors("constants", m->constants, m->num_constants);
  printf("\"name\": \"%s\", \"workspace\": %lu, \"pools\": [", m->name, (unsigned long)m->workspace_size);
  for (i = 0; i < m->num_pools; ++i)
    printf("%s{\"name\": \"%s\", \"used\": %lu, \"alignment\": %lu, \"constant\": %d, \"internal\": %d}", i ? ", " : "", m->pools[i].name,
           (unsigned long)m->pools[i].size, (unsigned long)m->pools[i].alignment, m->pools[i].is_constant, m->pools[i].is_internal);
  printf("]}\n");
  return 0;
}
"""
POOLS = {
    "internal": "workspace_pools: [{name: sram, internal: true}]\nparameter_pools: [{name: flash, emit: array}]\n",
    "provided": "workspace_pools: [{name: dtcm, size_hint_bytes: 3000}, {name: sram}]\nparameter_pools: [{name: flash, pool_offset: 24}]\n",
    "provided workspace": "workspace_pools: [{name: sram, pool_offset: 8}]\n",
    "io": "workspace_pools: [{name: sram}]\nparameter_pools: [{name: flash}]\nworkspace_io: true\n",
}
CXX = ["g++", "-std=c++11"]


def planned(folder: Path, model: Model, pools: str, *options: str) -> Path:
    (folder / "pools.yaml").write_text(pools, encoding="utf-8")
    run([PROGRAM, model.path, "--pools", folder / "pools.yaml", "-o", folder / "planned", "--quiet", *options])
    return folder / "planned"


def built(folder: Path, planned_folder: Path, main: str) -> Path:
    (folder / "tvm/runtime").mkdir(parents=True, exist_ok=True)
    (folder / "tvm/runtime/c_runtime_api.h").write_text(RUNTIME_API, encoding="utf-8")
    (folder / "tvm/runtime/metadata_types.h").write_text(METADATA_TYPES, encoding="utf-8")
    (folder / "main.c").write_text(main, encoding="utf-8")
    includes = ["-I", folder, "-I", planned_folder / "codegen/host/include"]
    sources = sorted((planned_folder / "codegen/host/src").glob("*.c"))
    for source in sources:  # what is written is C++, too
        if source.name.endswith(("_info.c", "_metadata.c")):
            run([*CXX, *[flag for flag in WARNINGS if "prototypes" not in flag], "-Wshadow", "-x", "c++", "-fsyntax-only", *includes, source])
    run([*GCC, *WARNINGS, "-Wshadow", "-O1", *SANITIZE, *includes, *sources, "-c"], cwd=folder)
    run([*GCC, "-O1", *SANITIZE, *includes, folder / "main.c", *[source.with_suffix(".o").name for source in sources], "-lm", "-o",
         folder / "program"], cwd=folder)
    return folder / "program"


def check_runtime(model: Model, pools: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        program = built(folder, planned(folder, model, pools, "--emit-metadata"), RUNTIME)
        results = folder / "results"
        results.mkdir()
        source = model.golden["default"]
        run([program, source, results])
        for name, tensor in json.loads((source / "io.json").read_text())["outputs"].items():
            golden.compare(source, results, name, tensor["dtype"], model.name)


def check_info(model: Model, pools: str) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        where = planned(folder, model, pools, "--emit-metadata=info")
        info = json.loads(run([built(folder, where, PRINTER)]).stdout)
        plan = json.loads((where / "default.plan.json").read_text())
    assert info["name"] == "default" and info["workspace"] == sum(pool["used"] for pool in plan["pools"] if pool["kind"] == "workspace")
    for told, pool in zip(info["pools"], plan["pools"], strict=True):
        assert (told["name"], told["used"], told["constant"], told["internal"]) == \
            (pool["name"], pool["used"], int(pool["kind"] != "workspace"), int(pool["internal"])), (told, pool)
        assert told["alignment"] >= pool["alignment"], (told, pool)
    expected = sorted((b["pool"], b["offset"], b["size"]) for b in plan["buffers"] if b["kind"] == "constant" and b["live"])
    constants = sorted((c["pool"], c["offset"], c["size"]) for c in info["constants"])
    assert constants == expected and (constants or "flash" not in pools), (constants, expected)
    io = json.loads((model.golden["default"] / "io.json").read_text())
    for side, kind in (("inputs", "input"), ("outputs", "output")):
        places = {b["name"]: (b["pool"], b["offset"]) for b in plan["buffers"] if b["kind"] == kind}
        assert {t["name"]: (t["dtype"], t["size"]) for t in info[side]} == \
            {sanitised(name): (t["dtype"], t["size"]) for name, t in io[side].items()}, (info[side], io[side])
        assert all(len(t["shape"]) > 1 for t in info[side]), info[side]
        assert sorted((t["pool"], t["offset"]) for t in info[side] if t["pool"]) == sorted(places.values())
    for tensor in [*info["inputs"], *info["outputs"], *info["constants"]]:
        assert math.prod(tensor["shape"]) * int("".join(filter(str.isdigit, tensor["dtype"]))) // 8 == tensor["size"], tensor
    return len(constants)


def check_refusals(model: Model) -> None:
    cases = {
        POOLS["io"]: "expected no workspace_io, or --emit-metadata=info",
        "workspace_pools: [{name: sram}]\nparameter_pools: [{name: flash, size_hint_bytes: 8KiB}, {name: rom}]\n":
            "parameter pools 'flash' and 'rom' are the application's: expected emit: array for one of them",
        "workspace_pools: [{name: sram, internal: true}]\nparameter_pools: [{name: flash}]\n":
            "TVM's runtime provides constants only along with workspace, but parameter pool 'flash' alone is the application's",
    }
    for pools, message in cases.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "pools.yaml").write_text(pools)
            done = subprocess.run([PROGRAM, model.path, "--pools", folder / "pools.yaml", "-o", folder / "planned", "--emit-metadata"],
                                  capture_output=True, text=True)
            assert done.returncode == 2 and message in done.stderr, done
            assert not (folder / "planned").exists()


def check_words(model: Model) -> None:
    for words, message in ((["--emit-metadata=x"], "--emit-metadata: unknown 'x'; expected tvm, info or all"),
                           (["--emit-metadata", "--in-place"], "--in-place and --emit-metadata cannot be given together")):
        done = subprocess.run([PROGRAM, model.path, "--dry-run", *words], capture_output=True, text=True)
        assert done.returncode == 2 and message in done.stderr, done


def check_again(model: Model) -> None:
    """A plan without the options takes the files of one with them away."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run([PROGRAM, model.path, "-o", folder / "with.tar", "--quiet", "--emit-metadata=all"])
        run([PROGRAM, folder / "with.tar", "-o", folder / "without.tar", "--quiet"])
        run([PROGRAM, model.path, "-o", folder / "fresh.tar", "--quiet"])
        names = {name: run(["tar", "-tf", folder / f"{name}.tar"]).stdout for name in ("with", "without", "fresh")}
        assert names["without"] == names["fresh"] and len(names["with"].splitlines()) == len(names["fresh"].splitlines()) + 4, names


models = {model.name: model for model in golden.models_below(TESTDATA)}
SHARED = Path(sys.argv[3]) / "archives" if len(sys.argv) > 3 else Path("/nonexistent")
packed = SHARED / "variants/resnet8_packed.tar"
tables = [models[name] for name in ("lstm", "resnet8", "repeated_op", "ds_cnn")]
if packed.exists():
    tables.append(Model(packed, {"default": TESTDATA / "resnet8.golden"}))
for one in tables:
    for place in ("internal", "provided", "provided workspace"):
        check_runtime(one, POOLS[place])
print(f"tables: {len(tables)} models, three ways, walked and run")
counts = [check_info(model, pools) for model in (models["lstm"], models["resnet8"], models["cast_subtract"]) for pools in POOLS.values()]
print(f"info: {len(counts)} plans, {sum(counts)} constants")
check_refusals(models["lstm"])
check_words(models["lstm"])
check_again(models["lstm"])
