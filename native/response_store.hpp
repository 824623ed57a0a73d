// The growing matrix of responses, H' in the paper: one row per training row, one column per weak learner.
//
// Row-major, because dual coordinate descent reads one training row at a time. Responses of +-1 are stored as int8 (an
// eighth of the memory traffic of doubles); the matrix is converted to a wider type when a column needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vector_ops.hpp"

namespace cgens {

class ResponseStore {
   public:
    explicit ResponseStore(std::size_t n_rows) : n_rows_(n_rows) {}

    // Appends a column of n_rows int8, float or double.
    template <class T>
    void append(const T* column);

    std::size_t n_columns() const { return n_columns_; }
    // The length of `weights` below: n_columns padded to whole lanes.
    std::size_t padded_columns() const { return padded(n_columns_); }

    // sum_j H(row, j) * weights[j]
    double dot(std::size_t row, const double* weights) const;
    // weights[j] += step * H(row, j)
    void add(double step, std::size_t row, double* weights) const;
    // The same for the rows first ... last - 1 and n vectors of weights, n x padded_columns:
    // out[i, t] = sum_j H(first + i, j) * weights[t, j]
    void dot_rows(std::size_t first, std::size_t last, const double* weights, std::size_t n, double* out) const;
    // weights[t, j] += sum_i steps[i, t] * H(first + i, j), row by row
    void add_rows(std::size_t first, std::size_t last, const double* steps, std::size_t n, double* weights) const;
    // out[j] = H(row, j), of length padded_columns
    void copy_row(std::size_t row, double* out) const;
    // Prefetches a row that will be read soon.
    void prefetch(std::size_t row) const;

   private:
    // Calls visit(i, rows, n_rows) with a few rows from i on, as doubles.
    template <class Visit>
    void visit_converted(std::size_t first, std::size_t last, Visit visit) const;
    // Copies everything to rows of `stride` entries of `width` bytes.
    void reshape(std::size_t width, std::size_t stride);
    std::byte* row_data(std::size_t row) const { return data_.get() + row * stride_ * width_; }

    std::size_t n_rows_, n_columns_ = 0, stride_ = 0;
    std::size_t width_ = sizeof(std::int8_t);  // of an entry: 1 byte for int8, 4 for float, 8 for double
    std::unique_ptr<std::byte[]> data_;
};

}  // namespace cgens
