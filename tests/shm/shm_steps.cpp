#include "tests/shm/shm_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::shm::test {
namespace {

constexpr std::size_t small_bytes = 24;

std::size_t bytes_of(MessageKind kind, const Geometry& geometry) {
  return kind == MessageKind::in_cell ? small_bytes : static_cast<std::size_t>(geometry.buffer_bytes);
}

// Private members may be named where a template is instantiated explicitly: the class needs no door for tests.
template <class Name, auto Member>
struct Opened {
  friend constexpr auto member(Name /*name*/) { return Member; }
};
struct Kept {
  friend constexpr auto member(Kept);
};
struct Out {
  friend constexpr auto member(Out);
};
struct TakenBack {
  friend constexpr auto member(TakenBack);
};
struct Free {
  friend constexpr auto member(Free);
};

template struct Opened<Kept, &Channel::kept_>;
template struct Opened<Out, &Channel::out_>;
template struct Opened<TakenBack, &Channel::taken_back_>;
template struct Opened<Free, &BouncePool::free_>;

}  // namespace

void append_private_state(const Channel& channel, std::vector<std::uint64_t>& numbers) {
  for (int lane = 0; lane < channel.lanes(); ++lane)
    for (const std::uint64_t number : channel.ring(lane).state())
      numbers.push_back(number);
  const std::vector<std::uint8_t>& kept = channel.*member(Kept{});
  numbers.push_back(kept.size());
  numbers.insert(numbers.end(), kept.begin(), kept.end());
  numbers.push_back(static_cast<std::uint64_t>(channel.*member(Out{})));
  numbers.push_back(channel.*member(TakenBack{}));
  numbers.push_back(channel.given_back());
}

void append_private_state(const BouncePool& pool, std::vector<std::uint64_t>& numbers) {
  const std::vector<std::uint8_t>& free = pool.*member(Free{});
  numbers.push_back(free.size());
  numbers.insert(numbers.end(), free.begin(), free.end());
}

void Arena::for_parts(const std::function<void(std::int64_t, std::int64_t)>& visit) const {
  visit(0, geometry_.returns_at(2));
  for (int side = 0; side < 2; ++side)
    for (int buffer = 0; buffer < geometry_.buffers; ++buffer)
      visit(geometry_.pool_at(2, side) + buffer * geometry_.buffer_stride(), geometry_.buffer_bytes);
}

std::vector<std::byte> Arena::saved() {
  std::vector<std::byte> saved;
  for_parts([&](std::int64_t at, std::int64_t bytes) {
    saved.insert(saved.end(), memory_.data() + at, memory_.data() + at + bytes);
  });
  return saved;
}

void Arena::restore(const std::vector<std::byte>& saved) {
  auto from = saved.begin();
  for_parts([&](std::int64_t at, std::int64_t bytes) {
    std::copy_n(from, bytes, memory_.data() + at);
    from += bytes;
  });
}

int Steps::choices(const End& end) const {
  return end.phase == End::Phase::idle ? 2 * static_cast<int>(pattern_.streams.size()) : 1;
}

void Steps::step(Ends& ends, int side, int choice) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const auto write = [&](std::uint64_t n) {
    fill(end.bounce.data, message(side, end.stream, n), bytes_of(MessageKind::in_buffer, pattern_.geometry));
  };
  switch (end.phase) {
    case End::Phase::idle:
      if (choice % 2 == 0) return begin_send(ends, side, static_cast<std::size_t>(choice / 2));
      return begin_receive(ends, side, static_cast<std::size_t>(choice / 2));
    case End::Phase::writing:
      if (mutant_ == Mutant::writes_after_sending) return send_buffer(ends, side);
      write(end.done.sent[end.stream]);
      end.phase = End::Phase::sending;
      return;
    case End::Phase::sending:
      if (mutant_ != Mutant::writes_after_sending) return send_buffer(ends, side);
      write(end.done.sent[end.stream] - 1U);
      end.phase = End::Phase::idle;
      return;
    case End::Phase::reading:
      if (mutant_ == Mutant::releases_before_reading) return release(ends, side);
      read(end, side);
      end.phase = End::Phase::releasing;
      return;
    case End::Phase::releasing:
      read(end, side);  // nobody may have touched it meanwhile
      if (mutant_ != Mutant::releases_before_reading) return release(ends, side);
      end.phase = End::Phase::idle;
      return;
  }
}

