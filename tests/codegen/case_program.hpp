// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Many small operators in one emitted file: each case is an operator of a module whose entry calls them all. The file
// is compiled with every compiler there is, run under the sanitizers, and each output compared with what the test
// computed.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "codegen/c_compiler.hpp"
#include "codegen/c_types.hpp"
#include "tir_support/expressions.hpp"
#include "usmp/codegen/functions.hpp"

namespace usmp::codegen::testing {

using tir::Block;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// A tensor's elements as they stand in memory.
struct Data {
  DataType type;
  std::string bytes;

  [[nodiscard]] std::size_t count() const { return bytes.size() / static_cast<std::size_t>(type.element_bytes()); }
};

// T is the C++ type with the element's bytes: uint16_t for half types, uint8_t for bool.
template <class T>
Data data(DataType type, const std::vector<T>& values) {
  Data result{type, std::string(values.size() * sizeof(T), '\0')};
  CHECK(static_cast<Bytes>(sizeof(T)) == type.element_bytes());
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}
inline Data ints8(const std::vector<std::int8_t>& values) { return data(i8, values); }
inline Data ints16(const std::vector<std::int16_t>& values) { return data(i16, values); }
inline Data ints(const std::vector<std::int32_t>& values) { return data(i32, values); }
inline Data ints64(const std::vector<std::int64_t>& values) { return data(i64, values); }
inline Data bools(const std::vector<std::uint8_t>& values) { return data(boolean, values); }
inline Data floats(const std::vector<float>& values) { return data(f32, values); }
inline Data doubles(const std::vector<double>& values) { return data(f64, values); }

inline tir::Stmt store(VarId storage, ExprRef index, ExprRef value, ExprRef predicate = {}) {
  return {tir::Store{storage, std::move(index), std::move(value), std::move(predicate)}};
}
inline tir::Stmt let(VarId var, ExprRef value) { return {tir::Let{var, std::move(value)}}; }
inline tir::Stmt loop(VarId var, ExprRef min, ExprRef extent, Block body) {
  return {tir::For{var, std::move(min), std::move(extent), std::move(body)}};
}
inline tir::Stmt evaluate(ExprRef value) { return {tir::Evaluate{std::move(value)}}; }

class CaseProgram {
 public:
  CaseProgram() {
    module_.constant_alignment = 16;
    info_.name = "m";
  }

  VarId var(std::string name, DataType type, DataType element = tir::void_type) {
    module_.vars.push_back({std::move(name), type, element, ""});
    return VarId(module_.vars.size() - 1);
  }
  VarId pointer(std::string name, DataType element) { return var(std::move(name), tir::handle_type, element); }
  [[nodiscard]] ExprRef ref(VarId id) const { return tir::make_var(module_, id); }
  [[nodiscard]] ExprRef load(VarId storage, ExprRef index) const {
    return tir::make_load(module_.var(storage).element, storage, std::move(index));
  }
  [[nodiscard]] ExprRef load(VarId storage, std::int64_t index) const { return load(storage, imm(index)); }

  // The operator's parameters are the inputs and the output; the output starts as 0xa5 bytes.
  void operation(const std::string& name, const std::vector<Data>& inputs, const Data& expected,
                 const std::function<Block(const std::vector<VarId>& in, VarId out)>& body) {
    Case added{.name = name, .inputs = inputs, .expected = expected, .params = {}};
    std::vector<VarId> in;
    for (const Data& input : inputs) in.push_back(pointer("p" + std::to_string(in.size()), input.type));
    const VarId out = pointer("out", expected.type);
    tir::Function function;
    function.name = "tvmgen_m_case_" + std::to_string(cases_.size());
    function.body = body(in, out);
    for (const VarId id : in) add_param(function, id);
    add_param(function, out);
    module_.functions.push_back(std::move(function));
    cases_.push_back(std::move(added));
  }

  // out[i] = value(i, in0[i], in1[i], …) for every element of the expected output.
  void elementwise(const std::string& name, const std::vector<Data>& inputs, const Data& expected,
                   const std::function<ExprRef(const std::vector<ExprRef>& x)>& value) {
    operation(name, inputs, expected, [&](const std::vector<VarId>& in, VarId out) {
      const VarId i = var("i", i32);
      std::vector<ExprRef> x;
      for (const VarId storage : in) x.push_back(load(storage, ref(i)));
      return Block{loop(i, imm(0), imm(static_cast<std::int64_t>(expected.count())), {store(out, ref(i), value(x))})};
    });
  }

