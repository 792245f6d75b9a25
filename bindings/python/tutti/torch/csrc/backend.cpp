#include "backend.hpp"

#include "checks.hpp"

namespace tutti_torch {
namespace {

/// Whether the caller goes on before the operation is over. Old versions of PyTorch do not say, and wait by wait().
template <class CallOptions>
bool is_async(const CallOptions& options) {
  if constexpr (requires { options.asyncOp; }) return options.asyncOp;
  return true;
}

c10::intrusive_ptr<GroupOptions> inherited(const GroupOptions& from,
                                           const c10::intrusive_ptr<c10d::Backend::Options>& given) {
  auto options = c10::make_intrusive<GroupOptions>(given ? given->timeout : from.timeout);
  options->algorithms = from.algorithms;
  options->transport = from.transport;
  options->buffers = from.buffers;
  return options;
}

/// A connection of the group's own to it, where PyTorch can make one.
template <class AnyStore>
c10::intrusive_ptr<c10d::Store> cloned(const c10::intrusive_ptr<AnyStore>& store) {
  if constexpr (requires { store->clone(); }) return store->clone();
  return store;
}

const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace

Backend::Backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, const std::string& name,
                 c10::intrusive_ptr<GroupOptions> options)
    : c10d::Backend(rank, size), store_(store), options_(std::move(options)) {
  require_mpi();
  world_ranks_ = exchange_ranks(*store_, rank, size, options_->timeout);
  tutti_comm_options settings = TUTTI_COMM_OPTIONS_INIT;
  settings.algorithms = text_or_null(options_->algorithms);
  settings.transport = text_or_null(options_->transport);
  settings.buffers = text_or_null(options_->buffers);
  group_ = std::make_shared<Group>(make_comm(world_ranks_, name, settings), rank, name);
}

c10::intrusive_ptr<c10d::Backend> Backend::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const std::vector<int>& ranks,
                                                 const c10::intrusive_ptr<c10d::Backend::Options>& options) {
  const auto place = std::find(ranks.begin(), ranks.end(), getRank());
  if (place == ranks.end()) return nullptr;
  return merge(store, options, static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()));
}

c10::intrusive_ptr<c10d::Backend> Backend::merge(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const c10::intrusive_ptr<c10d::Backend::Options>& options,
                                                 const int& rank, const int& size) {
  const std::string name = group_->name() + "/split" + std::to_string(group_->number());
  return c10::make_intrusive<Backend>(cloned(store), rank, size, name, inherited(*options_, options));
}

template <class CallOptions>
WorkPointer Backend::run(c10d::OpType type, const char* title, const Tensors& inputs, std::vector<Call> calls,
                         const CallOptions& options) {
  Description description{.type = type, .title = title, .timeout = limit(options.timeout), .inputs = inputs};
  const auto device = calls.empty() ? c10::Device(c10::kCPU) : calls[0].device();
  if (!device.is_cpu()) {
    for (const auto& call : calls)
      description.outputs.insert(description.outputs.end(), call.outputs().begin(), call.outputs().end());
    group_->count();
    return streams_.run(*group_, description, std::move(calls), device, is_async(options));
  }
  run_calls(description, std::move(calls));
  auto operation = group_->make(std::move(description));
  group_->submit(operation, is_async(options));
  return operation;
}

// Every rank gives, or gets, the same tensor.
// ---------------------------------------------------------------------------

WorkPointer Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  require_some(tensors, "broadcast");
  require_rank(options.rootRank, getSize(), "root", "broadcast");
  std::vector<Call> calls;
  for (const auto& tensor : tensors)
    calls.emplace_back(TUTTI_BROADCAST, Buffer(), Buffer(tensor), tensor.numel(), moved_type(tensor))
        .root(options.rootRank)
        .in_place();
  return run(c10d::OpType::BROADCAST, "tutti:broadcast", tensors, std::move(calls), options);
}

