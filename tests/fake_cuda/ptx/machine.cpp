// Registers are 64 bits wide and hold values with zeros in front. Blocks run one after the other.
#include "tests/fake_cuda/ptx/machine.hpp"

#include <algorithm>
#include <vector>

#include "tests/fake_cuda/ptx/arithmetic.hpp"
#include "tests/fake_cuda/ptx/bit_fields.hpp"
#include "tests/fake_cuda/ptx/instruction.hpp"
#include "tests/fake_cuda/ptx/words.hpp"

namespace fake_cuda::ptx {
namespace {

constexpr std::byte poison{0xcb};

struct Thread {
  std::vector<std::uint64_t> registers;
  std::vector<std::byte> local;
  std::size_t next = 0;  ///< Instruction.
  Size place{};
  bool is_done = false;
};

class Machine {
 public:
  Machine(const Kernel& kernel, Size grid, Size block, std::size_t shared_bytes, std::span<const std::byte> parameters,
          const Resolve& resolve)
      : kernel_(kernel),
        grid_(grid),
        block_(block),
        parameters_(parameters),
        resolve_(resolve),
        shared_(kernel.shared_bytes + shared_bytes) {}

  void run_block(Size cta, std::vector<Thread>& threads) {
    cta_ = cta;
    std::ranges::fill(shared_, poison);
    for (std::size_t n = 0; n < threads.size(); ++n) {
      Thread& thread = threads[n];
      const auto number = static_cast<unsigned>(n);
      thread.registers.assign(static_cast<std::size_t>(kernel_.registers), 0);
      thread.local.assign(kernel_.local_bytes, poison);
      thread.next = 0;
      thread.is_done = false;
      thread.place = {number % block_.x, number / block_.x % block_.y, number / (block_.x * block_.y)};
    }
    for (bool is_over = false; !is_over;) {
      is_over = true;
      for (Thread& thread : threads)
        if (!thread.is_done) {
          advance(thread);
          is_over &= thread.is_done;
        }
    }
  }

 private:
  [[noreturn]] void fail(const Instruction& instruction, const char* why) const {
    throw Error("kernel " + kernel_.name + ", PTX line " + std::to_string(instruction.line) + ": " + why);
  }

  /// To its end, or to the next barrier.
  void advance(Thread& thread) {
    thread_ = &thread;
    const std::vector<Instruction>& code = kernel_.code->instructions;
    while (thread.next < code.size()) {
      const Instruction& instruction = code[thread.next++];
      const auto guard = static_cast<std::size_t>(instruction.guard);
      if (instruction.guard >= 0 && (thread.registers[guard] != 0) == instruction.is_guard_inverted) continue;
      if (!instruction.executed->load(std::memory_order_relaxed)) instruction.executed->store(true);
      if (instruction.opcode == Opcode::bra)
        thread.next = static_cast<std::size_t>(instruction.target);
      else if (instruction.opcode == Opcode::ret)
        break;
      else if (instruction.opcode == Opcode::bar)
        return;
      else
        perform(instruction);
    }
    thread.is_done = true;
  }

  [[nodiscard]] std::uint64_t special(std::uint64_t which) const {
    const Size& at = thread_->place;
    const unsigned values[] = {at.x,   at.y,   at.z,   block_.x, block_.y, block_.z,
                               cta_.x, cta_.y, cta_.z, grid_.x,  grid_.y,  grid_.z};
    if (which < std::size(values)) return values[which];
    const unsigned number = at.x + block_.x * (at.y + block_.y * at.z);
    return which == 12 ? number % 32 : which == 13 ? number / 32 : 0;
  }
  [[nodiscard]] std::uint64_t get(const Operand& operand) const {
    if (operand.kind == Operand::special) return special(operand.value);
    if (operand.kind != Operand::in_register) return operand.value;
    const std::uint64_t value = thread_->registers[static_cast<std::size_t>(operand.number)];
    return operand.is_inverted ? (value == 0 ? 1 : 0) : value;
  }
  void set(const Operand& operand, std::uint64_t value) {
    if (operand.kind == Operand::in_register) thread_->registers[static_cast<std::size_t>(operand.number)] = value;
  }

