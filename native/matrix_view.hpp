// Read-only views of matrices: NumPy arrays and compressed sparse columns, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>

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

// Compressed columns: column j has the values data[k] in the rows indices[k] for k = begin[j] ... begin[j + 1] - 1,
// ascending, and 0 elsewhere. Or compressed rows, with rows and columns exchanged.
template <class T>
struct SparseView {
    const T* data;
    const std::int64_t* begin;
    const std::int32_t* indices;
    std::size_t n_rows, n_columns;
};

}  // namespace cgens
