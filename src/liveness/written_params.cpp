// Which parameters a function may write through: one pass over its program, callees first.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "liveness/program.hpp"
#include "liveness/sites.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

// By slot of a function: the parameters that the pointer may be based on.
using Origins = std::vector<std::set<std::size_t>>;

void mark(const std::set<std::size_t>& params, std::vector<bool>& written) {
  for (const std::size_t param : params) written[param] = true;
}

std::vector<bool> written_by(const Program& program, const std::vector<std::vector<bool>>& callees) {
  std::vector<bool> written(program.params.size(), false);
  Origins origins(program.slots);
  for (std::size_t i = 0; i < program.params.size(); ++i) origins[program.params[i]].insert(i);
  for (const Op& op : program.ops) {
    if (op.kind == Op::Kind::escape || (op.kind == Op::Kind::access && op.writes)) {
      mark(origins[op.slot], written);
    } else if (op.kind == Op::Kind::bind) {
      std::set<std::size_t> all;
      for (const Slot source : program.pointer_sets[op.index])
        all.insert(origins[source].begin(), origins[source].end());
      origins[op.slot] = std::move(all);
    } else if (op.kind == Op::Kind::call) {
      const CallSite& site = program.calls[op.index];
      for (std::size_t i = 0; i < site.arguments.size(); ++i) {
        if (!callees[site.function][i]) continue;
        for (const Slot slot : site.arguments[i]) mark(origins[slot], written);
      }
    }
  }
  return written;
}

// The next function that has to be known before `program` can be.
class Visit {
 public:
  Visit(std::size_t function, Program program) : function_(function), program_(std::move(program)) {
    for (const Op& op : program_.ops) {
      if (op.kind == Op::Kind::call) callees_.insert(program_.calls[op.index].function);
    }
    next_ = callees_.begin();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  [[nodiscard]] std::size_t function() const { return function_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] bool done() const { return next_ == callees_.end(); }
  std::size_t take() { return *next_++; }

 private:
  std::size_t function_;
  Program program_;
  std::set<std::size_t> callees_;
  std::set<std::size_t>::const_iterator next_;
};

}  // namespace

std::vector<std::vector<bool>> written_params(const tir::Module& module) {
  enum class State : std::uint8_t { unknown, open, known };
  std::vector<State> state(module.functions.size(), State::unknown);
  std::vector<std::vector<bool>> written(module.functions.size());
  std::vector<std::unique_ptr<Visit>> open;
  const auto enter = [&](std::size_t function) {
    if (state[function] == State::open) fail_recursion(module.functions[function]);
    if (state[function] == State::known) return;
    if (tir::is_opaque(module, module.functions[function])) {
      written[function].assign(module.functions[function].params.size(), true);
      state[function] = State::known;
      return;
    }
    state[function] = State::open;
    open.push_back(std::make_unique<Visit>(function, compile(module, function)));
  };
  for (std::size_t root = 0; root < module.functions.size(); ++root) {
    enter(root);
    while (!open.empty()) {
      Visit& visit = *open.back();
      if (!visit.done()) {
        enter(visit.take());
        continue;
      }
      written[visit.function()] = written_by(visit.program(), written);
      state[visit.function()] = State::known;
      open.pop_back();
    }
  }
  return written;
}

}  // namespace usmp::liveness
