// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans a source tree and decides what becomes of each of its files.
#include "in_place.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <map>
#include <memory>
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

// Puts another spelling in the place of the line that includes the header, which stands in one piece.
class IncludeSink final : public TextSink {
 public:
  IncludeSink(TextSink& sink, std::string line, std::string instead)
      : sink_(sink), line_(std::move(line)), instead_(std::move(instead)) {}

  void write(std::string_view text) override {
    const std::size_t at = is_done_ ? std::string_view::npos : text.find(line_);
    if (at == std::string_view::npos) return sink_.write(text);
    is_done_ = true;
    sink_.write(text.substr(0, at));
    sink_.write(instead_);
    sink_.write(text.substr(at + line_.size()));
  }
  [[nodiscard]] bool is_done() const { return is_done_; }

 private:
  TextSink& sink_;
  std::string line_;
  std::string instead_;
  bool is_done_ = false;
};

std::string text_of(const OutputFile& file) {
  StringSink sink;
  file.write(sink);
  return sink.text();
}

// Takes both out of `files`. TVM's header has the contents of the application's parameter pools, so the new one has,
// too.
OutputFile with_constants(std::map<std::string, OutputFile>& files, const std::string& header,
                          const std::string& constants) {
  OutputFile result = std::move(files.extract(header).mapped());
  if (auto found = files.extract(constants)) {
    result.write = [first = result.write, second = found.mapped().write](TextSink& sink) {
      first(sink);
      sink.write("\n");
      second(sink);
    };
  }
  return result;
}

