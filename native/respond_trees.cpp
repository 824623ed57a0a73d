#include "respond_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "threads.hpp"

namespace cgens {

TreeTables::TreeTables(const TreeArrays& trees) {
    find_inputs(trees);
    const auto n_nodes = static_cast<std::size_t>(trees.begin[trees.n_trees]);
    nodes_.reserve(n_nodes);
    std::vector<std::size_t> sources;  // where the nodes of the current tree are in the arrays
    for (std::size_t j = 0; j < trees.n_trees; ++j) {
        const auto begin = static_cast<std::size_t>(trees.begin[j]);
        const auto root = static_cast<std::uint32_t>(nodes_.size());
        roots_.push_back(root);
        sources.assign(1, begin);
        for (std::size_t k = 0; k < sources.size(); ++k) {
            const std::size_t at = sources[k];
            const auto own = static_cast<std::uint32_t>(root + k);
            const bool is_leaf = trees.features[at] < 0;
            values_.push_back(is_leaf ? static_cast<double>(trees.values[at]) : 0.0);
            if (is_leaf) {
                nodes_.push_back({std::numeric_limits<double>::infinity(), 0, own});
                sets_.push_back(0);
                continue;
            }
            const auto feature = static_cast<std::size_t>(trees.features[at]);
            const bool is_category = std::isnan(trees.thresholds[at]);
            const std::uint32_t input = (is_category ? input_of_category_ : input_of_number_)[feature];
            const double threshold = is_category ? std::numeric_limits<double>::infinity() : trees.thresholds[at];
            const auto child = static_cast<std::uint32_t>(root + sources.size());
            nodes_.push_back({threshold, static_cast<std::uint32_t>(input * kTileRows), child});
            if (is_category)
                sets_.push_back(add_set(trees, at, inputs_[input]));
            else
                sets_.push_back(trees.gaps_right[at] != 0 ? gap_set_ : 0);
            sources.push_back(begin + static_cast<std::size_t>(trees.left[at]));
            sources.push_back(begin + static_cast<std::size_t>(trees.right[at]));
        }
    }
}

void TreeTables::find_inputs(const TreeArrays& trees) {
    constexpr std::uint32_t kUnused = ~std::uint32_t{0};
    for (std::int64_t k = 0; k < trees.begin[trees.n_trees]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (trees.features[at] < 0) continue;
        const auto feature = static_cast<std::size_t>(trees.features[at]);
        const bool is_category = std::isnan(trees.thresholds[at]);
        n_features_ = std::max(n_features_, feature + 1);
        std::vector<std::uint32_t>& input_of = is_category ? input_of_category_ : input_of_number_;
        if (input_of.size() < n_features_) input_of.resize(n_features_, kUnused);
        if (input_of[feature] == kUnused) {
            input_of[feature] = static_cast<std::uint32_t>(inputs_.size());
            inputs_.push_back({feature, is_category, 0});
        }
        const std::int64_t end = trees.level_begin[at + 1];
        Input& input = inputs_[input_of[feature]];
        if (end > trees.level_begin[at]) input.n_levels = std::max(input.n_levels, trees.levels[end - 1] + 1);
    }
    std::size_t n_words = 1;  // of the empty set, whatever the input
    for (const Input& input : inputs_) n_words = std::max(n_words, input.n_words());
    words_.assign(n_words, 0);
    gap_set_ = static_cast<std::uint32_t>(words_.size());
    words_.push_back(2);
}

std::uint32_t TreeTables::add_set(const TreeArrays& trees, std::size_t at, const Input& input) {
    const std::size_t first = words_.size();
    words_.resize(first + input.n_words(), 0);
    const auto add = [&](std::uint32_t code) { words_[first + code / 64] |= std::uint64_t{1} << code % 64; };
    std::for_each(trees.levels + trees.level_begin[at], trees.levels + trees.level_begin[at + 1], add);
    if (trees.gaps_right[at] != 0) add(input.n_levels + 1);
    return static_cast<std::uint32_t>(first);
}

template <class T>
void TreeTables::fill(Tile& tile, const MatrixView<T>& X, std::size_t first, std::size_t n) const {
    tile.has_codes = false;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
        const Input& input = inputs_[k];
        double* numbers = tile.numbers.data() + k * kTileRows;
        std::uint32_t* codes = tile.codes.data() + k * kTileRows;
        std::uint32_t any = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = static_cast<double>(X(first + i, input.feature));
            const bool is_gap = x != x;
            if (input.is_category) {
                const bool is_known = x >= 0 && x < static_cast<double>(input.n_levels);
                codes[i] = is_known ? static_cast<std::uint32_t>(x) : input.n_levels + (is_gap ? 1 : 0);
            } else {
                numbers[i] = x;
                codes[i] = is_gap ? 1 : 0;
            }
            any |= codes[i];
        }
        tile.has_codes |= input.is_category || any != 0;
    }
}

