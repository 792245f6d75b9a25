// Makes calls of every kind, whose bits depend on nothing but their number and rank; whatever a call neither reads nor
// defines is filled with random bytes. For tests of TUTTI_BITS=record:DIR. Arguments, NAME=VALUE:
//   calls=N    so many collectives on the world (200)
//   plant=N    in call N, element 17 of the last rank's input is a thousand times as large
//   count=N    call N has one element less
//   other=N    call N is a barrier
//   first=N    so many barriers come first
//   split=1    the calls are made once more, on the ranks of the same parity
//   limit=N    no file of the process may have more than N bytes, once there is a communicator
//   memory=device  the buffers of some calls are on a device; stream=1: and some calls in a stream
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/device_memory.hpp"
#include "tests/support/device_streams.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

constexpr std::int64_t count = 100;
constexpr Type type = Type::fp64;

struct Wanted {
  std::map<std::string, std::string> given{};
  [[nodiscard]] int number(const std::string& name, int otherwise = -1) const {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : std::stoi(found->second);
  }
};

/// Numbers whose sum depends on the order in which they are added.
double value(int call, int rank, std::int64_t element) {
  const double small = 1.0 + 0.001 * static_cast<double>((call * 31 + rank * 7 + element) % 1000);
  const double large = 1e16 * static_cast<double>(1 + (call + element) % 3);
  return rank % 3 == 0 ? large : rank % 3 == 1 ? small : -large;
}

/// Memory whose bytes nobody defined.
std::vector<double> undefined(std::int64_t elements) {
  static std::mt19937_64 random{std::random_device{}()};
  std::vector<double> memory(static_cast<std::size_t>(elements));
  for (double& each : memory) {
    const std::uint64_t bits = random();
    std::memcpy(&each, &bits, sizeof each);
  }
  return memory;
}

class Calls {
 public:
  Calls(const Communicator& comm, const Wanted& wanted)
      : comm_(comm), wanted_(wanted), me_(comm.rank().value()), size_(comm.size()) {}

  void run() {
    for (int i = 0; i < wanted_.number("first", 0); ++i)
      barrier(comm_);
    for (call_ = 1; call_ <= wanted_.number("calls", 200); ++call_) {
      const std::int64_t n = wanted_.number("count") == call_ ? count - 1 : count;
      make(wanted_.number("other") == call_ ? 0 : call_ % 16, Count{n});
      if (call_ % 10 == 0) exchange();
      if (call_ % 16 == 3) started_.wait();  // which other calls have overtaken
    }
    started_.wait();
    messages_with_tags();
  }

 private:
  /// Of `blocks` blocks with `count` elements each; the rest is undefined.
  [[nodiscard]] std::vector<double> input(int blocks, std::int64_t gap = 0) const {
    std::vector<double> data = undefined(blocks * (count + gap));
    for (int block = 0; block < blocks; ++block)
      for (std::int64_t i = 0; i < count; ++i)
        data[static_cast<std::size_t>(block * (count + gap) + i)] = value(call_ + block, me_, i);
    constexpr std::size_t planted = 17;
    if (wanted_.number("plant") == call_ && me_ == size_ - 1) data[planted] *= 1000;
    return data;
  }
  [[nodiscard]] std::vector<double> output(int blocks, std::int64_t gap = 0) const {
    return undefined(blocks * (count + gap));
  }
  /// Blocks of differing sizes, one of them empty, with gaps.
  void list(std::vector<std::int64_t>& counts, std::vector<std::int64_t>& offsets) const {
    for (int rank = 0; rank < size_; ++rank) {
      counts.push_back(rank == 1 ? 0 : count - rank);
      offsets.push_back(rank * (count + 3));
    }
  }
  void make(int which, Count n);
  void make_rooted(int which, Count n, Rank root);
  void make_uneven(int which);
  void make_prepared(Count n);
  void make_exscan(Count n);
  void make_on_device(Count n);
  void exchange();
  void messages_with_tags();

  const Communicator& comm_;
  const Wanted& wanted_;
  int me_, size_, call_ = 0;
  std::vector<double> prepared_in_ = output(1), prepared_out_ = output(1);
  std::unique_ptr<Plan> prepared_{};
  Count prepared_count_{};
  std::vector<double> started_in_{}, started_out_{};
  Request started_{};
};

void Calls::make(int which, Count n) {
  if (which == 0) return barrier(comm_);
  if (which == 1 || which == 2 || which == 5 || which == 6) return make_rooted(which, n, Rank{call_ % size_});
  if (which == 11) return make_exscan(n);
  if (which == 12 || which == 13) return make_uneven(which);
  if (which == 14) return make_prepared(n);
  const std::vector<double> in = input(size_);
  std::vector<double> out = output(size_);
  switch (which) {
    case 3:
      return reduce_scatter(in.data(), out.data(), n, type, Op::sum, comm_);
    case 4:
      return allgather(in.data(), out.data(), n, type, comm_);
    case 7:
      return alltoall(in.data(), out.data(), n, type, comm_);
    case 8:
      return scan(in.data(), out.data(), n, type, Op::sum, comm_);
    case 10:
      out = in;
      return allreduce(MPI_IN_PLACE, out.data(), n, type, Op::sum, comm_);
    case 15:
      started_in_ = in;
      started_out_ = out;
      started_ = allreduce_async(started_in_.data(), started_out_.data(), n, type, Op::sum, comm_);
      return;
    default:
      if (wanted_.given.contains("memory")) return make_on_device(n);
      return allreduce(in.data(), out.data(), n, type, Op::sum, comm_);
  }
}

