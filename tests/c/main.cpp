// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shows what the module `c` reads of a file: usmp-c tokens|opaque|constants FILE [--known]. With --known, no name is
// defined outside of the files. tests/e2e/c_against_gcc.py compares it with GCC.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/support/line_and_column.hpp"

using namespace usmp::c;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Files by path, which stay where they are.
class Folder {
 public:
  std::uint32_t add(Files& files, const std::filesystem::path& path) {
    const auto known = indices_.find(path.string());
    if (known != indices_.end()) return known->second;
    texts_.push_back(read(path));
    const std::uint32_t index = files.add({path.string(), texts_.back()});
    indices_[path.string()] = index;
    return index;
  }

 private:
  std::deque<std::string> texts_;
  std::map<std::string, std::uint32_t> indices_;
};

std::string text_of(std::span<const Token> tokens, TokenRange range) {
  std::string result;
  for (std::uint32_t i = range.begin; i < range.end && result.size() < 200; ++i) {
    result += std::string(tokens[i].text.substr(0, 40)) + ' ';
  }
  return result;
}

void show_constants(const Tree& tree) {
  for (const Decl& decl : tree.decls) {
    if (decl.kind != DeclKind::variable || !decl.init.valid()) continue;
    const auto value = constant_value(tree, decl.init);
    std::cout << decl.name;
    if (value && value->as_int64()) {
      std::cout << ' ' << *value->as_int64();
    } else if (value) {
      std::cout << ' ' << static_cast<std::uint64_t>(value->value);
    }
    if (value) std::cout << ' ' << int{value->bits} << (value->is_unsigned ? 'u' : 's');
    std::cout << '\n';
  }
}

int show(const std::string& what, const std::filesystem::path& path, bool is_known) {
  Files files;
  Folder folder;
  const std::uint32_t file = folder.add(files, path);
  Environment environment;
  environment.include = [&](std::string_view name, bool, std::uint32_t from) -> std::optional<std::uint32_t> {
    const auto found = std::filesystem::path(files[from].name).parent_path() / name;
    return std::filesystem::is_regular_file(found) ? std::optional(folder.add(files, found)) : std::nullopt;
  };
  if (is_known) environment.is_undefined = [](std::string_view) { return true; };
  try {
    const Unit unit = preprocess(files, file, environment);
    if (what == "tokens") {
      for (const Token& token : unit.tokens) std::cout << token.text << '\n';
      return 0;
    }
    const Tree tree = parse(unit.tokens);
    if (what == "constants") {
      show_constants(tree);
      return 0;
    }
    const auto line = [&](std::uint32_t at) {
      const Token& token = unit.tokens[at];
      return files[token.file].name + ": " + usmp::line_and_column(files[token.file].text, token.offset + 1) + ": ";
    };
    for (const Stmt& stmt : tree.stmts) {
      if (stmt.kind == StmtKind::opaque)
        std::cout << line(stmt.tokens.begin) << "statement: " << text_of(unit.tokens, stmt.tokens) << '\n';
    }
    for (const Expr& expr : tree.exprs) {
      if (expr.kind == ExprKind::opaque)
        std::cout << line(expr.tokens.begin) << "expression: " << text_of(unit.tokens, expr.tokens) << '\n';
    }
    std::cout << unit.tokens.size() << " tokens, " << tree.decls.size() << " declarations, " << tree.stmts.size()
              << " statements, " << tree.exprs.size() << " expressions\n";
    return 0;
  } catch (const SyntaxError& error) {
    const File& in = files[error.file];
    std::cout << "error: " << in.name << ": " << usmp::line_and_column(in.text, error.offset + 1) << ": "
              << error.message << '\n';
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: usmp-c tokens|opaque|constants FILE [--known]\n";
    return 2;
  }
  return show(argv[1], argv[2], argc > 3);
}
