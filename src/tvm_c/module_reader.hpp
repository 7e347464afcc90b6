// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a module: files, the functions that the entry reaches (module_functions.cpp), and what is kept as C
// (module_kept.cpp).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/planned_memory.hpp"
#include "tvm_c/body/planned_pools.hpp"
#include "tvm_c/body/read_function.hpp"
#include "tvm_c/hints.hpp"
#include "tvm_c/kept/added_code.hpp"
#include "tvm_c/kept/escape.hpp"
#include "tvm_c/kept/extended_lifetimes.hpp"
#include "tvm_c/kept/synchronous.hpp"
#include "tvm_c/missing_in_plan.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/files_read.hpp"
#include "tvm_c/text/included.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/places.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

inline constexpr Bytes default_alignment = 16;

// One module's C. It is read anew whenever a function turns out to be one whose C stays.
class ModuleReader {
 public:
  ModuleReader(std::string name, std::span<const Source> files, std::span<const Foreign> foreign, const Limits& limits,
               Unread unread, const std::set<std::string>& rewritten, std::span<const Source> headers,
               const std::set<std::string>& synchronous);
  PlannedModule run() &&;

 private:
  [[nodiscard]] std::string entry_name() const;
  // Other code generators' C that TVM has planned memory for.
  void find_foreign_pools();
  // Until no function turns out to be one whose C stays.
  void read_all();
  // To functions that call what stays.
  void add_kept_text();
  void size_buffers();
  [[noreturn]] void fail(const tir::Fault& fault) const;
  // That the files define.
  [[nodiscard]] const FunctionText& defined(const std::string& name) const {
    return scope_.functions.find(name)->second;
  }

  // --- Functions (module_functions.cpp) -----------------------------------------------------------------------------

  // In planned C a function gets other bytes with each call: what it has stored of a pool says nothing to the next.
  void require_passing_pools() const;
  // Planned C leaves the caller if a function of the module fails, so what ignores that is not read.
  void require_asked();
  // Whether what is wrong with the function only means that its C stays.
  bool keeps(const std::string& name, std::string reason);
  void require_certain(const std::string& name, const FunctionText& text) const;
  // A static function of another file is not what is called.
  void require_seen(const std::string& callee, const FunctionText& caller) const;
  // The entry and those that it reaches.
  void read_reached();
  std::vector<std::string> read(const std::string& name);
  // float4 v = *(float4*)(p0 + i); is what TVM prints where nobody has disabled vectors, and no compiler takes.
  void require_no_vectors(const std::string& name, const FunctionText& text, std::size_t offset) const;
  // `texts`: of the function, what stays as it is.
  void require_plain(const std::string& name, const FunctionText& text, const std::vector<AddedText>& texts);
  ReadFunction read_plain(const std::string& name, const FunctionText& text, const AddedStatements& added,
                          std::span<const Outlined> outlined);
  // An operator whose statements are read in place of a call has nothing but its tokens, and returns an int32_t.
  void require_nested(const std::string& name, const FunctionText& text);
  // A statement that is not read may become a function: then all is read once more.
  ReadFunction read_entry(const FunctionText& text, const AddedStatements& added);
  [[nodiscard]] std::string place(std::size_t file, std::size_t offset) const { return places_.at(file, offset); }
  // Those of which the C stays, and why.
  [[nodiscard]] std::vector<std::string> unread_operators() const;
  const LastingVariables& lasting_variables();
  void note_added(const Names& functions);
  // Functions that somebody made of the entry.
  void require_no_parts() const;
  // What operators call is no part of the model by itself.
  void note_helpers(const std::vector<std::string>& called);
  // By its prototype. Throws SyntaxError: it is not understood.
  void add_opaque(const std::string& name, const FunctionText& text);
  // Opaque, if it is an operator and what it takes is understood; else one that is not known, of which a call that is
  // not checked says nothing of its result.
  void read_kept(const std::string& name, const FunctionText& text);
  // Its code generator is not known, so its target is a name of none.
  void read_foreign(const std::string& name);
  // The entry's parameters: their types, and names after the members that the firmware's function passes for them.
  void name_entry_params();

  // --- What is kept as C, and what is not (module_kept.cpp) ---------------------------------------------------------