/// Nobody reads the input of a scatter but that of the root.
void Calls::make_rooted(int which, Count n, Rank root) {
  const std::vector<double> in = which == 6 && comm_.rank() != root ? undefined(size_ * count) : input(size_);
  std::vector<double> out = output(size_);
  switch (which) {
    case 1:
      if (comm_.rank() == root) out = in;
      return broadcast(out.data(), n, type, root, comm_);
    case 2:
      return reduce(in.data(), out.data(), n, type, Op::sum, root, comm_);
    case 5:
      return gather(in.data(), out.data(), n, type, root, comm_);
    default:
      return scatter(in.data(), out.data(), n, type, root, comm_);
  }
}

/// Nobody reads the input of the last rank.
void Calls::make_exscan(Count n) {
  std::vector<double> in = me_ == size_ - 1 ? undefined(count) : input(1);
  std::vector<double> out = output(1);
  exscan(in.data(), out.data(), n, type, Op::sum, comm_);
}

void Calls::make_uneven(int which) {
  constexpr std::int64_t gap = 3;
  std::vector<std::int64_t> counts, offsets;
  list(counts, offsets);
  std::vector<double> out = output(size_, gap);
  if (which == 12) {
    const std::vector<double> in = input(1);
    return allgatherv(in.data(), out.data(), {counts, offsets}, type, comm_);
  }
  // The block of rank 1 is empty everywhere, and the others are alike.
  std::vector<std::int64_t> alike(counts.size(), count);
  for (int rank = 0; rank < size_; ++rank)
    if (rank == 1 || me_ == 1) alike[static_cast<std::size_t>(rank)] = 0;
  const std::vector<double> in = input(size_, gap);
  alltoallv(in.data(), {alike, offsets}, out.data(), {alike, offsets}, type, comm_);
}

void Calls::make_prepared(Count n) {
  if (prepared_ == nullptr || prepared_count_ != n) {
    prepared_ =
        std::make_unique<Plan>(plan_allreduce(prepared_in_.data(), prepared_out_.data(), n, type, Op::sum, comm_));
    prepared_count_ = n;
  }
  std::ranges::copy(input(1), prepared_in_.begin());  // where the plan reads
  prepared_->start();
  prepared_->wait();
}

void Calls::make_on_device(Count n) {
  const auto bytes = static_cast<std::size_t>(n.value()) * sizeof(double);
  const std::vector<double> in = input(1);
  const test::DeviceArray data{bytes}, out{bytes};
  test::TestDevices::get().copy(data.data(), in.data(), bytes);
  allreduce(data.data(), out.data(), n, type, Op::sum, comm_);
  Batch batch{comm_};
  batch.send(data.data(), n, type, Rank{(me_ + 1) % size_});
  batch.recv(out.data(), n, type, Rank{(me_ + size_ - 1) % size_});
  batch.run();
  if (!wanted_.given.contains("stream")) return allreduce(MPI_IN_PLACE, data.data(), n, type, Op::sum, comm_);
  const test::TestStream stream;
  stream.copy(data.data(), in.data(), bytes);  // what the call has to wait for
  allreduce(MPI_IN_PLACE, data.data(), n, type, Op::sum, comm_, {.stream = stream.get()});
  stream.synchronize();
}

/// Around a ring, of two pieces with a gap.
void Calls::exchange() {
  const std::vector<double> in = input(1);
  std::vector<double> out = output(1);
  const Rank right{(me_ + 1) % size_}, left{(me_ + size_ - 1) % size_};
  Batch batch{comm_};
  for (const std::int64_t at : {0, 60}) {
    batch.send(in.data() + at, Count{30}, type, right);
    batch.recv(out.data() + at, Count{30}, type, left);
  }
  batch.run();
}

/// Which are not recorded.
void Calls::messages_with_tags() {
  const double mine = value(0, me_, 0);
  double theirs = 0;
  Batch batch{comm_};
  batch.send(mine, Rank{(me_ + 1) % size_}, Tag{5});
  batch.recv(theirs, Rank{(me_ + size_ - 1) % size_}, Tag{5});
  batch.run();
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);  // the host may have to move calls in streams
  try {
    Wanted wanted;
    const std::vector<std::string> arguments{argv + 1, argv + argc};
    for (const std::string& argument : arguments)
      wanted.given[argument.substr(0, argument.find('='))] = argument.substr(argument.find('=') + 1);
    if (wanted.given.contains("memory")) test::TestDevices::get().use(0);
    const Communicator comm{MPI_COMM_WORLD};
    if (const int most = wanted.number("limit"); most > 0) {
      const ::rlimit limit{static_cast<::rlim_t>(most), static_cast<::rlim_t>(most)};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    Calls{comm, wanted}.run();
    if (wanted.given.contains("split")) {
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, comm.rank().value() % 2, 0, &part);
      {
        const Communicator half{part};
        Calls{half, wanted}.run();
      }
      MPI_Comm_free(&part);
    }
  } catch (const ArgumentError& error) {  // on all ranks; an abort may swallow what they say
    std::fprintf(stderr, "bits_program: %s\n", error.what());
    MPI_Finalize();
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bits_program: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
