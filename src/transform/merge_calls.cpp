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
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// A statement of the entry that calls one function of the module with whole storages.
struct Call {
  std::size_t statement = 0;
  std::size_t callee = 0;
  std::vector<VarId> arguments;
};

struct Entry {
  std::vector<Call> calls;  // in order
  std::map<VarId, tir::Allocate> tensors;
};

// Nothing if the entry is anything but allocates and calls in a row.
std::optional<Entry> read_entry(const tir::Module& module) {
  Entry entry;
  const Block& body = module.functions[module.entry].body;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&body[i].node)) {
      if (!entry.tensors.emplace(allocate->var, *allocate).second) return std::nullopt;
      continue;
    }
    if (std::holds_alternative<tir::AllocateConst>(body[i].node)) continue;
    const auto named = plain_call(body[i]);
    const auto callee = named ? module.find(*named->name) : std::nullopt;
    if (!callee || named->arguments.size() != module.functions[*callee].params.size()) return std::nullopt;
    Call call{i, *callee, {}};
    for (const ExprRef& argument : named->arguments) {
      if (argument->kind != ExprKind::var || !argument->type.is_handle()) return std::nullopt;
      call.arguments.push_back(argument->var);
    }
    entry.calls.push_back(std::move(call));
  }
  return entry;
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

// One attempt, on a copy of the module.
class Merger {
 public:
  Merger(tir::Module& module, const Entry& entry) : module_(module), entry_(entry), aliases_(module) {}

  // With the only reader. Nothing: there are several, or it is not possible.
  std::optional<MergedCall> merge(VarId tensor) {
    return calls_with(tensor).size() == 2 ? merge_with_first_reader(tensor) : std::nullopt;
  }

  // With the first of several readers; the others read on what the writer writes.
  std::optional<MergedCall> merge_with_first_reader(VarId tensor) {
    const std::vector<const Call*> calls = calls_with(tensor);
    if (calls.size() < 2) return std::nullopt;
    const Call& first = *calls[0];
    const Call& second = *calls[1];
    const auto is_passed_once = [&](const Call& call) {
      return std::count(call.arguments.begin(), call.arguments.end(), tensor) == 1;
    };
    if (!is_passed_once(first) || !is_passed_once(second)) return std::nullopt;
    if (!is_usable(first) || !is_usable(second) || !is_only_output(first, tensor)) return std::nullopt;
    if (writes(second).contains(tensor) || !may_wait(first, second)) return std::nullopt;
    return put_in_place(first, second, tensor, calls.size() > 2);
  }

  [[nodiscard]] std::size_t readers(VarId tensor) const { return calls_with(tensor).size() - 1; }

 private:
  std::vector<const Call*> calls_with(VarId tensor) const {
    std::vector<const Call*> calls;
    for (const Call& call : entry_.calls) {
      if (std::count(call.arguments.begin(), call.arguments.end(), tensor) > 0) calls.push_back(&call);
    }
    return calls;
  }

  const tir::Function& function_of(const Call& call) const { return module_.functions[call.callee]; }

  bool is_usable(const Call& call) const {
    return is_simple(module_, call.callee, aliases_) &&
           function_of(call).target == module_.functions[module_.entry].target;
  }

