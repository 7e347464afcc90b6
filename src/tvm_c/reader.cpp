// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads functions until none turns out to be kept, then what is kept.
#include "usmp/tvm_c/reader.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "tvm_c/body/entry_tensors.hpp"
#include "tvm_c/body/plain_names.hpp"
#include "tvm_c/kept/kept_text.hpp"
#include "tvm_c/kept/workspace_ownership.hpp"
#include "tvm_c/module_reader.hpp"
#include "tvm_c/text/doubts.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/preprocessed.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/style.hpp"

namespace usmp::tvm_c {

namespace {

// "-workspace-byte-alignment=8" of the comment that heads TVM's files (several may have become one).
std::optional<Bytes> alignment_in(const Code& code, std::string_view option) {
  const auto pieces = code.pieces();
  const auto piece =
      std::ranges::find_if(pieces, [&](std::string_view text) { return text.find(option) != std::string_view::npos; });
  if (piece == pieces.end()) return std::nullopt;
  const std::string_view text = *piece;
  Bytes value = 0;
  for (std::size_t at = text.find(option) + option.size();
       at < text.size() && text[at] >= '0' && text[at] <= '9' && value < (1 << 20); ++at) {
    value = value * 10 + (text[at] - '0');
  }
  return value > 0 ? std::optional(value) : std::nullopt;
}

// C that this program wrote has no types in its pools, and kernels in its nests: from it, a plan would be worse.
void require_not_own(const Source& file) {
  constexpr std::size_t head = 4096;
  if (file.text.substr(0, head).find("by usmp-plan; do not edit") == std::string_view::npos) return;
  throw Error(ErrorKind::archive, {{}, file.name, {}},
              "found C that usmp-plan wrote, expected TVM's: plan what it was made of (TVM's C, its archive, or a "
              ".tflite)");
}

}  // namespace

ModuleReader::ModuleReader(std::string name, std::span<const Source> files, std::span<const Foreign> foreign,
                           const Limits& limits, Unread unread, const std::set<std::string>& rewritten,
                           std::span<const Source> headers, const std::set<std::string>& synchronous)
    : name_(std::move(name)),
      files_(files),
      places_(files),
      headers_(headers),
      included_(files, headers),
      helpers_(files_, &included_),
      limits_(limits),
      unread_(unread),
      read_{files_, scope_, included_, places_, symbol_of(name_), {}},
      rewritten_(rewritten),
      synchronous_(synchronous),
      added_(read_, rewritten) {
  for (const Foreign& function : foreign) {
    auto prototype = std::make_shared<FileTree>();
    prototype->tokens = plain_tokens(function.prototype);
    const std::span<const Token> tokens(prototype->tokens);
    const auto is_open = [](const Token& token) { return token.is("("); };
    const auto open = static_cast<std::size_t>(std::ranges::find_if(tokens, is_open) - tokens.begin());
    FunctionText text{.source = std::move(prototype)};
    if (const auto behind = behind_bracketed(tokens, open)) text.params = tokens.subspan(open + 1, *behind - open - 1);
    scope_.foreign.emplace(function.name, std::move(text));
    if (!function.text.empty()) foreign_files_.emplace(function.file, function.text);
  }
}

PlannedModule ModuleReader::run() && {
  const Included& included = included_;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    try {
      if (files_[i].name.ends_with(".h")) {
        read_pool_macros(included.code(i), c_identifier(name_), scope_, included.constants(i));
        pool_sizes_.read_header(included.code(i), c_identifier(name_), included.constants(i));
        continue;
      }
      read_file_scope(included.code(i), i, unread_ == Unread::kept, scope_, included.constants(i),
                      known_conditions(included, i));
      scope_.included[i] = included.files_of(i);
      read_included_tables(i, included, scope_);
      forget_uncertain_tables(i, included, scope_);
    } catch (const SyntaxError& error) {
      throw located(files_[i], error);
    }
    for (const auto& [option, value] : {std::pair("workspace-byte-alignment=", &module_.workspace_alignment),
                                        std::pair("constant-byte-alignment=", &module_.constant_alignment)}) {
      if (!*value) *value = alignment_in(included.code(i), option);
    }
  }
  module_.tvm_version = version_by_style(files_);
  if (!module_.constant_alignment) module_.constant_alignment = default_alignment;
  read_.entry = entry_name();
  find_doubts(read_, scope_);
  find_foreign_pools();
  read_all();
  add_kept_text();
  if (!module_.workspace_alignment) module_.workspace_alignment = round_.pool_alignment;
  module_.entry = *module_.find(read_.entry);
  name_entry_params();
  auto lost_constants = cut_constants(round_.memory.constants, module_);
  if (const auto fault = tir::find_fault(module_)) fail(*fault);
  size_buffers();
  storage::fit(module_);  // what ends a lifetime is as large as it is used
  extend_lifetimes();
  std::vector<PlannedPool> pools = pool_sizes_.pools_of(defined(read_.entry), round_.memory.places, scope_);
  const auto is_read_item = [this](const Item& item) { return is_read(item); };
  std::vector<std::string> placements = lost_placements(read_, pools, is_read_item, constants_section().empty());
  std::vector<LostName> names = lost_names(pools);
  append(used_by_others(pools), warnings_);
  std::vector<UnreadCall> unread = unread_calls();
  return {.module = std::move(module_),
          .pools = std::move(pools),
          .places = std::move(round_.memory.places),
          .whole_pools = whole_pools(),
          .lost_constants = std::move(lost_constants),
          .kept = kept_functions(),
          .external = external_functions(),
          .unread_calls = std::move(unread),
          .forwarders = forwarders(),
          .pool_accesses = pool_accesses(),
          .changed = std::move(changed_),
          .workspace_macro = pool_sizes_.workspace(),
          .lost_placements = std::move(placements),
          .constants_section = constants_section(),
          .warnings = std::move(warnings_),
          .edited_run = unread_ == Unread::kept ? added_.edited_run() : std::nullopt,
          .lost_names = std::move(names),
          .visible_names = std::move(visible_names_)};
}

