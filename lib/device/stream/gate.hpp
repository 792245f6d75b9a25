#pragma once
// Operations that the host moves, in the order of a stream. Needs no header of CUDA.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct CUstream_st;

namespace tutti::stream {

/// The place of one operation in a stream: it may begin when the earlier work of the stream is over, and the stream
/// goes on when it has left.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  virtual ~Gate() = default;

  /// Throws Error.
  [[nodiscard]] virtual bool is_open() = 0;
  /// The operation is over. Then the gate is used for others.
  virtual void leave() noexcept = 0;
  /// Pieces of work of this rank that its device has done, if others are pending there.
  [[nodiscard]] virtual std::optional<std::uint64_t> work_done() const = 0;
};

/// The gates of one communicator.
class Gates {
 public:
  Gates() = default;
  Gates(const Gates&) = delete;
  Gates& operator=(const Gates&) = delete;
  virtual ~Gates() = default;

  /// Whether there is memory for gates of a device, which prepare() allocates: not beside a stream that waits. Throws
  /// Error.
  [[nodiscard]] virtual bool is_prepared(int device) const = 0;
  virtual void prepare(int device) = 0;
  /// Puts a gate into a stream of the device of that number. Not into one that is captured. Throws Error.
  [[nodiscard]] virtual Gate& add(int device, CUstream_st* stream) = 0;
  /// After a failure: all streams go on. The operations leave their gates later.
  virtual void let_all_go() noexcept = 0;
  /// Whether at least as many streams wait as a context has hardware queues.
  [[nodiscard]] virtual bool share_queues() const = 0;
  /// For people: "8 streams wait for calls that the host moves, and a context has 8 hardware queues".
  [[nodiscard]] virtual std::string in_words() const = 0;
  /// Whether a stream has yet to go on.
  [[nodiscard]] virtual bool is_busy() const noexcept = 0;
};

/// Local. Throws Error if the library was built without CUDA.
[[nodiscard]] std::unique_ptr<Gates> make_gates();

// Questions about a stream; each throws Error.

/// The number of the device whose context the stream belongs to, which may be new.
[[nodiscard]] int device_of(CUstream_st* stream);
[[nodiscard]] bool is_captured(CUstream_st* stream);

/// Calls of this thread do not concern streams that the program captures in others. Loads no driver.
void let_captures_be() noexcept;

}  // namespace tutti::stream
