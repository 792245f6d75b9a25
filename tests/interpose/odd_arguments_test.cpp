// What is odd: no data and no buffers, buffers in gaps, absolute addresses, elements of several types.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "tests/interpose/memory.hpp"

namespace tutti::test {
namespace {

/// Elements of a double, an integer and two characters, at the given places.
MPI_Datatype mixed(const std::array<MPI_Aint, 3>& places, MPI_Aint extent) {
  const std::array<int, 3> lengths{1, 1, 2};
  const std::array<MPI_Datatype, 3> types{MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Datatype fields = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &fields);
  MPI_Type_create_resized(fields, 0, extent, &type);
  MPI_Type_free(&fields);
  MPI_Type_commit(&type);
  return type;
}

TEST(Odd, ElementsOfSeveralTypesHaveAnotherLayoutOnEachRank) {
  std::array<MPI_Datatype, 3> types{mixed({0, 8, 12}, 16), mixed({8, 0, 4}, 24), mixed({2, 14, 0}, 18)};
  const auto mine = static_cast<std::size_t>(rank_in()) % 3;
  compare("allgather of structs", 1024, 8192, [&](const Calls& calls, void* in, void* out) {
    return calls.Allgather(in, 5, types[mine], out, 5, types[(mine + 1) % 3], MPI_COMM_WORLD);
  });
  compare("bcast of structs", 0, 1024, [&](const Calls& calls, void*, void* data) {
    return calls.Bcast(data, 7, types[mine], size_of() - 1, MPI_COMM_WORLD);
  });
  for (MPI_Datatype& type : types)
    MPI_Type_free(&type);
}

/// Integers at the absolute addresses of two places.
MPI_Datatype absolute(void* first, void* second) {
  std::array<MPI_Aint, 2> places{};
  MPI_Get_address(first, places.data());
  MPI_Get_address(second, &places[1]);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(2, 3, places.data(), MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

TEST(Odd, BottomWithAbsoluteAddresses) {
  for (int root = 0; root < size_of(); ++root)
    compare("bcast from MPI_BOTTOM", 512, 512, [&](const Calls& calls, void* in, void* out) {
      MPI_Datatype type = absolute(static_cast<std::byte*>(out) + 100, rank_in() == root ? in : out);
      const int code = calls.Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
      MPI_Type_free(&type);
      return code;
    });
  compare("allgather from MPI_BOTTOM", 512, 512, [&](const Calls& calls, void* in, void* out) {
    MPI_Datatype type = absolute(static_cast<std::byte*>(in) + 64, in);
    const int code = calls.Allgather(MPI_BOTTOM, 1, type, out, 6, MPI_INT, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    return code;
  });
}

TEST(Odd, BottomWithAbsoluteAddressesOfEachBlock) {
  const auto ranks = static_cast<std::size_t>(size_of());
  compare("alltoallw from MPI_BOTTOM", 4096, 4096, [&](const Calls& calls, std::byte* in, std::byte* out) {
    const std::vector<N> counts(ranks, 1);
    const std::vector<D> places(ranks, 0);
    std::vector<MPI_Datatype> sent, received;
    for (std::size_t i = 0; i < ranks; ++i) {
      sent.push_back(absolute(in + 24 * i, in + 24 * i + 1024));
      received.push_back(absolute(out + 24 * i + 1024, out + 24 * i));
    }
    const int code = calls.Alltoallw(MPI_BOTTOM, counts.data(), places.data(), sent.data(), MPI_BOTTOM, counts.data(),
                                     places.data(), received.data(), MPI_COMM_WORLD);
    for (std::size_t i = 0; i < ranks; ++i) {
      MPI_Type_free(&sent[i]);
      MPI_Type_free(&received[i]);
    }
    return code;
  });
}

TEST(Odd, NoDataInNoBuffers) {
  compare("bcast of nothing", 0, 64,
          [](const Calls& calls, void*, void*) { return calls.Bcast(nullptr, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD); });
  compare("allreduce of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  });
  compare("reduce of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Reduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  });
  compare("allgather of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_CHAR, MPI_COMM_WORLD);
  });
  compare("gather of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_CHAR, 0, MPI_COMM_WORLD);
  });
  compare("scatter of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Scatter(nullptr, 0, MPI_INT, nullptr, 0, MPI_CHAR, 0, MPI_COMM_WORLD);
  });
  compare("alltoall of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_CHAR, MPI_COMM_WORLD);
  });
  compare("scan of nothing", 0, 64, [](const Calls& calls, void*, void*) {
    return calls.Scan(nullptr, nullptr, 0, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  });
}

TEST(Odd, ATypeOfNoBytes) {
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  compare("bcast of empty elements", 0, 64,
          [&](const Calls& calls, void*, void* data) { return calls.Bcast(data, 5, nothing, 0, MPI_COMM_WORLD); });
  compare("allgather of empty elements", 64, 64, [&](const Calls& calls, void* in, void* out) {
    return calls.Allgather(in, rank_in() % 2, nothing, out, 0, MPI_INT, MPI_COMM_WORLD);
  });
  MPI_Type_free(&nothing);
}

TEST(Odd, ArgumentsThatOnlyTheRootUsesMayBeAnything) {
  for (int root = 0; root < size_of(); ++root) {
    const bool at_root = rank_in() == root;
    const N count = at_root ? 3 : -7;
    const MPI_Datatype type = at_root ? MPI_INT : MPI_DATATYPE_NULL;
    compare("gather with nonsense elsewhere", 64, 1024, [&](const Calls& calls, void* in, void* out) {
      return calls.Gather(in, 3, MPI_INT, at_root ? out : nullptr, count, type, root, MPI_COMM_WORLD);
    });
    compare("scatter with nonsense elsewhere", 1024, 64, [&](const Calls& calls, void* in, void* out) {
      return calls.Scatter(at_root ? in : nullptr, count, type, out, 3, MPI_INT, root, MPI_COMM_WORLD);
    });
    compare("gatherv with nonsense elsewhere", 64, 1024, [&](const Calls& calls, void* in, void* out) {
      const std::vector<N> counts(static_cast<std::size_t>(size_of()), 3);
      const std::vector<D> places{0, 3, 6, 9, 12, 15, 18, 21};
      return calls.Gatherv(in, 3, MPI_INT, at_root ? out : nullptr, at_root ? counts.data() : nullptr,
                           at_root ? places.data() : nullptr, type, root, MPI_COMM_WORLD);
    });
    compare("reduce without an output elsewhere", 64, 64, [&](const Calls& calls, void* in, void* out) {
      return calls.Reduce(in, at_root ? out : nullptr, 4, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    });
  }
}

/// MPI 4.1, 6.11.2: the output is not significant there.
TEST(Odd, ExscanNeedsNoOutputOnTheFirstRank) {
  Memory in{64, 1}, out{64, 2};
  const bool is_first = rank_in() == 0;
  std::vector<int> values(4, rank_in() + 1);
  std::memcpy(in.data(), values.data(), 16);
  EXPECT_EQ(served.Exscan(in.data(), is_first ? nullptr : out.data(), 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
            MPI_SUCCESS);
  std::memcpy(values.data(), out.data(), 16);
  const int expected = rank_in() * (rank_in() + 1) / 2;
  EXPECT_TRUE(is_first || values == std::vector<int>(4, expected));
}

TEST(Odd, TypesAndOperationsAreFreedRightAfterUse) {
  for (int i = 0; i < 200; ++i)
    compare("bcast of a type made for it", 0, 1024, [&](const Calls& calls, void*, void* data) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_vector(3, 1 + i % 3, 5, MPI_INT, &type);
      MPI_Type_commit(&type);
      const int code = calls.Bcast(data, 2, type, i % size_of(), MPI_COMM_WORLD);
      MPI_Type_free(&type);
      return code;
    });
}

}  // namespace
}  // namespace tutti::test
