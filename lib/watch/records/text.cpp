#include "lib/watch/records/text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "lib/watch/records/mpi_names.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::records {
namespace {

template <std::size_t n>
std::string name_in(const std::array<std::string_view, n>& names, std::size_t index) {
  return index < n ? std::string{names[index]} : fmt::format("unknown ({})", index);
}

template <class Enum>
std::size_t index_of(Enum value) {
  return static_cast<std::size_t>(value);
}

std::string type_name(Type type) {
  return is_type(type) ? std::string{tutti::to_string(type)} : fmt::format("type {}", static_cast<int>(type));
}

std::string op_name(Op::Kind kind) {
  if (kind > Op::Kind::user) return fmt::format("operation {}", static_cast<int>(kind));
  return kind == Op::Kind::user ? "a user's operation" : std::string{tutti::to_string(kind)};
}

bool is_collective(Action action) { return action < Action::messages; }
bool has_reduction(Action action) { return is_collective(action) && reduces(static_cast<Collective>(action)); }
bool has_elements(Action action) { return is_collective(action) && action != Action::barrier; }

/// "from", "to" its root; empty: it has none.
std::string_view way_of_root(Action action) {
  switch (action) {
    case Action::broadcast:
    case Action::scatter:
      return "from";
    case Action::reduce:
    case Action::gather:
      return "to";
    default:
      return "";
  }
}

std::string algorithm_name(const Signature& call) {
  if (call.algorithm == algorithm_of_file) return "the schedules of a file";
  const auto all = algorithms();
  if (call.algorithm < 0 || call.algorithm >= static_cast<int>(all.size())) return "no algorithm";
  const std::string name{all[static_cast<std::size_t>(call.algorithm)]->name};
  return call.parameter > 0 ? fmt::format("{}:{}", name, call.parameter) : name;
}

std::string messages_in_words(const Signature& call) {
  const std::string first = call.root >= 0 ? fmt::format(", the first with rank {}", call.root) : "";
  return fmt::format("{} message{} of {} bytes{}", call.parameter, call.parameter == 1 ? "" : "s", call.count, first);
}

/// The name of the type, and of the operation, as the program names them.
std::string type_of(const Signature& call) { return is_mpis(call) ? mpi_type_name(call) : type_name(call.type); }
std::string op_of(const Signature& call) {
  if (is_mpis(call)) return mpi_op_name(call);
  return call.adding == 0 ? op_name(call.op)
                          : fmt::format("{} {}", op_name(call.op), name_in(adding_names, call.adding));
}
/// "32 MPI_INT": bytes are counted as the program counts them.
std::string amount_of(const Signature& call) {
  const bool is_moved = is_mpis(call) && !has_reduction(call.action);
  return is_moved ? mpi_amount(call, call.count) : fmt::format("{} {}", call.count, type_of(call));
}

std::string size_in_words(const Signature& call) {
  if (!has_elements(call.action)) return "";
  if (!call.is_uneven) return fmt::format(" of {}", amount_of(call));
  if (is_mpis(call) && call.mpi == of_several_types) return " of blocks that differ in size";
  return fmt::format(" of blocks of {} that differ in size", type_of(call));
}

}  // namespace

std::string to_string(Action action) {
  constexpr std::array<std::string_view, 3> others{"messages", "the closing of the communicator",
                                                   "the making of a communicator"};
  return is_collective(action) ? std::string{tutti::to_string(static_cast<Collective>(action))}
                               : name_in(others, index_of(action) - index_of(Action::messages));
}

std::string to_string(Manner manner) {
  constexpr std::array<std::string_view, 4> names{"blocking", "nonblocking", "persistent", "in a stream"};
  return name_in(names, index_of(manner));
}

std::string to_string(State state) {
  constexpr std::array<std::string_view, 5> names{"none", "being written", "inside", "over", "failed"};
  return name_in(names, index_of(state));
}

std::string in_words(const Signature& call) {
  if (call.action == Action::messages) return messages_in_words(call);
  if (!is_collective(call.action)) return to_string(call.action);
  const bool is_told = call.manner == Manner::blocking || is_mpis(call);
  std::string text = is_told ? "" : to_string(call.manner) + " ";
  text += name_in_words(call) + size_in_words(call);
  if (has_reduction(call.action)) text += ", " + op_of(call);
  if (const std::string_view way = way_of_root(call.action); !way.empty())
    text += fmt::format(" {} rank {}", way, call.root);
  return text + fmt::format(" ({})", algorithm_name(call));
}

