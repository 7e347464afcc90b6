// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Another name for a module, so that several models can be linked together: most are called "default".
#pragma once

#include <string>

#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"

namespace usmp::mlf {

// Gives the archive's only module the name `name`, a C identifier: in `info`, in the names of its libraries, and in the
// texts of its TIR, its C and its libraries, wherever an identifier is TVM's symbol of the module (tvmgen_default, or
// TVMGEN_DEFAULT) or begins with it and '_'. metadata.json stays. O(bytes of these members).
void rename_module(Archive& archive, model::Description& info, const std::string& name);

}  // namespace usmp::mlf
