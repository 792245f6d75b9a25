#pragma once
// What a fuzzer feeds with bytes: a parser, or an end of a protocol. The same targets are fuzzed (fuzzer.cpp) and
// replayed on the inputs that are kept (corpus_test.cpp).

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti::fuzz {

using Input = std::span<const std::uint8_t>;

struct Target {
  std::string name;  ///< The name of its folder in corpus/, and of its source.
  void (*run)(Input input);
};

/// All that are linked in.
inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

class Registration {
 public:
  explicit Registration(Target target) { targets().push_back(std::move(target)); }
};

/// A fault that an input has shown. No parser throws it.
class Fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
inline void require(bool holds, const std::string& property) {
  if (!holds) throw Fault(property);
}

/// Whether a parser takes its input. It may refuse it by an error of this kind alone, which has to say something.
template <class Refusal, class Parse>
bool is_taken(Parse parse) {
  try {
    parse();
    return true;
  } catch (const Refusal& refusal) {
    require(!std::string_view{refusal.what()}.empty(), "a refusal says nothing");
    return false;
  }
}

/// Takes values off the front of an input, which goes on with zeros where it ends.
class Source {
 public:
  explicit Source(Input rest) : rest_(rest) {}

  [[nodiscard]] bool is_over() const { return rest_.empty(); }
  template <class T>
  [[nodiscard]] T next() {
    static_assert(std::is_integral_v<T>);
    std::array<std::uint8_t, sizeof(T)> bytes{};
    const std::size_t size = std::min(bytes.size(), rest_.size());
    if (size > 0) std::memcpy(bytes.data(), rest_.data(), size);
    rest_ = rest_.subspan(size);
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  /// A number below `end`, of one byte.
  [[nodiscard]] std::size_t below(std::size_t end) { return next<std::uint8_t>() % end; }
  template <class T, std::size_t n>
  [[nodiscard]] const T& one_of(const std::array<T, n>& items) {
    return items[below(n)];
  }
  /// Up to the next such byte, which is taken off, too; all that is left if there is none.
  [[nodiscard]] std::string_view text_to(char end) {
    const std::string_view all = text();
    const std::size_t size = std::min(all.find(end), all.size());
    rest_ = rest_.subspan(std::min(size + 1, all.size()));
    return all.substr(0, size);
  }
  /// All that is left.
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(rest_.data()), rest_.size()}; }

 private:
  Input rest_;
};

}  // namespace tutti::fuzz
