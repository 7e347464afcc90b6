// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Both pipes are served by one poll loop: a program that prints before it has read everything must not wait for us
// while we wait for it.
#include "usmp/process/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "usmp/support/characters.hpp"
#include "usmp/support/descriptor.hpp"
#include "usmp/support/ending_signals.hpp"
#include "usmp/support/error.hpp"

extern char** environ;

namespace usmp::process {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int look_around_ms = 50;  // how soon limits are noticed

[[noreturn]] void fail(const std::string& program, int error) {
  if (error == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorKind::usage, {program, {}, {}}, std::string("cannot be started: ") + std::strerror(error));
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Numbers 0 to 2 may be free if our own were closed; the program's are put there one after the other.
Descriptor above_standard(int descriptor) {
  Descriptor original(descriptor);
  if (descriptor < 0 || descriptor > STDERR_FILENO) return original;
  return Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Pipe make_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(program, errno);
  Pipe pipe{above_standard(ends[0]), above_standard(ends[1])};
  if (!pipe.read.is_open() || !pipe.write.is_open()) fail(program, errno);
  return pipe;
}

// While it lives, writing to a program that has gone is an error and no signal.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigset_t pipe = only_sigpipe();
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    const sigset_t pipe = only_sigpipe();
    const timespec at_once{};
    if (!was_pending_) {
      while (sigtimedwait(&pipe, nullptr, &at_once) == -1 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  static sigset_t only_sigpipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
  }

  sigset_t before_{};
  bool was_pending_ = false;
};

// While it lives, signals that would end this program wait, so that what it has started is ended first. Those that it
// ignores or has a handler for are left alone.
class TerminationHeld {
 public:
  TerminationHeld() {
    sigset_t held;
    sigemptyset(&held);
    sigemptyset(&watched_);
    for (const int signal : ending_signals) {
      struct sigaction action = {};
      if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
      sigaddset(&watched_, signal);
      if (action.sa_handler == SIG_DFL) sigaddset(&held, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  TerminationHeld(const TerminationHeld&) = delete;
  TerminationHeld& operator=(const TerminationHeld&) = delete;
  ~TerminationHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Also of a signal that was held back by others before.
  [[nodiscard]] bool is_pending() const {
    sigset_t pending;
    sigpending(&pending);
    sigandset(&pending, &pending, &watched_);
    return sigisemptyset(&pending) == 0;
  }

  // For the program that is started: it holds nothing back.
  [[nodiscard]] sigset_t without_held(sigset_t mask) const {
    for (const int signal : ending_signals) {
      if (sigismember(&watched_, signal) == 1) sigdelset(&mask, signal);
    }
    return mask;
  }

 private:
  sigset_t watched_{};
  sigset_t before_{};
};

// The pointers that exec takes, to texts that outlive it.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> variables = command.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool is_hidden = !command.without.empty() && std::string_view(*variable).starts_with(command.without);
    const bool is_replaced = std::any_of(command.environment.begin(), command.environment.end(),
                                         [&](const std::string& own) { return name_of(own) == name_of(*variable); });
    if (!is_hidden && !is_replaced) variables.emplace_back(*variable);
  }
  return variables;
}

// They are errors to usmp-plan; to other programs they are what ends them.
sigset_t signals_that_we_ignore() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigaddset(&set, SIGXFSZ);
  return set;
}

// What posix_spawn is told of files and attributes.
class SpawnSettings {
 public:
  SpawnSettings(const Command& command, const Descriptor& input, const Descriptor& output, const sigset_t& mask) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_adddup2(&actions_, input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output.get(), STDOUT_FILENO);
    if (command.joins_error) posix_spawn_file_actions_adddup2(&actions_, output.get(), STDERR_FILENO);
    if (command.directory) posix_spawn_file_actions_addchdir_np(&actions_, command.directory->c_str());
    posix_spawnattr_setsigmask(&attributes_, &mask);
    const sigset_t usual = signals_that_we_ignore();
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                              (command.leads_group ? POSIX_SPAWN_SETPGROUP : 0)));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Processes whose parent is this one.
std::set<pid_t> own_children() {
  std::set<pid_t> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), &::closedir);
  if (processes == nullptr) return children;
  const pid_t own = ::getpid();
  while (const dirent* entry = ::readdir(processes.get())) {
    const std::string_view name = entry->d_name;
    if (!std::ranges::all_of(name, is_digit)) continue;
    const Descriptor file(::open(("/proc/" + std::string(name) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};
    const ssize_t size = file.is_open() ? ::read(file.get(), text.data(), text.size() - 1) : 0;
    if (size <= 0) continue;
    // "12 (name) S 1 …": the name may hold anything.
    const std::string_view line(text.data(), static_cast<std::size_t>(size));
    const std::size_t end = line.rfind(')');
    if (end == std::string_view::npos || end + 4 >= line.size()) continue;
    if (std::strtol(line.data() + end + 4, nullptr, 10) == own) {
      children.insert(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
    }
  }
  return children;
}

// While it lives, what loses its parent among the descendants gets this process as its parent, whatever session or
// group it has made for itself.
class Orphanage {
 public:
  Orphanage() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    is_one_ = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    if (is_one_) others_ = own_children();
  }
  Orphanage(const Orphanage&) = delete;
  Orphanage& operator=(const Orphanage&) = delete;
  ~Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }

  // Ends all that have come meanwhile, with their children.
  void end_all() const {
    constexpr int most_rounds = 1000;  // each may start others before it is ended
    for (int i = 0; is_one_ && i < most_rounds; ++i) {
      std::set<pid_t> orphans = own_children();
      std::erase_if(orphans, [&](pid_t pid) { return others_.contains(pid); });
      if (orphans.empty()) return;
      for (const pid_t pid : orphans) ::kill(pid, SIGKILL);
      for (const pid_t pid : orphans) {
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
      }
    }
  }

 private:
  int before_ = 0;
  bool is_one_ = false;
  std::set<pid_t> others_;  // children that were there
};

