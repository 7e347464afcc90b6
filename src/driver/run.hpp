// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The boundary at which errors become messages and exit codes.
#pragma once

#include <exception>
#include <iosfwd>
#include <new>
#include <ostream>
#include <string>

#include "interrupt.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/input_file.hpp"
#include "usmp/support/message.hpp"

namespace usmp::driver {

inline int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return exit_usage;
    case ErrorKind::archive:
    case ErrorKind::too_large:
      return exit_archive;
    case ErrorKind::output:
      return exit_output;
  }
  return exit_internal;
}

// Runs `command` (which returns an exit code) and reports what it throws as one message. What an interrupted search
// found is no success, and what it did not find is no proof.
template <class Command>
int run(std::ostream& err, const Command& command) {
  forget_interruptions();
  const FilesRead files_read;  // by what writes
  try {
    const int code = command();
    if (!was_interrupted() || (code != exit_ok && code != exit_infeasible)) return code;
    if (code == exit_ok) {
      tell(err, Severity::warning, "interrupted: the results are those of what was found by then");
    }
    return exit_interrupted;
  } catch (const Error& error) {
    tell(err, error);
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    err << "usmp-plan: error: out of memory\n";
    return exit_memory;
  } catch (const std::exception& error) {
    tell(err, Severity::internal, error.what());
    return exit_internal;
  }
}

}  // namespace usmp::driver
