#pragma once
// For tests with a main of their own: they initialise or finalize MPI in ways that a suite cannot.

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::test {

/// Counts failed checks and reports them on stderr.
class Checks {
 public:
  void expect(bool holds, std::string_view what) {
    if (holds) return;
    ++failures_;
    std::fprintf(stderr, "FAILED: %.*s\n", static_cast<int>(what.size()), what.data());
  }

  /// `call` must throw a StateError whose text has `part`.
  template <class Call>
  void expect_state_error(Call call, std::string_view part, std::string_view what) {
    try {
      call();
      expect(false, std::string{what} + ": nothing was thrown");
    } catch (const StateError& error) {
      const std::string text{error.what()};
      expect(text.find(part) != std::string::npos,
             std::string{what} + ": '" + std::string{part} + "' is not in: " + text);
    } catch (const std::exception& error) {
      expect(false, std::string{what} + ": another kind of exception: " + error.what());
    }
  }

  [[nodiscard]] int exit_status() const { return failures_ == 0 ? 0 : 1; }

 private:
  int failures_ = 0;
};

}  // namespace tutti::test
