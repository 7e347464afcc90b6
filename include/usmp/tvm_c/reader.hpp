// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C that TVM's own generator writes → tir::Module, for archives that hold no TIR.
//
// Read is the subset of C that TVM 0.8 to 0.18 prints for operators and for the entry, with the unpacked or the packed
// interface, in whatever layout, in any order of files: loops from a constant, stores, lets, workspace that is taken at
// run time, arrays on the stack, calls that are checked, constants in tables. It becomes what TVM's TIR says of the
// same functions, as far as the C tells: minima and maxima, fixed-point products and choices are recognised, variables
// that TVM's printer introduced are gone, quotients of numbers that are not negative are floor quotients.
//
// What the C does not say: several tensors between operators that TVM let share one allocation are that one buffer
// here. Arrays on the stack are buffers like others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/support/mapped_file.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct Source {
  std::string name;  // for messages: the archive's member
  std::string_view text;
  std::shared_ptr<const MappedFile> mapped = {};  // that the text is a part of: what has been read may leave memory
};

// A function whose C stays as it is, by its prototype: "int32_t f(int8_t* input, int8_t* output)".
struct Foreign {
  std::string_view name;
  std::string_view prototype;
  std::string_view file =
      {};  // that defines it, and its text: if TVM has planned memory of the function's own there, it
  std::string_view text = {};  // gets a buffer of that size. Empty: not known
};

// What becomes of functions that the entry reaches and that are beyond the subset.
enum class Unread : std::uint8_t {
  refused,
  kept,  // their C stays as it is, text for text (KeptFunction), and so do functions of other names that operators call
};

// A function whose C stays as it is. The functions that call it have its text and what it needs in `imported_c`; if its
// parameters are understood, it is an opaque function of the module (tir::is_opaque).
struct KeptFunction {
  std::string name;
  std::string prototype;  // as Foreign has it
  std::string file;       // Source::name
  std::string reason;     // "line 3, column 5: found 'goto', expected …"; empty: it is kept as others call it
  bool allocates_workspace = false;  // its text calls TVMBackendAllocWorkspace
};

// A function of C that operators call, and that is not read where one of them calls it: its text and the call stay.
struct UnreadCall {
  std::string name;
  std::string file;    // Source::name
  std::string reason;  // "line 3, column 5: found 'while', a statement beyond what is read", of the first such call
};

// Beyond them the function is not read.
struct Limits {
  std::size_t block_depth = 250;          // loops and branches inside each other, the function's body included
  std::size_t expression_depth = 10'000;  // of one expression
};

// A pool that the entry takes in C that TVM has planned.
struct PlannedPool {
  std::string name;  // "sram" of the parameter sram_3_var
  bool is_constant = false;
  std::optional<Bytes> size;  // of the array or struct in the C, else of the header's macro; nothing: neither is there
  bool in_c = false;          // workspace that is an array in the C, which firmware does not give
  std::string section = {};   // of that array, if an attribute names one
};

// A function or variable that somebody added to give others the address or the size of a pool that is an array in the
// C, or a function that gives these to what somebody added: its text around the pool's name. In order.
struct PoolAccess {
  std::string name;
  std::string file;
  std::string pool;
  std::vector<std::string> text;  // one more than there are such names
};

// Where TVM has put something: an allocate, a constant, or a parameter of the entry.
struct PlannedPlace {
  tir::VarId var;
  std::string pool;
  Bytes offset = 0;  // >= 0, from the pool's start
  // Whether the program says how much of it is used. Else it may be less than what the module has.
  bool is_sized = true;
  Bytes accessed = 0;  // of the buffer, up to the last byte that functions which are read access
};

// C of another code generator with offsets in pools that are counted anew: the function gets its own buffer for a pool.
struct ChangedFile {
  std::string file;  // Foreign::file
  std::string text;
};

// What is not static, and planned C has otherwise or not at all.
struct LostName {
  enum class Kind : std::uint8_t { function, constant, pool };
  std::string name;
  std::string file;
  std::string place;  // "line 3, column 5"
  Kind kind = Kind::function;
  bool is_declared = false;  // a constant: in another file of the module's, or a header
};

