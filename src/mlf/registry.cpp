// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include <algorithm>
#include <set>

#include "mlf/c_text.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

// What follows the first mention of `name` that is followed by `= {`; empty if there is none.
std::string_view initialiser_of(std::string_view text, std::string_view code, std::string_view name) {
  for (std::size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    std::size_t next = code.find_first_not_of("[] \t\r\n\f\v", at + name.size());
    if (next == std::string_view::npos || code[next] != '=') continue;
    next = code.find_first_not_of(blanks, next + 1);
    if (next != std::string_view::npos && code[next] == '{') {
      const std::size_t end = std::min(code.find('}', next), code.size());
      return text.substr(next + 1, end - next - 1);
    }
  }
  return {};
}

// TVM 0.8 writes one byte in front of the names, their number; later ones two. A name begins with a letter, so what is
// escaped in second place is a byte of the number.
bool has_long_count(std::string_view initialiser) {
  std::size_t at = initialiser.find('"');
  if (at == std::string_view::npos) return true;
  ++at;
  const auto next = [&](std::size_t offset) {
    return at + offset < initialiser.size() ? initialiser[at + offset] : '\0';
  };
  if (next(0) == '\\') {
    std::size_t digits = 0;
    while (digits < 3 && next(1 + digits) >= '0' && next(1 + digits) <= '7') ++digits;
    at += 1 + std::max<std::size_t>(digits, 1);
  } else {
    ++at;
  }
  while (next(0) == '"') {  // goes on in the next literal
    at = initialiser.find('"', at + 1);
    if (at == std::string_view::npos) return true;
    ++at;
  }
  return next(0) == '\\';
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
  const std::string code = code_only(text);
  std::vector<std::string> names;
  std::string name;
  for (const char c : std::string(initialiser_of(code, code, "_tvm_func_array")) + " ") {
    if (is_identifier_char(c)) {
      name += c;
    } else if (!name.empty()) {
      if (name != "TVMBackendPackedCFunc") names.push_back(name);
      name.clear();
    }
  }
  return names;
}

std::string planned_registry(const Archive& archive, const model::Description& module, const ModuleFiles& files,
                             std::string_view planned_entry) {
  const std::string_view text = archive.find(files.registry)->text();
  const std::string code = code_only(text);
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
  for (const std::string& header : included_headers(text)) {
    if (!files.header.empty() && file_name_of(header) == file_name_of(files.header)) continue;
    const std::string bracketed = "<" + header + ">";
    result += "#include " + (text.find(bracketed) != std::string::npos ? bracketed : "\"" + header + "\"") + "\n";
  }
  const bool is_long = has_long_count(initialiser_of(text, code, "_tvm_func_registry"));
  result += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + prototypes + "#ifdef __cplusplus\n}\n#endif\n";
  result += "static TVMBackendPackedCFunc usmp_functions[] = {\n" + functions + "};\n";
  result += "static const TVMFuncRegistry usmp_registry = {\n    \"" + byte_in_c(count & 255U) +
            (is_long ? byte_in_c(count >> 8U) : "") + "\"" + names + ",\n    usmp_functions,\n};\n";
  result += "static const TVMModule usmp_module = {\n    &usmp_registry,\n};\n";
  result += "const TVMModule* TVMSystemLibEntryPoint(void) { return &usmp_module; }\n";
  return result;
}

}  // namespace usmp::mlf
