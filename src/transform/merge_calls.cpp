#include "transform/merge_calls.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "transform/fuse.hpp"
#include "transform/peak.hpp"
#include "transform/rewrite.hpp"
#include "transform/simple_function.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using program::EntryCall;
using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// Whether the call is all that its statement does, and passes whole storages.
bool passes_storage(const tir::Module& module, const EntryCall& call) {
  return call.is_plain && call.passes_variables_only &&
         std::ranges::all_of(call.arguments, [&](VarId argument) { return module.var(argument).type.is_handle(); });
}

struct Entry {
  std::vector<EntryCall> calls;                          // in order, one a statement, of variables alone
  std::map<VarId, std::vector<std::size_t>> calls_with;  // that pass it, among `calls`
  std::map<VarId, tir::Allocate> tensors;
};

// Nothing if the entry is anything but allocates and calls in a row.
std::optional<Entry> read_entry(const tir::Module& module) {
  Entry entry;
  entry.calls = program::entry_calls(module).calls;
  const Block& body = module.functions[module.entry].body;
  std::size_t next = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&body[i].node)) {
      if (!entry.tensors.emplace(allocate->var, *allocate).second) return std::nullopt;
      continue;
    }
    if (std::holds_alternative<tir::AllocateConst>(body[i].node)) continue;
    if (next == entry.calls.size() || entry.calls[next].statement != i || !passes_storage(module, entry.calls[next]))
      return std::nullopt;
    for (const VarId argument : entry.calls[next].arguments) {
      std::vector<std::size_t>& with = entry.calls_with[argument];
      if (with.empty() || with.back() != next) with.push_back(next);
    }
    ++next;
  }
  return next == entry.calls.size() ? std::optional(std::move(entry)) : std::nullopt;
}

std::set<VarId> written_params(const tir::Function& function) {
  std::set<VarId> written;
  const Accesses accesses = accesses_of(function.body);
  for (const tir::Param& param : function.params) {
    if (accesses.stores_of(param.var) > 0) written.insert(param.var);
  }
  return written;
}

// A copy of a function in which every variable has a new identity.
class CalleeCopy {
 public:
  CalleeCopy(tir::Module& module, const tir::Function& function) : module_(module), body_(function.body) {
    for (const tir::Param& param : function.params) renew(param.var);
    tir::for_each_stmt(body_, [&](const Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) renew(allocate->var);
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) renew(constant->var);
      if (const auto* loop = std::get_if<tir::For>(&stmt.node)) renew(loop->var);
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) renew(let->var);
    });
  }

  // The new parameter variable is an old one after all.
  void identify(VarId old_var, VarId with) { vars_[old_var] = with; }

  [[nodiscard]] VarId of(VarId old_var) const { return vars_.at(old_var); }

  Block body() && {
    replace(body_);
    return std::move(body_);
  }

 private:
  void renew(VarId old_var) {
    module_.vars.push_back(tir::Var(module_.var(old_var)));
    vars_[old_var] = VarId(module_.vars.size() - 1);
  }

  // NOLINTNEXTLINE(misc-no-recursion): a level a block; the reader bounds those.
  void replace(Block& block) {
    for (Stmt& stmt : block) {
      const auto own = [&](VarId& var) { var = vars_.at(var); };
      if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) own(allocate->var);
      if (auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) own(constant->var);
      if (auto* let = std::get_if<tir::Let>(&stmt.node)) own(let->var);
      if (auto* loop = std::get_if<tir::For>(&stmt.node)) own(loop->var);
      if (auto* store = std::get_if<tir::Store>(&stmt.node)) own(store->storage);
      tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = changed(expr); });
      for (Block* inner : tir::blocks_of(stmt)) replace(*inner);
    }
  }

  ExprRef changed(const ExprRef& root) const {
    Scope scope(module_);
    return rewritten(root, scope, [&](const ExprRef& expr, const Scope&) -> ExprRef {
      if (expr->kind != ExprKind::var && expr->kind != ExprKind::load) return nullptr;
      Expr copy = *expr;
      copy.var = vars_.at(expr->var);
      return tir::make_expr(std::move(copy));
    });
  }

  tir::Module& module_;
  Block body_;
  std::map<VarId, VarId> vars_;
};

