// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds what is kept as C with the model, what planned C lacks, and what others may use.
#include "tvm_c/module_reader.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tvm_c/kept/kept_constants.hpp"
#include "tvm_c/kept/kept_text.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

void ModuleReader::note_visible_names(const std::set<std::size_t>& files, const Names& gone) {
  std::set<std::size_t> headers;
  for (const std::size_t file : files) {
    for (const std::size_t one : included_.closed(file)) {
      if (!files.contains(one) && headers.insert(one).second) note_visible_names(one, gone);
    }
  }
}

void ModuleReader::note_visible_names(std::size_t header, const Names& gone) {
  const Code& code = included_.code(header);
  const bool is_kept = !included_.name(header).ends_with(read_.symbol + ".h");  // it is written anew
  for (const Token& token : code.lexed->tokens) {
    if (!token.is_identifier()) continue;
    visible_names_.emplace(token.text);
    if (!is_kept || !gone.contains(token.text) || !scope_.functions.contains(token.text)) continue;
    throw Error(ErrorKind::archive, {{}, included_.name(header), line_and_column(code.text, token.offset + 1)},
                "found " + in_quotes(token.text) +
                    " in a header of code that stays, expected prototypes of operators in the model's files: planned "
                    "C has it otherwise");
  }
}

void ModuleReader::add_escapes(const std::vector<AskedFunction>& asked, const FileScope& scope,
                               const Included& included) {
  Escapes found = escapes_of(asked, scope, included, synchronous_);
  for (const AskedFunction& one : asked) escapes_.insert(found.extract(one.name));
}

void ModuleReader::extend_lifetimes() {
  if (unread_ != Unread::kept) return;
  const std::size_t entry_file = defined(read_.entry).file;
  std::vector<AskedFunction> asked;
  for (const std::string& name : kept_names_) asked.push_back({name, defined(name), {}});
  std::deque<std::string> statements;  // that `asked` points into
  for (const OutlinedFunction& one : round_.outlined) {
    FileScope own;
    read_file_scope(split(statements.emplace_back(text_of(one, files_[entry_file].text))), 0, true, own);
    FunctionText function = own.functions.find(one.name)->second;
    function.file = entry_file;
    asked.push_back({one.name, std::move(function), one.place});
  }
  add_escapes(asked, scope_, included_);
  require_passing_pools();
  const auto of = [this](const std::string& name) -> FunctionEscape {
    const bool is_defined = scope_.functions.contains(name) || scope_.foreign.contains(name);
    if (name == tir::kept_text || synchronous_.find(name, is_defined) != nullptr) return {};
    const auto found = escapes_.find(name);
    return found != escapes_.end() ? found->second
                                   : FunctionEscape{all_params, name, "is in no C file of the model", {}};
  };
  extended_ = tvm_c::extend_lifetimes(of, round_.memory.places, module_);
  for (const std::size_t i : extended_.functions) module_.functions[i].imported_c.push_back(extended_.text);
}

bool ModuleReader::is_struct_of_constants(const std::string& pool) const {
  const auto found = scope_.constant_pools.find(pool);
  return found != scope_.constant_pools.end() && found->second.bytes == nullptr;
}

std::string ModuleReader::kept_constants() const {
  std::string text;
  for (const Item& item : scope_.items) {
    if (item.kind != Item::Kind::data || !named_constants_.contains(std::string(item.name))) continue;
    const std::string name(item.name);
    text += text_of_constants(name, scope_.constant_pools.find(name)->second, item.text);
  }
  return text;
}

Names ModuleReader::stops() const {
  Names stops = gone_names();
  for (const auto& [name, function] : named_constants_) stops.erase(name);  // added code may not name them, though
  stops.insert(read_.symbol + "_run");
  return stops;
}

Names ModuleReader::gone_names() const {
  Names gone = round_.tables;
  for (const std::string& name : round_.inlined) {
    if (!kept_names_.contains(name)) gone.insert(name);
  }
  for (const tir::Function& function : module_.functions) {
    if (scope_.functions.contains(function.name) && !kept_names_.contains(function.name)) gone.insert(function.name);
  }
  for (const PlannedPool& pool : pool_sizes_.pools_of(defined(read_.entry), round_.memory.places, scope_)) {
    gone.insert(pool.name);
  }
  for (const auto& [name, pool] : scope_.constant_pools) gone.insert(name);
  const std::vector<bool> needed = mentioned_items(kept_for_operators_, {}, {}, read_);
  for (std::size_t i = 0; i < needed.size(); ++i) {  // tables of operators whose C stays, which others may read, too
    if (needed[i] && scope_.items[i].kind == Item::Kind::data &&
        round_.tables.contains(std::string(scope_.items[i].name))) {
      gone.erase(std::string(scope_.items[i].name));
    }
  }
  return gone;
}

