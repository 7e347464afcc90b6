// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over neighbouring elements for Arm's DSP extension: which these are, and their assembly.
// Idea: compilers load the elements of such a loop, as of a requantisation, one by one; multiple loads, sums of packed
// bytes and halves, and SMMUL take two thirds of the instructions.
#include "codegen/fours.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "codegen/c_types.hpp"
#include "codegen/expressions.hpp"
#include "codegen/helpers.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

// Beside their pointers and that of the results, one register is left for a frame pointer. With the most, no four
// others are free at a time.
constexpr std::size_t most_loads = 5;
constexpr std::int64_t most_literal = 4095;
constexpr std::int64_t most_of_byte = 96;  // 127 - 31: n is at most 31
constexpr tir::DataType limiting_types[] = {{tir::TypeCode::int_, 8, 1},
                                            {tir::TypeCode::uint, 8, 1},
                                            {tir::TypeCode::int_, 16, 1},
                                            {tir::TypeCode::uint, 16, 1}};
constexpr std::array<const char*, 4> value_registers = {"r0", "r1", "r2", "r3"};
constexpr std::array<const char*, 4> other_registers = {"r4", "r5", "r6", "r8"};
constexpr const char* list_of_values = "{r0, r1, r2, r3}";
constexpr const char* list_of_others = "{r4, r5, r6, r8}";

// x · y · 2^(shift - 31), rounded to nearest, of a literal y.
struct Scale {
  std::int64_t factor = 0;
  std::int64_t shift = 0;
};

struct Step {
  enum class Kind : std::uint8_t {
    add_literal,
    add_element,
    add_scaled,
    scale,
    multiply_high,
    clip,
    shift_left,
    shift_right,
    add_sign,  // all bits of the value's sign
    at_most,
    at_least
  };
  Kind kind;
  // Added, also to the byte that is scaled; the limit; of multiply_high what is taken from n; how far is shifted.
  std::int64_t literal = 0;
  const Expr* element = nullptr;  // the load that is added or scaled; the factor, null: a literal
  const Expr* shift = nullptr;    // the load of n; null: n is -literal; likewise of how far is shifted
  Scale scale = {};               // also the factor of multiply_high
  tir::DataType limits = {};      // of clip
};

const Expr& without_casts(const ExprRef& root) {
  const Expr* expr = root.get();
  while (expr->kind == ExprKind::cast) expr = expr->operands[0].get();
  return *expr;
}

bool is_byte(tir::DataType type) { return type.bits == 8; }

class Chain {
 public:
  Chain(const tir::Store& store, tir::VarId i, arith::Ranges& ranges) : store_(store), i_(i), ranges_(ranges) {}

  std::optional<Fours> run() {
    const Expr* first = find_steps();
    if (first == nullptr) return std::nullopt;
    std::size_t loads = 1;
    for (const Step& step : steps_) loads += (step.element != nullptr ? 1U : 0U) + (step.shift != nullptr ? 1U : 0U);
    if (loads > most_loads) return std::nullopt;
    has_others_ = loads < most_loads;
    begin(*first);
    for (std::size_t i = steps_.size(); i-- > 0;) add(steps_[i]);
    end(store_.value->type);
    fours_.has_others = has_others_;
    return std::move(fours_);
  }

 private:
  // --- Which chain it is, from the value back to the load with which it begins, which is returned --------------------

  const Expr* find_steps() {
    const Expr* value = &without_casts(store_.value);
    while (value != nullptr && !is_element(*value)) value = step_before(*value);
    return value;
  }

  [[nodiscard]] bool is_element(const Expr& expr) const {
    return expr.kind == ExprKind::load && tir::mentions(expr, i_) && (expr.type.is_int() || is_byte(expr.type));
  }

  // What the step is done to; null: it is none.
  const Expr* step_before(const Expr& value) {
    switch (value.kind) {
      case ExprKind::add:
        return sum(value);
      case ExprKind::sub: {
        const Moved difference = moved(value);
        if (difference.value == &value) return nullptr;
        steps_.push_back({.kind = Step::Kind::add_literal, .literal = difference.literal});
        return difference.value;
      }
      case ExprKind::min:
      case ExprKind::max:
        return limit(value);
      case ExprKind::mul:
        return shifted_left(value);
      case ExprKind::call:
        if (value.op == tir::Op::shift_right) return shifted_right(value);
        return value.op == tir::Op::multiply_high ? high_product(value) : scaled(value);
      default:
        return nullptr;
    }
  }

