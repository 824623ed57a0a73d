// The training table in bins, which stumps and trees read instead of X.
//
// Numbers: a feature with at most `max_bins` distinct values gets one bin for each, so that every possible threshold is
// priced; a feature with more gets `max_bins` bins of about equal weight. Categories: one bin for each level of
// sufficient weight, and one for all others together. A missing value (NaN) is a gap; a feature with gaps has one more
// bin for them, the last. Bins are never empty. Entries in the most common bin of their feature are not stored. The
// others are stored row by row within blocks of features, so that a histogram reads only the rows it needs while the
// histograms of a block stay in the cache.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "binned_feature.hpp"
#include "matrix_view.hpp"

namespace cgens {

struct FeatureBlock {
    std::size_t first_feature = 0, n_features = 0;
    std::vector<std::size_t> bin_offset;    // n_features + 1: where the bins of a feature begin in the block
    std::vector<std::uint32_t> row_begin;   // n_rows + 1: where the codes of a row begin
    std::vector<std::uint16_t> codes;       // bin_offset + bin, ascending within a row
    std::vector<std::uint32_t> wide_codes;  // the same, used instead of codes if the block has more than 65536 bins
};

struct BinnedTable {
    std::size_t n_rows = 0;
    std::vector<BinnedFeature> features;
    std::vector<FeatureBlock> blocks;
};

// Thrown if `interrupted` returned true.
struct Interrupted : std::exception {};

struct BinningOptions {
    std::size_t max_bins;
    const std::uint8_t* is_category;  // per feature, or null if all are numbers; a category's values are its codes 0, 1, ...
    double min_level_weight;          // a level with less weight has no bin of its own
    int n_threads;
    std::function<bool()> interrupted;  // polled by the calling thread, if any
};

// Canonical row i is row rows[i] of X, with weight weights[i] > 0.
template <class T>
BinnedTable bin_features(const MatrixView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         const BinningOptions& options);
// The same for compressed sparse columns, whose absent entries are 0: all features are numbers.
template <class T>
BinnedTable bin_features(const SparseView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         const BinningOptions& options);

}  // namespace cgens
