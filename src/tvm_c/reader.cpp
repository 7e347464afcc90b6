// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a module: files, then the functions that the entry reaches, until none turns out to be kept; then what is kept.
#include "usmp/tvm_c/reader.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/body/body_reader.hpp"
#include "tvm_c/body/entry_tensors.hpp"
#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/loop_header.hpp"
#include "tvm_c/body/nested_calls.hpp"
#include "tvm_c/body/plain_names.hpp"
#include "tvm_c/body/planned_memory.hpp"
#include "tvm_c/body/planned_pools.hpp"
#include "tvm_c/body/reroll.hpp"
#include "tvm_c/body/tidy.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/hints.hpp"
#include "tvm_c/kept/added_code.hpp"
#include "tvm_c/kept/escape.hpp"
#include "tvm_c/kept/extended_lifetimes.hpp"
#include "tvm_c/kept/kept_constants.hpp"
#include "tvm_c/kept/kept_text.hpp"
#include "tvm_c/kept/synchronous.hpp"
#include "tvm_c/kept/workspace_ownership.hpp"
#include "tvm_c/missing_in_plan.hpp"
#include "tvm_c/text/doubts.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/included.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/places.hpp"
#include "tvm_c/text/preprocessed.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/style.hpp"

namespace usmp::tvm_c {
namespace {

constexpr Bytes default_alignment = 16;
constexpr std::size_t most_outlined = 200;  // statements of the entry that become functions

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

// float4, int8_t16
bool is_vector_type(std::string_view word) {
  const std::size_t end = word.find_last_not_of("0123456789") + 1;
  const std::string_view element = word.substr(0, end);
  const bool is_element = element == "float" || element == "double" || element == "half" ||
                          (element.ends_with("_t") && element.find("int") != std::string_view::npos);
  return is_element && end < word.size();
}

class ModuleReader {
 public:
  ModuleReader(std::string name, std::span<const Source> files, std::span<const Foreign> foreign, const Limits& limits,
               Unread unread, const std::set<std::string>& rewritten, std::span<const Source> headers,
               const std::set<std::string>& synchronous)
      : name_(std::move(name)),
        files_(files),
        headers_(headers),
        included_(files, headers),
        helpers_(files_),
        limits_(limits),
        unread_(unread),
        rewritten_(rewritten),
        synchronous_(synchronous),
        added_(scope_, files_, included_, rewritten) {
    for (const Foreign& function : foreign) {
      auto prototype = std::make_shared<FileTree>();
      prototype->tokens = plain_tokens(function.prototype);
      const std::span<const Token> tokens(prototype->tokens);
      const auto is_open = [](const Token& token) { return token.is("("); };
      const auto open = static_cast<std::size_t>(std::ranges::find_if(tokens, is_open) - tokens.begin());
      FunctionText text{.source = std::move(prototype)};
      if (const auto behind = behind_bracketed(tokens, open))
        text.params = tokens.subspan(open + 1, *behind - open - 1);
      scope_.foreign.emplace(function.name, std::move(text));
      if (!function.text.empty()) foreign_files_.emplace(function.file, function.text);
    }
  }

  PlannedModule run() && {
    places_.of(files_);
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
    const std::string entry = entry_name();
    find_doubts(files_read(), entry, scope_);
    find_foreign_pools();
    read_all(entry);
    if (!module_.workspace_alignment) module_.workspace_alignment = pool_alignment_;
    module_.entry = *module_.find(entry);
    type_entry_params(module_);
    require_typed_params(entry);
    name_entry_params(entry);
    auto lost_constants = cut_constants(memory_.constants, module_);
    if (const auto fault = tir::find_fault(module_)) fail(*fault);
    size_buffers();
    storage::fit(module_);  // what ends a lifetime is as large as it is used
    extend_lifetimes(scope_.functions.find(entry)->second.file);
    std::vector<PlannedPool> pools = pool_sizes_.pools_of(scope_.functions.find(entry)->second, memory_.places, scope_);
    std::vector<std::string> placements = placements_lost(pools);
    std::vector<LostName> names = lost_names(entry, pools);
    for (std::string& one : used_by_others(pools)) warnings_.push_back(std::move(one));
    return {.module = std::move(module_),
            .pools = std::move(pools),
            .places = std::move(memory_.places),
            .whole_pools = whole_pools(),
            .lost_constants = std::move(lost_constants),
            .kept = kept_functions(),
            .external = external_functions(),
            .forwarders = forwarders(),
            .pool_accesses = pool_accesses(),
            .changed = std::move(changed_),
            .workspace_macro = pool_sizes_.workspace(),
            .lost_placements = std::move(placements),
            .constants_section = constants_section(),
            .warnings = std::move(warnings_),
            .edited_run = edited_run(entry),
            .lost_names = std::move(names),
            .visible_names = std::move(visible_names_)};
  }

