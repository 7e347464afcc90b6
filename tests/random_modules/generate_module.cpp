// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names and types, operators, the entry.
#include <algorithm>
#include <array>
#include <cstring>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

using tir::TypeCode;

// --- Names, types ----------------------------------------------------------------------------------------------------

VarId Generator::new_var(const std::string& name, DataType type) {
  module_.vars.push_back({name, type, tir::void_type, ""});
  return VarId(module_.vars.size() - 1);
}

VarId Generator::new_pointer(const std::string& name, DataType element) {
  module_.vars.push_back({name, tir::handle_type, element, ""});
  return VarId(module_.vars.size() - 1);
}

// TVM repeats names, and some are no C identifiers or words of C.
std::string Generator::some_name(const char* kind) {
  static const std::vector<std::string> odd = {"p0", "p0", "T add", "int", "compute.1", "i.outer", "data", "x_"};
  if (random_.chance(12)) return random_.pick(odd);
  return kind + std::to_string(next_name_++);
}

DataType Generator::some_integer_type() {
  static const std::vector<DataType> types = {type_of(TypeCode::int_, 8),
                                              type_of(TypeCode::int_, 16),
                                              tir::int32_type,
                                              tir::int32_type,
                                              type_of(TypeCode::int_, 64),
                                              type_of(TypeCode::uint, 8),
                                              type_of(TypeCode::uint, 8),
                                              type_of(TypeCode::uint, 16),
                                              type_of(TypeCode::uint, 32),
                                              uint64_type};
  return random_.pick(types);
}

DataType Generator::some_float_type() {
  static const std::vector<DataType> types = {float32_type, float32_type, type_of(TypeCode::float_, 64),
                                              type_of(TypeCode::float_, 16), type_of(TypeCode::bfloat, 16)};
  const DataType type = random_.pick(types);
  return is_in_c_ && type.bits == 16 ? float32_type : type;
}

DataType Generator::some_type() {
  switch (random_.below(10)) {
    case 0:
    case 1:
      return int8_type;
    case 2:
    case 3:
      return tir::int32_type;
    case 4:
    case 5:
      return float32_type;
    case 6:
      return some_float_type();
    case 7:
      return random_.chance(50) ? tir::bool_type : some_integer_type();
    default:
      return some_integer_type();
  }
}

std::int64_t Generator::some_count() {
  static const std::vector<std::int64_t> counts = {1, 1, 2, 3, 4, 4, 5, 6, 8, 8, 9, 12, 16, 16, 24, 33};
  if (random_.chance(2) && !is_in_c_) return 0;
  return random_.pick(counts);
}

std::string Generator::random_bytes(DataType element, std::int64_t elements) {
  const auto size = static_cast<std::size_t>(element.element_bytes());
  std::string bytes(size * static_cast<std::size_t>(elements), '\0');
  static const std::vector<double> reals = {0, 1, -1, 0.5, -2.25, 3, 100, -0.001, 7, 1e5, -40, 0.1, 1e-5, -0.0, 12.5};
  for (std::int64_t i = 0; i < elements; ++i) {
    std::uint64_t bits = 0;
    if (element.is_bool()) {
      bits = static_cast<std::uint64_t>(random_.below(2));
    } else if (element.is_float()) {
      double number = random_.pick(reals);
      if (random_.chance(30)) number = static_cast<double>(random_.between(-2000, 2000)) / 16;
      if (random_.chance(2) && !is_in_c_) number = __builtin_inf();
      bits = bits_of(real(rounded(number, element)), element);
    } else if (random_.chance(50)) {
      bits = static_cast<std::uint64_t>(random_.between(-20, 100));
    } else {
      bits = random_.next();
    }
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * size, &bits, size);
  }
  return bytes;
}

std::vector<std::string> Generator::some_candidates() {
  if (module_.annotated_pools.empty()) {
    for (const char* name : {"fast", "slow"}) {
      tir::AnnotatedPool pool;
      pool.name = name;
      pool.is_internal = random_.chance(50);
      if (pool.name == "fast") pool.size_hint = 4096;
      module_.annotated_pools.push_back(std::move(pool));
    }
    tir::AnnotatedPool constants;
    constants.name = "flash";
    constants.is_constant = true;
    module_.annotated_pools.push_back(std::move(constants));
  }
  switch (random_.below(3)) {
    case 0:
      return {"slow"};
    case 1:
      return {"slow", "fast"};
    default:
      return {"fast", "slow"};
  }
}

// --- Functions -------------------------------------------------------------------------------------------------------

