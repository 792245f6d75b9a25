// A transport over TCP sockets, as docs/transports.md has it: the proof that a network is written in one file. It is
// there if TUTTI_TEST_SOCKETS is set, under the name "sockets".
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/network.hpp"

namespace tutti::sockets {
namespace {

/// What tells messages between two ranks apart. Those of one key arrive in the order in which they were sent.
struct Key {
  std::uint64_t turn = 0;  ///< The sequence number of the operation; of what is no collective ~0.
  std::int32_t context = 0, message = 0;
  std::uint32_t fingerprint = 0;
  bool operator==(const Key&) const = default;
  [[nodiscard]] Key without_fingerprint() const { return {.turn = turn, .context = context, .message = message}; }
};
struct Header {
  Key key{};
  std::uint64_t bytes = 0;
};
/// A message that a port has posted.
struct Pending {
  enum class Kind : std::uint8_t { none, send, receive } kind = Kind::none;
  bool is_over = false;
  std::byte* into = nullptr;
  std::int64_t bytes = 0, came = 0;
};

/// A message that leaves, that has come and is not awaited yet, or that is awaited and has not come.
struct Message {
  Key key{};
  std::vector<std::byte> data{};
  std::size_t sent = 0;
  Pending* waiting = nullptr;  ///< nullptr: its port is gone.
};

[[noreturn]] void fail(const char* function) { throw Error(std::string{function} + ": " + std::strerror(errno)); }

/// The connection to a rank. Sends are over when the socket has all their bytes, so that they arrive even if this rank
/// leaves the library; messages that no receive awaits are kept.
class Peer {
 public:
  /// One socket, or the two ends of a pair that leads back to this rank.
  void connect(int in, int out) {
    const int yes = 1;
    ::setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::fcntl(in, F_SETFL, O_NONBLOCK) != 0 || ::fcntl(out, F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
    in_ = in, out_ = out;
  }
  [[nodiscard]] bool is_connected() const { return in_ >= 0; }
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  void send(const Key& key, const std::byte* data, Pending& pending) {
    const Header header{key, static_cast<std::uint64_t>(pending.bytes)};
    Message& message = leaving_.emplace_back();
    message.waiting = &pending;
    message.data.resize(sizeof header + header.bytes);
    std::memcpy(message.data.data(), &header, sizeof header);
    std::copy_n(data, header.bytes, message.data.begin() + sizeof header);
  }
  void receive(const Key& key, Pending& pending) {
    const auto found = std::ranges::find(arrived_, key, &Message::key);
    if (found == arrived_.end()) return awaited_.push_back({.key = key, .waiting = &pending});
    put(pending, found->data);
    arrived_.erase(found);
  }
  void progress() {
    if (!is_connected() || is_lost_) return;
    for (; !leaving_.empty() && write(leaving_.front()); leaving_.pop_front())
      if (leaving_.front().waiting != nullptr) leaving_.front().waiting->is_over = true;
    while (read())
      continue;
  }
  [[nodiscard]] bool has_of_another_call(const Key& key) const {
    return std::ranges::any_of(arrived_, [&](const Message& each) {
      return each.key != key && each.key.without_fingerprint() == key.without_fingerprint();
    });
  }
  /// A port is gone: its sends leave all the same.
  void forget(const Pending& pending) {
    for (Message& message : leaving_)
      if (message.waiting == &pending) message.waiting = nullptr;
    std::erase_if(awaited_, [&](const Message& each) { return each.waiting == &pending; });
  }
  void close() {
    ::close(in_);
    if (out_ != in_) ::close(out_);
  }

 private:
  bool write(Message& message) {
    const ssize_t written =
        ::send(out_, message.data.data() + message.sent, message.data.size() - message.sent, MSG_NOSIGNAL);
    if (written < 0 && errno != EAGAIN && errno != EINTR) is_lost_ = true;
    message.sent += written > 0 ? static_cast<std::size_t>(written) : 0;
    return message.sent == message.data.size();
  }
  /// False: nothing more has come.
  bool read() {
    const bool is_header = header_bytes_ < sizeof header_;
    std::byte* const into =
        is_header ? reinterpret_cast<std::byte*>(&header_) + header_bytes_ : body_.data() + body_bytes_;
    const std::size_t wanted = is_header ? sizeof header_ - header_bytes_ : body_.size() - body_bytes_;
    const ssize_t came = wanted == 0 ? 0 : ::recv(in_, into, wanted, 0);
    is_lost_ |= came < 0 ? errno != EAGAIN && errno != EINTR : came == 0 && wanted > 0;
    if (came < 0 || is_lost_) return false;
    (is_header ? header_bytes_ : body_bytes_) += static_cast<std::size_t>(came);
    if (header_bytes_ < sizeof header_) return true;
    if (is_header) body_.resize(header_.bytes);
    if (body_bytes_ < body_.size()) return true;
    arrive(header_.key, std::exchange(body_, {}));
    header_bytes_ = body_bytes_ = 0;
    return true;
  }

  static void put(Pending& pending, const std::vector<std::byte>& data) {
    pending.came = static_cast<std::int64_t>(data.size());
    if (pending.came == pending.bytes) std::ranges::copy(data, pending.into);
    pending.is_over = true;
  }
  void arrive(const Key& key, std::vector<std::byte> data) {
    const auto found = std::ranges::find(awaited_, key, &Message::key);
    if (found == awaited_.end()) return arrived_.push_back({key, std::move(data)});
    put(*found->waiting, data);
    awaited_.erase(found);
  }

  int in_ = -1, out_ = -1;
  bool is_lost_ = false;
  std::deque<Message> leaving_, arrived_;
  std::deque<Message> awaited_;  ///< In the order in which they were posted.
  Header header_;
  std::size_t header_bytes_ = 0, body_bytes_ = 0;
  std::vector<std::byte> body_;
};

class Port final : public TransportPort {
 public:
  Port(std::vector<Peer>& peers, const mpi::NetworkRoute& route, const CompiledPlan& plan)
      : peers_(&peers), route_(route), plan_(&plan), pending_(plan.steps.size()) {}
  ~Port() override { Port::abandon(); }

