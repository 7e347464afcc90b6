// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements. Blocks, branches and calls that are open stand in a list, so that nothing recurses.
#include "replay/compile.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/emitter.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::replay {
namespace {

std::int64_t highest(tir::DataType type) {
  const auto range = tir::range_of_type(type);
  return range ? range->high : std::numeric_limits<std::int64_t>::max();
}

class Compiler {
 public:
  Compiler(const tir::Module& module, const Followed& followed, std::size_t sites)
      : module_(module),
        emitter_(module, followed, sites),
        values_(emitter_.values()),
        active_(module.functions.size()) {}

  Program run(std::size_t most) {
    for (const tir::Param& param : module_.functions[module_.entry].params) emitter_.declare(param.var);
    enter(module_.entry, emitter_.mark());
    values_.set_limit(most);
    while (!frames_.empty() && !values_.is_exhausted()) step();
    Program program;
    program.is_complete = frames_.empty();
    program.escaped = emitter_.take_escaped();
    if (!program.is_complete) return program;
    program.instructions = std::move(values_.level().body);
    program.registers = values_.take_registers();
    return program;
  }

 private:
  // What is open, with what remains of its block.
  struct Frame {
    enum class Kind : std::uint8_t { block, loop, call, begin_else, end_branch, end_skip };
    Kind kind = Kind::block;
    const tir::Block* block = nullptr;  // null: none
    std::size_t next = 0;
    Instruction loop = {};
    Emitter::Mark mark = {};
    std::size_t function = 0;
  };

  void step() {
    Frame& frame = frames_.back();
    if (frame.block != nullptr && frame.next < frame.block->size()) {
      const tir::Stmt& stmt = (*frame.block)[frame.next++];
      values_.charge();
      std::visit([&](const auto& node) { compile(node); }, stmt.node);
      return;
    }
    const Frame done = frame;
    frames_.pop_back();
    close(done);
  }

  void close(const Frame& frame) {
    switch (frame.kind) {
      case Frame::Kind::block:
        return;
      case Frame::Kind::loop:
        return values_.close_loop(frame.loop);
      case Frame::Kind::call:
        return leave(frame.function, frame.mark);
      case Frame::Kind::begin_else:
        return emitter_.begin_else();
      case Frame::Kind::end_branch:
        return emitter_.end_branch();
      case Frame::Kind::end_skip:
        return emitter_.end_skip();
    }
  }

  void open(Frame::Kind kind) { frames_.push_back({.kind = kind}); }
  void open(const tir::Block& block) { frames_.push_back({.kind = Frame::Kind::block, .block = &block}); }

  // Up to the end_skip that lies below what is opened next.
  void open_skip(Reason reason) {
    emitter_.begin_skip(reason);
    open(Frame::Kind::end_skip);
  }

  // --- Statements ----------------------------------------------------------------------------------------------------

  void compile(const tir::Allocate& s) {
    for (const tir::ExprRef& extent : s.extents) emitter_.evaluate(extent);
    emitter_.evaluate(s.condition);
    if (const auto site = emitter_.declare(s.var)) emitter_.allocate(*site);
  }

  void compile(const tir::AllocateConst& s) { emitter_.declare(s.var); }

  void compile(const tir::Let& s) {
    if (s.value->type.is_handle()) return emitter_.bind(s.var, emitter_.pointer(*s.value));
    emitter_.evaluate(s.value);
    values_.bind(s.var, cut(*s.value));
  }

  // As C cuts it where it is assigned.
  Register cut(const tir::Expr& value) { return values_.made(Code::copy, value.type, values_.of(value)); }

  void compile(const tir::Store& s) {
    emitter_.evaluate(s.index);
    emitter_.evaluate(s.value);
    emitter_.evaluate(s.predicate);
    emitter_.store(s);
  }

  void compile(const tir::Evaluate& s) {
    const bool is_checked = s.value->kind == tir::ExprKind::call && s.value->op == tir::Op::tvm_check_return &&
                            s.value->operands.size() == 3;
    const tir::Expr& value = is_checked ? *s.value->operands[2] : *s.value;
    const auto call = tir::named_call(value);
    const auto callee = call ? module_.find(*call->name) : std::nullopt;
    const bool is_walked = callee && !tir::is_opaque(module_, module_.functions[*callee]) && !active_[*callee] &&
                           module_.functions[*callee].params.size() == call->arguments.size();
    if (!is_walked) return emitter_.evaluate(s.value);
    unfold(*call, *callee);
  }