  // A value plus a literal.
  struct Moved {
    const Expr* value;
    std::int64_t literal = 0;
  };
  static Moved moved(const Expr& expr) {
    if (expr.kind != ExprKind::add && expr.kind != ExprKind::sub) return {&expr};
    const auto number = tir::as_int(without_casts(expr.operands[1]));
    if (!number || *number < -most_literal || *number > most_literal) return {&expr};
    return {&without_casts(expr.operands[0]), expr.kind == ExprKind::add ? *number : -*number};
  }

  const Expr* sum(const Expr& value) {
    const Expr* parts[] = {&without_casts(value.operands[0]), &without_casts(value.operands[1])};
    constexpr std::int64_t all_but_sign = 31;
    if (parts[1]->op == tir::Op::shift_right && tir::as_int(*parts[1]->operands[1]) == all_but_sign &&
        tir::is_same(*parts[1]->operands[0], *value.operands[0])) {
      steps_.push_back({.kind = Step::Kind::add_sign});
      return parts[0];
    }
    for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
      const auto number = tir::as_int(*parts[i]);
      if (!number) continue;
      if (*number < -most_literal || *number > most_literal) return nullptr;
      steps_.push_back({.kind = Step::Kind::add_literal, .literal = *number});
      return parts[1 - i];
    }
    for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
      const Moved part = moved(*parts[i]);
      auto step = scaled_byte(*part.value);
      if (is_element(*part.value)) step = Step{.kind = Step::Kind::add_element, .element = part.value};
      if (!step) continue;
      steps_.push_back(*step);
      steps_.push_back({.kind = Step::Kind::add_literal, .literal = part.literal});
      return parts[1 - i];
    }
    return nullptr;
  }

  const Expr* shifted_left(const Expr& value) {
    const auto factor = tir::as_int(*value.operands[1]);
    if (!factor || *factor < 1 || *factor > (std::int64_t{1} << 30)) return nullptr;
    const auto bits = static_cast<std::uint32_t>(*factor);
    if (!std::has_single_bit(bits)) return nullptr;
    steps_.push_back({.kind = Step::Kind::shift_left, .literal = std::countr_zero(bits)});
    return &without_casts(value.operands[0]);
  }

  const Expr* shifted_right(const Expr& value) {
    Step step{.kind = Step::Kind::shift_right};
    const Expr& n = without_casts(value.operands[1]);
    if (const auto number = tir::as_int(n)) {
      if (*number < 1 || *number > 31) return nullptr;
      step.literal = *number;
    } else if (is_element(n) && is_byte(n.type)) {
      step.shift = &n;
    } else {
      return nullptr;
    }
    steps_.push_back(step);
    return &without_casts(value.operands[0]);
  }

  // The product of a byte plus a literal.
  std::optional<Step> scaled_byte(const Expr& value) {
    const auto scale = scale_of(value);
    if (!scale) return std::nullopt;
    const Moved part = moved(without_casts(value.operands[0]));
    if (!is_element(*part.value) || !is_byte(part.value->type)) return std::nullopt;
    return Step{.kind = Step::Kind::add_scaled, .literal = part.literal, .element = part.value, .scale = *scale};
  }

  // Where twice what is multiplied fits 32 bits, even shifted to the left.
  std::optional<Scale> scale_of(const Expr& value) {
    if (value.op != tir::Op::q_multiply_shift) return std::nullopt;
    const auto factor = tir::as_int(*value.operands[1]);
    const auto shift = tir::as_int(*value.operands[3]);
    const auto x = ranges_.of(*value.operands[0]);
    if (!factor || tir::as_int(*value.operands[2]) != 31 || !shift || *shift < 0 || *shift > 29) return std::nullopt;
    const std::int64_t most = (std::int64_t{1} << (30 - *shift)) - 1;
    if (!x || !x->within(Interval{-most, most})) return std::nullopt;
    return Scale{*factor, *shift};
  }

  const Expr* scaled(const Expr& value) {
    const auto scale = scale_of(value);
    if (!scale) return nullptr;
    steps_.push_back({.kind = Step::Kind::scale, .scale = *scale});
    return &without_casts(value.operands[0]);
  }

  const Expr* high_product(const Expr& value) {
    Step step{.kind = Step::Kind::multiply_high};
    const Expr& factor = without_casts(value.operands[1]);
    const auto number = tir::as_int(factor);
    if (!number && (!is_element(factor) || factor.type != tir::int32_type)) return nullptr;
    if (number) {
      step.scale.factor = *number;
    } else {
      step.element = &factor;
    }
    const Expr* shift = &without_casts(value.operands[2]);
    if (shift->kind == ExprKind::sub) {
      step.literal = tir::as_int(without_casts(shift->operands[1])).value_or(-1);
      shift = &without_casts(shift->operands[0]);
      if (step.literal < 0 || step.literal > most_of_byte || tir::as_int(*shift)) return nullptr;
    }
    if (const auto n = tir::as_int(*shift)) {
      step.literal = -*n;
    } else if (is_element(*shift) && is_byte(shift->type)) {
      step.shift = shift;
    } else {
      return nullptr;
    }
    steps_.push_back(step);
    return &without_casts(value.operands[0]);
  }

  // The limits of a type are one instruction.
  const Expr* limit(const Expr& value) {
    const bool is_max = value.kind == ExprKind::max;
    const auto outer = tir::as_int(without_casts(value.operands[1]));
    if (!outer) return nullptr;
    const Expr& inner = without_casts(value.operands[0]);
    if (inner.kind == (is_max ? ExprKind::min : ExprKind::max)) {
      const auto other = tir::as_int(without_casts(inner.operands[1]));
      for (const tir::DataType type : limiting_types) {
        const Interval limits = tir::range_of_type(type).value();
        if (other != (is_max ? limits.high : limits.low) || *outer != (is_max ? limits.low : limits.high)) continue;
        steps_.push_back({.kind = Step::Kind::clip, .limits = type});
        return &without_casts(inner.operands[0]);
      }
    }
    constexpr std::int64_t most = 255;  // of an immediate operand, and of its negative
    if (*outer < -most || *outer > most) return nullptr;
    steps_.push_back({.kind = is_max ? Step::Kind::at_least : Step::Kind::at_most, .literal = *outer});
    return &inner;
  }

  // --- Its instructions ----------------------------------------------------------------------------------------------

  void line(std::string text) { fours_.instructions.push_back(std::move(text)); }
  template <class Text>
  void each(const Text& text) {
    for (std::size_t k = 0; k < value_registers.size(); ++k) line(text(std::string(value_registers.at(k)), k));
  }

  // Something with the next four numbers of 32 bits.
  template <class Text>
  void with_others(const std::string& from, const Text& text) {
    if (has_others_) line("ldm " + from + "!, " + list_of_others);
    each([&](const std::string& x, std::size_t k) {
      if (!has_others_ && k % 2 == 0) line("ldrd r4, r5, [" + from + "], #8");
      return text(x, other_registers.at(has_others_ ? k : k % 2));
    });
  }

  std::string pointer_to(const Expr& load) {
    fours_.loads.push_back(tir::make_expr(load));
    return "%[x" + std::to_string(fours_.loads.size() - 1) + "]";
  }

  // The k-th byte of a register.
  static std::string byte(const std::string& word, std::size_t k) {
    return k == 0 ? word : word + ", ror #" + std::to_string(8 * k);
  }
  static std::string extend(tir::DataType type, const char* signed_one, const char* unsigned_one) {
    return type.is_int() ? signed_one : unsigned_one;
  }

  void set(const char* to, std::int64_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    line(std::string("movw ") + to + ", #" + std::to_string(bits & 0xffffU));
    if (bits >> 16U != 0) line(std::string("movt ") + to + ", #" + std::to_string(bits >> 16U));
  }

  void begin(const Expr& load) {
    const std::string from = pointer_to(load);
    if (load.type.bits == 32) return line("ldm " + from + "!, " + list_of_values);
    if (load.type.bits == 16) {
      for (const char* to : value_registers) line(std::string("ldrsh ") + to + ", [" + from + "], #2");
      return;
    }
    line("ldr r4, [" + from + "], #4");
    each([&](const std::string& x, std::size_t k) {
      return extend(load.type, "sxtb ", "uxtb ") + x + ", " + byte("r4", k);
    });
  }

  void add(const Step& step) {
    switch (step.kind) {
      case Step::Kind::add_literal:
        return add_literal(step.literal);
      case Step::Kind::add_element:
        return add_element(*step.element);
      case Step::Kind::add_scaled:
        return add_scaled(step);
      case Step::Kind::scale:
        set("r4", step.scale.factor);
        return each([&](const std::string& x, std::size_t) {
          line("lsl " + x + ", " + x + ", #" + std::to_string(step.scale.shift + 1));
          return "smmulr " + x + ", " + x + ", r4";
        });
      case Step::Kind::multiply_high:
        return multiply_high(step);
      case Step::Kind::clip:
        return each([&](const std::string& x, std::size_t) {
          const std::string bits = std::to_string(static_cast<int>(step.limits.bits));
          return extend(step.limits, "ssat ", "usat ") + x + ", #" + bits + ", " + x;
        });
      case Step::Kind::shift_left:
        if (step.literal == 0) return;
        return each([&](const std::string& x, std::size_t) {
          return "lsl " + x + ", " + x + ", #" + std::to_string(step.literal);
        });
      case Step::Kind::shift_right:
        return shift_right(step);
      case Step::Kind::add_sign:
        return each([](const std::string& x, std::size_t) { return "add " + x + ", " + x + ", " + x + ", asr #31"; });
      case Step::Kind::at_most:
      case Step::Kind::at_least:
        return each([&](const std::string& x, std::size_t) {
          const std::string limit = ", #" + std::to_string(step.literal);
          const std::string when = step.kind == Step::Kind::at_most ? "gt" : "lt";
          line("cmp " + x + limit);
          line("it " + when);
          return "mov" + when + " " + x + limit;
        });
    }
  }

  void shift_right(const Step& step) {
    if (step.shift != nullptr) line("ldr r4, [" + pointer_to(*step.shift) + "], #4");
    each([&](const std::string& x, std::size_t k) {
      if (step.shift != nullptr && k > 0) line("lsr r4, r4, #8");
      return "asr " + x + ", " + x + ", " + (step.shift != nullptr ? "r4" : "#" + std::to_string(step.literal));
    });
  }

  void add_literal(std::int64_t literal) {
    if (literal == 0) return;
    each([&](const std::string& x, std::size_t) {
      const std::string number = std::to_string(literal < 0 ? -literal : literal);
      return std::string(literal < 0 ? "subw " : "addw ") + x + ", " + x + ", #" + number;
    });
  }

  void add_element(const Expr& load) {
    const std::string from = pointer_to(load);
    if (load.type.bits == 32) {
      return with_others(from,
                         [](const std::string& x, const char* other) { return "add " + x + ", " + x + ", " + other; });
    }
    line("ldr r4, [" + from + "], #4");
    if (load.type.bits == 16) line("ldr r5, [" + from + "], #4");
    each([&](const std::string& x, std::size_t k) {
      if (is_byte(load.type)) return extend(load.type, "sxtab ", "uxtab ") + x + ", " + x + ", " + byte("r4", k);
      const std::string word = k < 2 ? "r4" : "r5";
      return k % 2 == 0 ? "sxtah " + x + ", " + x + ", " + word : "add " + x + ", " + x + ", " + word + ", asr #16";
    });
  }

  void add_scaled(const Step& step) {
    line("ldr r4, [" + pointer_to(*step.element) + "], #4");
    set("r5", step.scale.factor);
    each([&](const std::string& x, std::size_t k) {
      line(extend(step.element->type, "sxtb r6, ", "uxtb r6, ") + byte("r4", k));
      if (step.literal > 0) line("addw r6, r6, #" + std::to_string(step.literal));
      if (step.literal < 0) line("subw r6, r6, #" + std::to_string(-step.literal));
      line("lsl r6, r6, #" + std::to_string(step.scale.shift + 1));
      line("smmulr r6, r6, r5");
      return "add " + x + ", " + x + ", r6";
    });
  }

  // The last bit that is shifted out rounds.
  void multiply_high(const Step& step) {
    const bool is_whole = step.shift == nullptr && step.literal == 0;
    const auto multiplied = [&](const std::string& x, const char* factor) {
      return (is_whole ? "smmulr " : "smmul ") + x + ", " + x + ", " + factor;
    };
    if (step.element != nullptr) {
      with_others(pointer_to(*step.element), multiplied);
    } else {
      set("r4", step.scale.factor);
      each([&](const std::string& x, std::size_t) { return multiplied(x, "r4"); });
    }
    if (is_whole) return;
    if (step.shift != nullptr) {
      line("ldr r4, [" + pointer_to(*step.shift) + "], #4");
      if (step.literal > 0) line("sub r4, r4, #" + std::to_string(step.literal * 0x01010101));  // of each byte
    }
    each([&](const std::string& x, std::size_t k) {
      const std::string n = step.shift != nullptr ? "r4" : "#" + std::to_string(-step.literal);
      if (step.shift != nullptr && k > 0) line("lsr r4, r4, #8");
      line("asrs " + x + ", " + x + ", " + n);  // by the lowest byte of a register
      return "adc " + x + ", " + x + ", #0";
    });
  }

  void end(tir::DataType type) {
    if (type.bits == 32) return line(std::string("stm %[to]!, ") + list_of_values);
    if (is_byte(type)) {
      line("bfi r0, r1, #8, #8");
      line("bfi r0, r2, #16, #8");
      line("bfi r0, r3, #24, #8");
    } else {
      line("pkhbt r0, r0, r1, lsl #16");
      line("pkhbt r2, r2, r3, lsl #16");
    }
    line("str r0, [%[to]], #4");
    if (type.bits == 16) line("str r2, [%[to]], #4");
  }

  const tir::Store& store_;
  tir::VarId i_;
  arith::Ranges& ranges_;
  std::vector<Step> steps_;  // the last first
  bool has_others_ = true;   // r8 is free
  Fours fours_;
};

}  // namespace

