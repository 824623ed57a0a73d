// A Newton step on the duals strictly inside their box.
//
// Coordinate descent finds out quickly which duals sit at a bound, then creeps where the problem is ill-conditioned
// (large C, few columns). With the others held, the inside duals solve a linear system: this takes that step.
#pragma once

#include <cstddef>
#include <vector>

namespace cgens {

// Row-major responses of the inside rows, `stride` doubles each (padded with zeros to whole lanes).
struct InsideRows {
    std::vector<double> responses;
    std::size_t stride = 0;
    std::size_t size() const { return stride == 0 ? 0 : responses.size() / stride; }
};

// Returns the step d that minimises 1/2 |H'd|^2 + gradient'd over sum(d) = 0, or nothing where rounding spoils the
// factorisation. A slight multiple of the identity is added: rows with equal responses make the system singular.
std::vector<double> newton_step(const InsideRows& rows, const std::vector<double>& gradient);

}  // namespace cgens
