// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* What the C that TVM emits expects of its runtime, for timing that C: a workspace stack and the export macro. */
#ifndef USMP_BENCH_C_RUNTIME_API_H_
#define USMP_BENCH_C_RUNTIME_API_H_
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define TVM_DLL
void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint, int dtype_bits_hint);
int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr);
#ifdef __cplusplus
}
#endif
#endif
