#pragma once
// Finds calls of one run in the record of another.

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
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
///
/// Calls of a communicator are numbered from 1 without gaps, so a first reading of the whole file, which counts them,
/// knows which calls there are: nobody reads on, and forgets, for one that is not there.
class Lookup {
 public:
  /// Reads the file once. Throws FileError if it is none of bits; damage further on is found when it is reached.
  explicit Lookup(const std::string& path);

  [[nodiscard]] const Reader& reader() const { return reader_; }
  /// Whether the file has this record, or had it before it was damaged or ended early.
  [[nodiscard]] bool has(const Key& key) const;
  /// Whether the file ends as the program did.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Once for each record; nothing: the file has none, or it was forgotten. Throws FileError for a damaged file.
  [[nodiscard]] std::optional<StoredCall> find(const Key& key);
  /// Calls that nobody has looked for yet, or that were forgotten before. Reads the rest.
  [[nodiscard]] std::uint64_t left();

 private:
  void count_calls();
  std::optional<Key> read_one();
  void forget_oldest();

  Reader reader_;
  bool is_whole_ = false, is_damaged_ = false;
  std::map<Key, std::uint64_t> calls_{};  ///< By communicator, its messages apart.
  std::set<Key> never_over_{};            ///< Calls without a record of their end.
  std::map<Key, StoredCall> ahead_{};
  std::deque<Key> order_{};
  std::uint64_t forgotten_ = 0;  ///< Calls.
};

}  // namespace tutti::bits
