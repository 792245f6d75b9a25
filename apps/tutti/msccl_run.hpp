#pragma once
// A run of all threadblocks of an algorithm of MSCCL: their steps in one order that their waits allow, and what each
// step knows to come before it.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "apps/tutti/msccl.hpp"

namespace tutti::tool {

/// A step of a threadblock. Threadblocks of all GPUs are numbered through.
struct MscclPlace {
  int thread, step;
};

class MscclRun {
 public:
  /// Throws InputError if there is too much to run. Refers to the algorithm.
  explicit MscclRun(const MscclAlgorithm& algorithm);

  /// A step as it is run. Messages are numbered as they are sent.
  struct Now {
    MscclPlace place;
    const MscclStep& step;
    int sent, received;  ///< The message; -1: none.
  };
  /// Runs all steps, with messages that wait where they arrive. Throws InputError if a step waits in vain, or a message
  /// is not received.
  void run(const std::function<void(const Now& now)>& visit);

  /// Whether a step that was run before comes before the current one of the threadblock in every run.
  [[nodiscard]] bool is_known(const MscclPlace& before, int thread) const {
    return before.thread == thread || threads_[index(thread)].clock[index(before.thread)] > before.step;
  }
  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }
  [[nodiscard]] int gpu_of(int thread) const { return threads_[index(thread)].gpu; }
  [[nodiscard]] const MscclBlock& block_of(int thread) const;
  /// "gpu 0, tb 1, step 2"
  [[nodiscard]] std::string name_of(const MscclPlace& place) const;
  /// Throws InputError that names the step.
  [[noreturn]] void fail(const MscclPlace& place, const std::string& why) const;

 private:
  /// For each threadblock, how many of its steps are known to be complete.
  using Clock = std::vector<int>;
  struct Thread {
    int gpu, block, next = 0;
    Clock clock{};
    std::map<int, Clock> awaited{};  ///< Of steps for which others wait.
  };
  struct Message {
    int number;
    MscclPlace from;
    Clock clock;
  };
  using Way = std::tuple<int, int, int>;  ///< Sender, receiver, channel.

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  bool advance(int thread, const std::function<void(const Now& now)>& visit);

  const MscclAlgorithm& algorithm_;
  std::vector<Thread> threads_{};
  std::vector<int> first_thread_{};  ///< Of each GPU.
  std::map<Way, std::deque<Message>> under_way_{};
  int messages_ = 0;
};

}  // namespace tutti::tool
