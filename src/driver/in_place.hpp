// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan --in-place: planned C in the files that hold TVM's, so that a firmware's build needs no change.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model.hpp"
#include "output.hpp"
#include "planning.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

// An error of kind usage, about the whole archive.
[[nodiscard]] Error in_place_refusal(const Model& model, const std::string& message,
                                     std::vector<std::string> details = {});

struct InPlace {
  std::string directory;             // that all files lie below
  std::vector<OutputFile> files;     // all that change
  std::vector<std::string> written;  // their paths below `directory`, in order
  std::vector<std::string> emptied;  // likewise, those that are not needed any more
  std::string metadata;              // likewise, metadata.json; empty if there is none. It is not in `files`
  std::vector<KeptCopy> copies;      // of what nobody else has
};

// Before anything is computed. Throws Error of kind usage: the model is no directory and no C file, or a repository
// holds a file that would change and has not its bytes in HEAD (unless `force`); of kind archive: as
// mlf::files_of_module.
void check_in_place(const Model& model, bool force);

// The files of the planned modules under the names found. Throws Error of kind usage if a header would lose what it
// gives the firmware, or if a file would have to be added. The files point into `inputs` and `model`.
[[nodiscard]] InPlace in_place_files(const PlannedPrograms& modules, const std::vector<codegen::EmissionInput>& inputs,
                                     const Model& model);

// When the files are written: of those that no repository holds, copies with new names; no second one of the same
// bytes. Throws Error of kind usage as check_in_place does.
[[nodiscard]] std::vector<KeptCopy> copies_to_keep(const InPlace& done, const std::vector<OutputFile>& files,
                                                   const Model& model);

// What was done, for people.
[[nodiscard]] std::string in_place_text(const InPlace& done, const PlannedPrograms& modules, bool is_dry_run);

}  // namespace usmp::driver
