// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins the C of many plans in one program, runs it, and compares its outputs with the reference's.
#include "random_modules/programs.hpp"

#include <sys/wait.h>

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "random_modules/callers.hpp"
#include "usmp/support/text.hpp"

namespace usmp::random_modules {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Names that are unique in the translation unit: of the module, and of the helper functions of each file.
std::string renamed(const std::string& text, std::size_t number) {
  const std::string name = "k" + std::to_string(number) + "k";
  std::string result = replaced(text, module_name, name);
  result = replaced(result, upper_case(module_name), upper_case(name));
  return replaced(result, "usmp_", name + "_usmp_");
}

bool mentions(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

std::string program_text(const std::vector<Variant>& variants) {
  std::string text = callers_prelude();
  std::string table;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Emitted& emitted = *variants[i].emitted;
    const std::string include = "#include \"tvmgen_" + std::string(module_name) + ".h\"\n";
    std::string variant = emitted.header + replaced(emitted.entry, include, "") + emitted.operators;
    if (mentions(emitted.operators, "_opaque(")) variant += foreign_source();
    variant += caller_text(*variants[i].test, emitted);
    text += "#undef USMP_ALIGNED_CONSTANT\n" + renamed(variant, i);
    table += (i == 0 ? "" : ", ") + renamed(std::string(module_name) + "_check", i);
  }
  return text + "typedef void (*harness_function)(void);\nint main(void) {\n  static const harness_function all[] = {" +
         table + "};\n  size_t i;\n  for (i = 0; i < sizeof all / sizeof all[0]; ++i) all[i]();\n  return 0;\n}\n";
}

class Sandbox {
 public:
  Sandbox() {
    std::string pattern = (std::filesystem::temp_directory_path() / "usmp-random-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(directory_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] bool run(const std::string& command) const {
    const int status = std::system(("cd '" + directory_.string() + "' && " + command).c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  std::filesystem::path directory_;
};

std::string hex(unsigned char byte) {
  constexpr const char* digits = "0123456789abcdef";
  return {digits[byte >> 4], digits[byte & 15]};
}

// Takes the variant's part of the program's output; a sentence about the first difference.
std::string compare(const Variant& variant, const std::string& output, std::size_t& at) {
  std::int32_t status = 0;
  if (output.size() - at < sizeof status) return "the program ended before its result";
  std::memcpy(&status, output.data() + at, sizeof status);
  at += sizeof status;
  std::string fault = status == 0 ? "" : "tvmgen_run gives " + std::to_string(status);
  const tir::Function& entry = variant.test->module.functions[variant.test->module.entry];
  for (const std::size_t param : variant.test->outputs) {
    const Instance& wanted = variant.reference->memory.instances()[variant.reference->params[param]];
    if (output.size() - at < wanted.bytes.size()) return "the program ended before its result";
    const std::string got = output.substr(at, wanted.bytes.size());
    at += got.size();
    const tir::DataType element = entry.params[param].element;
    const auto size = static_cast<std::size_t>(element.element_bytes());
    for (std::size_t i = 0; i < got.size() && fault.empty(); ++i) {
      if (wanted.states[i] == ByteState::unwritten || got[i] == wanted.bytes[i]) continue;
      std::uint64_t bits = 0;
      std::memcpy(&bits, got.data() + i / size * size, size);
      const bool nan = element.is_float() && std::isnan(scalar_of(bits, element).real);
      if (wanted.states[i] == ByteState::of_nan && nan) continue;
      fault = "output '" + entry.params[param].name + "', byte " + std::to_string(i) + ": " +
              hex(static_cast<unsigned char>(got[i])) + ", expected " +
              hex(static_cast<unsigned char>(wanted.bytes[i]));
    }
  }
  return fault;
}

std::string inputs_of(const Variant& variant) {
  std::string inputs;
  const std::vector<Argument> arguments = arguments_of(*variant.test);
  for (const std::size_t input : variant.test->inputs) inputs += *arguments[input].contents;
  return inputs;
}

// Emulated.
Compiler on_arm(const std::string& core, const std::string& options, const std::string& script = "board",
                const std::string& machine = "mps2-an386") {
  return {core,
          "arm-none-eabi-gcc -O2 -mcpu=" + core + " -mthumb -nostartfiles --specs=rdimon.specs -T " USMP_BOARD "/" +
              script + ".ld " USMP_BOARD "/start.c " + options,
          "qemu-system-arm -M " + machine +
              " -display none -semihosting-config enable=on,target=native -kernel all < /dev/null > messages 2>&1",
          false};
}

}  // namespace

const std::vector<Compiler>& compilers() {
  // Functions of libm are called, not folded by the compiler, whose results need not be libm's.
  // Modules ask whether a pointer is NULL and use it all the same, which GCC follows at -O3.
  static const std::string common =
      " -std=c99 -ffp-contract=off -fno-builtin -Wall -Wextra -Werror -pedantic -Wno-nonnull -Wconversion"
      " -Wsign-conversion -Wcast-align -Wshadow -Wundef -Wdouble-promotion -Wstrict-prototypes -Wcast-qual ";
  // -g1: lines for reports of the sanitizers; what debuggers need besides takes GCC longer than all the rest.
  static const std::vector<Compiler> all = {
      {"gcc -O0", "gcc -O0" + common},
      {"gcc -O2", "gcc -O2" + common},
      {"clang -O1", "clang -O1" + common},
      {"gcc sanitized", "gcc -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all" + common},
      {"clang sanitized", "clang -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all" + common},
      {"gcc -O3", "gcc -O3" + common},
      on_arm("cortex-m4", "-mfloat-abi=hard -mfpu=fpv4-sp-d16" + common),
      on_arm("cortex-m55", "-mfloat-abi=hard" + common, "board_m55", "mps3-an547"),
      on_arm("cortex-m0plus", common),  // has Thumb-1 alone, which the board's Cortex-M4 runs, too
  };
  return all;
}

std::vector<Mismatch> run_variants(const std::vector<Variant>& variants, const Compiler& compiler, bool warnings) {
  std::vector<Mismatch> mismatches;
  if (variants.empty()) return mismatches;
  const Sandbox sandbox;
  std::string inputs;
  for (const Variant& variant : variants) inputs += inputs_of(variant);
  sandbox.write("all.c", program_text(variants));
  sandbox.write("inputs", inputs);
  const bool compiled = sandbox.run(compiler.command + (warnings ? "" : "-w ") + "all.c -lm -o all > messages 2>&1");
  const bool ran = compiled && sandbox.run(compiler.run);
  if (!ran && variants.size() > 1) {  // which is it?
    const auto middle = static_cast<std::ptrdiff_t>(variants.size() / 2);
    mismatches = run_variants({variants.begin(), variants.begin() + middle}, compiler, warnings);
    if (!mismatches.empty()) return mismatches;
    for (Mismatch& mismatch : run_variants({variants.begin() + middle, variants.end()}, compiler, warnings)) {
      mismatches.push_back({mismatch.variant + static_cast<std::size_t>(middle), std::move(mismatch.what)});
    }
    if (mismatches.empty()) mismatches.push_back({0, "fails only together with other modules"});
    return mismatches;
  }
  if (!ran) {
    const std::string messages = sandbox.read("messages").substr(0, 3000);
    return {{0, (compiled ? "the program fails:\n" : "does not compile:\n") + messages}};
  }
  const std::string outputs = sandbox.read("outputs");
  std::size_t at = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    std::string what = compare(variants[i], outputs, at);
    if (!what.empty()) mismatches.push_back({i, std::move(what)});
  }
  return mismatches;
}

}  // namespace usmp::random_modules
