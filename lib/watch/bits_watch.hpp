#pragma once
// TUTTI_BITS=record:DIR and compare:DIR: the bits of this process's calls, recorded, and compared with those of an
// earlier run.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/communicator/bits_use.hpp"
#include "lib/watch/bits/comparison.hpp"
#include "lib/watch/bits/hash.hpp"
#include "lib/watch/bits/writer.hpp"
#include "lib/watch/bits_data.hpp"
#include "lib/watch/bits_juries.hpp"

namespace tutti::detail {

/// What this process has once. All members but start() need an Entry (lib/core/run/progress.hpp).
class BitsWatch {
 public:
  /// Collective over `comm`, all of whose ranks have these settings: ranks that have no files yet open them. Nothing
  /// if the settings name no folder. Throws ArgumentError on all ranks if one cannot write its file, or has no record
  /// to compare with. `begin_others` begins other files, when nobody objects to these and older records are still
  /// there; what it throws on all ranks leaves them alone.
  void start(MPI_Comm comm, const BitsFiles& files, const std::function<void()>& begin_others);
  [[nodiscard]] bool is_on() const { return writer_ != nullptr || comparison_ != nullptr; }

  [[nodiscard]] std::uint64_t next_call() { return ++calls_; }
  [[nodiscard]] bits::Hash& hash() { return hash_; }
  /// A communicator of those members, given by their hash.
  [[nodiscard]] bits::CommunicatorRecord add(std::uint64_t members, int rank, int size);
  /// A call begins or is over. The data at `base` are hashed unless the record says why they have no hash.
  void add(bits::CallRecord record, const bits::CommunicatorRecord& communicator, const DataPieces& pieces,
           const void* base);
  /// Writes what was recorded so far.
  void flush() noexcept {
    if (writer_ != nullptr) writer_->flush();
  }
  /// MPI_Finalize has begun, MPI still works: closes the file, and tells what the comparison has found.
  void finalize() noexcept;

 private:
  void open(const BitsFiles& files);
  void withdraw() noexcept;
  void open_comparison(const std::string& folder);
  void hash_data(bits::CallRecord& record, const DataPieces& pieces, const void* base);
  void write(bits::CallRecord record, const DataPieces& pieces, const void* base);
  void compare(const bits::CallRecord& record, const bits::CommunicatorRecord& communicator, const DataPieces& pieces,
               const void* base);
  void tell_own_end();
  void tell(const std::string& text) const;

  bits::Hash hash_;
  std::unique_ptr<bits::Writer> writer_;
  std::unique_ptr<bits::Comparison> comparison_;
  BitsFiles files_{};            ///< That are open.
  std::string compared_;         ///< The folder of the record.
  bool is_damaged_ = false;      ///< The comparison ended, as the record cannot be read further.
  std::uint64_t missed_ = 0;     ///< Calls of the record that nobody made.
  std::uint64_t told_call_ = 0;  ///< The call that differs and was told at once; 0: none was.
  std::uint64_t calls_ = 0;
  std::uint32_t communicators_ = 0;
  BitsJuries juries_;
  std::map<std::uint64_t, int> earlier_;  ///< Communicators, by the hash of their members.
  std::vector<std::byte> room_;           ///< For data of devices.
};

}  // namespace tutti::detail
