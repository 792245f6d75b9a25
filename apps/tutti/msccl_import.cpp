// MSCCL's algorithms as schedules. The steps of all threadblocks are run once, in some order that their waits allow,
// with messages that wait where they arrive. Each becomes steps of a rank, which wait only for those that touch the
// same chunks. Then they are put into one order in which the two ends of each message stand together: so messages are
// numbered alike on both sides, whatever channel they took.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "apps/options.hpp"
#include "apps/tutti/msccl.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::tool {
namespace {

using Type = MscclStep::Type;

constexpr int nobody = -1;

/// Parts of scratch for what a threadblock receives to reduce, in turn. With one, the ranks of a ring that reduce and
/// send on would wait for each other: a message could not be received before the one before has been passed on.
constexpr int landings = 2;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A step of a rank, as it becomes one.
struct Event {
  int rank;
  Action action;
  std::vector<int> after{};  ///< Events of the same rank.
  int partner = nobody;      ///< The other end of a message.
};

/// Events in one order in which the two ends of a message are next to each other; where there is none, as they are.
std::vector<int> joined_order(const std::vector<Event>& events) {
  const auto node_of = [&](int event) { return std::max(event, events[at(event)].partner); };
  std::vector<int> waits(events.size(), 0);
  std::vector<std::vector<int>> followers(events.size());
  for (int event = 0; event < std::ssize(events); ++event)
    for (const int before : events[at(event)].after) {
      followers[at(node_of(before))].push_back(node_of(event));
      ++waits[at(node_of(event))];
    }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int event = 0; event < std::ssize(events); ++event)
    if (node_of(event) == event && waits[at(event)] == 0) ready.push(event);
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    if (const int partner = events[at(node)].partner; partner != nobody) order.push_back(partner);
    order.push_back(node);
    for (const int next : followers[at(node)])
      if (--waits[at(next)] == 0) ready.push(next);
  }
  if (order.size() == events.size()) return order;
  order.resize(events.size());  // the proof will say what is wrong
  for (int event = 0; event < std::ssize(events); ++event)
    order[at(event)] = event;
  return order;
}

class Replay {
 public:
  Replay(const MscclAlgorithm& algorithm, Rank root) : algorithm_(algorithm) {
    describe(root);
    std::int64_t chunks = 0;
    for (int gpu = 0; gpu < file_.ranks; ++gpu)
      chunks += add_gpu(gpu);
    if (chunks > most_msccl_chunks)
      throw apps::InputError(fmt::format("{}: the buffers have {} chunks in all; allowed: up to {}", algorithm.path,
                                         chunks, most_msccl_chunks));
    if ((steps_ + std::ssize(threads_)) * std::ssize(threads_) > most_msccl_clocks)
      throw apps::InputError(fmt::format("{}: {} steps in {} threadblocks; allowed: {}, multiplied", algorithm.path,
                                         steps_, threads_.size(), most_msccl_clocks));
    for (Gpu& gpu : gpus_)
      gpu.lowest.resize(3);
    for (int gpu = 0; gpu < file_.ranks; ++gpu)
      for (const Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch})
        gpus_[at(gpu)].lowest[at(static_cast<int>(buffer))].assign(at(size_of(gpu, buffer).value()), gpu);
  }

  ScheduleFile schedules() && {
    run();
    write();
    return std::move(file_);
  }

 private:
  /// For each threadblock of all GPUs, how many of its steps are known to be complete.
  using Clock = std::vector<int>;
  struct Thread {
    int gpu, block;
    std::int64_t landing = 0, longest = 0;  ///< Where in scratch it puts what it receives to reduce, and how much.
    int landed = 0;                         ///< How often it did.
    int next = 0;
    Clock clock{};
    std::map<int, Clock> awaited{};  ///< Of steps for which others wait.
  };
  struct Message {
    int send;  ///< The event.
    std::vector<int> lowest;
    Clock clock;
    int line;
  };
  /// `lowest`: by buffer and chunk, the lowest rank whose operand is in it.
  struct Gpu {
    Shape shape{};
    Aliasing aliasing{};
    Accesses accesses;
    std::vector<std::vector<int>> lowest{};
    int first_thread = 0;
  };
  /// The step of a threadblock that has become an event.
  struct Origin {
    int thread, index;
  };

  void describe(Rank root);
  std::int64_t add_gpu(int gpu);
  [[nodiscard]] Count size_of(int gpu, Buffer buffer) const;

  void run();
  bool advance(int thread);
  void execute(int thread, const MscclStep& step);
  void receive(int thread, const MscclStep& step, const Region& into);
  void send(int thread, const MscclStep& step, const Region& from);
  void reduce(int thread, const MscclStep& step, const Region& a, const Region& b, const Region& into);
  int add(int thread, const MscclStep& step, Action action, const Regions& reads, const Regions& writes);
  [[nodiscard]] Region located(int thread, const MscclStep& step, const Region& region, bool is_written) const;
  [[nodiscard]] std::vector<int> lowest_in(int gpu, const Region& region) const;
  void set_lowest(int gpu, const Region& region, const std::vector<int>& lowest);
  void write();

  [[nodiscard]] const MscclBlock& block_of(const Thread& thread) const {
    return algorithm_.gpus[at(thread.gpu)].blocks[at(thread.block)];
  }
  [[nodiscard]] std::string name_of(const Origin& origin) const {
    const Thread& thread = threads_[at(origin.thread)];
    return fmt::format("gpu {}, tb {}, step {}", thread.gpu, thread.block, origin.index);
  }
  [[noreturn]] void fail(int thread, const MscclStep& step, const std::string& why) const {
    throw apps::InputError(
        fmt::format("{}:{}: {}: {}", algorithm_.path, step.line, name_of({thread, threads_[at(thread)].next}), why));
  }

  using Way = std::tuple<int, int, int>;  ///< Sender, receiver, channel.
  const MscclAlgorithm& algorithm_;
  ScheduleFile file_{};
  std::vector<Gpu> gpus_{};
  std::vector<Thread> threads_{};
  std::int64_t steps_ = 0;
  std::vector<Event> events_{};
  std::vector<Origin> origins_{};  ///< Of each event.
  std::map<Way, std::deque<Message>> under_way_{};
};

