#include "grow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr double kRounding = 1e-12;  // relative

}  // namespace

TreeGrower::TreeGrower(std::shared_ptr<const StumpPool> pool, const std::vector<double>& weights, int n_threads)
    : pool_(std::move(pool)), n_threads_(n_threads), prices_(pool_->n_rows()), scratch_(pool_->n_rows()) {
    weight_unit_ = FixedPoint::holding(weights.data(), weights.size());
    for (const double weight : weights) weights_.push_back(weight_unit_.round(weight));
}

// The gain of a split in the criterion; 0 if it is within rounding.
double TreeGrower::gain(const Sums& left, const Sums& right, bool real) const {
    if (!real) {  // exact: integers whose sums stay below 2^62
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

std::vector<TreeNode> TreeGrower::grow(const double* along, const std::uint8_t* allowed, const TreeOptions& options,
                                       std::int32_t* leaf_of) {
    price_unit_ = FixedPoint::holding(along, n_rows());
    Sums total;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        prices_[i] = price_unit_.round(along[i]);
        total += {prices_[i], weights_[i]};
    }
    // A min_weight above the total weight may not fit into fixed point.
    least_weight_ = options.min_weight > weight_unit_.value(static_cast<double>(total.weight))
                        ? total.weight + 1
                        : std::max<std::int64_t>(1, weight_unit_.round(options.min_weight));
    rows_.resize(n_rows());
    std::iota(rows_.begin(), rows_.end(), std::uint32_t{0});

    std::vector<TreeNode> tree;
    const auto append = [&](const Sums& sums) {
        tree.push_back({-1, -1, -1, 0.0, price_unit_.value(static_cast<double>(sums.price)),
                        weight_unit_.value(static_cast<double>(sums.weight))});
        return tree.size() - 1;
    };
    std::vector<Node> leaves{{0, n_rows(), total, {}, append(total)}};
    leaves.reserve(options.max_leaves);
    if (options.max_leaves > 1) find_splits({&leaves[0]}, allowed, options.real);
    while (leaves.size() < options.max_leaves) {
        // Ties go to the leaf created first.
        const auto next = std::max_element(leaves.begin(), leaves.end(), [](const Node& a, const Node& b) {
            return a.best.gain < b.best.gain;
        });
        if (!(next->best.gain > 0)) break;
        const Node parent = *next;
        const std::size_t middle = partition(parent);
        const Sums right = parent.sums - parent.best.left;
        *next = {parent.begin, middle, parent.best.left, {}, append(parent.best.left)};
        leaves.push_back({middle, parent.end, right, {}, append(right)});
        TreeNode& node = tree[parent.position];
        node.feature = static_cast<std::int32_t>(parent.best.feature);
        node.threshold = pool_->feature(parent.best.feature).thresholds[parent.best.bin];
        node.left = static_cast<std::int32_t>(next->position);
        node.right = static_cast<std::int32_t>(leaves.back().position);
        if (leaves.size() < options.max_leaves) find_splits({&*next, &leaves.back()}, allowed, options.real);
    }
    for (const Node& leaf : leaves)
        for (std::size_t k = leaf.begin; k < leaf.end; ++k)
            leaf_of[rows_[k]] = static_cast<std::int32_t>(leaf.position);
    return tree;
}

std::size_t TreeGrower::partition(const Node& node) {
    const StumpPool::Split split = pool_->split(node.best.feature, node.best.bin);
    std::size_t left = node.begin, n_right = 0;
    for (std::size_t k = node.begin; k < node.end; ++k) {
        bool right = split.common_above;
        split.visit(rows_[k], [&](bool above) { right = above; });
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

void TreeGrower::find_splits(std::vector<Node*> nodes, const std::uint8_t* allowed, bool real) {
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
            scan_block(pool_->blocks()[at / nodes.size()], *nodes[at % nodes.size()], allowed, real, histogram,
                       found[at]);
        }
    }
    for (std::size_t k = 0; k < found.size(); ++k) {  // in order of the features: ties go to the first
        Split& best = nodes[k % nodes.size()]->best;
        if (found[k].gain > best.gain) best = found[k];
    }
}

void TreeGrower::scan_block(const FeatureBlock& block, const Node& node, const std::uint8_t* allowed, bool real,
                            std::vector<Sums>& histogram, Split& best) const {
    const std::uint8_t* own = allowed + block.first_feature;
    if (std::none_of(own, own + block.n_features, [](std::uint8_t is) { return is != 0; })) return;
    histogram.assign(block.bin_offset.back(), Sums{});
    for (std::size_t k = node.begin; k < node.end; ++k) {
        const std::size_t row = rows_[k];
        const Sums sums{prices_[row], weights_[row]};
        visit_row(block, row, [&](std::size_t code) { histogram[code] += sums; });
    }
    for (std::size_t f = 0; f < block.n_features; ++f)
        if (own[f] != 0)
            scan_feature(block.first_feature + f, histogram.data() + block.bin_offset[f], node, real, best);
}

void TreeGrower::scan_feature(std::size_t f, const Sums* histogram, const Node& node, bool real, Split& best) const {
    const BinnedFeature& feature = pool_->feature(f);
    Sums common = node.sums;
    for (std::size_t k = 0; k < feature.n_bins(); ++k) common = common - histogram[k];  // its own entry is 0
    Sums left;
    for (std::size_t k = 0; k + 1 < feature.n_bins(); ++k) {
        const Sums& own = k == feature.common_bin ? common : histogram[k];
        // No rows of this node: the same split as the previous one. The weight of a row may round to 0.
        if (own.weight == 0 && own.price == 0) continue;
        left += own;
        const Sums right = node.sums - left;
        if (right.weight < least_weight_) return;
        if (left.weight < least_weight_) continue;
        const double gained = gain(left, right, real);
        if (gained > best.gain) best = {gained, f, k, left};
    }
}

}  // namespace cgens
