// Every collective with blocks of differing sizes, in every form, against the MPI's own.
#include "tests/c/check.h"

enum { ranks = 8, room = 400 };
static double in[room], out[room], wanted[room];
// The blocks of all ranks: rank r has 5 * r + 1 elements, rank 1 none; with offsets that leave a gap after each.
static int64_t counts[ranks], offsets[ranks];
static int mpi_counts[ranks], mpi_offsets[ranks];

static void fill(void) {
  for (int i = 0; i < room; ++i) {
    in[i] = check_rank * 1000 + i;
    out[i] = wanted[i] = -1;
  }
}

static void make_blocks(int gap) {
  int64_t end = 0;
  for (int r = 0; r < check_size; ++r) {
    counts[r] = r == 1 ? 0 : 5 * r + 1;
    offsets[r] = end;
    end += counts[r] + gap;
    mpi_counts[r] = (int)counts[r];
    mpi_offsets[r] = (int)offsets[r];
  }
}

#define COMPARE(what) CHECK(memcmp(out, wanted, sizeof(out)) == 0 && what)

/// `given`: the offsets, or NULL where blocks lie one after the other.
static void test_lists(int form, const int64_t* given) {
  const int mine = mpi_counts[check_rank], root = check_size - 1;
  fill();
  MPI_Allgatherv(in, mine, MPI_DOUBLE, wanted, mpi_counts, mpi_offsets, MPI_DOUBLE, MPI_COMM_WORLD);
  RUN(form, allgatherv, in, out, counts, given, TUTTI_FP64);
  COMPARE("allgatherv");
  RUN(form, allgatherv, TUTTI_IN_PLACE, out, counts, given, TUTTI_FP64);
  COMPARE("allgatherv in place");

  fill();
  MPI_Gatherv(in, mine, MPI_DOUBLE, wanted, mpi_counts, mpi_offsets, MPI_DOUBLE, root, MPI_COMM_WORLD);
  if (check_rank == root) {
    RUN(form, gatherv, in, mine, out, counts, given, TUTTI_FP64, root);
  } else {
    RUN(form, gatherv, in, mine, NULL, NULL, NULL, TUTTI_FP64, root);
  }
  COMPARE("gatherv");

  fill();
  MPI_Scatterv(in, mpi_counts, mpi_offsets, MPI_DOUBLE, wanted, mine, MPI_DOUBLE, root, MPI_COMM_WORLD);
  if (check_rank == root) {
    RUN(form, scatterv, in, counts, given, out, mine, TUTTI_FP64, root);
  } else {
    RUN(form, scatterv, NULL, NULL, NULL, out, mine, TUTTI_FP64, root);
  }
  COMPARE("scatterv");
}

static void test_reduce_scatterv(int form) {
  fill();
  MPI_Reduce_scatter(in, wanted, mpi_counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  RUN(form, reduce_scatterv, in, out, counts, TUTTI_FP64, TUTTI_SUM);
  COMPARE("reduce_scatterv");
}

/// Rank a sends a + 2 b + 1 elements to rank b.
static void test_alltoalls(int form) {
  int64_t to[ranks], to_offsets[ranks], from[ranks], from_offsets[ranks];
  int mpi_to[ranks], mpi_to_offsets[ranks], mpi_from[ranks], mpi_from_offsets[ranks];
  tutti_type types[ranks];
  int end = 0, end_from = 0;
  for (int r = 0; r < check_size; ++r) {
    to[r] = mpi_to[r] = check_rank + 2 * r + 1;
    from[r] = mpi_from[r] = r + 2 * check_rank + 1;
    to_offsets[r] = mpi_to_offsets[r] = end;
    from_offsets[r] = mpi_from_offsets[r] = end_from;
    end += mpi_to[r] + 1;
    end_from += mpi_from[r] + 2;
    types[r] = TUTTI_FP64;
  }
  fill();
  MPI_Alltoallv(in, mpi_to, mpi_to_offsets, MPI_DOUBLE, out, mpi_from, mpi_from_offsets, MPI_DOUBLE, MPI_COMM_WORLD);
  memcpy(wanted, out, sizeof(out));
  for (int i = 0; i < room; ++i)
    out[i] = -1;
  RUN(form, alltoallv, in, to, to_offsets, out, from, from_offsets, TUTTI_FP64);
  COMPARE("alltoallv");
  // Offsets in bytes; half of the ranks' blocks as twice as many elements of half the size.
  for (int r = 0; r < check_size; ++r) {
    to_offsets[r] *= 8;
    from_offsets[r] *= 8;
    if (r % 2 == 0) continue;
    types[r] = TUTTI_FP32;
    to[r] *= 2;
    from[r] *= 2;
  }
  for (int i = 0; i < room; ++i)
    out[i] = -1;
  RUN(form, alltoallw, in, to, to_offsets, types, out, from, from_offsets, types);
  COMPARE("alltoallw");
}

/// Any two ranks exchange one element; the lists of the input are not looked at.
static void test_in_place(int form) {
  int64_t ones[ranks], bytes[ranks];
  tutti_type types[ranks];
  for (int r = 0; r < check_size; ++r) {
    ones[r] = 1;
    bytes[r] = 8 * r;
    types[r] = TUTTI_UINT64;
  }
  fill();
  MPI_Alltoall(in, 1, MPI_DOUBLE, wanted, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  memcpy(out, in, (size_t)check_size * sizeof(double));
  RUN(form, alltoallv, TUTTI_IN_PLACE, NULL, NULL, out, ones, NULL, TUTTI_FP64);
  COMPARE("alltoallv in place");
  memcpy(out, in, (size_t)check_size * sizeof(double));
  RUN(form, alltoallw, TUTTI_IN_PLACE, NULL, NULL, NULL, out, ones, bytes, types);
  COMPARE("alltoallw in place");
}

void run_tests(void) {
  for (int form = 0; form < FORMS; ++form) {
    make_blocks(0);
    test_lists(form, NULL);
    test_reduce_scatterv(form);
    make_blocks(3);
    test_lists(form, offsets);
    test_alltoalls(form);
    test_in_place(form);
  }
}
