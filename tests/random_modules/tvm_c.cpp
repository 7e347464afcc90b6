// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes functions, pools, tables and header in a version's style, and reads all of it back.
#include "random_modules/tvm_c.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "random_modules/interpreter.hpp"
#include "random_modules/random.hpp"
#include "random_modules/transformed.hpp"
#include "random_modules/tvm_expressions.hpp"
#include "tir_support/c_tokens.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::random_modules {
namespace {

using tir::Block;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::VarId;

enum class Version { v0_8, v0_9, v0_12, v0_16, v0_17, v0_18 };

// What is drawn for a module as a whole.
struct Style {
  Version version = Version::v0_12;
  enum class Constants { tables, structure, macro } constants = Constants::tables;
  bool is_planned = false;      // TVM's USMP has run
  bool owns_pool = false;       // and the C has the pool
  bool places_tensors = false;  // inputs and outputs are in the pool
  std::size_t files = 1;

  [[nodiscard]] bool from(Version first) const { return version >= first; }
};

Style some_style(Random& random) {
  Style style;
  style.version = static_cast<Version>(random.below(6));
  style.is_planned = style.from(Version::v0_9) && random.chance(40);
  if (style.is_planned) {
    style.owns_pool = random.chance(60);
    style.places_tensors = random.chance(20);
    if (random.chance(60)) {
      style.constants = random.chance(70) ? Style::Constants::structure : Style::Constants::macro;
    }
  }
  style.files = static_cast<std::size_t>(random.between(1, 3));
  return style;
}

TvmDialect dialect_of(const Style& style) {
  return {.brackets_indices = style.version == Version::v0_8,
          .branches_choices = style.from(Version::v0_16),
          .bytes_are_bools = false,
          .shifts_fixed_points = true,
          .suffixes_floats = true};
}

// --- Constants -------------------------------------------------------------------------------------------------------

// The pools that TVM has planned, as they grow.
struct Pools {
  std::int64_t workspace = 0;
  std::int64_t constants = 0;
  std::string members;  // of the struct
  std::string values;
  std::string bytes;  // of the macro
};

std::int64_t aligned(std::int64_t offset) { return (offset + 15) / 16 * 16; }

// { +0x01, -2, 0x1.8p+1f }
std::string list_of(const tir::Constant& data, Random& random) {
  std::ostringstream text;
  text << "{";
  const auto width = static_cast<std::size_t>(data.type.element_bytes());
  for (std::size_t at = 0; at < data.bytes.size(); at += width) {
    const std::uint64_t bits = little_endian(data.bytes, at, width);
    if (at > 0) text << ", ";
    if (data.type.is_float()) {
      const double number = scalar_of(bits, data.type).real;
      if (number - number != 0) throw NoSpelling();
      text << (random.chance(50) ? std::hexfloat : std::scientific);
      text.precision(17);
      text << number << (data.type.bits == 32 ? "f" : "");
      continue;
    }
    const auto number = static_cast<std::int64_t>(scalar_of(bits, data.type).integer);
    if (data.type.is_uint() && data.type.bits == 64) {
      text << static_cast<std::uint64_t>(number) << "ULL";
    } else if (number == INT64_MIN) {
      throw NoSpelling();
    } else if (random.chance(60)) {
      text << (number < 0 ? "-0x" : "+0x") << std::hex << std::abs(number) << std::dec;
    } else {
      text << number;
    }
  }
  text << (random.chance(50) ? "\n}" : ", }");
  return text.str();
}

// --- Functions -------------------------------------------------------------------------------------------------------

class FunctionWriter {
 public:
  FunctionWriter(const TestModule& test, const tir::Function& function, const Style& style, Random& random,
                 Pools& pools, std::size_t number)
      : test_(test),
        module_(test.module),
        function_(function),
        style_(style),
        random_(random),
        pools_(pools),
        number_(number),
        expressions_(dialect_of(style), [this](VarId var, DataType type) { return pointer(var, type); }) {}

  // Tables that it uses, then itself.
  std::string run() {
    if (!function_.imported_c.empty()) throw NoSpelling();
    const std::string params = parameters();
    block(function_.body, true);
    return tables_ +
           (style_.from(Version::v0_9) && random_.chance(60) ? "#ifdef __cplusplus\nextern \"C\"\n#endif\n" : "") +
           "TVM_DLL int32_t " + c_name() + "(" + params + ") {\n" + text_ + "  return 0;\n}\n";
  }

