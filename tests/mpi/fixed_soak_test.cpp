// fixed_soak_test CALLS SEED - random reductions in the fixed order: sizes from 1 to 10^6, places in a buffer, types,
// algorithms and segments, transports, forms. What each rank gives is a part of a table, and so is what has to come:
// the folded tree of all ranks' tables, or the ranks one after the other.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lib/core/reduce/kernels.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/types.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t most = 1'000'000;
using Bytes = std::vector<std::byte>;

template <class T>
Bytes numbers(int rank) {
  std::mt19937 random{static_cast<unsigned>(rank)};
  std::uniform_real_distribution<float> digits{-1, 1};
  std::vector<T> data;
  for (std::size_t i = 0; i < most; ++i)
    data.push_back(static_cast<T>(std::ldexp(digits(random), static_cast<int>(random() % 8) - 4)));
  Bytes bytes(most * sizeof(T));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  return bytes;
}

/// The inputs and the results of all elements, of one type.
struct Table {
  Type type;
  std::size_t element;
  Bytes own, folded, up_to_here, before;

  template <class T>
  static Table of() {
    Table table{type_of<T>, sizeof(T), numbers<T>(world_rank()), {}, {}, {}};
    const ReduceKernel add = reduce_kernel(Op::Kind::sum, table.type);
    std::vector<Bytes> row;
    for (int rank = 0; rank < world_size(); ++rank)
      row.push_back(numbers<T>(rank));
    table.up_to_here = row[0];
    for (std::size_t rank = 1; rank <= static_cast<std::size_t>(world_rank()); ++rank) {
      table.before = table.up_to_here;
      add(table.before.data(), row[rank].data(), table.up_to_here.data(), most);
    }
    const auto join = [&](std::size_t place) {
      Bytes sum(row[place].size());
      add(row[place].data(), row[place + 1].data(), sum.data(), most);
      row[place] = std::move(sum);
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    };
    for (std::size_t place = 0; !std::has_single_bit(row.size()); ++place)
      join(place);
    while (row.size() > 1)
      for (std::size_t place = 0; place < row.size(); ++place)
        join(place);
    table.folded = std::move(row[0]);
    return table;
  }
};

/// What all ranks draw alike.
struct Drawn {
  Collective collective;
  std::size_t table, communicator, count, first;
  int root;
  std::string algorithm;
  unsigned form;
  bool is_in_place;
};

class Soak {
 public:
  explicit Soak(unsigned seed) : random_(seed) {
    tables_.push_back(Table::of<float>());
    tables_.push_back(Table::of<double>());
    tables_.push_back(Table::of<Half>());
    tables_.push_back(Table::of<BFloat16>());
    for (const char* transport : {"auto", "mpi"})
      communicators_.push_back(std::make_unique<Communicator>(
          MPI_COMM_WORLD, CommunicatorOptions{.transport = transport, .bits = Bits::fixed}));
  }

  /// Whether this rank got what it has to get.
  bool call() {
    const Drawn drawn = draw();
    const Table& table = tables_[drawn.table];
    const auto rank = static_cast<std::size_t>(world_rank());
    const bool is_divided = drawn.collective == Collective::reduce_scatter;
    const std::size_t share = is_divided ? drawn.count / static_cast<std::size_t>(world_size()) : drawn.count;
    const std::size_t given = is_divided ? share * static_cast<std::size_t>(world_size()) : drawn.count;
    in_.assign(at(table.own, table, drawn.first), at(table.own, table, drawn.first + given));
    out_.assign(given * table.element, std::byte{0xAA});
    if (drawn.is_in_place) out_ = in_;
    run(drawn, table, share);
    const Bytes& wanted = drawn.collective == Collective::scan     ? table.up_to_here
                          : drawn.collective == Collective::exscan ? table.before
                                                                   : table.folded;
    const bool is_empty = (drawn.collective == Collective::exscan && rank == 0) ||
                          (drawn.collective == Collective::reduce && world_rank() != drawn.root);
    if (is_empty || share == 0) return true;
    const std::size_t first = drawn.first + (is_divided ? share * rank : 0);
    if (std::memcmp(out_.data(), wanted.data() + first * table.element, share * table.element) == 0) return true;
    fmt::print(stderr, "rank {}: {} '{}' of {} elements of {}, from {} on, form {}, communicator {}{}: other bits\n",
               rank, to_string(drawn.collective), drawn.algorithm, drawn.count, to_string(table.type), drawn.first,
               drawn.form, drawn.communicator, drawn.is_in_place ? ", in place" : "");
    return false;
  }

 private:
  static Bytes::const_iterator at(const Bytes& bytes, const Table& table, std::size_t element) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(element * table.element);
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

  Drawn draw() {
    constexpr std::array collectives{Collective::allreduce,      Collective::allreduce, Collective::reduce,
                                     Collective::reduce_scatter, Collective::scan,      Collective::exscan};
    Drawn drawn{};
    drawn.collective = collectives[below(collectives.size())];
    drawn.table = below(tables_.size());
    drawn.communicator = below(communicators_.size());
    const double exponent = std::uniform_real_distribution<double>{0, std::log(static_cast<double>(most))}(random_);
    drawn.count = std::min(most, static_cast<std::size_t>(std::exp(exponent)));
    drawn.first = below(most - drawn.count + 1);
    drawn.root = static_cast<int>(below(static_cast<std::size_t>(world_size())));
    drawn.form = static_cast<unsigned>(below(3));
    drawn.is_in_place = below(3) == 0;
    std::vector<std::string> names{""};
    for (const Algorithm* algorithm : algorithms())
      if (algorithm->collective == drawn.collective && algorithm->bits == Bits::fixed) {
        names.emplace_back(algorithm->name);
        if (drawn.count > 1000) names.push_back(fmt::format("{}/{}", algorithm->name, 4096 << below(5)));
      }
    drawn.algorithm = names[below(names.size())];
    return drawn;
  }

  void run(const Drawn& drawn, const Table& table, std::size_t share) {
    const bool is_root = drawn.collective != Collective::reduce || world_rank() == drawn.root;
    const void* const in = drawn.is_in_place && is_root ? MPI_IN_PLACE : in_.data();
    detail::Call call{.function = "fixed_soak",
                      .collective = drawn.collective,
                      .in = in,
                      .out = out_.data(),
                      .count = Count{share},
                      .type = table.type,
                      .op = Op::sum};
    call.root = Rank{drawn.root};
    const Communicator& comm = *communicators_[drawn.communicator];
    const Options options{.algorithm = drawn.algorithm};
    if (drawn.form == 0) return detail::run(call, comm, options);
    if (drawn.form == 1) return detail::start(call, comm, options).wait();
    Plan plan = detail::prepare(call, comm, options);
    plan.start();
    plan.wait();
  }

  std::mt19937 random_;
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  Bytes in_, out_;
};

int soak(int calls, unsigned seed) {
  Soak soak{seed};
  long wrong = 0;
  for (int call = 0; call < calls; ++call)
    wrong += soak.call() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank() == 0)
    std::printf("%d ranks, seed %u: %d calls, %ld wrong results\n", world_size(), seed, calls, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tutti::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = tutti::test::soak(argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? std::atoi(argv[2]) : 1);
  MPI_Finalize();
  return status;
}
