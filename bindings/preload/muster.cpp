#include "bindings/preload/muster.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/records/text.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;
using Clock = std::chrono::steady_clock;

/// The tag on MPI_COMM_WORLD. Only rank 0 may have messages of this tag in its way that nobody takes: if it has no
/// library.
constexpr int tag = 32749;

enum class Word : std::uint64_t {
  nothing,
  here = 0x7475747469000001,
  all_are_here,
  gives_up,
  agreed,
  some_are_missing
};

// Ranks leave MPI_Init together, or nearly so. Rank 0 answers before the others give it up.
constexpr std::chrono::seconds patience_of_first{10}, patience_of_others{20};

/// A word that is to come from one rank. It stays where it is for ever if it does not come, so that a late one is no
/// message of the program's.
struct Awaited {
  std::uint64_t word = 0;
  MPI_Request request = MPI_REQUEST_NULL;

  explicit Awaited(int from) {
    check(api.Irecv(&word, 1, MPI_UINT64_T, from, tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
  }
  [[nodiscard]] bool has_come() {
    int is_over = 0;
    check(api.Test(&request, &is_over, MPI_STATUS_IGNORE), "MPI_Test");
    return is_over != 0;
  }
};

void send(int to, Word word) {
  const auto number = static_cast<std::uint64_t>(word);
  MPI_Request request = MPI_REQUEST_NULL;
  check(api.Isend(&number, 1, MPI_UINT64_T, to, tag, MPI_COMM_WORLD, &request), "MPI_Isend");
  check(api.Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

/// One from each of some ranks: Word::nothing if it has not come in that time.
std::vector<Word> words_of(const std::vector<int>& ranks, Clock::duration patience) {
  const Clock::time_point begin = Clock::now();
  std::vector<std::unique_ptr<Awaited>> all;
  all.reserve(ranks.size());
  for (const int rank : ranks)
    all.push_back(std::make_unique<Awaited>(rank));
  const auto have_come = [&] { return std::ranges::all_of(all, [](const auto& each) { return each->has_come(); }); };
  while (!have_come() && Clock::now() - begin < patience)
    ::sched_yield();
  std::vector<Word> words;
  for (auto& each : all) {
    words.push_back(each->has_come() ? static_cast<Word>(each->word) : Word::nothing);
    if (words.back() == Word::nothing) static_cast<void>(each.release());
  }
  return words;
}

/// The ranks, of these, that said so.
std::vector<int> that_said(Word word, const std::vector<int>& ranks, const std::vector<Word>& words) {
  std::vector<int> found;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (words[i] == word) found.push_back(ranks[i]);
  return found;
}

void tell(const std::string& why) { log::report("", "no call is served: " + why); }

bool at_first(int size) {
  std::vector<int> others;
  for (int rank = 1; rank < size; ++rank)
    others.push_back(rank);
  const std::vector<Word> first = words_of(others, patience_of_first);
  const std::vector<int> here = that_said(Word::here, others, first), missing = that_said(Word::nothing, others, first);
  for (const int rank : here)
    send(rank, missing.empty() ? Word::all_are_here : Word::some_are_missing);
  if (!missing.empty()) {
    for (const int rank : missing)
      new Awaited(rank);  // should it come, it will say two words
    tell(fmt::format("{} of {} ranks run without the preloaded library: {}; is its file on every node?", missing.size(),
                     size, records::ranks_in_words(missing)));
    return false;
  }
  const std::vector<int> agree = that_said(Word::agreed, here, words_of(here, Clock::duration::max()));
  const bool do_all_agree = agree.size() == here.size();
  for (const int rank : agree)
    send(rank, do_all_agree ? Word::agreed : Word::some_are_missing);
  if (!do_all_agree) tell("some ranks had come from MPI_Init much earlier than rank 0");
  return do_all_agree;
}

/// Whether this is the first rank of its node, by the variables of launchers.
bool is_first_of_node() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* const rank = std::getenv(name)) return std::string_view{rank} == "0";
  return true;
}

bool at_others(int rank) {
  send(0, Word::here);
  const Word first = words_of({0}, patience_of_others).front();
  if (first == Word::nothing) {
    send(0, Word::gives_up);
    if (rank == 1 || is_first_of_node()) tell("rank 0 does not answer: does it run without the preloaded library?");
    return false;
  }
  if (first != Word::all_are_here) return false;
  send(0, Word::agreed);
  return words_of({0}, Clock::duration::max()).front() == Word::agreed;
}

}  // namespace

bool have_all_the_library() {
  const int rank = mpi::rank_in(MPI_COMM_WORLD);
  return rank == 0 ? at_first(mpi::ranks_in(MPI_COMM_WORLD)) : at_others(rank);
}

}  // namespace tutti::interpose
