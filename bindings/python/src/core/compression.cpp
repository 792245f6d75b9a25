// Compression, and sums of gradients that are compressed on their way: tutti.compress, CompressedAllreduce.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "call.hpp"
#include "numpy.hpp"

namespace tutti::python {
namespace {

constexpr std::array<const char*, 6> names{"bf16", "fp16", "fp8_e4m3", "fp8_e5m2", "int8", "top_k"};

/// How a function was told to compress.
class Way {
 public:
  Way(nb::handle compression, nb::handle block, nb::handle keep, nb::handle rounding, const char* function)
      : compression_(number_of(text_of(compression, function, "compression"), function)),
        rounding_(text_of(rounding, function, "rounding")) {
    options_.block = integer_of(block, function, "block");
    options_.keep = PyFloat_AsDouble(keep.ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    options_.rounding = rounding_.c_str();
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  ~Way() = default;

  [[nodiscard]] tutti_compression compression() const { return compression_; }
  [[nodiscard]] const tutti_compression_options* options() const { return &options_; }
  [[nodiscard]] int64_t bytes_of(int64_t count) const {
    int64_t bytes = 0;
    check(tutti_compressed_size(compression_, count, &options_, &bytes));
    return bytes;
  }

 private:
  static tutti_compression number_of(const std::string& name, const char* function) {
    std::string allowed;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (name == names[i]) return static_cast<tutti_compression>(i);
      allowed += (i == 0 ? "" : ", ") + std::string{names[i]};
    }
    refuse(std::string{function} + ": compression is '" + name + "'; allowed are " + allowed);
  }
  tutti_compression compression_;
  std::string rounding_;
  tutti_compression_options options_ = TUTTI_COMPRESSION_OPTIONS_INIT;
};

/// An array of that type, where `like` is: in memory of the host or of a device.
Buffer take_array(nb::handle object, tutti_type type, const Argument& argument, const Buffer* like = nullptr) {
  Buffer buffer = take(object, argument);
  const std::string where = std::string{argument.function} + ": " + argument.name;
  if (buffer.type != type)
    refuse(where + " has elements of " + name_of_type(buffer.type) + "; allowed are those of " + name_of_type(type));
  if (like != nullptr && buffer.is_on_device != like->is_on_device)
    refuse(where + " is in memory of " + (buffer.is_on_device ? "a device" : "the host") +
           ", and the other array is not");
  return buffer;
}
Buffer take_floats(nb::handle object, const char* function, const char* name, bool writes,
                   const Buffer* like = nullptr) {
  return take_array(object, TUTTI_FP32, {.function = function, .name = name, .writes = writes, .may_copy = !writes},
                    like);
}

/// The array that was given, or a new one: on a device empty_device().
nb::object array_of(nb::handle out, int64_t count, tutti_type type, bool is_on_device) {
  if (!out.is_none()) return nb::borrow(out);
  NumPy& numpy = NumPy::get();
  const nb::object dtype = numpy.dtype_of(type);
  return is_on_device ? device_memory(nb::int_(count), dtype) : numpy.empty(nb::int_(count), dtype);
}

nb::int_ compressed_size(nb::handle compression, nb::handle count, nb::handle block, nb::handle keep,
                         nb::handle rounding) {
  const Way way{compression, block, keep, rounding, "compressed_size"};
  return nb::int_(way.bytes_of(integer_of(count, "compressed_size", "count")));
}

nb::object compress(nb::handle compression, nb::handle x, nb::handle error, nb::handle out, nb::handle block,
                    nb::handle keep, nb::handle rounding) {
  const Way way{compression, block, keep, rounding, "compress"};
  const Buffer in = take_floats(x, "compress", "x", false);
  Buffer rest;
  if (!error.is_none()) rest = take_floats(error, "compress", "error", true, &in);
  if (!error.is_none() && rest.count != in.count)
    refuse("compress: error has " + std::to_string(rest.count) + " elements, and must have " +
           std::to_string(in.count));
  nb::object result = array_of(out, way.bytes_of(in.count), TUTTI_UINT8, in.is_on_device);
  const Buffer bytes = take_array(result, TUTTI_UINT8, {.function = "compress", .name = "out", .writes = true}, &in);
  check_unlocked([&] {
    return tutti_compress(way.compression(), static_cast<const float*>(in.data), static_cast<float*>(rest.data),
                          in.count, bytes.data, bytes.count, way.options());
  });
  return result;
}

nb::object decompress(nb::handle compression, nb::handle data, nb::handle count, nb::handle out, nb::handle block,
                      nb::handle keep) {
  const Way way{compression, block, keep, nb::str("nearest"), "decompress"};
  if (count.is_none() == out.is_none()) refuse("decompress: give count or out");
  const Buffer bytes = take_array(data, TUTTI_UINT8, {.function = "decompress", .name = "data"});
  nb::object result =
      array_of(out, count.is_none() ? 0 : integer_of(count, "decompress", "count", 0), TUTTI_FP32, bytes.is_on_device);
  const Buffer values = take_floats(result, "decompress", "out", true, &bytes);
  check_unlocked([&] {
    return tutti_decompress(way.compression(), bytes.data, bytes.count, static_cast<float*>(values.data), values.count,
                            way.options());
  });
  return result;
}

nb::object decompress_add(nb::handle compression, nb::handle data, nb::handle out, nb::handle block, nb::handle keep) {
  const Way way{compression, block, keep, nb::str("nearest"), "decompress_add"};
  const Buffer bytes = take_array(data, TUTTI_UINT8, {.function = "decompress_add", .name = "data"});
  const Buffer values = take_floats(out, "decompress_add", "out", true, &bytes);
  check_unlocked([&] {
    return tutti_decompress_add(way.compression(), bytes.data, bytes.count, static_cast<float*>(values.data),
                                values.count, way.options());
  });
  return nb::borrow(out);
}

class CompressedAllreduce {
 public:
  CompressedAllreduce(nb::handle count, nb::handle compression, Communicator& comm, nb::handle block, nb::handle keep,
                      nb::handle rounding, nb::handle algorithm, bool on_device)
      : is_on_device_(on_device) {
    const Communicator::Use use{comm};
    const Way way{compression, block, keep, rounding, "CompressedAllreduce"};
    const int64_t elements = integer_of(count, "CompressedAllreduce", "count");
    tutti_options options = TUTTI_OPTIONS_INIT;
    std::string name;
    if (!algorithm.is_none()) name = text_of(algorithm, "CompressedAllreduce", "algorithm");
    if (!algorithm.is_none()) options.algorithm = name.c_str();
    tutti_comm its = comm.handle("CompressedAllreduce");
    auto* const create = on_device ? tutti_compressed_create_on_device : tutti_compressed_create;
    check_unlocked([&] { return create(elements, way.compression(), its, way.options(), &options, &handle_); });
  }
  CompressedAllreduce(const CompressedAllreduce&) = delete;
  CompressedAllreduce& operator=(const CompressedAllreduce&) = delete;
  ~CompressedAllreduce() {
    const nb::gil_scoped_release released;
    tutti_compressed_free(&handle_);
  }