  [[nodiscard]] std::string c_name() const { return c_name_of(function_, style_); }

  static std::string c_name_of(const tir::Function& function, const Style& style) {
    if (!function.is_entry || style.version != Version::v0_8) return function.name;
    return std::string("tvmgen_") + module_name + "_run_model";
  }

 private:
  struct Place {
    std::string name;
    DataType element;    // of the pointer's type; void: not said
    DataType offset_in;  // elements of which it has been moved by
  };

  // --- Names

  std::string unique(const std::string& name) {
    static const std::set<std::string> words = {"int", "data_"};
    std::string base = c_identifier(name);
    if (words.contains(base)) base += "_v";
    std::string text = base;
    for (std::size_t i = 1; !taken_.insert(text).second; ++i) {
      text = base + (style_.version >= Version::v0_12 ? "_" : "") + std::to_string(i);
    }
    return text;
  }

  std::string declared(VarId var) {
    std::string name = unique(module_.var(var).name);
    expressions_.name(var, name);
    return name;
  }

  std::string pointer(VarId var, DataType type) {
    const Place& place = places_.at(var);
    if (!place.offset_in.is_void() && place.offset_in.element_bytes() != type.element_bytes()) throw NoSpelling();
    if (place.element == type && random_.chance(80)) return place.name;
    return "((" + c_type(type) + "*)" + place.name + ")";
  }

  [[nodiscard]] std::string pool_name(const char* pool) const {
    return std::string(pool) + "_" + std::to_string(number_) + "_var";
  }
  [[nodiscard]] const char* constant_pool() const {
    return style_.constants == Style::Constants::macro ? "flash" : "global_const_workspace";
  }

  // "uint8_t* global_workspace_1_var" or its name.
  std::vector<std::string> pools(const std::string& in_front) const {
    std::vector<std::string> names;
    if (style_.constants != Style::Constants::tables) names.push_back(in_front + pool_name(constant_pool()));
    if (style_.is_planned) names.push_back(in_front + pool_name("global_workspace"));
    return names;
  }

  // --- Parameters

  std::string parameters() {
    std::vector<std::string> list;
    for (const tir::Param& param : function_.params) {
      const tir::Var& var = module_.var(param.var);
      const bool is_pointer = var.type.is_handle();
      std::string name = unique(function_.is_entry ? param.name + "_buffer_var" : var.name);
      if (style_.version == Version::v0_8) {
        const std::string number = "arg" + std::to_string(list.size());
        list.push_back((is_pointer ? "void*" : c_type(var.type)) + " " + number);
        if (function_.is_entry) name = unique(param.name);
        text_ += "  " + (is_pointer ? "void*" : c_type(var.type)) + " " + name + " = " + number + ";\n";
        if (is_pointer) places_[param.var] = {name, tir::void_type, tir::void_type};
      } else if (function_.is_entry && style_.places_tensors) {
        let_place(param.var, name, tir::void_type, workspace(arguments_bytes(param)));
      } else {
        const DataType element = is_pointer ? var.element : var.type;
        const bool is_void = is_pointer && !param.is_tensor;
        list.push_back((is_void ? "void" : c_type(element)) + (is_pointer ? "* " : " ") + name);
        if (is_pointer) places_[param.var] = {name, is_void ? tir::void_type : element, tir::void_type};
      }
      expressions_.name(param.var, name);
    }
    for (std::string& pool : pools("uint8_t* ")) list.push_back(std::move(pool));
    return list.empty() ? "void" : joined(list, random_.chance(50) ? "," : ", ");
  }

  static std::int64_t arguments_bytes(const tir::Param& param) {
    return (*param.shape)[0] * param.element.element_bytes();
  }

  // --- Storage

  std::int64_t workspace(std::int64_t bytes) {
    const std::int64_t at = pools_.workspace;
    pools_.workspace = aligned(at + std::max<std::int64_t>(bytes, 1));
    return at;
  }

  void let_place(VarId var, const std::string& name, DataType element, std::int64_t offset,
                 const char* pool = "global_workspace") {
    const std::string let = name + "_let";
    text_ += "  void* " + let + " = (&(" + pool_name(pool) + "[" + std::to_string(offset) + "]));\n";
    places_[var] = {let, element, tir::void_type};
  }

