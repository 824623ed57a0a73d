// The growing matrix of responses, H' in the paper: one row a training row, one column a weak learner.
//
// Row-major, because dual coordinate descent reads one training row at a time. Responses of +-1 stay int8 (an eighth
// of the traffic of doubles); the store widens itself when a column arrives that needs more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vector_ops.hpp"

namespace cgens {

class ResponseStore {
   public:
    explicit ResponseStore(std::size_t n_rows);

    void append(const std::int8_t* column);
    void append(const float* column);
    void append(const double* column);

    std::size_t n_columns() const { return n_columns_; }
    // Length that `weights` below must have: n_columns padded to whole lanes.
    std::size_t padded_columns() const { return padded(n_columns_); }

    // sum_j H(row, j) * weights[j]
    double dot(std::size_t row, const double* weights) const;
    // weights[j] += step * H(row, j)
    void add(double step, std::size_t row, double* weights) const;
    // out[j] = H(row, j), padded_columns of them
    void copy_row(std::size_t row, double* out) const;
    // Ask the processor for a row that will be read soon.
    void prefetch(std::size_t row) const;

   private:
    enum class Kind { kInt8, kFloat, kDouble };

    template <class T>
    void append_as(const T* column, Kind kind);
    template <class T>
    void write_column(const T* column);
    // Moves everything to rows of `stride` entries of `kind`.
    void reshape(Kind kind, std::size_t stride);
    std::size_t width() const;
    const std::byte* row_data(std::size_t row) const { return data_.get() + row * stride_ * width(); }

    std::size_t n_rows_;
    std::size_t n_columns_ = 0;
    std::size_t stride_ = 0;
    Kind kind_ = Kind::kInt8;
    std::unique_ptr<std::byte[]> data_;
};

}  // namespace cgens