void Replay::describe(Rank root) {
  file_.path = algorithm_.path;
  file_.algorithm = algorithm_.name;
  file_.source = "MSCCL";
  file_.collective = algorithm_.collective;
  file_.ranks = static_cast<int>(algorithm_.gpus.size());
  file_.is_in_place = algorithm_.is_in_place;
  file_.is_commutative = reduces(algorithm_.collective);
  file_.least_bytes = algorithm_.least_bytes;
  file_.most_bytes = algorithm_.most_bytes;
  file_.chunks = algorithm_.chunks;
  const auto refuse = [&](const std::string& why) {
    throw apps::InputError(fmt::format("{}: coll is {}, {}", algorithm_.path, msccl_name(algorithm_.collective), why));
  };
  if (has_root(file_.collective)) file_.root = root;
  if (file_.root.value() >= file_.ranks) refuse(fmt::format("on {} GPUs; root {} is none", file_.ranks, root.value()));
  const bool is_in_blocks = file_.collective != Collective::allreduce && file_.collective != Collective::broadcast &&
                            file_.collective != Collective::reduce;
  if (is_in_blocks && file_.chunks % file_.ranks != 0)
    refuse(fmt::format("and nchunksperloop is {}, which {} GPUs do not divide", file_.chunks, file_.ranks));
  if (is_in_blocks) file_.chunks /= file_.ranks;
  const bool differs = file_.collective == Collective::reduce_scatter || file_.collective == Collective::gather ||
                       file_.collective == Collective::scatter;
  if (file_.is_in_place && differs && file_.ranks > 1)
    refuse("in place: its block lies elsewhere than in the MPI call");
}

std::int64_t Replay::add_gpu(int gpu) {
  const Problem problem = problem_of(file_, Rank{gpu}, Count{file_.chunks});
  const MscclGpu& given = algorithm_.gpus[at(gpu)];
  gpus_.push_back({.shape = shape_of(problem), .aliasing = problem.aliasing, .accesses = Accesses{problem.aliasing}});
  Gpu& own = gpus_.back();
  own.first_thread = static_cast<int>(threads_.size());
  std::int64_t scratch = given.scratch;
  for (int block = 0; block < std::ssize(given.blocks); ++block) {
    Thread& thread = threads_.emplace_back(Thread{.gpu = gpu, .block = block, .landing = scratch});
    for (const MscclStep& step : given.blocks[at(block)].steps)
      if (receives(step.type) && step.type != Type::recv && step.type != Type::recv_copy_send)
        thread.longest = std::max(thread.longest, step.src.count.value());
    scratch += landings * thread.longest;
    steps_ += std::ssize(given.blocks[at(block)].steps);
  }
  file_.schedules.push_back({{}, Count{scratch}});
  return own.shape.input.value() + own.shape.output.value() + scratch;
}

Count Replay::size_of(int gpu, Buffer buffer) const {
  const Gpu& own = gpus_[at(gpu)];
  if (buffer == Buffer::scratch) return file_.schedules[at(gpu)].scratch;
  return buffer == Buffer::input ? own.shape.input : own.shape.output;
}

