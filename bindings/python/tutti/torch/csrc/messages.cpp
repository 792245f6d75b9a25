// Messages between two ranks, and the barrier that tells who is missing.
#include "backend.hpp"
#include "checks.hpp"

namespace tutti_torch {
namespace {

/// The memory of devices must be there when a message starts, as messages are in no stream.
void synchronize(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return;
  c10::impl::VirtualGuardImpl(tensor.device().type()).getStream(tensor.device()).synchronize();
}

void require_tag(int tag, const char* name) {
  TORCH_CHECK_VALUE(tag >= 0, "tutti: ", name, ": tag ", tag, " is negative");
}

}  // namespace

WorkPointer Backend::send(Tensors& tensors, int to, int tag) {
  require_length(tensors.size(), 1, "tensors", "send");
  require_rank(to, getSize(), "destination", "send");
  require_tag(tag, "send");
  auto buffer = std::make_shared<Buffer>(tensors[0]);
  synchronize(tensors[0]);
  Description description{.type = c10d::OpType::SEND,
                          .title = "tutti:send",
                          .timeout = options_->timeout,
                          .inputs = tensors,
                          .outputs = tensors};
  description.start = [buffer, to, tag](tutti_comm comm, std::vector<tutti_request>& requests) {
    buffer->pack();
    tutti_request request = nullptr;
    check(
        tutti_send_tagged_async(buffer->data(), buffer->count(), moved_type(buffer->first()), to, tag, comm, &request));
    requests.push_back(request);
  };
  auto operation = group_->make(std::move(description), false);
  group_->post(operation);
  return operation;
}

WorkPointer Backend::recv(Tensors& tensors, int from, int tag) {
  require_rank(from, getSize(), "source", "recv");
  return receive(c10d::OpType::RECV, "tutti:recv", tensors, from, tag);
}

WorkPointer Backend::recvAnysource(Tensors& tensors, int tag) {
  return receive(c10d::OpType::RECVANYSOURCE, "tutti:recvAnySource", tensors, MPI_ANY_SOURCE, tag);
}

WorkPointer Backend::receive(c10d::OpType type, const char* title, Tensors& tensors, int from, int tag) {
  require_length(tensors.size(), 1, "tensors", "recv");
  require_tag(tag, "recv");
  auto buffer = std::make_shared<Buffer>(tensors[0]);
  synchronize(tensors[0]);
  Description description{
      .type = type, .title = title, .timeout = options_->timeout, .inputs = tensors, .outputs = tensors};
  auto operation_of = std::make_shared<Operation*>(nullptr);  // known when it starts
  description.start = [buffer, from, tag, operation_of](tutti_comm comm, std::vector<tutti_request>& requests) {
    buffer->pack();  // what a shorter message leaves is unchanged
    tutti_request request = nullptr;
    check(tutti_recv_tagged_async(buffer->data(), buffer->count(), moved_type(buffer->first()), from, tag, comm,
                                  &(*operation_of)->message(), &request));
    requests.push_back(request);
  };
  description.finish = [buffer] { buffer->unpack(); };
  auto operation = group_->make(std::move(description), false);
  *operation_of = operation.get();
  group_->post(operation);
  return operation;
}

/// A barrier by the store alone, so that it works where messages do not. Rank 0 waits for each of the others, then lets
/// all go.
void Backend::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) {
  const auto timeout = limit(options.timeout);
  const std::string prefix = "tutti/monitored/" + std::to_string(++monitored_barriers_) + "/";
  const auto tell = [&](const std::string& key, const std::string& text) {
    store_->set(prefix + key, std::vector<uint8_t>(text.begin(), text.end()));
  };
  const std::string limit_text = " in " + std::to_string(timeout.count()) + " ms";
  if (getRank() != 0) {
    tell(std::to_string(getRank()), "here");
    // Rank 0 gives each rank its time, one after the other, and then tells how it ended.
    const auto patience = timeout * getSize() + std::chrono::seconds(1);
    const std::string reached = "Rank " + std::to_string(getRank()) +
                                " successfully reached monitoredBarrier, but received errors while waiting for "
                                "send/recv from rank 0: ";
    TORCH_CHECK(missing(*store_, prefix, {0}, patience).empty(), reached, "it did not answer");
    const auto answer = store_->get(prefix + "0");
    TORCH_CHECK(answer.empty() || answer[0] == 'g', reached, std::string(answer.begin(), answer.end()));
    return;
  }
  const auto refuse = [&](const std::string& text) {
    tell("0", text);
    TORCH_CHECK(false, text);
  };
  if (timeout <= Milliseconds::zero()) refuse("Rank 0 timed out in monitoredBarrier after 0 ms");
  std::vector<int> late = missing(*store_, prefix, all_ranks(getSize(), 0), timeout);
  if (late.empty()) return tell("0", "go on");
  if (!wait_all_ranks) late.resize(1);
  refuse((late.size() == 1 ? "Rank " : "Ranks ") + joined(late) + " failed to pass monitoredBarrier" + limit_text);
}

}  // namespace tutti_torch
