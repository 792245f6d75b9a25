#include "exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti::simulator {
namespace {

using Kind = JoinedSchedules::Kind;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

class Writer {
 public:
  Writer(const JoinedSchedules& joined, const Rates& rates, std::int64_t element)
      : joined_(joined), rates_(rates), element_(element) {}

  [[nodiscard]] std::string text_of(int rank) const {
    const int first = joined_.firsts[index(rank)], end = joined_.end_of(rank);
    std::string text = fmt::format("rank {} {{\n", rank), order;
    for (int step = first; step < end; ++step) {
      text += line_of(step, first);
      for (const int follower : joined_.followers_of(step))
        order += fmt::format("l{} requires {}\n", follower - first, last_label(step, first));
    }
    return text + order + "}\n";
  }

 private:
  [[nodiscard]] const JoinedSchedules::Node& node(int step) const { return joined_.nodes[index(step)]; }
  [[nodiscard]] std::int64_t bytes_of(int step) const { return node(step).elements * element_; }
  [[nodiscard]] bool has_reduction(int step) const { return node(step).kind == Kind::recv && node(step).elements > 0; }
  /// What is complete when the step is: a receive with a reduction is two lines.
  [[nodiscard]] std::string last_label(int step, int first) const {
    return fmt::format("l{}{}", step - first, has_reduction(step) ? "r" : "");
  }
  [[nodiscard]] std::string work(double microseconds_a_byte, int step) const {
    constexpr double nanoseconds = 1e3;
    return fmt::format("calc {}\n",
                       std::llround(microseconds_a_byte * nanoseconds * static_cast<double>(bytes_of(step))));
  }
  /// The place of the send among its rank's steps tells messages of a pair apart.
  [[nodiscard]] std::string message(int send) const {
    const int tag = send - joined_.firsts[index(node(send).rank)];
    return fmt::format("tag {}\n", tag);
  }
  [[nodiscard]] std::string line_of(int step, int first) const {
    const std::string label = fmt::format("l{}: ", step - first);
    const int partner = node(step).partner;
    switch (node(step).kind) {
      case Kind::send:
        return fmt::format("{}send {}b to {} {}", label, std::max<std::int64_t>(bytes_of(step), 1), node(partner).rank,
                           message(step));
      case Kind::recv: {
        std::string text = fmt::format("{}recv {}b from {} {}", label, std::max<std::int64_t>(bytes_of(partner), 1),
                                       node(partner).rank, message(partner));
        if (!has_reduction(step)) return text;
        const std::string both = last_label(step, first);
        return fmt::format("{}{}: {}{} requires l{}\n", text, both, work(rates_.reduced, step), both, step - first);
      }
      case Kind::reduce:
        return label + work(rates_.reduced, step);
      case Kind::copy:
        return label + work(rates_.copied, step);
    }
    return {};
  }

  const JoinedSchedules& joined_;
  const Rates& rates_;
  std::int64_t element_;
};

}  // namespace

void write_goal(const JoinedSchedules& joined, const Rates& rates, std::int64_t element,
                const std::function<void(std::string_view piece)>& write) {
  write(fmt::format("num_ranks {}\n\n", joined.ranks));
  const Writer writer{joined, rates, element};
  for (int rank = 0; rank < joined.ranks; ++rank)
    write(writer.text_of(rank));
}

}  // namespace tutti::simulator
