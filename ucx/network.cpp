#include "ucx/network.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::ucx {
namespace {

/// The header in front of an address that a rank tells the others.
struct Heading {
  std::uint32_t length = 0, number = 0;
  std::int64_t pid = 0;
  std::array<char, 64> host{};
};

Heading own_heading(std::size_t length, int number) {
  Heading heading{static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(number), ::getpid()};
  ::gethostname(heading.host.data(), heading.host.size() - 1);
  return heading;
}

}  // namespace

UcxNetwork::UcxNetwork(Worker& worker, int me, int ranks)
    : worker_(worker), me_(me), number_(worker.take_number()), known_(static_cast<std::size_t>(ranks)) {}

std::string UcxNetwork::connect(MPI_Comm comm, std::span<const int> ranks) {
  const bool knows_all = std::ranges::all_of(ranks, [&](int rank) { return known(rank).peer != nullptr; });
  std::array<int, 2> agreed{knows_all ? 0 : 1, mpi::narrow(static_cast<std::int64_t>(worker_.address().size()))};
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, agreed.data(), 2, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (agreed[0] != 0) exchange(comm, ranks, agreed[1]);
  // Whether processes reach each other at all is found out here, on one neighbour, while all can still refuse.
  const auto self = std::ranges::find(ranks, me_);
  const int next = self + 1 == ranks.end() ? ranks.front() : *(self + 1);
  try {
    if (next != me_) static_cast<void>(endpoint(next));
    return {};
  } catch (const Error& error) {
    return fmt::format("rank {} of the communicator is not reached: {}", std::ranges::find(ranks, next) - ranks.begin(),
                       error.what());
  }
}

void UcxNetwork::exchange(MPI_Comm comm, std::span<const int> ranks, int longest) {
  const std::string& address = worker_.address();
  const std::size_t card = sizeof(Heading) + static_cast<std::size_t>(longest);
  std::vector<char> mine(card), all(card * ranks.size());
  const Heading heading = own_heading(address.size(), number_);
  std::memcpy(mine.data(), &heading, sizeof heading);
  std::ranges::copy(address, mine.begin() + sizeof heading);
  const int bytes = mpi::narrow(static_cast<std::int64_t>(card));
  mpi::check(mpi::api.Allgather(mine.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, comm), "MPI_Allgather");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Heading theirs{};
    std::memcpy(&theirs, &all[i * card], sizeof theirs);
    const std::string where(&all[i * card + sizeof theirs], theirs.length);
    Worker::Peer& peer = worker_.peer(where);
    peer.second.is_far = theirs.host != heading.host;
    peer.second.process = fmt::format("process {} on {}", theirs.pid, theirs.host.data());
    known(ranks[i]) = {&peer, static_cast<int>(theirs.number)};
  }
  worker_.connected(comm);
}

ucp_ep_h UcxNetwork::endpoint(int rank) { return worker_.endpoint(*known(rank).peer); }

ucp_tag_t UcxNetwork::tag_to(int rank, int context) const {
  return tag_of(known_[static_cast<std::size_t>(rank)].number, me_, context, 0);
}
ucp_tag_t UcxNetwork::tag_from(int rank, int context) const { return tag_of(number_, rank, context, 0); }

}  // namespace tutti::ucx