std::optional<Fours> fours_of(const tir::Store& store, tir::VarId i, arith::Ranges& ranges) {
  return Chain(store, i, ranges).run();
}

void ExpressionPrinter::print_fours(const tir::Store& store, const Fours& fours, const Expr& count, tir::VarId i) {
  tir::ExprRewriter first([&](const ExprRef& expr) -> ExprRef {
    if (expr->kind == ExprKind::var && expr->var == i) return tir::make_int(0, expr->type);
    if (expr->kind == ExprKind::add && tir::as_int(*expr->operands[0]) == 0) return expr->operands[1];
    const bool is_sum = expr->kind == ExprKind::add || expr->kind == ExprKind::sub;
    return is_sum && tir::as_int(*expr->operands[1]) == 0 ? expr->operands[0] : nullptr;
  });
  const auto add_place = [&](const ExprRef& element, bool is_const) {
    add_address(tir::make_load(element->type, element->var, first.rewritten(element->operands[0])), is_const);
    add(", ");
  };
  const tir::DataType type = store.value->type;
  add(file_.helpers.fours(fours, type) + "(");
  add_place(tir::make_load(type, store.storage, store.index), false);
  for (const ExprRef& load : fours.loads) add_place(load, true);
  add(count);
  add(");\n");
  flush();
}

