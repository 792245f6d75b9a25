// Scalars and contiguous ranges as buffers of every call: the results. Which arguments each call takes:
// range_overloads.cpp.
#include <array>
#include <cmath>
#include <numeric>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Vector = std::vector<double>;
using Array = std::array<double, 3>;
using Raw = double[3];
using View = std::span<double>;

void finish(Request request) { request.wait(); }
void finish(Plan plan) {
  plan.start();
  plan.wait();
}

/// Rank r gives r + 1 + i as element i.
class Ranges : public testing::Test {
 protected:
  /// check(in, out) with buffers of each kind, `in` filled, `out` all -1.
  template <class Check>
  void with_each_kind(Check check) {
    const auto with = [&](auto& in, auto& out) {
      fill(in), clear(out);
      check(std::as_const(in), out);
    };
    Vector in(3), out(3);
    Array array_in{}, array_out{};
    Raw raw_in{}, raw_out{};
    double scalar_in = 0, scalar_out = 0;
    View view_in{in}, view_out{out};
    SharedBuffer<double> shared_in(3), shared_out(3);
    with(in, out), with(array_in, array_out), with(raw_in, raw_out), with(scalar_in, scalar_out);
    with(view_in, view_out), with(shared_in, shared_out), with(in, array_out);
  }
  /// Each call in turn: blocking, nonblocking, persistent; then element i of `out` is expected(i).
  template <class Out, class Expected, class... Calls>
  static void expect(Out& out, Expected expected, Calls... calls) {
    const auto after = [&](auto call) {
      clear(out);
      call();
      const std::span elements = detail::elements_of(out);
      for (std::size_t i = 0; i < elements.size(); ++i)
        EXPECT_EQ(elements[i], expected(static_cast<double>(i))) << i;
    };
    (after(calls), ...);
  }
  template <class Buffer>
  static void fill(Buffer& buffer) {
    const std::span elements = detail::elements_of(buffer);
    std::iota(elements.begin(), elements.end(), world_rank() + 1.0);
  }
  template <class Buffer>
  static void clear(Buffer& buffer) {
    for (double& element : detail::elements_of(buffer))
      element = -1;
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(world_size()); }

  Communicator comm_{MPI_COMM_WORLD};
  const double p_ = world_size(), rank_ = world_rank(), sum_ = p_ * (p_ + 1) / 2;
  const Rank root_{world_size() - 1};
  const bool at_root_ = comm_.rank() == root_;
};

TEST_F(Ranges, Allreduce) {
  with_each_kind([&](const auto& in, auto& out) {
    expect(
        out, [&](double i) { return sum_ + p_ * i; }, [&] { allreduce(in, out, Op::sum, comm_); },
        [&] { finish(allreduce_async(in, out, Op::sum, comm_)); },
        [&] { finish(plan_allreduce(in, out, Op::sum, comm_)); }, [&] { fill(out), allreduce(out, Op::sum, comm_); },
        [&] { fill(out), finish(allreduce_async(out, Op::sum, comm_)); },
        [&] { fill(out), finish(plan_allreduce(out, Op::sum, comm_)); });
  });
  double one = 1;
  allreduce(one, Op::sum, comm_, {.algorithm = "recursive_doubling"});
  EXPECT_EQ(one, p_);
  allreduce(2.0, one, Op::max, comm_);  // a temporary is there until the call is over
  EXPECT_EQ(one, 2);
}

TEST_F(Ranges, Reduce) {
  with_each_kind([&](const auto& in, auto& out) {
    expect(
        out, [&](double i) { return at_root_ ? sum_ + p_ * i : -1; }, [&] { reduce(in, out, Op::sum, root_, comm_); },
        [&] { finish(reduce_async(in, out, Op::sum, root_, comm_)); },
        [&] { finish(plan_reduce(in, out, Op::sum, root_, comm_)); });
    expect(
        out, [&](double i) { return at_root_ ? sum_ + p_ * i : rank_ + 1 + i; },
        [&] { fill(out), reduce(out, Op::sum, root_, comm_); },
        [&] { fill(out), finish(reduce_async(out, Op::sum, root_, comm_)); },
        [&] { fill(out), finish(plan_reduce(out, Op::sum, root_, comm_)); });
  });
}

TEST_F(Ranges, Broadcast) {
  with_each_kind([&](const auto& in, auto& out) {
    const auto start = [&] { at_root_ ? fill(out) : clear(out); };
    expect(
        out, [&](double i) { return p_ + i; }, [&] { start(), broadcast(out, root_, comm_); },
        [&] { start(), finish(broadcast_async(out, root_, comm_)); },
        [&] { start(), finish(plan_broadcast(out, root_, comm_)); }, [&] { broadcast(in, out, root_, comm_); },
        [&] { finish(broadcast_async(in, out, root_, comm_)); },
        [&] { finish(plan_broadcast(in, out, root_, comm_)); });
  });
}

TEST_F(Ranges, Scans) {
  with_each_kind([&](const auto& in, auto& out) {
    const auto up_to = [](double ranks, double i) { return ranks * (ranks + 1) / 2 + ranks * i; };
    expect(
        out, [&](double i) { return up_to(rank_ + 1, i); }, [&] { scan(in, out, Op::sum, comm_); },
        [&] { finish(scan_async(in, out, Op::sum, comm_)); }, [&] { finish(plan_scan(in, out, Op::sum, comm_)); },
        [&] { fill(out), scan(out, Op::sum, comm_); }, [&] { fill(out), finish(scan_async(out, Op::sum, comm_)); },
        [&] { fill(out), finish(plan_scan(out, Op::sum, comm_)); });
    expect(
        out, [&](double i) { return rank_ == 0 ? -1 : up_to(rank_, i); }, [&] { exscan(in, out, Op::sum, comm_); },
        [&] { finish(exscan_async(in, out, Op::sum, comm_)); }, [&] { finish(plan_exscan(in, out, Op::sum, comm_)); });
    expect(
        out, [&](double i) { return rank_ == 0 ? 1 + i : up_to(rank_, i); },
        [&] { fill(out), exscan(out, Op::sum, comm_); }, [&] { fill(out), finish(exscan_async(out, Op::sum, comm_)); },
        [&] { fill(out), finish(plan_exscan(out, Op::sum, comm_)); });
  });
}