void ModuleReader::note_left_out() {
  if (unread_ != Unread::kept || !rewritten_.empty()) return;
  const Names stops = this->stops();
  const std::vector<bool> stays = mentioned_items(kept_names_, added_.names(), stops, read_);
  std::vector<std::size_t> left_out = added_.left_out(stops, stays);
  std::erase_if(left_out, [&](std::size_t item) { return helpers_.is_read(scope_.items[item].name); });
  append(left_out_code(read_, left_out), warnings_);
  std::set<std::size_t> stay = added_.files();
  for (const auto& [name, file] : round_.external) stay.insert(file);
  add_files_of(stays, scope_, stay);
  append(left_out_includes(read_, stay), warnings_);
  append(undefined_names(read_, {stays, round_.external, added_.defined_elsewhere()}), warnings_);
}

void ModuleReader::append(std::vector<std::string> more, std::vector<std::string>& to) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> ModuleReader::used_by_others(const std::vector<PlannedPool>& pools) {
  std::vector<std::string> result;
  if (unread_ != Unread::kept) return result;
  result = shared_pools(read_, pools);
  for (const auto& [pool, function] : named_constants_) {
    result.push_back("function " + in_quotes(function) + " takes constants of pool " + in_quotes(pool) +
                     " and stays as it is, so planned C has the whole pool for it, beside copies for other functions, "
                     "which do not change with it");
  }
  append(warnings_of(extended_, module_), result);
  return result;
}

std::string ModuleReader::constants_section() const {
  const std::set<std::string>& sections = scope_.constant_sections;
  return sections.size() == 1 && sections.begin()->starts_with(".rodata") ? *sections.begin() : std::string();
}

std::string ModuleReader::prototype(const Item& item) const { return prototype_of(item, *scope_.files.at(item.file)); }

std::vector<KeptFunction> ModuleReader::kept_functions() const {
  std::vector<KeptFunction> result;
  for (const Item& item : scope_.items) {
    if (item.kind != Item::Kind::function || !kept_names_.contains(item.name)) continue;
    const auto reason = reasons_.find(item.name);
    result.push_back({std::string(item.name), prototype(item), files_[item.file].name,
                      reason == reasons_.end() ? std::string() : reason->second,
                      item.text.find(allocate_function) != std::string_view::npos});
  }
  std::ranges::sort(result, {}, &KeptFunction::name);
  return result;
}

std::vector<UnreadCall> ModuleReader::unread_calls() const {
  Names called;
  for (const tir::Function& function : module_.functions) {
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      if (const auto call = tir::named_call(expr)) called.insert(*call->name);
    });
  }
  std::vector<UnreadCall> calls;
  helpers_.add_not_read(calls);
  std::erase_if(calls, [&](const UnreadCall& call) { return !called.contains(call.name); });
  return calls;
}

bool ModuleReader::is_read(const Item& item) const {
  const std::string name(item.name);
  const bool is_in_plan = module_.find(name).has_value() || round_.inlined.contains(name);
  if (item.kind == Item::Kind::function) return is_in_plan && !kept_names_.contains(name);
  return item.kind == Item::Kind::data && round_.tables.contains(name);
}

std::vector<LostName> ModuleReader::lost_names(const std::vector<PlannedPool>& pools) const {
  if (unread_ != Unread::kept) return {};
  return tvm_c::lost_names(read_, pools, [this, gone = gone_names()](const Item& item) {
    return is_read(item) && gone.contains(item.name);
  });
}

std::vector<KeptFunction> ModuleReader::forwarders() const {
  std::vector<KeptFunction> result;
  for (const std::size_t i : added_.forwarders()) {
    const Item& item = scope_.items[i];
    result.push_back({std::string(item.name), prototype(item), files_[item.file].name, {}, false});
  }
  return result;
}

std::vector<PlannedPlace> ModuleReader::whole_pools() const {
  std::vector<PlannedPlace> result;
  for (const auto& [var, pool] : round_.memory.whole) result.push_back({.var = var, .pool = pool});
  return result;
}

std::vector<PoolAccess> ModuleReader::pool_accesses() const {
  std::vector<PoolAccess> result;
  for (const auto& [item, access] : added_.pool_accesses()) result.push_back(access);
  return result;
}

std::vector<KeptFunction> ModuleReader::external_functions() const {
  std::vector<KeptFunction> result;
  for (const auto& [name, file] : round_.external) {
    KeptFunction function;
    function.name = name;
    function.file = files_[file].name;
    if (const auto item = scope_.prototypes.find(name); item != scope_.prototypes.end()) {
      function.prototype = prototype(scope_.items[item->second]);
    }
    result.push_back(std::move(function));
  }
  return result;
}

}  // namespace usmp::tvm_c
