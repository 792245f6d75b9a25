// tutti tune: from the command line to the file of rules.
#include "apps/tune/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "apps/bench/machine.hpp"
#include "apps/bench/progress.hpp"
#include "apps/bench/teams.hpp"
#include "apps/files.hpp"
#include "apps/json.hpp"
#include "apps/mpi_main.hpp"
#include "apps/tune/constants.hpp"
#include "apps/tune/guidelines.hpp"
#include "apps/tune/rule_making.hpp"
#include "apps/tune/search.hpp"
#include "apps/tune/settings.hpp"
#include "lib/core/communicator/agreed_rules.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/selection/rule_writer.hpp"

namespace tutti::tune {
namespace {

using apps::InputError;

/// One run, on every rank.
class Tuning {
 public:
  Tuning(const Settings& settings, const apps::MpiProcess& process)
      : settings_(settings),
        process_(process),
        world_(bench::made_communicator(MPI_COMM_WORLD, {.rules = "none"})),
        contexts_(contexts_of(settings, world_)),
        speaks_(process.rank == 0),
        progress_(speaks_ ? bench::Progress::Speaker::yes : bench::Progress::Speaker::no) {}

  int run() {
    prepare_devices();
    machine_ = bench::survey(world_, process_.arguments, device_);
    site_ = site_facts();
    apps::on_root(MPI_COMM_WORLD, [&] {
      apps::require_writable(settings_.write);
      if (settings_.adds) read_old_file();
    });
    fit_budget();
    Journal journal{settings_.write + ".partial", head(), settings_.resumes};
    say_head();
    std::optional<ConstantsFile> constants;
    if (settings_.has_transport) {
      measure_constants();
      constants.emplace(settings_.write + ".constants", constants_);
    }
    const std::string rules = constants ? constants->path() : "none";
    if (!measure_all(journal, rules) || !confirm_all(rules)) {
      say(fmt::format("interrupted: what was measured is in {}.partial; --resume goes on\n", settings_.write));
      return apps::exit_failure;
    }
    apps::on_root(MPI_COMM_WORLD, [&] { write(); });
    // Points of other contexts, of an earlier run, may still be wanted.
    const Points& earlier = journal.earlier();
    if (std::all_of(earlier.begin(), earlier.end(), [&](const auto& each) { return is_asked_for(each.first); }))
      journal.remove();
    return apps::exit_success;
  }

 private:
  void prepare_devices() {
    for (const Context& context : contexts_)
      if (context.memory->needs_driver() && device_.empty()) device_ = bench::choose_device(*context.memory, world_);
  }
  [[nodiscard]] bool is_asked_for(const std::string& context) const {
    return std::any_of(contexts_.begin(), contexts_.end(), [&](const Context& each) { return each.name() == context; });
  }
  void read_old_file() {
    try {
      old_ = read_rule_file(apps::read_file(settings_.write), settings_.write);
    } catch (const ArgumentError& error) {
      throw InputError(fmt::format("--add: {}", error.what()));
    }
    const std::string why = why_unfit(old_, site_);
    if (!why.empty()) throw InputError(fmt::format("--add: {} is not for this machine: {}", settings_.write, why));
  }
  /// The contexts for which the time suffices, all ranks alike.
  void fit_budget() {
    if (contexts_.empty())
      throw InputError(
          fmt::format("--communicator {}: this job has {} ranks on one node, or one on each; allowed: world",
                      fmt::join(settings_.communicators, ","), process_.ranks));
    if (settings_.resumes) return;  // what was measured needs no time
    const double seconds = settings_.budget * 60;
    double needed = 0;
    std::size_t fitting = 0;
    for (const Context& context : contexts_) {
      needed += Budget::least_for_a_size * Budget::sizes_for_a_coarse_one *
                static_cast<double>(coarse_counts(context, settings_, world_.size()).size());
      if (needed > seconds) break;
      ++fitting;
    }
    if (fitting == 0)
      throw InputError(fmt::format("--budget {} is too small for anything: {:.2f} minutes are needed for {}",
                                   settings_.budget, needed / 60, contexts_.front().name()));
    for (std::size_t i = fitting; i < contexts_.size(); ++i)
      left_out_.push_back(contexts_[i].name());
    contexts_.resize(fitting);
  }
  [[nodiscard]] double seconds_left() const { return settings_.budget * 60 - (MPI_Wtime() - begin_); }
  /// A run with another head cannot go on with this one's points.
  [[nodiscard]] std::string head() const {
    return apps::Json{{"tutti_tune", 1},  {"version", own_version()}, {"cpu", site_.cpu},
                      {"mpi", site_.mpi}, {"ranks", machine_.ranks},  {"nodes", machine_.nodes}}
        .text(-1);
  }

