// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a module as TVM exports one: nothing placed, every tensor taken when its function begins.
#include "usmp/pipeline/unplanned.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "usmp/codegen/codegen.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/storage/stack_arrays.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tir_json/writer.hpp"

namespace usmp::pipeline {
namespace {

// What the functions take at run time: the entry for all of its run, each operator while it runs.
mlf::UnplannedFigures figures_of(const tir::Module& module) {
  mlf::UnplannedFigures figures;
  std::set<const tir::Constant*> constants;
  Bytes most = 0;
  for (const tir::Function& function : module.functions) {
    Bytes own = 0;
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
        if (constants.insert(constant->data.get()).second) {
          figures.constants_bytes += static_cast<Bytes>(constant->data->bytes.size());
        }
      }
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && !allocate->on_stack) own += tir::allocation_size(*allocate).bytes.value_or(0);
    });
    if (function.is_entry) {
      figures.workspace_bytes += own;
    } else {
      most = std::max(most, own);
      figures.workspace_of[function.name] = own;
    }
  }
  figures.workspace_bytes += most;
  return figures;
}

}  // namespace

std::vector<OutputFile> unplanned_archive(const SourceModule& source) {
  tir::Module module = source.module;
  module.stack_arrays = storage::default_plan_stack;
  storage::keep_on_stack(module);
  const placement::Table nowhere;
  const lower::Lowered lowered = lower::lower(module, nowhere);
  const codegen::EmissionInput input{
      .info = source.info, .source = module, .placements = nowhere, .lowered = lowered, .is_unplanned = true};
  std::vector<OutputFile> files;
  for (const OutputFile& file : codegen::module_files(input)) {
    // The writers refer to values that end here.
    StringSink text;
    file.write(text);
    files.push_back({file.path, [text = text.text()](TextSink& sink) { sink.write(text); }});
  }
  files.push_back({"metadata.json",
                   [text = mlf::new_metadata(source.info, figures_of(module))](TextSink& sink) { sink.write(text); }});
  files.push_back({"src/" + source.info.name + ".tir.json",
                   [tir = source.module](TextSink& sink) { tir_json::write_module(tir, sink); }});
  return files;
}

}  // namespace usmp::pipeline
