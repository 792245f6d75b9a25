#pragma once
// Results that kernels write straight to the memory of peers.

#include <map>
#include <vector>

#include "lib/device/ipc/departures.hpp"

namespace tutti::ipc {

/// A peer that lends an operand says where its message back may be written. If that message is the result of the
/// reduction that reads the operand, the kernel writes it there, and nothing is left to be sent.
class Puts {
 public:
  Puts(Core& core, Departures& departures);

  /// The place in the memory of a peer for the result of a reduction step that reads the lent message `operand`; the
  /// send of this result is over with the kernel. The place is held as `answer`.
  void add(int reduction, int operand, const shm::DeviceLoan& loan, std::vector<CUdeviceptr>& outputs,
           ExportedAddress& answer);

 private:
  Core* core_;
  Departures* departures_;
  std::map<int, std::vector<int>> sends_;  ///< By the reduction whose result they send.
};

}  // namespace tutti::ipc