  void begin(const RunNumber& run) override { turn_ = plan_->takes_turns ? run.sequence : ~std::uint64_t{0}; }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) override {
    at(index) = {.kind = Pending::Kind::send, .bytes = step.bytes};
    peer_of(step).send(key_of(step), data, at(index));
    return Posted::pending;
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) override {
    at(index) = {.kind = Pending::Kind::receive, .into = into, .bytes = step.bytes};
    peer_of(step).receive(key_of(step), at(index));
    return Posted::pending;
  }
  [[nodiscard]] int unfinished() const override {
    for (const Pending::Kind kind : {Pending::Kind::receive, Pending::Kind::send})
      for (std::size_t i = 0; i < pending_.size(); ++i)
        if (pending_[i].kind == kind) return static_cast<int>(i);
    return -1;
  }
  [[nodiscard]] int with_message_of_another_call() override {
    for (std::size_t i = 0; plan_->takes_turns && i < pending_.size(); ++i)
      if (pending_[i].kind == Pending::Kind::receive &&
          peer_of(plan_->steps[i]).has_of_another_call(key_of(plan_->steps[i])))
        return static_cast<int>(i);
    return -1;
  }
  bool abandon() noexcept override {
    for (Pending& each : pending_) {
      for (Peer& peer : *peers_)
        if (each.kind != Pending::Kind::none) peer.forget(each);
      each = {};
    }
    return true;
  }

