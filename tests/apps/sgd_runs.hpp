#pragma once
// Trainings on some of the ranks, and what is compared of them.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "apps/sgd/checkpoint.hpp"
#include "apps/sgd/trainer.hpp"

namespace tutti::sgd {

/// The first ranks of the world.
class Ranks {
 public:
  /// The first `size` ranks of the world; on the others a null communicator.
  explicit Ranks(int size) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  [[nodiscard]] bool include_me() const { return comm_ != MPI_COMM_NULL; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

inline const DataSet& digits() {
  static const DataSet data = read_csv(TUTTI_TEST_DIGITS);
  return data;
}

template <class T>
std::vector<EpochReport> reports(const Settings& settings, const Split& data, const Communicator& comm) {
  Trainer<T> trainer{settings, data, comm};
  std::vector<EpochReport> reports;
  while (trainer.epochs() < settings.epochs) {
    reports.push_back(trainer.run_epoch());
  }
  return reports;
}

/// What a checkpoint of the training says of it.
inline Identity identity_of(const Settings& settings, const Split& data) {
  const Network network = network_of(settings, data.train);
  return {settings.precision,
          network.name(),
          settings.optimizer,
          network.parameter_count(),
          settings.seed,
          static_cast<std::uint64_t>(settings.batch),
          static_cast<std::uint64_t>(settings.accumulate),
          fingerprint(data)};
}

template <class T>
void expect_same_progress(const Progress<T>& a, const Progress<T>& b) {
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.square, b.square);
}

}  // namespace tutti::sgd