void Replay::run() {
  for (Thread& thread : threads_)
    thread.clock.assign(threads_.size(), 0);
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (int thread = 0; thread < std::ssize(threads_); ++thread)
      while (advance(thread))
        goes_on = true;
  }
  for (int thread = 0; thread < std::ssize(threads_); ++thread)
    if (const Thread& own = threads_[at(thread)]; own.next < std::ssize(block_of(own).steps))
      fail(thread, block_of(own).steps[at(own.next)], "never ends: what it waits for never comes");
  for (const auto& [way, messages] : under_way_)
    if (!messages.empty())
      throw apps::InputError(fmt::format("{}:{}: {}: sends to gpu {}, which does not receive it", algorithm_.path,
                                         messages.front().line, name_of(origins_[at(messages.front().send)]),
                                         std::get<1>(way)));
}

/// Runs the next step of the threadblock if it need not wait.
bool Replay::advance(int thread) {
  Thread& own = threads_[at(thread)];
  const MscclBlock& block = block_of(own);
  if (own.next == std::ssize(block.steps)) return false;
  const MscclStep& step = block.steps[at(own.next)];
  const auto merge = [&](const Clock& other) {
    for (std::size_t i = 0; i < other.size(); ++i)
      own.clock[i] = std::max(own.clock[i], other[i]);
  };
  const int before = step.after_block < 0 ? nobody : gpus_[at(own.gpu)].first_thread + step.after_block;
  if (before != nobody && threads_[at(before)].next <= step.after_step) return false;
  if (receives(step.type)) {
    const auto& messages = under_way_[{block.recv, own.gpu, block.channel}];
    if (messages.empty()) return false;
    merge(messages.front().clock);
  }
  if (before != nobody && before != thread) merge(threads_[at(before)].awaited.at(step.after_step));
  execute(thread, step);
  own.clock[at(thread)] = ++own.next;
  if (step.is_awaited) own.awaited[own.next - 1] = own.clock;
  return true;
}

void Replay::execute(int thread, const MscclStep& step) {
  Thread& own = threads_[at(thread)];
  const auto source = [&] { return located(thread, step, step.src, false); };
  const auto target = [&] { return located(thread, step, step.dst, true); };
  const Region landing{Buffer::scratch, Count{own.landing + own.landed % landings * own.longest}, step.src.count};
  switch (step.type) {
    case Type::nop:
      return;
    case Type::send:
      return send(thread, step, source());
    case Type::recv:
      return receive(thread, step, target());
    case Type::recv_copy_send:
      receive(thread, step, target());
      return send(thread, step, target());
    case Type::recv_reduce_send:
      ++own.landed;
      receive(thread, step, landing);
      reduce(thread, step, source(), landing, landing);
      return send(thread, step, landing);
    case Type::recv_reduce_copy:
      ++own.landed;
      receive(thread, step, landing);
      return reduce(thread, step, source(), landing, target());
    case Type::recv_reduce_copy_send:
      ++own.landed;
      receive(thread, step, landing);
      reduce(thread, step, source(), landing, target());
      return send(thread, step, target());
    case Type::reduce:
      return reduce(thread, step, target(), source(), target());
    case Type::copy:
      if (source() == target()) return;
      add(thread, step, Copy{source(), target()}, {source()}, {target()});
      set_lowest(own.gpu, target(), lowest_in(own.gpu, source()));
  }
}

void Replay::send(int thread, const MscclStep& step, const Region& from) {
  const Thread& own = threads_[at(thread)];
  const MscclBlock& block = block_of(own);
  const int event = add(thread, step, Send{Rank{block.send}, {from}}, {from}, {});
  under_way_[{own.gpu, block.send, block.channel}].push_back({event, lowest_in(own.gpu, from), own.clock, step.line});
}

void Replay::receive(int thread, const MscclStep& step, const Region& into) {
  const Thread& own = threads_[at(thread)];
  const MscclBlock& block = block_of(own);
  std::deque<Message>& messages = under_way_[{block.recv, own.gpu, block.channel}];
  const Message message = std::move(messages.front());
  messages.pop_front();
  if (std::ssize(message.lowest) != into.count.value())
    fail(thread, step,
         fmt::format("receives {} chunks, but {} sends {}", into.count.value(), name_of(origins_[at(message.send)]),
                     message.lowest.size()));
  const int event = add(thread, step, Recv{Rank{block.recv}, {into}}, {}, {into});
  events_[at(event)].partner = message.send;
  events_[at(message.send)].partner = event;
  set_lowest(own.gpu, into, message.lowest);
}