  void allocate(const tir::Allocate& allocate, std::vector<std::string>& taken) {
    const auto size = tir::allocation_size(allocate).bytes;
    if (!size) throw NoSpelling();
    const DataType element = allocate.type.element();
    const std::string type = c_type(element);
    const std::string name = declared(allocate.var);
    if (style_.is_planned) return let_place(allocate.var, name, tir::void_type, workspace(*size));
    const bool fits_stack = *size > 0 && *size < 1024;
    if (fits_stack && random_.chance(function_.is_entry ? 15 : 50)) {
      text_ += "  " + type + " " + name + "[" + std::to_string(*size / element.bytes()) + "];\n";
      places_[allocate.var] = {name, element, tir::void_type};
      return;
    }
    const int code = element.is_float() ? 2 : element.is_uint() ? 1 : 0;
    const std::string call = "TVMBackendAllocWorkspace(1, 0, (uint64_t)" + std::to_string(*size) + ", " +
                             std::to_string(code) + ", " + std::to_string(element.bits) + ")";
    const bool is_typed = style_.version == Version::v0_18 && random_.chance(50);
    text_ += is_typed ? "  " + type + "* " + name + " = (" + type + "*)" + call : "  void* " + name + " = " + call;
    text_ += ";\n  if (" + name + " == NULL) {\n    return -1;\n  }\n";
    places_[allocate.var] = {name, is_typed ? element : tir::void_type, tir::void_type};
    taken.push_back(name);
  }

  void constant(const tir::AllocateConst& constant) {
    const tir::Constant& data = *constant.data;
    const auto bytes = static_cast<std::int64_t>(data.bytes.size());
    if (bytes == 0) throw NoSpelling();
    const std::string type = c_type(data.type);
    const std::string count = std::to_string(bytes / data.type.bytes());
    if (style_.constants == Style::Constants::tables) {
      // Each file has its own: other files have tables of the same names.
      const std::string name = unique(style_.version == Version::v0_8 && function_.is_entry
                                          ? "__tvm_param__p" + std::to_string(number_of_tables_++)
                                          : function_table_name());
      tables_ += std::string("static const ") + type +
                 (random_.chance(70) ? " __attribute__((section(\".rodata.tvm\"), aligned(16))) " : " ") + name + "[" +
                 count + "] = " + list_of(data, random_) + ";\n";
      places_[constant.var] = {name, data.type, tir::void_type};
      expressions_.name(constant.var, name);
      return;
    }
    const std::string name = declared(constant.var);
    const std::int64_t at = pools_.constants;
    pools_.constants = aligned(at + bytes);
    let_place(constant.var, name, tir::void_type, at, constant_pool());
    const std::string member = "c" + std::to_string(at) + "_let";
    pools_.members += "  " + type + " " + member + "[" + count + "] __attribute__((" + (at > 0 ? "packed, " : "") +
                      "aligned(16))); // " + std::to_string(bytes) + " bytes\n";
    pools_.values += "  ." + member + " = " + list_of(data, random_) + ",\n";
    pools_.bytes.resize(static_cast<std::size_t>(at), '\0');
    pools_.bytes += data.bytes;
  }

  std::string function_table_name() {
    return "fused_constant_" + std::to_string(number_) + "_" + std::to_string(number_of_tables_++);
  }

  // --- Statements

  // NOLINTBEGIN(misc-no-recursion): as deep as what the generator nests.
  void block(const Block& statements, bool is_function = false) {
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const auto* evaluate = std::get_if<tir::Evaluate>(&statements[i].node);
      const bool returns = evaluate != nullptr && evaluate->value->op == tir::Op::ret;
      if (returns && is_function && i + 1 == statements.size()) break;
      statement(statements[i], taken);
    }
    for (std::size_t i = taken.size(); i-- > 0;) {
      text_ += "  if (TVMBackendFreeWorkspace(1, 0, " + taken[i] + ") != 0) {\n    return -1;\n  }\n";
    }
  }

