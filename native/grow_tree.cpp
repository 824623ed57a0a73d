#include "grow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

constexpr double kRounding = 1e-12;  // relative

}  // namespace

TreeGrower::TreeGrower(std::shared_ptr<const StumpPool> pool, const std::vector<double>& weights, int n_threads)
    : pool_(std::move(pool)), n_threads_(n_threads), prices_(pool_->n_rows()), scratch_(pool_->n_rows()) {
    weight_unit_ = FixedPoint::holding(weights.data(), weights.size());
    double total = 0.0;
    for (const double weight : weights) {
        all_weights_.push_back(weight_unit_.round(weight));
        total += weight;
    }
    row_weight_ = std::min(1.0, total / static_cast<double>(weights.size()));
    for (std::size_t f = 0; f < pool_->n_features(); ++f) has_categories_ |= pool_->feature(f).is_category;
}

// The gain of a split in the criterion; 0 if it is within rounding.
double TreeGrower::gain(const Sums& left, const Sums& right) const {
    if (!real_) {  // exact: integers whose sums stay below 2^62
        const std::int64_t before = std::abs(left.price + right.price);
        return static_cast<double>(std::abs(left.price) + std::abs(right.price) - before);
    }
    const auto criterion = [](const Sums& sums) {
        const auto price = static_cast<double>(sums.price);
        return price * (price / static_cast<double>(sums.weight));
    };
    const double after = criterion(left) + criterion(right);
    const double gained = after - criterion({left.price + right.price, left.weight + right.weight});
    return gained > kRounding * after ? gained : 0.0;
}

// The same for sums that are not exact.
double TreeGrower::gain_of(double left, std::int64_t left_weight, double right, std::int64_t right_weight) const {
    const auto criterion = [this](double price, std::int64_t weight) {
        return real_ ? price * (price / static_cast<double>(weight)) : std::abs(price);
    };
    const double after = criterion(left, left_weight) + criterion(right, right_weight);
    const double gained = after - criterion(left + right, left_weight + right_weight);
    return gained > kRounding * after ? gained : 0.0;
}

std::vector<TreeNode> TreeGrower::grow(const double* along, const std::uint8_t* allowed, const std::uint8_t* drawn,
                                       const TreeOptions& options, std::int32_t* leaf_of) {
    price_unit_ = FixedPoint::holding(along, n_rows());
    weights_ = all_weights_;
    Sums total;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const bool counts = drawn == nullptr || drawn[i] != 0;
        prices_[i] = counts ? price_unit_.round(along[i]) : 0;
        if (!counts) weights_[i] = 0;
        total += {prices_[i], weights_[i]};
    }
    // A min_weight above the total weight may not fit into fixed point.
    least_weight_ = options.min_weight > weight_unit_.value(static_cast<double>(total.weight))
                        ? total.weight + 1
                        : std::max<std::int64_t>(1, weight_unit_.round(options.min_weight));
    real_ = options.real;
    random_ = options.random;
    seed_ = options.seed;
    rows_.resize(n_rows());
    std::iota(rows_.begin(), rows_.end(), std::uint32_t{0});

    std::vector<TreeNode> tree;
    const auto append = [&](const Sums& sums) {
        tree.push_back({-1, -1, -1, 0.0, price_unit_.value(static_cast<double>(sums.price)),
                        weight_unit_.value(static_cast<double>(sums.weight)), 0, {}});
        return tree.size() - 1;
    };
    std::vector<Node> leaves{{0, n_rows(), total, sum_squares(0, n_rows()), {}, append(total)}};
    leaves.reserve(options.max_leaves);
    if (options.max_leaves > 1) find_splits({&leaves[0]}, allowed);
    while (leaves.size() < options.max_leaves) {
        // Ties go to the leaf created first.
        const auto next = std::max_element(leaves.begin(), leaves.end(), [](const Node& a, const Node& b) {
            return a.best.gain < b.best.gain;
        });
        if (!(next->best.gain > 0)) break;
        const Node parent = std::move(*next);
        const std::vector<std::uint8_t> goes_right = right_bins(parent.best);
        const std::size_t middle = partition(parent, goes_right);
        const Sums right = parent.sums - parent.best.left;
        *next = {parent.begin, middle, parent.best.left, sum_squares(parent.begin, middle), {}, append(parent.best.left)};
        leaves.push_back({middle, parent.end, right, sum_squares(middle, parent.end), {}, append(right)});
        TreeNode& node = tree[parent.position];
        describe(parent, goes_right, node);
        node.left = static_cast<std::int32_t>(next->position);
        node.right = static_cast<std::int32_t>(leaves.back().position);
        if (leaves.size() < options.max_leaves) find_splits({&*next, &leaves.back()}, allowed);
    }
    for (const Node& leaf : leaves)
        for (std::size_t k = leaf.begin; k < leaf.end; ++k)
            leaf_of[rows_[k]] = static_cast<std::int32_t>(leaf.position);
    return tree;
}