  // In headers that these files include, in front of functions of `gone`.
  void note_visible_names(const std::set<std::size_t>& files, const Names& gone);
  void note_visible_names(std::size_t header, const Names& gone);
  // Keeps what escapes of the functions that the model calls.
  void add_escapes(const std::vector<AskedFunction>& asked, const FileScope& scope, const Included& included);
  void extend_lifetimes();
  // In the C, so that text which names it may stay.
  [[nodiscard]] bool is_struct_of_constants(const std::string& pool) const;
  // Those that functions which stay take.
  [[nodiscard]] std::string kept_constants() const;
  // What planned C has otherwise, or has no more.
  [[nodiscard]] Names stops() const;
  [[nodiscard]] Names gone_names() const;
  // Planned C that takes the place of no file has what the model uses.
  void note_left_out();
  static void append(std::vector<std::string> more, std::vector<std::string>& to);
  // Memory of the model that others may use at times when planned C has something else in it, or not at all.
  [[nodiscard]] std::vector<std::string> used_by_others(const std::vector<PlannedPool>& pools);
  // Where all are that are in any.
  [[nodiscard]] std::string constants_section() const;
  [[nodiscard]] std::string prototype(const Item& item) const;
  [[nodiscard]] std::vector<KeptFunction> kept_functions() const;
  [[nodiscard]] std::vector<UnreadCall> unread_calls() const;
  // Whether planned C has it otherwise.
  [[nodiscard]] bool is_read(const Item& item) const;
  [[nodiscard]] std::vector<LostName> lost_names(const std::vector<PlannedPool>& pools) const;
  [[nodiscard]] std::vector<KeptFunction> forwarders() const;
  [[nodiscard]] std::vector<PlannedPlace> whole_pools() const;
  [[nodiscard]] std::vector<PoolAccess> pool_accesses() const;
  [[nodiscard]] std::vector<KeptFunction> external_functions() const;

  // --- What is given, and what run() has of files and headers before functions are read -----------------------------

  std::string name_;
  std::span<const Source> files_;
  Places places_;                    // in them
  std::span<const Source> headers_;  // beside those of the module
  const Included included_;          // of both
  Helpers helpers_;
  Limits limits_;
  Unread unread_;
  FileScope scope_;
  FilesRead read_;  // all of these
  const std::set<std::string>& rewritten_;
  SynchronousFunctions synchronous_;
  PoolSizes pool_sizes_;
  std::map<std::string_view, std::string_view> foreign_files_;
  std::vector<ChangedFile> changed_;  // of these: find_foreign_pools()

  // --- What grows from round to round of read_all() -----------------------------------------------------------------

  Names kept_names_;          // functions whose C stays; add_kept_text() adds those for what somebody added
  Names found_in_added_;      // of these
  Names kept_for_operators_;  // likewise, without what they call
  std::map<std::string, std::string, std::less<>> reasons_;  // of those that are not read
  KeptPools kept_pools_;                                     // also of `foreign`
  std::map<std::string, std::string> named_constants_;  // pools that stay, and a function that takes constants there
  std::optional<PoolMacros> pool_macros_;               // of all files and headers
  std::optional<LastingVariables> lasting_variables_;

  // --- What a round finds, in the end the last one, beside module_ and what added_ notes ----------------------------

  struct UnaskedCall {
    std::string caller;
    std::string callee;
    std::size_t at = 0;
  };
  struct Round {
    std::map<std::string, std::string> unread;    // functions whose C has to stay, and why: then another one follows
    std::map<std::string, std::size_t> external;  // called, and defined nowhere: a file that calls it
    Names called_by_entry;
    Names tables;   // that functions read
    Names inlined;  // operators that are read in place of a call
    std::vector<UnaskedCall> unasked;
    std::vector<OutlinedFunction> outlined;
    PlannedMemory memory;
    Bytes pool_alignment = default_alignment;
  };
  Round round_;
  tir::Module module_;
  AddedCode added_;

  // --- What add_kept_text() and extend_lifetimes() find --------------------------------------------------------------

  std::set<std::string> visible_names_;
  Escapes escapes_;  // of functions whose C stays and statements of the entry; of `foreign`, find_foreign_pools()
  ExtendedLifetimes extended_;
  std::vector<std::string> warnings_;
};

}  // namespace usmp::tvm_c
