#include "scan_splits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "mix_bits.hpp"

namespace cgens {
namespace {

constexpr double kRounding = 1e-12;  // relative

double mean_square(double price, std::int64_t weight) { return price * (price / static_cast<double>(weight)); }
double mean_square(const Sums& sums) { return mean_square(static_cast<double>(sums.price), sums.weight); }

// Rejects most splits without a division: whether the sum of G^2 / W of the sides, up to rounding, exceeds a bar.
class Bar {
   public:
    // The criterion of the node, and the gain to exceed.
    Bar(double before, double gain) : bar_((before + gain) * (1 - kRounding)) {}
    bool may_be_exceeded(const Sums& left, const Sums& right) const {
        const auto left_price = static_cast<double>(left.price), right_price = static_cast<double>(right.price);
        const auto left_weight = static_cast<double>(left.weight), right_weight = static_cast<double>(right.weight);
        return left_price * left_price * right_weight + right_price * right_price * left_weight >=
               bar_ * (left_weight * right_weight);
    }

   private:
    double bar_;
};

}  // namespace

// The gain of a split in the criterion; 0 if it is within rounding.
double SplitScan::gain(const Sums& left, const Sums& right) const {
    if (!real) {  // exact: integers whose sums stay below 2^62
        const std::int64_t before = std::abs(left.price + right.price);
        return static_cast<double>(std::abs(left.price) + std::abs(right.price) - before);
    }
    const double after = mean_square(left) + mean_square(right);
    const double gained = after - mean_square({left.price + right.price, left.weight + right.weight});
    return gained > kRounding * after ? gained : 0.0;
}

// The same for sums that are not exact.
double SplitScan::gain_of(double left, std::int64_t left_weight, double right, std::int64_t right_weight) const {
    const auto criterion = [this](double price, std::int64_t weight) {
        return real ? mean_square(price, weight) : std::abs(price);
    };
    const double after = criterion(left, left_weight) + criterion(right, right_weight);
    const double gained = after - criterion(left + right, left_weight + right_weight);
    return gained > kRounding * after ? gained : 0.0;
}

void SplitScan::scan_thresholds(std::size_t f, const BinnedFeature& feature, const OccupiedBin* bins, std::size_t n,
                                const NodeSums& node, NodeSplit& best) const {
    const bool has_gaps = feature.has_gaps && bins[n - 1].bin == feature.gap_bin();
    const std::size_t n_numbers = n - has_gaps;
    const Sums gaps = has_gaps ? bins[n - 1].sums : Sums{};
    // Calls visit(k, left, right) for each threshold above bin k that leaves both sides heavy enough.
    const auto scan = [&](Sums left, auto visit) {
        for (std::size_t k = 0; k < n_numbers; ++k) {
            left += bins[k].sums;
            const Sums right = node.total - left;
            if (right.weight < least_weight) return;
            if (left.weight >= least_weight) visit(k, left, right);
        }
    };
    const double before = mean_square(node.total);
    Bar bar(before, best.gain);
    const auto try_split = [&](std::size_t k, const Sums& left, const Sums& right, bool gaps_right) {
        if (real && !bar.may_be_exceeded(left, right)) return;
        const double gained = gain(left, right);
        if (!(gained > best.gain)) return;
        best = {gained, f, bins[k].bin, gaps_right, {}, left};
        bar = Bar(before, gained);
    };
    const auto try_right = [&](std::size_t k, const Sums& left, const Sums& right) {
        try_split(k, left, right, has_gaps ? true : right.weight > left.weight);
    };
    const auto try_left = [&](std::size_t k, const Sums& left, const Sums& right) { try_split(k, left, right, false); };
    if (!random) {
        scan({}, try_right);
        if (has_gaps) scan(gaps, try_left);
        return;
    }
    std::size_t first = n, n_splits = 0;  // the splits of a scan are contiguous
    const auto count = [&](std::size_t k, const Sums&, const Sums&) {
        if (n_splits++ == 0) first = k;
    };
    scan({}, count);
    if (n_splits == 0 && has_gaps) scan(gaps, count);
    if (n_splits == 0) return;
    const std::size_t only = first + random_split(node, f, n_splits);
    Sums left;
    for (std::size_t k = 0; k <= only; ++k) left += bins[k].sums;
    const auto try_only = [&](const Sums& low, auto try_side) {
        const Sums high = node.total - low;
        if (low.weight >= least_weight && high.weight >= least_weight) try_side(only, low, high);
    };
    try_only(left, try_right);
    if (has_gaps) try_only(left += gaps, try_left);
}

std::size_t SplitScan::random_split(const NodeSums& node, std::size_t f, std::size_t n_splits) const {
    const std::uint64_t place = mix_bits(mix_bits(seed + node.position) + f);
    return static_cast<std::size_t>(place % n_splits);
}

// Empirical Bayes, a one-way random-effects model: the mean of a level is that of the node plus an effect of variance t^2,
// and rows of weight w scatter around it with variance s^2 / w. Both are estimated from the sums of squares within and
// between levels; the posterior mean of a level with weight W is shrunk to the mean of the node by W / (W + s^2 / t^2).
double SplitScan::level_shrinkage(const OccupiedBin* bins, std::size_t n, const NodeSums& node) const {
    double between = 0.0, weight_squares = 0.0, n_levels = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        if (bins[k].sums.weight == 0) continue;
        const auto weight = static_cast<double>(bins[k].sums.weight);
        between += mean_square(bins[k].sums);
        weight_squares += weight * weight;
        ++n_levels;
    }
    const auto total = static_cast<double>(node.total.weight);
    const double rows = total * weight_of_unit / weight_of_row;
    const double within = std::max(node.squares - between, 0.0) / std::max(rows - n_levels, 0.25 * rows);
    between -= mean_square(node.total);
    const double excess = (between - (n_levels - 1) * within) / (total - weight_squares / total);  // t^2 in units
    return excess > 0 ? within / excess : std::numeric_limits<double>::infinity();
}

