// Bins of a training table.
//
// Numbers: a feature with at most `max_bins` distinct values gets one bin for each, so that every possible threshold is
// priced; a feature with more gets `max_bins` bins of about equal weight. Categories: one bin for each level of
// sufficient weight, and one for all others together. A missing value (NaN) is a gap; a feature with gaps has one more
// bin for them, the last. Bins are never empty. Of very many rows, the edges of a feature with many values are those of a
// sample of the rows (see sample_rows.hpp).
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "binned_table.hpp"
#include "matrix_view.hpp"

namespace cgens {

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