/// Blocks of each kind, in a vector of all ranks' blocks.
TEST_F(Ranges, ReduceScatterAndScatter) {
  with_each_kind([&](const auto& in, auto& out) {
    const std::size_t block = detail::elements_of(in).size();
    Vector all(size() * block);
    fill(all);
    const double first = rank_ * static_cast<double>(block);
    expect(
        out, [&](double i) { return sum_ + p_ * (first + i); }, [&] { reduce_scatter(all, out, Op::sum, comm_); },
        [&] { finish(reduce_scatter_async(all, out, Op::sum, comm_)); },
        [&] { finish(plan_reduce_scatter(all, out, Op::sum, comm_)); });
    expect(
        out, [&](double i) { return p_ + first + i; }, [&] { scatter(all, out, root_, comm_); },
        [&] { finish(scatter_async(all, out, root_, comm_)); }, [&] { finish(plan_scatter(all, out, root_, comm_)); });
  });
}

TEST_F(Ranges, AllgatherAndGather) {
  with_each_kind([&](const auto& in, auto& /*out*/) {
    const auto block = static_cast<double>(detail::elements_of(in).size());
    Vector all(size() * static_cast<std::size_t>(block));
    const auto gathered = [&](double i) { return std::floor(i / block) + 1 + std::fmod(i, block); };
    const auto start = [&] {  // in place: this rank's block is there
      const auto elements = detail::elements_of(in);
      std::copy(elements.begin(), elements.end(), all.begin() + world_rank() * static_cast<int>(block));
    };
    expect(
        all, gathered, [&] { allgather(in, all, comm_); }, [&] { finish(allgather_async(in, all, comm_)); },
        [&] { finish(plan_allgather(in, all, comm_)); }, [&] { start(), allgather(all, comm_); },
        [&] { start(), finish(allgather_async(all, comm_)); }, [&] { start(), finish(plan_allgather(all, comm_)); });
    expect(
        all, [&](double i) { return at_root_ ? gathered(i) : -1; }, [&] { gather(in, all, root_, comm_); },
        [&] { finish(gather_async(in, all, root_, comm_)); }, [&] { finish(plan_gather(in, all, root_, comm_)); });
  });
}

TEST_F(Ranges, Alltoall) {
  Vector in(size()), out(size());
  fill(in);
  const auto from = [&](double i) { return i + 1 + rank_; };
  expect(
      out, from, [&] { alltoall(in, out, comm_); }, [&] { finish(alltoall_async(in, out, comm_)); },
      [&] { finish(plan_alltoall(in, std::span{out}, comm_)); }, [&] { fill(out), alltoall(out, comm_); },
      [&] { fill(out), finish(alltoall_async(out, comm_)); }, [&] { fill(out), finish(plan_alltoall(out, comm_)); });
  Array fixed_in{}, fixed_out{};
  if (world_size() != 3) return;
  fill(fixed_in);
  expect(fixed_out, from, [&] { alltoall(fixed_in, fixed_out, comm_); });
}

TEST_F(Ranges, Messages) {
  const Rank right{(world_rank() + 1) % world_size()}, left{(world_rank() + world_size() - 1) % world_size()};
  with_each_kind([&](const auto& in, auto& out) {
    const auto from_left = [&](double i) { return left.value() + 1 + i; };
    expect(
        out, from_left, [&] { sendrecv(in, right, out, left, comm_); },
        [&] { finish(sendrecv_async(in, right, out, left, comm_)); },
        [&] { finish(plan_sendrecv(in, right, out, left, comm_)); },
        [&] {
          Batch batch{comm_};
          batch.send(in, right);
          batch.recv(out, left);
          batch.run();
        });
    if (world_size() == 1) return;
    expect(
        out, from_left,
        [&] {
          Request request = recv_async(out, left, comm_);
          send(in, right, comm_);
          request.wait();
        },
        [&] {
          Request request = send_async(in, right, comm_);
          recv(out, left, comm_);
          request.wait();
        },
        [&] {
          Plan sends = plan_send(in, right, comm_), receives = plan_recv(out, left, comm_);
          receives.start(), sends.start();
          receives.wait(), sends.wait();
        });
  });
}

TEST_F(Ranges, LengthsThatDoNotFit) {
  Vector three(3), four(4);
  double one = 0;
  expect_throw<ArgumentError>([&] { allreduce(three, four, Op::sum, comm_); },
                              {"tutti::allreduce on rank", "'out' is a buffer of 4 elements", "as many as 'in', 3"});
  expect_throw<ArgumentError>([&] { scan_async(three, one, Op::sum, comm_).wait(); },
                              {"tutti::scan on rank", "'out' is a buffer of 1 elements", "as many as 'in', 3"});
  Vector wrong(size() + 1);
  expect_throw<ArgumentError>([&] { allgather(one, wrong, comm_); }, {"'out'", std::to_string(size()) + " elements"});
  expect_throw<ArgumentError>([&] { reduce_scatter(wrong, one, Op::sum, comm_); },
                              {"'in'", std::to_string(size()) + " elements"});
  expect_works(comm_);
}

}  // namespace
}  // namespace tutti::test