void Steps::begin_send(Ends& ends, int side, std::size_t stream) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const std::uint8_t n = end.done.sent[stream];
  if (n == kinds(side, stream).size() || !may_begin(end, side, stream, true)) return;
  if (!end.may_send[stream]) {
    end.may_send[stream] = end.channel.ring(lane_of(stream)).may_send() || mutant_ == Mutant::ignores_credits;
    return;
  }
  const MessageKind kind = kinds(side, stream)[n];
  if (kind == MessageKind::in_buffer) return take_buffer(ends, side, stream);
  if (kind == MessageKind::shared) return share(ends, side, stream);
  send_in_cell(ends, side, stream, small_bytes);
}

/// Sends the first bytes of a message of `of` bytes.
void Steps::send_in_cell(Ends& ends, int side, std::size_t stream, std::size_t of) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const std::uint8_t n = end.done.sent[stream];
  std::array<std::byte, small_bytes> data{};
  fill(data.data(), message(side, stream, n), small_bytes);
  const Envelope envelope{static_cast<std::uint32_t>(of), static_cast<std::uint32_t>(stream), n};
  end.channel.ring(lane_of(stream)).send(envelope, data.data(), small_bytes);
  end.may_send[stream] = false;
  ++end.done.sent[stream];
}

void Steps::take_buffer(Ends& ends, int side, std::size_t stream) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const bool again = mutant_ == Mutant::sends_buffer_again && !ends.flying.empty() && ends.flying[0].from == side &&
                     ends.flying[0].where == Where::bounce;
  const int taken = again ? ends.flying[0].number : -1;
  const Bounce bounce = again ? Bounce{arena_.pools()[static_cast<std::size_t>(side)].at(taken), Where::bounce, taken}
                              : end.channel.take(1);
  if (bounce.data == nullptr) {  // all are on their way, or kept: the message goes on in a cell
    if (mutant_ != Mutant::waits_for_buffers)
      send_in_cell(ends, side, stream, bytes_of(MessageKind::in_buffer, pattern_.geometry));
    return;
  }
  end.phase = End::Phase::writing;
  end.stream = stream;
  end.bounce = bounce;
}

void Steps::share(Ends& ends, int side, std::size_t stream) {
  const auto me = static_cast<std::size_t>(side);
  End& end = ends.end[me];
  end.channel.collect();
  BouncePool& pool = arena_.pools()[me];
  const int number = mutant_ == Mutant::shares_over ? 0 : pool.take_shared();
  if (number < 0) return;
  end.phase = End::Phase::writing;
  end.stream = stream;
  end.bounce = {pool.at(number), Where::shared, number};
}

void Steps::send_buffer(Ends& ends, int side) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  std::uint8_t& n = end.done.sent[end.stream];
  const auto bytes = static_cast<std::uint32_t>(bytes_of(MessageKind::in_buffer, pattern_.geometry));
  end.channel.send(lane_of(end.stream), {bytes, static_cast<std::uint32_t>(end.stream), n}, end.bounce, 0);
  ends.flying.push_back({side, end.bounce.where, end.bounce.number});
  ++n;
  end.may_send[end.stream] = false;
  end.phase = mutant_ == Mutant::writes_after_sending ? End::Phase::sending : End::Phase::idle;
}

void Steps::begin_receive(Ends& ends, int side, std::size_t stream) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const std::uint8_t n = end.done.received[stream];
  const std::vector<MessageKind>& expected = kinds(1 - side, stream);
  if (n == expected.size() || !may_begin(end, side, stream, false)) return;
  if (!arrived(end.channel, lane_of(stream), end.came)) return;
  const Envelope right{static_cast<std::uint32_t>(bytes_of(expected[n], pattern_.geometry)),
                       static_cast<std::uint32_t>(stream), n};
  const bool must_be_cell = expected[n] == MessageKind::in_cell, may_be_cell = expected[n] != MessageKind::shared;
  const bool is_cell = end.came.where == Where::cell;
  if (!end.came.is_same(right) || (must_be_cell && !is_cell) || (is_cell && !may_be_cell))
    problem_ = fmt::format("overwritten: side {} finds message {} in place of {}", side, end.came.message, n);
  end.phase = End::Phase::reading;
  end.stream = stream;
}