  std::byte* memory(const Instruction& instruction, const Operand& operand, std::size_t bytes, bool writes) {
    const std::uint64_t base = operand.number < 0 ? 0 : thread_->registers[static_cast<std::size_t>(operand.number)];
    const std::uint64_t address = base + operand.value;
    if (operand.kind == Operand::parameter || instruction.space == Space::param) {
      if (address + bytes > parameters_.size()) fail(instruction, "an access beyond the parameters");
      return const_cast<std::byte*>(parameters_.data()) + address;
    }
    const auto is_in = [&](Space space, std::uint64_t window) {
      return instruction.space == space || (instruction.space == Space::generic && (address & windows) == window);
    };
    if (is_in(Space::shared, shared_window)) return small(instruction, shared_, address, bytes);
    if (is_in(Space::local, local_window)) return small(instruction, thread_->local, address, bytes);
    return resolve_(address, bytes, writes);
  }
  std::byte* small(const Instruction& instruction, std::vector<std::byte>& space, std::uint64_t address,
                   std::size_t bytes) const {
    const std::uint64_t offset = low(address, 32);
    if (offset + bytes > space.size()) fail(instruction, "an access beyond shared or local memory");
    return space.data() + offset;
  }

  void perform(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    const auto source = [&](std::size_t n) { return n < o.size() ? get(o[n]) : 0; };
    switch (instruction.opcode) {
      case Opcode::mov:
        return move(instruction);
      case Opcode::setp:
        return set_predicates(instruction);
      case Opcode::set: {
        const bool is_so = compared(instruction, instruction.from, source(1), source(2));
        const std::uint64_t yes = is_floating(instruction.type) ? from_double(1, instruction.type)
                                                                : low(~std::uint64_t{0}, instruction.type.bits);
        return set(o[0], is_so ? yes : 0);
      }
      case Opcode::selp:
        return set(o[0], low(source(3) != 0 ? source(1) : source(2), instruction.type.bits));
      case Opcode::prmt:
        return set(o[0], permuted(low(source(1), 32) | source(2) << 32, source(3)));
      case Opcode::cvt:
        return convert(instruction);
      case Opcode::cvta:
        return set(o[0], instruction.space == Space::shared  ? shared_window | low(source(1), 32)
                         : instruction.space == Space::local ? local_window | low(source(1), 32)
                                                             : source(1));
      case Opcode::ld:
        return load(instruction);
      case Opcode::st:
        return store_all(instruction);
      case Opcode::lop3:
        return set(o[0], looked_up(source(1), source(2), source(3), source(4)));
      case Opcode::shf: {
        const std::uint64_t both = low(source(1), 32) | source(2) << 32;
        const std::uint64_t places =
            instruction.wraps ? source(3) & 31 : std::min<std::uint64_t>(low(source(3), 32), 32);
        return set(o[0], low(instruction.is_left ? both << places >> 32 : both >> places, 32));
      }
      case Opcode::bfi:
        return set(o[0], inserted(instruction.type.bits, source(1), source(2), source(3), source(4)));
      case Opcode::atom:
      case Opcode::red:
        return atomic(instruction);
      case Opcode::fence:
      case Opcode::nop:
        return;
      default:
        return set(o[0], computed(instruction, source(1), source(2), source(3)));
    }
  }

  void move(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    if (instruction.width == 1) return set(o[0], low(get(o[1]), instruction.type.bits));
    const int part = instruction.type.bits / instruction.width;
    const auto width = static_cast<std::size_t>(instruction.width);
    if (!instruction.is_packing) {
      const std::uint64_t whole = get(o[width]);
      for (std::size_t n = 0; n < width; ++n)
        set(o[n], low(whole >> (n * static_cast<std::size_t>(part)), part));
      return;
    }
    std::uint64_t whole = 0;
    for (std::size_t n = 0; n < width; ++n)
      whole |= low(get(o[n + 1]), part) << (n * static_cast<std::size_t>(part));
    set(o[0], whole);
  }

  void set_predicates(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    const std::size_t first = instruction.has_second ? 2 : 1;
    bool is_so = compared(instruction, instruction.type, get(o[first]), get(o[first + 1]));
    bool is_not = !is_so;
    if (instruction.combination != Combination::none) {
      const bool other = get(o[first + 2]) != 0;
      const auto combined = [&](bool value) {
        return instruction.combination == Combination::bit_and  ? value && other
               : instruction.combination == Combination::bit_or ? value || other
                                                                : value != other;
      };
      is_so = combined(is_so);
      is_not = combined(is_not);
    }
    set(o[0], is_so ? 1 : 0);
    if (instruction.has_second) set(o[1], is_not ? 1 : 0);
  }

