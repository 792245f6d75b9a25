#include "lib/core/call/reach_peers.hpp"

#include <vector>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/watch/records/situation.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

void reach_peers(StreamedCall& plan, const Communicator& comm) {
  if (!plan.is_for_all()) return;
  using State = stream::Reach::State;
  const auto within = [&](const auto& work) {
    const Progress::Entry entry{comm.state().progress()};
    return work();
  };
  std::vector<StreamedCall::Offer> all(static_cast<std::size_t>(comm.size()));
  const StreamedCall::Offer mine = within([&] { return plan.lend(); });
  run({.function = "plan",
       .collective = Collective::allgather,
       .in = &mine,
       .out = all.data(),
       .count = Count{sizeof mine}},
      comm, {});
  for (const StreamedCall::Offer& its : all)
    if (!records::match(mine.call, its.call))
      throw MismatchError("tutti: in the making of a plan in a stream, " +
                          records::mismatch_in_words(mine.call, its.call));
  State least = State::coming;
  while (least == State::coming) {
    const auto own = within([&] { return static_cast<std::uint8_t>(plan.reach(all)); });
    std::uint8_t result = 0;
    run({.function = "plan",
         .collective = Collective::allreduce,
         .in = &own,
         .out = &result,
         .count = Count{1},
         .op = Op::min},
        comm, {});
    least = State{result};
  }
  within([&] { plan.settle(least == State::mapped); });
}

}  // namespace tutti::detail