  void compile(const tir::Assert& s) { emitter_.evaluate(s.condition); }
  void compile(const tir::Scope& s) { open(s.body); }

  void compile(const tir::While& s) {
    open_skip(Reason::condition);
    emitter_.evaluate(s.condition);
    open(s.body);
  }

  void compile(const tir::IfThenElse& s) {
    emitter_.evaluate(s.condition);
    const Register condition = values_.of(*s.condition);
    if (values_.is_unknown(condition)) {
      open_skip(Reason::condition);
      open(s.else_body);
      open(s.then_body);
    } else if (values_.is_constant(condition)) {
      open(values_.constant_of(condition) != 0 ? s.then_body : s.else_body);
    } else {
      emitter_.begin_branch(condition);
      open(Frame::Kind::end_branch);
      open(s.else_body);
      open(Frame::Kind::begin_else);
      open(s.then_body);
    }
  }

  void compile(const tir::For& s) {
    emitter_.evaluate(s.min);
    emitter_.evaluate(s.extent);
    const Register min = values_.of(*s.min);
    const Register extent = values_.of(*s.extent);
    if (values_.is_unknown(min) || values_.is_unknown(extent)) {
      values_.bind(s.var, values_.nothing());
      open_skip(Reason::condition);
      return open(s.body);
    }
    if (values_.is_constant(extent) && values_.constant_of(extent) <= 0) return;
    const Register variable = values_.open_loop(s.var);
    const Instruction loop{.code = Code::loop,
                           .reason = Reason::condition,
                           .result = values_.fresh(values_.depth()),
                           .a = variable,
                           .b = min,
                           .c = extent,
                           .var = s.var,
                           .high = highest(module_.var(s.var).type)};
    frames_.push_back({.kind = Frame::Kind::loop, .block = &s.body, .loop = loop});
  }

  // --- Calls ---------------------------------------------------------------------------------------------------------

  void unfold(const tir::NamedCall& call, std::size_t callee) {
    std::vector<Target> targets;
    std::vector<Register> numbers;
    bool is_handed = false;
    for (const tir::ExprRef& argument : call.arguments) {
      const bool is_pointer = argument->type.is_handle() && argument->kind != tir::ExprKind::string_imm;
      if (!is_pointer) emitter_.evaluate(argument);
      targets.push_back(is_pointer ? emitter_.pointer(*argument) : Target{});
      numbers.push_back(is_pointer ? values_.nothing() : cut(*argument));
      is_handed = is_handed || !targets.back().sites.empty();
    }
    if (!is_handed && !emitter_.facts(callee).declares) return;
    const Emitter::Mark mark = emitter_.mark();
    const std::vector<tir::Param>& params = module_.functions[callee].params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      values_.bind(params[i].var, numbers[i]);
      // A parameter that stands twice may be either argument.
      for (std::size_t j = 0; j < i; ++j) {
        if (params[j].var == params[i].var) add(targets[i], targets[j]);
      }
      emitter_.bind(params[i].var, targets[i]);
    }
    enter(callee, mark);
  }

  static void add(Target& target, const Target& other) {
    target.offset.reset();
    target.sites.insert(target.sites.end(), other.sites.begin(), other.sites.end());
  }

  // `mark`: before its parameters.
  void enter(std::size_t function, const Emitter::Mark& mark) {
    if (emitter_.facts(function).returns_early) open_skip(Reason::call);
    active_[function] = true;
    functions_.push_back(function);
    emitter_.set_function(function);
    values_.forget();
    frames_.push_back(
        {.kind = Frame::Kind::call, .block = &module_.functions[function].body, .mark = mark, .function = function});
  }

  void leave(std::size_t function, const Emitter::Mark& mark) {
    active_[function] = false;
    emitter_.restore(mark);
    functions_.pop_back();
    if (!functions_.empty()) emitter_.set_function(functions_.back());
  }

  const tir::Module& module_;
  Emitter emitter_;
  Values& values_;
  std::vector<bool> active_;  // by function index
  std::vector<Frame> frames_;
  std::vector<std::size_t> functions_;  // of the calls that are open
};

}  // namespace

Program compile(const tir::Module& module, const Followed& followed, std::size_t sites, std::size_t most) {
  return Compiler(module, followed, sites).run(most);
}

}  // namespace usmp::replay
