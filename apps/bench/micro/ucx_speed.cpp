// ucx_speed [TRANSPORT [BYTES]]: half the time of a round trip between two ranks, of Tutti's plans and of UCX alone, as
// ucx_perftest -t tag_lat takes it. Both take turns of a few milliseconds: a line between two cores of a virtual
// machine may take several times as long in one second as in the next. No test.
#include <fmt/format.h>
#include <mpi.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"
#include "ucx/context.hpp"
#include "ucx/error.hpp"
#include "ucx/handles.hpp"

namespace {

/// One way to send and to receive a message.
class Ways {
 public:
  Ways() = default;
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;
  virtual ~Ways() = default;
  virtual void send() = 0;
  virtual void recv() = 0;
};

class Plans final : public Ways {
 public:
  Plans(const tutti::Communicator& comm, std::vector<char>& out, std::vector<char>& in)
      : peer_{1 - comm.rank().value()},
        count_{static_cast<std::int64_t>(out.size())},
        send_(tutti::plan_send(out.data(), count_, tutti::Type::uint8, peer_, comm)),
        recv_(tutti::plan_recv(in.data(), count_, tutti::Type::uint8, peer_, comm)) {}
  void send() override { run(send_); }
  void recv() override { run(recv_); }

 private:
  static void run(tutti::Plan& plan) {
    plan.start();
    plan.wait();
  }
  tutti::Rank peer_;
  tutti::Count count_;
  tutti::Plan send_, recv_;
};

/// The least that a program can do with UCX.
class Bare final : public Ways {
 public:
  Bare(int me, std::vector<char>& out, std::vector<char>& in) : out_(out), in_(in) {
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    tutti::ucx::check(ucx_.worker_create(context_.get(), &worker, worker_.receive()), "ucp_worker_create");
    ucp_worker_attr_t mine{};
    mine.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
    tutti::ucx::check(ucx_.worker_query(worker_.get(), &mine), "ucp_worker_query");
    int length = static_cast<int>(mine.address_length), theirs = 0;
    MPI_Sendrecv(&length, 1, MPI_INT, 1 - me, 0, &theirs, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<char> address(static_cast<std::size_t>(theirs));
    MPI_Sendrecv(mine.address, length, MPI_BYTE, 1 - me, 1, address.data(), theirs, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    ucx_.worker_release_address(worker_.get(), mine.address);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    ucp_ep_h made = nullptr;
    tutti::ucx::check(ucx_.ep_create(worker_.get(), &params, &made), "ucp_ep_create");
    endpoint_ = tutti::ucx::UniqueEndpoint{{made, worker_.get()}};
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() override {
    MPI_Barrier(MPI_COMM_WORLD);
    endpoint_ = {};
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void send() override { wait(ucx_.tag_send_nbx(endpoint_.get().handle, out_.data(), out_.size(), 1, &plain_)); }
  void recv() override { wait(ucx_.tag_recv_nbx(worker_.get(), in_.data(), in_.size(), 1, ~ucp_tag_t{0}, &plain_)); }

 private:
  void wait(void* request) const {
    if (!UCS_PTR_IS_PTR(request)) return tutti::ucx::check(UCS_PTR_RAW_STATUS(request), "UCX");
    while (ucx_.request_check_status(request) == UCS_INPROGRESS)
      ucx_.worker_progress(worker_.get());
    ucx_.request_free(request);
  }

  const tutti::ucx::Library& ucx_ = tutti::ucx::library();
  const ucp_request_param_t plain_{};
  tutti::ucx::UniqueContext context_ = tutti::ucx::make_context(2);
  tutti::ucx::UniqueWorker worker_;
  tutti::ucx::UniqueEndpoint endpoint_;
  std::vector<char>&out_, &in_;
};

/// In microseconds.
double half_round_trip(Ways& ways, bool is_first, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    if (is_first) ways.send();
    ways.recv();
    if (!is_first) ways.send();
  }
  return (MPI_Wtime() - start) / rounds / 2 * 1e6;
}

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

void measure(const tutti::Communicator& comm, std::size_t bytes) {
  constexpr int runs = 201;
  const int rounds = bytes <= 65536 ? 5'000 : 50;
  const bool is_first = comm.rank().value() == 0;
  std::vector<char> out(bytes), in(bytes);
  Plans plans{comm, out, in};
  Bare bare{comm.rank().value(), out, in};
  std::vector<double> tutti, ucx, ratios;
  for (int run = 0; run < runs; ++run) {
    tutti.push_back(half_round_trip(plans, is_first, rounds));
    ucx.push_back(half_round_trip(bare, is_first, rounds));
    ratios.push_back(tutti.back() / ucx.back());
  }
  if (!is_first) return;
  fmt::print("{:8} bytes", bytes);
  for (const double part : {0.05, 0.5, 0.95})
    fmt::print("  {:8.3f} {:8.3f} {:5.2f}", quantile(tutti, part), quantile(ucx, part), quantile(ratios, part));
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    fmt::print(stderr, "ucx_speed needs 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  {
    const tutti::Communicator comm{MPI_COMM_WORLD, {.transport = argc > 1 ? argv[1] : "ucx"}};
    std::vector<std::size_t> sizes{8, 512, 4096, 65'536, 1 << 20};
    if (argc > 2) sizes = {std::stoul(argv[2])};
    if (comm.rank().value() == 0)
      fmt::print("Tutti and UCX in us, and their ratio: 5 %, 50 % and 95 % of the runs take less\n");
    for (const std::size_t bytes : sizes)
      measure(comm, bytes);
  }
  MPI_Finalize();
}