 private:
  [[nodiscard]] std::string entry_name() const {
    const std::string prefix = "tvmgen_" + c_identifier(name_);
    for (const std::string_view ending : entry_endings) {
      std::string entry = prefix + std::string(ending);
      if (scope_.functions.contains(entry)) return entry;
    }
    for (std::size_t i = 0; i < files_.size(); ++i) {
      std::optional<std::size_t> group;
      for (const std::string_view ending : entry_endings) {
        if (!group) group = scope_.left_out_group(prefix + std::string(ending), i);
      }
      if (!group) continue;
      throw Error(ErrorKind::archive, {{}, files_[i].name, place_in(files_[i], *group)},
                  "found the entry function in a conditional group whose macro the file does not define, expected it "
                  "outside of such groups, or that #define in the file");
    }
    throw Error(ErrorKind::archive, {},
                "no C file of module " + in_quotes(name_) + " defines " + prefix + "___tvm_main__, the entry function");
  }

  // Other code generators' C that TVM has planned memory for.
  void find_foreign_pools() {
    for (const auto& [name, text] : foreign_files_) {
      FileScope scope;
      std::vector<PoolEdit> edits;
      std::vector<std::string_view> texts = {text};
      for (const Source& header : headers_) texts.push_back(header.text);
      const PoolMacros macros = pool_macros(texts);
      std::vector<AskedFunction> asked;
      try {
        read_file_scope(split(text), 0, true, scope);
        for (const auto& [function, body] : scope.functions) {
          if (!scope_.foreign.contains(function)) continue;
          auto params = pool_params(body, macros);
          const auto more = edits_of(params);
          edits.insert(edits.end(), more.begin(), more.end());
          kept_pools_.emplace(function, std::move(params));
          asked.push_back({function, body, body.offset, {}});
        }
        const std::vector<Source> own = {{std::string(name), text}};
        const Included included(own, headers_);
        Places places;
        places.of(own);
        find_doubts({.files = own, .scope = scope, .included = included, .places = places, .symbol = {}}, {}, scope);
        add_escapes(asked, scope, included);
      } catch (const SyntaxError& error) {
        throw located({std::string(name), text}, error);
      }
      if (edits.empty()) continue;
      std::sort(edits.begin(), edits.end(), [](const PoolEdit& a, const PoolEdit& b) { return a.at < b.at; });
      changed_.push_back({std::string(name), edited(text, 0, text.size(), edits)});
    }
  }

  // Until no function turns out to be one whose C stays.
  void read_all(const std::string& entry) {
    const tir::Module empty = module_;
    while (true) {
      read_from(entry);
      require_no_parts(entry);
      require_asked(entry);
      if (unread_found_.empty()) break;
      for (auto& [name, reason] : unread_found_) {
        kept_names_.insert(name);
        if (!found_in_added_.contains(name)) kept_for_operators_.insert(name);
        reasons_.emplace(name, std::move(reason));
      }
      unread_found_.clear();
      kept_names_ = with_called(kept_names_, scope_, included_);
      if (kept_names_.contains(entry)) {
        throw Error(ErrorKind::archive, {},
                    "the entry " + in_quotes(entry) + " is called by a function that is not read");
      }
      for (const std::string& name : kept_names_) {
        const FunctionText& function = scope_.functions.find(name)->second;
        try {
          auto params = pool_params(function, pool_macros_of_all());
          for (auto& param : params) {
            if (!param || !param->is_used || !is_struct_of_constants(param->pool)) continue;
            param->is_named = true;
            named_constants_.emplace(param->pool, name);
          }
          kept_pools_.emplace(name, std::move(params));
        } catch (const SyntaxError& error) {
          const Error fault = located(files_[function.file], error);
          const auto reason = reasons_.find(name);
          const bool is_called = reason == reasons_.end() || reason->second.empty();
          const std::string why = is_called ? "something that stays calls it" : reason->second;
          throw Error(fault.kind(), fault.where(), fault.message(),
                      {"function " + in_quotes(name) + " stays as it is (" + why +
                       "); write this as TVM does, or build the archive without USMP"});
        }
      }
      module_ = empty;
      external_.clear();
      unasked_.clear();
      tables_.clear();
      inlined_.clear();
      memory_ = {};
      pool_alignment_ = default_alignment;
    }
    if (!kept_names_.empty()) require_workspace_ownership();
    Names stops;  // what planned C has otherwise, or has no more
    if (added_.may_be()) stops = keep_added(entry);
    note_left_out(entry);
    const std::size_t entry_file = scope_.functions.find(entry)->second.file;
    std::vector<std::string> statements;
    for (const OutlinedFunction& one : outlined_) statements.push_back(text_of(one, files_[entry_file].text));
    std::set<std::size_t> callers = added_.files();
    const bool has_added = !callers.empty() || !added_.names().empty() || has_added_functions_;
    if (kept_names_.empty() && external_.empty() && !has_added) return;
    for (const auto& [name, file] : external_) callers.insert(file);
    Names gone = gone_names(entry);
    std::erase_if(gone, [this](const std::string& name) {
      return !scope_.owned.contains(name) && !scope_.functions.contains(name) && !tables_.contains(name);
    });
    const std::vector<bool> stays = mentioned_items(kept_names_, added_.names(), stops, scope_, included_, callers);
    std::set<std::size_t> with_text = callers;
    for (std::size_t i = 0; i < stays.size(); ++i) {
      if (stays[i]) with_text.insert(scope_.items[i].file);
    }
    added_.require_none_of(gone, stays, with_text);
    note_visible_names(with_text, gone);
    std::string text =
        kept_constants() + kept_text(kept_names_, callers, added_.names(), stops, kept_pools_, scope_, included_);
    for (const std::string& one : statements) text += "\n" + one;
    for (tir::Function& function : module_.functions) {
      bool calls_any = has_added && function.name == entry;
      tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
        const auto call = tir::named_call(expr);
        calls_any = calls_any || (call && (kept_names_.contains(*call->name) || external_.contains(*call->name)));
      });
      if (calls_any) function.imported_c.push_back(text);
    }
  }