void TreeGrower::describe(const Node& parent, const std::vector<std::uint8_t>& goes_right, TreeNode& node) const {
    const BinnedFeature& feature = pool_->feature(parent.best.feature);
    node.feature = static_cast<std::int32_t>(parent.best.feature);
    node.gaps_right = parent.best.gaps_right;
    if (!feature.is_category) {
        node.threshold = feature.thresholds[parent.best.bin];
        return;
    }
    node.threshold = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < feature.levels.size(); ++k)
        if (goes_right[k] != 0) node.levels.push_back(feature.levels[k]);
}

std::vector<std::uint8_t> TreeGrower::right_bins(const Split& split) const {
    const BinnedFeature& feature = pool_->feature(split.feature);
    std::vector<std::uint8_t> right(feature.n_bins(), 0);
    if (feature.is_category) {
        for (const std::uint32_t bin : split.right_bins) right[bin] = 1;
    } else {
        for (std::size_t k = split.bin + 1; k < right.size(); ++k) right[k] = 1;
    }
    if (feature.has_gaps) right.back() = split.gaps_right;
    return right;
}

std::size_t TreeGrower::partition(const Node& node, const std::vector<std::uint8_t>& goes_right) {
    const StumpPool::FeatureBins bins = pool_->bins_of(node.best.feature);
    const bool common = goes_right[pool_->feature(node.best.feature).common_bin] != 0;
    std::size_t left = node.begin, n_right = 0;
    for (std::size_t k = node.begin; k < node.end; ++k) {
        bool right = common;
        bins.visit(rows_[k], [&](std::size_t bin) { right = goes_right[bin] != 0; });
        if (right) {
            scratch_[n_right++] = rows_[k];
        } else {
            rows_[left++] = rows_[k];
        }
    }
    std::copy(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(n_right),
              rows_.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
}

void TreeGrower::find_splits(std::vector<Node*> nodes, const std::uint8_t* allowed) {
    const std::size_t n_blocks = pool_->blocks().size();
    std::vector<Split> found(n_blocks * nodes.size());
    double rows = 0.0;
    for (const Node* node : nodes) rows += static_cast<double>(node->end - node->begin);
    const double entries = static_cast<double>(pool_->n_entries()) / static_cast<double>(n_rows());
    const double work = rows * entries + 2 * static_cast<double>(pool_->n_bins());
#pragma omp parallel num_threads(usable_threads(n_threads_, work))
    {
        std::vector<Sums> histogram;
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(found.size()); ++k) {
            const auto at = static_cast<std::size_t>(k);
            scan_block(pool_->blocks()[at / nodes.size()], *nodes[at % nodes.size()], allowed, histogram, found[at]);
        }
    }
    for (std::size_t k = 0; k < found.size(); ++k) {  // in order of the features: ties go to the first
        Split& best = nodes[k % nodes.size()]->best;
        if (found[k].gain > best.gain) best = std::move(found[k]);
    }
}

