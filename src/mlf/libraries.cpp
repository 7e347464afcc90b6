// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which C files of an archive are TVM's own (replaced by emitted ones) and which come from external code generators.
//
// Every file is read once, and belongs to the module whose name it carries ("M_lib2.c") or, with another name, to all.
#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "mlf/c_text.hpp"
#include "mlf/library_name.hpp"
#include "mlf/modules.hpp"
#include "usmp/mlf/checkout.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

constexpr std::string_view codegen_directory = "codegen/";
constexpr std::string_view include_directory = "codegen/host/include/";

std::string_view leaf_of(std::string_view name) { return name.substr(name.rfind('/') + 1); }
std::string_view directory_of(std::string_view name) { return name.substr(0, name.rfind('/') + 1); }

// What a build needs besides C and headers.
bool is_other_input(std::string_view name) { return ends_with_any(name, {".S", ".s", ".asm", ".inc", ".bin"}); }

constexpr std::string_view target_mark = "// tvm target: ";

// TVM's C code generator heads its file with the target; functions of target "c" are emitted anew from TIR.
bool is_for_target_c(std::string_view text) {
  if (!text.starts_with(target_mark) || !text.substr(target_mark.size()).starts_with('c')) return false;
  const std::size_t end = target_mark.size() + 1;
  return text.size() == end || std::string_view(" \r\n").find(text[end]) != std::string_view::npos;
}

// In a source tree other comments may stand above it, and several files may have become one.
bool names_target_c(std::string_view text) {
  for (std::size_t at = text.find(target_mark); at != std::string_view::npos; at = text.find(target_mark, at + 1)) {
    if (is_for_target_c(text.substr(at))) return true;
  }
  return false;
}

// The value of -mcpu or, without one, of -march in the line that names the target.
std::string cpu_of(std::string_view text) {
  const std::size_t at = text.find(target_mark);
  if (at == std::string_view::npos || !is_for_target_c(text.substr(at))) return {};
  const std::string_view line = text.substr(at, text.find_first_of("\r\n", at) - at);
  for (const std::string_view option : {" -mcpu=", " -march="}) {
    const std::size_t found = line.find(option);
    if (found == std::string_view::npos) continue;
    const std::string_view value = line.substr(found + option.size());
    return std::string(value.substr(0, value.find(' ')));
  }
  return {};
}

// (TVMValue* args, int* type_code, int num_args, …); TVM 0.8: (void* args, void* type_code, int num_args, …)
bool are_packed(std::string_view parameters) {
  return mentions(parameters, "TVMValue") || mentions(parameters, "num_args");
}

// Whether TVM wrote the file itself: operators and main, or the metadata of the packed interface.
bool is_tvms_own(std::string_view text) {
  return is_for_target_c(text) || text.find("kTvmgenMetadata") != std::string_view::npos ||
         text.find("_get_c_metadata") != std::string_view::npos || !entries_in(text).empty();
}

std::vector<model::ForeignFunction> functions_of(const Member& member) {
  const CText code(member.code());
  const bool allocates = code.mentions("TVMBackendAllocWorkspace");
  std::vector<model::ForeignFunction> result;
  for (CFunction& function : code.defined_functions()) {
    result.push_back({std::move(function.name), std::move(function.prototype), member.name, allocates});
  }
  return result;
}

class Libraries {
 public:
  Libraries(const Archive& archive, std::vector<model::Description>& modules)
      : modules_(modules), roots_(modules.size()), is_checkout_(archive.is_checkout) {
    for (const Member& member : archive.members) {
      if (is_checkout_ && names_target_c(member.code())) has_targets_ = true;
    }
    for (std::size_t i = 0; i < modules.size(); ++i) index_.emplace(modules[i].name, i);
    for (const Member& member : archive.members) {
      if (member.name.starts_with(codegen_directory)) files_.emplace(member.name, &member);
    }
  }

