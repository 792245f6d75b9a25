#pragma once
// Whether a process of this node has ended, asked cheaply and surely: its number may be another's by then.

#include "lib/core/memory/unique_handle.hpp"
#include "lib/watch/records/journal.hpp"

namespace tutti::records {

class ProcessWatch {
 public:
  /// Takes the process of a journal; it watches nothing if the system does not let it, or if its numbers count in
  /// another PID namespace.
  explicit ProcessWatch(const Identity& identity);

  /// A system call. False also if nothing is watched.
  [[nodiscard]] bool has_ended() const;
  /// The signal that ended it; 0: none, or the system does not tell any more.
  [[nodiscard]] int signal() const;

 private:
  struct Traits {
    using Handle = int;
    static Handle null() { return -1; }
    static void destroy(Handle& descriptor) noexcept;
  };
  pid_t pid_;
  bool was_gone_ = false;  ///< When it was opened.
  UniqueHandle<Traits> descriptor_;
};

}  // namespace tutti::records
