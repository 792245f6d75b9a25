#include "lib/core/selection/rules.hpp"
#include "lib/core/selection/tuning_devices.hpp"

namespace tutti {
namespace {

bool is_for_one_kernel(const Question& q) {
  return q.bytes <= (q.ranks <= device_tuning.few_ranks ? device_tuning.one_kernel_few : device_tuning.one_kernel);
}

/// On a device a launch costs more than kilobytes do, a kernel reads the memory of all peers at once, and segments only
/// add launches. For each collective the first rule that fits counts.
constexpr Rule rules[] = {
    {Collective::broadcast, "knomial:32", always, "as all ranks can read the root's device at once"},
    {Collective::reduce, "knomial:32", is_for_one_kernel, "as the root's kernel reads all inputs at once"},
    {Collective::reduce, "reduce_scatter_gather", always, "as each rank's kernel then reduces a part"},
    {Collective::allreduce, "one_shot", is_for_one_kernel,
     "as one kernel a rank reads all inputs: the fewest launches"},
    {Collective::allreduce, "two_shot", always,
     "as one kernel a rank reduces its part and writes it to all: every input is read once, every output written once"},
    {Collective::reduce_scatter, "one_shot", always, "as one kernel a rank reads its block of all inputs"},
    {Collective::allgather, "one_shot", always, "as every block is read once by each rank"},
    {Collective::gather, "linear", always, "as the root reads every block where it is"},
    {Collective::scatter, "linear", always, "as each rank reads its block where it is"},
    {Collective::alltoall, "linear", always, "as each rank reads its blocks where they are"},
    {Collective::scan, "recursive_doubling", always, "as it has the fewest rounds"},
    {Collective::exscan, "recursive_doubling", always, "as it has the fewest rounds"},
};

}  // namespace

std::optional<Selection> select_for_devices(const Question& question) {
  if (!question.on_devices || question.ranks < 2 || question.ranks > device_tuning.most_ranks) return std::nullopt;
  static const RuleTable& table = *new RuleTable{rules};  // never destroyed: calls may come after main
  return table.first_for(question);
}

}  // namespace tutti
