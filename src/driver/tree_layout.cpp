// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts the parts of planned C into the files that hold TVM's, and refuses what would be lost.
#include "tree_layout.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "called_entry.hpp"
#include "in_place.hpp"
#include "usmp/codegen/layout.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/mlf/kept_header.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::function<void(TextSink&)>& write) {
  StringSink sink;
  write(sink);
  return sink.text();
}

std::function<void(TextSink&)> writer_of(std::string text) {
  return [text = std::move(text)](TextSink& sink) { sink.write(text); };
}

// A translation unit of C must not be empty.
std::string emptied_text(const std::string& module, const std::string& operators) {
  return "/* Not needed any more: the operators of module \"" + printable(module) + "\" are in " + operators +
         ". Written by usmp-plan; do not edit. */\n" + codegen::terms_line +
         "typedef int usmp_operators_are_elsewhere;\n";
}

// What somebody added to tell others where pools are, of the pools of planned C.
std::string pool_accesses(const pipeline::PlannedProgram& module, const codegen::EmissionInput& input,
                          const Model& model) {
  if (module.source.pool_accesses.empty()) return {};
  const codegen::ModuleLayout layout = codegen::layout_of(input);
  std::string text = "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  std::set<std::string> defined;  // arrays that planned C does not have, since nothing is in them
  for (const tvm_c::PoolAccess& access : module.source.pool_accesses) {
    const auto pool = std::find_if(layout.pools.begin(), layout.pools.end(), [&](const codegen::PoolLayout& one) {
      return one.name == access.pool && one.kind == PoolKind::workspace && one.is_internal;
    });
    if (pool == layout.pools.end()) {
      throw in_place_refusal(model, access.file + ": " + in_quotes(access.name) + " tells other files where pool " +
                                        in_quotes(access.pool) +
                                        " is: expected a workspace pool of that name that the C owns " +
                                        "('internal: true' or 'section:' in the pools file)");
    }
    if (!pool->in_use && defined.insert(pool->storage).second) text += "\nstatic uint8_t " + pool->storage + "[1];\n";
    text += "\n" + access.text[0];
    for (std::size_t i = 1; i < access.text.size(); ++i) text += pool->storage + access.text[i];
    text += "\n";
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n";
}

// Functions, pools and constants of the model's, which planned C has under other names, or not at all.
std::set<std::string> gone_names(const pipeline::SourceModule& source, std::set<std::string> functions) {
  std::set<std::string> names = std::move(functions);
  for (const tvm_c::PlannedPool& pool : source.tvm_pools) {
    if (pool.in_c) names.insert(pool.name);
  }
  for (const tir::Function& function : source.module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant != nullptr) names.insert(source.module.var(constant->var).name);
    });
  }
  return names;
}

// Lays the planned C of a module out in the files that hold TVM's.
class TreeLayout {
 public:
  TreeLayout(const pipeline::PlannedProgram& module, const codegen::EmissionInput& input, const Model& model,
             const Places& places)
      : module_(module),
        model_(model),
        places_(places),
        info_(module.source.info),
        found_(mlf::files_of_module(model.archive, info_)),
        accesses_(pool_accesses(module, input, model)),
        planned_anew_(functions_planned_anew()),
        renames_entry_(changes_entry(input, found_)),
        parts_(parts_of(input)) {}

