#pragma once
// Checks that say on every rank what came of some calls of MPI, and judge nothing: what they say over plain MPI is
// compared with what they say when the library is preloaded.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::test {

/// The name of an error's class, as TRUNCATE.
std::string name_of(int code);

/// Bytes with a pattern of this rank's own, and room before the first one, for what reaches there.
class Room {
 public:
  static constexpr std::size_t before = 4096, behind = 12288;

  explicit Room(std::uint32_t seed);
  template <class T = std::byte>
  [[nodiscard]] T* at(std::ptrdiff_t byte = 0) {
    return reinterpret_cast<T*>(bytes_.data() + before + byte);
  }
  [[nodiscard]] std::string hash() const;

 private:
  std::vector<std::byte> bytes_;
};

/// What a check has at hand. Ranks say their words in any order; rank 0 prints those of all.
struct Check {
  MPI_Comm comm = MPI_COMM_NULL;  ///< A duplicate of the world for this check alone. Its errors return.
  int rank = 0, ranks = 1;
  bool keeps_comm = false;  ///< The communicator is not freed, as there may be messages that nobody takes.
  std::string words{};

  void say(std::string_view what, std::string_view word) { words.append(what).append("=").append(word).append(" "); }
  void number(std::string_view what, long long value) { say(what, std::to_string(value)); }
  void code(std::string_view what, int code) { say(what, name_of(code)); }
  /// The code of a call, and the bytes that it left.
  void result(std::string_view what, int code, const Room& room) { say(what, name_of(code) + ":" + room.hash()); }
  /// Whether collectives of some kinds do on the communicator what they should.
  void works(std::string_view what, MPI_Comm on);
};

/// The checks of one theme, by name and in order.
class Checks {
 public:
  struct One {
    std::string name;
    std::function<void(Check&)> run;
    int least_ranks;
  };
  void add(std::string name, std::function<void(Check&)> run, int least_ranks = 1) {
    all_.push_back({std::move(name), std::move(run), least_ranks});
  }
  [[nodiscard]] const std::vector<One>& all() const { return all_; }

 private:
  std::vector<One> all_;
};

// The themes.
void add_datatypes(Checks& checks);
void add_overlaps(Checks& checks);
void add_errors(Checks& checks);
void add_truncation(Checks& checks);
void add_nonblocking(Checks& checks);
void add_persistent(Checks& checks);
void add_handles(Checks& checks);
void add_operations(Checks& checks);
void add_user_operations(Checks& checks);
void add_communicators(Checks& checks);
void add_attributes(Checks& checks);
void add_neighbours(Checks& checks);

/// Why plain MPI is not asked: it crashes there, or hangs. Null: it is.
const char* why_left_out(std::string_view theme, std::string_view check);

}  // namespace tutti::test
