// The timeline of a trace, as Chrome's trace events.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "apps/json.hpp"
#include "apps/tutti/trace_views.hpp"

namespace tutti::tool {
namespace {

/// The kinds of tracks of a rank, in their order; each has as many tracks as stretches of time overlap.
enum class Row : std::uint8_t { calls, sends, receives, work, waits, writing };
constexpr std::array<std::string_view, 6> row_names{"calls",   "sends",           "receives", "reductions and copies",
                                                    "waiting", "trace is written"};
constexpr int most_tracks = 10'000;  // of a row: their numbers follow each other

/// A text in quotes; bytes that are no UTF-8 are replaced.
std::string in_quotes(std::string_view text) { return apps::Json(text).text(-1); }

/// Gives each stretch of time the first track that is free.
class Tracks {
 public:
  int track_of(std::int64_t begin, std::int64_t end) {
    const auto free = std::ranges::find_if(busy_until_, [&](std::int64_t until) { return until <= begin; });
    const auto track = free - busy_until_.begin();
    if (free == busy_until_.end())
      busy_until_.push_back(end);
    else
      *free = end;
    return std::min(static_cast<int>(track), most_tracks - 1);
  }
  [[nodiscard]] int count() const { return std::min(static_cast<int>(busy_until_.size()), most_tracks); }

 private:
  std::vector<std::int64_t> busy_until_;
};

/// A slice of a row.
struct Slice {
  std::int64_t begin = 0, end = 0;
  std::uint32_t index = 0;  ///< The index of the step or operation that it shows.
};

class Timeline {
 public:
  Timeline(const TracedJob& job, const std::function<void(std::string_view)>& write) : job_(job), write_(write) {}

  void write() {
    write_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (std::uint32_t file = 0; file < job_.files.size(); ++file)
      write_rank(file);
    for (std::size_t flow = 0; flow < job_.flows.size(); ++flow)
      write_flow(flow);
    write_("\n]}\n");
  }

 private:
  /// One event; the text has all but the comma before it.
  void event(std::string_view text) {
    if (!is_first_) write_(",\n");
    is_first_ = false;
    write_(text);
  }
  void describe(int rank, int track, std::string_view what, std::string_view key, std::string_view value) {
    event(
        fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"{}":{}}}}})", rank, track, what, key, value));
  }
  /// Microseconds from the beginning, in full precision.
  [[nodiscard]] std::string micros(std::int64_t nanoseconds) const {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }
  [[nodiscard]] std::int64_t since_first(std::uint32_t file, std::int64_t time) const {
    return std::max<std::int64_t>(0, job_.time(file, time) - job_.first);
  }
  void write_rank(std::uint32_t file);
  template <class Describe>
  void write_row(std::uint32_t file, Row row, std::vector<Slice> slices, const Describe& text_of);
  [[nodiscard]] std::string call_text(const TraceFile& file, const TracedOperation& operation, std::uint32_t at) const;
  [[nodiscard]] std::string step_text(std::uint32_t file, const trace::StepRecord& step) const;
  [[nodiscard]] std::string wait_text(std::uint32_t file, const trace::WaitRecord& wait) const;
  [[nodiscard]] std::string place_text(std::uint32_t file, std::uint64_t operation) const;
  void write_flow(std::size_t flow);
  void write_end(std::string_view phase, std::size_t flow, const RecordIndex& end, std::int64_t time);

  const TracedJob& job_;
  const std::function<void(std::string_view)>& write_;
  bool is_first_ = true;
  std::vector<std::vector<std::int32_t>> track_of_step_;  ///< By trace and place.
};

std::int64_t end_of(const TracedOperation& operation, std::int64_t last) {
  return operation.is_over() ? operation.end : std::max(last, operation.begun.begin);
}

void Timeline::write_rank(std::uint32_t f) {
  const TraceFile& file = job_.files[f];
  describe(file.rank, 0, "process_name", "name", in_quotes(fmt::format("rank {} ({})", file.rank, file.host)));
  describe(file.rank, 0, "process_sort_index", "sort_index", fmt::format("{}", file.rank));
  track_of_step_.emplace_back(file.steps.size());
  std::int64_t last = 0;
  std::array<std::vector<Slice>, row_names.size()> rows;
  const auto row = [&](Row which) -> std::vector<Slice>& { return rows.at(static_cast<std::size_t>(which)); };
  for (std::uint32_t i = 0; i < file.steps.size(); ++i) {
    const trace::StepRecord& step = file.steps[i];
    last = std::max(last, step.end);
    const Row its = step.action == trace::Action::send ? Row::sends
                    : is_receive(step.action)          ? Row::receives
                                                       : Row::work;
    row(its).push_back({step.begin, step.end, i});
  }
  for (std::uint32_t i = 0; i < file.waits.size(); ++i)
    row(Row::waits).push_back({file.waits[i].begin, file.waits[i].end, i});
  for (std::uint32_t i = 0; i < file.writings.size(); ++i)
    row(Row::writing).push_back({file.writings[i].begin, file.writings[i].end, i});
  for (std::uint32_t i = 0; i < file.operations.size(); ++i)
    row(Row::calls).push_back({file.operations[i].begun.begin, end_of(file.operations[i], last), i});
  write_row(f, Row::calls, std::move(row(Row::calls)),
            [&](std::uint32_t i) { return call_text(file, file.operations[i], f); });
  for (const Row its : {Row::sends, Row::receives, Row::work})
    write_row(f, its, std::move(row(its)), [&](std::uint32_t i) { return step_text(f, file.steps[i]); });
  write_row(f, Row::waits, std::move(row(Row::waits)), [&](std::uint32_t i) { return wait_text(f, file.waits[i]); });
  write_row(f, Row::writing, std::move(row(Row::writing)), [&](std::uint32_t i) {
    return fmt::format(R"("name":"trace is written","args":{{"bytes":{}}})", file.writings[i].bytes);
  });
}

