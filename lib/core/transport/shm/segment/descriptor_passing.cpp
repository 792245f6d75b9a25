#include "lib/core/transport/shm/segment/descriptor_passing.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "lib/core/memory/above_standard.hpp"

namespace tutti::shm {
namespace {

/// Repeats a system call that signals interrupt.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR)
    result = call();
  return result;
}

struct Address {
  sockaddr_un socket{};
  socklen_t bytes = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&socket); }
};

/// A leading zero makes it a name outside all file systems.
Address address_of(const Nonce& nonce) {
  std::string name{"tutti-"};
  for (const std::byte byte : nonce)
    fmt::format_to(std::back_inserter(name), "{:02x}", std::to_integer<unsigned>(byte));
  Address address;
  address.socket.sun_family = AF_UNIX;
  std::ranges::copy(name, address.socket.sun_path + 1);
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Descriptor open_socket() {
  Descriptor made{above_standard(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  if (made.get() < 0) throw system_error("socket");
  return made;
}

bool is_of_this_user(const Descriptor& connection) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) throw system_error("getsockopt");
  return peer.uid == ::geteuid();
}

/// A message of one byte, which may carry one descriptor.
class Message {
 public:
  Message() {
    header_.msg_iov = &part_;
    header_.msg_iovlen = 1;
    header_.msg_control = control_.data();
    header_.msg_controllen = control_.size();
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() = default;
  [[nodiscard]] msghdr* header() { return &header_; }
  void put(int file) {
    cmsghdr* const control = CMSG_FIRSTHDR(&header_);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(control), &file, sizeof file);
  }
  /// The descriptor that arrived; -1 if none did.
  [[nodiscard]] int file() {
    const cmsghdr* const control = CMSG_FIRSTHDR(&header_);
    if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) return -1;
    int file = -1;
    if (control->cmsg_len == CMSG_LEN(sizeof file)) std::memcpy(&file, CMSG_DATA(control), sizeof file);
    return file;
  }

 private:
  char byte_ = 0;
  iovec part_{&byte_, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control_{};
  msghdr header_{};
};

void send_file(const Descriptor& connection, int file) {
  Message message;
  message.put(file);
  if (uninterrupted([&] { return ::sendmsg(connection.get(), message.header(), MSG_NOSIGNAL | MSG_DONTWAIT); }) != 1)
    throw system_error("sendmsg");
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce{};
  if (uninterrupted([&] { return ::getrandom(nonce.data(), nonce.size(), 0); }) != ssize_t{nonce.size()})
    throw system_error("getrandom");
  return nonce;
}

Descriptor listen_under(const Nonce& nonce, int connections) {
  Descriptor listener = open_socket();
  const Address address = address_of(nonce);
  if (::bind(listener.get(), address.get(), address.bytes) != 0) throw system_error("bind of a Unix socket");
  if (::listen(listener.get(), connections) != 0) throw system_error("listen at a Unix socket");
  return listener;
}

Descriptor connect_to(const Nonce& nonce) {
  Descriptor connection = open_socket();
  const Address address = address_of(nonce);
  if (uninterrupted([&] { return ::connect(connection.get(), address.get(), address.bytes); }) != 0)
    throw system_error("connect to a Unix socket");
  if (!is_of_this_user(connection)) throw Error("the Unix socket is another user's");
  return connection;
}

namespace {

Descriptor accept_at(const Descriptor& listener) {
  return Descriptor{above_standard(
      uninterrupted([&] { return ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }))};
}

}  // namespace

void send_to_waiting(const Descriptor& listener, int file) {
  for (Descriptor connection = accept_at(listener); connection.get() >= 0; connection = accept_at(listener))
    if (is_of_this_user(connection)) send_file(connection, file);
}

void send_to_connected(const Descriptor& listener, int connections, int file) {
  for (int served = 0; served < connections;) {
    const Descriptor connection = accept_at(listener);
    if (connection.get() < 0) throw system_error(fmt::format("accept of connection {} of {}", served + 1, connections));
    if (!is_of_this_user(connection)) continue;
    send_file(connection, file);
    ++served;
  }
}

std::optional<Descriptor> try_receive_file(const Descriptor& connection) {
  Message message;
  constexpr int flags = MSG_CMSG_CLOEXEC | MSG_DONTWAIT;
  const ssize_t got = uninterrupted([&] { return ::recvmsg(connection.get(), message.header(), flags); });
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  if (got < 0) throw system_error("recvmsg");
  if (got == 0) throw Error("the connection was closed before a descriptor came");
  Descriptor file{above_standard(message.file())};
  if (file.get() < 0) throw Error("the descriptor of the shared memory could not be taken (ulimit -n?)");
  return file;
}

Descriptor receive_file(const Descriptor& connection) {
  std::optional<Descriptor> file = try_receive_file(connection);
  if (!file) throw system_error("recvmsg");
  return std::move(*file);
}

}  // namespace tutti::shm
