// A growing matrix of columns of +-1, as bits: for each group of 64 rows, one word per column.
//
// A column takes m / 8 bytes. Products with a vector are sums over the set bits: sum_i v_i h_i = 2 sum_{h_i > 0} v_i -
// sum_i v_i; products of two columns are counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "large_vector.hpp"
#include "vector_ops.hpp"

namespace cgens {

constexpr std::size_t kGroup = 64;  // rows of a word

class SignColumns {
   public:
    explicit SignColumns(std::size_t n_rows) : n_rows_(n_rows) {}

    // One word for each group of rows; empty if a value is not +-1. Rows beyond the last one have 0.
    template <class T>
    static std::vector<std::uint64_t> pack(const T* column, std::size_t n_rows);
    void append(const std::vector<std::uint64_t>& packed);

    std::size_t n_columns() const { return n_columns_; }

    // As in ResponseStore; `first` is a multiple of kGroup.
    void dot_rows(std::size_t first, std::size_t last, const double* weights, std::size_t n, double* out) const;
    void add_rows(std::size_t first, std::size_t last, const double* steps, std::size_t n, double* weights) const;
    void copy_row(std::size_t row, double* out) const;
    void copy_column(std::size_t j, std::int8_t* out) const;
    // counts[j] += 2^power times the number of rows of `mask`, packed like a column, in which column j differs: of the
    // groups first ... last - 1.
    void count_differences(std::size_t first, std::size_t last, const std::vector<std::uint64_t>& packed,
                           const std::vector<std::uint64_t>& mask, unsigned power, std::uint64_t* counts) const;
    std::size_t n_groups() const { return (n_rows_ + kGroup - 1) / kGroup; }

   private:
    const std::uint64_t* group(std::size_t g) const { return words_.data() + g * stride_; }
    std::size_t padded_columns() const { return padded(n_columns_); }

    std::size_t n_rows_, n_columns_ = 0, stride_ = 0;
    LargeVector<std::uint64_t> words_;
};

}  // namespace cgens
