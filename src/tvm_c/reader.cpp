// SPDX-License-Identifier: Apache-2.0
#include "usmp/tvm_c/reader.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/body_reader.hpp"
#include "tvm_c/file_scope.hpp"
#include "tvm_c/planned_pools.hpp"
#include "tvm_c/tidy.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::tvm_c {
namespace {

constexpr Bytes default_alignment = 16;

Error located(const Source& file, const SyntaxError& error) {
  return {ErrorKind::archive, {{}, file.name, line_and_column(file.text, error.offset + 1)}, error.message};
}

// "-workspace-byte-alignment=8" of the comment that heads TVM's files.
std::optional<Bytes> alignment_in(std::string_view text, std::string_view option) {
  std::size_t at = text.substr(0, 4096).find(option);
  if (at == std::string_view::npos) return std::nullopt;
  Bytes value = 0;
  for (at += option.size(); at < text.size() && text[at] >= '0' && text[at] <= '9' && value < (1 << 20); ++at) {
    value = value * 10 + (text[at] - '0');
  }
  return value > 0 ? std::optional(value) : std::nullopt;
}

class ModuleReader {
 public:
  ModuleReader(std::string name, std::span<const Source> files, std::span<const Foreign> foreign, const Limits& limits)
      : name_(std::move(name)), files_(files), limits_(limits) {
    for (const Foreign& function : foreign) {
      Lexer prototype(function.prototype);
      while (prototype.peek().kind != TokenKind::end && !prototype.next().is("(")) {
      }
      scope_.foreign.emplace(function.name, std::move(prototype));
    }
  }

  PlannedModule run() && {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      try {
        if (files_[i].name.ends_with(".h")) {
          read_pool_macros(files_[i].text, c_identifier(name_), scope_);
          pool_sizes_.read_header(files_[i].text, c_identifier(name_));
          continue;
        }
        read_file_scope(files_[i].text, i, scope_);
      } catch (const SyntaxError& error) {
        throw located(files_[i], error);
      }
      for (const auto& [option, value] : {std::pair("workspace-byte-alignment=", &module_.workspace_alignment),
                                          std::pair("constant-byte-alignment=", &module_.constant_alignment)}) {
        if (!*value) *value = alignment_in(files_[i].text, option);
      }
    }
    if (!module_.workspace_alignment) module_.workspace_alignment = default_alignment;
    if (!module_.constant_alignment) module_.constant_alignment = default_alignment;
    const std::string entry = entry_name();
    read_from(entry);
    std::sort(module_.functions.begin(), module_.functions.end(),
              [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; });
    module_.entry = *module_.find(entry);
    type_entry_params();
    cut_pool_constants();
    if (const auto fault = tir::find_fault(module_)) fail(*fault);
    storage::fit(module_);
    std::vector<PlannedPool> pools = pool_sizes_.pools_of(scope_.functions.find(entry)->second, scope_);
    return {.module = std::move(module_), .pools = std::move(pools)};
  }

 private:
  [[nodiscard]] std::string entry_name() const {
    const std::string prefix = "tvmgen_" + c_identifier(name_);
    for (const char* ending : {"___tvm_main__", "_run_model"}) {
      if (scope_.functions.contains(prefix + ending)) return prefix + ending;
    }
    throw Error(ErrorKind::archive, {},
                "no C file of module " + in_quotes(name_) + " defines " + prefix + "___tvm_main__, the entry function");
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
  }

  std::vector<std::string> read(const std::string& name, bool is_entry) {
    if (!scope_.functions.contains(name)) {
      read_foreign(name);
      return {};
    }
    const FunctionText& text = scope_.functions.find(name)->second;
    const Source& file = files_[text.file];
    try {
      ReadFunction read = read_function(text, scope_, limits_, module_, is_entry);
      read.function.name = name;
      read.function.target = "c";
      tidy(module_, read.function);
      name_params(read.function);
      module_.functions.push_back(std::move(read.function));
      pool_constants_.insert(pool_constants_.end(), read.constants.begin(), read.constants.end());
      return read.called;
    } catch (const SyntaxError& error) {
      throw located(file, error);
    } catch (const Error& error) {
      throw Error(error.kind(), {{}, file.name, line_and_column(file.text, text.offset + 1)},
                  "function " + in_quotes(name) + ": " + error.message());
    }
  }

  // Its code generator is not known, so its target is a name of none.
  void read_foreign(const std::string& name) {
    try {
      tir::Function function = read_prototype(scope_.foreign.find(name)->second, scope_, limits_, module_);
      function.name = name;
      function.target = "extern";
      module_.functions.push_back(std::move(function));
    } catch (const SyntaxError& error) {
      throw Error(ErrorKind::archive, {}, "prototype of function " + in_quotes(name) + ": " + error.message);
    }
  }

  // As TVM's TIR has them: "input" for "input_buffer_var"; a pointer to void is one to what is accessed through it.
  void name_params(tir::Function& function) {
    constexpr std::string_view suffix = "_buffer_var";
    const auto uses = program::storage_uses(function.body);
    for (tir::Param& param : function.params) {
      if (function.is_entry && param.name.ends_with(suffix)) param.name.resize(param.name.size() - suffix.size());
      tir::Var& var = module_.vars[param.var.index()];
      const auto used = uses.find(param.var);
      if (!var.type.is_handle() || !var.element.is_void() || used == uses.end() || used->second.types.size() != 1)
        continue;
      var.element = used->second.types[0];
      param.is_tensor = true;
      param.element = var.element;
    }
  }

