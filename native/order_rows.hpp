// A canonical order of the training rows, with identical rows merged.
//
// Hinge duals are not unique: in another order of the rows, coordinate descent finds another vertex, and hence other
// columns. Sorting the rows by content makes a fit independent of their order, and merging identical (x, target) rows
// into one with the sum of their weights makes an integer weight equivalent to repeating the row.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

struct RowOrder {
    std::vector<std::int64_t> rows;      // of each canonical row: a row of X with its content
    std::vector<double> weights;         // of each canonical row: the sum of weights, > 0
    std::vector<std::int64_t> position;  // of each row of X: its canonical row, or -1 if its weight is 0
};

// weights: one per row of X, finite and >= 0. X is a MatrixView, or a SparseView of compressed rows, for which `begin` and
// `indices` are those of rows and columns; both give the same order. A gap (NaN) equals another.
template <class Matrix>
RowOrder order_rows(const Matrix& X, const MatrixView<double>& target, const double* weights, int n_threads);

}  // namespace cgens
