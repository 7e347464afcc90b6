// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the planned model once. The generated C defines its pool.
#include "tvmgen_keywords.h"

static int8_t mfcc[TVMGEN_KEYWORDS_MFCC_SIZE], scores[TVMGEN_KEYWORDS_SCORES_SIZE];

int main(void) {
  struct tvmgen_keywords_inputs inputs = {.mfcc = mfcc};
  struct tvmgen_keywords_outputs outputs = {.scores = scores};
  return (int)tvmgen_keywords_run(&inputs, &outputs);
}