WorkPointer Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  require_some(tensors, "all_reduce");
  if (tensors[0].layout() != at::kStrided) return sum_of_sparse(tensors, options);
  std::vector<Call> calls;
  for (const auto& tensor : tensors)
    calls.emplace_back(TUTTI_ALLREDUCE, Buffer(), Buffer(tensor), tensor.numel(), reduced_type(tensor))
        .reduce_by(reduction_of(options.reduceOp, tensor))
        .in_place();
  return run(c10d::OpType::ALLREDUCE, "tutti:all_reduce", tensors, std::move(calls), options);
}

WorkPointer Backend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  return allreduce(tensors, options);
}

WorkPointer Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  require_some(tensors, "reduce");
  require_rank(options.rootRank, getSize(), "root", "reduce");
  const bool is_root = options.rootRank == getRank();
  std::vector<Call> calls;
  for (const auto& tensor : tensors) {
    const Buffer buffer(tensor);
    auto& call = calls.emplace_back(TUTTI_REDUCE, is_root ? Buffer() : buffer, is_root ? buffer : Buffer(),
                                    tensor.numel(), reduced_type(tensor));
    call.root(options.rootRank).reduce_by(reduction_of(options.reduceOp, tensor));
    if (is_root) call.in_place();
  }
  return run(c10d::OpType::REDUCE, "tutti:reduce", tensors, std::move(calls), options);
}

WorkPointer Backend::barrier(const c10d::BarrierOptions& options) {
  std::vector<Call> calls;
  calls.emplace_back(TUTTI_BARRIER, Buffer(), Buffer(), 0, TUTTI_UINT8);
  return run(c10d::OpType::BARRIER, "tutti:barrier", {}, std::move(calls), options);
}

// Blocks of ranks lie one after the other, in one tensor or in a list of them.
// --------------------------------------------

Call Backend::allgather_call(Buffer in, Buffer out, const char* name) const {
  require_count(in.count() * getSize(), out.count(), "output", name);
  require_same_type(in, out, name);
  const int64_t count = in.count();
  const auto type = moved_type(in.first());
  return {TUTTI_ALLGATHER, std::move(in), std::move(out), count, type};
}

WorkPointer Backend::allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  require_some(inputs, "all_gather");
  require_length(outputs.size(), inputs.size(), "output lists", "all_gather");
  std::vector<Call> calls;
  for (size_t i = 0; i < inputs.size(); ++i) {
    require_length(outputs[i].size(), getSize(), "output tensors", "all_gather");
    if (is_even(outputs[i])) {
      calls.push_back(allgather_call(Buffer(inputs[i]), Buffer(outputs[i]), "all_gather"));
      continue;
    }
    Buffer out(outputs[i]);
    auto counts = out.counts();
    require_count(inputs[i].numel(), counts[getRank()], "input", "all_gather");
    calls.emplace_back(TUTTI_ALLGATHER, Buffer(inputs[i]), std::move(out), 0, moved_type(inputs[i]))
        .uneven({}, std::move(counts));
  }
  return run(c10d::OpType::ALLGATHER, "tutti:all_gather", inputs, std::move(calls), options);
}

/// outputs[rank][i] is inputs[i] of that rank.
WorkPointer Backend::allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  require_some(inputs, "all_gather_coalesced");
  require_length(outputs.size(), getSize(), "output lists", "all_gather_coalesced");
  std::vector<Call> calls;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensors list;
    for (auto& of_rank : outputs) {
      require_length(of_rank.size(), inputs.size(), "output tensors", "all_gather_coalesced");
      TORCH_CHECK_VALUE(of_rank[i].sizes() == inputs[i].sizes(), "tutti: all_gather_coalesced: invalid size of tensor ",
                        i, " of an output list: ", of_rank[i].sizes(), " for an input of ", inputs[i].sizes());
      list.push_back(of_rank[i]);
    }
    calls.push_back(allgather_call(Buffer(inputs[i]), Buffer(list), "all_gather_coalesced"));
  }
  return run(c10d::OpType::ALLGATHER_COALESCED, "tutti:all_gather", inputs, std::move(calls), options);
}