  // Throws as in_place_files.
  [[nodiscard]] std::vector<Change> changes() const {
    std::string header = planned_header();
    std::string functions;  // that firmware calls instead of tvmgen_M_run
    if (!found_.called.empty()) {
      const CalledEntry called = called_entry(module_, model_, found_, header);
      functions = called.function;
      header += called.declaration;
    } else if (renames_entry_) {
      functions = entry_beside_run(module_, found_, header);
    }
    const bool includes = !functions.empty() && !found_.header.empty();
    for (const tvm_c::KeptFunction& function : module_.source.forwarders) {
      functions += packed_call(module_, model_, function.prototype);
    }
    const std::string entry_alone = entry_with("");
    std::vector<Change> changes;
    if (found_.header.empty()) {
      if (found_.called.empty()) require_alike(entry_alone);
    } else {
      changes.push_back({found_.header, writer_of(header_in_place(header, entry_alone))});
    }
    const std::string interface = found_.header.empty() ? header : include_in(found_.entry);
    const auto entry = [write = parts_.entry, interface, accesses = accesses_](TextSink& sink) {
      write(interface, sink);
      sink.write(accesses);
    };
    if (found_.entry == found_.operators) {
      changes.push_back({found_.entry, [entry, operators = parts_.operators, functions](TextSink& sink) {
                           entry(sink);
                           sink.write("\n");
                           operators(sink);
                           sink.write(functions);
                         }});
    } else {
      changes.push_back({found_.entry, entry});
      changes.push_back({found_.operators, [front = includes ? include_in(found_.operators) : std::string(),
                                            operators = parts_.operators, functions](TextSink& sink) {
                           sink.write(front);
                           operators(sink);
                           sink.write(functions);
                         }});
    }
    for (const tvm_c::ChangedFile& file : module_.source.changed) changes.push_back({file.file, writer_of(file.text)});
    const std::string emptied = emptied_text(info_.name, file_name_of(places_.of(found_.operators)));
    for (const std::string& name : found_.others) changes.push_back({name, writer_of(emptied), true});
    add_registry(entry_alone, changes);
    return changes;
  }

 private:
  // Throws: the tree has others that would be lost.
  [[nodiscard]] std::set<std::string> functions_planned_anew() const {
    std::set<std::string> known;
    for (const tvm_c::KeptFunction& function : module_.source.kept) known.insert(function.name);
    for (const tvm_c::KeptFunction& function : module_.source.forwarders) known.insert(function.name);
    for (const tvm_c::PoolAccess& access : module_.source.pool_accesses) known.insert(access.name);
    std::set<std::string> anew;
    for (const tir::Function& function : module_.source.module.functions) {
      if (!known.contains(function.name)) anew.insert(function.name);
    }
    known.insert(anew.begin(), anew.end());
    mlf::require_functions(model_.archive, info_, known);
    return anew;
  }

  // Throws: they do not fit into the files that are there.
  [[nodiscard]] codegen::ModuleParts parts_of(codegen::EmissionInput input) const {
    input.renames_entry = renames_entry_;
    if (!found_.header.empty()) input.macros = mlf::macros_of_header(model_.archive, found_.header);
    input.operators_have_macros = found_.entry == found_.operators || !found_.called.empty() || renames_entry_;
    codegen::ModuleParts parts = codegen::module_parts(input);
    if (!parts.binaries.empty()) {
      throw in_place_refusal(model_,
                             "parameter pools with 'emit: binary' need more files; expected 'emit: header', or -o");
    }
    if (found_.header.empty() && parts.constants) {
      throw in_place_refusal(model_,
                             "there is no header for the contents of the application's parameter pools; expected "
                             "'emit: array', or -o");
    }
    return parts;
  }

  // TVM's header has the contents of the application's parameter pools, so the new one has, too.
  [[nodiscard]] std::string planned_header() const {
    const std::string header = text_of(parts_.header);
    return parts_.constants ? header + "\n" + text_of(parts_.constants) : header;
  }

  [[nodiscard]] std::string entry_with(const std::string& interface) const {
    return text_of([&](TextSink& sink) { parts_.entry(interface, sink); });
  }

  // The line that includes the header, spelled as in TVM's file if that has one.
  [[nodiscard]] std::string include_in(const std::string& file) const {
    const bool is_as_found =
        !found_.include.empty() && (file == found_.entry || found_.include.front().starts_with("<"));
    const fs::path directory = fs::path(places_.of(file)).parent_path();
    const std::string name =
        is_as_found ? found_.include.front()
                    : "\"" + fs::path(places_.of(found_.header)).lexically_relative(directory).generic_string() + "\"";
    return "#include " + name + "\n";
  }

