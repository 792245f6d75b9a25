#pragma once
// Messages with tags, from a certain rank or from any: which message meets which receive.

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lib/core/call/messages.hpp"
#include "lib/core/run/matching.hpp"

namespace tutti::detail {

class Operation;

/// Between two ranks, each way, a class of messages runs in order, beside those without tags. In front of every payload
/// goes a header of fixed size, so that the receiver always knows the size of the next message. A short payload is in
/// its header; one of up to eager_bytes follows at once, and waits in memory of the receiver if no receive is there
/// yet; a longer one, and data on a device, are announced, and follow when the receiver has answered that a receive is
/// there. A rank looks for headers of those ranks only from which it expects any.
///
/// As in MPI, of two messages of one sender that both fit a receive, the first one sent meets it, and of two receives
/// that fit a message, the first one posted.
class TagMatching final : public Matching {
 public:
  explicit TagMatching(CommunicatorState& state) : state_(state) {}
  ~TagMatching() override;

  void post(TaggedMessage& message) override;
  [[nodiscard]] bool take_back(TaggedMessage& message) override;
  void advance() override;
  [[nodiscard]] bool is_busy() const override;
  [[nodiscard]] int unasked() const override;
  void end() noexcept override;

  static constexpr std::int64_t eager_bytes = 8192;

 private:
  struct Header {
    enum class Kind : std::uint8_t { within, eager, announced, accepted, refused, payload };
    std::int64_t bytes = 0;
    std::uint32_t id = 0;  ///< The number of an announced message, among those of its sender.
    std::int32_t tag = 0;
    Kind kind = Kind::within;
    std::array<std::byte, 40> data{};
  };
  static_assert(sizeof(Header) == 64);
  /// A message that no receive has met when it came.
  struct Unexpected {
    Rank source{};
    Header header{};
    std::vector<std::byte> data{};     ///< The data of an eager one.
    bool has_come = true;              ///< False: its data are on their way.
    TaggedMessage* claimed = nullptr;  ///< The receive that has met it since.
  };
  using UnexpectedList = std::list<Unexpected>;
  /// Something on its way to a peer.
  struct Leaving {
    Operation* operation = nullptr;
    std::unique_ptr<Header> header{};  ///< nullptr: a payload, in its owner's memory.
    TaggedMessage* message = nullptr;  ///< Is over with it; nullptr: none.
  };
  /// What comes from another rank.
  struct Peer {
    Header header{};
    Operation* operation = nullptr;  ///< Receives the header, or a payload; nullptr: nobody looks.
    bool gets_payload = false;
    TaggedMessage* into = nullptr;    ///< The receive that gets the payload, or else
    UnexpectedList::iterator kept{};  ///< the message that it belongs to.
    int expected = 0;                 ///< Receives from this rank alone, and answers that it owes.
  };
  using Announced = std::pair<int, std::uint32_t>;  ///< Rank and number.
  /// Within this rank, to or from a device.
  struct Copied {
    Operation* operation = nullptr;
    TaggedMessage* recv = nullptr;
    std::unique_ptr<Unexpected> from{};
  };

  [[nodiscard]] Peer& peer_of(Rank peer) { return peers_[peer.value()]; }
  [[nodiscard]] Operation& started(MessageSpan sends, MessageSpan recvs);
  void send_header(Rank to, const Header& header, TaggedMessage* message = nullptr);
  void send_payload(TaggedMessage& message, Rank to);
  void send_to_itself(TaggedMessage& message);
  void expect(const TaggedMessage& recv, int more);
  void listen();
  void advance_peer(Rank source, Peer& its);
  void receive_payload(Rank source, Peer& its, std::byte* into, Bytes bytes, int device);
  static void require_sound(Rank source, const Header& header);
  void take(Rank source, Peer& its);
  void take_new(Rank source, Peer& its);
  void take_payload(Rank source, Peer& its);
  /// The first receive that fits, which is no longer posted; nullptr: there is none.
  [[nodiscard]] TaggedMessage* matched(Rank source, std::int32_t tag);
  void meet(TaggedMessage& recv, UnexpectedList::iterator message);
  void accept(TaggedMessage& recv, Rank source, const Header& header);
  void deliver(TaggedMessage& recv, Rank source, const Header& header, const std::byte* data);
  /// False, and the receive has failed: there is no room.
  [[nodiscard]] bool has_room(TaggedMessage& recv, Rank source, const Header& header);
  static void end(TaggedMessage& message);
  static void end(TaggedMessage& recv, Rank source, const Header& header);
  void fail_all() noexcept;

  CommunicatorState& state_;
  std::map<int, Peer> peers_{};        ///< The key is the rank.
  std::list<TaggedMessage*> recvs_{};  ///< Posted, in order.
  UnexpectedList unexpected_{};        ///< In the order in which they came.
  std::list<Leaving> leaving_{};
  std::map<std::uint32_t, TaggedMessage*> announced_{};  ///< Sends that wait for an answer.
  std::map<Announced, TaggedMessage*> accepted_{};       ///< Receives that wait for the payload.
  std::list<Copied> copies_{};
  int from_any_ = 0;  ///< Receives from any rank.
  std::uint32_t next_id_ = 0;
  bool has_ended_ = false;
};

}  // namespace tutti::detail
