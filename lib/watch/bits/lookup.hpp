#pragma once
// Finds calls of one run in the record of another.

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "lib/watch/bits/reader.hpp"

namespace tutti::bits {

/// By what the calls of a rank are found again in another run of the program.
struct Key {
  std::uint64_t communicator = 0;  ///< key_of() its record.
  std::uint64_t number = 0;
  bool are_messages = false, is_over = false;
  friend auto operator<=>(const Key&, const Key&) = default;
};
[[nodiscard]] std::uint64_t key_of(const CommunicatorRecord& communicator);
[[nodiscard]] Key key_of(const CallRecord& call, const CommunicatorRecord& communicator);

/// Reads a file as far as it has to, and remembers records that come before the one looked for: those of calls that
/// were under way at the same time, which may end in another order. It remembers so many at most, and forgets the
/// oldest first.
class Lookup {
 public:
  /// Throws FileError.
  explicit Lookup(std::string path) : reader_(std::move(path)) {}

  [[nodiscard]] const Reader& reader() const { return reader_; }
  /// Once for each record; nothing: the file has none. Throws FileError for a damaged file.
  [[nodiscard]] std::optional<StoredCall> find(const Key& key);
  /// Whether records were forgotten, so that one that was not found may be in the file.
  [[nodiscard]] bool has_forgotten() const { return forgotten_ > 0; }
  /// Reads the rest. How many calls began that nobody has looked for.
  [[nodiscard]] std::uint64_t left();

 private:
  std::optional<Key> read_one();

  Reader reader_;
  std::map<Key, StoredCall> ahead_{};
  std::deque<Key> order_{};
  std::uint64_t forgotten_ = 0;
};

}  // namespace tutti::bits
