// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Consecutive calls of the entry as one list of statements, and what rolling has to know of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transform/plain_entry.hpp"
#include "usmp/loops/stage.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct FineLoop {
  tir::For loop;
  loops::Stage stage;
};

// A statement that does something.
struct Unit {
  std::size_t call = 0;           // that it comes from, counted from the first one of the run
  std::size_t statement = 0;      // of CallRun::function
  std::vector<tir::VarId> reads;  // storages, ascending
  std::vector<tir::VarId> writes;
  std::optional<loops::Stage> stage;  // if it is a loop
  // The loop in another form, as a stage of which an iteration is a pixel; nothing: there is none.
  std::optional<FineLoop> pixels;
};

struct RunStorage {
  std::int64_t elements = 0;
  tir::DataType type;
  std::optional<tir::VarId> outside;  // the entry's variable; nothing: a buffer of one call
  bool is_free = false;               // the caller's: does not count
  bool is_used_before = false;        // by calls before the run, or by the caller
  bool is_read_later = false;         // by calls after the run, or by the caller
  std::size_t first = 0;              // units that access it
  std::size_t last = 0;
  std::vector<std::size_t> writers;  // units, ascending

  [[nodiscard]] Bytes bytes() const { return elements * type.bytes(); }
};

struct CallRun {
  std::vector<const program::EntryCall*> calls;
  tir::Function function;   // all of them, one after the other; its variables are new, outer loops collapsed
  std::vector<Unit> units;  // in program order
  std::unordered_map<tir::VarId, RunStorage> storages;  // but for constants
  std::map<tir::VarId, tir::Param> params;              // of storages that `outside` is known of
  std::map<tir::VarId, std::size_t> declarations;       // statements of `function` that declare constants and buffers

  // What a loop's variable is made of when its iterations are told by lines and columns; in no statement.
  tir::VarId plane;
  tir::VarId line;
  tir::VarId column;
  tir::VarId part;

  // By unit: bytes of the storages that are live there, and that are accessed for the first time up to there; those of
  // the caller left out.
  std::vector<Bytes> live;
  std::vector<Bytes> begun;

  // Units of calls [first, last), as a range of indices.
  [[nodiscard]] std::pair<std::size_t, std::size_t> units_of(std::size_t first, std::size_t last) const;
};

// The runs of at least one call, in order, of the functions that transformations look into, without statements that
// bind values between loops. `workspace_io`: inputs and outputs count. Adds variables to the module. O(size of the
// functions called · log, and what loops::stages_of takes).
[[nodiscard]] std::vector<CallRun> call_runs(tir::Module& module, const PlainEntry& entry, bool workspace_io);

}  // namespace usmp::transform
