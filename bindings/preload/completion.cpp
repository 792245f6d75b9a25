#include "bindings/preload/completion.hpp"

#include <algorithm>
#include <utility>

namespace tutti::interpose {

Requests::Requests(std::span<MPI_Request> given) : given_(given), others_(given.begin(), given.end()) {
  for (MPI_Request& request : others_) {
    Pending* const call = ours_.emplace_back(find_pending(request));
    is_mpis_.push_back(call == nullptr);
    if (call == nullptr) continue;
    has_ours_ = true;
    request = MPI_REQUEST_NULL;
  }
}

bool Requests::has_active() const {
  return std::ranges::any_of(ours_, [](const Pending* call) { return call != nullptr && call->is_active(); });
}

void Requests::poll() {
  for (Pending* const call : ours_)
    if (call != nullptr) call->look();
}

void Requests::wait_for_ours() {
  for (Pending* const call : ours_)
    if (call != nullptr) call->wait();
}

std::size_t Requests::next_over(std::size_t from) const {
  const auto can_be_completed = [](const Pending* call) {
    return call != nullptr && call->is_active() && call->is_over();
  };
  return static_cast<std::size_t>(
      std::find_if(ours_.begin() + static_cast<std::ptrdiff_t>(from), ours_.end(), can_be_completed) - ours_.begin());
}

bool Requests::are_over() const {
  return std::ranges::all_of(
      ours_, [](const Pending* call) { return call == nullptr || !call->is_active() || call->is_over(); });
}

int Requests::complete(std::size_t i, MPI_Status* status) {
  Pending* const call = std::exchange(ours_[i], nullptr);
  return call->is_persistent() ? call->complete(given_[i], status)
                               : release_pending(given_[i])->complete(given_[i], status);
}

int Requests::complete_all(int of_others, MPI_Status* statuses) {
  const bool tells = statuses != MPI_STATUSES_IGNORE;
  std::vector<int> codes(given_.size(), MPI_SUCCESS);
  for (std::size_t i = next_over(0); i < codes.size(); i = next_over(i + 1))
    codes[i] = complete(i, tells ? &statuses[i] : MPI_STATUS_IGNORE);
  if (of_others != MPI_SUCCESS && of_others != MPI_ERR_IN_STATUS) return of_others;
  const bool all_succeeded = std::ranges::all_of(codes, [](int code) { return code == MPI_SUCCESS; });
  if (of_others == MPI_SUCCESS && all_succeeded) return MPI_SUCCESS;
  for (std::size_t i = 0; tells && i < codes.size(); ++i)
    if (of_others == MPI_SUCCESS || !is_mpis_[i]) statuses[i].MPI_ERROR = codes[i];
  return MPI_ERR_IN_STATUS;
}

void Requests::take_others() {
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (is_mpis_[i]) given_[i] = others_[i];
}

}  // namespace tutti::interpose