  // The firmware says itself how it calls the module, and passes pools if it did before.
  void require_alike(const std::string& entry) const {
    const std::string run = "tvmgen_" + c_identifier(info_.name) + "_run";
    const mlf::Member& before = *model_.archive.find(found_.entry);
    if (info_.packed_interface ? owns_memory(module_) : mlf::define_alike(before.text(), entry, run)) return;
    throw in_place_refusal(model_, "the firmware could no longer call " + run +
                                       ": with these pools and options it has other parameters than in " +
                                       before.shown_name());
  }

  // With what somebody added to TVM's. Throws: something of it would be lost.
  [[nodiscard]] std::string header_in_place(const std::string& planned, const std::string& entry) const {
    const mlf::Member& member = *model_.archive.find(found_.header);
    const std::string& before = member.bytes;
    constexpr std::size_t most_lines = 10;
    if (auto kept = mlf::kept_header(before, planned, entry, "tvmgen_" + c_identifier(info_.name),
                                     gone_names(module_.source, planned_anew_))) {
      return std::move(*kept);
    }
    if (auto macros = mlf::macros_without_place(before, planned); !macros.empty()) {
      throw in_place_refusal(model_,
                             "what was added to the header (" + member.shown_name() +
                                 ") would be lost, since there is no one line to write these values in; expected "
                                 "each macro defined once, in one line",
                             first_lines(std::move(macros), most_lines));
    }
    std::vector<std::string> missing = mlf::missing_declarations(before, planned);
    if (missing.empty()) return planned;
    const bool passes_pools = planned.find("_workspace_pools* ") != std::string::npos;
    const bool lacks_pools = std::ranges::any_of(missing, [](const std::string& declaration) {
      return declaration.find("_POOL_") != std::string::npos ||
             declaration.find("_workspace_pools") != std::string::npos;
    });
    throw in_place_refusal(
        model_,
        "the firmware could no longer use the header (" + member.shown_name() +
            "): with these pools and options it lacks the lines below" +
            (passes_pools  ? "; give workspace pools 'section:' or 'internal: true', or leave --pools out"
             : lacks_pools ? "; give the pools of this header with --pools (usmp-plan init writes them)"
                           : ""),
        first_lines(std::move(missing), most_lines));
  }

  // Behind what else its file gets.
  void add_registry(const std::string& entry, std::vector<Change>& changes) const {
    if (found_.registry.empty()) return;
    const std::string registry = mlf::planned_registry(model_.archive, info_, found_, entry);
    for (Change& change : changes) {
      if (change.member != found_.registry) continue;
      change.write = [before = std::move(change.write), registry](TextSink& sink) {
        before(sink);
        sink.write(registry);
      };
      change.is_emptied = false;
    }
  }

  const pipeline::PlannedProgram& module_;
  const Model& model_;
  const Places& places_;
  const model::Description& info_;
  mlf::ModuleFiles found_;
  std::string accesses_;
  std::set<std::string> planned_anew_;
  bool renames_entry_;
  codegen::ModuleParts parts_;
};

}  // namespace

Places::Places(const Model& model) : model_(model), root_(model.archive.path) {
  const mlf::Member* metadata = model.archive.find("metadata.json");
  if (metadata == nullptr) return;
  for (std::string_view above = metadata->shown_name(); above.starts_with("../"); above.remove_prefix(3)) ++levels_;
  const fs::path inside = fs::weakly_canonical(fs::absolute(root_));
  fs::path outer = inside;
  for (std::size_t i = 0; i < levels_; ++i) outer = outer.parent_path();
  if (levels_ == 0) return;
  below_ = inside.lexically_relative(outer).generic_string() + "/";
  root_ = outer.lexically_proximate(fs::current_path()).string();
}

std::string Places::of(const std::string& member) const {
  const std::string& name = model_.archive.find(member)->shown_name();
  return name.starts_with("../") ? name.substr(3 * levels_) : below_ + name;
}

std::vector<Change> tree_changes(const pipeline::PlannedProgram& module, const codegen::EmissionInput& input,
                                 const Model& model, const Places& places) {
  return TreeLayout(module, input, model, places).changes();
}

}  // namespace usmp::driver