/// `text_of(index)`: the name and the arguments of the slice.
template <class Describe>
void Timeline::write_row(std::uint32_t f, Row row, std::vector<Slice> slices, const Describe& text_of) {
  const TraceFile& file = job_.files[f];
  std::ranges::stable_sort(slices, {}, &Slice::begin);
  Tracks tracks;
  const int first = static_cast<int>(row) * most_tracks + 1;
  for (const Slice& slice : slices) {
    const std::int64_t end = std::max(slice.end, slice.begin + 1);
    const int track = first + tracks.track_of(slice.begin, end);
    if (row == Row::sends || row == Row::receives || row == Row::work) track_of_step_[f][slice.index] = track;
    const std::int64_t begin = since_first(f, slice.begin);
    event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},{}}})", file.rank, track, micros(begin),
                      micros(std::max<std::int64_t>(1, since_first(f, end) - begin)), text_of(slice.index)));
  }
  const auto name = row_names.at(static_cast<std::size_t>(row));
  for (int i = 0; i < tracks.count(); ++i) {
    describe(file.rank, first + i, "thread_name", "name",
             in_quotes(i == 0 ? std::string{name} : fmt::format("{} {}", name, i + 1)));
    describe(file.rank, first + i, "thread_sort_index", "sort_index", fmt::format("{}", first + i));
  }
}

std::string Timeline::place_text(std::uint32_t file, std::uint64_t operation) const {
  const trace::BeginRecord& begun = job_.files[file].operations[operation - 1].begun;
  return fmt::format(R"("communicator":{},"operation":{})", in_quotes(job_.communicator(file, operation).name),
                     begun.sequence);
}

std::string Timeline::call_text(const TraceFile& file, const TracedOperation& operation, std::uint32_t at) const {
  const trace::BeginRecord& begun = operation.begun;
  std::string name = file.names[begun.collective];
  if (!operation.is_over()) name += " (not over)";
  if (operation.has_failed) name += " (failed)";
  std::string text = fmt::format(R"("name":{},"cat":"call","args":{{"communicator":{},)", in_quotes(name),
                                 in_quotes(job_.communicator(at, begun.operation).name));
  if (!operation.is_pairwise()) text += fmt::format(R"("operation":{},)", begun.sequence);
  text += fmt::format(R"("algorithm":{},"bytes":{},"called":"{}")", in_quotes(file.names[begun.algorithm]), begun.bytes,
                      name_of(begun.start));
  if (begun.count > 0) text += fmt::format(R"(,"count":{},"type":{})", begun.count, in_quotes(file.names[begun.type]));
  if (!file.names[begun.op].empty()) text += fmt::format(R"(,"op":{})", in_quotes(file.names[begun.op]));
  if (begun.root >= 0) text += fmt::format(R"(,"root":{})", begun.root);
  if (operation.turn > 0) text += fmt::format(R"(,"queued ns":{})", operation.turn - begun.begin);
  return text + "}";
}

std::string Timeline::step_text(std::uint32_t file, const trace::StepRecord& step) const {
  std::string name{name_of(step.action)};
  const bool is_message = step.action == trace::Action::send || is_receive(step.action);
  if (is_message) {
    const int other = job_.world_rank(file, step.operation, step.peer);
    const std::string whom =
        other < 0 ? fmt::format("rank {} of the communicator", step.peer) : fmt::format("{}", other);
    name += fmt::format("{} {}", step.action == trace::Action::send ? " to" : " from", whom);
  }
  std::string text = fmt::format(R"("name":{},"cat":"step","args":{{{},"bytes":{},"step":{})", in_quotes(name),
                                 place_text(file, step.operation), step.bytes, step.step);
  if (step.way != trace::Way::none) text += fmt::format(R"(,"by":"{}")", name_of(step.way));
  if (is_message)
    text += fmt::format(R"(,"message":{},"sequence":{},"busy ns":{})", step.message, step.sequence,
                        step.accepted - step.begin);
  return text + "}";
}

std::string Timeline::wait_text(std::uint32_t file, const trace::WaitRecord& wait) const {
  const int other = job_.world_rank(file, wait.operation, wait.peer);
  const std::string whom = wait.peer < 0 ? "the device" : other < 0 ? "another rank" : fmt::format("rank {}", other);
  return fmt::format(R"("name":"wait for {}","cat":"wait","args":{{{},"idle ns":{},"step":{}}})", whom,
                     place_text(file, wait.operation), wait.idle, wait.step);
}

/// Draws an arrow from the beginning of the send to the end of the receive; both times lie inside their slices.
void Timeline::write_flow(std::size_t flow) {
  const auto& [send, recv] = job_.flows[flow];
  const trace::StepRecord& from = job_.files[send.file].steps[send.index];
  const trace::StepRecord& to = job_.files[recv.file].steps[recv.index];
  write_end(R"("s")", flow, send, since_first(send.file, from.begin));
  const std::int64_t begin = since_first(recv.file, to.begin), end = since_first(recv.file, to.end);
  write_end(R"("f","bp":"e")", flow, recv, std::max(begin, end - 1));
}

void Timeline::write_end(std::string_view phase, std::size_t flow, const RecordIndex& end, std::int64_t time) {
  event(fmt::format(R"({{"ph":{},"id":{},"name":"message","cat":"message","pid":{},"tid":{},"ts":{}}})", phase, flow,
                    job_.files[end.file].rank, track_of_step_[end.file][end.index], micros(time)));
}

}  // namespace

void write_timeline(const TracedJob& job, const std::function<void(std::string_view)>& write) {
  Timeline{job, write}.write();
}

}  // namespace tutti::tool
