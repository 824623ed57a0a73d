// A Newton step on the duals strictly inside their box.
//
// Coordinate descent soon finds the duals that are at a bound, but converges slowly if the problem is ill-conditioned
// (large C, few columns). With those duals fixed, the optimality of the others is a linear system, solved here.
#pragma once

#include <vector>

namespace cgens {

// Returns the step d that minimizes 1/2 |H'd|^2 + gradient'd subject to sum(d) = 0, or an empty vector if the
// factorization fails due to rounding. H has one row per dual inside its box, padded with zeros to whole lanes. A small
// multiple of the identity is added to H H', as equal rows make it singular.
std::vector<double> newton_step(const std::vector<double>& H, std::vector<double> gradient);

}  // namespace cgens