void SplitScan::scan_levels(std::size_t f, const BinnedFeature& feature, const OccupiedBin* bins, std::size_t n,
                            const NodeSums& node, NodeSplit& best) const {
    struct Level {
        double mean;     // shrunk
        std::size_t at;  // in bins
    };
    const double shrinkage = level_shrinkage(bins, n, node);
    if (std::isinf(shrinkage)) return;
    const double mean = static_cast<double>(node.total.price) / static_cast<double>(node.total.weight);
    std::vector<Level> order;
    order.reserve(n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto price = static_cast<double>(bins[k].sums.price), weight = static_cast<double>(bins[k].sums.weight);
        const double effect = weight + shrinkage > 0 ? (price - mean * weight) / (weight + shrinkage) : 0.0;
        order.push_back({mean + effect, k});
    }
    std::sort(order.begin(), order.end(), [](const Level& a, const Level& b) {
        return a.mean != b.mean ? a.mean < b.mean : a.at < b.at;
    });
    const auto shrunk = [&](const Level& own) { return own.mean * static_cast<double>(bins[own.at].sums.weight); };
    double total = 0.0, low_price = 0.0;
    for (const Level& level : order) total += shrunk(level);
    const auto scan = [&](auto visit) {
        Sums low;
        low_price = 0.0;
        for (std::size_t k = 0; k + 1 < n; ++k) {
            low += bins[order[k].at].sums;
            low_price += shrunk(order[k]);
            const Sums high = node.total - low;
            if (high.weight < least_weight) break;
            if (low.weight >= least_weight) visit(k, low, high);
        }
    };
    std::size_t n_splits = 0, chosen = 0, at = 0;
    if (random) {
        scan([&](std::size_t, const Sums&, const Sums&) { ++n_splits; });
        if (n_splits == 0) return;
        chosen = random_split(node, f, n_splits);
    }
    Sums best_low;
    std::size_t n_low = 0;
    double best_gain = best.gain;
    scan([&](std::size_t k, const Sums& low, const Sums& high) {
        if (random && at++ != chosen) return;
        const double gained = gain_of(low_price, low.weight, total - low_price, high.weight);
        if (!(gained > best_gain)) return;
        best_gain = gained;
        best_low = low;
        n_low = k + 1;
    });
    if (n_low == 0) return;
    // Levels that no row of the node has go left, and so do rare ones: left is their side, or the one with more weight.
    const Sums best_high = node.total - best_low;
    std::vector<std::uint8_t> is_low(feature.n_bins() + 1, 0), is_occupied(feature.n_bins() + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
        is_low[bins[order[k].at].bin] = k < n_low;
        is_occupied[bins[order[k].at].bin] = 1;
    }
    const bool others = feature.has_others && is_occupied[feature.others_bin()] != 0;
    const bool low_left = others ? is_low[feature.others_bin()] != 0 : best_low.weight >= best_high.weight;
    const Sums left = low_left ? best_low : best_high;
    best = {best_gain, f, 0, (low_left ? best_high : best_low).weight > left.weight, {}, left};
    for (std::size_t k = low_left ? n_low : 0; k < (low_left ? n : n_low); ++k)
        best.right_bins.push_back(bins[order[k].at].bin);
    if (feature.has_gaps && is_occupied[feature.gap_bin()] != 0)
        best.gaps_right = (is_low[feature.gap_bin()] != 0) != low_left;
}

}  // namespace cgens
