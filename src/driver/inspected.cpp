// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a module and transforms it.
#include "inspected.hpp"

#include "usmp/support/error.hpp"

namespace usmp::driver {

Inspected inspected_module(Model& model, const model::Description& info) {
  Inspected inspected{.source = read_module(model, info, true), .program = {}};
  try {
    inspected.program = pipeline::transformed(inspected.source, model.transformations, false);
  } catch (const Error& error) {
    throw error.with_file(model.archive.path);
  }
  return inspected;
}

}  // namespace usmp::driver
