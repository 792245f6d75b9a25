#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology.hpp"

namespace tutti::simulator {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// A host has a cable to the next one of each dimension, whose two links are numbered by it.
class Torus : public Topology {
 public:
  Torus(std::vector<int> dimensions, const LinkRates& link) : dimensions_(std::move(dimensions)) {
    hosts_ = 1;
    for (int dimension = 0; dimension < count(); ++dimension) {
      strides_.push_back(hosts_);
      hosts_ *= dimensions_[index(dimension)];
      kinds_.push_back(fmt::format("dimension {} up", dimension));
      kinds_.push_back(fmt::format("dimension {} down", dimension));
    }
    vertices_ = hosts_;
    for (int host = 0; host < hosts_; ++host) {
      for (int dimension = 0; dimension < count(); ++dimension) {
        add_link(host, next(host, dimension), 2 * dimension, link);
        add_link(next(host, dimension), host, 2 * dimension + 1, link);
      }
    }
  }

  void route(int from, int to, std::vector<int>& links) const override {
    int here = from;
    for (int dimension = 0; dimension < count(); ++dimension) {
      const bool goes_up = is_up(place(from, dimension), place(to, dimension), dimensions_[index(dimension)]);
      while (place(here, dimension) != place(to, dimension)) {
        const int other = goes_up ? next(here, dimension) : previous(here, dimension);
        links.push_back(goes_up ? link_of(here, dimension) : link_of(other, dimension) + 1);
        here = other;
      }
    }
  }

  [[nodiscard]] std::vector<Partition> partitions() const override {
    std::vector<Partition> all;
    for (int dimension = 0; dimension < count(); ++dimension) {
      const int size = dimensions_[index(dimension)];
      if (size < 2) continue;
      Partition planes{fmt::format("planes of dimension {}", dimension), {}, size};
      Partition halves{fmt::format("halves of dimension {}", dimension), {}, 2};
      for (int host = 0; host < hosts_; ++host) {
        planes.group_of.push_back(place(host, dimension));
        halves.group_of.push_back(place(host, dimension) < size / 2 ? 0 : 1);
      }
      all.push_back(std::move(planes));
      if (size > 2) all.push_back(std::move(halves));
    }
    return all;
  }

  [[nodiscard]] std::string name_of_vertex(int vertex) const override {
    std::vector<int> places;
    for (int dimension = 0; dimension < count(); ++dimension)
      places.push_back(place(vertex, dimension));
    return fmt::format("host {} ({})", vertex, fmt::join(places, ","));
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(dimensions_.size()); }
  [[nodiscard]] int place(int host, int dimension) const {
    return host / strides_[index(dimension)] % dimensions_[index(dimension)];
  }
  [[nodiscard]] int moved(int host, int dimension, int by) const {
    const int size = dimensions_[index(dimension)], at = place(host, dimension);
    return host + ((at + by + size) % size - at) * strides_[index(dimension)];
  }
  [[nodiscard]] int next(int host, int dimension) const { return moved(host, dimension, 1); }
  [[nodiscard]] int previous(int host, int dimension) const { return moved(host, dimension, -1); }
  [[nodiscard]] int link_of(int host, int dimension) const { return 2 * (host * count() + dimension); }
  /// The shorter way; SimGrid's choice where both are as short.
  static bool is_up(int from, int to, int size) {
    const int half = size / 2;
    return (to > from && to <= from + half) || (from > half && (from + half) % size >= to);
  }

  std::vector<int> dimensions_, strides_;
};

}  // namespace

std::unique_ptr<Topology> torus(const std::vector<int>& dimensions, const LinkRates& link) {
  return std::make_unique<Torus>(dimensions, link);
}

}  // namespace tutti::simulator
