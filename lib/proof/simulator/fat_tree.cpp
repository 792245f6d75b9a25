#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology.hpp"

namespace tutti::simulator {
namespace {

constexpr std::size_t most_levels = 8;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// A vertex of level l has a label of one digit for each level: below l, which of the parents it is of those of level i
/// + 1; from l on, which child its ancestors are. Its position in the level counts the labels, first digit first.
class FatTree : public Topology {
 public:
  FatTree(FatTreeForm form, const LinkRates& link)
      : form_(std::move(form)), levels_(static_cast<int>(form_.children.size())) {
    for (int level = 0; level <= levels_; ++level) {
      first_.push_back(vertices_);
      vertices_ += size_of(level);
    }
    hosts_ = size_of(0);
    for (int level = 0; level < levels_; ++level) {
      kinds_.push_back(level == 0 ? "host up" : fmt::format("level {} up", level));
      kinds_.push_back(level == 0 ? "host down" : fmt::format("level {} down", level));
      first_link_.push_back(static_cast<int>(links_.size()));
      for (int position = 0; position < size_of(level); ++position)
        link_upwards(level, position, link);
    }
  }

  void route(int from, int to, std::vector<int>& links) const override {
    const Label destination = label_of(0, to);
    Label here = label_of(0, from);
    int level = 0, divided = to;
    for (; level == 0 || !is_below(level, here, destination); ++level) {
      const int port = divided % ports(level);
      divided /= ports(level);
      links.push_back(link_of(level, here, port));
      here[index(level)] = port % form_.parents[index(level)];
    }
    for (; level > 0; --level) {
      const int lower = level - 1;
      const int cable = from % form_.cables[index(lower)];
      const int port = here[index(lower)] + cable * form_.parents[index(lower)];
      here[index(lower)] = destination[index(lower)];
      links.push_back(link_of(lower, here, port) + 1);
    }
  }

  [[nodiscard]] std::vector<Partition> partitions() const override {
    std::vector<Partition> all;
    for (int top = 1; top < levels_; ++top) {
      Partition partition{fmt::format("subtrees of level {}", top), std::vector<int>(index(vertices_), -1), 1};
      for (int level = top; level < levels_; ++level)
        partition.groups *= form_.children[index(level)];
      for (int level = 0; level <= top; ++level)
        for (int position = 0; position < size_of(level); ++position)
          partition.group_of[index(first_[index(level)] + position)] = subtree_of(top, label_of(level, position));
      all.push_back(std::move(partition));
    }
    return all;
  }

  [[nodiscard]] std::string name_of_vertex(int vertex) const override {
    int level = levels_;
    while (vertex < first_[index(level)])
      --level;
    return level == 0 ? fmt::format("host {}", vertex)
                      : fmt::format("switch {}.{}", level, vertex - first_[index(level)]);
  }

 private:
  using Label = std::array<int, most_levels>;
  [[nodiscard]] int digits(int level, int digit) const {
    return digit < level ? form_.parents[index(digit)] : form_.children[index(digit)];
  }
  [[nodiscard]] int size_of(int level) const {
    int size = 1;
    for (int digit = 0; digit < levels_; ++digit)
      size *= digits(level, digit);
    return size;
  }
  [[nodiscard]] int ports(int level) const { return form_.parents[index(level)] * form_.cables[index(level)]; }
  [[nodiscard]] Label label_of(int level, int position) const {
    Label label{};
    for (int digit = 0; digit < levels_; position /= digits(level, digit), ++digit)
      label[index(digit)] = position % digits(level, digit);
    return label;
  }
  [[nodiscard]] int position_of(int level, const Label& label) const {
    int position = 0;
    for (int digit = levels_ - 1; digit >= 0; --digit)
      position = position * digits(level, digit) + label[index(digit)];
    return position;
  }
  [[nodiscard]] bool is_below(int level, const Label& root, const Label& host) const {
    return std::equal(root.begin() + level, root.begin() + levels_, host.begin() + level);
  }
  [[nodiscard]] int subtree_of(int top, const Label& label) const {
    int group = 0;
    for (int digit = levels_ - 1; digit >= top; --digit)
      group = group * form_.children[index(digit)] + label[index(digit)];
    return group;
  }
  /// The link up from a vertex by one of its ports; the one down the same cable follows it.
  [[nodiscard]] int link_of(int level, const Label& label, int port) const {
    return first_link_[index(level)] + 2 * (position_of(level, label) * ports(level) + port);
  }
  void link_upwards(int level, int position, const LinkRates& link) {
    const int vertex = first_[index(level)] + position;
    for (int port = 0; port < ports(level); ++port) {
      Label parent = label_of(level, position);
      parent[index(level)] = port % form_.parents[index(level)];
      const int above = first_[index(level + 1)] + position_of(level + 1, parent);
      add_link(vertex, above, 2 * level, link);
      add_link(above, vertex, 2 * level + 1, link);
    }
  }

  FatTreeForm form_;
  int levels_;
  std::vector<int> first_, first_link_;  // by level: vertices, links upwards from them
};

}  // namespace

std::unique_ptr<Topology> fat_tree(const FatTreeForm& form, const LinkRates& link) {
  return std::make_unique<FatTree>(form, link);
}

}  // namespace tutti::simulator
