// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan: every way a process may end becomes an exit code.
#include <cxxabi.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <typeinfo>
#include <vector>

#include "run.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/support/mapped_file.hpp"

namespace usmp::apps {
namespace {

constexpr const char* out_of_memory = "usmp-plan: error: out of memory\n";

// A standard descriptor that was closed would be the next file that is opened, and what is printed would go into that
// file. They get something that nothing can be read from and nothing written to, also by the name /dev/stdout.
void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    const int opened = ::open("/dev/full", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) return;
  }
}

// A reader that has gone and a file that grows beyond its limit are write errors, so that files are put in place or
// removed first.
void turn_signals_into_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// Somebody has shortened a file whose bytes are read where the system has them. The program ends as by SIGKILL: results
// are not in place, and the next run removes what they are completed in.
void end_by_shortened_file(int signal, siginfo_t* fault, void* /*context*/) {
  const char* const path = MappedFile::path_at(fault->si_addr);
  if (path == nullptr || fault->si_code <= 0) {  // or somebody has sent it
    std::signal(signal, SIG_DFL);                // and the instruction is tried again
    if (fault->si_code <= 0) ::raise(signal);
    return;
  }
  for (const char* const text : {"usmp-plan: error: ", path, ": was shortened while it was read\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::_exit(driver::exit_archive);
}

void explain_shortened_files() {
  struct sigaction action = {};
  action.sa_sigaction = end_by_shortened_file;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

// Destructors of libraries may take memory, and end the program when there is none: with the same message and exit
// code.
[[noreturn]] void end_without_memory() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr || *type != typeid(std::bad_alloc)) std::abort();
  std::fputs(out_of_memory, stderr);
  ::_exit(driver::exit_memory);
}

bool has_returned = false;

// Libraries may end the program: libarchive does so with exit code 1 when it cannot get a few bytes, after a message of
// its own.
void end_of_program() {
  if (!has_returned) ::_exit(driver::exit_memory);
}

bool reader_is_gone() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

// As any filter whose reader has read enough: `usmp-plan … | head` ends without a message.
void end_by_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

int run(int argc, char** argv) {
  const int code = parse_and_run(argc, argv);
  errno = 0;
  if (!std::cout.flush() && code == driver::exit_ok) {
    const int fault = errno;
    if (reader_is_gone()) end_by_broken_pipe();
    errno = fault;
    std::cerr << "usmp-plan: error: standard output could not be written"
              << (errno == 0 ? "" : std::string(": ") + std::strerror(errno)) << '\n';
    return driver::exit_output;
  }
  return code;
}

int run_and_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(out_of_memory, stderr);
    return driver::exit_memory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "usmp-plan: internal error: %s\n", error.what());
    return driver::exit_internal;
  }
}

}  // namespace
}  // namespace usmp::apps

int main(int argc, char** argv) {
  usmp::apps::occupy_standard_descriptors();
  usmp::apps::turn_signals_into_errors();
  usmp::apps::explain_shortened_files();
  std::set_terminate(usmp::apps::end_without_memory);
  (void)std::atexit(usmp::apps::end_of_program);
  const int code = usmp::apps::run_and_report(argc, argv);
  usmp::apps::has_returned = true;
  return code;
}
