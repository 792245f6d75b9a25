#include "apps/soak/choices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/soak/user_op.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

std::string random_parameter(Random& random, const Parameter& parameter) {
  if (parameter.name.empty() || random.chance(40)) return "";
  const bool is_bytes = parameter.unit == Parameter::Unit::bytes;
  // Large numbers of blocks make long schedules that show nothing new.
  const int most = std::min(parameter.most, is_bytes ? 1 << 15 : parameter.least + (random.chance(80) ? 6 : 40));
  return fmt::format(":{}", random.between(parameter.least, most));
}

}  // namespace

Op random_op(Random& random, Collective collective, Type type) {
  if (random.chance(15)) return user_op(random.chance(50) ? Commutative::yes : Commutative::no, type);
  const bool is_prefix = collective == Collective::scan || collective == Collective::exscan;
  std::vector<Op> allowed;
  for (const Op& op : {Op::sum, Op::prod, Op::min, Op::max, Op::avg, Op::land, Op::lor, Op::lxor, Op::band, Op::bor,
                       Op::bxor, Op::scaled_sum(-0.375)})
    if (supports(op.kind(), type) && !(is_prefix && op == Op::avg)) allowed.push_back(op);
  return random.one_of(allowed);
}

std::string random_algorithm(Random& random, const Call& call, const std::vector<int>& nodes, std::int64_t bytes) {
  if (random.chance(30)) return "";
  const bool needs_order = reduces(call.collective) && !call.op.commutative();
  std::vector<const Algorithm*> fitting;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == call.collective && (!needs_order || order_on(nodes, *algorithm) == Order::of_ranks))
      fitting.push_back(algorithm);
  const Algorithm& algorithm = *random.one_of(fitting);
  std::string text = std::string{algorithm.name} + random_parameter(random, algorithm.parameter);
  if (call.collective != Collective::barrier && random.chance(25))
    text += fmt::format("/{}", std::max<std::int64_t>(1, bytes / random.between(1, 40)));
  return text;
}

}  // namespace tutti::soak
