#include <mpi.h>

#include <cstdio>
#include <vector>

#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    const std::vector<float> mine(1000, 1.0F);
    std::vector<float> sum(mine.size());
    tutti::allreduce(mine, sum, tutti::Op::sum, comm);
    tutti::Request request = tutti::allreduce_async(sum, tutti::Op::max, comm);  // in place
    // Other work fits here.
    request.wait();
    if (comm.rank() == tutti::Rank{0}) std::printf("%d ranks, sum %g\n", comm.size(), sum[0]);
  }  // before MPI_Finalize
  MPI_Finalize();
}
