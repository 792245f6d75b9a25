#pragma once
// Messages with tags: what a call asks for, and the interface of the part that matches them
// (lib/core/call/tag_matching.hpp).

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "tutti/batch.hpp"
#include "tutti/types.hpp"

namespace tutti::detail {

class CommunicatorState;

/// One message of a call, to be sent or received. Its arguments are checked.
struct TaggedMessage {
  bool is_sent = false;
  Rank peer{};  ///< any_source: a receive from any rank.
  Tag tag{};    ///< any_tag: a receive with any tag.
  std::byte* data = nullptr;
  Bytes bytes{};    ///< The length; of a receive, the room.
  int device = -1;  ///< The device that holds the data; -1: the host does.
  Bytes element{};
  Received* received = nullptr;  ///< nullptr: nobody asks.
  bool is_over = false;
  std::exception_ptr failure{};
};

/// The messages with tags of one communicator. All members need an Entry.
class Matching {
 public:
  Matching() = default;
  Matching(const Matching&) = delete;
  Matching& operator=(const Matching&) = delete;
  virtual ~Matching() = default;
  /// Starts to send or to receive it. It has to stay until it is over.
  virtual void post(TaggedMessage& message) = 0;
  /// Forgets a receive that no message has met. False: it is no such message.
  [[nodiscard]] virtual bool take_back(TaggedMessage& message) = 0;
  /// Goes on with all messages as far as their messages have come or left.
  virtual void advance() = 0;
  /// Whether any message is not over, or has left only in part.
  [[nodiscard]] virtual bool is_busy() const = 0;
  /// Operations under way that wait for messages which nobody expects any more.
  [[nodiscard]] virtual int unasked() const = 0;
  /// Takes these back. No message is posted any more.
  virtual void end() noexcept = 0;
};

/// The messages with tags of one call.
struct TaggedCall {
  std::shared_ptr<CommunicatorState> state{};
  std::vector<std::unique_ptr<TaggedMessage>> messages{};
  [[nodiscard]] bool is_over() const;
  /// Throws the error of the first message that failed, once.
  void rethrow();
};

}  // namespace tutti::detail
