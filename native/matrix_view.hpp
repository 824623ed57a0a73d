// A read-only, strided view of a matrix: a NumPy array, without a copy.
#pragma once

#include <cstddef>

namespace cgens {

template <class T>
struct MatrixView {
    const T* data;
    std::size_t n_rows, n_columns;
    std::ptrdiff_t row_stride, column_stride;  // in entries

    const T& operator()(std::size_t row, std::size_t column) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride +
                    static_cast<std::ptrdiff_t>(column) * column_stride];
    }
};

}  // namespace cgens
