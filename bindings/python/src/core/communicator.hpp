#pragma once
// Communicators, as Python sees them.

#include "errors.hpp"

namespace tutti::python {

class Communicator {
 public:
  /// `comm`: None (all ranks), a communicator of mpi4py, or the number by which Fortran knows one.
  Communicator(nb::object comm, const nb::object& algorithms, const nb::object& transport, const nb::object& buffers,
               bool forms_match, const nb::object& rules, const nb::object& bits);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  /// The handle for a call: raises StateError if it cannot be used, in a child of a fork for instance.
  [[nodiscard]] tutti_comm handle(const char* function) const;
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  void close();
  /// Ends what is under way. No call can be made afterwards.
  void abort(const std::string& why) noexcept;
  /// Aborts all communicators: for a program that ends by an exception, whose peers would wait for it.
  static void abort_all(const std::string& why) noexcept;
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] std::string status() const;
  [[nodiscard]] std::string in_words() const;

  /// A call that is under way holds one: close() waits for nobody.
  class Use {
   public:
    explicit Use(Communicator& communicator) : communicator_(communicator), on_rank_(communicator.rank_) {
      ++communicator_.users_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { --communicator_.users_; }

   private:
    Communicator& communicator_;
    OnRank on_rank_;
  };

 private:
  tutti_comm handle_ = nullptr;
  int rank_ = 0, size_ = 0;
  int users_ = 0;  // under the GIL
};

using CommunicatorClass = nb::class_<Communicator>;
[[nodiscard]] CommunicatorClass bind_communicator(nb::module_& module);

}  // namespace tutti::python