std::string name_in_words(const Signature& call) {
  return fmt::format("{} #{}", is_mpis(call) ? mpi_function_of(call) : to_string(call.action), call.sequence);
}

std::string bytes_in_words(const Signature& call, std::int64_t bytes) {
  return is_mpis(call) ? mpi_amount(call, bytes) : fmt::format("{} bytes", bytes);
}

std::string communicator_in_words(const Signature& call) {
  std::string ranks = fmt::format("{} rank{}", call.ranks, call.ranks == 1 ? "" : "s");
  if (call.action == Action::make_communicator) return ranks;
  const std::string name = name_of_communicator(call.communicator);
  return fmt::format("communicator {} ({})", name.empty() ? std::to_string(call.communicator.context()) : name, ranks);
}

std::string in_words(const Wait& wait) {
  switch (wait.what) {
    case Wait::For::message_from:
      return fmt::format("waits at step {} for a message from rank {}", wait.step, wait.peer);
    case Wait::For::message_to:
      return fmt::format("waits at step {} for rank {} to take a message", wait.step, wait.peer);
    case Wait::For::earlier_call:
      return "waits for an earlier call to end";
    case Wait::For::device:
      return fmt::format("waits at step {} for a device", wait.step);
    case Wait::For::all_arguments:
      return "waits for the arguments of the others (TUTTI_CHECK)";
    case Wait::For::nothing:
      break;
  }
  return "";
}

std::string duration_in_words(std::int64_t nanoseconds) {
  constexpr double milli = 1e6, second = 1e9, minute = 60 * second, hour = 60 * minute;
  const auto time = static_cast<double>(nanoseconds < 0 ? 0 : nanoseconds);
  if (time < second) return fmt::format("{:.0f} ms", time / milli);
  if (time < 10 * second) return fmt::format("{:.1f} s", time / second);
  if (time < 3 * minute) return fmt::format("{:.0f} s", time / second);
  return time < 3 * hour ? fmt::format("{:.0f} min", time / minute) : fmt::format("{:.0f} h", time / hour);
}

std::string differences(const Signature& mine, const Signature& theirs, const Sides& sides) {
  std::string text;
  const auto tell = [&](std::string_view argument, const auto& own, const auto& other) {
    text += fmt::format("{}{} {} {}, {} {}", text.empty() ? "" : "; ", argument, own, sides.mine, other, sides.theirs);
  };
  const auto tell_if_other = [&](std::string_view argument, const auto& own, const auto& other) {
    if (own != other) tell(argument, own, other);
  };
  const bool are_mpis = is_mpis(mine) && is_mpis(theirs);  // whose names tell the manner and the kind of blocks, too
  if (are_mpis) tell_if_other("call", mpi_function_of(mine), mpi_function_of(theirs));
  if (!text.empty()) return text;
  tell_if_other("call", to_string(mine.action), to_string(theirs.action));
  if (mine.action != theirs.action) return text;
  if (!mine.any_manner) tell_if_other("manner", to_string(mine.manner), to_string(theirs.manner));
  if (!is_collective(mine.action)) return text;
  const auto sizes = [](const Signature& call) -> std::string_view {
    return call.is_uneven ? "of listed sizes" : "of one size";
  };
  tell_if_other("blocks", sizes(mine), sizes(theirs));
  const bool are_counted = has_elements(mine.action) && !mine.is_uneven && !theirs.is_uneven;
  if (are_counted && mine.count != theirs.count) {
    if (are_mpis)
      tell("count", amount_of(mine), amount_of(theirs));
    else
      tell("count", mine.count, theirs.count);
  }
  if (has_elements(mine.action) && mine.type != theirs.type) tell("type", type_of(mine), type_of(theirs));
  if (has_reduction(mine.action) && (mine.op != theirs.op || mine.adding != theirs.adding))
    tell("operation", op_of(mine), op_of(theirs));
  if (!way_of_root(mine.action).empty()) tell_if_other("root", mine.root, theirs.root);
  tell_if_other("algorithm", algorithm_name(mine), algorithm_name(theirs));
  if (text.empty() && mine.fingerprint != theirs.fingerprint)
    text = "the scale of the operation, or the segments of the algorithm";
  return text;
}

std::string ranks_in_words(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[first]);
    if (last > first) text += fmt::format("-{}", ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace tutti::records