std::string ModuleReader::entry_name() const {
  for (const std::string_view ending : entry_endings) {
    std::string entry = read_.symbol + std::string(ending);
    if (scope_.functions.contains(entry)) return entry;
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    std::optional<std::size_t> group;
    for (const std::string_view ending : entry_endings) {
      if (!group) group = scope_.left_out_group(read_.symbol + std::string(ending), i);
    }
    if (!group) continue;
    throw located(files_[i],
                  {*group,
                   "found the entry function in a conditional group whose macro the file does not define, expected it "
                   "outside of such groups, or that #define in the file"});
  }
  throw Error(
      ErrorKind::archive, {},
      "no C file of module " + in_quotes(name_) + " defines " + read_.symbol + "___tvm_main__, the entry function");
}

void ModuleReader::find_foreign_pools() {
  for (const auto& [name, text] : foreign_files_) {
    FileScope scope;
    std::vector<PoolEdit> edits;
    const std::span<const Code> headers = included_.codes().subspan(files_.size());
    std::vector<Code> codes(headers.begin(), headers.end());
    std::vector<AskedFunction> asked;
    try {
      codes.push_back(split(text));
      const PoolMacros macros = pool_macros(codes);
      read_file_scope(codes.back(), 0, true, scope);
      for (const auto& [function, body] : scope.functions) {
        if (!scope_.foreign.contains(function)) continue;
        auto params = pool_params(body, macros);
        const auto more = edits_of(params);
        edits.insert(edits.end(), more.begin(), more.end());
        kept_pools_.emplace(function, std::move(params));
        asked.push_back({function, body, {}});
      }
      const std::vector<Source> own = {{std::string(name), text}};
      const Included included(own, headers_);
      find_doubts(
          {.files = own, .scope = scope, .included = included, .places = Places(own), .symbol = {}, .entry = {}},
          scope);
      add_escapes(asked, scope, included);
    } catch (const SyntaxError& error) {
      throw located({std::string(name), text}, error);
    }
    if (edits.empty()) continue;
    std::ranges::sort(edits, {}, &PoolEdit::at);
    changed_.push_back({std::string(name), edited(text, 0, text.size(), edits)});
  }
}

void ModuleReader::read_all() {
  const tir::Module empty = module_;
  while (true) {
    read_reached();
    require_no_parts();
    require_asked();
    if (round_.unread.empty()) break;
    for (auto& [name, reason] : round_.unread) {
      kept_names_.insert(name);
      if (!found_in_added_.contains(name)) kept_for_operators_.insert(name);
      reasons_.emplace(name, std::move(reason));
    }
    kept_names_ = with_called(kept_names_, read_);
    if (kept_names_.contains(read_.entry)) {
      throw Error(ErrorKind::archive, {},
                  "the entry " + in_quotes(read_.entry) + " is called by a function that is not read");
    }
    if (!pool_macros_) pool_macros_ = pool_macros(included_.codes());
    for (const std::string& name : kept_names_) {
      const FunctionText& text = defined(name);
      try {
        auto params = pool_params(text, *pool_macros_);
        for (auto& param : params) {
          if (!param || !param->is_used || !is_struct_of_constants(param->pool)) continue;
          param->is_named = true;
          named_constants_.emplace(param->pool, name);
        }
        kept_pools_.emplace(name, std::move(params));
      } catch (const SyntaxError& error) {
        const Error fault = located(files_[text.file], error);
        const auto reason = reasons_.find(name);
        const bool is_called = reason == reasons_.end() || reason->second.empty();
        const std::string why = is_called ? "something that stays calls it" : reason->second;
        throw Error(fault.kind(), fault.where(), fault.message(),
                    {"function " + in_quotes(name) + " stays as it is (" + why +
                     "); write this as TVM does, or build the archive without USMP"});
      }
    }
    module_ = empty;
    round_ = {};
  }
}

