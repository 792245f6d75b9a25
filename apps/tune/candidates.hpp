#pragma once
// The algorithms that may be the fastest for a call, the likeliest first.

#include <mpi.h>

#include <string>
#include <vector>

#include "apps/tune/contexts.hpp"

namespace tutti::tune {

/// The prices of this machine, in microseconds: of a message, of a byte that is sent, and of one that is reduced.
struct Prices {
  double message = 1, sent_byte = 1e-4, reduced_byte = 1e-4;
};
/// Measures them between neighbours of the team. Collective over it; the same on all of its ranks.
[[nodiscard]] Prices measured_prices(const Team& team);

struct Candidate {
  Choice choice;
  double price_us = 0;
};
/// The time that the algorithm's cost makes at those prices: a bound from below rather than a forecast, as messages are
/// taken to be under way at the same time.
[[nodiscard]] double price_of(const Choice& choice, const Problem& problem, Bytes element, const Prices& prices);

/// All that serve the call, with the parameters and segments that are worth a trial, by price: those up to three times
/// the lowest price, yet four at least. `builtin`: what the built-in rules take, which is always the first.
[[nodiscard]] std::vector<Choice> candidates_for(const Question& question, const Problem& problem, Bytes element,
                                                 const Choice& builtin, const Prices& prices);

}  // namespace tutti::tune
