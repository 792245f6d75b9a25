#pragma once

#include <string_view>

namespace tutti::bench {

/// A line that shows people the progress, and leaves no trace: on stderr, only if that is a terminal: nothing of it
/// gets into pipes and files.
class Progress {
 public:
  enum class Speaker : bool { no, yes };
  explicit Progress(Speaker speaker);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(std::string_view text) const;
  /// Before anything else is printed.
  void clear() const;

 private:
  bool is_shown_;
};

}  // namespace tutti::bench