struct PlannedModule {
  tir::Module module;
  std::vector<PlannedPool> pools;    // in the order of the entry's parameters; none: TVM has not planned it
  std::vector<PlannedPlace> places;  // in the order of functions read
  // What a device gets as a whole pool in the entry, in no order of their own. It uses what TVM has left of the pool
  // for it, so other buffers may stand inside, where TVM has them.
  std::vector<PlannedPlace> whole_pools;
  // What TVM's plan has overwritten: "constants at [0, 32) and [16, 48) of pool 'flash' overlap"; the bytes of such
  // constants in `module` are those that the last one left. Nothing: all constants are there.
  std::optional<std::string> lost_constants;
  std::vector<KeptFunction> kept;  // by name
  // Called, and defined by no file: the firmware's. Their prototypes, or what includes them, are in `imported_c` of the
  // functions that call them. By name; `prototype` is empty if no file has it.
  std::vector<KeptFunction> external;
  std::vector<UnreadCall> unread_calls;  // of `kept`, by name
  // Functions of the packed interface, in files that planned C takes the place of: they do nothing but to return what
  // the entry returns for their arguments. Their text is not kept.
  std::vector<KeptFunction> forwarders;
  std::vector<PoolAccess> pool_accesses;  // in files that planned C takes the place of. Their text is not kept
  std::vector<ChangedFile> changed;       // by name
  std::optional<Bytes> workspace_macro;   // TVMGEN_MODULE_WORKSPACE_SIZE of the header, as large as it says
  // "m_lib1.c: 'IRAM_ATTR' of 'tvmgen_m_f' (line 3, column 1) is not in planned C": macros and sections that place what
  // is written anew, each once.
  std::vector<std::string> lost_placements;
  std::string constants_section;  // the linker section of constants in the C, ".rodata.tvm"; empty: none
  // Sentences about
  // - what other files may use of the module's, no operator does, and planned C lacks, and what it needs of others; not
  //   where it takes the place of files: there such code stays;
  // - memory of the model that other files or functions may use at times when planned C has it no more.
  std::vector<std::string> warnings;
  // tvmgen_MODULE_run does more than to call the entry, and is not understood: planned C, which has another one, would
  // lose it.
  std::optional<Error> edited_run;
  std::vector<LostName> lost_names;
  std::set<std::string> visible_names;  // in headers that text which stays includes
};

// The functions that the entry `tvmgen_MODULE___tvm_main__` (TVM 0.8: `tvmgen_MODULE_run_model`) reaches; others are
// passed over. What the entry calls of `foreign` becomes an opaque function (tir::is_opaque). Throws Error of kind
// archive with member and place ("line 3, column 5"): no entry or two of them, what is not C, what is beyond the subset
// above, a call of a function that no file defines, a limit exceeded. Files may hold anything else at file scope.
// O(bytes · log names).
[[nodiscard]] tir::Module read_module(const std::string& module, std::span<const Source> files,
                                      std::span<const Foreign> foreign = {}, const Limits& limits = {});

// The same, with TVM's plan. `read_module` refuses a module whose constants TVM has lost, this does not. The entry has
// to be of the subset, whatever `unread` says. Each time that functions turn out to be kept, all are read once more.
// `headers`: others beside those in `files`, for the macros and constants that `files` include.
// `rewritten`: names of files that planned C takes the place of. What somebody added to them, functions and variables
// that other files may use, is kept in the entry's `imported_c`; Error if it needs what planned C does not have.
// `synchronous`: names of functions that, when they return, have stored no address that they got. What others may have
// stored lives on while code runs that is not read (only with Unread::kept).
[[nodiscard]] PlannedModule read_planned_module(const std::string& module, std::span<const Source> files,
                                                std::span<const Foreign> foreign = {}, const Limits& limits = {},
                                                Unread unread = Unread::refused,
                                                const std::set<std::string>& rewritten = {},
                                                std::span<const Source> headers = {},
                                                const std::set<std::string>& synchronous = {});

// Throws the Error of `read_module` for constants that are lost (PlannedModule::lost_constants).
void require_constants(const std::optional<std::string>& lost);

}  // namespace usmp::tvm_c
