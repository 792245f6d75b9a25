#pragma once
// The ways to share the work of a training, compared where the user is.

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/settings.hpp"
#include "tutti/communicator.hpp"

namespace tutti::sgd {

/// Collective. Trains in each way for an epoch, in turn, as many rounds as `settings` has epochs, and prints what each
/// gains: ratios of medians of the rounds.
void study(const Settings& settings, const Split& data, const Communicator& comm);

}  // namespace tutti::sgd
