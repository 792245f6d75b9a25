// recorded_program gaps BYTE [x]: reduces and moves elements that have bytes which hold nothing, after all memory was
// filled with that byte. With x, a number of rank 0 differs.
// recorded_program abort: makes 5 calls, and then rank 0 calls MPI_Abort.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int count = 3;
constexpr std::size_t most_ranks = 8;

struct Run {
  int filler = 0, rank = 0, size = 1;
};

/// Elements between which, and in which, memory holds anything.
template <class T>
struct Memory {
  explicit Memory(const Run& run) { std::memset(elements.data(), run.filler, sizeof elements); }
  std::array<T, count * most_ranks> elements;
};

template <class T>
struct Pair {
  T value;
  int index;
};

/// A store of its value alone: an assignment may store the whole.
void store(long double& into, long double value) {
  constexpr std::size_t bytes_of_value = sizeof(long double) > 10 ? 10 : sizeof(long double);
  std::memcpy(&into, &value, bytes_of_value);
}

template <class T>
void store(Pair<T>& into, T value) {
  if constexpr (sizeof(T) == sizeof(long double))
    store(into.value, value);
  else
    into.value = value;
  into.index = static_cast<int>(value);
}

template <class T>
Memory<T> numbers(const Run& run) {
  Memory<T> memory{run};
  for (int i = 0; i < count; ++i)
    store(memory.elements[static_cast<std::size_t>(i)], static_cast<long double>(i + run.rank));
  return memory;
}

template <class T>
Memory<Pair<T>> pairs(const Run& run) {
  Memory<Pair<T>> memory{run};
  for (int i = 0; i < count; ++i) {
    const int number = i + run.rank;
    store(memory.elements[static_cast<std::size_t>(i)], static_cast<T>(number));
  }
  return memory;
}

/// Without a hash: their memory has gaps.
template <class T>
void reduce_pairs(const Run& run, MPI_Datatype type) {
  const Memory<Pair<T>> in = pairs<T>(run);
  Memory<Pair<T>> out{run};
  MPI_Allreduce(in.elements.data(), out.elements.data(), count, type, MPI_MAXLOC, MPI_COMM_WORLD);
}

/// Seven calls without a hash.
void use_gaps(const Run& run) {
  const Memory<long double> in = numbers<long double>(run);
  Memory<long double> out{run};
  MPI_Allreduce(in.elements.data(), out.elements.data(), count, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(in.elements.data(), count, MPI_LONG_DOUBLE, out.elements.data(), count, MPI_LONG_DOUBLE,
                MPI_COMM_WORLD);
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 2, MPI_LONG_DOUBLE, &three);
  MPI_Type_commit(&three);
  MPI_Bcast(out.elements.data(), 1, three, 0, MPI_COMM_WORLD);
  MPI_Type_free(&three);
  reduce_pairs<double>(run, MPI_DOUBLE_INT);
  reduce_pairs<short>(run, MPI_SHORT_INT);
  reduce_pairs<long>(run, MPI_LONG_INT);
  reduce_pairs<long double>(run, MPI_LONG_DOUBLE_INT);
}

/// Two calls with a hash: MPI packs pairs that are moved, and integers have no gaps.
void use_others(const Run& run, bool differs) {
  Memory<Pair<double>> moved = pairs<double>(run);
  MPI_Bcast(moved.elements.data(), count, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);
  const int number = run.rank + (differs && run.rank == 0 ? 1 : 0);
  int sum = 0;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void call() {
  for (int i = 0; i < 5; ++i) {
    int sum = 0;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

void abort_after_calls(const Run& run) {
  call();
  constexpr int code = 3;
  if (run.rank == 0) MPI_Abort(MPI_COMM_WORLD, code);
  PMPI_Barrier(MPI_COMM_WORLD);  // until it is ended
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  Run run;
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.size);
  if (std::string_view{argv[1]} == "abort") {
    abort_after_calls(run);
  } else if (std::string_view{argv[1]} == "exit") {
    call();
    PMPI_Barrier(MPI_COMM_WORLD);
    std::exit(0);
  } else if (argc > 2 && run.size <= static_cast<int>(most_ranks)) {
    run.filler = std::atoi(argv[2]);
    use_gaps(run);
    use_others(run, argc > 3);
  }
  MPI_Finalize();
}