template <bool kWithSets, bool kOneRow>
inline void TreeTables::descend(const Tile& tile, std::size_t row, std::uint32_t (&at)[kWalks]) const {
    const Node* nodes = nodes_.data();
    const double* numbers = tile.numbers.data() + row;
    const std::uint32_t* codes = tile.codes.data() + row;
    std::uint32_t moved = 1;
    while (moved != 0) {
        moved = 0;
        for (std::size_t k = 0; k < kWalks; ++k) {
            const Node& node = nodes[at[k]];
            const std::size_t entry = node.tile_begin + (kOneRow ? 0 : k);
            std::uint32_t right = numbers[entry] > node.threshold ? 1 : 0;
            if (kWithSets) {
                const std::uint32_t code = codes[entry];
                right |= static_cast<std::uint32_t>(words_[sets_[at[k]] + code / 64] >> code % 64) & 1;
            }
            const std::uint32_t next = node.child + right;
            moved |= next ^ at[k];
            at[k] = next;
        }
    }
}

template <bool kWithSets, class Visit>
void TreeTables::visit_tile(const Tile& tile, std::size_t n, const Visit& visit) const {
    std::uint32_t at[kWalks];
    const std::size_t n_together = n / kWalks * kWalks;
    for (std::size_t j = 0; j < roots_.size(); ++j) {
        for (std::size_t i = 0; i < n_together; i += kWalks) {
            std::fill(at, at + kWalks, roots_[j]);
            descend<kWithSets, false>(tile, i, at);
            for (std::size_t k = 0; k < kWalks; ++k) visit(i + k, j, values_[at[k]]);
        }
    }
    for (std::size_t i = n_together; i < n; ++i) {
        for (std::size_t j = 0; j < roots_.size(); j += kWalks) {
            const std::size_t n_trees = std::min(kWalks, roots_.size() - j);
            for (std::size_t k = 0; k < kWalks; ++k) at[k] = roots_[j + std::min(k, n_trees - 1)];
            descend<kWithSets, true>(tile, i, at);
            for (std::size_t k = 0; k < n_trees; ++k) visit(i, j + k, values_[at[k]]);
        }
    }
}

template <class T, class Visit>
void TreeTables::visit_leaves(const MatrixView<T>& X, int n_threads, const Visit& visit) const {
    const double work = 10 * static_cast<double>(X.n_rows * roots_.size());
    for_blocks(X.n_rows, kTileRows, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        const std::size_t size = kTileRows * std::max<std::size_t>(1, inputs_.size());
        Tile tile{std::vector<double>(size, 0.0), std::vector<std::uint32_t>(size, 0), false};
        fill(tile, X, first, last - first);
        const auto visit_row = [&](std::size_t i, std::size_t j, double value) { visit(first + i, j, value); };
        tile.has_codes ? visit_tile<true>(tile, last - first, visit_row)
                       : visit_tile<false>(tile, last - first, visit_row);
    });
}

template <class T>
void TreeTables::respond(const MatrixView<T>& X, float* out, int n_threads) const {
    visit_leaves(X, n_threads, [=](std::size_t i, std::size_t j, double value) {
        out[i * roots_.size() + j] = static_cast<float>(value);
    });
}

template <class T>
void TreeTables::add_decision(const MatrixView<T>& X, const double* weights, std::size_t n_outputs, double* out,
                              int n_threads) const {
    if (n_outputs == 1) {
        visit_leaves(X, n_threads, [=](std::size_t i, std::size_t j, double value) { out[i] += value * weights[j]; });
        return;
    }
    visit_leaves(X, n_threads, [=](std::size_t i, std::size_t j, double value) {
        for (std::size_t t = 0; t < n_outputs; ++t) out[i * n_outputs + t] += value * weights[j * n_outputs + t];
    });
}

template void TreeTables::respond(const MatrixView<float>&, float*, int) const;
template void TreeTables::respond(const MatrixView<double>&, float*, int) const;
template void TreeTables::add_decision(const MatrixView<float>&, const double*, std::size_t, double*, int) const;
template void TreeTables::add_decision(const MatrixView<double>&, const double*, std::size_t, double*, int) const;

}  // namespace cgens