  void statement(const Stmt& stmt, std::vector<std::string>& taken) {
    if (const auto* one = std::get_if<tir::Allocate>(&stmt.node)) return allocate(*one, taken);
    if (const auto* one = std::get_if<tir::AllocateConst>(&stmt.node)) return constant(*one);
    if (const auto* one = std::get_if<tir::Let>(&stmt.node)) return let(*one);
    if (const auto* one = std::get_if<tir::Store>(&stmt.node)) return store(*one);
    if (const auto* one = std::get_if<tir::Evaluate>(&stmt.node)) return evaluate(*one->value);
    if (const auto* one = std::get_if<tir::For>(&stmt.node)) return loop(*one);
    if (const auto* one = std::get_if<tir::While>(&stmt.node)) return loop(*one);
    if (const auto* one = std::get_if<tir::IfThenElse>(&stmt.node)) {
      const std::string condition = expressions_.value(*one->condition);
      add("if (" + condition + ") {\n");
      block(one->then_body);
      if (!one->else_body.empty()) text_ += "  } else {\n";
      block(one->else_body);
      text_ += "  }\n";
    }
    if (const auto* one = std::get_if<tir::Scope>(&stmt.node)) {
      text_ += "  {\n";
      block(one->body);
      text_ += "  }\n";
    }
    // What is asserted holds.
  }

  void loop(const tir::For& loop) {
    const DataType type = module_.var(loop.var).type;
    const std::string min = bound(*loop.min);
    const std::string extent = bound(*loop.extent);
    const bool is_zero = tir::as_int(*loop.min) == 0;
    const std::string name = declared(loop.var);
    add("for (" + c_type(type) + " " + name + " = " + min + "; " + name + " < " +
        (is_zero ? extent : "(" + min + " + " + extent + ")") + "; " +
        (random_.chance(90) ? "++" + name : name + "++") + ") {\n");
    block(loop.body);
    text_ += "  }\n";
  }

  void loop(const tir::While& loop) {
    const std::string condition = expressions_.value(*loop.condition);
    if (!expressions_.statements().empty()) throw NoSpelling();
    text_ += random_.chance(80) ? "  while (1) {\n  if (!(" + condition + ")) { break; }\n"
                                : "  while (" + condition + ") {\n";
    block(loop.body);
    text_ += "  }\n";
  }
  // NOLINTEND(misc-no-recursion)

  // C computes it once an iteration.
  std::string bound(const Expr& expr) {
    return reads_memory(expr) ? expressions_.variable(expr) : expressions_.value(expr);
  }

  static bool reads_memory(const Expr& root) {
    bool reads = false;
    tir::for_each_expr(root, [&](const Expr& expr) { reads = reads || expr.kind == ExprKind::load; });
    return reads;
  }

  // A statement behind those that its expressions need.
  void add(const std::string& text) { text_ += expressions_.take_statements() + "  " + text; }

  void let(const tir::Let& let) {
    if (let.value->type.is_handle()) return alias(let);
    const DataType type = module_.var(let.var).type;
    std::vector<std::string> values;
    for (std::size_t lane = 0; lane < type.lanes; ++lane) {
      values.push_back(type.is_vector() ? expressions_.variable(*let.value, lane) : expressions_.value(*let.value));
    }
    const std::string name = declared(let.var);
    for (std::size_t lane = 0; lane < type.lanes; ++lane) {
      const std::string one = name + (type.is_vector() ? "_" + std::to_string(lane) : "");
      taken_.insert(one);
      add(c_type(type) + " " + one + " = " + values[lane] + ";\n");
    }
  }

  // "void* alias = (&(p[3]));"
  void alias(const tir::Let& let) {
    const auto [text, from] = pointer_value(*let.value);
    const DataType element = module_.var(let.var).element;
    const std::string name = declared(let.var);
    const bool is_typed = style_.version == Version::v0_18 && !element.is_void() &&
                          (from.offset_in.is_void() || from.offset_in.element_bytes() == element.element_bytes());
    if (is_typed) {
      add(c_type(element) + "* " + name + " = (" + c_type(element) + "*)" + text + ";\n");
    } else {
      add("void* " + name + " = " + text + ";\n");
    }
    places_[let.var] = {name, is_typed ? element : tir::void_type, from.offset_in};
  }

