#pragma once
// Streams, events and graphs for tests, over the fake driver or a real one. Needs no header of CUDA.

#include <cstddef>
#include <cstdint>
#include <functional>

struct CUstream_st;

namespace tutti::test {

/// A stream of the current context that does not wait for the legacy stream.
class TestStream {
 public:
  enum class Priority { usual, greatest };
  explicit TestStream(Priority priority = Priority::usual);
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  ~TestStream();

  [[nodiscard]] CUstream_st* get() const { return stream_; }
  void copy(void* to, const void* from, std::size_t bytes) const;
  void fill(void* to, unsigned char value, std::size_t bytes) const;
  /// Later work waits until a word in pinned memory is 1.
  void wait_for(const volatile std::uint32_t* word) const;
  /// Later work waits for all that the other stream has so far.
  void wait_for(const TestStream& other) const;
  void synchronize() const;
  [[nodiscard]] bool is_idle() const;

 private:
  CUstream_st* stream_ = nullptr;
};

/// A graph of all that `work` puts into a stream.
class TestGraph {
 public:
  TestGraph(const TestStream& stream, const std::function<void()>& work);
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;
  ~TestGraph();
  void launch(const TestStream& stream) const;

 private:
  void* executable_ = nullptr;
};

/// Begins a capture and ends it, with what `work` does in between; false: the capture was lost.
bool capture(const TestStream& stream, const std::function<void()>& work);

}  // namespace tutti::test