  // C text that stands beside the emitted file, for functions that it calls.
  void provide(const std::string& text) { provided_ += text; }
  tir::Module& module() { return module_; }
  model::Description& info() { return info_; }
  tir::Function& last_operation() { return module_.functions.back(); }

  // C declaration of the entry.
  std::string declaration() {
    finish();
    return Functions(view()).declaration_of_entry();
  }

  // The emitted file.
  std::string text() {
    finish();
    StringSink sink;
    Functions(view()).write(sink);
    return sink.text();
  }

  // On an emulated Cortex-M55, where its compiler and qemu are there.
  void run_on_helium() {
    run_emulated("-mcpu=cortex-m55 -mfloat-abi=hard -O2 -T " USMP_BOARD "/board_m55.ld", "mps3-an547", "Cortex-M55");
  }
  // With optimisation for speed and for size.
  void run_on_dsp() {
    for (const char* level : {"-O2 ", "-Os "})
      run_emulated(std::string(level) + "-mcpu=cortex-m4 -T " USMP_BOARD "/board.ld", "mps2-an386", "Cortex-M4");
  }

  void run() {
    sandbox_.add("m.c", text());
    sandbox_.add("main.c", main_text());
    compile_only("gcc -std=c99 -O2 -c -o m.o");
    compile_only("g++ -std=c++11 -fsyntax-only -x c++");
    compile_only("clang++ -std=c++11 -fsyntax-only -x c++");
    // -g1: lines for reports of the sanitizers. Tracking variables as well would take four times as long.
    build_and_compare("gcc -std=c99 -ffp-contract=off -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all");
    build_and_compare("clang -std=c99 -ffp-contract=off -O2 -Wall -Wextra -Werror -pedantic");
  }

 private:
  void run_emulated(const std::string& options, const std::string& machine, const char* name) {
    if (!has("arm-none-eabi-gcc") || !has("qemu-system-arm")) return;
    sandbox_.add("m.c", text());
    sandbox_.add("main.c", main_text());
    sandbox_.add("inputs", "");
    sandbox_.expect_silence("arm-none-eabi-gcc -mthumb -std=c99 -nostartfiles --specs=rdimon.specs " + options +
                            " " USMP_BOARD "/start.c m.c main.c -o program");
    compare_all("qemu-system-arm -M " + machine +
                    " -display none -semihosting-config enable=on,target=native -kernel program"
                    " < /dev/null > messages 2>&1 && cat outputs",
                name);
  }

  struct Case {
    std::string name;
    std::vector<Data> inputs;
    Data expected;
    std::vector<VarId> params;  // of the entry: inputs, output
  };

  void add_param(tir::Function& function, VarId id) {
    tir::Param param;
    param.var = id;
    param.name = module_.var(id).name;
    param.is_tensor = true;
    param.element = module_.var(id).element;
    function.params.push_back(std::move(param));
  }

  void finish() {
    if (is_finished_) return;
    is_finished_ = true;
    tir::Function entry;
    entry.name = "tvmgen_m___tvm_main__";
    entry.target = "c";
    entry.is_entry = true;
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      std::vector<ExprRef> arguments = {tir::make_string("tvmgen_m_case_" + std::to_string(k))};
      const auto pass = [&](const Data& tensor, const std::string& name) {
        const VarId id = pointer(name, tensor.type);
        add_param(entry, id);
        cases_[k].params.push_back(id);
        arguments.push_back(ref(id));
      };
      for (const Data& input : cases_[k].inputs) pass(input, "in" + std::to_string(k));
      pass(cases_[k].expected, "out" + std::to_string(k));
      entry.body.push_back(evaluate(tir::make_call(
          i32, "tir.tvm_check_return", {imm(0), imm(-1), tir::make_call(i32, "tir.call_extern", arguments)})));
    }
    module_.functions.push_back(std::move(entry));
    std::sort(module_.functions.begin(), module_.functions.end(),
              [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; });
    module_.entry = *module_.find("tvmgen_m___tvm_main__");
    lowered_.module = module_;
    lowered_.functions.resize(module_.functions.size());
  }

  [[nodiscard]] EmissionInput view() const {
    return {.info = info_, .source = module_, .placements = placements_, .lowered = lowered_, .workspace_io = false};
  }

  static std::string array_text(const std::string& bytes) {
    std::string text;
    for (const char c : bytes) text += std::to_string(static_cast<int>(static_cast<unsigned char>(c))) + ",";
    return "{" + text + "0}";
  }