  std::pair<std::string, Place> pointer_value(const Expr& expr) {
    if (expr.kind == ExprKind::var) return {places_.at(expr.var).name, places_.at(expr.var)};
    VarId var;
    DataType type;
    const Expr* index = nullptr;
    if (expr.op == tir::Op::address_of && expr.operands[0]->operands.size() == 1) {
      var = expr.operands[0]->var;
      type = expr.operands[0]->type;
      index = expr.operands[0]->operands[0].get();
    } else if (expr.op == tir::Op::tvm_access_ptr && expr.operands[1]->kind == ExprKind::var) {
      var = expr.operands[1]->var;
      type = expr.operands[0]->type;
      index = expr.operands[2].get();
    } else {
      throw NoSpelling();
    }
    Place place = places_.at(var);
    const std::string text = "(&(" + expressions_.element(var, type, *index, 0) + "))";
    if (tir::as_int(*index) != 0) place.offset_in = type;
    if (place.offset_in.is_void()) place.offset_in = type;  // an index of 0 is one, too
    return {text, place};
  }

  void store(const tir::Store& store) {
    const DataType type = store.value->type;
    if (!type.is_vector()) {
      if (store.predicate) add("if (" + expressions_.value(*store.predicate) + ") {\n");
      const std::string value = expressions_.value(*store.value);
      const std::string place = expressions_.element(store.storage, type, *store.index, 0);
      add(place + " = " + value + ";\n");
      if (store.predicate) text_ += "  }\n";
      return;
    }
    // All is known before the first element changes.
    if (reads_memory(*store.index)) throw NoSpelling();
    std::vector<std::string> conditions;
    std::vector<std::string> values;
    for (std::size_t lane = 0; lane < type.lanes; ++lane) {
      if (store.predicate) conditions.push_back(expressions_.variable(*store.predicate, lane));
      values.push_back(expressions_.variable(*store.value, lane));
    }
    for (std::size_t lane = 0; lane < type.lanes; ++lane) {
      const std::string place = expressions_.element(store.storage, type.element(), *store.index, lane);
      if (store.predicate) add("if (" + conditions[lane] + ") {\n");
      add(place + " = " + values[lane] + ";\n");
      if (store.predicate) text_ += "  }\n";
    }
  }

  void evaluate(const Expr& root) {
    const Expr* expr = &root;
    const bool is_checked = expr->op == tir::Op::tvm_check_return;
    if (is_checked) expr = expr->operands[2].get();
    const bool is_call = expr->op == tir::Op::call_extern || expr->op == tir::Op::tvm_call_cpacked ||
                         expr->op == tir::Op::tvm_call_packed;
    if (!is_call) {
      if (expr->op == tir::Op::ret) throw NoSpelling();
      return;  // what is computed for nothing
    }
    const auto callee = module_.find(expr->operands[0]->text);
    if (!callee) throw NoSpelling();
    std::vector<std::string> arguments;
    // Packed calls have TVM's resource handle behind the arguments.
    const std::size_t params = module_.functions[*callee].params.size();
    for (std::size_t i = 1; i <= params; ++i) {
      const Expr& argument = *expr->operands.at(i);
      arguments.push_back(argument.type.is_handle() ? pointer_value(argument).first : expressions_.value(argument));
    }
    if (!tir::is_opaque(module_, module_.functions[*callee])) {
      for (std::string& pool : pools("")) arguments.push_back(std::move(pool));
    }
    const std::string call = expr->operands[0]->text + "(" + joined(arguments) + ")";
    if (style_.version == Version::v0_8) {
      add("(void)" + call + ";\n");
    } else if (is_checked) {
      add("if (" + call + " != 0 ) " + (random_.chance(80) ? "return -1;\n" : "{ return -1; }\n"));
    } else {
      add(call + ";\n");
    }
  }

  const TestModule& test_;
  const tir::Module& module_;
  const tir::Function& function_;
  const Style& style_;
  Random& random_;
  Pools& pools_;
  std::size_t number_;
  TvmExpressions expressions_;
  std::map<VarId, Place> places_;
  std::set<std::string> taken_;
  std::string tables_;
  std::string text_;
  std::size_t number_of_tables_ = 0;
};

// --- Files -----------------------------------------------------------------------------------------------------------

