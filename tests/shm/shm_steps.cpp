#include "tests/shm/shm_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tutti::shm::test {
namespace {

constexpr std::size_t small_bytes = 24;

std::size_t bytes_of(Kind kind, const Geometry& geometry) {
  return kind == Kind::in_slot ? small_bytes : static_cast<std::size_t>(geometry.area_bytes);
}

// Private members may be named where a template is instantiated explicitly: the class needs no door for tests.
template <class Name, auto Member>
struct Opened {
  friend constexpr auto member(Name /*name*/) { return Member; }
};
struct Lanes {
  friend constexpr auto member(Lanes);
};
struct Owned {
  friend constexpr auto member(Owned);
};
struct TakenBack {
  friend constexpr auto member(TakenBack);
};

template struct Opened<Lanes, &Channel::lanes_>;
template struct Opened<Owned, &Channel::owned_>;
template struct Opened<TakenBack, &Channel::taken_back_>;

}  // namespace

void append_private_state(const Channel& channel, std::vector<std::uint64_t>& numbers) {
  for (const auto& lane : channel.*member(Lanes{})) {
    for (const auto& swap : lane.swaps)
      numbers.insert(numbers.end(), {swap.out, swap.in});
    numbers.insert(numbers.end(), {lane.sent, lane.acknowledged, lane.received, lane.credited});
    numbers.push_back(lane.has_reserve ? 1 : 0);
  }
  numbers.push_back(owned_areas(channel).size());
  numbers.insert(numbers.end(), owned_areas(channel).begin(), owned_areas(channel).end());
  numbers.push_back(taken_back(channel));
  numbers.push_back(channel.given_back());
}
std::uint64_t taken_back(const Channel& channel) { return channel.*member(TakenBack{}); }
const std::vector<std::uint8_t>& owned_areas(const Channel& channel) { return channel.*member(Owned{}); }
bool has_reserve(const Channel& channel, int lane) {
  return (channel.*member(Lanes{}))[static_cast<std::size_t>(lane)].has_reserve;
}

void Arena::for_parts(const std::function<void(std::int64_t, std::int64_t)>& visit) const {
  visit(0, geometry_.returns_at(2));
  for (int area = 0; area < geometry_.areas(); ++area)
    visit(geometry_.area_at(area), geometry_.area_bytes);
  for (int side = 0; side < 2; ++side)
    for (int area = 0; area < geometry_.published; ++area)
      visit(geometry_.published_at(2, side) + area * geometry_.area_stride(), geometry_.area_bytes);
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
  switch (end.phase) {
    case End::Phase::idle:
      if (choice % 2 == 0) return begin_send(ends, side, static_cast<std::size_t>(choice / 2));
      return begin_receive(ends, side, static_cast<std::size_t>(choice / 2));
    case End::Phase::writing:
      if (mutant_ == Mutant::writes_after_sending) return send_area(ends, side);
      fill(written_area(ends, side), message(side, end.stream, end.done.sent[end.stream]),
           bytes_of(Kind::in_area, pattern_.geometry));
      end.phase = End::Phase::sending;
      return;
    case End::Phase::sending:
      if (mutant_ != Mutant::writes_after_sending) return send_area(ends, side);
      fill(written_area(ends, side), message(side, end.stream, end.done.sent[end.stream] - 1U),
           bytes_of(Kind::in_area, pattern_.geometry));
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
  const Stream which = stream_of(stream, n);
  if (!end.may_send[stream]) {
    const bool dares = mutant_ == (which.way == Way::swap ? Mutant::ignores_turns : Mutant::ignores_credits);
    end.may_send[stream] = end.channel.may_send(which) || dares;
    return;
  }
  const Kind kind = kinds(side, stream)[n];
  if (kind == Kind::in_area) return take_area(ends, side, stream);
  if (kind == Kind::published) return publish(ends, side, stream);
  std::array<std::byte, small_bytes> data{};
  fill(data.data(), message(side, stream, n), small_bytes);
  end.channel.send(which, {small_bytes, static_cast<std::uint32_t>(stream), n}, data.data(), small_bytes);
  end.may_send[stream] = false;
  ++end.done.sent[stream];
}

void Steps::take_area(Ends& ends, int side, std::size_t stream) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const int lane = pattern_.streams[stream].lane;
  if (mutant_ == Mutant::has_no_reserves && Channel{end.channel}.take_area(lane, 1) >= 2 * pattern_.geometry.pool)
    return;
  const bool again = mutant_ == Mutant::sends_area_again && !ends.flying.empty() && ends.flying[0].from == side;
  const int code = again ? ends.flying[0].code : end.channel.take_area(lane, 1);
  if (code < 0) return;
  end.phase = End::Phase::writing;
  end.stream = stream;
  end.area = code;
}

void Steps::publish(Ends& ends, int side, std::size_t stream) {
  const auto me = static_cast<std::size_t>(side);
  End& end = ends.end[me];
  end.channel.collect();
  Publisher& publisher = arena_.publishers()[me];
  const int area = mutant_ == Mutant::publishes_over ? 0 : publisher.find_free();
  if (area < 0) return;
  publisher.read_by_one_more(area);
  end.phase = End::Phase::writing;
  end.stream = stream;
  end.area = end.channel.published_code(area);
}

std::byte* Steps::written_area(Ends& ends, int side) const {
  const auto me = static_cast<std::size_t>(side);
  const End& end = ends.end[me];
  const int published = end.area - pattern_.geometry.areas();
  return published < 0 ? end.channel.area(end.area) : ends.publisher[me].area(published);
}