// The call that writes a tensor and the first one that reads it.
struct Pair {
  const EntryCall* writer = nullptr;
  const EntryCall* reader = nullptr;
  bool is_only_reader = true;
};

// What the calls of a module do, as it is. Everything is looked at once, when it is asked for first.
class Calls {
 public:
  Calls(const tir::Module& module, const Entry& entry)
      : module_(module),
        entry_(entry),
        aliases_(module),
        simple_(module.functions.size()),
        written_(module.functions.size()),
        sizes_(module.functions.size()) {}

  // Of calls that may become one. The other readers read on what the writer writes.
  std::optional<Pair> pair(VarId tensor) {
    const auto calls = entry_.calls_with.find(tensor);
    if (calls == entry_.calls_with.end() || calls->second.size() < 2) return std::nullopt;
    const EntryCall& first = entry_.calls[calls->second[0]];
    const EntryCall& second = entry_.calls[calls->second[1]];
    const auto is_passed_once = [&](const EntryCall& call) {
      return std::count(call.arguments.begin(), call.arguments.end(), tensor) == 1;
    };
    if (!is_passed_once(first) || !is_passed_once(second)) return std::nullopt;
    if (!is_usable(first) || !is_usable(second) || !is_only_output(first, tensor)) return std::nullopt;
    if (writes(second).contains(tensor) || !may_wait(first, second)) return std::nullopt;
    return Pair{&first, &second, calls->second.size() == 2};
  }

  // Statements and nodes of expressions of both functions.
  std::size_t size(const Pair& pair) { return size(pair.writer->callee) + size(pair.reader->callee); }

 private:
  const tir::Function& function_of(const EntryCall& call) const { return module_.functions[call.callee]; }

  bool is_known(const EntryCall& call) {
    std::optional<bool>& known = simple_[call.callee];
    if (!known) known = is_simple(module_, call.callee, aliases_);
    return *known;
  }

  bool is_usable(const EntryCall& call) {
    return is_known(call) && function_of(call).target == module_.functions[module_.entry].target;
  }

  std::set<VarId> writes(const EntryCall& call) {
    std::optional<std::set<VarId>>& written = written_[call.callee];
    if (!written) written = written_params(function_of(call));
    std::set<VarId> storages;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (written->contains(function_of(call).params[i].var)) storages.insert(call.arguments[i]);
    }
    return storages;
  }

  bool is_only_output(const EntryCall& call, VarId tensor) { return writes(call) == std::set<VarId>{tensor}; }

  // Whether nothing between the calls writes what the first one reads. Functions that are not simple may write anything
  // that they are passed.
  bool may_wait(const EntryCall& first, const EntryCall& second) {
    if (writers_.empty()) note_writers();
    return std::ranges::none_of(first.arguments, [&](VarId var) {
      const auto found = writers_.find(var);
      if (found == writers_.end()) return false;
      const auto next = std::ranges::upper_bound(found->second, first.statement);
      return next != found->second.end() && *next < second.statement;
    });
  }

  void note_writers() {
    for (const EntryCall& call : entry_.calls) {
      const std::set<VarId> written =
          is_known(call) ? writes(call) : std::set<VarId>(call.arguments.begin(), call.arguments.end());
      for (const VarId var : written) writers_[var].push_back(call.statement);
    }
  }

  std::size_t size(std::size_t function) {
    if (sizes_[function] == 0) {
      tir::for_each_stmt(module_.functions[function].body, [&](const Stmt&) { ++sizes_[function]; });
      tir::for_each_expr_in(module_.functions[function].body, [&](const Expr&) { ++sizes_[function]; });
    }
    return sizes_[function];
  }

  const tir::Module& module_;
  const Entry& entry_;
  const ParamAliases aliases_;
  std::vector<std::optional<bool>> simple_;              // by function
  std::vector<std::optional<std::set<VarId>>> written_;  // by function: parameters
  std::vector<std::size_t> sizes_;                       // by function; 0: not known yet
  std::map<VarId, std::vector<std::size_t>> writers_;    // statements, in order
};