void Generator::make_operator(std::size_t index) {
  Operator made;
  made.name = std::string("tvmgen_") + module_name + "_op" + std::to_string(index);
  tir::Function function;
  function.name = made.name;
  function.target = "c";
  Scope scope;
  outputs_.clear();
  imports_.clear();
  ended_lets_.clear();
  cost_ = 1;
  budget_ = random_.between(3, 14);
  const std::int64_t count_of_params = random_.between(1, 4);
  const std::int64_t output_at = random_.below(count_of_params);
  for (std::int64_t i = 0; i < count_of_params; ++i) {
    Parameter param;
    param.element = some_type();
    param.elements = std::max<std::int64_t>(some_count(), 1);
    const std::int64_t draw = random_.below(20);
    if (draw < 11) param.mode = Parameter::Mode::in;
    if (draw >= 11) param.mode = Parameter::Mode::out;
    if (draw >= 15) param.mode = Parameter::Mode::inout;
    if (draw == 19) param.mode = Parameter::Mode::number;
    if (i == output_at && param.mode == Parameter::Mode::in) param.mode = Parameter::Mode::out;
    param.alignment = param.element.element_bytes();
    if (random_.chance(30)) param.alignment = std::max<std::int64_t>(param.alignment, random_.chance(50) ? 4 : 8);
    made.params.push_back(param);
    tir::Param declared;
    if (param.mode == Parameter::Mode::number) {
      made.params.back().element = tir::int32_type;
      made.params.back().elements = 9;
      declared.var = new_var(some_name("n"), tir::int32_type);
      scope.numbers.push_back({declared.var, tir::int32_type, -9, 9});
    } else {
      const bool is_tensor = random_.chance(90);
      declared.var = new_pointer(some_name("p"), param.element);
      declared.is_tensor = is_tensor;
      declared.element = param.element;
      if (is_tensor) declared.shape = std::vector<std::int64_t>{param.elements};
      Storage& storage = scope.storages.emplace_back(storage_of(declared.var, param.element, param.elements));
      storage.readable = param.mode != Parameter::Mode::out;
      storage.writable = param.mode != Parameter::Mode::in;
      storage.alignment = param.alignment;
      if (param.mode == Parameter::Mode::out) outputs_.push_back(scope.storages.back());
    }
    declared.name = module_.var(declared.var).name;
    function.params.push_back(declared);
  }
  const std::int64_t count_of_statements = random_.between(1, 6);
  statements(function.body, scope, count_of_statements);
  finish_outputs(function.body, scope);
  if (random_.chance(10)) {
    function.body.push_back({tir::Evaluate{call("ret", tir::int32_type, {tir::make_int(0)})}});
  }
  function.imported_c.assign(imports_.begin(), imports_.end());
  made.cost = cost_;
  operators_.push_back(std::move(made));
  module_.functions.push_back(std::move(function));
}

void Generator::finish_outputs(Block& body, Scope& scope) {
  for (const Storage& output : outputs_) {
    for (std::size_t i = 0; i < scope.storages.size(); ++i) {
      if (scope.storages[i].var == output.var && !scope.storages[i].readable) fill(body, scope, i);
    }
  }
}

// A function of another code generator: int32[n] backwards into another tensor.
void Generator::make_opaque() {
  tir::Function function;
  function.name = std::string("tvmgen_") + module_name + "_opaque";
  function.target = "cmsis-nn";
  for (const char* name : {"from", "to"}) {
    tir::Param param;
    param.var = new_pointer(name, tir::int32_type);
    param.name = name;
    param.is_tensor = true;
    param.element = tir::int32_type;
    param.shape = std::vector<std::int64_t>{4};
    function.params.push_back(param);
  }
  tir::Param number;
  number.var = new_var("n", tir::int32_type);
  number.name = "n";
  function.params.push_back(number);
  module_.functions.push_back(std::move(function));
  has_opaque_ = true;
}

void Generator::make_entry(TestModule& test) {
  tir::Function function;
  function.name = std::string("tvmgen_") + module_name + "___tvm_main__";
  function.target = "c";
  function.is_entry = true;
  ended_lets_.clear();
  Scope scope;
  scope.is_entry = true;
  outputs_.clear();
  cost_ = 1;
  budget_ = random_.between(4, 10);
  const std::int64_t count_of_inputs = random_.between(1, 3);
  const std::int64_t count_of_outputs = random_.between(1, 3);
  for (std::int64_t i = 0; i < count_of_inputs + count_of_outputs; ++i) {
    const bool is_input = i < count_of_inputs;
    tir::Param param;
    param.element = some_type();
    const std::int64_t elements = std::max<std::int64_t>(some_count(), 1);
    param.shape = std::vector<std::int64_t>{elements};
    param.is_tensor = true;
    param.name = is_input ? "in" + std::to_string(i) : "output" + std::to_string(i - count_of_inputs);
    param.var = new_pointer(param.name, param.element);
    function.params.push_back(param);
    (is_input ? test.inputs : test.outputs).push_back(static_cast<std::size_t>(i));
    Storage& storage = scope.storages.emplace_back(storage_of(param.var, param.element, elements));
    storage.readable = is_input;
    storage.writable = !is_input;
    storage.alignment = param.element.element_bytes();  // that is what applications are asked for
    if (!is_input) outputs_.push_back(scope.storages.back());
  }
  Block& body = function.body;
  const std::int64_t calls = random_.between(2, 8);
  for (std::int64_t i = 0; i < calls; ++i) {
    if (random_.chance(70)) {
      add_call(body, scope);
    } else if (has_opaque_ && random_.chance(40)) {
      const std::size_t from = readable_storage(body, scope, parameter(Parameter::Mode::in, tir::int32_type, 4));
      const std::size_t to = writable_storage(body, scope, parameter(Parameter::Mode::out, tir::int32_type, 4));
      std::vector<ExprRef> arguments = {tir::make_var(module_, scope.storages[from].var),
                                        tir::make_var(module_, scope.storages[to].var), tir::make_int(4)};
      const bool complete = scope.storages[to].bytes() == 16;
      body.push_back(call_statement(scope, std::string("tvmgen_") + module_name + "_opaque", std::move(arguments)));
      scope.storages[to].readable = scope.storages[to].readable || complete;
    } else if (random_.chance(50)) {
      statement(body, scope);
    } else {
      const DataType element = some_type();
      const std::int64_t elements = some_count();
      const std::size_t made = add_allocate(body, scope, element, elements);
      fill(body, scope, made);
    }
  }
  finish_outputs(body, scope);
  module_.functions.push_back(std::move(function));
}

