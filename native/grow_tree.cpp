#include "grow_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kRowBlock = 16384;  // rows that one thread moves to their side
// With fewer entries per bin, visiting only marked bins takes less time than all bins, although each entry is marked.
constexpr double kFewPerBin = 1.5;

}  // namespace

TreeGrower::TreeGrower(std::shared_ptr<const StumpPool> pool, const std::vector<double>& weights, int n_threads,
                       std::size_t max_stored)
    : pool_(std::move(pool)), n_threads_(n_threads), bins_(pool_, n_threads), stored_(max_stored), sums_(n_rows()),
      rows_(n_rows()), moved_(n_rows()), scratch_(static_cast<std::size_t>(std::max(n_threads, 1))) {
    weight_unit_ = FixedPoint::holding(extent_of(weights.data(), weights.size(), 1, n_threads), weights.size());
    double total = 0.0;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        sums_[i].weight = weight_unit_.round(weights[i]);
        total += weights[i];
    }
    scan_.weight_of_unit = weight_unit_.value(1.0);
    scan_.weight_of_row = std::min(1.0, total / static_cast<double>(weights.size()));
    for (std::size_t f = 0; f < pool_->n_features(); ++f) has_categories_ |= pool_->feature(f).is_category;
}

std::vector<TreeNode> TreeGrower::grow(const double* along, const std::uint8_t* allowed, const std::uint8_t* drawn,
                                       const TreeOptions& options, std::int32_t* leaf_of) {
    Sums total;
    const std::size_t n_drawn = begin_rows(along, drawn, total);
    begin_scratch(allowed);
    // A min_weight above the total weight may not fit into fixed point.
    scan_.least_weight = options.min_weight > weight_unit_.value(static_cast<double>(total.weight))
                             ? total.weight + 1
                             : std::max<std::int64_t>(1, weight_unit_.round(options.min_weight));
    scan_.real = options.real;
    scan_.random = options.random;
    scan_.seed = options.seed;

    std::vector<TreeNode> tree;
    std::vector<Node> leaves;
    leaves.reserve(options.max_leaves);
    const auto new_leaf = [&](const Range& own, const Range& others, const Sums& sums) {
        tree.push_back({-1, -1, -1, 0.0, price_unit_.value(static_cast<double>(sums.price)),
                        weight_unit_.value(static_cast<double>(sums.weight)), 0, {}});
        return Node{own, others, {sums, sum_squares(own), tree.size() - 1}, {}, nullptr};
    };
    leaves.push_back(new_leaf({0, n_drawn}, {n_drawn, n_rows()}, total));
    if (options.max_leaves > 1) split_root(leaves[0]);
    while (leaves.size() < options.max_leaves) {
        // Ties go to the leaf created first.
        const auto next = std::max_element(leaves.begin(), leaves.end(), [](const Node& a, const Node& b) {
            return a.best.gain < b.best.gain;
        });
        if (!(next->best.gain > 0)) break;
        const Node parent = std::move(*next);
        const std::vector<std::uint8_t> goes_right = right_bins(parent.best);
        std::size_t middle = 0, middle_of_others = 0;
        bins_.with_sides(parent.best.feature, goes_right, [&](const auto& is_right) {
            middle = partition(parent.drawn, is_right);
            middle_of_others = partition(parent.others, is_right);
        });
        const Sums& left = parent.best.left;
        *next = new_leaf({parent.drawn.begin, middle}, {parent.others.begin, middle_of_others}, left);
        leaves.push_back(new_leaf({middle, parent.drawn.end}, {middle_of_others, parent.others.end},
                                  parent.sums.total - left));
        TreeNode& node = tree[parent.sums.position];
        describe(parent, goes_right, node);
        node.left = static_cast<std::int32_t>(next->sums.position);
        node.right = static_cast<std::int32_t>(leaves.back().sums.position);
        if (leaves.size() < options.max_leaves) split_children(*next, leaves.back(), parent.histogram);
    }
    for (const Node& leaf : leaves)
        for (const Range& range : {leaf.drawn, leaf.others})
            for (std::size_t k = range.begin; k < range.end; ++k)
                leaf_of[rows_[k]] = static_cast<std::int32_t>(leaf.sums.position);
    return tree;
}

