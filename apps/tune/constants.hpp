#pragma once
// Constants of transports: which value is the best here.

#include <string>
#include <string_view>
#include <vector>

#include "apps/tune/contexts.hpp"
#include "lib/core/selection/rule_file.hpp"

namespace tutti::tune {

/// A file of rules that has constants alone, for communicators that are to have them. Rank 0 of the job writes it, and
/// removes it in the end.
class ConstantsFile {
 public:
  /// Collective over MPI_COMM_WORLD. Throws InputError on all ranks if it cannot be written.
  ConstantsFile(std::string path, const TunedConstants& constants);
  ConstantsFile(const ConstantsFile&) = delete;
  ConstantsFile& operator=(const ConstantsFile&) = delete;
  ~ConstantsFile();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// One constant, as it was measured.
struct MeasuredConstant {
  std::string name;
  std::int64_t before = 0, value = 0;
  double gain = 1;        ///< The geometric mean of the time with `before` over that with `value`.
  std::string why_not{};  ///< Why it was not measured.
};

/// Collective over MPI_COMM_WORLD, whose ranks all take part. Each constant in turn, with those before it already set:
/// the calls that it decides about, at sizes around its values, with each value in turns. A value is taken if its mean
/// gain is 3 % or more and it is clearly slower at no size. `path`: of files that are made and removed meanwhile.
/// `seconds`: about so long it may take.
[[nodiscard]] std::vector<MeasuredConstant> measured_constants(const Settings& settings, const Communicator& world,
                                                               const std::string& path, double seconds);

}  // namespace tutti::tune