  std::string main_text() {
    std::ostringstream c;
    c << "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
      << provided_ << Functions(view()).declaration_of_entry() << ";\n"
      << "static void* copy(const unsigned char* from, size_t n) { void* p = malloc(n ? n : 1); memcpy(p, from, n);"
         " return p; }\n"
      << "static void print(const void* p, size_t n) { size_t i; for (i = 0; i < n; ++i) printf(\"%02x\", "
         "((const unsigned char*)p)[i]); printf(\"\\n\"); }\n";
    std::ostringstream body;
    std::string arguments;
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      for (std::size_t j = 0; j <= cases_[k].inputs.size(); ++j) {
        const bool is_output = j == cases_[k].inputs.size();
        const std::string bytes =
            is_output ? std::string(cases_[k].expected.bytes.size(), '\xa5') : cases_[k].inputs[j].bytes;
        const std::string name = "a" + std::to_string(k) + "_" + std::to_string(j);
        c << "static const unsigned char data_" << name << "[] = " << array_text(bytes) << ";\n";
        body << "  void* " << name << " = copy(data_" << name << ", " << bytes.size() << ");\n";
        arguments += (arguments.empty() ? "" : ", ") + name;
      }
    }
    body << "  if (tvmgen_m___tvm_main__(" << arguments << ") != 0) { puts(\"failed\"); return 1; }\n";
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      body << "  print(a" << k << "_" << cases_[k].inputs.size() << ", " << cases_[k].expected.bytes.size() << ");\n";
      for (std::size_t j = 0; j <= cases_[k].inputs.size(); ++j) body << "  free(a" << k << "_" << j << ");\n";
    }
    c << "int main(void) {\n" << body.str() << "  return 0;\n}\n";
    return c.str();
  }

  void compile_only(const std::string& compiler) const {
    if (!has(compiler)) return;
    sandbox_.expect_silence(compiler + " -Wall -Wextra -Werror -pedantic m.c");
  }

  void build_and_compare(const std::string& compiler) {
    if (!has(compiler)) return;
    sandbox_.expect_silence(compiler + " m.c main.c -lm -o program");
    compare_all("./program", compiler);
  }

  void compare_all(const std::string& command, const std::string& compiler) {
    const auto outcome = sandbox_.run(command);
    CHECK_MESSAGE(outcome.status == 0, outcome.output.substr(0, 2000));
    std::istringstream lines(outcome.output);
    for (const Case& expected : cases_) {
      std::string line;
      std::getline(lines, line);
      compare(expected, line, compiler);
    }
  }

  static void compare(const Case& expected, const std::string& line, const std::string& compiler) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
    REQUIRE_MESSAGE(bytes.size() == expected.expected.bytes.size(), expected.name << ": " << line);
    const DataType type = expected.expected.type;
    const auto size = static_cast<std::size_t>(type.element_bytes());
    std::size_t differences = 0;
    for (std::size_t i = 0; i < expected.expected.count(); ++i) {
      const std::string got = bytes.substr(i * size, size);
      const std::string wanted = expected.expected.bytes.substr(i * size, size);
      if (got == wanted || (is_nan(type, got) && is_nan(type, wanted))) continue;
      if (++differences > 3) continue;
      MESSAGE(expected.name << "[" << i << "] is " << show(type, got) << ", expected " << show(type, wanted));
    }
    CHECK_MESSAGE(differences == 0, expected.name << " (" << compiler << ")");
  }

  static double value_of(DataType type, const std::string& bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data(), bytes.size());
    if (type == f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == f64) return std::bit_cast<double>(bits);
    const int unused = 64 - static_cast<int>(bytes.size()) * 8;
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  static bool is_nan(DataType type, const std::string& bytes) { return std::isnan(value_of(type, bytes)); }
  static std::string show(DataType type, const std::string& bytes) {
    std::ostringstream text;
    text.precision(17);
    text << value_of(type, bytes);
    return text.str();
  }

  [[nodiscard]] bool has(const std::string& compiler) const {
    return sandbox_.run("command -v " + compiler.substr(0, compiler.find(' ')) + " > /dev/null").status == 0;
  }

  tir::Module module_;
  model::Description info_;
  placement::Table placements_;  // none: all storage stays where it is
  lower::Lowered lowered_;
  std::vector<Case> cases_;
  std::string provided_;
  bool is_finished_ = false;
  CompilerSandbox sandbox_;
};

}  // namespace usmp::codegen::testing
