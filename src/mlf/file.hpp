// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A file of the C library that closes itself.
#pragma once

#include <cstdio>
#include <memory>

namespace usmp::mlf {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using File = std::unique_ptr<std::FILE, FileCloser>;

}  // namespace usmp::mlf