// Makes one function of two.
class Merger {
 public:
  // New variables become the module's.
  Merger(tir::Module& module, const Entry& entry) : module_(module), entry_(entry) {}

  struct Function {
    tir::Function function;
    std::vector<VarId> arguments;         // of its call
    VarId inner;                          // in it: what was the tensor
    std::map<VarId, std::size_t> places;  // of the arguments
  };

  // Under the name of the reader.
  std::optional<Function> function_of(const Pair& pair, VarId tensor, const tir::Function& writer,
                                      const tir::Function& reader) {
    Function merged{reader, {}, {}, {}};
    merged.function.notes = both(writer.notes, reader.notes);
    merged.function.params.clear();
    merged.function.body.clear();
    CalleeCopy a(module_, writer);
    CalleeCopy b(module_, reader);
    const VarId outer = take_params(*pair.writer, writer, a, tensor, merged, {});
    merged.inner = take_params(*pair.reader, reader, b, tensor, merged, outer);
    if (!declare(tensor, outer, merged.function.body)) return std::nullopt;
    Block body_a = std::move(a).body();
    Block body_b = std::move(b).body();
    std::move(body_a.begin(), body_a.end(), std::back_inserter(merged.function.body));
    std::move(body_b.begin(), body_b.end(), std::back_inserter(merged.function.body));
    return merged;
  }

  // In the module itself, which is useless if it is not possible.
  std::optional<MergedCall> put_in_place(const Pair& pair, VarId tensor) {
    auto merged =
        function_of(pair, tensor, module_.functions[pair.writer->callee], module_.functions[pair.reader->callee]);
    if (!merged) return std::nullopt;
    const std::string name = new_name(merged->function.name);
    merged->function.name = name;
    replace_call(*pair.reader, name, merged->arguments);
    if (pair.is_only_reader) {
      Block& body = module_.functions[module_.entry].body;
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(pair.writer->statement));
    }
    insert(std::move(merged->function));
    const ParamAliases aliases(module_);
    const auto index = module_.find(name);
    if (!is_simple(module_, *index, aliases)) return std::nullopt;
    MergedCall result{name, merged->inner, fuse_function(module_, *index, aliases)};
    for (Change& change : result.changes) change.step = Step::merge;  // that it was done here is what reports say
    return result;
  }

 private:
  // What was done to either, once.
  static std::vector<std::string> both(std::vector<std::string> notes, const std::vector<std::string>& more) {
    for (const std::string& note : more) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
    return notes;
  }

  // The call's parameters become the merged function's, each storage once; the tensor's becomes a variable inside.
  static VarId take_params(const EntryCall& call, const tir::Function& function, CalleeCopy& copy, VarId tensor,
                           Function& merged, VarId inner) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const tir::Param& param = function.params[i];
      if (call.arguments[i] == tensor) {
        if (inner.valid()) copy.identify(param.var, inner);
        inner = copy.of(param.var);
        continue;
      }
      const auto [known, is_new] = merged.places.emplace(call.arguments[i], merged.arguments.size());
      if (!is_new) {
        copy.identify(param.var, merged.function.params[known->second].var);
        continue;
      }
      tir::Param own = param;
      own.var = copy.of(param.var);
      merged.function.params.push_back(std::move(own));
      merged.arguments.push_back(call.arguments[i]);
    }
    return inner;
  }

  // The tensor as a buffer of the merged function, which knows its element type.
  bool declare(VarId tensor, VarId inner, Block& body) const {
    const tir::Allocate& outer = entry_.tensors.at(tensor);
    const auto size = tir::allocation_size(outer);
    const tir::DataType element = module_.var(inner).element;
    if (!size.bytes || element.is_void() || element.is_vector() || *size.bytes % element.bytes() != 0) return false;
    tir::Allocate allocate = outer;
    allocate.var = inner;
    allocate.type = element;
    allocate.extents = {tir::make_int(*size.bytes / element.bytes())};
    body.push_back(Stmt{std::move(allocate)});
    return true;
  }

  void replace_call(const EntryCall& second, const std::string& name, const std::vector<VarId>& arguments) {
    Block& body = module_.functions[module_.entry].body;
    auto& evaluate = std::get<tir::Evaluate>(body[second.statement].node);
    Scope scope(module_);
    evaluate.value = rewritten(evaluate.value, scope, [&](const ExprRef& expr, const Scope&) -> ExprRef {
      const auto named = tir::named_call(*expr);
      if (!named) return nullptr;
      Expr copy = *expr;
      const std::vector<ExprRef> rest(expr->operands.begin() + 1 + static_cast<std::ptrdiff_t>(named->arguments.size()),
                                      expr->operands.end());
      copy.operands = {tir::make_string(name)};
      for (const VarId argument : arguments) copy.operands.push_back(tir::make_var(module_, argument));
      copy.operands.insert(copy.operands.end(), rest.begin(), rest.end());
      return tir::make_expr(std::move(copy));
    });
  }

  void insert(tir::Function function) {
    const auto place =
        std::lower_bound(module_.functions.begin(), module_.functions.end(), function.name,
                         [](const tir::Function& other, const std::string& name) { return other.name < name; });
    const auto index = static_cast<std::size_t>(place - module_.functions.begin());
    if (index <= module_.entry) ++module_.entry;
    module_.functions.insert(place, std::move(function));
  }

  // Of no function, and of none that is called, of the application's for one.
  std::string new_name(const std::string& function) const {
    const std::set<std::string> called = called_functions(module_);
    for (std::size_t i = 0;; ++i) {
      std::string name = function + "_merged" + (i == 0 ? std::string() : "_" + std::to_string(i));
      if (!module_.find(name) && !called.contains(name)) return name;
    }
  }

  tir::Module& module_;
  const Entry& entry_;
};

