// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Opening a model: archive and metadata. Shared by the commands.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "usmp/driver/driver.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/support/input_file.hpp"

namespace usmp::driver {

struct Model {
  std::string file_name;              // of the path, for reports
  bool bare_module = false;           // a TIR module without archive: plannable, but there is no interface to emit
  std::optional<std::string> from;    // ModelOptions
  bool in_place = false;              // planned C takes the place of the model's
  std::set<std::string> synchronous;  // ModelOptions
  mlf::Archive archive;
  mlf::Metadata metadata;                     // only the chosen modules
  pipeline::Transformations transformations;  // those asked for
};

// Reads the archive (or bare module) and picks the modules. Throws Error with the file set.
Model open_model(const ModelOptions& options);

// Modules are read from their C, where there is any that TVM wrote: somebody may have edited it.
void prefer_c(Model& model);

// Checks ModelOptions::synchronous: one at least stands in the C of a module that is read from C. Throws Error of kind
// usage. O(bytes of C).
void require_known_synchronous(std::span<const Model> models, const std::set<std::string>& names);

// One module as the archive has it. Throws Error with file and member set. With `release_tir` the member's bytes are
// freed as soon as they are read.
pipeline::SourceModule read_module(Model& model, const model::Description& info, bool release_tir);

// The module's C, to be read. Points into the model.
pipeline::CFiles sources_of(const Model& model, const model::Description& info);

// "default, second".
std::vector<std::string> module_names(const mlf::Metadata& metadata);
std::string module_list(const mlf::Metadata& metadata);

// "has 2 modules, and a report shows one: expected --module kws or --module vww".
std::string one_module_text(const std::vector<std::string>& names, const std::string& what);

// The whole file. Throws Error of kind usage if it cannot be opened, of the given kind if it cannot be read to its end
// or is larger than `most` bytes.
std::string read_text_file(const std::string& path, ErrorKind kind, std::size_t most,
                           InputFile::Noted noted = InputFile::Noted::yes);

}  // namespace usmp::driver
