#pragma once
// A communicator of the program's, as the interposer knows it.

#include <mpi.h>

#include <optional>
#include <string>

#include "interpose/policy.hpp"
#include "tutti/communicator.hpp"

namespace tutti::interpose {

/// Made at the first collective on a communicator, and kept with it as an attribute until the program frees it.
class Target {
 public:
  /// Collective over `comm`. Never throws for what all ranks find alike: then it is not served.
  Target(MPI_Comm comm, const Wishes& wishes);

  [[nodiscard]] bool is_served() const { return communicator_.has_value(); }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] const Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const Place& place() const { return place_; }
  /// Whether this MPI calls it an error if the same buffer is given twice.
  [[nodiscard]] bool refuses_aliases() const { return refuses_aliases_; }

  [[nodiscard]] bool serves(Function function) const { return served_[index_of(function)].most >= 0; }
  [[nodiscard]] bool serves(Function function, std::int64_t bytes) const {
    return served_[index_of(function)].contain(bytes);
  }

 private:
  void open(MPI_Comm comm);

  int rank_ = 0, size_ = 1;
  bool refuses_aliases_;
  Place place_{};
  Served served_{};
  std::optional<Communicator> communicator_;
  std::string why_not_;
};

}  // namespace tutti::interpose