  void find(const Archive& archive) {
    for (const Member& member : archive.members) {
      if (member.name.starts_with(codegen_directory)) classify(member);
      for (model::Description& module : modules_) {
        const std::string header = std::string(include_directory) + "tvmgen_" + c_identifier(module.name);
        if (is_checkout_ || (member.name != header + ".h" && member.name != header + ".constants.h")) continue;
        module.c_members.push_back(member.name);
      }
    }
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      modules_[i].foreign_members = with_headers(roots_[i]);
      modules_[i].packed_interface = is_called_packed(modules_[i]);
    }
  }

 private:
  // Whether the firmware calls the module with packed arguments: tvmgen_M_run takes them, or, where no file defines it,
  // the entry. What declares it does not count: TVM's registry declares all functions so.
  [[nodiscard]] bool is_called_packed(const model::Description& module) const {
    const std::string prefix = "tvmgen_" + c_identifier(module.name);
    for (const char* function : {"_run", "___tvm_main__", "_run_model"}) {
      for (const std::string& name : module.c_members) {
        const auto file = files_.find(name);
        if (file == files_.end() || !is_c_source(name)) continue;
        const auto parameters = defined_parameters(file->second->code(), prefix + function);
        if (parameters) return are_packed(*parameters);
      }
    }
    return false;
  }

  // Whether an earlier plan wrote the file: assembler that includes constants, or what it includes.
  [[nodiscard]] bool is_planned_constants(std::string_view name) const {
    const std::string stub = std::string(name.substr(0, name.rfind('.'))) + ".S";
    const auto found = files_.find(stub);
    constexpr std::string_view begin = "/* Parameter pool ";
    return found != files_.end() && found->second->bytes.starts_with(begin) &&
           first_line(found->second->bytes).ends_with("Written by usmp-plan; do not edit.");
  }

  // "tvmgen_M_" of the module with the longest name that begins the function's; nothing if it is none's.
  [[nodiscard]] std::optional<std::size_t> owner_of(std::string_view function) const {
    std::optional<std::size_t> owner;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      const std::string prefix = "tvmgen_" + c_identifier(modules_[i].name) + "_";
      if (!function.starts_with(prefix) || prefix.size() <= longest) continue;
      longest = prefix.size();
      owner = i;
    }
    return owner;
  }

  // In a source tree names mean nothing: a C file belongs to the modules whose functions it defines, one with constants
  // alone to all. Other code generators call their functions tvmgen_default_… in modules of other names, too.
  void classify_by_content(const Member& member) {
    if (!is_c_source(member.name)) {
      for (model::Description& module : modules_) {
        const std::string prefix = "tvmgen_" + c_identifier(module.name) + "_";
        const bool is_of_module = member.code().find(prefix) != std::string::npos ||
                                  member.code().find(upper_case(prefix)) != std::string::npos;
        if (is_of_module) module.c_members.push_back(member.name);
      }
      return;
    }
    std::vector<std::vector<model::ForeignFunction>> functions(modules_.size());
    const bool is_tvms = names_target_c(member.code()) || is_tvms_own(member.code());
    const bool is_foreign = !is_tvms && member.code().find(target_mark) != std::string::npos;
    bool has_any = false;
    for (model::ForeignFunction& function : functions_of(member)) {
      const auto owner = owner_of(function.name);
      if (!owner && (!is_foreign || !function.name.starts_with("tvmgen_default_"))) continue;
      has_any = true;
      for (std::size_t i = 0; i < modules_.size(); ++i) {
        if (i == owner.value_or(i)) functions[i].push_back(function);
      }
    }
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      if (has_any && functions[i].empty()) continue;
      model::Description& module = modules_[i];
      const std::string run = "tvmgen_" + c_identifier(module.name) + "_run";
      const bool is_entry_point = defines_ending_in(member.code(), run);
      if (is_tvms || is_entry_point || !has_any || (!has_targets_ && !is_foreign)) {
        module.c_members.push_back(member.name);
        if (module.cpu.empty()) module.cpu = cpu_of(member.code());
        continue;
      }
      roots_[i].push_back(&member);
      std::move(functions[i].begin(), functions[i].end(), std::back_inserter(module.foreign_functions));
    }
  }

  void classify(const Member& member) {
    if (is_checkout_) return classify_by_content(member);
    const auto name = library_name(member.name);
    const auto owner = name ? index_.find(name->module) : index_.end();
    const bool source = is_c_source(member.name);
    if (source && owner != index_.end()) {
      model::Description& module = modules_[owner->second];
      const bool is_entry_point = name->number == "0";
      if (is_entry_point || is_tvms_own(member.code())) module.c_members.push_back(member.name);
      if (module.cpu.empty()) module.cpu = cpu_of(member.code());
      if (is_entry_point) return;
    }
    if (source ? is_tvms_own(member.code()) || is_planned_c(member.code())
               : !is_other_input(member.name) || is_planned_constants(member.name))
      return;
    const auto functions = source ? functions_of(member) : std::vector<model::ForeignFunction>();
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      if (owner != index_.end() && owner->second != i) continue;
      roots_[i].push_back(&member);
      std::vector<model::ForeignFunction>& all = modules_[i].foreign_functions;
      all.insert(all.end(), functions.begin(), functions.end());
    }
  }

  // The names of these files and of all headers of the archive that they include, directly or not; sorted.
  [[nodiscard]] std::vector<std::string> with_headers(const std::vector<const Member*>& files) {
    std::set<std::string> seen;
    std::deque<const Member*> unread(files.begin(), files.end());
    for (; !unread.empty(); unread.pop_front()) {
      const Member* file = unread.front();
      if (!seen.insert(file->name).second) continue;
      const auto [includes, is_new] = includes_.try_emplace(file);
      if (is_new) includes->second = included_headers(file->code());
      for (const std::string& header : includes->second) {
        const Member* found = resolve(file->name, header);
        if (found != nullptr && !seen.contains(found->name)) unread.push_back(found);
      }
    }
    return {seen.begin(), seen.end()};
  }

  // The member that `#include name` in `includer` means; nullptr for a header of the system or of TVM's interface.
  [[nodiscard]] const Member* resolve(std::string_view includer, const std::string& name) const {
    if (leaf_of(name).starts_with("tvmgen_")) return nullptr;
    for (const std::string_view directory : {directory_of(includer), include_directory}) {
      const auto at = files_.find(std::string(directory) + name);
      if (at != files_.end()) return at->second;
    }
    return nullptr;
  }

  std::vector<model::Description>& modules_;
  std::vector<std::vector<const Member*>> roots_;  // of each module
  bool is_checkout_;
  bool has_targets_ = false;  // its files say for which target they are
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, const Member*> files_;
  std::unordered_map<const Member*, std::vector<std::string>> includes_;
};

}  // namespace

void find_libraries(const Archive& archive, std::vector<model::Description>& modules) {
  Libraries(archive, modules).find(archive);
}

}  // namespace usmp::mlf