/// MSCCL's operations commute. The operand with the lower rank in it comes first: so operands stay in the order of
/// ranks where they can, and ranks that combine the same operands compute the same bits.
void Replay::reduce(int thread, const MscclStep& step, const Region& a, const Region& b, const Region& into) {
  const int gpu = threads_[at(thread)].gpu;
  std::vector<int> lowest = lowest_in(gpu, a);
  const std::vector<int> other = lowest_in(gpu, b);
  const bool is_in_order = lowest <= other;
  for (std::size_t i = 0; i < lowest.size(); ++i)
    lowest[i] = std::min(lowest[i], other[i]);
  add(thread, step, is_in_order ? Reduce{a, b, into} : Reduce{b, a, into}, {a, b}, {into});
  set_lowest(gpu, into, lowest);
}

/// Adds an event. What it must follow because of the chunks that it touches, the algorithm has to order, too.
int Replay::add(int thread, const MscclStep& step, Action action, const Regions& reads, const Regions& writes) {
  const Thread& own = threads_[at(thread)];
  Gpu& gpu = gpus_[at(own.gpu)];
  const int event = static_cast<int>(events_.size());
  std::vector<int> after;
  gpu.accesses.note(event, reads, writes, after);
  std::erase(after, event);  // a reduction in place
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  for (const int before : after)
    if (const Origin& other = origins_[at(before)];
        other.thread != thread && own.clock[at(other.thread)] <= other.index)
      fail(thread, step,
           fmt::format("touches the same chunk as {}, and nothing says which comes first", name_of(other)));
  events_.push_back({own.gpu, std::move(action), std::move(after)});
  origins_.push_back({thread, own.next});
  return event;
}

/// The region in the buffer where it lies.
Region Replay::located(int thread, const MscclStep& step, const Region& region, bool is_written) const {
  const int gpu = threads_[at(thread)].gpu;
  Region found = gpus_[at(gpu)].aliasing.located(region);
  // In a broadcast in place, every GPU's input is the output; in MPI only the root has an input.
  if (file_.is_in_place && file_.collective == Collective::broadcast)
    found = region.buffer == Buffer::input ? region.in(Buffer::output) : region;
  if (found.buffer == Buffer::input && is_written)
    fail(thread, step, "writes i, the input, which belongs to the caller and is not the output");
  const Count size =
      region.buffer == Buffer::scratch ? Count{algorithm_.gpus[at(gpu)].scratch} : size_of(gpu, found.buffer);
  if (found.offset + found.count > size)
    fail(thread, step,
         fmt::format("chunks {} to {} of '{}', which has {} here", region.offset.value(),
                     (region.offset + region.count).value() - 1, "ios"[static_cast<std::size_t>(region.buffer)],
                     size.value()));
  return found;
}

std::vector<int> Replay::lowest_in(int gpu, const Region& region) const {
  const std::vector<int>& all = gpus_[at(gpu)].lowest[at(static_cast<int>(region.buffer))];
  const auto begin = all.begin() + region.offset.value();
  return {begin, begin + region.count.value()};
}

void Replay::set_lowest(int gpu, const Region& region, const std::vector<int>& lowest) {
  std::ranges::copy(lowest, gpus_[at(gpu)].lowest[at(static_cast<int>(region.buffer))].begin() + region.offset.value());
}

void Replay::write() {
  std::vector<int> place(events_.size());  // of each event among the steps of its rank
  std::map<std::pair<int, int>, int> messages;
  std::vector<int> number(events_.size(), nobody);
  for (const int each : joined_order(events_)) {
    Event& event = events_[at(each)];
    if (event.partner != nobody) {
      int& own = number[at(each)];
      if (own == nobody) {
        const int other = events_[at(event.partner)].rank;
        const bool sends = std::holds_alternative<Send>(event.action);
        own = number[at(event.partner)] =
            messages[sends ? std::pair{event.rank, other} : std::pair{other, event.rank}]++;
      }
      std::visit(
          [&](auto& action) {
            if constexpr (requires { action.message; }) action.message = own;
          },
          event.action);
    }
    std::vector<Step>& steps = file_.schedules[at(event.rank)].steps;
    place[at(each)] = static_cast<int>(steps.size());
    for (int& before : event.after)
      before = place[at(before)];
    std::ranges::sort(event.after);
    steps.push_back({std::move(event.action), std::move(event.after)});
  }
}

}  // namespace

void settle(ScheduleFile& file) {
  if (!reduces(file.collective)) return;
  const auto is_proved = [&](bool is_commutative, bool has_same_bits) {
    file.is_commutative = is_commutative;
    file.has_same_bits = has_same_bits;
    return FiledScene{file, Count{file.chunks}, false, Unproved::shown}.scene().verdict.proved();
  };
  if (is_proved(false, true) || is_proved(true, true) || is_proved(true, false)) return;
  file.has_same_bits = true;
}

ScheduleFile schedules_of(const MscclAlgorithm& algorithm, Rank root) { return Replay{algorithm, root}.schedules(); }

}  // namespace tutti::tool
