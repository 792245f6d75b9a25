#pragma once
// Schedules as numbers, in which one process gives them to another.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti {

class WordWriter {
 public:
  void put(std::int64_t number) { words_.push_back(number); }
  void put(const std::vector<std::int64_t>& numbers);
  void put(std::string_view text);
  void put(const Schedule& schedule);
  [[nodiscard]] std::vector<std::int64_t> words() && { return std::move(words_); }

 private:
  void put(const Region& region);
  void put(const Regions& regions);
  void put(const Reduce& reduce);
  std::vector<std::int64_t> words_{};
};

/// Reads what a WordWriter of the same library wrote, in the same order.
class WordReader {
 public:
  explicit WordReader(std::span<const std::int64_t> words) : words_(words) {}
  [[nodiscard]] std::int64_t number();
  [[nodiscard]] std::vector<std::int64_t> numbers();
  [[nodiscard]] std::string text();
  [[nodiscard]] Schedule schedule();

 private:
  [[nodiscard]] Count count() { return Count{number()}; }
  [[nodiscard]] Rank rank() { return Rank{static_cast<int>(number())}; }
  [[nodiscard]] Region region();
  [[nodiscard]] Regions regions();
  [[nodiscard]] Reduce reduce();
  [[nodiscard]] Action action();
  std::span<const std::int64_t> words_;
};

}  // namespace tutti