WorkPointer Backend::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) {
  std::vector<Call> calls;
  calls.push_back(allgather_call(Buffer(input), Buffer(output), "all_gather_into_tensor"));
  return run(c10d::OpType::_ALLGATHER_BASE, "tutti:_all_gather_base", {input}, std::move(calls), options);
}

WorkPointer Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                     const c10d::AllgatherOptions& options) {
  require_length(outputs.size(), inputs.size(), "output tensors", "all_gather_into_tensor");
  std::vector<Call> calls;
  for (size_t i = 0; i < inputs.size(); ++i)
    calls.push_back(allgather_call(Buffer(inputs[i]), Buffer(outputs[i]), "all_gather_into_tensor"));
  return run(c10d::OpType::COALESCED, "tutti:all_gather_into_tensor_coalesced", inputs, std::move(calls), options);
}

Call Backend::reduce_scatter_call(Buffer in, Buffer out, const c10d::ReduceOp& op, const char* name) const {
  require_count(out.count() * getSize(), in.count(), "input", name);
  require_same_type(in, out, name);
  auto reduction = reduction_of(op, out.first());
  const int64_t count = out.count();
  const auto type = reduced_type(out.first());
  Call call(TUTTI_REDUCE_SCATTER, std::move(in), std::move(out), count, type);
  return call.reduce_by(std::move(reduction));
}

WorkPointer Backend::reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) {
  require_some(outputs, "reduce_scatter");
  require_length(inputs.size(), outputs.size(), "input lists", "reduce_scatter");
  std::vector<Call> calls;
  for (size_t i = 0; i < outputs.size(); ++i) {
    require_length(inputs[i].size(), getSize(), "input tensors", "reduce_scatter");
    if (is_even(inputs[i])) {
      calls.push_back(reduce_scatter_call(Buffer(inputs[i]), Buffer(outputs[i]), options.reduceOp, "reduce_scatter"));
      continue;
    }
    Buffer in(inputs[i]);
    auto counts = in.counts();
    require_count(outputs[i].numel(), counts[getRank()], "output", "reduce_scatter");
    calls.emplace_back(TUTTI_REDUCE_SCATTER, std::move(in), Buffer(outputs[i]), 0, reduced_type(outputs[i]))
        .reduce_by(reduction_of(options.reduceOp, outputs[i]))
        .uneven(std::move(counts), {});
  }
  return run(c10d::OpType::REDUCE_SCATTER, "tutti:reduce_scatter", inputs[0], std::move(calls), options);
}

WorkPointer Backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                          const c10d::ReduceScatterOptions& options) {
  std::vector<Call> calls;
  calls.push_back(reduce_scatter_call(Buffer(input), Buffer(output), options.reduceOp, "reduce_scatter_tensor"));
  return run(c10d::OpType::_REDUCE_SCATTER_BASE, "tutti:_reduce_scatter_base", {input}, std::move(calls), options);
}

WorkPointer Backend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                     const c10d::ReduceScatterOptions& options) {
  require_length(outputs.size(), inputs.size(), "output tensors", "reduce_scatter_tensor");
  std::vector<Call> calls;
  for (size_t i = 0; i < inputs.size(); ++i)
    calls.push_back(
        reduce_scatter_call(Buffer(inputs[i]), Buffer(outputs[i]), options.reduceOp, "reduce_scatter_tensor"));
  return run(c10d::OpType::COALESCED, "tutti:reduce_scatter_tensor_coalesced", inputs, std::move(calls), options);
}

