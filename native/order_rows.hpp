// A canonical order of the training rows, with identical rows merged.
//
// Hinge duals are not unique: another order of the rows leads coordinate descent to another vertex, and so to other
// columns. Sorting the rows by what they contain makes a fit independent of the order in which they came, and merging
// identical (x, target) rows into one of their summed weight makes weights and repetition the same thing.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

struct RowOrder {
    std::vector<std::int64_t> rows;      // of each canonical row: a row of X that has its content
    std::vector<double> weights;         // of each canonical row: summed weight, > 0
    std::vector<std::int64_t> position;  // of each row of X: its canonical row, or -1 where its weight is 0
};

template <class T>
RowOrder order_rows(const MatrixView<T>& X, const MatrixView<double>& target, const double* weights, int n_threads);

}  // namespace cgens