  /// Pairs: of two sources the second is the low lane of the result.
  void convert(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    if (instruction.type.lanes == 1 && instruction.from.lanes == 1) return set(o[0], converted(instruction, get(o[1])));
    Instruction lane = instruction;
    lane.type.lanes = lane.from.lanes = 1;
    const bool is_pair = instruction.from.lanes == 2;
    const int bits = instruction.from.bits;
    const std::uint64_t high = is_pair ? low(get(o[1]) >> bits, bits) : get(o[1]);
    const std::uint64_t other = is_pair ? low(get(o[1]), bits) : get(o[2]);
    set(o[0], converted(lane, high) << instruction.type.bits | converted(lane, other));
  }

  void load(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    const std::size_t bytes = instruction.type.bits / 8U;
    const auto width = static_cast<std::size_t>(instruction.width);
    const std::byte* const at = memory(instruction, o[width], bytes * width, false);
    for (std::size_t n = 0; n < width; ++n) {
      const std::uint64_t value = loaded(at + n * bytes, bytes);
      set(o[n], instruction.type.cls == Class::signed_integer
                    ? static_cast<std::uint64_t>(sign_extended(value, instruction.type.bits))
                    : value);
    }
  }

  void store_all(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    const std::size_t bytes = instruction.type.bits / 8U;
    const auto width = static_cast<std::size_t>(instruction.width);
    std::byte* const at = memory(instruction, o[0], bytes * width, true);
    for (std::size_t n = 0; n < width; ++n)
      store(at + n * bytes, bytes, get(o[n + 1]));
  }

  template <class Word>
  std::uint64_t exchange(const Instruction& instruction, std::byte* at, std::uint64_t b, std::uint64_t c) {
    auto* const word = reinterpret_cast<Word*>(at);
    Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST), next = 0;
    do {
      next = static_cast<Word>(updated(instruction, old, b, c));
    } while (!__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return old;
  }
  [[nodiscard]] static std::uint64_t updated(const Instruction& instruction, std::uint64_t old, std::uint64_t b,
                                             std::uint64_t c) {
    constexpr Opcode opcodes[] = {Opcode::nop, Opcode::add,     Opcode::nop,    Opcode::nop,    Opcode::min,
                                  Opcode::max, Opcode::bit_and, Opcode::bit_or, Opcode::bit_xor};
    if (instruction.atomic == Atomic::exch) return b;
    if (instruction.atomic == Atomic::cas) return old == low(b, instruction.type.bits) ? c : old;
    Instruction operation = instruction;
    operation.opcode = opcodes[static_cast<std::size_t>(instruction.atomic)];
    return computed(operation, old, b, 0);
  }
  void atomic(const Instruction& instruction) {
    const std::vector<Operand>& o = instruction.operands;
    const std::size_t at = instruction.opcode == Opcode::atom ? 1 : 0;
    std::byte* const word = memory(instruction, o[at], instruction.type.bits / 8U, true);
    const std::uint64_t b = get(o[at + 1]), c = o.size() > at + 2 ? get(o[at + 2]) : 0;
    const std::uint64_t old = instruction.type.bits == 64   ? exchange<std::uint64_t>(instruction, word, b, c)
                              : instruction.type.bits == 32 ? exchange<std::uint32_t>(instruction, word, b, c)
                                                            : exchange<std::uint16_t>(instruction, word, b, c);
    if (at == 1) set(o[0], old);
  }

  const Kernel& kernel_;
  Size grid_, block_, cta_{};
  std::span<const std::byte> parameters_;
  const Resolve& resolve_;
  std::vector<std::byte> shared_;
  Thread* thread_ = nullptr;
};

}  // namespace

void run(const Kernel& kernel, Size grid, Size block, std::size_t dynamic_shared_bytes,
         std::span<const std::byte> parameters, const Resolve& resolve) {
  Machine machine{kernel, grid, block, dynamic_shared_bytes, parameters, resolve};
  std::vector<Thread> threads(block.count());
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x)
        machine.run_block({x, y, z}, threads);
}

}  // namespace fake_cuda::ptx