 private:
  int look() override {
    std::ranges::for_each(*peers_, &Peer::progress);
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].kind == Pending::Kind::none) continue;
      const CompiledStep& step = plan_->steps[i];
      if (!pending_[i].is_over && peer_of(step).is_lost())
        throw LostPeer("rank " + std::to_string(step.peer) + " has closed its connection");
      if (!pending_[i].is_over) continue;
      if (step.verb != Verb::send && pending_[i].came != step.bytes)
        throw WrongMessage::of_length(step.peer, pending_[i].came, step.bytes);
      pending_[i] = {};
      completed_.push_back(static_cast<int>(i));
    }
    return static_cast<int>(completed_.size());
  }
  [[nodiscard]] Pending& at(int index) { return pending_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Peer& peer_of(const CompiledStep& step) const {
    return (*peers_)[static_cast<std::size_t>(route_.ranks[static_cast<std::size_t>(step.peer)])];
  }
  [[nodiscard]] Key key_of(const CompiledStep& step) const {
    return {.turn = turn_, .context = route_.context, .message = step.message, .fingerprint = plan_->fingerprint};
  }

  std::vector<Peer>* peers_;
  mpi::NetworkRoute route_;
  const CompiledPlan* plan_;
  std::uint64_t turn_ = 0;
  std::vector<Pending> pending_;  ///< By step.
};

class SocketNetwork final : public mpi::Network {
 public:
  explicit SocketNetwork(MPI_Comm comm) {
    int ranks = 0;
    mpi::check(mpi::api.Comm_rank(comm, &me_), "MPI_Comm_rank");
    mpi::check(mpi::api.Comm_size(comm, &ranks), "MPI_Comm_size");
    peers_.resize(static_cast<std::size_t>(ranks));
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) fail("socketpair");
    peers_[static_cast<std::size_t>(me_)].connect(ends[0], ends[1]);
    all().insert(this);
  }
  ~SocketNetwork() override {
    std::ranges::for_each(peers_, &Peer::close);
    all().erase(this);
  }
  std::string connect(MPI_Comm comm, std::span<const int> ranks) override;
  std::unique_ptr<TransportPort> port(const mpi::NetworkRoute& route, const CompiledPlan& plan) override {
    return std::make_unique<Port>(peers_, route, plan);
  }
  static void progress() noexcept {
    for (SocketNetwork* const network : all())
      std::ranges::for_each(network->peers_, &Peer::progress);
  }

 private:
  static std::set<SocketNetwork*>& all() {
    static auto& networks = *new std::set<SocketNetwork*>;
    return networks;
  }
  int me_ = 0;
  std::vector<Peer> peers_;  ///< By rank of the carrier.
};

/// Higher ranks connect to lower ones, and say first which they are. All ranks of the tests are on one machine.
std::string SocketNetwork::connect(MPI_Comm comm, std::span<const int> ranks) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, any, length) != 0 || ::listen(listener, SOMAXCONN) != 0 ||
      ::getsockname(listener, any, &length) != 0)
    fail("listening socket");
  std::vector<int> ports(ranks.size());
  const int mine = address.sin_port;
  mpi::check(mpi::api.Allgather(&mine, 1, MPI_INT, ports.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::size_t to_come = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Peer& peer = peers_[static_cast<std::size_t>(ranks[i])];
    if (peer.is_connected()) continue;
    to_come += ranks[i] > me_ ? 1 : 0;
    if (ranks[i] > me_) continue;
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    address.sin_port = static_cast<in_port_t>(ports[i]);
    if (socket < 0 || ::connect(socket, any, sizeof address) != 0 || ::send(socket, &me_, sizeof me_, 0) != sizeof me_)
      fail("connect");
    peer.connect(socket, socket);
  }
  for (; to_come > 0; --to_come) {
    const int socket = ::accept(listener, nullptr, nullptr);
    int rank = 0;
    if (socket < 0 || ::recv(socket, &rank, sizeof rank, MSG_WAITALL) != sizeof rank) fail("accept");
    peers_[static_cast<std::size_t>(rank)].connect(socket, socket);
  }
  ::close(listener);
  return {};
}

std::unique_ptr<mpi::Network> open(MPI_Comm comm) { return std::make_unique<SocketNetwork>(comm); }

constexpr mpi::NetworkDriver driver{"sockets",        open,  SocketNetwork::progress,
                                    []() noexcept {}, [] {}, [] { return std::string{}; }};
[[maybe_unused]] const bool is_there =
    std::getenv("TUTTI_TEST_SOCKETS") != nullptr && (mpi::NetworkRegistration{driver}, true);

}  // namespace
}  // namespace tutti::sockets