  // An input or output that stands in a pool: what it is passed for says of what it is.
  void type_entry_params() {
    std::map<tir::VarId, tir::Param*> untyped;
    for (tir::Param& param : module_.functions[module_.entry].params) {
      if (!param.is_tensor && module_.var(param.var).type.is_handle()) untyped.emplace(param.var, &param);
    }
    for (const program::EntryCall& call : program::entry_calls(module_).calls) {
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const tir::Param& passed = module_.functions[call.callee].params[i];
        const auto found = untyped.find(call.arguments[i]);
        if (found == untyped.end() || !passed.is_tensor) continue;
        found->second->is_tensor = true;
        found->second->element = passed.element;
        module_.vars[found->first.index()].element = passed.element;
      }
    }
  }

  // Each is what is accessed of the pool from its offset on; if that is not known, up to the next one.
  void cut_pool_constants() {
    if (pool_constants_.empty()) return;
    const auto extents = storage::extents(module_);
    std::map<const std::string*, std::set<std::size_t>> offsets;
    for (const PoolConstant& one : pool_constants_) offsets[one.pool.get()].insert(one.offset);
    std::map<tir::VarId, const PoolConstant*> by_var;
    for (const PoolConstant& one : pool_constants_) by_var.emplace(one.var, &one);
    std::map<const std::string*, std::map<std::size_t, std::size_t>> ends;  // by offset
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      for (tir::Stmt& stmt : module_.functions[i].body) {
        auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        const auto found = constant == nullptr ? by_var.end() : by_var.find(constant->var);
        if (found == by_var.end()) continue;
        const PoolConstant& one = *found->second;
        const auto extent = extents[i].find(one.var);
        const auto next = offsets[one.pool.get()].upper_bound(one.offset);
        std::size_t size = (next == offsets[one.pool.get()].end() ? one.pool->size() : *next) - one.offset;
        if (extent != extents[i].end() && extent->second.end) {
          size = std::min(static_cast<std::size_t>(*extent->second.end), one.pool->size() - one.offset);
        }
        tir::DataType type = tir::uint8_type;
        if (extent != extents[i].end() && extent->second.type) type = *extent->second.type;
        const auto width = static_cast<std::size_t>(type.bytes());
        if (size % width != 0) type = tir::uint8_type;
        auto data = std::make_shared<tir::Constant>();
        data->type = type;
        data->shape = {static_cast<std::int64_t>(size / static_cast<std::size_t>(type.bytes()))};
        data->bytes = one.pool->substr(one.offset, size);
        constant->type = type;
        constant->data = std::move(data);
        module_.vars[one.var.index()].element = type;
        std::size_t& end = ends[one.pool.get()][one.offset];
        end = std::max(end, one.offset + size);
      }
    }
    for (const auto& [pool, ranges] : ends) check_apart(ranges);
  }

  // TVM's greedy_by_size has put constants over one another: then the archive does not hold them.
  static void check_apart(const std::map<std::size_t, std::size_t>& ranges) {
    const auto text = [](const auto& range) {
      return "[" + std::to_string(range.first) + ", " + std::to_string(range.second) + ")";
    };
    const auto twice = std::adjacent_find(ranges.begin(), ranges.end(),
                                          [](const auto& a, const auto& b) { return b.first < a.second; });
    if (twice == ranges.end()) return;
    throw Error(ErrorKind::archive, {},
                "TVM's plan is wrong: constants at " + text(*twice) + " and " + text(*std::next(twice)) +
                    " of a constant pool overlap, so their values are lost; build the archive again without USMP");
  }

  [[noreturn]] void fail(const tir::Fault& fault) const {
    if (!fault.function) throw Error(ErrorKind::archive, {}, fault.message);
    const std::string& name = module_.functions[*fault.function].name;
    const std::string message = "function " + in_quotes(name) + ", " + fault.place + ": " + fault.message;
    const auto text = scope_.functions.find(name);
    if (text == scope_.functions.end()) throw Error(ErrorKind::archive, {}, message);  // a prototype
    const Source& file = files_[text->second.file];
    throw Error(ErrorKind::archive, {{}, file.name, line_and_column(file.text, text->second.offset + 1)}, message);
  }

  std::string name_;
  std::span<const Source> files_;
  Limits limits_;
  FileScope scope_;
  PoolSizes pool_sizes_;
  tir::Module module_;
  std::vector<PoolConstant> pool_constants_;
};

}  // namespace

tir::Module read_module(const std::string& module, std::span<const Source> files, std::span<const Foreign> foreign,
                        const Limits& limits) {
  return read_planned_module(module, files, foreign, limits).module;
}

PlannedModule read_planned_module(const std::string& module, std::span<const Source> files,
                                  std::span<const Foreign> foreign, const Limits& limits) {
  return ModuleReader(module, files, foreign, limits).run();
}

}  // namespace usmp::tvm_c
