// Where the ranks of a job are, and what the library was built with.
#include <mpi.h>

#include <cstdio>

#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    if (comm.rank() == tutti::Rank{0}) {
      for (const tutti::Component& component : tutti::components())
        std::printf("%s: %s\n", component.name.c_str(), component.description.c_str());
      std::printf("%d ranks on %d nodes\n", comm.size(), comm.node_count());
    }
    tutti::barrier(comm);
  }
  MPI_Finalize();
}