  std::set<VarId> writes(const Call& call) const {
    const std::set<VarId> written = written_params(function_of(call));
    std::set<VarId> storages;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (written.contains(function_of(call).params[i].var)) storages.insert(call.arguments[i]);
    }
    return storages;
  }

  bool is_only_output(const Call& call, VarId tensor) const { return writes(call) == std::set<VarId>{tensor}; }

  // Whether nothing between the calls writes what the first one reads. Functions that are not simple may write anything
  // that they are passed.
  bool may_wait(const Call& first, const Call& second) const {
    const std::set<VarId> read(first.arguments.begin(), first.arguments.end());
    return std::none_of(entry_.calls.begin(), entry_.calls.end(), [&](const Call& call) {
      if (call.statement <= first.statement || call.statement >= second.statement) return false;
      const std::set<VarId> written = is_simple(module_, call.callee, aliases_)
                                          ? writes(call)
                                          : std::set<VarId>(call.arguments.begin(), call.arguments.end());
      return std::any_of(written.begin(), written.end(), [&](VarId var) { return read.contains(var); });
    });
  }

  std::optional<MergedCall> put_in_place(const Call& first, const Call& second, VarId tensor, bool keeps_first) {
    tir::Function merged = function_of(second);
    merged.name = new_name(merged.name);
    merged.notes = both(function_of(first).notes, merged.notes);
    merged.params.clear();
    merged.body.clear();
    std::vector<VarId> arguments;
    CalleeCopy a(module_, module_.functions[first.callee]);
    CalleeCopy b(module_, module_.functions[second.callee]);
    const VarId inner = take_params(first, a, tensor, merged, arguments, {});
    take_params(second, b, tensor, merged, arguments, inner);
    if (!declare(tensor, inner, merged.body)) return std::nullopt;
    Block body_a = std::move(a).body();
    Block body_b = std::move(b).body();
    std::move(body_a.begin(), body_a.end(), std::back_inserter(merged.body));
    std::move(body_b.begin(), body_b.end(), std::back_inserter(merged.body));
    const std::string name = merged.name;
    replace_call(second, name, arguments);
    if (!keeps_first) {
      Block& body = module_.functions[module_.entry].body;
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(first.statement));
    }
    insert(std::move(merged));
    const ParamAliases aliases(module_);
    const auto index = module_.find(name);
    if (!is_simple(module_, *index, aliases)) return std::nullopt;
    MergedCall result{name, inner, fuse_function(module_, *index, aliases)};
    for (Change& change : result.changes) change.step = Step::merge;  // that it was done here is what reports say
    return result;
  }

  // What was done to either, once.
  static std::vector<std::string> both(std::vector<std::string> notes, const std::vector<std::string>& more) {
    for (const std::string& note : more) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
    return notes;
  }

  // The call's parameters become the merged function's, each storage once; the tensor's becomes a variable inside.
  VarId take_params(const Call& call, CalleeCopy& copy, VarId tensor, tir::Function& merged,
                    std::vector<VarId>& arguments, VarId inner) const {
    const tir::Function& function = function_of(call);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const tir::Param& param = function.params[i];
      if (call.arguments[i] == tensor) {
        if (inner.valid()) copy.identify(param.var, inner);
        inner = copy.of(param.var);
        continue;
      }
      const auto known = std::find(arguments.begin(), arguments.end(), call.arguments[i]);
      if (known != arguments.end()) {
        copy.identify(param.var, merged.params[static_cast<std::size_t>(known - arguments.begin())].var);
        continue;
      }
      tir::Param own = param;
      own.var = copy.of(param.var);
      merged.params.push_back(std::move(own));
      arguments.push_back(call.arguments[i]);
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

  void replace_call(const Call& second, const std::string& name, const std::vector<VarId>& arguments) {
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
  const ParamAliases aliases_;
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

// The first tensor of the peak that can be merged away. Nothing: none.
bool merge_one(tir::Module& module, const Peak& peak, std::set<VarId>& tried, std::vector<Change>& changes) {
  const auto entry = read_entry(module);
  if (!entry) return false;
  for (const VarId tensor : peak.live) {
    if (!entry->tensors.contains(tensor) || !tried.insert(tensor).second) continue;
    tir::Module candidate = module;
    Merger merger(candidate, *entry);
    const auto merged = merger.merge(tensor);
    if (!merged || merged->holds_tensor(candidate)) continue;
    drop_unused(candidate, called_functions(module), tensor);
    if (peak_of(candidate).load > peak.load) continue;
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
    Merger merger(module, *entry);
    auto call = merger.merge_with_first_reader(tensor);
    if (!call) return std::nullopt;
    merged.push_back(std::move(*call));
    is_last = merger.readers(tensor) == 1;
  }
  drop_unused(module, before, tensor);
  return merged;
}

std::vector<Change> merge_calls(tir::Module& module) {
  constexpr int most_merges = 64;
  const Peak before = peak_of(module);
  tir::Module merged = module;
  std::vector<Change> changes;
  std::set<VarId> tried;
  Peak peak = before;
  for (int i = 0; i < most_merges && merge_one(merged, peak, tried, changes); ++i) peak = peak_of(merged);
  if (peak.load >= before.load) return {};
  module = std::move(merged);
  return changes;
}

}  // namespace usmp::transform
