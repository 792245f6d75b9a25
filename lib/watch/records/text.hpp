#pragma once
// Records in words, for reports and for `tutti ps`. Of memory that another process writes: no value makes them throw.

#include <string>
#include <string_view>
#include <vector>

#include "lib/watch/records/record.hpp"

namespace tutti::records {

[[nodiscard]] std::string to_string(Action action);
[[nodiscard]] std::string to_string(Manner manner);
[[nodiscard]] std::string to_string(State state);

/// "allreduce #41 of 1000 fp64, sum (ring)", "nonblocking broadcast #3 of 8 int32 from rank 2 (binomial)",
/// "messages: 2, of 4096 bytes, the first with rank 3"; of a program that called MPI "MPI_Ibcast #3 of 8 MPI_INT from
/// rank 2 (binomial)".
[[nodiscard]] std::string in_words(const Signature& call);
/// "allreduce #41", "MPI_Allreduce #41".
[[nodiscard]] std::string name_in_words(const Signature& call);
/// "20 bytes"; of a program that called MPI "5 MPI_INT".
[[nodiscard]] std::string bytes_in_words(const Signature& call, std::int64_t bytes);
/// "communicator 3 (8 ranks)"; with the name that the program has given it, if this process knows that.
[[nodiscard]] std::string communicator_in_words(const Signature& call);
/// "waits at step 3 for a message from rank 5"; empty: it waits for nothing.
[[nodiscard]] std::string in_words(const Wait& wait);
/// "12 ms", "3.5 s", "93 s", "12 min", "5 h".
[[nodiscard]] std::string duration_in_words(std::int64_t nanoseconds);
/// "0, 2-5, 7": of numbers in order.
[[nodiscard]] std::string ranks_in_words(const std::vector<int>& ranks);
/// The names of the two sides of a comparison.
struct Sides {
  std::string_view mine = "here", theirs = "there";
};
/// "type fp64 here, fp32 there; operation sum here, max there": the arguments in which two calls differ that should
/// match. Empty: in none that a record has.
[[nodiscard]] std::string differences(const Signature& mine, const Signature& theirs, const Sides& sides = {});

}  // namespace tutti::records
