// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a file is, by its first bytes: for messages about a file that was given to the wrong command.
#pragma once

#include <string>

namespace usmp::driver {

enum class FileKind { unknown, archive, module, plan, problem, instance };

// The first 64 KiB of a regular file; empty if it cannot be read. Pipes are not read: what is taken from them is gone.
[[nodiscard]] std::string front_of_file(const std::string& path);

[[nodiscard]] FileKind kind_of_file(const std::string& path);

// Whether it is a TensorFlow Lite model; of a pipe, by what it holds by now.
[[nodiscard]] bool is_tflite(const std::string& path);

// Whether the path names an open pipe: standard input of `… | usmp-plan`, "/dev/fd/63" of `<(…)`. It can be read once.
[[nodiscard]] bool is_open_pipe(const std::string& path);

// Whether the path names an open pipe that begins with '{', as JSON of this program does and no archive. Waits until
// the pipe holds something, and leaves it there.
[[nodiscard]] bool is_json_in_pipe(const std::string& path);

// Throws Error of kind usage, which names the command that takes the file, if it is a plan, a problem or an instance.
void require_model(const std::string& path);

// The same if it is an archive.
void require_pools_file(const std::string& path);

// The same for what `solve` does not take: archives, TIR modules and plans.
void require_instance(const std::string& path);

}  // namespace usmp::driver