// Blanks, comments, line breaks and splices anywhere.
std::string laid_out(const std::string& text, Random& random) {
  static const std::vector<std::string> gaps = {
      " ",  "\n", "\t", "  ", "\r\n", "\n\n    ", " /* } */ ", " // \"it's\n", " \\\n", "/**/", " /* two\n lines */ ",
      "\f", "\v"};
  const bool is_dense = random.chance(30);
  std::string result;
  for (const std::string& token : c_tokens(text)) {
    const bool is_line = token.front() == '\n';
    const bool is_glued = is_dense && !result.empty() && !is_line &&
                          !(is_identifier_char(result.back()) && is_identifier_char(token.front())) &&
                          !(std::string_view("+-&<>=|*.").find(result.back()) != std::string_view::npos);
    if (!result.empty() && result.back() == '/') result += " ";  // no comment begins
    if (!is_glued) result += random.chance(70) ? " " : random.pick(gaps);
    if (is_line && result.size() > 1 && !result.empty()) {
      while (!result.empty() && (result.back() == '\\' || result.back() == ' ')) result.pop_back();
    }
    result += token;
  }
  return result + "\n";
}

std::string prototype_of(const tir::Function& function, const Style& style) {
  // 0.8 names no types.
  return "TVM_DLL int32_t " + FunctionWriter::c_name_of(function, style) +
         (style.version == Version::v0_8 ? "(arg0,arg1);\n" : "();\n");
}

std::string pools_text(const Style& style, const Pools& pools) {
  std::string text;
  if (style.constants == Style::Constants::structure && !pools.members.empty()) {
    text += std::string("__attribute__((section(\".rodata.tvm\"), ))\nstatic ") +
            (style.from(Version::v0_17) ? "const " : "") + "struct global_const_workspace {\n" + pools.members +
            "} global_const_workspace = {\n" + pools.values + "};// of total size\n";
  }
  if (style.owns_pool) {
    text += "__attribute__((section(\".bss.noinit.tvm\"), aligned(16)))\nstatic uint8_t global_workspace[" +
            std::to_string(std::max<std::int64_t>(pools.workspace, 1)) + "];\n";
  }
  return text;
}

std::string header_text(const Style& style, const Pools& pools) {
  const std::string begin = std::string("#define TVMGEN_") + upper_case(module_name);
  std::ostringstream text;
  if (style.is_planned && !style.owns_pool) {
    text << begin << "_GLOBAL_WORKSPACE_WORKSPACE_POOL_SIZE " << std::max<std::int64_t>(pools.workspace, 1) << "\n";
  }
  if (style.constants == Style::Constants::macro) {
    text << begin << "_FLASH_CONSTANT_POOL_SIZE " << pools.bytes.size() << "\n"
         << begin << "_FLASH_CONSTANT_POOL_DATA \\\n";
    for (std::size_t i = 0; i < pools.bytes.size(); ++i) {
      text << "0x" << std::hex << static_cast<int>(static_cast<unsigned char>(pools.bytes[i])) << ", "
           << (i % 16 == 15 ? "\\\n    " : "");
    }
    text << "\n";
  }
  return text.str();
}

std::vector<CFile> files_of(const TestModule& test) {
  Random random(test.seed ^ 0x7c0dU);
  const Style style = some_style(random);
  Pools pools;
  std::vector<std::string> bodies(style.files);
  std::vector<const tir::Function*> order;
  for (const tir::Function& function : test.module.functions) {
    if (!tir::is_opaque(test.module, function)) order.push_back(&function);
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.index(i)]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::string& body = bodies[random.index(bodies.size())];
    // In turn: files have tables of the same names.
    FunctionWriter writer(test, *order[i], style, random, pools, std::count(body.begin(), body.end(), '{') > 0 ? i : 0);
    if (style.version != Version::v0_8 || random.chance(50)) body += prototype_of(*order[i], style);
    body += writer.run();
    if (random.chance(10)) body += "#include \"odd.h\"\n;\n";
  }
  bodies.front() = pools_text(style, pools) + bodies.front();
  std::vector<CFile> files;
  for (const std::string& body : bodies) {
    const std::string head =
        "// tvm target: c -keys=cpu -workspace-byte-alignment=" +
        std::to_string(test.module.workspace_alignment.value_or(16)) +
        " -constant-byte-alignment=" + std::to_string(test.module.constant_alignment.value_or(16)) +
        "\n#define TVM_EXPORTS\n#include \"tvm/runtime/c_runtime_api.h\"\n#include <math.h>\n";
    files.push_back({std::string(module_name) + "_lib" + std::to_string(files.size()) + ".c",
                     head + (random.chance(80) ? laid_out(body, random) : body)});
  }
  files.push_back({std::string("tvmgen_") + module_name + ".h", header_text(style, pools)});
  for (std::size_t i = files.size(); i > 1; --i) std::swap(files[i - 1], files[random.index(i)]);
  return files;
}

