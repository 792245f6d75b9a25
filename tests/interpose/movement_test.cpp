// Collectives that move equal blocks: every datatype, another one on each rank, every root, in place, no data.
#include <gtest/gtest.h>

#include "tests/interpose/memory.hpp"
#include "tests/interpose/shapes.hpp"

namespace tutti::test {
namespace {

/// What this rank sends and receives with: another shape on each rank.
struct Shapes {
  const Shape& sent;
  const Shape& received;
  std::string name;
};

Shapes shapes_for(std::size_t first, std::size_t step) {
  const auto& all = shapes();
  const std::size_t at = first + static_cast<std::size_t>(rank_in()) * step;
  const Shape &sent = all[at % all.size()], &received = all[(at + 1 + step) % all.size()];
  return {sent, received, "sent '" + sent.name + "', received '" + received.name + "'"};
}

/// Once with the same shapes on all ranks, and twice with different ones.
class Movement : public testing::TestWithParam<std::size_t> {
 protected:
  template <class Check>
  static void for_all_shapes(const Check& check) {
    for (std::size_t step = 0; step < 3; ++step)
      check(shapes_for(GetParam(), step));
  }
  template <class Check>
  static void for_all_roots(const Check& check) {
    for_all_shapes([&](const Shapes& shapes) {
      for (int root = 0; root < size_of(); ++root)
        check(shapes, root);
    });
  }
};

std::size_t room() { return static_cast<std::size_t>(size_of()) * block_bytes; }

TEST_P(Movement, Bcast) {
  for_all_roots([](const Shapes& shapes, int root) {
    compare("bcast of " + shapes.name, 0, block_bytes, [&](const Calls& calls, void*, void* data) {
      return calls.Bcast(data, shapes.sent.elements(), shapes.sent.type, root, MPI_COMM_WORLD);
    });
  });
}

TEST_P(Movement, Gather) {
  for_all_roots([](const Shapes& shapes, int root) {
    compare("gather, " + shapes.name, block_bytes, room(), [&](const Calls& calls, void* in, void* out) {
      return calls.Gather(in, shapes.sent.elements(), shapes.sent.type, out, shapes.received.elements(),
                          shapes.received.type, root, MPI_COMM_WORLD);
    });
    compare("gather in place, " + shapes.name, block_bytes, room(), [&](const Calls& calls, void* in, void* out) {
      const bool at_root = rank_in() == root;
      return calls.Gather(at_root ? MPI_IN_PLACE : in, shapes.sent.elements(), shapes.sent.type,
                          at_root ? out : nullptr, shapes.received.elements(), shapes.received.type, root,
                          MPI_COMM_WORLD);
    });
  });
}

TEST_P(Movement, Scatter) {
  for_all_roots([](const Shapes& shapes, int root) {
    compare("scatter, " + shapes.name, room(), block_bytes, [&](const Calls& calls, void* in, void* out) {
      return calls.Scatter(in, shapes.sent.elements(), shapes.sent.type, out, shapes.received.elements(),
                           shapes.received.type, root, MPI_COMM_WORLD);
    });
    compare("scatter in place, " + shapes.name, room(), block_bytes, [&](const Calls& calls, void* in, void* out) {
      const bool at_root = rank_in() == root;
      return calls.Scatter(at_root ? in : nullptr, shapes.sent.elements(), shapes.sent.type,
                           at_root ? MPI_IN_PLACE : out, shapes.received.elements(), shapes.received.type, root,
                           MPI_COMM_WORLD);
    });
  });
}

TEST_P(Movement, Allgather) {
  for_all_shapes([](const Shapes& shapes) {
    compare("allgather, " + shapes.name, block_bytes, room(), [&](const Calls& calls, void* in, void* out) {
      return calls.Allgather(in, shapes.sent.elements(), shapes.sent.type, out, shapes.received.elements(),
                             shapes.received.type, MPI_COMM_WORLD);
    });
    compare("allgather in place, " + shapes.name, 0, room(), [&](const Calls& calls, void*, void* out) {
      return calls.Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, shapes.received.elements(), shapes.received.type,
                             MPI_COMM_WORLD);
    });
  });
}

TEST_P(Movement, Alltoall) {
  for_all_shapes([](const Shapes& shapes) {
    compare("alltoall, " + shapes.name, room(), room(), [&](const Calls& calls, void* in, void* out) {
      return calls.Alltoall(in, shapes.sent.elements(), shapes.sent.type, out, shapes.received.elements(),
                            shapes.received.type, MPI_COMM_WORLD);
    });
    compare("alltoall in place, " + shapes.name, 0, room(), [&](const Calls& calls, void*, void* out) {
      return calls.Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, shapes.received.elements(), shapes.received.type,
                            MPI_COMM_WORLD);
    });
  });
}

// By number: the types themselves are made after MPI_Init.
INSTANTIATE_TEST_SUITE_P(Shapes, Movement, testing::Range(std::size_t{0}, number_of_shapes));

}  // namespace
}  // namespace tutti::test
