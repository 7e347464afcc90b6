// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the functions that the entry reaches, and finds those that are kept.
#include "tvm_c/module_reader.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "tvm_c/body/entry_tensors.hpp"
#include "tvm_c/body/loop_header.hpp"
#include "tvm_c/body/nested_calls.hpp"
#include "tvm_c/body/plain_names.hpp"
#include "tvm_c/body/reroll.hpp"
#include "tvm_c/body/tidy.hpp"
#include "tvm_c/kept/kept_text.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

namespace {

constexpr std::size_t most_outlined = 200;  // statements of the entry that become functions

// float4, int8_t16
bool is_vector_type(std::string_view word) {
  const std::size_t end = word.find_last_not_of("0123456789") + 1;
  const std::string_view element = word.substr(0, end);
  const bool is_element = element == "float" || element == "double" || element == "half" ||
                          (element.ends_with("_t") && element.find("int") != std::string_view::npos);
  return is_element && end < word.size();
}

}  // namespace

void ModuleReader::require_passing_pools() const {
  for (const auto& [name, params] : kept_pools_) {
    const auto found = escapes_.find(name);
    const bool is_done = found == escapes_.end() || synchronous_.find(name, true) != nullptr;
    for (std::size_t i = 0; i < params.size() && !is_done; ++i) {
      if (!params[i] || !params[i]->is_used || (found->second.stored & param_bit(i)) == 0) continue;
      const auto text = scope_.functions.find(name);
      const bool is_own = text != scope_.functions.end();
      throw Error(ErrorKind::archive,
                  {{},
                   is_own ? files_[text->second.file].name : std::string(),
                   is_own ? place(text->second.file, text->second.offset) : std::string()},
                  "function " + in_quotes(name) + " stores an address of pool " + in_quotes(params[i]->pool) + " in " +
                      found->second.stored_in +
                      ", where a later call may find it, expected one that it takes in each call: planned C has "
                      "other bytes for it there; if no later call uses it: --synchronous " +
                      name);
    }
  }
}

void ModuleReader::require_asked() {
  for (const auto& [caller, callee, at] : round_.unasked) {
    const bool is_plain = !module_.find(callee) || round_.unread.contains(callee) || scope_.foreign.contains(callee);
    if (is_plain) continue;
    const std::size_t file = defined(caller).file;
    const SyntaxError error{at, "found a call of " + in_quotes(callee) +
                                    ", which may fail, and nothing asks for its result, expected if (" + callee +
                                    "(…) != 0) return -1;"};
    if (!keeps(caller, place(file, at) + ": " + error.message)) throw located(files_[file], error);
  }
}

bool ModuleReader::keeps(const std::string& name, std::string reason) {
  if (unread_ == Unread::refused || name == read_.entry) return false;
  round_.unread.emplace(name, std::move(reason));
  return true;
}

void ModuleReader::require_certain(const std::string& name, const FunctionText& text) const {
  const auto doubt = scope_.doubts.find(name);
  if (doubt == scope_.doubts.end()) return;
  throw SyntaxError{text.offset, "found " + in_quotes(name) + " " + doubt->second + ", expected one function of it"};
}

void ModuleReader::require_seen(const std::string& callee, const FunctionText& caller) const {
  const auto found = scope_.functions.find(callee);
  const bool is_seen = found == scope_.functions.end() || !found->second.is_local ||
                       included_.closed(caller.file).contains(found->second.file);
  if (is_seen) return;
  throw Error(ErrorKind::archive, {{}, files_[caller.file].name, place(caller.file, caller.offset)},
              "found a call of " + in_quotes(callee) + ", of which " + files_[found->second.file].name +
                  " has a static one, expected functions of different names");
}

void ModuleReader::read_reached() {
  std::vector<std::string> pending = {read_.entry};
  std::set<std::string> seen = {read_.entry};
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    for (std::string& callee : read(name)) {
      if (seen.insert(callee).second) pending.push_back(std::move(callee));
    }
  }
  std::ranges::sort(module_.functions, {}, &tir::Function::name);  // as tir::Module::find expects
}