// Never left behind running or as a zombie.
class Child {
 public:
  Child(const Command& command, const Descriptor& input, const Descriptor& output, const sigset_t& mask)
      : leads_group_(command.leads_group) {
    if (leads_group_) orphanage_.emplace();
    const SpawnSettings settings(command, input, output, mask);
    std::vector<std::string> words = {command.program};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    std::vector<std::string> variables = environment_of(command);
    const int error = posix_spawnp(&pid_, command.program.c_str(), settings.actions(), settings.attributes(),
                                   pointers_to(words).data(), pointers_to(variables).data());
    if (error != 0) {
      pid_ = -1;
      fail(command.program, error);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    ::kill(leads_group_ ? -pid_ : pid_, SIGKILL);
    wait(0);
    if (orphanage_) orphanage_->end_all();
  }

  // Its status once it has ended; nothing if it runs on and `flags` are WNOHANG.
  std::optional<int> wait(int flags) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(pid_, &status, flags);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) return std::nullopt;
    pid_ = -1;
    return status;
  }

 private:
  std::optional<Orphanage> orphanage_;
  pid_t pid_ = -1;
  bool leads_group_ = false;
};

class Conversation {
 public:
  Conversation(const Command& command, std::string_view input, const Limits& limits)
      : input_(input), limits_(limits), start_(Clock::now()) {
    Pipe in = make_pipe(command.program);
    Pipe out = make_pipe(command.program);
    child_.emplace(command, in.read, out.write, termination_.without_held(sigpipe_.before()));
    to_ = std::move(in.write);
    from_ = std::move(out.read);
    for (const Descriptor* end : {&to_, &from_}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    if (input_.empty()) to_.close();
  }

  Result run() {
    while (from_.is_open()) {
      if (const auto end = over_limit()) return ended(*end);
      exchange();
    }
    to_.close();
    for (;;) {
      if (const auto status = child_->wait(WNOHANG)) {
        // Ctrl-C on a terminal ends the program too.
        if (*status != 0 && is_interrupted()) return ended(End::interrupted);
        result_.status = *status;
        return std::move(result_);
      }
      if (const auto end = over_limit()) return ended(*end);
      ::poll(nullptr, 0, look_around_ms);
    }
  }

 private:
  [[nodiscard]] bool is_interrupted() const {
    return (limits_.interrupted != nullptr && limits_.interrupted->load()) || termination_.is_pending();
  }

  [[nodiscard]] std::optional<End> over_limit() const {
    if (result_.output.size() > limits_.output) return End::too_much_output;
    if (is_interrupted()) return End::interrupted;
    if (limits_.time && Clock::now() - start_ >= *limits_.time) return End::time_limit;
    return std::nullopt;
  }

  Result ended(End end) {
    child_.reset();
    return {.end = end, .status = 0, .output = {}};
  }

  void exchange() {
    std::array<pollfd, 2> ends = {
        {{from_.get(), POLLIN, 0}, {to_.get(), POLLOUT, 0}}};  // a negative one is passed over
    if (::poll(ends.data(), ends.size(), look_around_ms) <= 0) return;
    if (ends[0].revents != 0) receive();
    if (ends[1].revents != 0) send();
  }

  void receive() {
    std::array<char, 1 << 16> block;
    const ssize_t count = ::read(from_.get(), block.data(), block.size());
    if (count > 0) {
      result_.output.append(block.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      from_.close();
    }
  }

  void send() {
    const ssize_t count = ::write(to_.get(), input_.data(), input_.size());
    if (count >= 0) {
      input_.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      input_ = {};  // it has closed its input: it knows enough
    }
    if (input_.empty()) to_.close();
  }

  SigpipeBlocked sigpipe_;
  TerminationHeld termination_;
  std::string_view input_;
  Limits limits_;
  Clock::time_point start_;
  std::optional<Child> child_;
  Descriptor to_;
  Descriptor from_;
  Result result_;
};

}  // namespace

Result run(const Command& command, std::string_view input, const Limits& limits) {
  return Conversation(command, input, limits).run();
}

std::string status_text(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace usmp::process
