// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Where results are to be written, looked at before anything is computed.
#pragma once

#include <string>
#include <vector>

#include "usmp/plan_file/plan_json.hpp"

namespace usmp::driver {

enum class OutputKind { file, plans, directory, planned };  // plans: a directory of them; planned: C, of `plan`

// Throws Error of kind usage if the path is empty, if the directory that it lies in is not there, or if writing it
// would replace one of the `inputs` or write into it; into a source tree, plans and a file that no model is read from
// may be written. A file must be no directory. `option` is what the path was given with. Inputs that are not there
// count for nothing. Throws Error of kind output if it cannot be written (require_writable).
void check_output_path(const std::string& option, const std::string& path, const std::vector<std::string>& inputs,
                       OutputKind kind = OutputKind::file);

// Throws Error of kind usage if both outputs are one file, by whatever names.
void require_different_outputs(const std::string& option, const std::string& path, const std::string& other_option,
                               const std::string& other);

// Throws Error of kind usage if a file of the directory is the plan of another model than the one at `model`: models
// are the same if the names of their archives are, without the ending. Files that are no plans of usmp-plan count for
// nothing.
void require_same_model(const std::string& directory, const std::string& file, const std::string& model);

// A file of a directory that has the name which `plan` gives to a module's plan, and what it says in front.
struct PlanInDirectory {
  std::string name;
  plan_file::PlanHead head;
};

// By name; nothing if there is no such directory.
[[nodiscard]] std::vector<PlanInDirectory> plans_in(const std::string& directory);

// Whether `plan` has written the directory. A source tree may hold a plan as well, such as the baseline of a budget.
[[nodiscard]] bool is_output_directory(const std::string& directory);

// The same for all files that have the name which `plan` gives to a module's plan, and several models. If `modules` are
// given, none of the files may be the plan of another module: what all modules share would be without it.
void require_same_models(const std::string& directory, const std::vector<std::string>& models,
                         const std::vector<std::string>& modules);

// The file name. "." and "resnet8/.." are called by the directory that they are, "/dev/fd/63" is "pipe".
[[nodiscard]] std::string name_of_model(const std::string& path);

}  // namespace usmp::driver