  nb::object run(nb::handle x, float factor) {
    start(x, factor);
    return wait();
  }
  void start(nb::handle x, float factor) {
    Buffer gradient = take_floats(x, "CompressedAllreduce.start", "x", true);
    if (gradient.is_on_device != is_on_device_)
      refuse(std::string{"CompressedAllreduce.start: x is in memory of "} +
             (is_on_device_ ? "the host; allowed is memory of a device, as on_device=True"
                            : "a device; allowed is memory of the host, or on_device=True"));
    auto* const data = static_cast<float*>(gradient.data);
    check_unlocked([&] { return tutti_compressed_start(handle_, data, gradient.count, factor); });
    gradient_ = std::move(gradient);
  }
  bool test() {
    int is_complete = 0;
    check_unlocked([&] { return tutti_compressed_test(handle_, &is_complete); });
    return is_complete != 0;
  }
  void go_on() {
    check_unlocked([&] { return tutti_compressed_go_on(handle_); });
  }
  nb::object wait() {
    check_unlocked([&] { return tutti_compressed_wait(handle_); });
    const Buffer done = std::move(gradient_);
    gradient_ = {};
    return done.array.is_valid() ? done.array : nb::none();
  }
  void reset() { check(tutti_compressed_reset(handle_)); }
  [[nodiscard]] int64_t bytes_sent() const {
    int64_t bytes = 0;
    check(tutti_compressed_bytes_sent(handle_, &bytes));
    return bytes;
  }
  [[nodiscard]] nb::object error() const { return copied(tutti_compressed_error); }
  [[nodiscard]] nb::object sum_error() const { return copied(tutti_compressed_sum_error); }