void TreeGrower::scan_block(const FeatureBlock& block, const Node& node, const std::uint8_t* allowed,
                            std::vector<Sums>& histogram, Split& best) const {
    const std::uint8_t* own = allowed + block.first_feature;
    if (std::none_of(own, own + block.n_features, [](std::uint8_t is) { return is != 0; })) return;
    histogram.assign(block.bin_offset.back(), Sums{});
    for (std::size_t k = node.begin; k < node.end; ++k) {
        const std::size_t row = rows_[k];
        const Sums sums{prices_[row], weights_[row]};
        visit_row(block, row, [&](std::size_t code) { histogram[code] += sums; });
    }
    for (std::size_t f = 0; f < block.n_features; ++f) {
        if (own[f] == 0) continue;
        const std::size_t number = block.first_feature + f;
        const BinnedFeature& feature = pool_->feature(number);
        Sums* bins = histogram.data() + block.bin_offset[f];
        Sums common = node.sums;
        for (std::size_t k = 0; k < feature.n_bins(); ++k) common = common - bins[k];  // its own entry is 0
        bins[feature.common_bin] = common;
        feature.is_category ? scan_levels(number, bins, node, best) : scan_thresholds(number, bins, node, best);
    }
}

void TreeGrower::scan_thresholds(std::size_t f, const Sums* bins, const Node& node, Split& best) const {
    const BinnedFeature& feature = pool_->feature(f);
    const Sums gaps = feature.has_gaps ? bins[feature.gap_bin()] : Sums{};
    // Calls visit(k, left, right) for each threshold that leaves both sides heavy enough.
    const auto scan = [&](Sums left, std::size_t n_thresholds, auto visit) {
        for (std::size_t k = 0; k < n_thresholds; ++k) {
            if (bins[k].empty()) continue;  // the same split as the previous one
            left += bins[k];
            const Sums right = node.sums - left;
            if (right.weight < least_weight_) return;
            if (left.weight >= least_weight_) visit(k, left, right);
        }
    };
    const auto scan_right = [&](auto visit) { scan({}, feature.n_upper_cells(), visit); };
    const auto scan_left = [&](auto visit) {
        if (!gaps.empty() && feature.n_upper_cells() > 1) scan(gaps, feature.n_upper_cells() - 1, visit);
    };
    std::size_t only = feature.n_bins();  // the random threshold
    if (random_) {
        std::vector<std::size_t> splits;
        const auto collect = [&](std::size_t k, const Sums&, const Sums&) { splits.push_back(k); };
        scan_right(collect);
        if (splits.empty()) scan_left(collect);
        if (splits.empty()) return;
        only = splits[random_split(node, f, splits.size())];
    }
    const auto try_split = [&](std::size_t k, const Sums& left, bool gaps_right) {
        if (random_ && k != only) return;
        const double gained = gain(left, node.sums - left);
        if (gained > best.gain) best = {gained, f, k, gaps_right, {}, left};
    };
    scan_right([&](std::size_t k, const Sums& left, const Sums& right) {
        try_split(k, left, gaps.empty() ? right.weight > left.weight : true);
    });
    scan_left([&](std::size_t k, const Sums& left, const Sums&) { try_split(k, left, false); });
}

std::size_t TreeGrower::random_split(const Node& node, std::size_t f, std::size_t n_splits) const {
    const std::uint64_t place = mix_bits(mix_bits(seed_ + node.position) + f);
    return static_cast<std::size_t>(place % n_splits);
}

double TreeGrower::sum_squares(std::size_t begin, std::size_t end) const {
    double sum = 0.0;
    if (!has_categories_) return sum;
    for (std::size_t k = begin; k < end; ++k) {
        const auto price = static_cast<double>(prices_[rows_[k]]);
        if (weights_[rows_[k]] > 0) sum += price * (price / static_cast<double>(weights_[rows_[k]]));
    }
    return sum;
}