std::vector<std::string> ModuleReader::read(const std::string& name) {
  if (!scope_.functions.contains(name)) {
    if (scope_.foreign.contains(name)) read_foreign(name);
    return {};
  }
  const FunctionText& text = defined(name);
  const Source& file = files_[text.file];
  const bool is_entry = name == read_.entry;
  if (kept_names_.contains(name)) {
    read_kept(name, text);
    return {};
  }
  try {
    require_certain(name, text);
    AddedStatements added;
    if (unread_ == Unread::kept && is_entry) added = added_statements(text, scope_, included_);
    ReadFunction read = is_entry ? read_entry(text, added) : read_plain(name, text, added, {});
    if (unread_ == Unread::kept && !is_entry) note_helpers(read.called);
    if (is_entry) {
      round_.outlined = std::move(read.outlined);
      added.texts.insert(added.texts.end(), read.guarded.begin(), read.guarded.end());
      for (const OutlinedFunction& one : round_.outlined) added.texts.push_back(one.place);
      note_added(added_.note(added.texts, text.file));
      std::vector<AddedText> texts = added.texts;
      texts.insert(texts.end(), read.dropped.begin(), read.dropped.end());
      require_plain(name, text, texts);  // what was read after all
      round_.called_by_entry = Names(read.called.begin(), read.called.end());
    }
    read.function.name = name;
    read.function.target = "c";
    for (const std::string& callee : read.called) {
      require_seen(callee, text);
      if (!scope_.functions.contains(callee) && !scope_.foreign.contains(callee))
        round_.external.emplace(callee, text.file);
    }
    std::set<tir::VarId> planned;
    for (const PlannedPlace& of : read.memory.places) planned.insert(of.var);
    if (!is_entry) check_loops(read.function, text.offset);
    tidy(module_, read.function, planned);
    if (!is_entry) reroll(module_, read.function);
    check_loops(read.function, text.offset);
    name_params(read.function, module_);
    module_.functions.push_back(std::move(read.function));
    for (const std::string& pool : read.pools) {
      const auto found = scope_.alignments.find(pool);
      if (found != scope_.alignments.end()) round_.pool_alignment = std::max(round_.pool_alignment, found->second);
    }
    round_.tables.insert(read.tables.begin(), read.tables.end());
    round_.inlined.merge(read.inlined);
    for (const auto& [callee, at] : read.unasked) round_.unasked.push_back({name, callee, at});
    round_.memory.add(std::move(read.memory));
    return read.called;
  } catch (const SyntaxError& found) {
    require_no_vectors(name, text, found.offset);
    const SyntaxError error{found.offset, found.message + lasting_variables().expected(text.file, found)};
    if (keeps(name, place(text.file, error.offset) + ": " + error.message)) return {};
    const Error fault = located(file, error);
    if (!is_entry) throw fault;
    std::vector<std::string> details = first_lines(unread_operators(), 3);
    details.push_back(entry_hint(read_, text, error.offset, unread_ == Unread::kept));
    throw Error(fault.kind(), fault.where(), fault.message(), std::move(details));
  } catch (const Error& error) {
    if (keeps(name, place(text.file, text.offset) + ": " + error.message())) return {};
    throw Error(error.kind(), {{}, file.name, place_in(file, text.offset)},
                "function " + in_quotes(name) + ": " + error.message());
  }
}

void ModuleReader::require_no_vectors(const std::string& name, const FunctionText& text, std::size_t offset) const {
  const Source& file = files_[text.file];
  const std::string_view word = leading_name(file.text.substr(offset));
  if (!is_generated(name) || !is_vector_type(word) || included_.is_macro(text.file, word)) return;
  const auto is_type = [&](const Item& item) { return item.kind == Item::Kind::other && has_name(item.text, word); };
  const auto has_type = [&](const Source& header) { return has_name(header.text, word); };
  if (std::ranges::any_of(scope_.items, is_type) || std::ranges::any_of(headers_, has_type)) return;
  throw located(file, {offset, "found the vector type " + in_quotes(word) + " in " + in_quotes(name) +
                                   ", which no file defines, so TVM's C does not compile: build the archive with "
                                   "the pass option tir.disable_vectorize=True"});
}

void ModuleReader::require_plain(const std::string& name, const FunctionText& text,
                                 const std::vector<AddedText>& texts) {
  if (unread_ == Unread::kept) require_plain_text(text, texts, name == read_.entry);
  require_plain_names(name, text, texts, read_, scope_);
}

ReadFunction ModuleReader::read_plain(const std::string& name, const FunctionText& text, const AddedStatements& added,
                                      std::span<const Outlined> outlined) {
  std::vector<AddedText> texts = added.texts;  // that are not read
  for (const GuardedText& guarded : added.guarded) {
    if (guarded.reason.empty()) texts.push_back(guarded.place);
  }
  for (const Outlined& one : outlined) texts.push_back(one.place);
  require_plain(name, text, texts);
  const NestedTexts nested = {
      .require_plain = [this](const std::string& of, const FunctionText& other) { require_nested(of, other); },
      .place = [this](std::size_t file, std::size_t offset) { return place(file, offset); }};
  return read_function(text, scope_, kept_pools_, limits_, module_, name == read_.entry, added, outlined, &helpers_,
                       &nested);
}

void ModuleReader::require_nested(const std::string& name, const FunctionText& text) {
  require_certain(name, text);
  require_plain(name, text, {});
  const auto item = std::ranges::find_if(scope_.items, [&](const Item& one) {
    return one.kind == Item::Kind::function && one.file == text.file && one.name == name;
  });
  const bool is_int32 = item != scope_.items.end() && prototype(*item).starts_with("int32_t " + name + "(");
  if (!is_int32) throw SyntaxError{text.offset, "found a result of another type, expected int32_t"};
}

