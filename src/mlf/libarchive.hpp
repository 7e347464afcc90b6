// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the tar reader and writer share of libarchive: owners, its error text, and independence from the locale.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>

namespace usmp::mlf {

struct ReadDeleter {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
struct WriteDeleter {
  void operator()(archive* handle) const {
    archive_write_close(handle);  // which archive_write_free leaves out after a fault, with what it would free
    archive_write_free(handle);
  }
};
struct EntryDeleter {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using ReadHandle = std::unique_ptr<archive, ReadDeleter>;
using WriteHandle = std::unique_ptr<archive, WriteDeleter>;
using EntryHandle = std::unique_ptr<archive_entry, EntryDeleter>;

// What libarchive says went wrong, as this program words it. Throws std::bad_alloc if it is that memory ran out, which
// says nothing about the archive.
[[nodiscard]] std::string fault_of(archive* handle);

// libarchive ends the whole program where it cannot get a few bytes for a name. So before it is asked for the next
// member there must be more memory than that. Throws std::bad_alloc.
inline void require_headroom() {
  constexpr std::size_t headroom_bytes = std::size_t{1} << 20;
  const std::unique_ptr<void, decltype(&std::free)> block(std::malloc(headroom_bytes), &std::free);
  if (!block) throw std::bad_alloc();
}

// libarchive converts member names between the thread's locale and UTF-8. In the "C" locale it cannot, and keeps the
// bytes of every name as they stand: the same names on every machine.
class ScopedCLocale {
 public:
  ScopedCLocale() : locale_(newlocale(LC_ALL_MASK, "C", nullptr)), previous_(uselocale(locale_)) {}
  ~ScopedCLocale() {
    uselocale(previous_);
    if (locale_ != nullptr) freelocale(locale_);
  }
  ScopedCLocale(const ScopedCLocale&) = delete;
  ScopedCLocale& operator=(const ScopedCLocale&) = delete;

 private:
  locale_t locale_;
  locale_t previous_;
};

}  // namespace usmp::mlf
