#pragma once
// The parts of a list of buffers under way: packed before, unpacked after.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/call/list_parts.hpp"
#include "lib/core/communicator/packing_memory.hpp"
#include "lib/core/run/joint_call.hpp"
#include "lib/device/staging/block_pool.hpp"

namespace tutti::detail {

/// Buffers of a part, and the memory that they are packed into.
struct Packed {
  std::vector<Member> members{};
  std::int64_t block = 0;
  std::byte* data = nullptr;
  int device = -1;  ///< That makes the copies; -1: the host does.
  PackingMemory::Block on_host{};
  device::Block on_device{};
};

class ListedCall final : public JointCall {
 public:
  ListedCall(const ListCall& list, const Communicator& comm);
  ~ListedCall() override;

  /// Makes the operations of the parts, at least one; starts none. Throws what ready() throws.
  void take(const ListCall& list, std::vector<ListPart> parts, const Options& options, records::Manner manner);

 private:
  /// The ordinary call of a part, for which it takes memory if the part has to be packed.
  [[nodiscard]] Call call_for(const ListCall& list, ListPart part);
  void take_memory(Packed& packed) const;
  void prepare(std::size_t operation) override;
  void finish(std::size_t operation) override;
  [[nodiscard]] std::string described(std::size_t operation) const override;
  enum class Way : bool { pack, unpack };
  void copy(const Packed& packed, Way way) const;
  void copy_by_device(const Packed& packed, Way way) const;
  template <class Use>
  void for_each_piece(const Packed& packed, Way way, const Use& use) const;

  std::string function_;
  Collective collective_;
  Rank rank_, root_;
  int rows_;                                     ///< The blocks of a buffer.
  std::vector<std::size_t> buffers_{};           ///< Of each part: how many buffers it has.
  std::vector<std::optional<Packed>> packed_{};  ///< Of each part; nothing: it is moved from where it is.
};

}  // namespace tutti::detail
