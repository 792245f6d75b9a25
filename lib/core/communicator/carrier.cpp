#include "lib/core/communicator/carrier.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "lib/core/communicator/agreed_rules.hpp"
#include "lib/core/communicator/pretended_nodes.hpp"
#include "lib/core/communicator/setting_values.hpp"
#include "lib/core/communicator/shared_text.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "lib/core/transport/mpi/mpi_bootstrap.hpp"

namespace tutti::mpi {
namespace {

constexpr int bits_per_word = 64;
constexpr std::int64_t promised_tag_bound = 32767;  // MPI 4.1, section 9.1.2

/// The highest tag that all ranks can use. Throws ArgumentError on all ranks if the environment of one has a value of
/// TUTTI_TEST_TAG_UB that is not allowed.
std::int64_t agreed_tag_bound(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  check(api.Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&attribute), &found), "MPI_Comm_get_attr");
  std::int64_t bound = found != 0 ? *static_cast<int*>(attribute) : promised_tag_bound;
  const int rank = rank_in(comm);
  std::string refusal;
  try {
    constexpr const char* lower = "TUTTI_TEST_TAG_UB";
    if (const char* const text = std::getenv(lower); text != nullptr)
      bound = std::min(bound, read_number(source_of(lower), text, promised_tag_bound, std::numeric_limits<int>::max()));
  } catch (const ArgumentError& error) {
    refusal = fmt::format("rank {}: {}", rank, error.what());
    bound = -1 - rank;  // no bound is negative: the least of all says that, and where, one is refused
  }
  check(api.Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT64_T, MPI_MIN, comm), "MPI_Allreduce");
  if (bound < 0) throw ArgumentError(detail::shared_text(comm, static_cast<int>(-1 - bound), std::move(refusal)));
  return bound;
}

/// Processors that any of the ranks of a node may run on.
int processors_of(MPI_Comm node) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  std::array<unsigned char, sizeof mine> mask{};
  std::copy_n(reinterpret_cast<const unsigned char*>(&mine), sizeof mine, mask.begin());
  check(api.Allreduce(MPI_IN_PLACE, mask.data(), narrow(mask.size()), MPI_UNSIGNED_CHAR, MPI_BOR, node),
        "MPI_Allreduce");
  return std::accumulate(mask.begin(), mask.end(), 0,
                         [](int sum, unsigned char byte) { return sum + std::popcount(byte); });
}

/// Exchanges the entries of all ranks of a node; returns them by rank there.
std::vector<Local> meet_locals(MPI_Comm node, const Local& mine) {
  std::vector<Local> locals(static_cast<std::size_t>(ranks_in(node)));
  check(api.Allgather(&mine, 2, MPI_INT, locals.data(), 2, MPI_INT, node), "MPI_Allgather");
  return locals;
}

}  // namespace

Carrier::Carrier(MPI_Comm comm) : comm_(with_same_ranks(comm)) {
  check(api.Comm_set_errhandler(comm_.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  tags_ = TagLayout::within(agreed_tag_bound(comm_.get()));
  std::fill_n(free_contexts_.begin(), tags_.contexts() / bits_per_word, ~std::uint64_t{0});
  const int last = tags_.communicators();
  free_contexts_[static_cast<std::size_t>(last / bits_per_word)] &= ~(std::uint64_t{1} << (last % bits_per_word));
  mailbox_.emplace(comm_.get(), tags_.channel());
  discover_nodes();
  find_rules();
}

void Carrier::find_rules() {
  std::map<int, int> on_node;
  for (const Home& home : homes_)
    ++on_node[home.node];
  int most = 0;
  for (const auto& [node, ranks] : on_node)
    most = std::max(most, ranks);
  rules_ = agree_on_rules(comm_.get(), "", static_cast<int>(on_node.size()), most);
}

void Carrier::discover_nodes() {
  const int rank = rank_in(comm_.get()), size = ranks_in(comm_.get());
  UniqueComm node;
  check(api.Comm_split_type(comm_.get(), MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node.receive()),
        "MPI_Comm_split_type");
  const int node_size = ranks_in(node.get()), processors = processors_of(node.get());
  outnumbers_processors_ = node_size > processors;
  is_crowded_ = outnumbers_processors_ || user_wants_yields();
  shares_processors_ = node_size >= 2 * processors;
  shares_in_pairs_ = outnumbers_processors_ && node_size <= 2 * processors;
  mpi_yields_ = is_crowded_ && yields_when_idle();
  pretend_nodes(comm_.get(), node);
  const std::optional<int> pretended = pretended_socket(comm_.get());
  const std::vector<Local> locals = meet_locals(node.get(), {rank, pretended ? *pretended : own_socket()});
  const Home home{locals.front().rank, first_on_socket(locals, rank)};
  homes_.resize(static_cast<std::size_t>(size));
  check(api.Allgather(&home, 2, MPI_INT, homes_.data(), 2, MPI_INT, comm_.get()), "MPI_Allgather");
  locals_.assign(homes_.size(), -1);
  share_memory(node.get(), locals);
}

void Carrier::share_memory(MPI_Comm node, const std::vector<Local>& locals) {
  fabric_ = std::make_unique<shm::Fabric>(mpi::MpiBootstrap{node}, tags_.contexts());
  const int me = rank_in(node);
  for (int local = 0; local < static_cast<int>(locals.size()); ++local)
    if (fabric_->joins(me, local))
      locals_[static_cast<std::size_t>(locals[static_cast<std::size_t>(local)].rank)] = local;
}

Network& Carrier::network(const NetworkDriver& driver) {
  std::unique_ptr<Network>& network = networks_[&driver];
  if (network == nullptr) network = driver.open(comm_.get());
  return *network;
}

std::vector<int> Carrier::ranks_of(MPI_Comm comm) const {
  std::vector<int> here = translated_ranks(comm, comm_.get());
  if (std::ranges::find(here, MPI_UNDEFINED) != here.end()) return {};
  return here;
}

int Carrier::take_context(const FreeContexts& agreed) {
  const auto* const word = std::ranges::find_if(agreed, [](std::uint64_t bits) { return bits != 0; });
  if (word == agreed.end())
    throw ArgumentError(fmt::format(
        "tutti::Communicator: {} communicators are alive, which is all that this MPI's tags allow; close some",
        tags_.communicators()));
  const auto index = static_cast<std::size_t>(word - agreed.begin());
  const int bit = std::countr_zero(*word);
  free_contexts_[index] &= ~(std::uint64_t{1} << bit);
  return static_cast<int>(index) * bits_per_word + bit;
}

void Carrier::give_back(int context) {
  free_contexts_[static_cast<std::size_t>(context / bits_per_word)] |= std::uint64_t{1} << (context % bits_per_word);
}

void Carrier::give_back_later(int context) {
  constexpr std::size_t most = 16;  // of 1,023 or more
  resting_.push_back(context);
  if (resting_.size() <= most) return;
  give_back(resting_.front());
  resting_.pop_front();
}

}  // namespace tutti::mpi
