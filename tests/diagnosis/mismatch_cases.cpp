#include "tests/diagnosis/mismatch_cases.hpp"

#include <numeric>

namespace tutti::test {
namespace {

constexpr Rank first{0}, second{1};

void sum(Scene& scene, Count count, Type type = Type::fp32, const Op& op = Op::sum, const Options& options = {}) {
  allreduce(scene.in.data(), scene.out.data(), count, type, op, scene.comm, options);
}
void sum(Scene& scene) { sum(scene, scene.n()); }

std::vector<Count> even_counts(const Scene& scene) {
  return std::vector<Count>(static_cast<std::size_t>(scene.ranks()), scene.n());
}
std::vector<Count> counts(const Scene& scene, std::size_t larger) {
  std::vector<Count> all = even_counts(scene);
  all[larger] = Count{scene.count + 1};
  return all;
}

void exchange_all(Scene& scene, const std::vector<Count>& sent) {
  alltoallv(scene.in.data(), {sent, {}}, scene.out.data(), {even_counts(scene), {}}, Type::fp32, scene.comm);
}

void scatter_sums(Scene& scene, std::size_t larger) {
  reduce_scatter(scene.in.data(), scene.out.data(), counts(scene, larger), Type::fp32, Op::sum, scene.comm);
}

/// Rank 0 sends to rank 1, which receives as many elements as it says.
void pass(Scene& scene, std::size_t received) {
  if (scene.comm.rank() == first) send(scene.in.data(), scene.n(), Type::fp32, second, scene.comm);
  if (scene.comm.rank() == second) recv(scene.out.data(), Count{received}, Type::fp32, first, scene.comm);
}

void sum_on(Scene& scene, const Communicator& comm) {
  allreduce(scene.in.data(), scene.out.data(), scene.n(), Type::fp32, Op::sum, comm);
}

const auto broadcast_from = [](Rank root) {
  return [root](Scene& scene) { broadcast(scene.out.data(), scene.n(), Type::fp32, root, scene.comm); };
};
const auto reduce_to = [](Rank root) {
  return [root](Scene& scene) {
    reduce(scene.in.data(), scene.out.data(), scene.n(), Type::fp32, Op::sum, root, scene.comm);
  };
};

std::vector<MismatchCase> arguments_differ() {
  const auto all = [](Scene& scene) { sum(scene); };
  return {
      {"count larger", all, [](Scene& scene) { sum(scene, Count{2 * scene.count}); }, "count"},
      {"count half", all, [](Scene& scene) { sum(scene, Count{scene.count / 2}); }, "count"},
      {"count 0", all, [](Scene& scene) { sum(scene, Count{0}); }, "count"},
      {"type of the same size", all, [](Scene& scene) { sum(scene, scene.n(), Type::int32); }, "type"},
      {"type of another size", all, [](Scene& scene) { sum(scene, scene.n(), Type::fp64); }, "type"},
      {"operation", all, [](Scene& scene) { sum(scene, scene.n(), Type::fp32, Op::max); }, "operation"},
      {"scale", [](Scene& scene) { sum(scene, scene.n(), Type::fp32, Op::scaled_sum(2.0)); },
       [](Scene& scene) { sum(scene, scene.n(), Type::fp32, Op::scaled_sum(3.0)); }, "scale"},
      {"root of broadcast", broadcast_from(first), broadcast_from(second), "root"},
      {"root of reduce", reduce_to(first), reduce_to(second), "root"},
      {"algorithm",
       [](Scene& scene) { sum(scene, scene.n(), Type::fp32, Op::sum, {.algorithm = "recursive_doubling"}); },
       [](Scene& scene) { sum(scene, scene.n(), Type::fp32, Op::sum, {.algorithm = "ring"}); }, "algorithm"},
      {"in place on one rank", all,
       [](Scene& scene) {
         scene.out = scene.in;
         allreduce(scene.out.data(), scene.out.data(), scene.n(), Type::fp32, Op::sum, scene.comm);
       },
       ""},
      {"counts of alltoallv", [](Scene& scene) { exchange_all(scene, even_counts(scene)); },
       [](Scene& scene) { exchange_all(scene, counts(scene, 0)); }, "bytes"},
      {"counts of reduce_scatter", [](Scene& scene) { scatter_sums(scene, 0); },
       [](Scene& scene) { scatter_sums(scene, 1); }, "bytes"},
      {"count of send", [](Scene& scene) { pass(scene, scene.count); },
       [](Scene& scene) { pass(scene, scene.count / 2); }, "bytes"},
  };
}

std::vector<MismatchCase> calls_differ() {
  const auto all = [](Scene& scene) { sum(scene); };
  return {
      {"broadcast for allreduce", all, broadcast_from(first), "call"},
      {"barrier for allreduce", all, [](Scene& scene) { barrier(scene.comm); }, "call"},
      {"gather for scatter",
       [](Scene& scene) {
         scatter(scene.in.data(), scene.out.data(), Count{scene.count}, Type::fp32, first, scene.comm);
       },
       [](Scene& scene) { gather(scene.in.data(), scene.out.data(), scene.n(), Type::fp32, first, scene.comm); },
       "call"},
      {"scan for exscan",
       [](Scene& scene) { exscan(scene.in.data(), scene.out.data(), scene.n(), Type::fp32, Op::sum, scene.comm); },
       [](Scene& scene) { scan(scene.in.data(), scene.out.data(), scene.n(), Type::fp32, Op::sum, scene.comm); },
       "call"},
      {"nonblocking for blocking", all,
       [](Scene& scene) {
         allreduce_async(scene.in.data(), scene.out.data(), scene.n(), Type::fp32, Op::sum, scene.comm).wait();
       },
       "blocking"},
      {"communicators swapped",
       [](Scene& scene) {
         sum_on(scene, scene.comm);
         sum_on(scene, scene.other);
       },
       [](Scene& scene) {
         sum_on(scene, scene.other);
         sum_on(scene, scene.comm);
       },
       "wait for each other"},
      {"one call fewer",
       [](Scene& scene) {
         sum(scene);
         sum(scene);
       },
       [](Scene& scene) { sum(scene); }, "clos"},
  };
}

}  // namespace

Scene::Scene(const Communicator& comm_in, const Communicator& other_in, std::size_t count_in)
    : comm(comm_in), other(other_in), count(count_in) {
  const std::size_t room = (2 * count + 2) * static_cast<std::size_t>(comm.size());
  in.resize(room);
  out.resize(room);
  std::iota(in.begin(), in.end(), 1.0F);
}

const std::vector<MismatchCase>& mismatch_cases() {
  static const std::vector<MismatchCase> all = [] {
    std::vector<MismatchCase> cases = arguments_differ();
    for (MismatchCase& each : calls_differ())
      cases.push_back(std::move(each));
    return cases;
  }();
  return all;
}

}  // namespace tutti::test
