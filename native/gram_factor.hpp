// The Cholesky factor of A = I + C Hc' D Hc (see gram_ls.hpp), which grows by a row with each column, and the target
// transformed by its inverse.
#pragma once

#include <cstddef>
#include <vector>

namespace cgens {

// C hc'D times the columns of the model, the target, and the column itself, for a column of mean `mean`.
struct GramProducts {
    std::vector<double> with_columns, with_target;
    double with_itself, mean;
};

class GramFactor {
   public:
    GramFactor() = default;
    // From what `triangle`, `pivots` and `projected` returned.
    GramFactor(const std::vector<double>& triangle, std::vector<double> pivots, std::vector<double> projected);

    // Appends the row of a new column, given its products, and returns it. `total` is the sum of C s_i.
    std::vector<double> append(GramProducts products, double total);
    // x <- factor^-1 x and x <- factor^-T x, with the first x.size() rows.
    void solve_lower(std::vector<double>& x) const;
    void solve_upper(std::vector<double>& x) const;
    // weights += factor^-T right, or A^-1 right if `both`, of the first n rows; weights are n x n_outputs.
    void add_solution(const std::vector<double>& right, std::size_t n_outputs, bool both,
                      std::vector<double>& weights) const;

    std::size_t n_columns() const { return pivots_.size(); }
    const double* row(std::size_t j) const { return rows_.data() + row_begin_[j]; }  // its first j entries
    std::vector<double> triangle() const;                                            // all rows, one after the other
    const std::vector<double>& pivots() const { return pivots_; }                    // the diagonal
    const std::vector<double>& projected() const { return projected_; }  // factor^-1 C Hc' D Lc, n_columns x n_outputs

   private:
    void append_row(const std::vector<double>& row);

    std::vector<std::size_t> row_begin_;  // rows are padded to whole lanes
    std::vector<double> rows_;            // without the diagonal
    std::vector<double> pivots_, projected_;
};

}  // namespace cgens
