// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs testdata/repeated_op.tar once. The generated C defines the pool.
#include <stdio.h>

#include "tvmgen_default.h"

static float data[TVMGEN_DEFAULT_DATA_SIZE / sizeof(float)];
static float first[TVMGEN_DEFAULT_OUTPUT0_SIZE / sizeof(float)];
static float second[TVMGEN_DEFAULT_OUTPUT1_SIZE / sizeof(float)];

int main(void) {
  struct tvmgen_default_inputs inputs = {.data = data};
  struct tvmgen_default_outputs outputs = {.output0 = first, .output1 = second};
  const int status = (int)tvmgen_default_run(&inputs, &outputs);
  printf("status %d, %d bytes of sram\n", status, TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE);
  return status;
}
