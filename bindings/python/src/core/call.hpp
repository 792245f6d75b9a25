#pragma once
// A call of a collective: from the arguments of Python to the structure of C, in three forms.

#include <array>
#include <string>
#include <vector>

#include "list_calls.hpp"
#include "requests.hpp"

namespace tutti::python {

enum class Form { blocking, nonblocking, persistent };

/// Stands for an array: the data are in the other one, as MPI.IN_PLACE. There is one.
struct InPlace {
  static nb::handle object;
};

class Call {
 public:
  Call(Communicator& communicator, const char* function, Form form)
      : communicator_(communicator),
        use_(communicator),
        comm_(communicator.handle(function)),
        function_(function),
        form_(form) {}

  [[nodiscard]] const char* function() const { return function_; }
  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }
  [[nodiscard]] tutti_call& arguments() { return call_; }
  [[nodiscard]] Kept& kept() { return kept_; }

  /// Algorithm and stream; comes first.
  void set_options(nb::handle algorithm, nb::handle stream, nb::handle bits);
  /// How a sum is added and rounded.
  void set_sum(nb::handle accumulate, nb::handle rounding);
  /// Returns the elements of the input, or with IN_PLACE -1.
  int64_t take_in(nb::handle x);
  /// The output: `out`, which must have `count` elements unless that is negative, or None for a new array of that
  /// shape.
  template <class Shape>
  void take_out(nb::handle out, int64_t count, const Shape& shape, bool zeros = false) {
    if (!out.is_none()) return take_given_out(out, count);
    if (!kept_.in.array.is_valid()) refuse_here("without an input of this rank, out must be given");
    make_out(shape(), zeros);
  }
  /// A broadcast's one buffer.
  void take_data(nb::handle x, bool writes);
  void take_op(nb::handle op);
  int take_root(nb::handle root) { return call_.root = int_of(root, function_, "root"); }
  /// One number for each rank, in elements; None is NULL.
  const int64_t* take_list(nb::handle numbers, const char* name);
  /// One type of elements for each rank.
  const tutti_type* take_types(nb::handle types, const char* name);

  /// The buffers of a call of a list; nothing: it is none.
  [[nodiscard]] ListedBuffers& list() { return list_; }
  [[nodiscard]] Argument argument(const char* name, bool writes) const {
    return {function_, name, writes, form_ != Form::persistent, stream_};
  }

  [[nodiscard]] bool is_in_place(nb::handle object) const { return object.ptr() == InPlace::object.ptr(); }
  /// `whole` divided by the number of ranks, which must divide it.
  [[nodiscard]] int64_t share(int64_t whole, const char* of) const;
  /// The input's shape, its first length divided by the number of ranks.
  [[nodiscard]] std::vector<int64_t> divided_shape() const;
  /// The shape of what all ranks' inputs are when one stands behind the other.
  [[nodiscard]] std::vector<int64_t> joined_shape() const;
  [[noreturn]] void refuse_here(const std::string& text) const;

  /// What Python gets.
  [[nodiscard]] nb::object run();

 private:
  template <class Element, class Take>
  const Element* take_each(std::vector<Element>& list, nb::handle given, const char* name, const char* what,
                           const Take& take) const;
  void take_given_out(nb::handle out, int64_t count);
  void make_out(const std::vector<int64_t>& shape, bool zeros);
  [[nodiscard]] nb::object run_blocking();
  [[nodiscard]] const tutti_options* options() const { return has_options_ ? &options_ : nullptr; }

  Communicator& communicator_;
  Communicator::Use use_;  // arguments may be objects of Python whose code closes the communicator
  tutti_comm comm_;
  const char* function_;
  Form form_;
  bool has_options_ = false;
  std::intptr_t stream_ = -1;
  tutti_call call_ = TUTTI_CALL_INIT;
  tutti_options options_ = TUTTI_OPTIONS_INIT;
  std::string algorithm_, bits_, accumulate_, rounding_;
  Kept kept_;
  std::array<std::vector<int64_t>, 4> lists_;
  std::size_t list_count_ = 0;
  std::array<std::vector<tutti_type>, 2> types_;
  std::size_t type_list_count_ = 0;
  ListedBuffers list_;
};

/// Waits for a request that a blocking call has made, and gives `kept` back what it returns. An exception of a signal's
/// handler aborts the communicator.
nb::object complete(Communicator& communicator, tutti_request request, tutti_status status, bool is_complete,
                    const Kept& kept, const char* function);

/// An int, an object with __cuda_stream__, or one of PyTorch: the stream.
[[nodiscard]] void* stream_of(nb::handle stream, const char* function);

void bind_collectives(CommunicatorClass& communicator);
void bind_array_reductions(nb::module_& module);
void bind_compression(nb::module_& module);
void bind_messages(nb::module_& module, CommunicatorClass& communicator);
/// empty_device() of Python.
[[nodiscard]] nb::object device_memory(nb::handle shape, nb::handle dtype);
void bind_memory(nb::module_& module);

}  // namespace tutti::python
