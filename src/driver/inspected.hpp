// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A model's module as inspect and init look at it: transformed, for no pools, and not planned.
#pragma once

#include "model.hpp"
#include "usmp/pipeline/program.hpp"

namespace usmp::driver {

struct Inspected {
  pipeline::SourceModule source;
  pipeline::Program program;
};

// With all steps asked for: there are no pools for which one could be of no use. Throws Error with the file set.
[[nodiscard]] Inspected inspected_module(Model& model, const model::Description& info);

}  // namespace usmp::driver
