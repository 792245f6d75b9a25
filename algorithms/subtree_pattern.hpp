#pragma once
// The blocks below a rank of a tree, where gather and scatter keep them.

#include "tutti/patterns.hpp"

namespace tutti {

/// The blocks of the ranks first..last-1 below a rank that is not the root, its own first, as they lie one after the
/// other in a buffer that has no room for its own.
class Subtree {
 public:
  /// Blocks have the problem's count, or the sizes that the rank has learned.
  Subtree(const Problem& problem, const SplitTree& tree) : Subtree(problem, tree.first(), tree.last()) {}
  /// `first` is the rank's own place in the order of the blocks, `last` - 1 that of the last rank below it.
  Subtree(const Problem& problem, int first, int last) : first_(first) {
    const int ranks = last - first;
    if (problem.uneven()) {
      own_ = problem.learned.front();
      if (ranks > 1) others_ = Blocks{Buffer::scratch, {problem.learned.subspan(1), {}}};
    } else {
      own_ = problem.count;
      others_ = Blocks{{Buffer::scratch, Count{0}, (ranks - 1) * own_}, std::max(ranks - 1, 1)};
    }
    count_ = ranks > 1 ? others_.span(0, ranks - 1).count : Count{0};
  }
  /// Elements of all blocks but the own one.
  [[nodiscard]] Count count() const { return count_; }
  [[nodiscard]] Region others() const { return {Buffer::scratch, Count{0}, count_}; }
  /// The blocks of a child's subtree, whose places are first..last-1.
  template <class Child>
  [[nodiscard]] Region below(const Child& child) const {
    return others_.span(child.first - first_ - 1, child.last - first_ - 1);
  }

 private:
  int first_;
  Count own_, count_;
  Blocks others_{{Buffer::scratch, Count{0}, Count{0}}, 1};
};

/// A tree by numbers, seen from its root.
struct SubtreeFigures {
  int children = 0;  ///< Children of the root.
  int depth = 0;     ///< Messages from the root to the rank farthest from it.
  int largest = 0;   ///< Ranks of the largest subtree of a child.
  SubtreeFigures(const SplitTree& root, int radix) {
    for (const auto& level : root.levels()) {
      for (const auto& child : level) {
        const int ranks = child.last - child.first;
        int below = 0;  // a subtree's root is its first rank, so that its largest part hangs from another
        for (int rest = ranks; rest > 1; rest = (rest + radix - 1) / radix)
          ++below;
        ++children;
        depth = std::max(depth, 1 + below);
        largest = std::max(largest, ranks);
      }
    }
  }
};

}  // namespace tutti