std::size_t TreeGrower::begin_rows(const double* along, const std::uint8_t* drawn, Sums& total) {
    price_unit_ = FixedPoint::holding(extent_of(along, n_rows(), 1, n_threads_), n_rows());
    for_blocks(n_rows(), kRowBlock, n_threads_, 2 * static_cast<double>(n_rows()),
               [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) sums_[i].price = price_unit_.round(along[i]);
               });
    std::size_t n_drawn = 0, n_others = 0;
    for (std::size_t i = 0; i < n_rows(); ++i) {  // without branches
        const bool counts = drawn == nullptr || drawn[i] != 0;
        rows_[n_drawn] = moved_[n_others] = static_cast<std::uint32_t>(i);
        n_drawn += counts;
        n_others += !counts;
    }
    for (std::size_t k = 0; k < n_drawn; ++k) total += sums_[rows_[k]];
    std::copy_n(moved_.begin(), n_others, rows_.begin() + static_cast<std::ptrdiff_t>(n_drawn));
    return n_drawn;
}

void TreeGrower::begin_scratch(const std::uint8_t* allowed) {
    bins_.begin_tree(allowed);
    stored_.begin(bins_.n_bins());
    std::size_t most = 0;
    for (const FeatureGroup& group : bins_.groups()) most = std::max(most, group.n_bins);
    for (Scratch& own : scratch_) {
        if (own.histogram.size() >= most) continue;
        own.histogram.assign(most, {});
        own.marks.assign((most + 63) / 64, 0);
        own.bins.resize(most + 1);
    }
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

std::vector<std::uint8_t> TreeGrower::right_bins(const NodeSplit& split) const {
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

// Each block of rows is divided into left ones, from its begin, and right ones, backwards from its end; both then move to
// where those of earlier blocks end. So rows keep their order.
template <class IsRight>
std::size_t TreeGrower::partition(const Range& range, const IsRight& is_right) {
    const std::size_t n_blocks = (range.size() + kRowBlock - 1) / kRowBlock;
    left_end_.assign(n_blocks + 1, range.begin);
    const double work = 2 * static_cast<double>(range.size());
    for_blocks(range.size(), kRowBlock, n_threads_, work, [&](std::size_t b, std::size_t first, std::size_t last) {
        std::size_t left = range.begin + first, right = range.begin + last;
        for (std::size_t k = left; k < range.begin + last; ++k) {  // without branches: no side is likely
            const std::uint32_t row = rows_[k];
            const bool goes_right = is_right(row) != 0;
            moved_[left] = row;
            moved_[right - 1] = row;
            left += !goes_right;
            right -= goes_right;
        }
        left_end_[b + 1] = left - (range.begin + first);
    });
    for (std::size_t b = 0; b < n_blocks; ++b) left_end_[b + 1] += left_end_[b];
    const std::size_t middle = left_end_[n_blocks];
    for_blocks(range.size(), kRowBlock, n_threads_, work, [&](std::size_t b, std::size_t first, std::size_t last) {
        const auto begin = moved_.begin() + static_cast<std::ptrdiff_t>(range.begin);
        const std::size_t n_left = left_end_[b + 1] - left_end_[b];
        const std::size_t rights_before = first - (left_end_[b] - range.begin);
        std::copy_n(begin + static_cast<std::ptrdiff_t>(first), n_left,
                    rows_.begin() + static_cast<std::ptrdiff_t>(left_end_[b]));
        std::reverse_copy(begin + static_cast<std::ptrdiff_t>(first + n_left), begin + static_cast<std::ptrdiff_t>(last),
                          rows_.begin() + static_cast<std::ptrdiff_t>(middle + rights_before));
    });
    return middle;
}

bool TreeGrower::has_few(const Node& node) const {
    const double entries = static_cast<double>(node.drawn.size()) * bins_.entries_per_row();
    return entries < kFewPerBin * static_cast<double>(bins_.n_bins());
}

void TreeGrower::split_root(Node& root) {
    if (!scan_.may_split(root.sums)) return;
    if (!has_few(root)) root.histogram = stored_.take();
    search({{&root, false, nullptr}});
}

void TreeGrower::split_children(Node& left, Node& right, Sums* histogram) {
    Node& small = left.drawn.size() <= right.drawn.size() ? left : right;
    Node& large = &small == &left ? right : left;
    const bool subtract = histogram != nullptr && scan_.may_split(large.sums) && !has_few(large);
    std::vector<Search> searches;
    if (subtract) {
        large.histogram = histogram;
    } else {
        stored_.give_back(histogram);
    }
    for (Node* const own : {&small, &large}) {
        const bool may_split = scan_.may_split(own->sums);
        if (may_split && own->histogram == nullptr && !has_few(*own)) own->histogram = stored_.take();
        const bool is_difference = subtract && own == &large;
        if (may_split || (subtract && own == &small))
            searches.push_back({own, is_difference, subtract && !is_difference ? histogram : nullptr});
    }
    search(searches);
    for (Node* const own : {&small, &large}) {
        if (own->best.gain > 0) continue;
        stored_.give_back(own->histogram);
        own->histogram = nullptr;
    }
}

// The searches are made one after the other for each group of features, as the second may need the first.
void TreeGrower::search(const std::vector<Search>& searches) {
    const std::vector<FeatureGroup>& groups = bins_.groups();
    found_.assign(groups.size() * searches.size(), {});
    double work = 0.0;
    for (const Search& own : searches) {
        const auto n_bins = static_cast<double>(bins_.n_bins());
        const double entries = static_cast<double>(own.node->drawn.size()) * bins_.entries_per_row();
        work += own.is_summed ? 2 * n_bins : entries + 2 * std::min(entries, n_bins);
    }
    for_tasks(groups.size(), n_threads_, work, [&](std::size_t g, std::size_t thread) {
        for (std::size_t k = 0; k < searches.size(); ++k)
            search_group(groups[g], searches[k], scratch_[thread], found_[g * searches.size() + k]);
    });
    for (std::size_t k = 0; k < found_.size(); ++k) {  // in order of the features: ties go to the first
        NodeSplit& best = searches[k % searches.size()].node->best;
        if (found_[k].gain > best.gain) best = std::move(found_[k]);
    }
}

void TreeGrower::search_group(const FeatureGroup& group, const Search& search, Scratch& scratch, NodeSplit& best) const {
    const Node& node = *search.node;
    const RowSpan span{rows_.data() + node.drawn.begin, node.drawn.size(), sums_.data()};
    const Sums& total = node.sums.total;
    const bool few = !search.is_summed && has_few(node), may_split = scan_.may_split(node.sums);
    Sums* const histogram = node.histogram != nullptr ? node.histogram + group.begin : scratch.histogram.data();
    std::uint64_t* const marks = scratch.marks.data();
    if (few) {
        bins_.add_few_rows(group, span, histogram, marks);
    } else if (!search.is_summed) {
        if (node.histogram != nullptr) std::fill_n(histogram, group.n_bins, Sums{});
        bins_.add_rows(group, span, histogram);
        bins_.complete(group, total, histogram);
    }
    OccupiedBin* const bins = scratch.bins.data();
    for (std::size_t k = 0; k < group.features.size(); ++k) {
        const std::size_t f = group.features[k];
        const std::size_t n = few ? bins_.take(group, k, total, histogram, marks, bins)
                                  : bins_.list(group, k, histogram, bins);
        if (search.sibling != nullptr) {
            Sums* const sibling = search.sibling + group.begin + group.first[k];
            for (std::size_t at = 0; at < n; ++at) sibling[bins[at].bin] -= bins[at].sums;
        }
        if (may_split) scan_.scan(f, pool_->feature(f), bins, n, node.sums, best);
    }
    if (few) {
        bins_.empty(group, histogram, marks);
    } else if (node.histogram == nullptr) {
        std::fill_n(histogram, group.n_bins, Sums{});
    }
}

double TreeGrower::sum_squares(const Range& range) const {
    double sum = 0.0;
    if (!has_categories_) return sum;
    for (std::size_t k = range.begin; k < range.end; ++k) {
        const Sums& own = sums_[rows_[k]];
        const auto price = static_cast<double>(own.price);
        if (own.weight > 0) sum += price * (price / static_cast<double>(own.weight));
    }
    return sum;
}

}  // namespace cgens
