#include "lib/watch/argument_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "lib/watch/records/situation.hpp"
#include "lib/watch/records/text.hpp"

namespace tutti::detail {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, const T* data, std::size_t count) {
  const std::size_t before = bytes.size(), size = count * sizeof(T);
  bytes.resize(before + size);
  if (size > 0) std::memcpy(bytes.data() + before, data, size);
}

struct Header {
  records::Signature call{};
  double scale = 1.0;
  std::int64_t element = 1, in = 0, out = 0;  ///< The last two: how many numbers follow.
};

std::vector<std::byte> packed(const Arguments& arguments) {
  std::vector<std::byte> bytes;
  const Header header{arguments.call, arguments.scale, arguments.element, std::ssize(arguments.in),
                      std::ssize(arguments.out)};
  append(bytes, &header, 1);
  append(bytes, arguments.in.data(), arguments.in.size());
  append(bytes, arguments.out.data(), arguments.out.size());
  return bytes;
}

/// The sender is a rank of the same job, with the same library.
Arguments unpacked(std::span<const std::byte> bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  Arguments arguments{header.call, header.scale, header.element};
  bytes = bytes.subspan(sizeof header);
  for (auto* const list : {&arguments.in, &arguments.out}) {
    list->resize(static_cast<std::size_t>(list == &arguments.in ? header.in : header.out));
    const std::size_t size = list->size() * sizeof(std::int64_t);
    if (size > 0) std::memcpy(list->data(), bytes.data(), size);
    bytes = bytes.subspan(size);
  }
  return arguments;
}

std::vector<std::int64_t> bytes_of(std::span<const Count> counts, std::int64_t element) {
  std::vector<std::int64_t> bytes;
  bytes.reserve(counts.size());
  for (const Count count : counts)
    bytes.push_back(count.value() * element);
  return bytes;
}

bool are_same(const Arguments& a, const Arguments& b) {
  return records::match(a.call, b.call) && a.scale == b.scale && a.element == b.element;
}

/// The arguments that most ranks gave, of the lowest rank among these.
const Arguments& most_common(const std::vector<Arguments>& all) {
  const Arguments* best = &all.front();
  std::ptrdiff_t most = 0;
  for (const Arguments& each : all) {
    const auto same = std::ranges::count_if(all, [&](const Arguments& other) { return are_same(each, other); });
    if (same > most) {
      most = same;
      best = &each;
    }
  }
  return *best;
}

/// Joins at most so many complaints; says how many more there are.
class Complaints {
 public:
  void add(const std::string& complaint) {
    constexpr int most = 16;
    if (++count_ <= most) text_ += (text_.empty() ? "" : "; ") + complaint;
    if (count_ == most + 1) text_ += "; and more";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_{};
  int count_ = 0;
};

/// What differs comes first: MPI cuts the texts of errors.
std::string compare_calls(const std::vector<Arguments>& all) {
  const Arguments& usual = most_common(all);
  Complaints how, calls;
  for (const Arguments& each : all) {
    if (are_same(usual, each)) continue;
    const std::string on_this = fmt::format("on rank {}", each.call.rank);
    const records::Sides sides{"on most ranks", on_this};
    how.add(usual.scale == each.scale
                ? records::differences(usual.call, each.call, sides)
                : fmt::format("scale {} {}, {} {}", usual.scale, sides.mine, each.scale, sides.theirs));
    calls.add(fmt::format("rank {} called {}", each.call.rank, records::in_words(each.call)));
  }
  if (how.text().empty()) return {};
  return fmt::format("{}: most ranks called {}, but {}", how.text(), records::in_words(usual.call), calls.text());
}

std::int64_t at(const std::vector<std::int64_t>& list, std::size_t index) {
  return index < list.size() ? list[index] : 0;
}

std::string amount(const Arguments& of, std::int64_t bytes) { return records::bytes_in_words(of.call, bytes); }

/// All ranks have to list the same.
std::string compare_lists(const std::vector<Arguments>& all, std::vector<std::int64_t> Arguments::*list) {
  Complaints complaints;
  const auto& first = all.front().*list;
  for (const Arguments& each : all)
    for (std::size_t i = 0; i < first.size(); ++i)
      if (at(each.*list, i) != first[i]) {
        complaints.add(fmt::format("rank {} lists {} for the block of rank {}, rank 0 lists {}", each.call.rank,
                                   amount(each, at(each.*list, i)), i, amount(all.front(), first[i])));
        break;
      }
  return complaints.text();
}

/// The list of the root against the block of each rank.
std::string compare_with_root(const std::vector<Arguments>& all, std::vector<std::int64_t> Arguments::*of_root,
                              std::vector<std::int64_t> Arguments::*of_rank) {
  Complaints complaints;
  const Arguments& root = all[static_cast<std::size_t>(all.front().call.root)];
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (&all[rank] != &root && at(root.*of_root, rank) != at(all[rank].*of_rank, 0))
      complaints.add(fmt::format("the root lists {} for rank {}, which has {}", amount(root, at(root.*of_root, rank)),
                                 rank, amount(all[rank], at(all[rank].*of_rank, 0))));
  return complaints.text();
}

std::string compare_pairs(const std::vector<Arguments>& all) {
  Complaints complaints;
  for (std::size_t from = 0; from < all.size(); ++from)
    for (std::size_t to = 0; to < all.size(); ++to)
      if (at(all[from].in, to) != at(all[to].out, from))
        complaints.add(fmt::format("rank {} sends {} to rank {}, which expects {}", from,
                                   amount(all[from], at(all[from].in, to)), to,
                                   amount(all[to], at(all[to].out, from))));
  return complaints.text();
}

std::string compare_blocks(const std::vector<Arguments>& all) {
  const records::Signature& call = all.front().call;
  if (!call.is_uneven) return {};
  switch (call.action) {
    case records::Action::reduce_scatter:
      return compare_lists(all, &Arguments::in);
    case records::Action::allgather:
      return compare_lists(all, &Arguments::out);
    case records::Action::gather:
      return compare_with_root(all, &Arguments::out, &Arguments::in);
    case records::Action::scatter:
      return compare_with_root(all, &Arguments::in, &Arguments::out);
    default:
      return compare_pairs(all);
  }
}

}  // namespace

