#include "codegen/statements.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "usmp/lower/outline.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Block;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

bool has_loads(const Expr& root) {
  bool found = false;
  tir::for_each_expr(root, [&](const Expr& expr) { found = found || expr.kind == ExprKind::load; });
  return found;
}

// Names of parameters, each once in the function.
std::vector<std::string> parameter_names(const tir::Function& function, NameTable& names) {
  std::vector<std::string> result;
  for (const tir::Param& param : function.params) result.push_back(names.unique(param.name));
  return result;
}

std::string parameter_type(const tir::Module& module, const FunctionFacts& facts, const tir::Param& param) {
  const DataType type = module.var(param.var).type;
  if (!type.is_handle()) return value_type(type);
  return to_string(facts.pointers.at(param.var).type) + (param.no_alias ? " USMP_RESTRICT" : "");
}

std::string signature_with(const tir::Module& module, const FunctionFacts& facts, const tir::Function& function,
                           const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += ", ";
    list += parameter_type(module, facts, function.params[i]) + " " + names[i];
  }
  return "int32_t " + c_identifier(function.name) + "(" + (list.empty() ? "void" : list) + ")";
}

class FunctionPrinter {
 public:
  FunctionPrinter(FileContext& file, std::size_t index)
      : file_(file),
        module_(file.module),
        function_(file.module.functions[index]),
        facts_(file.facts.functions[index]),
        index_(index),
        printer_(file, index, text_) {}