void ModuleReader::add_kept_text() {
  if (!kept_names_.empty()) require_workspace_ownership(kept_names_, macro_definitions(included_.codes()), read_);
  Names stops;  // what planned C has otherwise, or has no more
  Names added;  // functions that stay for what somebody added
  if (added_.may_be()) {
    stops = this->stops();
    added = added_.keep(found_in_added_, gone_names(), stops, kept_names_, kept_for_operators_);
    kept_names_.insert(added.begin(), added.end());
  }
  for (const auto& [i, access] : added_.pool_accesses()) {
    warnings_.push_back(access.file + ": " + in_quotes(access.name) + " (" +
                        place(scope_.items[i].file, scope_.items[i].begin) + ") tells other files where pool " +
                        in_quotes(access.pool) + " is, which may have another size in planned C");
  }
  note_left_out();
  std::set<std::size_t> callers = added_.files();
  const bool has_added = !callers.empty() || !added_.names().empty() || !added.empty();
  if (kept_names_.empty() && round_.external.empty() && !has_added) return;
  for (const auto& [name, file] : round_.external) callers.insert(file);
  Names gone = gone_names();
  std::erase_if(gone, [this](const std::string& name) {
    return !scope_.owned.contains(name) && !scope_.functions.contains(name) && !round_.tables.contains(name);
  });
  const std::vector<bool> stays = mentioned_items(kept_names_, added_.names(), stops, read_, callers);
  std::set<std::size_t> with_text = callers;
  add_files_of(stays, scope_, with_text);
  added_.require_none_of(gone, stays, with_text);
  note_visible_names(with_text, gone);
  std::string text = kept_constants() + kept_text(kept_names_, callers, added_.names(), stops, kept_pools_, read_);
  const std::string_view file = files_[defined(read_.entry).file].text;
  for (const OutlinedFunction& one : round_.outlined) text += "\n" + text_of(one, file);
  for (tir::Function& function : module_.functions) {
    bool calls_any = has_added && function.name == read_.entry;
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      const auto call = tir::named_call(expr);
      calls_any = calls_any || (call && (kept_names_.contains(*call->name) || round_.external.contains(*call->name)));
    });
    if (calls_any) function.imported_c.push_back(text);
  }
}

void ModuleReader::size_buffers() {
  try {
    if (const auto fault = find_sizes(round_.memory, c_identifier(name_), module_)) fail(*fault);
  } catch (const Error& error) {
    std::vector<std::string> details = error.details();
    std::set<std::string_view> pools;
    for (const PlannedPlace& place : round_.memory.places) pools.insert(place.pool);
    for (const auto& [name, at] : scope_.unsized) {
      if (!pools.contains(name)) continue;
      details.push_back("the files and their headers do not determine the size of " + in_quotes(name) + " (" +
                        files_[at.file].name + ": " + place(at.file, at.offset) +
                        "): no name of the compiler's command line or of a conditional group counts; write the "
                        "number there");
    }
    throw Error(error.kind(), error.where(), error.message(), std::move(details));
  }
}

void ModuleReader::fail(const tir::Fault& fault) const {
  if (!fault.function) throw Error(ErrorKind::archive, {}, fault.message);
  const std::string& name = module_.functions[*fault.function].name;
  const std::string message = "function " + in_quotes(name) + ", " + fault.place + ": " + fault.message;
  const auto text = scope_.functions.find(name);
  if (text == scope_.functions.end()) throw Error(ErrorKind::archive, {}, message);  // a prototype
  throw located(files_[text->second.file], {text->second.offset, message});
}

void require_constants(const std::optional<std::string>& lost) {
  if (!lost) return;
  throw Error(ErrorKind::archive, {},
              "TVM's plan is wrong: " + *lost + ", so their values are lost; build the archive again without USMP");
}

tir::Module read_module(const std::string& module, std::span<const Source> files, std::span<const Foreign> foreign,
                        const Limits& limits) {
  PlannedModule read = read_planned_module(module, files, foreign, limits);
  require_constants(read.lost_constants);
  return std::move(read.module);
}

PlannedModule read_planned_module(const std::string& module, std::span<const Source> files,
                                  std::span<const Foreign> foreign, const Limits& limits, Unread unread,
                                  const std::set<std::string>& rewritten, std::span<const Source> headers,
                                  const std::set<std::string>& synchronous) {
  for (const Source& file : files) {
    require_not_own(file);
  }
  return ModuleReader(module, files, foreign, limits, unread, rewritten, headers, synchronous).run();
}

}  // namespace usmp::tvm_c