WorkPointer Backend::gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) {
  require_length(inputs.size(), 1, "input tensors", "gather");
  require_rank(options.rootRank, getSize(), "root", "gather");
  Buffer out;
  if (options.rootRank == getRank()) {
    require_length(outputs.size(), 1, "output lists", "gather");
    require_length(outputs[0].size(), getSize(), "output tensors", "gather");
    out = Buffer(outputs[0]);
    TORCH_CHECK_VALUE(is_even(outputs[0]), "tutti: gather: output tensors differ in size");
    require_count(inputs[0].numel() * getSize(), out.count(), "output", "gather");
    require_same_type(Buffer(inputs[0]), out, "gather");
  }
  std::vector<Call> calls;
  calls.emplace_back(TUTTI_GATHER, Buffer(inputs[0]), std::move(out), inputs[0].numel(), moved_type(inputs[0]))
      .root(options.rootRank);
  return run(c10d::OpType::GATHER, "tutti:gather", inputs, std::move(calls), options);
}

WorkPointer Backend::gather_into_tensor(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options) {
  TensorLists outputs;
  Tensors inputs{input};
  if (options.rootRank == getRank()) {
    require_count(input.numel() * getSize(), output.numel(), "output", "gather_into_tensor");
    TORCH_CHECK_VALUE(output.is_contiguous(), "tutti: gather_into_tensor: the output must be contiguous");
    outputs.push_back(output.view({getSize(), input.numel()}).unbind());
  }
  return gather(outputs, inputs, options);
}

WorkPointer Backend::scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) {
  require_length(outputs.size(), 1, "output tensors", "scatter");
  require_rank(options.rootRank, getSize(), "root", "scatter");
  Buffer in;
  if (options.rootRank == getRank()) {
    require_length(inputs.size(), 1, "input lists", "scatter");
    require_length(inputs[0].size(), getSize(), "input tensors", "scatter");
    in = Buffer(inputs[0]);
    TORCH_CHECK_VALUE(is_even(inputs[0]), "tutti: scatter: input tensors differ in size");
    require_count(outputs[0].numel() * getSize(), in.count(), "input", "scatter");
    require_same_type(in, Buffer(outputs[0]), "scatter");
  }
  std::vector<Call> calls;
  calls.emplace_back(TUTTI_SCATTER, std::move(in), Buffer(outputs[0]), outputs[0].numel(), moved_type(outputs[0]))
      .root(options.rootRank);
  return run(c10d::OpType::SCATTER, "tutti:scatter", outputs, std::move(calls), options);
}

WorkPointer Backend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                                   std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) {
  const int size = getSize();
  Buffer in(input), out(output);
  require_same_type(in, out, "all_to_all_single");
  std::vector<Call> calls;
  if (input_splits.empty() && output_splits.empty()) {
    require_count(input.numel(), output.numel(), "output", "all_to_all_single");
    require_divisible(input, size, "all_to_all_single");
    calls.emplace_back(TUTTI_ALLTOALL, std::move(in), std::move(out), input.numel() / size, moved_type(input));
  } else {
    auto in_counts = split_counts(input, input_splits, size, "all_to_all_single");
    auto out_counts = split_counts(output, output_splits, size, "all_to_all_single");
    calls.emplace_back(TUTTI_ALLTOALL, std::move(in), std::move(out), 0, moved_type(input))
        .uneven(std::move(in_counts), std::move(out_counts));
  }
  return run(c10d::OpType::ALLTOALL_BASE, "tutti:all_to_all", {input}, std::move(calls), options);
}

WorkPointer Backend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  require_length(inputs.size(), getSize(), "input tensors", "all_to_all");
  require_length(outputs.size(), getSize(), "output tensors", "all_to_all");
  Buffer in(inputs), out(outputs);
  require_same_type(in, out, "all_to_all");
  auto in_counts = in.counts();
  auto out_counts = out.counts();
  std::vector<Call> calls;
  calls.emplace_back(TUTTI_ALLTOALL, std::move(in), std::move(out), 0, moved_type(inputs[0]))
      .uneven(std::move(in_counts), std::move(out_counts));
  return run(c10d::OpType::ALLTOALL, "tutti:all_to_all", inputs, std::move(calls), options);
}

}  // namespace tutti_torch