// How the file includes the header.
std::string include_in(const Places& places, const mlf::ModuleFiles& found, const std::string& file) {
  const bool is_as_found = !found.include.empty() && (file == found.entry || found.include.front().starts_with("<"));
  if (is_as_found) return found.include.front();
  const fs::path directory = fs::path(places.of(file)).parent_path();
  return "\"" + fs::path(places.of(found.header)).lexically_relative(directory).generic_string() + "\"";
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

// The firmware says itself how it calls the module, and passes pools if it did before.
void check_without_header(const pipeline::PlannedProgram& module, const Model& model, const mlf::ModuleFiles& found,
                          const std::string& entry) {
  const std::string run = "tvmgen_" + c_identifier(module.source.info.name) + "_run";
  const bool is_alike = module.source.info.packed_interface
                            ? owns_memory(module)
                            : mlf::define_alike(model.archive.find(found.entry)->text(), entry, run);
  if (is_alike) return;
  throw in_place_refusal(model, "the firmware could no longer call " + run +
                                    ": with these pools and options it has other " + "parameters than in " +
                                    model.archive.find(found.entry)->shown_name());
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
    const model::Description& info = modules[i]->source.info;
    const mlf::ModuleFiles found = mlf::files_of_module(model.archive, info);
    std::set<std::string> known;
    for (const tvm_c::KeptFunction& function : modules[i]->source.kept) known.insert(function.name);
    std::string forwarders;
    for (const tvm_c::KeptFunction& function : modules[i]->source.forwarders) {
      known.insert(function.name);
      forwarders += packed_call(*modules[i], model, function.prototype);
    }
    const std::string accesses = pool_accesses(*modules[i], inputs[i], model);
    for (const tvm_c::PoolAccess& access : modules[i]->source.pool_accesses) known.insert(access.name);
    std::set<std::string> planned_anew;
    for (const tir::Function& function : modules[i]->source.module.functions) {
      if (!known.contains(function.name)) planned_anew.insert(function.name);
    }
    known.insert(planned_anew.begin(), planned_anew.end());
    mlf::require_functions(model.archive, info, known);
    codegen::EmissionInput input = inputs[i];
    input.renames_entry = changes_entry(input, found);
    std::map<std::string, OutputFile> emitted;  // by the last part of the path
    for (OutputFile& file : codegen::module_files(input)) {
      std::string name = file_name_of(file.path);
      emitted.emplace(std::move(name), std::move(file));
    }
    const std::string header_name = "tvmgen_" + c_identifier(info.name) + ".h";
    const std::string constants_name = file_name_of(codegen::constants_header_path(info.name));
    if (emitted.size() != 3 + emitted.count(constants_name)) {
      throw in_place_refusal(model,
                             "parameter pools with 'emit: binary' need more files; expected 'emit: header', or -o");
    }
    if (found.header.empty() && emitted.contains(constants_name)) {
      throw in_place_refusal(model,
                             "there is no header for the contents of the application's parameter pools; expected "
                             "'emit: array', or -o");
    }
    OutputFile header = with_constants(emitted, header_name, constants_name);
    const OutputFile entry = emitted.at(info.name + "_lib0.c");
    const OutputFile operators = emitted.at(info.name + "_lib1.c");

    const std::string line = "#include \"" + header_name + "\"\n";
    std::string instead;
    std::string around_run;  // functions that firmware calls instead of tvmgen_M_run
    if (found.called.empty()) {
      if (input.renames_entry) around_run = entry_beside_run(*modules[i], found, text_of(header));
    } else {
      const CalledEntry called = called_entry(*modules[i], model, found, text_of(header));
      around_run = called.function;
      header.write = [before = header.write, declaration = called.declaration](TextSink& sink) {
        before(sink);
        sink.write(declaration);
      };
    }
    if (found.header.empty()) {
      if (found.called.empty()) check_without_header(*modules[i], model, found, text_of(entry));
      instead = text_of(header);
    } else {
      const std::string& before = model.archive.find(found.header)->bytes;
      const std::string prefix = "tvmgen_" + c_identifier(info.name);
      const std::set<std::string> gone = gone_names(modules[i]->source, planned_anew);
      const std::string planned = text_of(header);
      const std::string shown = model.archive.find(found.header)->shown_name();
      constexpr std::size_t most_lines = 10;
      if (auto kept = mlf::kept_header(before, planned, text_of(entry), prefix, gone)) {
        header.write = [text = std::move(*kept)](TextSink& sink) { sink.write(text); };
      } else if (auto macros = mlf::macros_without_place(before, planned); !macros.empty()) {
        throw in_place_refusal(model,
                               "what was added to the header (" + shown +
                                   ") would be lost, since there is no one line to write these values in; expected "
                                   "each macro defined once, in one line",
                               first_lines(std::move(macros), most_lines));
      } else if (std::vector<std::string> missing = mlf::missing_declarations(before, planned); !missing.empty()) {
        const bool passes_pools = planned.find("_workspace_pools* ") != std::string::npos;
        const bool lacks_pools = std::ranges::any_of(missing, [](const std::string& declaration) {
          return declaration.find("_POOL_") != std::string::npos ||
                 declaration.find("_workspace_pools") != std::string::npos;
        });
        throw in_place_refusal(
            model,
            "the firmware could no longer use the header (" + shown +
                "): with these pools and options it lacks the lines below" +
                (passes_pools  ? "; give workspace pools 'section:' or 'internal: true', or leave --pools out"
                 : lacks_pools ? "; give the pools of this header with --pools (usmp-plan init writes them)"
                               : ""),
            first_lines(std::move(missing), most_lines));
      }
      instead = "#include " + include_in(places, found, found.entry) + "\n";
    }
    const std::string in_front =
        found.header.empty() ? std::string() : "#include " + include_in(places, found, found.operators) + "\n";
    const auto write_entry = [entry, line, instead, accesses](TextSink& sink) {
      IncludeSink with_include(sink, line, instead);
      entry.write(with_include);
      assert(with_include.is_done());
      sink.write(accesses);
    };
    const std::string registry =
        found.registry.empty() ? "" : mlf::planned_registry(model.archive, info, found, text_of(entry));
    const auto add = [&](const std::string& member, std::function<void(TextSink&)> write, bool is_emptied) {
      const std::string path = places.of(member);
      if (const auto [other, is_new] = taken.emplace(path, info.name); !is_new) {
        throw in_place_refusal(
            model, path + " holds parts of module '" + other->second + "' and of module '" + info.name + "'");
      }
      if (member == found.registry) {
        write = [before = std::move(write), registry](TextSink& sink) {
          before(sink);
          sink.write(registry);
        };
        is_emptied = false;
      }
      result.files.push_back({path, std::move(write)});
      (is_emptied ? result.emptied : result.written).push_back(path);
    };
    if (!found.header.empty()) add(found.header, header.write, false);
    if (found.entry == found.operators) {
      add(
          found.entry,
          [write_entry, operators, functions = around_run + forwarders](TextSink& sink) {
            write_entry(sink);
            sink.write("\n");
            operators.write(sink);
            sink.write(functions);
          },
          false);
    } else {
      add(found.entry, write_entry, false);
      add(
          found.operators,
          [operators, in_front = around_run.empty() ? std::string() : in_front,
           functions = around_run + forwarders](TextSink& sink) {
            sink.write(in_front);
            operators.write(sink);
            sink.write(functions);
          },
          false);
    }
    for (const tvm_c::ChangedFile& file : modules[i]->source.changed) {
      add(
          file.file, [text = file.text](TextSink& sink) { sink.write(text); }, false);
    }
    for (const std::string& name : found.others) {
      const std::string text = emptied_text(info.name, file_name_of(places.of(found.operators)));
      add(
          name, [text](TextSink& sink) { sink.write(text); }, true);
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
