#include "tutti/communicator.hpp"

#include <cstdio>
#include <new>
#include <utility>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/communicator/introduction.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/core/communicator/schedule_files.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti {
namespace {

void require_intracommunicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL)
    throw ArgumentError("tutti::Communicator: argument 'comm' is MPI_COMM_NULL; allowed: an intra-communicator");
  int inter = 0;
  mpi::check(mpi::api.Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0)
    throw ArgumentError(
        "tutti::Communicator: argument 'comm' is an inter-communicator; allowed: an intra-communicator");
}

/// Other processes see that this one makes a communicator.
class MakingRecord {
 public:
  MakingRecord(records::Recorder& recorder, MPI_Comm comm) : recorder_(recorder) {
    const records::Signature call{
        .action = records::Action::make_communicator, .rank = mpi::rank_in(comm), .ranks = mpi::ranks_in(comm)};
    number_ = recorder_.enter(records::pack(call), 0, records::Manner::blocking);
  }
  MakingRecord(const MakingRecord&) = delete;
  MakingRecord& operator=(const MakingRecord&) = delete;
  ~MakingRecord() { recorder_.leave(number_, is_made_ ? records::State::over : records::State::failed); }
  void end() { is_made_ = true; }

 private:
  records::Recorder& recorder_;
  std::uint64_t number_ = 0;
  bool is_made_ = false;
};

std::shared_ptr<detail::CommunicatorState> make_state(MPI_Comm comm, const CommunicatorOptions& options) {
  detail::Runtime& runtime = detail::Runtime::get();
  require_intracommunicator(comm);
  detail::Progress::Entry entry{runtime.progress()};
  MakingRecord record{runtime.recorder(), comm};
  auto state = std::make_shared<detail::CommunicatorState>(runtime, comm, options, entry);
  record.end();
  return state;
}

/// Never destroyed, as this thread must not, or this child of a fork.
void keep_for_ever(const std::shared_ptr<detail::CommunicatorState>& state) {
  static_cast<void>(new (std::nothrow) std::shared_ptr<detail::CommunicatorState>{state});
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, const CommunicatorOptions& options) : state_(make_state(comm, options)) {
  try {
    detail::read_schedule_files(*this);
    const detail::Progress::Entry entry{state_->progress()};
    detail::introduce(*state_);
  } catch (...) {
    close();
    throw;
  }
}
Communicator::Communicator(Communicator&&) noexcept = default;

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this == &other) return *this;
  close();
  state_ = std::move(other.state_);
  return *this;
}

Communicator::~Communicator() { close(); }

detail::CommunicatorState& Communicator::state() const {
  if (state_ == nullptr) throw StateError("tutti: this communicator was moved from");
  state_->require_open();
  return *state_;
}

std::shared_ptr<detail::CommunicatorState> Communicator::share() const {
  static_cast<void>(state());
  return state_;
}

Rank Communicator::rank() const { return state().rank(); }
int Communicator::size() const { return state().members().size(); }
MessageCounters Communicator::message_counters() const { return state().counters().messages; }
Counters Communicator::counters() const { return detail::by_name(state().counters()); }
int Communicator::node_count() const { return state().members().node_count(); }
const Group& Communicator::node() const { return state().members().node(); }
const Group& Communicator::leaders() const { return state().members().leaders(); }
std::string Communicator::status() const {
  detail::CommunicatorState& own = state();
  const detail::Progress::Entry entry{own.progress()};
  return own.status();
}
bool Communicator::is_open() const noexcept { return state_ != nullptr && state_->is_open(); }

int Communicator::node_of(Rank rank) const {
  if (rank.value() < 0 || rank.value() >= size())
    throw ArgumentError("tutti::Communicator::node_of: argument 'rank' is " + std::to_string(rank.value()) +
                        "; allowed: 0 to " + std::to_string(size() - 1));
  return state().members().node_of(rank);
}

void Communicator::abort(std::string_view why) {
  if (!is_open() || !state_->is_of_this_process()) return;
  const detail::Progress::Entry entry{state_->progress()};
  state_->abort(std::string{why});
}

void Communicator::close() noexcept {
  if (!is_open()) return;
  if (!state_->is_of_this_process()) return keep_for_ever(state_);
  try {
    const detail::Progress::Entry entry{state_->progress()};
    state_->close("was closed");
  } catch (const Error& error) {
    std::fprintf(stderr, "tutti: a communicator stays open until MPI_Finalize: %s\n", error.what());
    keep_for_ever(state_);
  }
}

}  // namespace tutti
