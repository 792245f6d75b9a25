#include "lib/core/files/words.hpp"

#include <stdexcept>
#include <utility>

namespace tutti {
namespace {

/// The kinds of steps, in the order of Action's members; a receive with a reduction is a kind of its own.
enum class Kind : std::uint8_t { send, recv, recv_then_reduce, reduce, copy };

}  // namespace

void WordWriter::put(const std::vector<std::int64_t>& numbers) {
  put(static_cast<std::int64_t>(numbers.size()));
  words_.insert(words_.end(), numbers.begin(), numbers.end());
}

void WordWriter::put(std::string_view text) {
  put(static_cast<std::int64_t>(text.size()));
  for (const char letter : text)
    put(static_cast<std::int64_t>(letter));
}

void WordWriter::put(const Region& region) {
  put(static_cast<std::int64_t>(region.buffer));
  put(region.offset.value());
  put(region.count.value());
}

void WordWriter::put(const Regions& regions) {
  put(static_cast<std::int64_t>(regions.size()));
  for (const Region& region : regions)
    put(region);
}

void WordWriter::put(const Reduce& reduce) {
  for (const Region& region : {reduce.lhs, reduce.rhs, reduce.into})
    put(region);
}

void WordWriter::put(const Schedule& schedule) {
  put(schedule.scratch.value());
  put(static_cast<std::int64_t>(schedule.steps.size()));
  for (const auto& [action, after] : schedule.steps) {
    const auto put_kind = [&](Kind kind) { put(static_cast<std::int64_t>(kind)); };
    if (const auto* send = std::get_if<Send>(&action)) {
      put_kind(Kind::send);
      put(std::int64_t{send->to.value()});
      put(std::int64_t{send->message});
      put(send->from);
    } else if (const auto* recv = std::get_if<Recv>(&action)) {
      put_kind(recv->then ? Kind::recv_then_reduce : Kind::recv);
      put(std::int64_t{recv->from.value()});
      put(std::int64_t{recv->message});
      put(recv->into);
      if (recv->then) put(*recv->then);
    } else if (const auto* reduce = std::get_if<Reduce>(&action)) {
      put_kind(Kind::reduce);
      put(*reduce);
    } else {
      put_kind(Kind::copy);
      put(std::get<Copy>(action).from);
      put(std::get<Copy>(action).into);
    }
    put(std::vector<std::int64_t>(after.begin(), after.end()));
  }
}

std::int64_t WordReader::number() {
  if (words_.empty()) throw std::logic_error("the words of a schedule end too soon");
  const std::int64_t number = words_.front();
  words_ = words_.subspan(1);
  return number;
}

std::vector<std::int64_t> WordReader::numbers() {
  const std::int64_t size = number();
  if (size < 0 || size > std::ssize(words_)) throw std::logic_error("the words of a schedule end too soon");
  const auto some = words_.first(static_cast<std::size_t>(size));
  words_ = words_.subspan(some.size());
  return {some.begin(), some.end()};
}

std::string WordReader::text() {
  std::string text;
  for (const std::int64_t letter : numbers())
    text += static_cast<char>(letter);
  return text;
}

Region WordReader::region() {
  const auto buffer = static_cast<Buffer>(number());
  const Count offset = count();
  return {buffer, offset, count()};
}

Regions WordReader::regions() {
  Regions regions;
  for (std::int64_t left = number(); left > 0; --left)
    regions.push_back(region());
  return regions;
}

Reduce WordReader::reduce() {
  const Region lhs = region(), rhs = region();
  return {lhs, rhs, region()};
}

Action WordReader::action() {
  switch (const auto kind = static_cast<Kind>(number()); kind) {
    case Kind::send: {
      const Rank to = rank();
      const int message = static_cast<int>(number());
      return Send{to, regions(), message};
    }
    case Kind::recv:
    case Kind::recv_then_reduce: {
      const Rank from = rank();
      const int message = static_cast<int>(number());
      Recv recv{from, regions(), message, {}};
      if (kind == Kind::recv_then_reduce) recv.then = reduce();
      return recv;
    }
    case Kind::reduce:
      return reduce();
    case Kind::copy: {
      const Region from = region();
      return Copy{from, region()};
    }
  }
  throw std::logic_error("the words of a schedule have a step of no kind");
}

Schedule WordReader::schedule() {
  Schedule schedule;
  schedule.scratch = count();
  for (std::int64_t left = number(); left > 0; --left) {
    Step step{action(), {}};
    for (const std::int64_t before : numbers())
      step.after.push_back(static_cast<int>(before));
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

}  // namespace tutti
