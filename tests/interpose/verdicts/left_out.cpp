// Where plain MPI crashes or hangs, there is nothing to compare with.
#include <algorithm>
#include <array>
#include <string>

#include "tests/interpose/verdicts/verdicts.hpp"
#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

/// A theme's checks whose names begin and end so, in the MPI whose description has that text. An end without
/// ".nonblocking" stands for both forms.
struct LeftOut {
  std::string_view mpi, theme, begin, end;
  const char* why;
};

constexpr std::string_view open_mpi = "Open MPI v4", mpich = "MPICH Version:\t4.0";
constexpr const char* one_alone = "one rank alone finds an error, and the others wait";
constexpr const char* root_alone = "only the root finds an error, and the others wait";
constexpr std::array all{
    LeftOut{open_mpi, "datatypes", "negative_extent", "", "it hangs at times, and its Ialltoallv is wrong at times"},
    LeftOut{open_mpi, "datatypes", "zero_size", ".received", "it hangs: only one side looks whether there are bytes"},
    LeftOut{open_mpi, "datatypes", "empty_struct", ".received", "the same"},
    LeftOut{open_mpi, "datatypes", "zero_size", ".sent", "messages that nobody receives reach a later communicator"},
    LeftOut{open_mpi, "datatypes", "empty_struct", ".sent", "the same"},
    LeftOut{open_mpi, "datatypes", "zero_size", ".both", "it hangs at times, of three ranks"},
    LeftOut{open_mpi, "datatypes", "empty_struct", ".both", "the same"},
    LeftOut{open_mpi, "overlaps", "Reduce.", ".alias", root_alone},
    LeftOut{open_mpi, "overlaps", "Reduce.", ".alias_one_element", root_alone},
    LeftOut{open_mpi, "overlaps", "Reduce.", ".alias_own_block", root_alone},
    LeftOut{open_mpi, "overlaps", "Allreduce.", ".alias_on_last", "one rank leaves the call, and the others wait"},
    LeftOut{open_mpi, "overlaps", "Allreduce.", ".alias_own_block", "the same"},
    LeftOut{open_mpi, "errors", "", ".no_sent_buffer", "it reads at a null pointer"},
    LeftOut{open_mpi, "errors", "", ".no_received_buffer", "it writes at a null pointer"},
    LeftOut{open_mpi, "errors", "Exscan.", "in_place", "it writes at MPI_IN_PLACE"},
    LeftOut{open_mpi, "errors", "Allgather.", "no_communicator", "it crashes"},
    LeftOut{open_mpi, "errors", "Allgatherv.", "below_0.nonblocking", "it crashes"},
    LeftOut{open_mpi, "errors", "Reduce.", "in_place", root_alone},
    LeftOut{open_mpi, "errors", "Gather", ".sent_in_place", root_alone},
    LeftOut{open_mpi, "errors", "Gather", "received_below_0.nonblocking", root_alone},
    LeftOut{open_mpi, "errors", "Gather", ".no_received_type.nonblocking", root_alone},
    LeftOut{open_mpi, "errors", "Gather", ".received_in_place.nonblocking", root_alone},
    LeftOut{open_mpi, "errors", "Scatter", "_in_place.nonblocking", root_alone},
    LeftOut{open_mpi, "errors", "Scatter", ".sent_in_place", root_alone},
    LeftOut{open_mpi, "errors", "Scatter", "sent_below_0", root_alone},
    LeftOut{open_mpi, "errors", "Scatter", ".uncommitted_sent", root_alone},
    LeftOut{open_mpi, "errors", "Scatterv", ".no_sent_type", root_alone},
    LeftOut{open_mpi, "errors", "Scatterv", ".uncommitted_but_empty.nonblocking", root_alone},
    LeftOut{open_mpi, "truncation", "All", ".last_sends_more", "it hangs"},
    LeftOut{open_mpi, "truncation", "Alltoall", ".last_sends_less", "it hangs"},
    LeftOut{open_mpi, "truncation", "Allreduce", ".last_gives_more", "it hangs"},
    LeftOut{open_mpi, "truncation", "Reduce", ".last_gives_more", "it hangs"},
    LeftOut{open_mpi, "truncation", "Reduce.", ".last_gives_less", "it hangs"},
    LeftOut{open_mpi, "handles", "", ".freed_communicator",
            "many calls crash or hang when their communicator is freed"},
    LeftOut{open_mpi, "handles", "", "freed_communicator_used_again", "the same"},
    LeftOut{open_mpi, "handles", "", "all_freed", "the same"},
    LeftOut{mpich, "overlaps", "", ".alias", one_alone},
    LeftOut{mpich, "overlaps", "", ".alias_one_element", one_alone},
    LeftOut{mpich, "overlaps", "", ".alias_own_block", one_alone},
    LeftOut{mpich, "overlaps", "", ".alias_on_last", one_alone},
    LeftOut{mpich, "errors", "Bcast.", ".received_in_place", "it reads at MPI_IN_PLACE"},
    LeftOut{mpich, "errors", "Reduce", ".sent_below_0", "it crashes"},
    LeftOut{mpich, "errors", "Allreduce.", ".sent_below_0", "it crashes"},
    LeftOut{mpich, "errors", "Scan.", ".sent_below_0", "it crashes"},
    LeftOut{mpich, "errors", "Exscan.", ".sent_below_0", "it crashes"},
    LeftOut{mpich, "errors", "Reduce.", "_in_place", one_alone},
    LeftOut{mpich, "errors", "Reduce.", ".no_received_buffer.nonblocking", one_alone},
    LeftOut{mpich, "errors", "Gather", "received_below_0.nonblocking", one_alone},
    LeftOut{mpich, "errors", "Gather", ".no_received_type.nonblocking", one_alone},
    LeftOut{mpich, "errors", "Gather", ".uncommitted_received.nonblocking", one_alone},
    LeftOut{mpich, "errors", "Gather", ".no_received_buffer.nonblocking", one_alone},
    LeftOut{mpich, "errors", "Gather", "_in_place.nonblocking", one_alone},
    LeftOut{mpich, "errors", "Gather", ".sent_in_place", "it reads at MPI_IN_PLACE"},
    LeftOut{mpich, "errors", "Gather", ".both_in_place", "it reads at MPI_IN_PLACE"},
    LeftOut{mpich, "errors", "Scatter", "sent_below_0", one_alone},
    LeftOut{mpich, "errors", "Scatter", ".no_sent_type", one_alone},
    LeftOut{mpich, "errors", "Scatter", ".uncommitted_sent", one_alone},
    LeftOut{mpich, "errors", "Scatter", "_in_place", one_alone},
    LeftOut{mpich, "errors", "Scatter", ".no_sent_buffer", one_alone},
    LeftOut{mpich, "truncation", "All", ".last_sends_more", "it hangs"},
    LeftOut{mpich, "truncation", "Allreduce", ".last_gives_less", "it hangs"},
};

bool has_end(std::string_view check, std::string_view end) {
  constexpr std::string_view nonblocking = ".nonblocking";
  if (!end.ends_with(nonblocking) && check.ends_with(nonblocking)) check.remove_suffix(nonblocking.size());
  return check.ends_with(end);
}

}  // namespace

const char* why_left_out(std::string_view theme, std::string_view check) {
  const auto* const found = std::ranges::find_if(all, [&](const LeftOut& one) {
    return theme == one.theme && check.starts_with(one.begin) && has_end(check, one.end) && library_is(one.mpi);
  });
  return found == all.end() ? nullptr : found->why;
}

}  // namespace tutti::test
