// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/edited_entry_test.cpp.
#include "tvm_c/respelled/opened_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macro_expansion.hpp"

namespace usmp::tvm_c {
namespace {

bool is_balanced(std::string_view definition) {
  std::size_t depth = 0;
  for (const MadeToken& token : made_tokens(definition)) {
    if (token.is("{")) ++depth;
    if (token.is("}") && depth-- == 0) return false;
  }
  return depth == 0;
}

class Blocks {
 public:
  Blocks(const FunctionText& function, const AllDefinitions& macros)
      : text_(function.body.text()),
        tokens_(tokens_of(function.body)),
        macros_(macros),
        definitions_(single_definitions(macros)),
        replaced_(text_) {}

  std::optional<EditedText> run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto macro = tokens_[i].is_identifier() ? macros_.find(tokens_[i].text) : macros_.end();
      if (macro == macros_.end()) continue;
      if (macro->second.size() != 1 || is_balanced(macro->second[0])) continue;
      if (!expand(i, takes_arguments(macro->second[0]))) return std::nullopt;
    }
    return matches() ? replaced_.text() : std::nullopt;
  }

 private:
  // The macro at the token; a semicolon behind it may stay.
  bool expand(std::size_t first, bool has_arguments) {
    std::size_t last = first;
    if (has_arguments) {
      const bool is_call = first + 1 < tokens_.size() && tokens_[first + 1].is("(");
      const auto behind = is_call ? behind_bracketed(tokens_, first + 1) : std::nullopt;
      if (!behind) return false;
      last = *behind - 1;
    }
    const std::size_t end = tokens_[last].offset + tokens_[last].text.size();
    const std::string_view text = text_.substr(tokens_[first].offset, end - tokens_[first].offset);
    if (text.find('#') != std::string_view::npos) return false;
    const auto made = expanded(made_tokens(tokens_, first, last + 1), definitions_);
    if (!made) return false;
    replaced_.replace(tokens_[first].offset, end, text_of(*made));
    made_.insert(made_.end(), made->begin(), made->end());
    return true;
  }

  // Each block that these macros open another closes. The function's own braces match already.
  [[nodiscard]] bool matches() const {
    std::size_t depth = 0;
    for (const MadeToken& token : made_) {
      if (token.is("{")) ++depth;
      if (token.is("}") && depth-- == 0) return false;
    }
    return depth == 0;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  const AllDefinitions& macros_;
  Definitions definitions_;  // of those with one
  MadeTokens made_;          // of all of them
  Replacements replaced_;
};

}  // namespace

std::optional<EditedText> with_opened_blocks(const FunctionText& function, const AllDefinitions& macros) {
  try {
    return Blocks(function, macros).run();
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c