  void say_head() {
    say(fmt::format("# tutti tune: {} rank{} on {} node{} ({}), {}\n", machine_.ranks, machine_.ranks == 1 ? "" : "s",
                    machine_.nodes, machine_.nodes == 1 ? "" : "s", fmt::join(machine_.hosts, ", "), machine_.mpi));
    if (world_.state().question().shares_processors)
      say("# two ranks or more for each processor: the rules hold only where that is so\n");
    if (site_.is_simulated) say("# the device is simulated: its times mean nothing, and the file says so\n");
    if (!left_out_.empty()) say(fmt::format("# no time for: {}\n", fmt::join(std::exchange(left_out_, {}), ", ")));
    say("# context: sizes measured, sizes at which another algorithm is taken, gain over the built-in rules\n");
  }

  void measure_constants() {
    constexpr double share = 0.15;
    const double seconds = share * settings_.budget * 60;
    say("# constants of transports: value of the build, value here, gain\n");
    for (const MeasuredConstant& each :
         measured_constants(settings_, world_, settings_.write + ".constants", seconds)) {
      if (each.value != each.before) constants_.values.emplace_back(each.name, each.value);
      say(each.why_not.empty() ? fmt::format("{}: {}, {}, {:.3f}\n", each.name, each.before, each.value, each.gain)
                               : fmt::format("{}: not measured: {}\n", each.name, each.why_not));
    }
  }

  /// On the members of a team, with its contexts. False: interrupted.
  using Work = std::function<bool(const Team& team, std::span<const Context> contexts)>;

  /// Does the work with one team after the other, whose other ranks sleep. False: interrupted.
  bool with_teams(const std::string& rules, const Work& work) {
    for (std::size_t i = 0; i < contexts_.size();) {
      std::size_t end = i;  // contexts of one team
      while (end < contexts_.size() && contexts_[end].communicator == contexts_[i].communicator &&
             contexts_[end].memory == contexts_[i].memory)
        ++end;
      if (!with_team({&contexts_[i], end - i}, rules, work)) return false;
      i = end;
    }
    return true;
  }

  bool with_team(std::span<const Context> contexts, const std::string& rules, const Work& work) {
    const Context& first = contexts.front();
    const Team team{first.communicator, is_member_of(first.communicator, world_), *first.memory, rules};
    std::string failure;
    bool is_whole = true;
    if (team.is_member()) {
      try {
        is_whole = work(team, contexts);
      } catch (const InputError& error) {
        failure = error.what();
      }
    }
    bench::sleeping_barrier(MPI_COMM_WORLD);
    apps::refuse_if_any(MPI_COMM_WORLD, failure);
    apps::broadcast(MPI_COMM_WORLD, is_whole);
    return is_whole;
  }

  /// False: interrupted.
  bool measure_all(Journal& journal, const std::string& rules) {
    end_at_signals();
    const std::size_t coarse = coarse_counts(contexts_.front(), settings_, world_.size()).size();
    constexpr double share = 0.8;  // the others are for confirm_all()
    Budget budget{share * seconds_left(), contexts_.size(), coarse};
    return with_teams(rules, [&](const Team& team, std::span<const Context> contexts) {
      const Prices prices = measured_prices(team);
      for (const Context& context : contexts) {
        if (!journal.earlier().contains(context.name()) && budget.is_over(team)) {
          left_out_.push_back(context.name());
          budget.end_context();
        } else if (!measure(context, team, prices, budget, journal)) {
          return false;
        }
      }
      return true;
    });
  }

  bool measure(const Context& context, const Team& team, const Prices& prices, Budget& budget, Journal& journal) {
    progress_.show(fmt::format("{}: {:.1f} minutes left", context.name(), seconds_left() / 60));
    const Found found = search(context, team, settings_, prices, budget, journal);
    budget.end_context();
    points_[context.name()] = found.points;
    questions_[context.name()] = question_of(context, team.comm());
    say(fmt::format("{}: {}, {}, {:.3f}\n", context.name(), found.points.size(), changes_in(found.points),
                    gain_of(found.points)));
    return found.is_whole;
  }

  /// Measures all choices that differ from the built-in ones again, several times, as far as time is left. False:
  /// interrupted.
  bool confirm_all(const std::string& rules) {
    constexpr int passes = 3;
    constexpr double enough = 0.5, too_little = 0.02;  // seconds
    const int before = changes();
    int done = 0;
    for (; done < passes; ++done) {
      const double left = seconds_left() / (passes - done);
      double seconds = changes() == 0 ? 0 : std::min(enough, left / changes());
      apps::broadcast(MPI_COMM_WORLD, seconds);
      if (seconds < too_little) break;
      progress_.show(
          fmt::format("confirming, pass {} of {}: {:.1f} minutes left", done + 1, passes, seconds_left() / 60));
      const bool is_whole = with_teams(rules, [&](const Team& team, std::span<const Context> contexts) {
        return std::all_of(contexts.begin(), contexts.end(), [&](const Context& context) {
          const auto found = points_.find(context.name());
          return found == points_.end() || confirm(context, team, found->second, seconds);
        });
      });
      if (!is_whole) return false;
    }
    if (before > 0 && done == 0)
      say(fmt::format("# no time was left for later races: these {} choices were measured once\n", before));
    else if (before > 0)
      say(fmt::format("# {} of these {} choices are as much faster in {} later race{}, too\n", changes(), before, done,
                      done == 1 ? "" : "s"));
    return true;
  }
  [[nodiscard]] int changes() const {
    int changes = 0;
    for (const auto& [name, points] : points_)
      changes += changes_in(points);
    return changes;
  }