// --- Reading ---------------------------------------------------------------------------------------------------------

// Sizes of inputs and outputs, which an archive's metadata says.
void give_shapes(const tir::Module& original, tir::Module& module) {
  const std::vector<tir::Param>& wanted = original.functions[original.entry].params;
  std::vector<tir::Param>& params = module.functions[module.entry].params;
  for (std::size_t i = 0; i < params.size() && i < wanted.size(); ++i) {
    const std::int64_t bytes = (*wanted[i].shape)[0] * wanted[i].element.element_bytes();
    if (!params[i].is_tensor || bytes % params[i].element.element_bytes() != 0) {  // nobody says what it is
      params[i].is_tensor = true;
      params[i].element = wanted[i].element;
      module.vars[params[i].var.index()].element = wanted[i].element;
    }
    params[i].shape = std::vector<std::int64_t>{bytes / params[i].element.element_bytes()};
  }
}

std::string fault_text(const std::string& what, const std::vector<CFile>& files) {
  std::string text = "from C: " + what;
  for (const CFile& file : files) text += "\n--- " + file.name + "\n" + file.text;
  return text;
}

tvm_c::PlannedModule read(const std::vector<CFile>& files) {
  std::vector<tvm_c::Source> sources;
  for (const CFile& file : files) sources.push_back({file.name, file.text});
  const std::string opaque = std::string("tvmgen_") + module_name + "_opaque";
  const std::string prototype = "int32_t " + opaque + "(int32_t* from, int32_t* to, int32_t n)";
  const tvm_c::Foreign foreign{opaque, prototype};
  return tvm_c::read_planned_module(module_name, sources, {&foreign, 1});
}

}  // namespace

std::optional<std::vector<CFile>> in_tvm_c(const TestModule& test) {
  if (fault_of(test.module)) return std::nullopt;  // what shrinking makes need not be a module
  try {
    return files_of(test);
  } catch (const NoSpelling&) {
    return std::nullopt;
  }
}

namespace {

// `read`: what the product made of the files.
ReadBack compared(const TestModule& test, const std::vector<CFile>& files, tir::Module module) {
  const std::vector<Argument> arguments = arguments_of(test);
  std::optional<Outcome> reference;
  try {
    reference = Interpreter(test.module).run(arguments);
  } catch (const Undefined&) {
    return {};
  }
  const auto fault = [&](const std::string& what) { return ReadBack{{}, fault_text(what, files)}; };
  TestModule made{
      .seed = test.seed, .module = std::move(module), .inputs = test.inputs, .outputs = test.outputs, .packed = false};
  if (const auto what = fault_of(made.module)) return fault("malformed: " + *what);
  const auto& params = test.module.functions[test.module.entry].params;
  if (made.module.functions[made.module.entry].params.size() != params.size()) return fault("other parameters");
  give_shapes(test.module, made.module);
  if (const auto what = difference_to(*reference, arguments, made.module)) return fault(*what);
  for (const storage::Where where : {storage::Where::between_tensors, storage::Where::in_place}) {
    tir::Module split = made.module;
    storage::split(split, where);
    if (const auto what = fault_of(split)) return fault("split: malformed: " + *what);
    if (const auto what = difference_to(*reference, arguments, split)) return fault("split: " + *what);
    if (where == storage::Where::between_tensors) made.module = std::move(split);
  }
  return {std::move(made), {}};
}

}  // namespace

ReadBack read_back(const TestModule& test) {
  const auto files = in_tvm_c(test);
  if (!files) return {};
  try {
    Interpreter(test.module).run(arguments_of(test));
  } catch (const Undefined&) {
    return {};
  }
  tir::Module module;
  try {
    tvm_c::PlannedModule planned = read(*files);
    tvm_c::require_constants(planned.lost_constants);
    module = std::move(planned.module);
  } catch (const Error& error) {
    return {{}, fault_text(error.what(), *files)};
  }
  if (module.workspace_alignment != test.module.workspace_alignment ||
      module.constant_alignment != test.module.constant_alignment) {
    return {{}, fault_text("another alignment", *files)};
  }
  return compared(test, *files, std::move(module));
}

}  // namespace usmp::random_modules
