// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The layout of planned C in a source tree: which of its files get which parts, and what of them stays.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/pipeline/planned.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

// The directory around all files that may change, and their paths below it.
class Places {
 public:
  // `model` has to stay.
  explicit Places(const Model& model);

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string of(const std::string& member) const;

 private:
  const Model& model_;
  std::string root_;
  std::string below_;
  std::size_t levels_ = 0;
};

// A file of the tree, by its member.
struct Change {
  std::string member;
  std::function<void(TextSink&)> write;
  bool is_emptied = false;
};

// What becomes of the tree's files with a planned module. They point into `input` and `model`. Throws Error of kind
// usage: a header would lose what it gives the firmware, functions or additions would be lost, or a file would have to
// be added; of kind archive: as mlf::files_of_module.
[[nodiscard]] std::vector<Change> tree_changes(const pipeline::PlannedProgram& module,
                                               const codegen::EmissionInput& input, const Model& model,
                                               const Places& places);

}  // namespace usmp::driver
