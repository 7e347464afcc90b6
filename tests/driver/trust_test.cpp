// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What must not get out: C that computes something else.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "files.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::trust_test {
namespace {

// gcc, but where a program's sources lie below "planned" the exponential is a cosine.
std::string forging_compiler(const TemporaryDirectory& temporary) {
  const std::string path = temporary.file("cc");
  write(path, "#!/bin/sh\ncase \"$PWD $*\" in */planned*) exec gcc -Dexpf=cosf \"$@\" ;; *) exec gcc \"$@\" ;; esac\n");
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

}  // namespace

TEST_CASE("trust: code that computes something else is told with what differs") {
  const TemporaryDirectory temporary;
  VerifyOptions options;
  options.model.model = testdata + "/repeated_op.tar";
  options.execute = true;
  options.rounds = 2;
  options.compiler = forging_compiler(temporary);
  const Outcome removed = outcome_of(verify, options);
  CHECK(removed.code == exit_internal);
  CHECK(contains(
      removed.err,
      "module 'default': the emitted code behaves differently from the build in which no buffers overlap:\n  "));
  CHECK(contains(removed.err, "this is a bug of usmp-plan or of the compiler"));
  CHECK(contains(removed.err, "--keep DIR keeps both programs\n"));
  CHECK_FALSE(contains(removed.out, "executed:"));
  options.keep = temporary.file("kept");
  const Outcome kept = outcome_of(verify, options);
  CHECK(kept.code == exit_internal);
  CHECK(contains(kept.err, "both programs are in " + fs::canonical(temporary.path / "kept").string()));
}

}  // namespace usmp::driver::trust_test