ReadFunction ModuleReader::read_entry(const FunctionText& text, const AddedStatements& added) {
  const std::size_t vars = module_.vars.size();
  std::vector<Outlined> outlined;
  while (true) {
    try {
      return read_plain(read_.entry, text, added, outlined);
    } catch (const SyntaxError& error) {
      module_.vars.resize(vars);
      const auto other = std::ranges::find_if(added.others, [&](const auto& one) {
        return one.place.begin <= error.offset && error.offset < one.place.end;
      });
      if (other == added.others.end() || !other->reason.uses_model) throw;
      Outlined statement{.place = other->place};
      const bool is_new =
          std::ranges::none_of(outlined, [&](const Outlined& one) { return one.place.begin == statement.place.begin; });
      if (!is_new || outlined.size() == most_outlined) throw;
      if (!read_outlined(files_[text.file].text, included_.all_definitions(text.file), statement).empty()) throw;
      const auto behind =
          std::ranges::find_if(outlined, [&](const Outlined& one) { return one.place.begin > statement.place.begin; });
      outlined.insert(behind, std::move(statement));
      for (std::size_t i = 0; i < outlined.size(); ++i) {
        outlined[i].function = "usmp_added_" + std::to_string(i + 1);
      }
    }
  }
}

std::vector<std::string> ModuleReader::unread_operators() const {
  std::vector<std::string> result;
  for (const auto& [name, reason] : reasons_) {
    const auto found = scope_.functions.find(name);
    result.push_back("function " + in_quotes(name) + " of " + files_[found->second.file].name + " is not read (" +
                     reason + "), so its C would stay as it is");
  }
  return result;
}

const LastingVariables& ModuleReader::lasting_variables() {
  return lasting_variables_ ? *lasting_variables_ : lasting_variables_.emplace(read_);
}

void ModuleReader::note_added(const Names& functions) {
  for (const std::string& name : functions) {
    const bool is_new = !kept_names_.contains(name) && round_.unread.emplace(name, std::string()).second;
    if (is_new) found_in_added_.insert(name);
  }
}

void ModuleReader::require_no_parts() const {
  Names functions = found_in_added_;
  functions.insert(round_.called_by_entry.begin(), round_.called_by_entry.end());
  for (const std::string& name : functions) {
    const auto found = scope_.functions.find(name);
    if (found == scope_.functions.end() || is_generated(name)) continue;
    const std::vector<bool> mentioned = mentioned_items({name}, {}, {}, read_);
    for (std::size_t i = 0; i < mentioned.size(); ++i) {
      const Item& item = scope_.items[i];
      if (!mentioned[i] || item.kind != Item::Kind::function || !is_generated(item.name)) continue;
      const Source& file = files_[found->second.file];
      throw located(file, {found->second.offset, "found " + in_quotes(item.name) + " called by " + in_quotes(name) +
                                                     ", expected operators called by " + in_quotes(read_.entry) +
                                                     " alone: move the statements of " + in_quotes(name) + " there"});
    }
  }
}

void ModuleReader::note_helpers(const std::vector<std::string>& called) {
  for (const std::string& name : called) {
    const bool is_helper = scope_.functions.contains(name) && !is_generated(name);
    if (is_helper && !kept_names_.contains(name)) round_.unread.emplace(name, std::string());
  }
}

void ModuleReader::add_opaque(const std::string& name, const FunctionText& text) {
  tir::Function function = read_prototype(text, scope_, limits_, module_);
  function.name = name;
  function.target = program::kept_c_target;
  module_.functions.push_back(std::move(function));
}

void ModuleReader::read_kept(const std::string& name, const FunctionText& text) {
  if (!is_generated(name)) return;
  const std::size_t vars = module_.vars.size();
  try {
    add_opaque(name, text);
  } catch (const SyntaxError&) {
    module_.vars.resize(vars);
  }
}

void ModuleReader::read_foreign(const std::string& name) {
  try {
    add_opaque(name, scope_.foreign.find(name)->second);
  } catch (const SyntaxError& error) {
    throw Error(ErrorKind::archive, {}, "prototype of function " + in_quotes(name) + ": " + error.message);
  }
}

void ModuleReader::name_entry_params() {
  type_entry_params(module_);
  const FunctionText& entry = defined(read_.entry);
  in_file(files_[entry.file], [&] { require_typed_params(entry, scope_, module_); });
  const auto run = scope_.functions.find(read_.symbol + "_run");
  if (run == scope_.functions.end()) return;
  in_file(files_[run->second.file], [&] { name_by_run(run->second, entry, read_.symbol, read_.entry, module_); });
}

}  // namespace usmp::tvm_c