void Steps::send_area(Ends& ends, int side) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  std::uint8_t& n = end.done.sent[end.stream];
  const auto bytes = static_cast<std::uint32_t>(bytes_of(Kind::in_area, pattern_.geometry));
  end.channel.send_area(stream_of(end.stream, n), {bytes, static_cast<std::uint32_t>(end.stream), n}, end.area, 0);
  ends.flying.push_back({side, end.area});
  ++n;
  end.may_send[end.stream] = false;
  end.phase = mutant_ == Mutant::writes_after_sending ? End::Phase::sending : End::Phase::idle;
}

void Steps::begin_receive(Ends& ends, int side, std::size_t stream) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const std::uint8_t n = end.done.received[stream];
  const std::vector<Kind>& expected = kinds(1 - side, stream);
  if (n == expected.size() || !may_begin(end, side, stream, false)) return;
  if (!arrived(end.channel, stream_of(stream, n), end.came)) return;
  const Envelope right{static_cast<std::uint32_t>(bytes_of(expected[n], pattern_.geometry)),
                       static_cast<std::uint32_t>(stream), n};
  if (!end.came.is_same(right) || (end.came.area == 0) != (expected[n] == Kind::in_slot))
    problem_ = fmt::format("overwritten: side {} finds message {} in place of {}", side, end.came.message, n);
  end.phase = End::Phase::reading;
  end.stream = stream;
}

void Steps::read(const End& end, int side) {
  // After an early release the slot is the one before; only what lies in areas can still be found.
  if (mutant_ == Mutant::releases_before_reading && end.came.area == 0) return;
  const bool is_early = mutant_ == Mutant::releases_before_reading;
  const auto n = static_cast<std::uint64_t>(end.done.received[end.stream] - (is_early ? 1 : 0));
  std::array<std::byte, small_bytes> data{};
  const std::byte* from = data.data();
  if (end.came.area != 0)
    from = end.channel.piece(end.came);
  else if (!end.channel.incoming(stream_of(end.stream, end.done.received[end.stream])).read(data.data(), small_bytes))
    problem_ = "a line vanished";
  if (!is_filled(from, message(1 - side, end.stream, n), end.came.bytes))
    problem_ = fmt::format("overwritten: message {} to side {} before it was read", n, side);
}

void Steps::release(Ends& ends, int side) {
  End& end = ends.end[static_cast<std::size_t>(side)];
  const std::vector<std::byte> before = arena_.saved();
  end.channel.release(stream_of(end.stream, end.done.received[end.stream]), end.came);
  const Geometry& geometry = pattern_.geometry;
  const auto undo = [&](std::int64_t at) { std::copy_n(before.begin() + at, line_bytes, arena_.data() + at); };
  if (mutant_ == Mutant::never_credits) undo(geometry.credits_at(pattern_.streams[end.stream].lane, 1 - side));
  if (mutant_ == Mutant::keeps_areas) undo(geometry.returns_at(side));
  if (end.came.area != 0)
    ends.flying.erase(std::find_if(ends.flying.begin(), ends.flying.end(), [&](const Flying& flying) {
      return flying.from != side && flying.code == end.came.area - 1;
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

/// How many hold an area: ends, messages, or the lines in which areas are given back. `publisher`: whose area it is if
/// it is a published one.
int Steps::holders(const Ends& ends, int code, int publisher) {
  int all = 0;
  for (int side = 0; side < 2; ++side) {
    const End& end = ends.end[static_cast<std::size_t>(side)];
    const bool may_hold = publisher < 0 || publisher == side;
    const bool holds = end.phase == End::Phase::writing ||
                       (end.phase == End::Phase::sending && mutant_ != Mutant::writes_after_sending);
    if (may_hold && holds && end.area == code) ++all;
    for (const Flying& flying : ends.flying)
      if (may_hold && flying.from == side && flying.code == code) ++all;
    const std::vector<std::uint8_t>& owned = owned_areas(end.channel);
    all += static_cast<int>(std::count(owned.begin(), owned.end(), code));
    if (publisher == side) continue;  // what comes back to the publisher was given back by the other
    const Channel& other = ends.end[static_cast<std::size_t>(1 - side)].channel;
    const std::byte* const line = arena_.data() + pattern_.geometry.returns_at(side);
    for (std::uint64_t i = taken_back(other); i < end.channel.given_back(); ++i) {
      std::uint16_t entry = 0;
      std::memcpy(&entry, line + i % (line_bytes / sizeof entry) * sizeof entry, sizeof entry);
      if ((entry >> 1U) - 1 == code) ++all;
    }
  }
  return all;
}

std::string Steps::problem(const Ends& ends) {
  if (!problem_.empty()) return problem_;
  const Geometry& geometry = pattern_.geometry;
  for (int code = 0; code < geometry.areas(); ++code) {
    int all = holders(ends, code, -1);
    for (int lane = 0; lane < geometry.all_lanes(); ++lane)
      for (int side = 0; side < 2; ++side)
        if (code == geometry.reserve_of(lane, side))
          all += has_reserve(ends.end[static_cast<std::size_t>(side)].channel, lane) ? 1 : 0;
    if (all != 1) return fmt::format("owners: area {} has {}", code, all);
  }
  for (int side = 0; side < 2; ++side) {
    const int all = holders(ends, geometry.areas(), side);
    const int readers = arena_.publishers()[static_cast<std::size_t>(side)].readers(0);
    if (readers != all) return fmt::format("owners: what side {} publishes has {}, counted {}", side, all, readers);
  }
  return {};
}

}  // namespace tutti::shm::test
