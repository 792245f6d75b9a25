// Collectives of lists of arrays.

#include <deque>
#include <string>
#include <vector>

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

/// The arrays of a call of a list, as it takes them.
class ArrayList {
 public:
  ArrayList(Call& call, tutti_collective collective) : call_(call) {
    call.list().emplace();
    call.arguments().collective = collective;
    call.kept().returned = nb::list();
  }
  /// Takes an array; all have one type. The buffer stays where it is.
  const Buffer& take(nb::handle array, const std::string& name, bool writes) {
    std::deque<Buffer>& listed = call_.kept().listed;
    const Buffer& buffer = listed.emplace_back(python::take(array, call_.argument(name.c_str(), writes)));
    tutti_type& type = call_.arguments().type;
    if (listed.size() == 1) type = buffer.type;
    if (buffer.type != type)
      call_.refuse_here(name + " has elements of " + name_of_type(buffer.type) + ", and xs[0] of " +
                        name_of_type(type));
    return buffer;
  }
  /// A new array, which the call returns.
  const Buffer& make(const Buffer& like, const std::vector<int64_t>& shape, const std::string& name) {
    const Argument argument = call_.argument(name.c_str(), true);
    const Result& result = call_.kept().listed_results.emplace_back(make_result(like, shape, argument));
    give_back(result.array);
    return result.buffer;
  }
  /// The call returns it.
  void give_back(nb::handle array) { nb::cast<nb::list>(call_.kept().returned).append(array); }
  void add(const tutti_listed_buffer& buffer) { call_.list()->push_back(buffer); }

 private:
  Call& call_;
};

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

/// Inputs and outputs.
void take_all(Call& call, tutti_collective collective, nb::handle xs, nb::handle out, const Outputs& outputs) {
  const bool divides = collective == TUTTI_REDUCE_SCATTER;
  ArrayList list{call, collective};
  const std::vector<nb::object> inputs = arrays_of(call, xs, "xs");
  std::vector<nb::object> given;
  if (!out.is_none()) given = arrays_of(call, out, "out");
  if (!out.is_none() && given.size() != inputs.size())
    call.refuse_here("out has " + std::to_string(given.size()) + " arrays, and xs has " +
                     std::to_string(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string x = "xs[" + std::to_string(i) + "]", name = "out[" + std::to_string(i) + "]";
    const Buffer& in = list.take(inputs[i], x, false);
    const int64_t count = in.count, wanted = outputs.count(call, count, x);
    const bool is_same = !given.empty() && given[i].ptr() == inputs[i].ptr();
    const int64_t needed = is_same && divides ? count : wanted;  // in place the rest of the output is input
    void* const data = in.data;
    const Buffer& result =
        given.empty() ? list.make(in, outputs.shape(call, in), name) : list.take(given[i], name, true);
    if (result.count != needed)
      call.refuse_here(name + " has " + std::to_string(result.count) + " elements, and must have " +
                       std::to_string(needed));
    if (!given.empty()) list.give_back(given[i]);
    list.add({is_same ? result.data : data, result.data, divides ? wanted : count});
  }
}

}  // namespace

void allreduce_list(Call& call, nb::handle xs, nb::handle op, nb::handle out) {
  take_all(call, TUTTI_ALLREDUCE, xs, out, same);
  call.take_op(op);
}

void allgather_list(Call& call, nb::handle xs, nb::handle out) { take_all(call, TUTTI_ALLGATHER, xs, out, joined); }

void reduce_scatter_list(Call& call, nb::handle xs, nb::handle op, nb::handle out) {
  take_all(call, TUTTI_REDUCE_SCATTER, xs, out, divided);
  call.take_op(op);
}

void broadcast_list(Call& call, nb::handle xs, nb::handle root) {
  ArrayList list{call, TUTTI_BROADCAST};
  const bool is_root = call.rank() == call.take_root(root);
  const std::vector<nb::object> arrays = arrays_of(call, xs, "xs");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Buffer& data = list.take(arrays[i], "xs[" + std::to_string(i) + "]", !is_root);
    list.give_back(arrays[i]);
    list.add({data.data, data.data, data.count});
  }
}

}  // namespace tutti::python
