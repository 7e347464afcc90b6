// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans a source tree and decides what becomes of each of its files.
#include "in_place.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "called_entry.hpp"
#include "git.hpp"
#include "usmp/codegen/layout.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/mlf/checkout.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/mlf/kept_header.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

// The directory around all files that may change, and their paths below it.
class Places {
 public:
  explicit Places(const Model& model) : model_(model), root_(model.archive.path) {
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

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string of(const std::string& member) const {
    const std::string& name = model_.archive.find(member)->shown_name();
    return name.starts_with("../") ? name.substr(3 * levels_) : below_ + name;
  }

 private:
  const Model& model_;
  std::string root_;
  std::string below_;
  std::size_t levels_ = 0;
};

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

// Throws Error of kind usage if git has lost track of one of the files, which are there. The result: those that no
// repository holds.
std::vector<std::string> require_committed(const Model& model, const std::vector<std::string>& files) {
  std::vector<std::string> outside;
  std::vector<std::string> changes;
  try {
    const std::vector<InHead> found = compared_with_head(files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (found[i] == InHead::no_repository) outside.push_back(files[i]);
      if (found[i] == InHead::other) changes.push_back(files[i] + ": not as in the last commit");
      if (found[i] == InHead::none) changes.push_back(files[i] + ": not in the last commit");
    }
  } catch (const Error& error) {
    throw in_place_refusal(model, error.message(), error.details());
  }
  if (changes.empty()) return outside;
  constexpr std::size_t most_lines = 10;
  throw in_place_refusal(model,
                         "git has uncommitted changes of files that would be overwritten: commit them, or use --force",
                         first_lines(std::move(changes), most_lines));
}

// A name that is free, or that a copy has already: "lib.c.orig", "lib.c.orig2".
std::string copy_of(const std::string& file) {
  const std::string bytes = read_text_file(file, ErrorKind::usage, std::size_t{2} << 30, InputFile::Noted::no);
  for (std::size_t number = 1;; ++number) {
    std::string copy = file + ".orig" + (number == 1 ? "" : std::to_string(number));
    std::error_code error;
    const fs::file_status status = fs::symlink_status(copy, error);
    if (status.type() == fs::file_type::not_found) return copy;
    if (!fs::is_regular_file(status) || fs::file_size(copy, error) != bytes.size()) continue;
    if (read_text_file(copy, ErrorKind::usage, bytes.size(), InputFile::Noted::no) == bytes) return {};
  }
}

// Of the module: what changes.
std::vector<std::string> changed_members(const mlf::ModuleFiles& files) {
  std::vector<std::string> names = files.others;
  for (const std::string& name : {files.entry, files.operators, files.header}) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
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

// A file of the tree, by its member.
struct Change {
  std::string member;
  std::function<void(TextSink&)> write;
  bool is_emptied = false;
};

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

Error in_place_refusal(const Model& model, const std::string& message, std::vector<std::string> details) {
  return {ErrorKind::usage, {model.archive.path, {}, {}}, "--in-place: " + message, std::move(details)};
}

void check_in_place(const Model& model, bool force) {
  if (!model.archive.is_directory) {
    throw in_place_refusal(model, "found an archive, expected a directory or a C file with TVM's C");
  }
  const Places places(model);
  std::vector<std::string> checked;
  const auto check = [&](const std::string& member) {
    checked.push_back((fs::path(places.root()) / places.of(member)).lexically_normal().string());
  };
  for (const model::Description& info : model.metadata.modules) {
    for (const std::string& name : changed_members(mlf::files_of_module(model.archive, info))) {
      const mlf::Member& member = *model.archive.find(name);
      if (mlf::is_planned_c(member.text())) {
        throw Error(
            ErrorKind::archive, {model.archive.path, member.shown_name(), {}},
            "found C that usmp-plan wrote, expected TVM's: restore it from git, or plan it into a directory with -o");
      }
      check(name);
    }
    std::set<std::string> foreign;  // offsets in them may change
    for (const model::ForeignFunction& function : info.foreign_functions) foreign.insert(function.member);
    for (const std::string& name : foreign) check(name);
  }
  if (model.archive.find("metadata.json") != nullptr) check("metadata.json");
  if (!force) (void)require_committed(model, checked);
}

std::vector<KeptCopy> copies_to_keep(const InPlace& done, const std::vector<OutputFile>& files, const Model& model) {
  std::vector<std::string> there;
  std::error_code error;
  for (const OutputFile& file : files) {
    const fs::path path = (fs::path(done.directory) / file.path).lexically_normal();
    if (fs::exists(path, error)) there.push_back(path.string());
  }
  std::vector<KeptCopy> copies;
  for (const std::string& file : require_committed(model, there)) {
    std::string copy = copy_of(file);
    if (!copy.empty()) copies.push_back({file, std::move(copy)});
  }
  return copies;
}

InPlace in_place_files(const PlannedPrograms& modules, const std::vector<codegen::EmissionInput>& inputs,
                       const Model& model) {
  const Places places(model);
  InPlace result{.directory = places.root(), .files = {}, .written = {}, .emptied = {}, .metadata = {}, .copies = {}};
  if (model.archive.find("metadata.json") != nullptr) result.metadata = places.of("metadata.json");
  std::map<std::string, std::string> taken;  // by file: the module
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::string& name = modules[i]->source.info.name;
    for (Change& change : TreeLayout(*modules[i], inputs[i], model, places).changes()) {
      const std::string path = places.of(change.member);
      if (const auto [other, is_new] = taken.emplace(path, name); !is_new) {
        throw in_place_refusal(model,
                               path + " holds parts of module '" + other->second + "' and of module '" + name + "'");
      }
      result.files.push_back({path, std::move(change.write)});
      (change.is_emptied ? result.emptied : result.written).push_back(path);
    }
  }
  return result;
}

std::string in_place_text(const InPlace& done, const PlannedPrograms& modules, bool is_dry_run) {
  std::string text = is_dry_run ? "would be written in place, below " : "written in place, below ";
  text += printable(done.directory) + ":\n";
  for (const std::string& path : done.written) text += "  " + printable(path) + "\n";
  if (!done.metadata.empty()) text += "  " + printable(done.metadata) + " (memory figures)\n";
  if (!done.emptied.empty()) {
    text += is_dry_run ? "would be emptied" : "emptied";
    text += ", since the build no longer needs their contents:\n";
  }
  for (const std::string& path : done.emptied) text += "  " + printable(path) + "\n";
  if (!done.copies.empty()) {
    text +=
        std::string(is_dry_run ? "would be copied" : "copied") + " as they were, since no git repository has them:\n";
  }
  for (const KeptCopy& one : done.copies) text += "  " + printable(one.copy) + "\n";
  for (const auto& module : modules) {
    const bool owns = std::any_of(module->document.pools.begin(), module->document.pools.end(), [](const auto& pool) {
      return pool.kind == PoolKind::workspace && pool.internal && pool.used > 0;
    });
    if (!owns) continue;
    const bool owned = std::ranges::any_of(module->source.tvm_pools, &tvm_c::PlannedPool::in_c);
    text += "module " + printable(module->document.module) + " owns its workspace, " +
            bytes_text(module->document.workspace_used) +
            (owned ? ", as before\n"
             : pipeline::allocates_at_run_time(module->source)
                 ? ": TVM's allocator only serves what is allocated at run time (see the warnings)\n"
                 : ": memory that the firmware gives to TVM's allocator is no longer used\n");
  }
  return text;
}

}  // namespace usmp::driver
