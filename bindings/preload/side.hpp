#pragma once
// What a call of the program sends, or where it receives.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/preload/datatypes.hpp"
#include "bindings/preload/numbers.hpp"
#include "lib/core/transport/mpi/handles.hpp"
#include "tutti/schedule.hpp"

namespace tutti::interpose {

/// The program's buffer as bytes, which are the same for all datatypes of one signature: where they are, if they lie
/// one after the other, else packed. One block, or one for each rank.
class Side {
 public:
  /// `blocks` blocks of `count` elements, one after the other.
  struct Even {
    const void* data = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  /// A block for each rank, `displacements` in elements.
  struct Listed {
    const void* data = nullptr;
    Numbers counts, displacements;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  /// A block of its own type for each rank, `displacements` in bytes.
  struct Typed {
    const void* data = nullptr;
    Numbers counts, displacements;
    const MPI_Datatype* types = nullptr;
  };

  Side() = default;
  // Each returns false if MPI has to say what is wrong with the arguments.
  [[nodiscard]] bool set(const Even& given, int blocks);
  [[nodiscard]] bool set(const Listed& given, int blocks);
  [[nodiscard]] bool set(const Typed& given, int blocks);

  /// Where Tutti reads or writes.
  [[nodiscard]] void* data();
  /// The name of its datatype in reports: records::Signature::mpi.
  [[nodiscard]] std::uint8_t name() const { return name_; }
  /// Layout::has_gaps, of any of its types.
  [[nodiscard]] bool has_gaps() const { return has_gaps_; }
  /// Whether a block that is not packed begins there.
  [[nodiscard]] bool begins_at(int block, const void* data) const;
  /// Bytes of a block.
  [[nodiscard]] Count count_of(int block) const {
    return counts_.empty() ? count_ : counts_[static_cast<std::size_t>(block)];
  }
  /// A committed type of the same data, which lives as long as this object.
  [[nodiscard]] MPI_Datatype committed(MPI_Datatype type);
  /// To be called before the call: this side is read before anything is written, if that is partly the same memory.
  void read_ahead_of(const Side& written);
  /// Packs listed blocks that overlap and are written: they are then written in their order.
  void keep_apart();
  /// Before the call, after pack(): the first bytes of a block become those of the only block of another side, as many
  /// as both have.
  void fill(int block, Side& with);
  /// Leaves out the bytes of one listed block.
  void drop(int block) { counts_[static_cast<std::size_t>(block)] = Count{0}; }
  [[nodiscard]] BlockList blocks() const { return {counts_, offsets_}; }

  [[nodiscard]] std::int64_t listed_bytes() const;

  /// Holds on to the types of parts that are packed: the program may free them before the call is over. Attributes of
  /// the program are not copied.
  void keep_types();

  // Both do nothing where data are not packed.
  void pack();
  void unpack();

 private:
  /// Elements of the program that make up a block.
  struct Part {
    void* data;
    std::int64_t count;
    MPI_Datatype type;
    std::int64_t bytes;   ///< Bytes of data.
    std::int64_t extent;  ///< Bytes from an element to the next.
  };
  bool add(const Part& part, const Layout& layout);
  Part from_elsewhere(const Part& part);
  void list(const void* base);
  void list_packed();
  /// The range from the first byte to the one behind the last, where data are not packed.
  [[nodiscard]] std::pair<std::intptr_t, std::intptr_t> range() const;

  void* data_ = nullptr;
  Count count_{};
  int blocks_ = 1;
  std::uint8_t name_ = records::of_unnamed_type;
  bool has_gaps_ = false;
  std::vector<Count> counts_, offsets_;
  bool is_packed_ = false;
  std::vector<Part> parts_;  ///< In the order of their bytes, if they are packed.
  std::unique_ptr<std::byte[]> packed_;
  std::vector<mpi::UniqueType> kept_;
};

}  // namespace tutti::interpose
