#pragma once
// Where the numbers of a training are and what computes them: the host, or a GPU.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/sgd/device.hpp"
#include "apps/sgd/product.hpp"

namespace tutti::sgd {

template <class T>
inline constexpr const char* type_name = "float";
template <>
inline constexpr const char* type_name<double> = "double";

/// What multiplies matrices: loops that add in order, which have the same bits on host and device, or a library
/// (OpenBLAS, cuBLAS) that is several times as fast.
enum class Products : std::uint8_t { in_order, library };

class Machine {
 public:
  /// The host; or the device, if there is one.
  explicit Machine(Products products, std::unique_ptr<Device> device = nullptr)
      : products_(products), device_(std::move(device)) {}

  [[nodiscard]] Device* device() const { return device_.get(); }
  /// For people: "in order", "by OpenBLAS", "by cuBLAS".
  [[nodiscard]] std::string_view products() const {
    if (products_ == Products::in_order) return "in order";
    return device_ == nullptr ? "by OpenBLAS" : "by cuBLAS";
  }

  /// Does a task for so many elements; tasks are done one after the other.
  template <template <class> class Task, class T>
  void run(std::uint64_t elements, const Task<T>& task) const {
    if (elements == 0) return;
    if (device_ != nullptr) return device_->launch(Task<T>::name, type_name<T>, elements, &task);
    for (std::uint64_t at = 0; at < elements; ++at)
      task(at);
  }
  template <class T>
  void multiply(const Product<T>& product) const;
  /// Memory that lasts until wait().
  void copy(const void* from, void* to, std::size_t bytes) const {
    if (device_ != nullptr) return device_->copy(from, to, bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  /// Returns when all that was asked for is done.
  void wait() const {
    if (device_ != nullptr) device_->wait();
  }
  /// Called about every millisecond of a host's long products; nothing: they are made in one go.
  void set_pause(std::function<void()> pause) { pause_ = std::move(pause); }

 private:
  template <class T>
  void multiply_on_host(const Product<T>& product) const;

  Products products_;
  std::unique_ptr<Device> device_;
  std::function<void()> pause_;
};

extern template void Machine::multiply(const Product<float>&) const;
extern template void Machine::multiply(const Product<double>&) const;

/// An array of elements on a machine, which must outlive it. All are 0 at first.
template <class T>
class Array {
 public:
  Array() = default;
  Array(const Machine& machine, std::size_t size) : machine_(&machine), size_(size) {
    if (machine.device() != nullptr)
      data_ = static_cast<T*>(machine.device()->allocate(size * sizeof(T)));
    else
      own_.resize(size), data_ = own_.data();
  }
  /// A copy. Waits for it.
  Array(const Machine& machine, std::span<const T> values) : Array(machine, values.size()) { put(values); }
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(machine_, other.machine_), std::swap(size_, other.size_);
    std::swap(data_, other.data_), std::swap(own_, other.own_);
    return *this;
  }
  ~Array() {
    if (machine_ != nullptr && machine_->device() != nullptr) machine_->device()->release(data_);
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  // Both wait for all that was queued.
  void put(std::span<const T> values, std::size_t at = 0) const {
    if (values.empty()) return;
    machine_->copy(values.data(), data_ + at, values.size_bytes());
    machine_->wait();
  }
  void get(std::span<T> values, std::size_t at = 0) const {
    if (values.empty()) return;
    machine_->copy(data_ + at, values.data(), values.size_bytes());
    machine_->wait();
  }

 private:
  const Machine* machine_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
  std::vector<T> own_;
};

}  // namespace tutti::sgd
