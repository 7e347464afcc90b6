// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds TVM's table of functions in C, and writes one without operators.
#include <algorithm>
#include <set>

#include "mlf/c_text.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

// The tokens in the braces of `name = {…}`.
std::vector<c::Token> initialiser_of(const CText& text, std::string_view name) {
  const std::vector<c::Token>& code = text.code();
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].text != name) continue;
    std::size_t at = i + 1;
    while (at < code.size() && (code[at].is("[") || code[at].is("]"))) ++at;
    if (at + 1 >= code.size() || !code[at].is("=") || !code[at + 1].is("{")) continue;
    const auto begin = code.begin() + static_cast<std::ptrdiff_t>(at + 2);
    return {begin, std::find_if(begin, code.end(), [](const c::Token& token) { return token.is("}"); })};
  }
  return {};
}

// TVM 0.8 writes one byte in front of the names, their number; later ones two. A name begins with a letter, so what is
// escaped in second place is a byte of the number.
bool has_long_count(const std::vector<c::Token>& initialiser) {
  bool is_behind = false;  // of the first byte
  for (const c::Token& token : initialiser) {
    if (token.kind != c::TokenKind::string) continue;
    std::string_view text = token.text.substr(1, token.text.size() - 2);
    if (!is_behind && !text.empty()) {
      is_behind = true;
      const std::size_t octal = std::min(text.find_first_not_of("01234567", 1), text.size());
      text.remove_prefix(text[0] != '\\' ? 1 : std::clamp<std::size_t>(octal, 2, 4));
    }
    if (!text.empty()) return text[0] == '\\';
  }
  return true;
}

std::string byte_in_c(std::size_t value) {
  const auto digit = [&](unsigned shift) { return static_cast<char>('0' + (value >> shift & 7U)); };
  return {'\\', digit(6), digit(3), digit(0)};
}

}  // namespace

bool holds_registry(std::string_view text) {
  return mentions(text, "_tvm_func_array") || defines_ending_in(text, "TVMSystemLibEntryPoint");
}

std::vector<std::string> registered_functions(std::string_view text) {
  std::vector<std::string> names;
  for (const c::Token& token : initialiser_of(CText(text), "_tvm_func_array")) {
    if (token.is_identifier() && !token.is("TVMBackendPackedCFunc")) names.emplace_back(token.text);
  }
  return names;
}

std::string planned_registry(const Archive& archive, const model::Description& module, const ModuleFiles& files,
                             std::string_view planned_entry) {
  const std::string_view text = archive.find(files.registry)->text();
  const CText code(text);
  const std::string prefix = "tvmgen_" + c_identifier(module.name);
  const std::set<std::string> entries = {prefix + "___tvm_main__", prefix + "_run_model"};

  std::string prototypes;
  std::string functions;
  std::string names;
  std::size_t count = 0;
  const auto keep = [&](const std::string& name, const CFunction& function) {
    prototypes += function.prototype + ";\n";
    functions += "    (TVMBackendPackedCFunc)" + function.name + ",\n";
    names += "\n    \"" + name + "\\000\"";
    ++count;
  };
  const auto keep_defined = [&](const std::string& name, std::string_view in, const std::string& function) {
    for (const CFunction& one : functions_of_file(in)) {
      if (one.name == function) keep(name, one);
    }
  };
  for (const std::string& name : registered_functions(text)) {
    if (entries.contains(name)) {
      if (module.packed_interface) keep_defined(name, planned_entry, prefix + "_run");
      continue;
    }
    if (module.packed_interface && name == prefix + "_run") {
      keep_defined(name, planned_entry, name);
      continue;
    }
    const bool is_for_metadata = name.ends_with("get_c_metadata");
    for (const std::string& member : is_for_metadata ? module.c_members : files.metadata) {
      if (!member.ends_with(".h")) keep_defined(name, archive.find(member)->code(), name);
    }
  }
  if (count == 0) functions = "    NULL,\n";

  std::string result = "\n/* TVM's registry of functions, with those that are left. */\n#include <stddef.h>\n";
  for (const std::string& header : code.includes()) {
    const std::string name = file_name_of(header.substr(1, header.size() - 2));
    if (files.header.empty() || name != file_name_of(files.header)) result += "#include " + header + "\n";
  }
  const bool is_long = has_long_count(initialiser_of(code, "_tvm_func_registry"));
  result += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + prototypes + "#ifdef __cplusplus\n}\n#endif\n";
  result += "static TVMBackendPackedCFunc usmp_functions[] = {\n" + functions + "};\n";
  result += "static const TVMFuncRegistry usmp_registry = {\n    \"" + byte_in_c(count & 255U) +
            (is_long ? byte_in_c(count >> 8U) : "") + "\"" + names + ",\n    usmp_functions,\n};\n";
  result += "static const TVMModule usmp_module = {\n    &usmp_registry,\n};\n";
  result += "const TVMModule* TVMSystemLibEntryPoint(void) { return &usmp_module; }\n";
  return result;
}

}  // namespace usmp::mlf
