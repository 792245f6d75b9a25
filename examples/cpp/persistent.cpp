// A call that is prepared once and runs many times: power iteration for the largest eigenvalue of a matrix whose rows
// the ranks share. All checks, the choice of the algorithm and its schedule are done before the loop.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    constexpr int rows = 50;  // of each rank
    const int all = rows * comm.size(), first = rows * comm.rank().value();
    std::vector<double> vector(static_cast<std::size_t>(all), 1.0), mine(rows);
    // Every rank's part of the next vector goes to all ranks.
    tutti::Plan gather = tutti::plan_allgather(mine, vector, comm);
    if (comm.rank() == tutti::Rank{0}) std::printf("%s\n", gather.explain().c_str());

    double eigenvalue = 0;
    for (int step = 0; step < 2000; ++step) {
      double largest = 0;
      for (int i = 0; i < rows; ++i) {  // the matrix: 2 on the diagonal, -1 beside it
        const auto at = [&](int k) { return k < 0 || k >= all ? 0.0 : vector[static_cast<std::size_t>(k)]; };
        // The first vector has parts of all eigenvectors.
        mine[static_cast<std::size_t>(i)] =
            step == 0 ? 1.0 / (1 + first + i) : 2 * at(first + i) - at(first + i - 1) - at(first + i + 1);
        largest = std::max(largest, std::abs(mine[static_cast<std::size_t>(i)]));
      }
      tutti::allreduce(largest, tutti::Op::max, comm);  // in place: a scalar is a buffer, too
      for (double& value : mine)
        value /= largest;
      eigenvalue = largest;
      gather.start();
      gather.wait();
    }
    const double exact = 2 + 2 * std::cos(std::acos(-1.0) / (all + 1));
    if (comm.rank() == tutti::Rank{0}) std::printf("eigenvalue %.3f, exactly %.3f\n", eigenvalue, exact);
  }
  MPI_Finalize();
}
