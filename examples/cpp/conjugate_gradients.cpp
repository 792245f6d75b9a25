// Conjugate gradients for the Laplacian of a square grid, whose rows are divided among the ranks. The history of
// residuals is printed to the last bit:
//
//     mpirun -n 4 ./conjugate_gradients           the same for any number of ranks: tutti::dot
//     mpirun -n 4 ./conjugate_gradients plain     another one for each number of ranks: each rank sums its own part
//     first
//
// What a program needs for that: the products with the matrix add the entries of a row in the same order wherever the
// row is, and sums over all rows are those of tutti::dot. The rest works on each element by itself.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

constexpr std::int64_t width = 61;  // elements of a row, and rows
using Vector = std::vector<double>;

/// The rows of the grid that this rank has; the first ranks have one more where they cannot be divided evenly.
struct Part {
  explicit Part(const tutti::Communicator& its) : comm(&its) {
    const std::int64_t rank = its.rank().value(), size = its.size();
    rows = width / size + (rank < width % size ? 1 : 0);
    for (int other = 0; other < size; ++other)
      counts.emplace_back(width * (width / size + (other < width % size ? 1 : 0)));
    first = rank * (width / size) + std::min(rank, width % size);
  }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(rows * width); }

  const tutti::Communicator* comm;
  std::int64_t rows = 0, first = 0;
  std::vector<tutti::Count> counts;
};

/// out = A in: four times each element, less its neighbours, always in the order up, left, right, down. A short program
/// gathers the whole vector; a real one would exchange the rows at the edges.
void multiply(const Part& part, const Vector& in, Vector& out) {
  Vector all(static_cast<std::size_t>(width * width));
  tutti::allgatherv(in, all, part.counts, *part.comm);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    const bool is_inside = row >= 0 && row < width && column >= 0 && column < width;
    return is_inside ? all[static_cast<std::size_t>(row * width + column)] : 0.0;
  };
  for (std::int64_t i = 0; i < part.rows * width; ++i) {
    const std::int64_t row = part.first + i / width, column = i % width;
    const double around = at(row - 1, column) + at(row, column - 1) + at(row, column + 1) + at(row + 1, column);
    out[static_cast<std::size_t>(i)] = 4 * at(row, column) - around;
  }
}

double plain_dot(const Vector& x, const Vector& y, const tutti::Communicator& comm) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  tutti::allreduce(sum, tutti::Op::sum, comm);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool is_plain = argc > 1 && std::string_view{argv[1]} == "plain";
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    const auto dot = [&](const Vector& x, const Vector& y) {
      return is_plain ? plain_dot(x, y, comm) : tutti::dot(x, y, comm);
    };
    const Part part{comm};
    Vector solution(part.elements()), residual(part.elements()), direction, product(part.elements());
    for (std::size_t i = 0; i < residual.size(); ++i)
      residual[i] = 1.0 / (1.0 + static_cast<double>(part.first * width + static_cast<std::int64_t>(i)) / 7);
    direction = residual;
    double squares = dot(residual, residual);
    for (int step = 0; step < 40; ++step) {
      if (comm.rank().value() == 0) std::printf("%2d %a\n", step, squares);
      multiply(part, direction, product);
      const double length = squares / dot(direction, product);
      for (std::size_t i = 0; i < solution.size(); ++i) {
        solution[i] += length * direction[i];
        residual[i] -= length * product[i];
      }
      const double before = squares;
      squares = dot(residual, residual);
      for (std::size_t i = 0; i < direction.size(); ++i)
        direction[i] = residual[i] + squares / before * direction[i];
    }
  }
  MPI_Finalize();
}