  [[nodiscard]] std::vector<Rule> rules() const {
    const RuleForm form{
        .is_exact = settings_.is_exact, .has_modes = settings_.modes.size() > 1, .most = settings_.max.value()};
    std::vector<Rule> rules;
    for (const Context& context : contexts_) {
      const auto found = points_.find(context.name());
      if (found == points_.end()) continue;
      for (Rule& rule : rules_of(questions_.at(context.name()), found->second, form))
        rules.push_back(std::move(rule));
    }
    return rules;
  }

  [[nodiscard]] RuleFile file() const {
    const bool is_of_devices = std::any_of(contexts_.begin(), contexts_.end(),
                                           [](const Context& context) { return context.memory->needs_driver(); });
    RuleFile file = file_for(site_, machine_, is_of_devices);
    file.path = settings_.write;
    file.rules = rules();
    if (file.rules.empty())
      throw InputError(fmt::format("no time was left for anything: {} stays as it was", settings_.write));
    file.tuning = constants_;
    if (settings_.adds) {
      if (old_.is_simulated != file.is_simulated)
        throw InputError(fmt::format("--add: the times of {} are {}those of a simulated device", settings_.write,
                                     old_.is_simulated ? "" : "not "));
      file.machines = old_.machines;
      file.rules.insert(file.rules.end(), old_.rules.begin(), old_.rules.end());
      if (!settings_.has_transport) file.tuning = old_.tuning;
    }
    return without_hidden_rules(std::move(file));
  }

  void write() {
    const RuleFile made = file();
    const std::string text = write_rule_file(made);
    try {
      static_cast<void>(read_rule_file(text, settings_.write));
    } catch (const ArgumentError& error) {
      throw InputError(
          fmt::format("{} stays as it was, as nobody could read the new one: {}", settings_.write, error.what()));
    }
    apps::replace_file(settings_.write, text);
    progress_.clear();
    std::size_t sizes = 0;
    double product = 0;
    for (const auto& [name, points] : points_) {
      sizes += points.size();
      product += std::log(gain_of(points)) * static_cast<double>(points.size());
    }
    apps::print("# {}: {} rules; another algorithm is taken at {} of {} sizes; gain in all {:.3f}\n", settings_.write,
                made.rules.size(), changes(), sizes, sizes == 0 ? 1.0 : std::exp(product / static_cast<double>(sizes)));
    if (!left_out_.empty()) apps::print("# no time was left for: {}\n", fmt::join(left_out_, ", "));
    apps::print("# {:.2f} of {} minutes\n", (settings_.budget * 60 - seconds_left()) / 60, settings_.budget);
    for (const std::string& violation : violations(points_))
      apps::print("# guideline: {}\n", violation);
    apps::print(
        "# try it: mpirun -n {} tutti-bench --rules {} --compare default; docs/tuning.md says how to install it\n",
        machine_.ranks, settings_.write);
  }

  void say(const std::string& text) const {
    if (!speaks_) return;
    progress_.clear();
    apps::print("{}", text);
    apps::flush_output();
  }

  const Settings& settings_;
  const apps::MpiProcess& process_;
  Communicator world_;
  std::vector<Context> contexts_;
  bool speaks_;
  bench::Progress progress_;
  double begin_ = MPI_Wtime();
  TunedConstants constants_{};
  std::vector<std::string> left_out_{};
  std::string device_{};
  bench::Machine machine_{};
  SiteFacts site_{};
  RuleFile old_{};
  Points points_{};  ///< By context, on the ranks that measured it.
  std::map<std::string, Question> questions_{};
};

int tune(const Settings& settings, const apps::MpiProcess& process) {
  require_consistent(settings);
  if (const char* const preloaded = std::getenv("LD_PRELOAD");
      preloaded != nullptr && std::string_view{preloaded}.find("libtutti_mpi") != std::string_view::npos)
    throw InputError("libtutti_mpi.so is preloaded (LD_PRELOAD): it would be measured in place of the MPI");
  if (process.ranks < 2) throw InputError("1 rank has nobody to talk to: run it under mpirun, with 2 or more");
  return Tuning{settings, process}.run();
}

int level_of_threads(const Settings& /*settings*/) { return MPI_THREAD_SINGLE; }

}  // namespace

int tune_main(int argc, char** argv) {
  const apps::MpiProgram<Settings> program{options_for, level_of_threads, tune};
  return apps::mpi_main(program, argc, argv);
}

}  // namespace tutti::tune