Arguments arguments_of(const records::Signature& call, const PlanKey& key) {
  const std::int64_t element = size_of(key.type).value();
  return {call, key.op.kind() == Op::Kind::scaled_sum ? key.op.scale() : 1.0, element,
          bytes_of(key.problem.in.counts, element), bytes_of(key.problem.out.counts, element)};
}

std::string compare(const std::vector<Arguments>& all) {
  std::string text = compare_calls(all);
  return text.empty() ? compare_blocks(all) : text;
}

std::uint64_t ArgumentCheck::submit(const Arguments& mine) {
  const std::uint64_t number = submitted_++;
  if (communicator_.rank() == Rank{0}) {
    came_.resize(static_cast<std::size_t>(communicator_.members().size()));
    came_.front().push_back(mine);
    return number;
  }
  mpi::Letter letter{.kind = mpi::Letter::Kind::arguments, .rank = communicator_.rank().value(), .call = mine.call};
  communicator_.carrier().mailbox().send(communicator_.members().on_carrier().front(), letter, packed(mine));
  return number;
}

void ArgumentCheck::close(const records::Signature& closing) {
  if (communicator_.rank() != Rank{0})
    static_cast<void>(submit({.call = closing}));
  else
    tell_all({.kind = mpi::Letter::Kind::verdict, .call = closing},
             "rank 0 closed the communicator, or called MPI_Finalize");
}

void ArgumentCheck::tell_all(const mpi::Letter& letter, const std::string& text) {
  std::vector<std::byte> bytes;
  append(bytes, text.data(), text.size());
  for (int rank = 1; rank < communicator_.members().size(); ++rank)
    communicator_.carrier().mailbox().send(communicator_.members().on_carrier()[static_cast<std::size_t>(rank)], letter,
                                           bytes);
}

std::optional<std::string> ArgumentCheck::verdict(std::uint64_t number) {
  communicator_.runtime().serve_mailboxes();
  if (communicator_.rank() == Rank{0}) judge();
  const auto found = verdicts_.find(number);
  if (found == verdicts_.end()) return std::nullopt;
  std::string text = std::move(found->second);
  verdicts_.erase(found);
  return text;
}

int ArgumentCheck::awaited(std::uint64_t number) const {
  if (communicator_.rank() != Rank{0}) return 0;
  for (std::size_t rank = 0; rank < came_.size(); ++rank)
    if (judged_ + came_[rank].size() <= number) return static_cast<int>(rank);
  return -1;
}

void ArgumentCheck::take(const mpi::Letter& letter, const std::vector<std::byte>& rest) {
  if (letter.kind == mpi::Letter::Kind::verdict) {
    verdicts_[judged_++] = {reinterpret_cast<const char*>(rest.data()), rest.size()};
    return;
  }
  came_.resize(static_cast<std::size_t>(communicator_.members().size()));
  came_[static_cast<std::size_t>(letter.rank)].push_back(unpacked(rest));
}

/// Compares every call of which all ranks have told.
void ArgumentCheck::judge() {
  const auto have_all_come = [&] {
    return !came_.empty() && std::ranges::none_of(came_, [](const auto& queue) { return queue.empty(); });
  };
  while (have_all_come()) {
    std::vector<Arguments> all;
    for (auto& queue : came_) {
      all.push_back(std::move(queue.front()));
      queue.pop_front();
    }
    std::string text = compare(all);
    tell_all({.kind = mpi::Letter::Kind::verdict, .call = all.front().call}, text);
    verdicts_[judged_++] = std::move(text);
  }
}

/// A call that starts as a program in a stream, without the host, is not compared.
void CheckedCall::entered(const Entrance& run) {
  if (run.call.manner != records::Manner::in_stream) number_ = check_.submit(arguments_of(run.call, key_));
}

std::optional<records::Wait> CheckedCall::delays() {
  if (!number_) return std::nullopt;
  const auto verdict = check_.verdict(*number_);
  if (!verdict) return records::Wait{.what = records::Wait::For::all_arguments, .peer = check_.awaited(*number_)};
  number_.reset();
  if (!verdict->empty()) throw ComparedError(*verdict);
  return std::nullopt;
}

}  // namespace tutti::detail
