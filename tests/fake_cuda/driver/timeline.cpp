#include "tests/fake_cuda/driver/timeline.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {

Timeline::Timeline() {
  const std::string& file = settings().timeline;
  if (file.empty()) return;
  file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) log(0, "FAKE_CUDA_TIMELINE: %s cannot be written", file.c_str());
  is_kept_ = file_ >= 0;
}

Timeline& Timeline::get() {
  static Timeline* const timeline = new Timeline;  // streams use it until the process ends
  return *timeline;
}

void Timeline::clear() {
  const std::lock_guard lock{mutex_};
  operations_.clear();
  is_kept_ = true;
}

void Timeline::add(const FakeCudaOperation& operation) {
  const std::lock_guard lock{mutex_};
  if (file_ < 0) {
    operations_.push_back(operation);
    return;
  }
  const std::string line =
      text("%d\t%lu\t%lu\t%s\t%s\t%lu\t%lu\t%lu\t%lu\n", static_cast<int>(::getpid()), operation.stream,
           operation.sequence, operation.kind, operation.name[0] == 0 ? "-" : operation.name, operation.bytes,
           operation.posted_ns, operation.started_ns, operation.ended_ns);
  if (::write(file_, line.data(), line.size()) < 0) log(0, "FAKE_CUDA_TIMELINE: a line is lost");
}

std::uint64_t Timeline::read(FakeCudaOperation* operations, std::uint64_t most) {
  const std::lock_guard lock{mutex_};
  std::copy_n(operations_.begin(), std::min<std::uint64_t>(most, operations_.size()), operations);
  return operations_.size();
}

}  // namespace fake_cuda

FAKE_CUDA_EXPORT void fake_cuda_timeline_clear() { fake_cuda::Timeline::get().clear(); }
FAKE_CUDA_EXPORT uint64_t fake_cuda_timeline(struct FakeCudaOperation* operations, uint64_t most) {
  return fake_cuda::Timeline::get().read(operations, most);
}