std::string Helpers::fours(const Fours& fours, tir::DataType type) {
  define_vectors();
  define_kernel();
  const std::string to = storage_type(type);
  std::string pointers;
  std::string operands;
  for (std::size_t i = 0; i < fours.loads.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    pointers += ", const " + storage_type(fours.loads[i]->type) + "* " + name;
    operands += ", [" + name + "] \"+&r\"(" + name + ")";
  }
  std::string text = "(" + to + "* to" + pointers + ", int32_t count) {\n  const " + to +
                     "* const end = to + count;\n  __asm__ __volatile__(\n      \"1:\\n\\t\"\n";
  for (const std::string& instruction : fours.instructions) text += "      \"" + instruction + "\\n\\t\"\n";
  text +=
      "      \"ldr r4, %[end]\\n\\t\"\n      \"cmp %[to], r4\\n\\t\"\n      \"bne 1b\"\n      : [to] \"+&r\"(to)" +
      operands +
      "\n      : [end] \"m\"(end)\n      : \"memory\", \"cc\", \"r0\", \"r1\", \"r2\", \"r3\", \"r4\", \"r5\", \"r6\"" +
      std::string(fours.has_others ? ", \"r8\"" : "") + ");\n}\n#endif\n";
  const auto [place, is_new] = numbered_.try_emplace(text, "usmp_neighbours_" + std::to_string(numbered_.size()));
  if (is_new) {
    texts_.push_back("#if defined(USMP_DSP_RUNS) && !defined(USMP_MVE)\nUSMP_KERNEL void " + place->second + text);
  }
  return place->second;
}

}  // namespace usmp::codegen
