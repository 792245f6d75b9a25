#include "bindings/preload/report.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bindings/preload/right_mpi.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/log.hpp"

namespace tutti::interpose {
namespace {

constexpr std::size_t reasons = static_cast<std::size_t>(Why::last) + 1, forms = 3;
/// The reasons by Why.
constexpr std::array<std::string_view, reasons> reason_names{
    "served", "by the table", "communicator", "arguments", "operation or type", "progress", "to measure"};
constexpr std::array<std::string_view, forms> form_names{"", " (nonblocking)", " (persistent)"};

/// The figures of one function in one form.
struct Row {
  std::array<std::atomic<std::uint64_t>, reasons> calls{};
  std::atomic<std::uint64_t> bytes{}, nanoseconds{};  ///< Summed over served calls.
  std::atomic<std::uint64_t> nanoseconds_of_mpi{};    ///< Summed over calls that were passed to measure.
};
using Table = std::array<std::array<Row, function_count>, forms>;

struct State {
  bool is_wanted = false, measures = false, has_fixed_bits = false;
  [[nodiscard]] bool counts() const { return is_wanted || has_fixed_bits; }
  Table table{};
};
State& state() {
  static State state;
  return state;
}

/// The numbers of a row in order, for MPI_Reduce.
constexpr std::size_t numbers_of_row = reasons + 3;
using Sums = std::array<std::uint64_t, numbers_of_row * function_count * forms>;

Sums own_numbers() {
  Sums numbers{};
  std::size_t at = 0;
  for (const auto& form : state().table)
    for (const Row& row : form) {
      for (const auto& calls : row.calls)
        numbers[at++] = calls;
      numbers[at++] = row.bytes;
      numbers[at++] = row.nanoseconds;
      numbers[at++] = row.nanoseconds_of_mpi;
    }
  return numbers;
}

std::string passed_text(const std::uint64_t* calls) {
  std::string text;
  for (std::size_t why = 1; why < reasons; ++why)
    if (calls[why] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", calls[why], reason_names[why]);
  return text;
}

constexpr double second = 1e9;

/// The seconds that served calls would have taken in MPI, as those that were passed to measure show.
double seconds_in_mpi(const std::uint64_t* row) {
  const std::uint64_t measured = row[static_cast<std::size_t>(Why::measured)];
  if (measured == 0) return 0;
  return static_cast<double>(row[reasons + 2]) / second / static_cast<double>(measured) * static_cast<double>(row[0]);
}

void print(const Sums& sums) {
  const bool measures = state().measures;
  std::string text = fmt::format("calls of all ranks{}\n{:<36} {:>10} {:>10} {:>14} {:>10}{}  {}",
                                 measures ? "; every second one is measured in MPI" : "", "collective", "served",
                                 "passed", "bytes", "seconds", measures ? "     in MPI" : "", "why passed");
  std::size_t at = 0;
  for (const std::string_view form : form_names)
    for (const std::string_view function : function_names) {
      const std::uint64_t* const row = &sums[at];
      at += numbers_of_row;
      std::uint64_t passed = 0;
      for (std::size_t why = 1; why < reasons; ++why)
        passed += row[why];
      if (row[0] + passed == 0) continue;
      text += fmt::format("\n{:<36} {:>10} {:>10} {:>14} {:>10.3f}{}  {}", fmt::format("{}{}", function, form), row[0],
                          passed, row[reasons], static_cast<double>(row[reasons + 1]) / second,
                          measures ? fmt::format(" {:>10.3f}", seconds_in_mpi(row)) : "", passed_text(row));
    }
  log::report("", text);
}

/// Why a reduction was not in the fixed order, by Why; empty: MPI has reported an error instead.
constexpr std::array<std::string_view, reasons> reasons_of_order{
    "",
    "TUTTI_INTERPOSE does not name it",
    "a communicator that Tutti does not know or cannot serve",
    "",
    "an operation or type that only MPI can combine",
    "nobody would move it on while the program computes",
    "TUTTI_MEASURE passes every second call"};

/// A line for each function, form and reason.
void print_order(const Sums& sums) {
  std::string text;
  std::uint64_t calls = 0;
  std::size_t at = 0;
  for (const std::string_view form : form_names)
    for (std::size_t function = 0; function < function_count; ++function, at += numbers_of_row)
      for (std::size_t why = 1; why < reasons && is_reduction(static_cast<Function>(function)); ++why) {
        if (sums[at + why] == 0 || reasons_of_order[why].empty()) continue;
        calls += sums[at + why];
        text +=
            fmt::format("\n  {}{}: {}, as: {}", function_names[function], form, sums[at + why], reasons_of_order[why]);
      }
  if (calls == 0) return;
  log::report("", fmt::format("TUTTI_BITS=fixed: {} calls of reductions were passed to MPI, which has an order of its "
                              "own (calls of all ranks):{}",
                              calls, text));
}

}  // namespace

void begin_report(bool has_fixed_bits) {
  const char* const measure = std::getenv("TUTTI_MEASURE");
  const bool measures = measure != nullptr && std::string_view{measure} == "1";
  const bool tells = log::is_on(log::Level::info);
  std::array<int, 2> wanted{measures || tells ? 1 : 0, measures ? 1 : 0};
  mpi::check(mpi::api.Bcast(wanted.data(), wanted.size(), MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  state().is_wanted = wanted[0] != 0;
  state().measures = wanted[1] != 0;
  state().has_fixed_bits = has_fixed_bits;
}

bool is_measuring() { return state().measures; }

void print_report() {
  if (!state().counts()) return;
  const int rank = mpi::rank_in(MPI_COMM_WORLD);
  const Sums mine = own_numbers();
  Sums all{};
  mpi::check(
      mpi::api.Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD),
      "MPI_Reduce");
  if (rank != 0) return;
  if (state().is_wanted) print(all);
  if (state().has_fixed_bits) print_order(all);
}

Note::Note(Form form, Function function) : is_wanted_(state().counts()), form_(form), function_(function) {
  if (is_wanted_) begin_ = std::chrono::steady_clock::now();
}

Note::~Note() {
  if (!is_wanted_) return;
  Row& row = state().table[static_cast<std::size_t>(form_)][index_of(function_)];
  row.calls[static_cast<std::size_t>(why_)].fetch_add(1, std::memory_order_relaxed);
  if (why_ != Why::served && why_ != Why::measured) return;
  const auto taken = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count());
  (why_ == Why::served ? row.nanoseconds : row.nanoseconds_of_mpi).fetch_add(taken, std::memory_order_relaxed);
  row.bytes.fetch_add(static_cast<std::uint64_t>(bytes_), std::memory_order_relaxed);
}

}  // namespace tutti::interpose