// Empirical Bayes, a one-way random-effects model: the mean of a level is that of the node plus an effect of variance t^2,
// and rows of weight w scatter around it with variance s^2 / w. Both are estimated from the sums of squares within and
// between levels; the posterior mean of a level with weight W is shrunk to the mean of the node by W / (W + s^2 / t^2).
double TreeGrower::level_shrinkage(const BinnedFeature& feature, const Sums* bins, const Node& node) const {
    double between = 0.0, weight_squares = 0.0, n_levels = 0.0;
    for (std::size_t k = 0; k < feature.n_bins(); ++k) {
        if (bins[k].weight == 0) continue;
        const auto price = static_cast<double>(bins[k].price), weight = static_cast<double>(bins[k].weight);
        between += price * (price / weight);
        weight_squares += weight * weight;
        ++n_levels;
    }
    const auto total = static_cast<double>(node.sums.weight), price = static_cast<double>(node.sums.price);
    const double rows = total * weight_unit_.value(1.0) / row_weight_;
    const double within = std::max(node.squares - between, 0.0) / std::max(rows - n_levels, 0.25 * rows);
    between -= price * (price / total);
    const double excess = (between - (n_levels - 1) * within) / (total - weight_squares / total);  // t^2 in units
    return excess > 0 ? within / excess : std::numeric_limits<double>::infinity();
}

void TreeGrower::scan_levels(std::size_t f, const Sums* bins, const Node& node, Split& best) const {
    const BinnedFeature& feature = pool_->feature(f);
    struct Level {
        double mean;  // shrunk
        std::uint32_t bin;
    };
    const double shrinkage = level_shrinkage(feature, bins, node);
    if (std::isinf(shrinkage)) return;
    const double mean = static_cast<double>(node.sums.price) / static_cast<double>(node.sums.weight);
    std::vector<Level> order;
    for (std::size_t k = 0; k < feature.n_bins(); ++k) {
        if (bins[k].empty()) continue;
        const auto price = static_cast<double>(bins[k].price), weight = static_cast<double>(bins[k].weight);
        const double effect = weight + shrinkage > 0 ? (price - mean * weight) / (weight + shrinkage) : 0.0;
        order.push_back({mean + effect, static_cast<std::uint32_t>(k)});
    }
    std::stable_sort(order.begin(), order.end(), [](const Level& a, const Level& b) { return a.mean < b.mean; });
    const auto shrunk = [&](const Level& level) { return level.mean * static_cast<double>(bins[level.bin].weight); };
    double total = 0.0, low_price = 0.0;
    for (const Level& level : order) total += shrunk(level);
    const auto scan = [&](auto visit) {
        Sums low;
        low_price = 0.0;
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            low += bins[order[k].bin];
            low_price += shrunk(order[k]);
            const Sums high = node.sums - low;
            if (high.weight < least_weight_) break;
            if (low.weight >= least_weight_) visit(k, low, high);
        }
    };
    std::size_t n_splits = 0, chosen = 0, at = 0;
    if (random_) {
        scan([&](std::size_t, const Sums&, const Sums&) { ++n_splits; });
        if (n_splits == 0) return;
        chosen = random_split(node, f, n_splits);
    }
    Sums best_low;
    std::size_t n_low = 0;
    double best_gain = best.gain;
    scan([&](std::size_t k, const Sums& low, const Sums& high) {
        if (random_ && at++ != chosen) return;
        const double gained = gain_of(low_price, low.weight, total - low_price, high.weight);
        if (!(gained > best_gain)) return;
        best_gain = gained;
        best_low = low;
        n_low = k + 1;
    });
    if (n_low == 0) return;
    // Levels that no row of the node has go left, and so do rare ones: left is their side, or the one with more weight.
    const Sums best_high = node.sums - best_low;
    const auto is_low = [&](std::size_t bin) {
        return std::any_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_low),
                           [=](const Level& level) { return level.bin == bin; });
    };
    const bool others = feature.has_others && !bins[feature.others_bin()].empty();
    const bool low_left = others ? is_low(feature.others_bin()) : best_low.weight >= best_high.weight;
    const Sums left = low_left ? best_low : best_high;
    best = {best_gain, f, 0, (low_left ? best_high : best_low).weight > left.weight, {}, left};
    for (std::size_t k = low_left ? n_low : 0; k < (low_left ? order.size() : n_low); ++k)
        best.right_bins.push_back(order[k].bin);
    if (feature.has_gaps && !bins[feature.gap_bin()].empty())
        best.gaps_right = is_low(feature.gap_bin()) != low_left;
}

}  // namespace cgens
