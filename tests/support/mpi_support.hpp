#pragma once
// Common parts of the suites that run on several ranks. They check with EXPECT, never with ASSERT: a rank that left a
// test early would leave the others waiting for its messages.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/tutti.hpp"

namespace tutti::test {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// `call` must throw a Kind whose text has all of `parts`.
template <class Kind, class Call>
void expect_throw(Call call, std::initializer_list<std::string> parts) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Kind& error) {
    const std::string_view text{error.what()};
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string_view::npos) << "'" << part << "' is not in: " << text;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of exception: " << error.what();
  }
}

/// Sets an environment variable for a while.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

/// Rank 0's bytes must be those of every rank.
inline void expect_same_bytes(const void* data, std::size_t bytes) {
  std::vector<char> theirs(bytes);
  if (world_rank() == 0 && bytes > 0) std::memcpy(theirs.data(), data, bytes);
  MPI_Bcast(theirs.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_TRUE(bytes == 0 || std::memcmp(theirs.data(), data, bytes) == 0) << "other bits than on rank 0";
}

/// The names to give in Options: every algorithm's, and none for Tutti's own choice.
inline std::vector<std::string_view> algorithm_choices() {
  std::vector<std::string_view> names{""};
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == Collective::allreduce) names.push_back(algorithm->name);
  return names;
}

/// The addend of rank `rank` in the sum number `number`; all differ, so that a mixed-up message shows.
inline std::int64_t addend(int rank, std::int64_t number, std::int64_t index) {
  return std::int64_t{rank + 1} * 1'000'003 + number * 1'009 + index;
}
inline void fill_addends(std::vector<std::int64_t>& data, int rank, std::int64_t number) {
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = addend(rank, number, static_cast<std::int64_t>(i));
}
inline std::vector<std::int64_t> addends(std::size_t count, int rank, std::int64_t number) {
  std::vector<std::int64_t> data(count);
  fill_addends(data, rank, number);
  return data;
}
/// Whether `sum` holds the sum number `number` over `size` ranks.
[[nodiscard]] inline bool is_sum(const std::vector<std::int64_t>& sum, int size, std::int64_t number) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::int64_t expected = 0;
    for (int rank = 0; rank < size; ++rank)
      expected += addend(rank, number, static_cast<std::int64_t>(i));
    if (sum[i] != expected) return false;
  }
  return true;
}

/// A valid allreduce, to see that a communicator works.
inline void expect_works(const Communicator& comm) {
  std::vector<std::int64_t> data = addends(5, comm.rank().value(), 7);
  allreduce(std::span{data}, Op::sum, comm);
  EXPECT_TRUE(is_sum(data, comm.size(), 7));
}

}  // namespace tutti::test