void Steps::read(const End& end, int side) {
  // After an early release the cell is that of the message before; only messages in buffers can still be found.
  if (mutant_ == Mutant::releases_before_reading && end.came.where == Where::cell) return;
  const bool is_early = mutant_ == Mutant::releases_before_reading;
  const auto n = static_cast<std::uint64_t>(end.done.received[end.stream] - (is_early ? 1 : 0));
  std::array<std::byte, small_bytes> data{};
  const std::byte* from = data.data();
  const bool is_cell = end.came.where == Where::cell;
  if (!is_cell)
    from = end.channel.piece(end.came);
  else if (!end.channel.ring(lane_of(end.stream)).incoming().read(data.data(), small_bytes))
    problem_ = "a line vanished";
  if (!is_filled(from, message(1 - side, end.stream, n), is_cell ? small_bytes : end.came.bytes))
    problem_ = fmt::format("overwritten: message {} to side {} before it was read", n, side);
}

void Steps::release(Ends& ends, int side) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const std::vector<std::byte> before = arena_.saved();
  end.channel.release(lane_of(end.stream), end.came);
  const Geometry& geometry = pattern_.geometry;
  const auto undo = [&](std::int64_t at) { std::copy_n(before.begin() + at, line_bytes, arena_.data() + at); };
  if (mutant_ == Mutant::never_credits) undo(geometry.credits_at(lane_of(end.stream), 1 - side));
  if (mutant_ == Mutant::never_gives_back) undo(geometry.returns_at(side));
  if (end.came.where != Where::cell)
    ends.flying.erase(std::find_if(ends.flying.begin(), ends.flying.end(), [&](const Flying& flying) {
      return flying.from != side && flying.where == end.came.where && flying.number == end.came.number;
    }));
  ++end.done.received[end.stream];
  end.phase = mutant_ == Mutant::releases_before_reading ? End::Phase::releasing : End::Phase::idle;
}

bool Steps::is_final(const Ends& ends) const {
  for (int side = 0; side < 2; ++side) {
    const End& end = ends.end[static_cast<std::size_t>(side)];
    if (end.phase != End::Phase::idle) return false;
    for (std::size_t stream = 0; stream < pattern_.streams.size(); ++stream)
      if (end.done.sent[stream] != kinds(side, stream).size() ||
          end.done.received[stream] != kinds(1 - side, stream).size())
        return false;
  }
  return true;
}

/// How many hold a buffer of `owner`: ends that write it or keep it, messages, or the lines in which it is given back.
int Steps::holders(const Ends& ends, int owner, int number) {
  int all = 0;
  const auto is_it = [&](int side, Where where, int which) {
    return which == number && (where == Where::returned ? side != owner : side == owner);
  };
  for (int side = 0; side < 2; ++side) {
    const End& end = ends.end[static_cast<std::size_t>(side)];
    const bool holds = end.phase == End::Phase::writing ||
                       (end.phase == End::Phase::sending && mutant_ != Mutant::writes_after_sending);
    if (holds && is_it(side, end.bounce.where, end.bounce.number)) ++all;
  }
  for (const Flying& flying : ends.flying)
    if (is_it(flying.from, flying.where, flying.number)) ++all;
  const Channel& mine = ends.end[static_cast<std::size_t>(owner)].channel;
  const Channel& other = ends.end[static_cast<std::size_t>(1 - owner)].channel;
  const std::vector<std::uint8_t>& kept = other.*member(Kept{});
  all += static_cast<int>(std::count(kept.begin(), kept.end(), number));
  const std::byte* const entries = arena_.data() + pattern_.geometry.returns_at(1 - owner);
  for (std::uint64_t i = mine.*member(TakenBack{}); i < other.given_back(); ++i) {
    Geometry::Return entry = 0;
    std::memcpy(&entry, entries + i % static_cast<std::uint64_t>(pattern_.geometry.buffers) * sizeof entry,
                sizeof entry);
    if ((entry >> 1U) - 1 == number) ++all;
  }
  return all;
}

std::string Steps::problem(const Ends& ends) {
  if (!problem_.empty()) return problem_;
  for (int side = 0; side < 2; ++side)
    for (int number = 0; number < pattern_.geometry.buffers; ++number) {
      const int all = holders(ends, side, number);
      const int readers = arena_.pools()[static_cast<std::size_t>(side)].readers(number);
      if (readers != all)
        return fmt::format("owners: buffer {} of side {} has {}, counted {}", number, side, all, readers);
    }
  return {};
}

}  // namespace tutti::shm::test