 private:
  template <class Function>
  [[nodiscard]] nb::object copied(const Function& function) const {
    const float* values = nullptr;
    int64_t count = 0;
    if (is_on_device_)
      refuse("CompressedAllreduce: the errors are in memory of a device; Python gives those of the host");
    check(function(handle_, &values, &count));
    nb::object array = array_of(nb::none(), count, TUTTI_FP32, false);
    const Buffer into = take_floats(array, "CompressedAllreduce", "error", true);
    if (count > 0) std::copy(values, values + count, static_cast<float*>(into.data));
    return array;
  }
  tutti_compressed handle_ = nullptr;
  bool is_on_device_;
  Buffer gradient_;  ///< While a run is under way.
};

}  // namespace

void bind_compression(nb::module_& module) {
  const auto compression = nb::arg("compression");
  const auto block = nb::arg("block") = 256;
  const auto keep = nb::arg("keep") = 0.01;
  const auto rounding = nb::arg("rounding") = "nearest";
  module.def("compressed_size", compressed_size, compression, nb::arg("count"), block, keep, rounding,
             "The bytes that `count` elements of float32 become. compression: \"bf16\", \"fp16\", \"fp8_e4m3\", "
             "\"fp8_e5m2\", \"int8\"\nor \"top_k\"; block: elements that share a scale (fp8, int8); keep: the share "
             "of the elements that are kept (top_k).");
  module.def("compress", compress, compression, nb::arg("x"), nb::arg("error") = nb::none(),
             nb::arg("out") = nb::none(), block, keep, rounding,
             "x + error in fewer bytes: an array of uint8. error, an array of float32 as long as x, zeros at first, "
             "becomes what is\nlost. rounding: \"nearest\" or \"stochastic\".");
  module.def("decompress", decompress, compression, nb::arg("data"), nb::arg("count") = nb::none(),
             nb::arg("out") = nb::none(), block, keep,
             "The elements of float32 that compress() made `data` of: a new array of `count`, or in out.");
  module.def("decompress_add", decompress_add, compression, nb::arg("data"), nb::arg("out"), block, keep,
             "As decompress(), but added to out.");
  nb::class_<CompressedAllreduce>(
      module, "CompressedAllreduce",
      "Sums gradients of all ranks, compressed on their way, and keeps what is lost for "
      "the next run (docs/compression.md).\nGradients are arrays of float32 of `count` "
      "elements, contiguous and in memory of the host, or with on_device of the current CUDA device.")
      .def(nb::init<nb::handle, nb::handle, Communicator&, nb::handle, nb::handle, nb::handle, nb::handle, bool>(),
           nb::arg("count"), compression, nb::arg("comm"), block, keep, rounding, nb::arg("algorithm") = nb::none(),
           nb::arg("on_device") = false)
      .def("run", &CompressedAllreduce::run, nb::arg("x"), nb::arg("factor") = 1.0F,
           "x becomes the sum of all ranks' x times factor, and is returned.")
      .def("start", &CompressedAllreduce::start, nb::arg("x"), nb::arg("factor") = 1.0F,
           "Starts run(); test() and wait() go on with it. x must not be touched meanwhile.")
      .def("test", &CompressedAllreduce::test, "Goes on, never blocks: whether no run is under way (any more).")
      .def("go_on", &CompressedAllreduce::go_on,
           "Waits for the first exchange, and starts the second: objects of one communicator that run together call it "
           "in the\nsame order on all ranks.")
      .def("wait", &CompressedAllreduce::wait, "Ends the run, and returns x; None if there was none.")
      .def("reset", &CompressedAllreduce::reset, "What was lost is forgotten.")
      .def_prop_ro("error", &CompressedAllreduce::error, "What this rank's gradients have lost: a copy.")
      .def_prop_ro("sum_error", &CompressedAllreduce::sum_error, "What the sum of this rank's part has lost: a copy.")
      .def_prop_ro("bytes_sent", &CompressedAllreduce::bytes_sent, "The bytes that one run has for other ranks.");
}

}  // namespace tutti::python
