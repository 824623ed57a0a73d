// The parts of the solver that keep the duals feasible: where they start, and how their sum is repaired.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "dual_cd.hpp"

namespace cgens {

// Without columns, the optimal r are at the upper bound above the best bias and at the lower one below it. Those at the
// bias share what is missing from sum(r) = e.
void DualCd::start_duals() {
    choose_bias();
    double missing = total_, tied_upper = 0.0, tied_lower = 0.0;
    for (std::size_t i = 0; i < n_duals(); ++i) {
        if (linear_[i] == bias_) {
            tied_upper += upper_[i];
            tied_lower += lower_[i];
        } else {
            duals_[i] = linear_[i] > bias_ ? upper_[i] : lower_[i];
            missing -= duals_[i];
        }
    }
    const double available = missing > 0 ? tied_upper : tied_lower;
    if (available != 0.0) {
        const double share = std::min(1.0, missing / available);
        for (std::size_t i = 0; i < n_duals(); ++i)
            if (linear_[i] == bias_) duals_[i] = share * (missing > 0 ? upper_ : lower_)[i];
    } else {
        balance_duals();  // only rounding is missing
    }
    bias_ = 0.0;
    bias_radius_ = 1.0;
}

void DualCd::set_dual(std::size_t i, double value) {
    if (n_columns() > 0) store_->add(value - duals_[i], row_of(i), weights_.data());
    duals_[i] = value;
}

// If a dual is positive and the next one of its row is negative, both move towards 0 until one of them is 0, unless this
// lowers q'r: neither w nor sum(r) changes.
void DualCd::cancel_opposites() {
    for (std::size_t i = n_rows_; i < n_duals(); ++i) {
        const std::size_t other = i - n_rows_;
        const double common = std::min(duals_[other], -duals_[i]);
        if (common <= 0.0 || linear_[other] > linear_[i]) continue;
        duals_[other] -= common;
        duals_[i] += common;
    }
}

// Makes sum(r) equal to e > 0 by moving the duals in proportion to their distance from the bound on the right side:
// only those strictly inside the box if that suffices, as below.
void DualCd::balance_to_total() {
    const double excess = std::accumulate(duals_.begin(), duals_.end(), 0.0) - total_;
    const std::vector<double>& bound = excess > 0 ? lower_ : upper_;
    double distance = 0.0, inside_distance = 0.0;
    for (std::size_t i = 0; i < n_duals(); ++i) {
        const bool inside = duals_[i] > lower_[i] && duals_[i] < upper_[i];
        distance += std::abs(bound[i] - duals_[i]);
        if (inside) inside_distance += std::abs(bound[i] - duals_[i]);
    }
    const bool inside_only = inside_distance >= std::abs(excess);
    const double share = std::min(1.0, std::abs(excess) / (inside_only ? inside_distance : distance));
    if (!(share > 0.0)) return;  // nothing to do, or no room
    for (std::size_t i = 0; i < n_duals(); ++i) {
        const bool inside = duals_[i] > lower_[i] && duals_[i] < upper_[i];
        if (duals_[i] == bound[i] || (inside_only && !inside)) continue;
        set_dual(i, share == 1.0 ? bound[i] : duals_[i] + share * (bound[i] - duals_[i]));
    }
}

// Makes sum(r) zero by shrinking the duals of the sign with the larger sum towards 0, which keeps them in the box:
// only those strictly inside the box if that suffices, so that duals at a bound stay there and pricing sees few changed
// rows. The two signs are summed separately: with classes of very different weight, a common sum would cancel.
void DualCd::balance_duals() {
    if (total_ > 0) return balance_to_total();
    double positive = 0.0, negative = 0.0, inside_positive = 0.0, inside_negative = 0.0;
    for (std::size_t i = 0; i < n_duals(); ++i) {  // without branches, which would be unpredictable
        const double up = std::max(duals_[i], 0.0), down = std::max(-duals_[i], 0.0);
        const double inside = static_cast<double>((duals_[i] > lower_[i]) & (duals_[i] < upper_[i]));
        positive += up;
        negative += down;
        inside_positive += inside * up;
        inside_negative += inside * down;
    }
    if (positive == negative) return;
    const bool shrink_positive = positive > negative;
    const double excess = std::abs(positive - negative);
    const double available = shrink_positive ? inside_positive : inside_negative;
    const bool inside_only = available >= excess;
    const double factor = inside_only ? (available - excess) / available
                                      : std::min(positive, negative) / std::max(positive, negative);
    if (factor == 1.0) return;  // only rounding
    for (std::size_t i = 0; i < n_duals(); ++i) {
        const bool inside = duals_[i] > lower_[i] && duals_[i] < upper_[i];
        if (duals_[i] == 0.0 || (duals_[i] > 0) != shrink_positive || (inside_only && !inside)) continue;
        set_dual(i, duals_[i] * factor);
    }
}

}  // namespace cgens
