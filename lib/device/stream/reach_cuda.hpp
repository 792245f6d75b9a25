#pragma once
// The buffers of plans that ranks lend to each other.

#include <cuda.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/device/ipc/exchange.hpp"
#include "lib/device/stream/launcher.hpp"

namespace tutti::stream {

class CudaReach final : public Reach {
 public:
  /// `locals`: the number in the fabric of each rank. Throws Error.
  CudaReach(std::shared_ptr<ipc::Exchange> exchange, std::vector<int> locals, int device, const void* in, void* out);
  ~CudaReach() override;

  [[nodiscard]] Loan mine() const override;
  [[nodiscard]] State map(const Program& program, std::span<const Loan> of_all) override;
  /// The address of the input or the output of a peer, which has been mapped.
  [[nodiscard]] CUdeviceptr at(int peer, Buffer buffer) const { return *mapping(peer, buffer); }

 private:
  using Mapping = std::optional<CUdeviceptr>;
  [[nodiscard]] const Mapping& mapping(int peer, Buffer buffer) const {
    return mapped_[static_cast<std::size_t>(peer)][static_cast<std::size_t>(buffer)];
  }
  [[nodiscard]] ipc::ExportedAddress lend(const void* data);
  State map(const Spot& spot, const Loan& loan);

  std::shared_ptr<ipc::Exchange> exchange_;
  std::vector<int> locals_;
  int device_;
  ipc::ExportedAddress in_{}, out_{};
  std::vector<std::array<Mapping, 2>> mapped_;                    ///< By peer and buffer.
  std::vector<std::pair<int, ipc::ExportedAddress>> borrowed_{};  ///< By number in the fabric.
};

}  // namespace tutti::stream