  std::string run(bool is_static) {
    std::vector<std::string> names;
    for (const tir::Param& param : function_.params) {
      (void)printer_.c_type(module_.var(param.var).type);
      file_.uses_restrict = file_.uses_restrict || param.no_alias;
      names.push_back(printer_.declare(param.var, param.name));
    }
    const std::string head = signature_with(module_, facts_, function_, names);
    depth_ = 1;
    print_block(function_.body);
    line("return 0;");

    std::string unused;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (printer_.times_printed(function_.params[i].var) == 0) unused += "  (void)" + names[i] + ";\n";
    }
    std::string result = printer_.local_functions() + comment();
    if (!is_static) result += head + ";\n";
    result += (is_static ? "static " : "") + head + " {\n" + unused;
    return result + text_ + "}\n";
  }

 private:
  // --- Text ----------------------------------------------------------------------------------------------------------

  void indent() { printer_.put(std::string(2 * depth_, ' ')); }
  void line(std::string_view text) {
    indent();
    printer_.put(text);
    printer_.put("\n");
  }
  void begin_block(std::string_view head = "{") {
    line(head);
    ++depth_;
  }
  void end_block() {
    --depth_;
    line("}");
  }

  // What the function is and where its buffers are.
  std::string comment() const {
    std::string text = "// " + comment_text(function_.name) + "\n";
    for (const lower::Placement& placement : file_.planned.lowered.functions[index_].placements) {
      if (printer_.times_printed(placement.var) == 0) continue;
      const Problem& problem = file_.planned.assembly.problem;
      const Buffer& buffer = problem.buffer(placement.buffer);
      const Allocation& where = file_.planned.plan.of(placement.buffer);
      text += "//   " + printer_.declared_name(placement.var) + ": " + comment_text(problem.pool(where.pool).name) +
              "[" + std::to_string(where.offset) + ", " + std::to_string(where.offset + buffer.size) + ")\n";
    }
    return text;
  }

  // --- Leaving the function ------------------------------------------------------------------------------------------

  // Gives back the workspaces held, and returns `value`.
  void print_return(std::string_view value) {
    for (std::size_t i = workspaces_.size(); i-- > 0;)
      line("(void)TVMBackendFreeWorkspace(1, 0, " + workspaces_[i] + ");");
    line("return " + std::string(value) + ";");
  }

  // "if (condition) return value;" around a condition that `print_condition` prints.
  template <class PrintCondition>
  void print_return_if(PrintCondition print_condition, std::string_view value) {
    indent();
    printer_.put("if (");
    print_condition();
    if (workspaces_.empty()) {
      printer_.put(") return " + std::string(value) + ";\n");
      return;
    }
    printer_.put(") {\n");
    ++depth_;
    print_return(value);
    end_block();
  }

  // --- Statements ----------------------------------------------------------------------------------------------------

  // A variable that the block declares.
  struct Declared {
    VarId var;
    std::size_t lane = 0;
    std::size_t position = 0;  // in the text, after the declaration
    std::size_t uses = 0;      // up to there
  };

  void print_block(const Block& block) {
    const std::size_t held = workspaces_.size();
    std::vector<Declared> declared;
    std::size_t opened = 0;
    for (const Stmt& stmt : block) {
      const VarId var = declared_by(stmt);
      const bool is_declared_again =
          var.valid() && std::any_of(declared.begin(), declared.end(), [&](const Declared& d) { return d.var == var; });
      if (is_declared_again) {  // C has one declaration of a name a block
        begin_block();
        ++opened;
      }
      std::visit([&](const auto& node) { print(node); }, stmt.node);
      for (std::size_t lane = 0; var.valid() && !printer_.declared_name(var, lane).empty(); ++lane) {
        declared.push_back({var, lane, text_.size(), printer_.times_printed(var, lane)});
      }
    }
    while (workspaces_.size() > held) {
      line("if (TVMBackendFreeWorkspace(1, 0, " + workspaces_.back() + ") != 0) return -1;");
      workspaces_.pop_back();
    }
    for (; opened > 0; --opened) end_block();
    mention_unused(declared);
  }

  // A variable may remain without use after all, when what used it turned out to be constant.
  void mention_unused(const std::vector<Declared>& declared) {
    for (std::size_t i = declared.size(); i-- > 0;) {  // backwards: earlier positions stay right
      const Declared& d = declared[i];
      if (printer_.times_printed(d.var, d.lane) != d.uses) continue;
      text_.insert(d.position, std::string(2 * depth_, ' ') + "(void)" + printer_.declared_name(d.var, d.lane) + ";\n");
    }
  }

  static VarId declared_by(const Stmt& stmt) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) return let->var;
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) return allocate->var;
    return {};
  }

  void print(const tir::Let& let) {
    if (!facts_.used.contains(let.var)) {
      if (has_side_effects(*let.value)) print_evaluation(*let.value);
      return;
    }
    if (let.value->type.is_handle()) return print_pointer_let(let);
    for (std::size_t lane = 0; lane < let.value->type.lanes; ++lane) {
      indent();
      printer_.put("const " + printer_.c_type(let.value->type) + " ");
      const std::string name = printer_.declare(let.var, {}, lane);
      printer_.put(name + " = ");
      printer_.print_assigned(*let.value, lane);
      printer_.put(";\n");
    }
    // The variable is cut to its type.
    const auto range = printer_.ranges().of(*let.value);
    const auto whole = range_of_type(let.value->type);
    const bool fits = range && whole && range->low >= whole->low && range->high <= whole->high;
    printer_.ranges().bind(let.var, fits ? range : whole);
  }

  void print_pointer_let(const tir::Let& let) {
    const PointerType type = printer_.pointer(let.var).type;
    const std::string name = printer_.declare(let.var);
    indent();
    printer_.put(to_string(type) + " const " + name + " = ");
    printer_.print_pointer(*let.value, type);
    printer_.put(";\n");
  }

  void print(const tir::AllocateConst& constant) { printer_.declare_constant(constant.var, *constant.data); }

  // Of a size that was not known when the plan was made: the runtime's workspace provides it.
  void print(const tir::Allocate& allocate) {
    if (!facts_.used.contains(allocate.var)) return;
    const PointerType type = printer_.pointer(allocate.var).type;
    const std::string name = printer_.declare(allocate.var);
    file_.uses_workspace = true;
    file_.helpers.need_header("stddef.h");
    indent();
    printer_.put(type.element + "* const " + name + " = ");
    if (!type.is_void()) printer_.put("(" + type.element + "*)");
    printer_.put("TVMBackendAllocWorkspace(1, 0, ");
    for (const ExprRef& extent : allocate.extents) {
      printer_.put("(uint64_t)");
      printer_.print(*extent, prec_unary);
      printer_.put(" * ");
    }
    const DataType element = allocate.type.element();
    printer_.put(std::to_string(allocate.type.bytes()) + ", " + std::to_string(static_cast<int>(element.code)) + ", " +
                 std::to_string(static_cast<int>(element.bits)) + ");\n");
    print_return_if([&] { printer_.put(name + " == NULL"); }, "-1");
    workspaces_.push_back(name);
  }

  void print(const tir::Store& store) {
    if (store.value->type.is_vector()) return print_vector_store(store);
    const bool is_conditional = store.predicate != nullptr;
    if (is_conditional) {
      indent();
      printer_.put("if (");
      printer_.print(*store.predicate);
      printer_.put(") {\n");
      ++depth_;
    }
    print_store(
        store, [&] { printer_.print_converted(*store.index); }, [&] { printer_.print_assigned(*store.value); });
    if (is_conditional) end_block();
  }

  template <class PrintIndex, class PrintValue>
  void print_store(const tir::Store& store, PrintIndex print_index, PrintValue print_value) {
    const DataType element = store.value->type.element();
    printer_.check_type(element);
    const std::string storage = storage_type(element);
    const PointerFacts& facts = printer_.pointer(store.storage);
    const auto print_bits = [&] {
      if (is_half(element)) printer_.put(file_.helpers.float_to_half(element) + "(");
      print_value();
      if (is_half(element)) printer_.put(")");
    };
    indent();
    if (facts.mixed_types) {
      printer_.put(file_.helpers.store(storage) + "(" + printer_.name_of(store.storage) + ", ");
      print_index();
      printer_.put(", ");
      print_bits();
      printer_.put(");\n");
      return;
    }
    if (facts.type.element == storage) {
      printer_.put(printer_.name_of(store.storage));
    } else {
      printer_.put("((" + storage + "*)" + printer_.name_of(store.storage) + ")");
    }
    printer_.put("[");
    print_index();
    printer_.put("] = ");
    print_bits();
    printer_.put(";\n");
  }

  // All lanes are read before the first is written, as the value may come from the same storage.
  void print_vector_store(const tir::Store& store) {
    const std::size_t lanes = store.value->type.lanes;
    if (store.index->type.lanes != lanes || (store.predicate && store.predicate->type.lanes != lanes)) {
      printer_.unsupported("a store of " + std::to_string(lanes) +
                           " lanes has an index or predicate of another number");
    }
    begin_block();
    std::vector<std::string> predicates;
    std::vector<std::string> indices;
    std::vector<std::string> values;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (store.predicate) predicates.push_back(print_temporary("lane_on", *store.predicate, lane, nullptr));
      if (has_loads(*store.index)) indices.push_back(print_temporary("lane_index", *store.index, lane, nullptr));
      const std::string* condition = store.predicate ? &predicates.back() : nullptr;
      values.push_back(print_temporary("lane", *store.value, lane, condition));
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (store.predicate) {
        begin_block("if (" + predicates[lane] + ") {");
      }
      print_store(
          store,
          [&] {
            if (indices.empty()) {
              printer_.print_converted(*store.index, prec_any, lane);
            } else {
              printer_.put(indices[lane]);
            }
          },
          [&] { printer_.put(values[lane]); });
      if (store.predicate) end_block();
    }
    end_block();
  }

  // "const T name = value;", or "… = condition ? value : 0;".
  std::string print_temporary(std::string_view base, const Expr& value, std::size_t lane,
                              const std::string* condition) {
    std::string name = printer_.temporary(base);
    indent();
    printer_.put("const " + printer_.c_type(value.type) + " " + name + " = ");
    if (condition == nullptr) {
      printer_.print_assigned(value, lane);
    } else {
      printer_.put(*condition + " ? ");
      printer_.print(value, prec_or, lane);
      printer_.put(" : 0");
    }
    printer_.put(";\n");
    return name;
  }

  void print(const tir::For& loop) {
    const DataType type = module_.var(loop.var).type;
    if (type.is_vector() || (!type.is_int() && !type.is_uint())) {
      printer_.unsupported("a loop variable is of type " + tir::to_string(type));
    }
    const auto first = tir::as_int(*loop.min);
    const auto count = tir::as_int(*loop.extent);
    // The bounds are evaluated once, before the loop.
    std::string begin;
    std::string end;
    const bool is_constant = first && count;
    const bool is_hoisted = !is_constant && (has_loads(*loop.extent) || has_loads(*loop.min) ||
                                             has_side_effects(*loop.extent) || has_side_effects(*loop.min));
    printer_.ranges().bind_loop(loop.var, *loop.min, *loop.extent);
    const ExprRef last = first == 0 ? loop.extent : tir::make_binary(ExprKind::add, loop.min, loop.extent);
    if (is_hoisted) {
      begin_block();
      begin = print_temporary("begin", *loop.min, 0, nullptr);
      end = print_hoisted_end(loop, begin);
    }
    const std::string name = printer_.declare(loop.var);
    indent();
    printer_.put("for (" + printer_.c_type(type) + " " + name + " = ");
    if (is_constant) {
      print_constant_bounds(loop, name, *first, *count);
    } else {
      if (is_hoisted) {
        printer_.put(begin);
      } else {
        printer_.print_converted(*loop.min);
      }
      printer_.put("; " + name + " < ");
      if (is_hoisted) {
        printer_.put(end);
      } else {
        printer_.print_converted(*last, prec_add);
      }
    }
    printer_.put("; ++" + name + ") {\n");
    ++depth_;
    print_block(loop.body);
    end_block();
    if (is_hoisted) end_block();
  }

  std::string print_hoisted_end(const tir::For& loop, const std::string& begin) {
    std::string name = printer_.temporary("end");
    indent();
    printer_.put("const " + printer_.c_type(module_.var(loop.var).type) + " " + name + " = " + begin + " + ");
    printer_.print_converted(*loop.extent, prec_multiply);
    printer_.put(";\n");
    return name;
  }

  void print_constant_bounds(const tir::For& loop, const std::string& name, std::int64_t first, std::int64_t count) {
    const DataType type = module_.var(loop.var).type;
    const auto range = range_of_type(type).value_or(Range{0, std::numeric_limits<std::int64_t>::max()});
    const auto end = checked_add(first, std::max<std::int64_t>(count, 0));
    if (!end || first < range.low || *end > range.high) {
      printer_.unsupported("a loop from " + std::to_string(first) + " of " + std::to_string(count) +
                           " iterations does not fit its variable's type " + tir::to_string(type));
    }
    // An empty unsigned loop would compare "i < 0", which compilers warn of.
    const bool is_empty_unsigned = type.is_uint() && *end == 0;
    printer_.put(int_literal(is_empty_unsigned ? 1 : first, type, true) + "; " + name + " < " +
                 int_literal(is_empty_unsigned ? 1 : *end, type, true));
  }

  void print(const tir::While& loop) {
    indent();
    printer_.put("while (");
    printer_.print(*loop.condition);
    printer_.put(") {\n");
    ++depth_;
    print_block(loop.body);
    end_block();
  }

  void print(const tir::IfThenElse& branch) {
    indent();
    printer_.put("if (");
    printer_.print(*branch.condition);
    printer_.put(") {\n");
    ++depth_;
    print_block(branch.then_body);
    if (!branch.else_body.empty()) {
      --depth_;
      line("} else {");
      ++depth_;
      print_block(branch.else_body);
    }
    end_block();
  }

  void print(const tir::Assert& check) {
    print_return_if(
        [&] {
          printer_.put("!");
          printer_.print(*check.condition, prec_unary);
        },
        "-1");
  }

  void print(const tir::Scope& scope) {
    if (scope.body.empty()) return;
    begin_block();
    print_block(scope.body);
    end_block();
  }

  void print(const tir::Evaluate& evaluate) {
    const Expr& value = *evaluate.value;
    if (value.kind == ExprKind::call && value.text == lower::memory_fence) return print_fence();
    if (value.kind == ExprKind::call && is_statement_operator(value)) return print_statement_operator(value);
    if (has_side_effects(value)) return print_evaluation(value);
  }

  void print_fence() {
    file_.uses_fence = true;
    line("USMP_FENCE();");
  }

  static bool is_statement_operator(const Expr& call) {
    return call.text == "tir.tvm_check_return" || call.text == "tir.ret" || call.text == "tir.tvm_throw_last_error" ||
           tir::named_call(call).has_value();
  }

  void print_statement_operator(const Expr& call) {
    if (call.text == "tir.tvm_throw_last_error") return print_return("-1");
    if (call.text == "tir.ret") return print_ret(call);
    if (call.text == "tir.tvm_check_return") return print_check_return(call);
    const auto named = tir::named_call(call);
    const auto callee = module_.find(*named->name);
    const bool returns_status = callee || call.text == "tir.tvm_call_packed" || call.text == "tir.tvm_call_cpacked";
    if (!callee && call.text != "tir.call_extern" && call.text != "tir.call_pure_extern") {
      printer_.unsupported("operator " + call.text + " calls '" + *named->name + "', which the module does not define");
    }
    if (!returns_status) return print_evaluation(call);
    print_return_if(
        [&] {
          printer_.print_call(*named, tir::int32_type);
          printer_.put(" != 0");
        },
        "-1");
  }

  void print_check_return(const Expr& call) {
    const auto expected = call.operands.size() == 3 ? tir::as_int(*call.operands[0]) : std::nullopt;
    const auto returned = call.operands.size() == 3 ? tir::as_int(*call.operands[1]) : std::nullopt;
    if (!expected || !returned) printer_.unsupported("operator tir.tvm_check_return has operands of another kind");
    print_return_if(
        [&] {
          printer_.print(*call.operands[2], prec_add);
          printer_.put(" != " + int_literal(*expected, tir::int32_type, false));
        },
        int_literal(*returned, tir::int32_type, false));
  }

  void print_ret(const Expr& call) {
    if (call.operands.size() != 1) printer_.unsupported("operator tir.ret has not one operand");
    const Expr& value = *call.operands[0];
    if (value.type.is_handle() || value.type.is_vector()) {
      printer_.unsupported("a value of type " + tir::to_string(value.type) + " is returned");
    }
    if (workspaces_.empty()) {
      indent();
      printer_.put("return ");
      printer_.print_assigned(value);
      printer_.put(";\n");
      return;
    }
    begin_block();
    const std::string name = print_temporary("result", value, 0, nullptr);
    print_return(name);
    end_block();
  }

  void print_evaluation(const Expr& value) {
    indent();
    if (value.kind != ExprKind::call || !value.type.is_void()) printer_.put("(void)");
    if (value.type.is_handle()) {
      printer_.print_pointer(value, printer_.pointer_type_of(value), prec_unary);
    } else if (const auto named = tir::named_call(value)) {
      printer_.print_call(*named, value.type);
    } else {
      printer_.print(value, prec_unary);
    }
    printer_.put(";\n");
  }

  FileContext& file_;
  const tir::Module& module_;
  const tir::Function& function_;
  const FunctionFacts& facts_;
  std::size_t index_;
  std::string text_;
  ExpressionPrinter printer_;
  std::size_t depth_ = 0;
  std::vector<std::string> workspaces_;  // pointers to be given back, innermost last
};

}  // namespace

std::string signature(const tir::Module& module, const FunctionFacts& facts, const tir::Function& function) {
  NameTable names;
  return signature_with(module, facts, function, parameter_names(function, names));
}

std::string print_function(FileContext& file, std::size_t function) {
  return FunctionPrinter(file, function).run(function != file.module.entry);
}

}  // namespace usmp::codegen
