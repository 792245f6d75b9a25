// Collectives of lists of arrays.

#include <string>

#include "prepare.hpp"

namespace tutti::python {
namespace {

/// The arrays of a list, which may be any sequence.
std::vector<nb::object> arrays_of(Call& call, nb::handle given, const char* name) {
  if (PySequence_Check(given.ptr()) == 0 || PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr()))
    raise("TypeArgumentError",
          std::string{call.function()} + ": " + name + " is " + in_words(given) + ", and no list of arrays");
  std::vector<nb::object> arrays;
  for (const nb::handle each : given)
    arrays.push_back(nb::borrow(each));
  return arrays;
}

/// How many elements an output has, of an input of so many; and its shape.
struct Outputs {
  int64_t (*count)(Call& call, int64_t in, const std::string& name);
  std::vector<int64_t> (*shape)(Call& call, const Buffer& in);
};

constexpr Outputs same{[](Call&, int64_t in, const std::string&) { return in; },
                       [](Call&, const Buffer& in) { return in.shape(); }};
constexpr Outputs joined{[](Call& call, int64_t in, const std::string&) { return in * call.size(); },
                         [](Call& call, const Buffer& in) {
                           std::vector<int64_t> shape = in.shape();
                           if (shape.empty()) shape.push_back(1);
                           shape[0] *= call.size();
                           return shape;
                         }};
constexpr Outputs divided{[](Call& call, int64_t in, const std::string& name) {
                            return call.share(in, ("the number of elements of " + name + " is").c_str());
                          },
                          [](Call& call, const Buffer& in) {
                            std::vector<int64_t> shape = in.shape();
                            if (shape.empty()) call.refuse_here("an array of xs has no axes; the first is divided");
                            shape[0] = call.share(shape[0], "the first length of an array of xs is");
                            return shape;
                          }};

/// Inputs and outputs. `divides`: the counts of the call are those of outputs.
void take_all(Call& call, nb::handle xs, nb::handle out, const Outputs& outputs, bool divides) {
  const std::vector<nb::object> inputs = arrays_of(call, xs, "xs");
  std::vector<nb::object> given;
  if (!out.is_none()) given = arrays_of(call, out, "out");
  if (!out.is_none() && given.size() != inputs.size())
    call.refuse_here("out has " + std::to_string(given.size()) + " arrays, and xs has " +
                     std::to_string(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string x = "xs[" + std::to_string(i) + "]", name = "out[" + std::to_string(i) + "]";
    const Buffer& in = call.take_listed(inputs[i], x.c_str(), false);
    const int64_t count = in.count, wanted = outputs.count(call, count, x);
    const bool is_same = !given.empty() && given[i].ptr() == inputs[i].ptr();
    const int64_t needed = is_same && divides ? count : wanted;  // in place the rest of the output is input
    void* const data = in.data;
    const Buffer& result = given.empty() ? call.make_listed(in, outputs.shape(call, in), name.c_str())
                                         : call.take_listed(given[i], name.c_str(), true);
    if (result.count != needed)
      call.refuse_here(name + " has " + std::to_string(result.count) + " elements, and must have " +
                       std::to_string(needed));
    if (!given.empty()) call.return_listed(given[i]);
    call.add_listed({is_same ? result.data : data, result.data, divides ? wanted : count});
  }
}

}  // namespace

void allreduce_list(Call& call, nb::handle xs, nb::handle op, nb::handle out) {
  call.begin_list(TUTTI_ALLREDUCE);
  take_all(call, xs, out, same, false);
  call.take_op(op);
}

void allgather_list(Call& call, nb::handle xs, nb::handle out) {
  call.begin_list(TUTTI_ALLGATHER);
  take_all(call, xs, out, joined, false);
}

void reduce_scatter_list(Call& call, nb::handle xs, nb::handle op, nb::handle out) {
  call.begin_list(TUTTI_REDUCE_SCATTER);
  take_all(call, xs, out, divided, true);
  call.take_op(op);
}

void broadcast_list(Call& call, nb::handle xs, nb::handle root) {
  call.begin_list(TUTTI_BROADCAST);
  const bool is_root = call.rank() == call.take_root(root);
  const std::vector<nb::object> arrays = arrays_of(call, xs, "xs");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Buffer& data = call.take_listed(arrays[i], ("xs[" + std::to_string(i) + "]").c_str(), !is_root);
    call.return_listed(arrays[i]);
    call.add_listed({data.data, data.data, data.count});
  }
}

}  // namespace tutti::python
