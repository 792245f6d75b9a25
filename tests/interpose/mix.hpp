#pragma once
// Requests of every kind under way at once: of served and of passed collectives, and MPI's own.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/interpose/works.hpp"
#include "tests/interpose/world.hpp"

namespace tutti::test {

/// All ranks make one, and complete its requests in any way.
class Mix {
 public:
  enum Kind : std::size_t {
    sum,
    received,
    null,
    passed,
    inactive,
    generalized,
    barrier,
    received_persistent,
    sent,
    column,
    sent_persistent,
    between,
    kinds
  };

  Mix();
  Mix(const Mix&) = delete;
  Mix& operator=(const Mix&) = delete;
  ~Mix();

  [[nodiscard]] MPI_Request* data() { return requests_.data(); }
  [[nodiscard]] MPI_Request& operator[](std::size_t i) { return requests_[i]; }
  [[nodiscard]] static int count() { return static_cast<int>(kinds); }
  /// Which requests are active, so that a wait completes them.
  [[nodiscard]] std::vector<bool> active() const;
  /// The generalized request, whose status is of two integers from rank 5, is over.
  void complete_generalized();

  /// Where MPI defines it.
  void expect_status(std::size_t i, const MPI_Status& status) const;
  /// All are completed: the data, and null and inactive requests.
  void expect_over();

 private:
  static constexpr int much = 5;
  [[nodiscard]] bool has_between() const { return inter_ != MPI_COMM_NULL; }

  int rank_ = rank_in(), size_ = size_of(), left_ = (rank_ + size_ - 1) % size_, right_ = (rank_ + 1) % size_;
  std::array<MPI_Request, kinds> requests_{};
  MPI_Request generalized_ = MPI_REQUEST_NULL;
  MPI_Comm inter_ = MPI_COMM_NULL, half_ = MPI_COMM_NULL;
  std::array<int, 3> sent_{}, received_{};
  std::array<int, much> sent_again_{}, received_again_{}, own_{}, sum_{};
  std::array<int, 8> column_{};
  int product_ = 0;
};

}  // namespace tutti::test
