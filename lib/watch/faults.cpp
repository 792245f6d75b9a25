#include "lib/watch/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr std::string_view source = "environment variable TUTTI_FAULTS";
constexpr std::array<std::string_view, 6> kinds{"kill", "stop", "delay", "drop", "corrupt", "allocation"};

/// Whether it happens to messages that this rank sends, and to no others.
bool is_of_sends(Fault::Kind kind) { return kind == Fault::Kind::drop || kind == Fault::Kind::corrupt; }

[[noreturn]] void refuse(std::string_view item) {
  throw ArgumentError(fmt::format(
      "{} has '{}'; allowed, separated by ';': seed=N, kill:rank=R,message=N, stop:rank=R,message=N, "
      "delay:rank=R,message=N,milliseconds=N, drop:rank=R,message=N, corrupt:rank=R,message=N, "
      "allocation:rank=R,plan=N; N of message and plan, from 1 on, may be a range as 1-500; messages may be those with "
      "one peer=R",
      source, item));
}

std::int64_t number(std::string_view text, std::string_view item) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::int64_t most = 1'000'000'000;
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > most) refuse(item);
  return value;
}

/// "50", or "1-500": one of these.
std::int64_t drawn(std::string_view text, std::string_view item, std::mt19937_64& random) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return number(text, item);
  const std::int64_t least = number(text.substr(0, dash), item), most = number(text.substr(dash + 1), item);
  if (least > most) refuse(item);
  return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

/// Calls take(part) for each part between separators.
template <class Take>
void split(std::string_view text, char separator, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Fault read_fault(std::string_view item, std::mt19937_64& random) {
  const std::size_t colon = item.find(':');
  const std::string_view name = item.substr(0, colon);
  std::size_t kind = 0;
  while (kind < kinds.size() && kinds[kind] != name)
    ++kind;
  if (colon == std::string_view::npos || kind == kinds.size()) refuse(item);
  Fault fault{.kind = static_cast<Fault::Kind>(kind), .rank = -1, .number = 0};
  split(item.substr(colon + 1), ',', [&](std::string_view pair) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) refuse(item);
    const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
    const bool is_of_plan = fault.kind == Fault::Kind::allocation;
    if (key == "rank")
      fault.rank = static_cast<int>(number(value, item));
    else if (key == (is_of_plan ? "plan" : "message"))
      fault.number = drawn(value, item, random);
    else if (key == "peer" && !is_of_plan)
      fault.peer = static_cast<int>(number(value, item));
    else if (key == "milliseconds" && fault.kind == Fault::Kind::delay)
      fault.milliseconds = number(value, item);
    else
      refuse(item);
  });
  if (fault.rank < 0 || fault.number < 1) refuse(item);
  return fault;
}

}  // namespace

std::vector<Fault> read_faults(std::string_view text) {
  std::vector<Fault> faults;
  std::mt19937_64 random;
  constexpr std::string_view seed = "seed=";
  split(text, ';', [&](std::string_view item) {
    if (item.starts_with(seed)) random.seed(static_cast<std::uint64_t>(number(item.substr(seed.size()), item)));
  });
  split(text, ';', [&](std::string_view item) {
    if (!item.starts_with(seed)) faults.push_back(read_fault(item, random));
  });
  return faults;
}

Faults::Faults(const std::vector<Fault>& all, int rank) {
  for (const Fault& fault : all)
    if (fault.rank == rank) faults_.push_back({fault});
}

namespace {

bool counts(const Fault& fault, const CompiledStep& step) {
  if (fault.kind == Fault::Kind::allocation || (fault.peer >= 0 && fault.peer != step.peer)) return false;
  return step.verb == Verb::send || !is_of_sends(fault.kind);
}

/// Differs also in the few bits that a tag holds. Only plans of very many messages of a pair have it.
int wrong_number(int message) { return message ^ std::numeric_limits<int>::max(); }

}  // namespace

const CompiledStep* Faults::before_message(const CompiledStep& step) {
  const CompiledStep* meant = &step;
  bool is_dropped = false;
  for (auto& [fault, seen] : faults_) {
    if (!counts(fault, step) || ++seen != fault.number) continue;
    switch (fault.kind) {
      case Fault::Kind::kill:
        static_cast<void>(std::raise(SIGKILL));
        break;
      case Fault::Kind::stop:
        static_cast<void>(std::raise(SIGSTOP));
        break;
      case Fault::Kind::delay:
        std::this_thread::sleep_for(std::chrono::milliseconds{fault.milliseconds});
        break;
      case Fault::Kind::drop:
        is_dropped = true;
        break;
      case Fault::Kind::corrupt:
        if (step.transport == Transport::ipc) break;
        meant = &corrupted_.emplace_back(step);
        corrupted_.back().message = wrong_number(step.message);
        break;
      case Fault::Kind::allocation:
        break;
    }
  }
  return is_dropped && step.transport != Transport::ipc ? nullptr : meant;
}

void Faults::before_plan() {
  bool is_now = false;
  for (auto& [fault, seen] : faults_)
    is_now |= fault.kind == Fault::Kind::allocation && ++seen == fault.number;
  if (is_now) throw std::bad_alloc{};
}

}  // namespace tutti
