#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""A network of which an accelerator computes two operators, as TVM writes it: hooks of the firmware's activate, open, close
and deactivate the device, whose context main gets and passes on.

The C that is planned runs with hooks that record their calls, under AddressSanitizer and UBSan. The order of hooks, kernels
and operators on the CPU, the contexts, the outputs and the results must be those of the C before planning; so must they if any
one of the hooks and kernels fails.

usage: devices.py USMP_PLAN
"""

import sys
import tempfile
from pathlib import Path

import checkouts
import golden
import kept_c

HOOKS = ("Activate", "Open", "Close", "Deactivate")
HEADER = kept_c.HEADER.replace("int32_t tvmgen_m_run(", "struct tvmgen_m_devices { void* npu; };\nint32_t tvmgen_m_run(").replace(
    "outputs);", "outputs, struct tvmgen_m_devices* devices);")
ENTRY = (kept_c.unplanned_entry().replace("void* output0)", "void* output0,void* device_context_npu)")
         .replace("struct tvmgen_m_outputs* outputs)", "struct tvmgen_m_outputs* outputs,struct tvmgen_m_devices* devices)")
         .replace("outputs->y)", "outputs->y,devices->npu)"))
KERNEL = kept_c.EXTERN + """TVM_DLL int32_t tvmgen_m_npu_main_%d(int8_t* in, int8_t* out, void* device) {
  const int32_t result = npu_kernel(device, %d);
  for (int i = 0; result == 0 && i < 256; ++i) out[i] = (int8_t)(in[255 - i] ^ %d);
  return result;
}
"""
KERNELS = ('// tvm target: npu\n#include <stdint.h>\n#include "tvm/runtime/c_runtime_api.h"\n'
           "int32_t npu_kernel(void* device, int32_t number);\n" + KERNEL % (0, 0, 5) + KERNEL % (1, 1, 9))
DECLARED = "".join(f"TVM_DLL int32_t TVMDeviceNpu{hook}(void* device);\n" for hook in HOOKS) + "".join(
    f"TVM_DLL int32_t tvmgen_m_npu_main_{number}(int8_t* in, int8_t* out, void* device);\n" for number in (0, 1))
ADD = kept_c.EXTERN + """TVM_DLL int32_t tvmgen_m_fused_add(int8_t* p0, int8_t* T_add) {
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)(p0[i] ^ (int8_t)3));
  }
  return 0;
}
"""


def call(text: str) -> str:
    return f"  if ({text} != 0 ) return -1;\n"


def kernel(number: int, source: str, to: str) -> str:
    """As TVM brackets each call of a device's function."""
    return (call("TVMDeviceNpuOpen(device_context_npu)") + call(f"tvmgen_m_npu_main_{number}({source}, {to}, device_context_npu)")
            + call("TVMDeviceNpuClose(device_context_npu)"))


MAIN = kept_c.HEAD + DECLARED + ADD + kept_c.EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, void* device_context_npu) {
  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 8);
  if (sid_1 == NULL) {
    return -1;
  }
  void* sid_2 = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 8);
  if (sid_2 == NULL) {
    return -1;
  }
""" + call("TVMDeviceNpuActivate(device_context_npu)") + call("tvmgen_m_fused_add(x_buffer_var, sid_1)") + kernel(0, "sid_1", "sid_2") \
    + call("tvmgen_m_fused_add(sid_2, sid_1)") + kernel(1, "sid_1", "y_buffer_var") + call("TVMDeviceNpuDeactivate(device_context_npu)") + """  if (TVMBackendFreeWorkspace(1, 0, sid_2) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {
    return -1;
  }
  return 0;
}
"""
CALLS = ["activate", "open", "kernel 0", "close", "open", "kernel 1", "close", "deactivate"]
HOOK = "int32_t TVMDeviceNpu{0}(void* device);\nint32_t TVMDeviceNpu{0}(void* device) {{ return called(device, \"{1}\"); }}\n"
FIRMWARE = """#include <stdio.h>
#include "tvmgen_m.h"
static int npu, count, fails_at;
static int32_t called(void* device, const char* what) {
  printf("%s%s\\n", what, device == &npu ? "" : ", another device");
  return count++ == fails_at ? 7 : 0;
}
int32_t npu_kernel(void* device, int32_t number);
int32_t npu_kernel(void* device, int32_t number) { return called(device, number == 0 ? "kernel 0" : "kernel 1"); }
""" + "".join(HOOK.format(hook, hook.lower()) for hook in HOOKS) + """int main(void) {
  static int8_t x[256], y[256];
  for (fails_at = -1; fails_at < 8; ++fails_at) {
    struct tvmgen_m_inputs inputs = {x};
    struct tvmgen_m_outputs outputs = {y};
    struct tvmgen_m_devices devices = {&npu};
    count = 0;
    for (int i = 0; i < 256; ++i) { x[i] = (int8_t)(i * 7); y[i] = 0; }
    const int32_t result = tvmgen_m_run(&inputs, &outputs, &devices);
    unsigned wrong = 0;
    for (int i = 0; i < 256; ++i) wrong += y[i] != (int8_t)(x[i] ^ 3 ^ 5 ^ 3 ^ 9);
    printf("result %d, %s\\n", (int)result, wrong == 0 ? "right" : "wrong");
  }
  return 0;
}
"""


def expected() -> str:
    lines = []
    for fails_at in range(-1, len(CALLS)):
        lines += CALLS if fails_at < 0 else CALLS[:fails_at + 1]
        # What the kernels write is there as soon as the second one has run.
        lines.append("result 0, right" if fails_at < 0 else f"result -1, {'right' if fails_at > CALLS.index('kernel 1') else 'wrong'}")
    return "\n".join(lines) + "\n"


def check_run(directory: Path, includes: Path, sources: list[Path], what: str) -> None:
    program = directory / "run"
    found = golden.run_sanitized([*golden.GCC, "-O1", "-Wall", "-Wno-unused", *golden.SANITIZE, "-I", includes, "-I", kept_c.SHIM, *sources,
                                  directory / "firmware.c", directory / "runtime.c", "-o", program], program).stdout
    if found != expected():
        raise golden.Failure(f"{what}:\n{found}\nexpected:\n{expected()}")


def main() -> int:
    binary = Path(sys.argv[1]).resolve()
    files = {"tvmgen_m.h": HEADER, "m_lib0.c": ENTRY, "m_lib1.c": MAIN, "m_lib2.c": KERNELS}
    with tempfile.TemporaryDirectory(prefix="usmp-devices-") as temporary:
        directory = Path(temporary)
        tree = directory / "tree"
        checkouts.write_tree(tree, files)
        (directory / "firmware.c").write_text(FIRMWARE)
        (directory / "runtime.c").write_text(checkouts.RUNTIME.replace("MODULE", "m").replace("MACRO", "M"))
        check_run(directory, tree, sorted(tree.glob("*.c")), "before planning")
        for transform in ("none", "all"):
            out = directory / transform
            golden.run([binary, tree, "-o", out, "--transform", transform, "--quiet"])
            check_run(directory, out / "codegen/host/include", sorted((out / "codegen/host/src").glob("*.c")), f"--transform {transform}")
    print(f"{len(CALLS) + 1} runs before planning and with each of 2 plans")
    return 0


try:
    sys.exit(main())
except golden.Failure as failure:
    sys.exit(str(failure))