TestModule Generator::run() && {
  TestModule test;
  static const std::vector<std::int64_t> alignments = {1, 4, 16, 16, 16, 64};
  module_.workspace_alignment = random_.pick(alignments);
  module_.constant_alignment = random_.pick(alignments);
  module_.tvm_version = "0.12.0";
  test.packed = packed_ = random_.chance(25) && !is_in_c_;
  const auto count_of_operators = static_cast<std::size_t>(random_.between(1, 5));
  for (std::size_t i = 0; i < count_of_operators; ++i) make_operator(i);
  if (random_.chance(20)) make_opaque();
  make_entry(test);
  std::sort(module_.functions.begin(), module_.functions.end(),
            [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; });
  module_.entry = *module_.find(std::string("tvmgen_") + module_name + "___tvm_main__");
  // Constants name the pool "flash" without some_candidates.
  const bool described = std::any_of(module_.annotated_pools.begin(), module_.annotated_pools.end(),
                                     [](const tir::AnnotatedPool& pool) { return pool.name == "flash"; });
  if (!described) (void)some_candidates();
  test.module = std::move(module_);
  return test;
}

TestModule Generator::run_expression() && {
  constexpr std::int64_t elements = 16;
  static const std::vector<DataType> types = {
      tir::bool_type,  int8_type,       type_of(TypeCode::int_, 16),  tir::int32_type,
      tir::int64_type, tir::uint8_type, type_of(TypeCode::uint, 16),  type_of(TypeCode::uint, 32),
      uint64_type,     float32_type,    type_of(TypeCode::float_, 64)};
  TestModule test;
  tir::Function function;
  function.name = std::string("tvmgen_") + module_name + "___tvm_main__";
  function.target = "c";
  function.is_entry = true;
  Scope scope;
  scope.is_entry = true;
  const auto add_param = [&](const std::string& name, DataType type, std::vector<std::size_t>& side) {
    tir::Param param;
    param.element = type;
    param.shape = std::vector<std::int64_t>{elements};
    param.is_tensor = true;
    param.name = name;
    param.var = new_pointer(name, type);
    side.push_back(function.params.size());
    function.params.push_back(param);
    return param.var;
  };
  for (const DataType type : types) {
    const std::string name = "in" + std::to_string(function.params.size());
    Storage& storage = scope.storages.emplace_back(storage_of(add_param(name, type, test.inputs), type, elements));
    storage.readable = true;
    storage.writable = false;
    storage.alignment = type.element_bytes();
  }
  // Most often narrow, where C's promotions are seen.
  const DataType type = random_.chance(60) ? random_.pick(types) : random_.chance(50) ? int8_type : tir::uint8_type;
  const VarId output = add_param("output0", type, test.outputs);
  const VarId i = new_var("i", tir::int32_type);
  scope.numbers.push_back({i, tir::int32_type, 0, elements - 1});
  const ExprRef at = tir::make_var(module_, i);
  Block body = {store(output, at, value(type, scope, static_cast<int>(random_.between(1, 4))).expr)};
  function.body.push_back({tir::For{i, tir::make_int(0), tir::make_int(elements), std::move(body)}});
  module_.functions.push_back(std::move(function));
  test.module = std::move(module_);
  return test;
}

TestModule generate(std::uint64_t seed, Contents contents) {
  TestModule test = Generator(seed, contents).run();
  test.seed = seed;
  return test;
}

TestModule generate_expression(std::uint64_t seed) {
  TestModule test = Generator(seed).run_expression();
  test.seed = seed;
  return test;
}

}  // namespace usmp::random_modules
