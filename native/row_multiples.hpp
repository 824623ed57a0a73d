// Weights of rows that are small whole multiples k_i of one number, such as the numbers of equal rows that were merged.
//
// Weighted sums over columns of +-1 are then counts: for each power of two, the rows whose k_i contains it.
#pragma once

#include <cstdint>
#include <vector>

#include "sign_columns.hpp"

namespace cgens {

class RowMultiples {
   public:
    explicit RowMultiples(const std::vector<double>& weights);

    bool exist() const { return !planes_.empty(); }  // if not, nothing else may be called
    double unit() const { return unit_; }            // weights are unit * k_i
    double total() const { return total_; }          // the sum of k_i

    // The sum of k_i over the rows of +1 of a column.
    std::int64_t count(const std::vector<std::uint64_t>& packed) const;
    // For each column, the sum of k_i over the rows in which it differs from `packed`.
    std::vector<std::uint64_t> count_differences(const SignColumns& columns, const std::vector<std::uint64_t>& packed,
                                                 int n_threads) const;

   private:
    double unit_, total_ = 0.0;
    std::vector<std::vector<std::uint64_t>> planes_;  // of each power of two: its rows, packed like a column
};

}  // namespace cgens