  // In headers that these files include, in front of functions of `gone`.
  void note_visible_names(const std::set<std::size_t>& files, const Names& gone) {
    std::set<std::size_t> headers;
    for (const std::size_t file : files) {
      for (const std::size_t one : included_.closed(file)) {
        if (!files.contains(one) && headers.insert(one).second) note_visible_names(one, gone);
      }
    }
  }

  void note_visible_names(std::size_t header, const Names& gone) {
    const Code& code = included_.code(header);
    const bool is_kept =
        !included_.name(header).ends_with("tvmgen_" + c_identifier(name_) + ".h");  // it is written anew
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

  // Keeps what escapes of the functions that the model calls.
  void add_escapes(const std::vector<AskedFunction>& asked, const FileScope& scope, const Included& included) {
    Escapes found = escapes_of(asked, scope, included, synchronous_);
    for (const AskedFunction& one : asked) escapes_.insert(found.extract(one.name));
  }

  void extend_lifetimes(std::size_t entry_file) {
    if (unread_ != Unread::kept) return;
    std::vector<AskedFunction> asked;
    for (const std::string& name : kept_names_) {
      const FunctionText& text = scope_.functions.find(name)->second;
      asked.push_back({name, text, text.offset, {}});
    }
    std::deque<std::string> statements;  // that `asked` points into
    for (const OutlinedFunction& one : outlined_) {
      FileScope own;
      read_file_scope(split(statements.emplace_back(text_of(one, files_[entry_file].text))), 0, true, own);
      FunctionText function = own.functions.find(one.name)->second;
      function.file = entry_file;
      asked.push_back({one.name, std::move(function), one.place.begin, one.place});
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
    extended_ = tvm_c::extend_lifetimes(of, memory_.places, module_);
    for (const std::size_t i : extended_.functions) module_.functions[i].imported_c.push_back(extended_.text);
  }

  // In planned C a function gets other bytes with each call: what it has stored of a pool says nothing to the next.
  void require_passing_pools() const {
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
                    "function " + in_quotes(name) + " stores an address of pool " + in_quotes(params[i]->pool) +
                        " in " + found->second.stored_in +
                        ", where a later call may find it, expected one that it takes in each call: planned C has "
                        "other bytes for it there; if no later call uses it: --synchronous " +
                        name);
      }
    }
  }

  // In any file or header.
  const PoolMacros& pool_macros_of_all() {
    if (!pool_macros_) pool_macros_ = pool_macros(all_texts());
    return *pool_macros_;
  }

  const MacroDefinitions& macros_of_all() {
    if (!macros_) macros_ = macro_definitions(all_texts());
    return *macros_;
  }

  [[nodiscard]] std::vector<std::string_view> all_texts() const {
    std::vector<std::string_view> texts;
    for (const Source& file : files_) texts.push_back(file.text);
    for (const Source& header : headers_) texts.push_back(header.text);
    return texts;
  }

  // In the C, so that text which names it may stay.
  [[nodiscard]] bool is_struct_of_constants(const std::string& pool) const {
    const auto found = scope_.constant_pools.find(pool);
    return found != scope_.constant_pools.end() && found->second.bytes == nullptr;
  }

  // Those that functions which stay take.
  [[nodiscard]] std::string kept_constants() const {
    std::string text;
    for (const Item& item : scope_.items) {
      if (item.kind != Item::Kind::data || !named_constants_.contains(std::string(item.name))) continue;
      const std::string_view declaration = files_[item.file].text.substr(item.begin, item.end - item.begin);
      const std::string name(item.name);
      text += text_of_constants(name, scope_.constant_pools.find(name)->second, declaration);
    }
    return text;
  }

  // Planned C leaves the caller if a function of the module fails, so what ignores that is not read.
  void require_asked(const std::string& entry) {
    for (const auto& [caller, callee, at] : unasked_) {
      const bool is_plain = !module_.find(callee) || unread_found_.contains(callee) || scope_.foreign.contains(callee);
      if (is_plain) continue;
      const std::size_t file = scope_.functions.find(caller)->second.file;
      const SyntaxError error{at, "found a call of " + in_quotes(callee) +
                                      ", which may fail, and nothing asks for its result, expected if (" + callee +
                                      "(…) != 0) return -1;"};
      if (!keeps(caller, caller == entry, place(file, at) + ": " + error.message)) throw located(files_[file], error);
    }
  }

  // By functions that stay; not those that the model never calls.
  void require_workspace_ownership() {
    std::vector<const FunctionText*> functions;
    for (const std::string& name : kept_names_) functions.push_back(&scope_.functions.find(name)->second);
    std::size_t at = 0;
    try {
      const auto mentions = [](std::string_view name) {
        return [name](std::string_view definition) { return !places_of(definition, name).empty(); };
      };
      const MacroDefinitions& macros = macros_of_all();
      const Names takes = macros_with(macros, mentions("TVMBackendAllocWorkspace"));
      tvm_c::require_workspace_ownership(functions, {takes, macros_with(macros, mentions(free_function))}, &at);
    } catch (const SyntaxError& error) {
      throw located(files_[functions[at]->file], error);
    }
  }

  // What planned C has otherwise, or has no more.
  [[nodiscard]] Names stops_of(const std::string& entry) const {
    Names stops = gone_names(entry);
    for (const auto& [name, function] : named_constants_) stops.erase(name);  // added code may not name them, though
    stops.insert("tvmgen_" + c_identifier(name_) + "_run");
    return stops;
  }

  [[nodiscard]] Names gone_names(const std::string& entry) const {
    Names gone = tables_;
    for (const std::string& name : inlined_) {
      if (!kept_names_.contains(name)) gone.insert(name);
    }
    for (const tir::Function& function : module_.functions) {
      if (scope_.functions.contains(function.name) && !kept_names_.contains(function.name)) gone.insert(function.name);
    }
    for (const PlannedPool& pool : pool_sizes_.pools_of(scope_.functions.find(entry)->second, memory_.places, scope_)) {
      gone.insert(pool.name);
    }
    for (const auto& [name, pool] : scope_.constant_pools) gone.insert(name);
    const std::vector<bool> needed = mentioned_items(kept_for_operators_, {}, {}, scope_, included_);
    for (std::size_t i = 0; i < needed.size(); ++i) {  // tables of operators whose C stays, which others may read, too
      if (needed[i] && scope_.items[i].kind == Item::Kind::data &&
          tables_.contains(std::string(scope_.items[i].name))) {
        gone.erase(std::string(scope_.items[i].name));
      }
    }
    return gone;
  }

  void size_buffers() {
    try {
      if (const auto fault = find_sizes(memory_, c_identifier(name_), module_)) fail(*fault);
    } catch (const Error& error) {
      std::vector<std::string> details = error.details();
      std::set<std::string_view> pools;
      for (const PlannedPlace& place : memory_.places) pools.insert(place.pool);
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

  // The arrays of the C that are TVM's pools.
  [[nodiscard]] Names pools_in(const Names& gone) const {
    Names pools;
    for (const auto& [name, section] : scope_.owned) {
      if (gone.contains(name)) pools.insert(name);
    }
    return pools;
  }

  // What else stays of files that planned C takes the place of. Returns the names that its text has otherwise.
  Names keep_added(const std::string& entry) {
    const std::string prefix = "tvmgen_" + c_identifier(name_) + "_";
    const Names gone = gone_names(entry);
    Names stops = stops_of(entry);
    Names added =
        added_.keep(prefix, entry, found_in_added_, gone, stops, kept_names_, kept_for_operators_, pools_in(gone));
    for (const auto& [i, access] : added_.pool_accesses()) {
      warnings_.push_back(access.file + ": " + in_quotes(access.name) + " (" +
                          place(scope_.items[i].file, scope_.items[i].begin) + ") tells other files where pool " +
                          in_quotes(access.pool) + " is, which may have another size in planned C");
    }
    has_added_functions_ = !added.empty();
    kept_names_.merge(added);
    return stops;
  }

  // Planned C that takes the place of no file has what the model uses.
  void note_left_out(const std::string& entry) {
    if (unread_ != Unread::kept || !rewritten_.empty()) return;
    const Names stops = stops_of(entry);
    const std::vector<bool> stays = mentioned_items(kept_names_, added_.names(), stops, scope_, included_);
    const FilesRead read = files_read();
    std::vector<std::size_t> left_out = added_.left_out(read.symbol + "_", entry, stops, stays);
    std::erase_if(left_out, [&](std::size_t item) { return helpers_.is_read(scope_.items[item].name); });
    append(left_out_code(read, left_out, entry), warnings_);
    std::set<std::size_t> stay = added_.files();
    for (const auto& [name, file] : external_) stay.insert(file);
    for (std::size_t i = 0; i < stays.size(); ++i) {
      if (stays[i]) stay.insert(scope_.items[i].file);
    }
    append(left_out_includes(read, stay), warnings_);
    append(undefined_names(read, {stays, external_, added_.defined_elsewhere()}), warnings_);
  }

  static void append(std::vector<std::string> more, std::vector<std::string>& to) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  [[nodiscard]] FilesRead files_read() const {
    return {files_, scope_, included_, places_, "tvmgen_" + c_identifier(name_)};
  }

  // Memory of the model that others may use at times when planned C has something else in it, or not at all.
  [[nodiscard]] std::vector<std::string> used_by_others(const std::vector<PlannedPool>& pools) {
    std::vector<std::string> result;
    if (unread_ != Unread::kept) return result;
    result = shared_pools(files_read(), pools);
    for (const auto& [pool, function] : named_constants_) {
      result.push_back(
          "function " + in_quotes(function) + " takes constants of pool " + in_quotes(pool) +
          " and stays as it is, so planned C has the whole pool for it, beside copies for other functions, "
          "which do not change with it");
    }
    append(warnings_of(extended_, module_), result);
    return result;
  }

  [[nodiscard]] std::optional<Error> edited_run(const std::string& entry) const {
    if (unread_ != Unread::kept) return std::nullopt;
    try {
      added_.check_run("tvmgen_" + c_identifier(name_) + "_run", entry);
      return std::nullopt;
    } catch (const Error& error) {
      return error;
    }
  }

  // Where all are that are in any.
  [[nodiscard]] std::string constants_section() const {
    const std::set<std::string>& sections = scope_.constant_sections;
    return sections.size() == 1 && sections.begin()->starts_with(".rodata") ? *sections.begin() : std::string();
  }

  [[nodiscard]] std::string prototype(const Item& item) const {
    return prototype_of(item, *scope_.files.at(item.file));
  }

  [[nodiscard]] std::vector<KeptFunction> kept_functions() const {
    std::vector<KeptFunction> result;
    for (const Item& item : scope_.items) {
      if (item.kind != Item::Kind::function || !kept_names_.contains(item.name)) continue;
      const std::string_view text = files_[item.file].text.substr(item.begin, item.end - item.begin);
      const auto reason = reasons_.find(item.name);
      result.push_back({std::string(item.name), prototype(item), files_[item.file].name,
                        reason == reasons_.end() ? std::string() : reason->second,
                        text.find("TVMBackendAllocWorkspace") != std::string_view::npos});
    }
    std::sort(result.begin(), result.end(),
              [](const KeptFunction& a, const KeptFunction& b) { return a.name < b.name; });
    return result;
  }

  // Whether planned C has it otherwise.
  [[nodiscard]] bool is_read(const Item& item) const {
    const std::string name(item.name);
    const bool is_in_plan = module_.find(name).has_value() || inlined_.contains(name);
    if (item.kind == Item::Kind::function) return is_in_plan && !kept_names_.contains(name);
    return item.kind == Item::Kind::data && tables_.contains(name);
  }

  [[nodiscard]] std::vector<LostName> lost_names(const std::string& entry,
                                                 const std::vector<PlannedPool>& pools) const {
    if (unread_ != Unread::kept) return {};
    return tvm_c::lost_names(files_read(), entry, pools, [this, gone = gone_names(entry)](const Item& item) {
      return is_read(item) && gone.contains(item.name);
    });
  }

  // Names of what is written anew.
  [[nodiscard]] std::vector<std::string> placements_lost(const std::vector<PlannedPool>& pools) const {
    return lost_placements(
        files_read(), pools, [this](const Item& item) { return is_read(item); }, constants_section().empty());
  }

  [[nodiscard]] std::vector<KeptFunction> forwarders() const {
    std::vector<KeptFunction> result;
    for (const std::size_t i : added_.forwarders()) {
      const Item& item = scope_.items[i];
      result.push_back({std::string(item.name), prototype(item), files_[item.file].name, {}, false});
    }
    return result;
  }

  [[nodiscard]] std::vector<PlannedPlace> whole_pools() const {
    std::vector<PlannedPlace> result;
    for (const auto& [var, pool] : memory_.whole) result.push_back({.var = var, .pool = pool});
    return result;
  }

  [[nodiscard]] std::vector<PoolAccess> pool_accesses() const {
    std::vector<PoolAccess> result;
    for (const auto& [item, access] : added_.pool_accesses()) result.push_back(access);
    return result;
  }

  [[nodiscard]] std::vector<KeptFunction> external_functions() const {
    std::vector<KeptFunction> result;
    for (const auto& [name, file] : external_) {
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

  // Whether what is wrong with the function only means that its C stays.
  bool keeps(const std::string& name, bool is_entry, std::string reason) {
    if (unread_ == Unread::refused || is_entry) return false;
    unread_found_.emplace(name, std::move(reason));
    return true;
  }

  void require_certain(const std::string& name, const FunctionText& text) const {
    const auto doubt = scope_.doubts.find(name);
    if (doubt == scope_.doubts.end()) return;
    throw SyntaxError{text.offset, "found " + in_quotes(name) + " " + doubt->second + ", expected one function of it"};
  }

  // A static function of another file is not what is called.
  void require_seen(const std::string& callee, const FunctionText& caller) const {
    const auto found = scope_.functions.find(callee);
    const bool is_seen = found == scope_.functions.end() || !found->second.is_local ||
                         included_.closed(caller.file).contains(found->second.file);
    if (is_seen) return;
    throw Error(ErrorKind::archive, {{}, files_[caller.file].name, place(caller.file, caller.offset)},
                "found a call of " + in_quotes(callee) + ", of which " + files_[found->second.file].name +
                    " has a static one, expected functions of different names");
  }

  // The function and those that it reaches.
  void read_from(const std::string& entry) {
    std::vector<std::string> pending = {entry};
    std::set<std::string> seen = {entry};
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      for (std::string& callee : read(name, name == entry)) {
        if (seen.insert(callee).second) pending.push_back(std::move(callee));
      }
    }
    std::sort(module_.functions.begin(), module_.functions.end(),  // as tir::Module::find expects
              [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; });
  }

  std::vector<std::string> read(const std::string& name, bool is_entry) {
    if (!scope_.functions.contains(name)) {
      if (scope_.foreign.contains(name)) read_foreign(name);
      return {};
    }
    const FunctionText& text = scope_.functions.find(name)->second;
    const Source& file = files_[text.file];
    if (kept_names_.contains(name)) {
      read_kept(name, text);
      return {};
    }
    try {
      require_certain(name, text);
      AddedStatements added;
      if (unread_ == Unread::kept && is_entry) added = added_statements(text, scope_, included_);
      ReadFunction read = is_entry ? read_entry(name, text, added) : read_plain(name, text, added, {});
      if (unread_ == Unread::kept && !is_entry) note_helpers(read.called);
      if (is_entry) {
        outlined_ = std::move(read.outlined);
        added.texts.insert(added.texts.end(), read.guarded.begin(), read.guarded.end());
        for (const OutlinedFunction& one : outlined_) added.texts.push_back(one.place);
        note_added(added_.note(added.texts, text.file));
        std::vector<AddedText> texts = added.texts;
        texts.insert(texts.end(), read.dropped.begin(), read.dropped.end());
        if (unread_ == Unread::kept) require_plain_text(text, texts, is_entry);  // what was read after all
        require_plain_names(name, text, texts, files_read(), scope_);
        called_by_entry_ = Names(read.called.begin(), read.called.end());
      }
      read.function.name = name;
      read.function.target = "c";
      for (const std::string& callee : read.called) {
        require_seen(callee, text);
        if (!scope_.functions.contains(callee) && !scope_.foreign.contains(callee))
          external_.emplace(callee, text.file);
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
        if (found != scope_.alignments.end()) pool_alignment_ = std::max(pool_alignment_, found->second);
      }
      tables_.insert(read.tables.begin(), read.tables.end());
      inlined_.merge(read.inlined);
      for (const auto& [callee, at] : read.unasked) unasked_.push_back({name, callee, at});
      memory_.add(std::move(read.memory));
      return read.called;
    } catch (const SyntaxError& found) {
      require_no_vectors(name, text, found.offset);
      const SyntaxError error{found.offset, found.message + lasting_variables().expected(text.file, found)};
      if (keeps(name, is_entry, place(text.file, error.offset) + ": " + error.message)) return {};
      const Error fault = located(file, error);
      if (!is_entry) throw fault;
      std::vector<std::string> details = first_lines(unread_operators(), 3);
      details.push_back(entry_hint(files_read(), name, text, error.offset, unread_ == Unread::kept));
      throw Error(fault.kind(), fault.where(), fault.message(), std::move(details));
    } catch (const Error& error) {
      if (keeps(name, is_entry, place(text.file, text.offset) + ": " + error.message())) return {};
      throw Error(error.kind(), {{}, file.name, place_in(file, text.offset)},
                  "function " + in_quotes(name) + ": " + error.message());
    }
  }

  // float4 v = *(float4*)(p0 + i); is what TVM prints where nobody has disabled vectors, and no compiler takes.
  void require_no_vectors(const std::string& name, const FunctionText& text, std::size_t offset) const {
    const Source& file = files_[text.file];
    const std::string_view word = leading_name(file.text.substr(offset));
    if (!name.starts_with("tvmgen_") || !is_vector_type(word) || included_.is_macro(text.file, word)) return;
    const auto mentions = [&](std::string_view declaration) { return !places_of(declaration, word).empty(); };
    for (const Item& item : scope_.items) {
      const bool is_type = item.kind == Item::Kind::other;
      if (is_type && mentions(files_[item.file].text.substr(item.begin, item.end - item.begin))) return;
    }
    if (std::any_of(headers_.begin(), headers_.end(), [&](const Source& header) { return mentions(header.text); })) {
      return;
    }
    throw located(file, {offset, "found the vector type " + in_quotes(word) + " in " + in_quotes(name) +
                                     ", which no file defines, so TVM's C does not compile: build the archive with "
                                     "the pass option tir.disable_vectorize=True"});
  }

  ReadFunction read_plain(const std::string& name, const FunctionText& text, const AddedStatements& added,
                          std::span<const Outlined> outlined) {
    std::vector<AddedText> texts = added.texts;  // that are not read
    for (const GuardedText& guarded : added.guarded) {
      if (guarded.reason.empty()) texts.push_back(guarded.place);
    }
    for (const Outlined& one : outlined) texts.push_back(one.place);
    if (unread_ == Unread::kept) require_plain_text(text, texts, name == entry_);
    require_plain_names(name, text, texts, files_read(), scope_);
    const NestedTexts nested = {
        .require_plain = [this](const std::string& of, const FunctionText& other) { require_nested(of, other); },
        .place = [this](std::size_t file, std::size_t offset) { return place(file, offset); }};
    return read_function(text, scope_, kept_pools_, limits_, module_, name == entry_, added, outlined, &helpers_,
                         &nested);
  }

  // An operator whose statements are read in place of a call has nothing but its tokens, and returns an int32_t.
  void require_nested(const std::string& name, const FunctionText& text) {
    require_certain(name, text);
    if (unread_ == Unread::kept) require_plain_text(text, {}, false);
    require_plain_names(name, text, {}, files_read(), scope_);
    const auto item = std::ranges::find_if(scope_.items, [&](const Item& one) {
      return one.kind == Item::Kind::function && one.file == text.file && one.name == name;
    });
    const bool is_int32 = item != scope_.items.end() &&
                          prototype_of(*item, *scope_.files.at(item->file)).starts_with("int32_t " + name + "(");
    if (!is_int32) throw SyntaxError{text.offset, "found a result of another type, expected int32_t"};
  }

  // A statement that is not read may become a function: then all is read once more.
  ReadFunction read_entry(const std::string& name, const FunctionText& text, const AddedStatements& added) {
    entry_ = name;
    const std::size_t vars = module_.vars.size();
    std::vector<Outlined> outlined;
    while (true) {
      try {
        return read_plain(name, text, added, outlined);
      } catch (const SyntaxError& error) {
        module_.vars.resize(vars);
        const auto other = std::find_if(added.others.begin(), added.others.end(), [&](const auto& one) {
          return one.place.begin <= error.offset && error.offset < one.place.end;
        });
        if (other == added.others.end() || !other->reason.starts_with("mentions ")) throw;
        Outlined statement{.place = other->place};
        const bool is_new = std::none_of(outlined.begin(), outlined.end(),
                                         [&](const Outlined& one) { return one.place.begin == statement.place.begin; });
        if (!is_new || outlined.size() == most_outlined) throw;
        if (!read_outlined(files_[text.file].text, included_.all_definitions(text.file), statement).empty()) throw;
        const auto behind = std::find_if(outlined.begin(), outlined.end(),
                                         [&](const Outlined& one) { return one.place.begin > statement.place.begin; });
        outlined.insert(behind, std::move(statement));
        for (std::size_t i = 0; i < outlined.size(); ++i) {
          outlined[i].function = "usmp_added_" + std::to_string(i + 1);
        }
      }
    }
  }

  [[nodiscard]] std::string place(std::size_t file, std::size_t offset) const { return places_.at(file, offset); }

  // Those of which the C stays, and why.
  [[nodiscard]] std::vector<std::string> unread_operators() const {
    std::vector<std::string> result;
    for (const auto& [name, reason] : reasons_) {
      const auto found = scope_.functions.find(name);
      result.push_back("function " + in_quotes(name) + " of " + files_[found->second.file].name + " is not read (" +
                       reason + "), so its C would stay as it is");
    }
    return result;
  }

  const LastingVariables& lasting_variables() {
    return lasting_variables_ ? *lasting_variables_ : lasting_variables_.emplace(files_read());
  }

  void note_added(const Names& functions) {
    for (const std::string& name : functions) {
      const bool is_new = !kept_names_.contains(name) && unread_found_.emplace(name, std::string()).second;
      if (is_new) found_in_added_.insert(name);
    }
  }

  // Functions that somebody made of the entry.
  void require_no_parts(const std::string& entry) const {
    Names functions = found_in_added_;
    functions.insert(called_by_entry_.begin(), called_by_entry_.end());
    for (const std::string& name : functions) {
      const auto found = scope_.functions.find(name);
      if (found == scope_.functions.end() || name.starts_with("tvmgen_")) continue;
      const std::vector<bool> mentioned = mentioned_items({name}, {}, {}, scope_, included_);
      for (std::size_t i = 0; i < mentioned.size(); ++i) {
        const Item& item = scope_.items[i];
        if (!mentioned[i] || item.kind != Item::Kind::function || !item.name.starts_with("tvmgen_")) continue;
        const Source& file = files_[found->second.file];
        throw Error(ErrorKind::archive, {{}, file.name, place_in(file, found->second.offset)},
                    "found " + in_quotes(item.name) + " called by " + in_quotes(name) +
                        ", expected operators called by " + in_quotes(entry) + " alone: move the statements of " +
                        in_quotes(name) + " there");
      }
    }
  }

  // What operators call is no part of the model by itself.
  void note_helpers(const std::vector<std::string>& called) {
    for (const std::string& name : called) {
      const bool is_helper = scope_.functions.contains(name) && !name.starts_with("tvmgen_");
      if (is_helper && !kept_names_.contains(name)) unread_found_.emplace(name, std::string());
    }
  }

  // Opaque, if it is an operator and what it takes is understood; else one that is not known, of which a call that is
  // not checked says nothing of its result.
  void read_kept(const std::string& name, const FunctionText& text) {
    if (!name.starts_with("tvmgen_")) return;
    const std::size_t vars = module_.vars.size();
    try {
      tir::Function function = read_prototype(text, scope_, limits_, module_);
      function.name = name;
      function.target = program::kept_c_target;
      module_.functions.push_back(std::move(function));
    } catch (const SyntaxError&) {
      module_.vars.resize(vars);
    }
  }

  // Its code generator is not known, so its target is a name of none.
  void read_foreign(const std::string& name) {
    try {
      tir::Function function = read_prototype(scope_.foreign.find(name)->second, scope_, limits_, module_);
      function.name = name;
      function.target = program::kept_c_target;
      module_.functions.push_back(std::move(function));
    } catch (const SyntaxError& error) {
      throw Error(ErrorKind::archive, {}, "prototype of function " + in_quotes(name) + ": " + error.message);
    }
  }

  void require_typed_params(const std::string& entry) const {
    const FunctionText& text = scope_.functions.find(entry)->second;
    try {
      tvm_c::require_typed_params(text, scope_, module_);
    } catch (const SyntaxError& error) {
      throw located(files_[text.file], error);
    }
  }

  // The entry's parameters after the members that the firmware's function passes for them.
  void name_entry_params(const std::string& entry) {
    const std::string symbol = "tvmgen_" + c_identifier(name_);
    const auto run = scope_.functions.find(symbol + "_run");
    if (run == scope_.functions.end()) return;
    try {
      const FunctionText& text = scope_.functions.find(entry)->second;
      name_by_run(run->second, text, symbol, entry, module_);
    } catch (const SyntaxError& error) {
      throw located(files_[run->second.file], error);
    }
  }

  [[noreturn]] void fail(const tir::Fault& fault) const {
    if (!fault.function) throw Error(ErrorKind::archive, {}, fault.message);
    const std::string& name = module_.functions[*fault.function].name;
    const std::string message = "function " + in_quotes(name) + ", " + fault.place + ": " + fault.message;
    const auto text = scope_.functions.find(name);
    if (text == scope_.functions.end()) throw Error(ErrorKind::archive, {}, message);  // a prototype
    const Source& file = files_[text->second.file];
    throw Error(ErrorKind::archive, {{}, file.name, place_in(file, text->second.offset)}, message);
  }

  std::string name_;
  std::string entry_;
  std::span<const Source> files_;
  Places places_;  // in them
  std::optional<LastingVariables> lasting_variables_;
  std::span<const Source> headers_;  // beside those of the module
  const Included included_;          // of both
  Helpers helpers_;
  Limits limits_;
  Unread unread_;
  Names kept_names_;
  Names called_by_entry_;
  std::vector<OutlinedFunction> outlined_;
  Names found_in_added_;      // of kept_names_
  Names kept_for_operators_;  // likewise, without what they call
  Names tables_;              // that functions read
  Names inlined_;             // operators that are read in place of a call
  bool has_added_functions_ = false;
  std::map<std::string, std::size_t> external_;  // called, and defined nowhere: a file that calls it
  KeptPools kept_pools_;                         // also of `foreign`
  std::map<std::string_view, std::string_view> foreign_files_;
  std::vector<ChangedFile> changed_;
  std::map<std::string, std::string, std::less<>> reasons_;  // of those that are not read
  std::map<std::string, std::string> unread_found_;          // since all were read last
  FileScope scope_;
  const std::set<std::string>& rewritten_;
  SynchronousFunctions synchronous_;
  std::vector<std::string> warnings_;
  std::set<std::string> visible_names_;
  std::map<std::string, std::string> named_constants_;  // pools that stay, and a function that takes constants there
  std::optional<PoolMacros> pool_macros_;
  std::optional<MacroDefinitions> macros_;  // macros_of_all()
  Escapes escapes_;                         // of `foreign`, functions whose C stays and statements of the entry
  ExtendedLifetimes extended_;
  struct UnaskedCall {
    std::string caller;
    std::string callee;
    std::size_t at = 0;
  };
  std::vector<UnaskedCall> unasked_;  // likewise
  AddedCode added_;
  PoolSizes pool_sizes_;
  tir::Module module_;
  PlannedMemory memory_;
  Bytes pool_alignment_ = default_alignment;
};

}  // namespace

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