// A module that holds the merged function and its call alone; the variables are moved there and back.
class Trial {
 public:
  explicit Trial(tir::Module& module) : module_(module), vars_(module.vars.size()) {
    alone_.vars = std::move(module_.vars);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    alone_.vars.resize(vars_);
    module_.vars = std::move(alone_.vars);
  }

  // Whether the tensor is gone from the function if its loops are fused. O(that of the two functions), whatever the
  // module holds besides.
  bool is_gone(const Entry& entry, const Pair& pair, VarId tensor) {
    auto merged =
        Merger(alone_, entry)
            .function_of(pair, tensor, module_.functions[pair.writer->callee], module_.functions[pair.reader->callee]);
    if (!merged) return false;
    const std::string name = merged->function.name;
    alone_.functions.push_back(caller(name, merged->arguments));
    alone_.functions.push_back(std::move(merged->function));
    if (alone_.functions[1].name < alone_.functions[0].name) std::swap(alone_.functions[0], alone_.functions[1]);
    const std::size_t index = *alone_.find(name);
    alone_.entry = 1 - index;
    const ParamAliases aliases(alone_);
    if (!is_simple(alone_, index, aliases)) return false;
    (void)fuse_function(alone_, index, aliases);
    return !MergedCall{name, merged->inner, {}}.holds_tensor(alone_);
  }

 private:
  tir::Function caller(const std::string& callee, const std::vector<VarId>& arguments) const {
    tir::Function entry;
    entry.name = module_.functions[module_.entry].name;
    entry.target = module_.functions[module_.entry].target;
    entry.is_entry = true;
    std::vector<ExprRef> operands = {tir::make_string(callee)};
    for (const VarId argument : arguments) {
      tir::Param param;
      param.var = argument;
      entry.params.push_back(std::move(param));
      operands.push_back(tir::make_var(alone_, argument));
    }
    entry.body.push_back({tir::Evaluate{tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(operands))}});
    return entry;
  }

  tir::Module& module_;
  const std::size_t vars_;
  tir::Module alone_;
};

// Functions that were called before and are not any more, and allocates of the entry that nothing uses.
void drop_unused(tir::Module& module, const std::set<std::string>& before, VarId tensor) {
  const std::set<std::string> called = called_functions(module);
  for (std::size_t i = module.functions.size(); i-- > 0;) {
    const std::string& name = module.functions[i].name;
    if (i == module.entry || !before.contains(name) || called.contains(name)) continue;
    module.functions.erase(module.functions.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < module.entry) --module.entry;
  }
  std::erase_if(module.functions[module.entry].body, [&](const Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    return allocate != nullptr && allocate->var == tensor;
  });
}

bool may_try(MergeWork& work, std::size_t size) { return (work.tried += size) <= MergeWork::most_tried; }

bool may_make(MergeWork& work, const tir::Module& module) {
  work.made += module.vars.size() + module.functions.size() + module.functions[module.entry].body.size();
  return work.made <= MergeWork::most_made;
}

// The first tensor of the peak that can be merged away. Nothing: none.
bool merge_one(tir::Module& module, Peak& peak, std::set<VarId>& tried, MergeWork& work, std::vector<Change>& changes) {
  const auto entry = read_entry(module);
  if (!entry) return false;
  Calls calls(module, *entry);
  for (const VarId tensor : peak.live) {
    if (!entry->tensors.contains(tensor) || !tried.insert(tensor).second) continue;
    const auto pair = calls.pair(tensor);
    if (!pair || !pair->is_only_reader) continue;
    if (!may_try(work, calls.size(*pair))) return false;
    if (!Trial(module).is_gone(*entry, *pair, tensor)) continue;
    if (!may_make(work, module)) return false;
    tir::Module candidate = module;
    const auto merged = Merger(candidate, *entry).put_in_place(*pair, tensor);
    if (!merged || merged->holds_tensor(candidate)) continue;
    drop_unused(candidate, called_functions(module), tensor);
    Peak after = peak_of(candidate);
    if (after.load > peak.load) continue;
    peak = std::move(after);
    const std::string name = module.var(tensor).name;
    module = std::move(candidate);
    // What was done to a function that is gone was done to the one that it is part of.
    for (Change& change : changes) {
      if (!module.find(change.function)) change.function = merged->function;
      for (Change::Note& note : change.notes) {
        if (!module.find(note.function)) note.function = merged->function;
      }
    }
    changes.push_back({Step::merge,
                       module.functions[module.entry].name,
                       name + ": gone, since the operator that wrote it and its reader are one",
                       {{merged->function, "two operators in one, " + name + " between them"}}});
    changes.insert(changes.end(), merged->changes.begin(), merged->changes.end());
    return true;
  }
  return false;
}

}  // namespace

bool MergedCall::holds_tensor(const tir::Module& module) const {
  const Accesses accesses = accesses_of(module.functions[*module.find(function)].body);
  return accesses.loads_of(inner) + accesses.stores_of(inner) > 0;
}

std::optional<std::vector<MergedCall>> merge_into_readers(tir::Module& module, VarId tensor) {
  const std::set<std::string> before = called_functions(module);
  std::vector<MergedCall> merged;
  for (bool is_last = false; !is_last;) {
    const auto entry = read_entry(module);
    if (!entry || !entry->tensors.contains(tensor)) return std::nullopt;
    const auto pair = Calls(module, *entry).pair(tensor);
    if (!pair) return std::nullopt;
    auto call = Merger(module, *entry).put_in_place(*pair, tensor);
    if (!call) return std::nullopt;
    merged.push_back(std::move(*call));
    is_last = pair->is_only_reader;
  }
  drop_unused(module, before, tensor);
  return merged;
}

std::vector<Change> merge_calls(tir::Module& module) {
  MergeWork work;
  return merge_calls(module, work);
}

std::vector<Change> merge_calls(tir::Module& module, MergeWork& work) {
  constexpr int most_merges = 64;
  const Peak before = peak_of(module);
  tir::Module merged = module;
  std::vector<Change> changes;
  std::set<VarId> tried;
  Peak peak = before;
  for (int i = 0; i < most_merges && merge_one(merged, peak, tried, work, changes); ++i) {
  }
  if (peak.load >= before.load) return {};
  module = std::move(merged);
  return changes;
}

}  // namespace usmp::transform
