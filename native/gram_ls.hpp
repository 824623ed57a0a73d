// Regularized least squares with a free bias over a growing set of columns (EQ:SLSVM1), for several outputs at once:
//
//     min_{W, b}  1/2 |W|^2 + C/2 sum_i s_i |L_i - W'h_i - b|^2,      duals  U_i = C s_i (L_i - W'h_i - b).
//
// Eliminating b centres the columns and leaves A W = C Hc' D Lc with A = I + C Hc' D Hc, J x J, and D = diag(s). A new
// column adds a row and a column to A and a row to its Cholesky factor: O(m J) for the products, O(J^2) for the row.
// There is no m x m matrix (the paper keeps the inverse of S = HH' + D^-1/C). Columns of +-1 are stored as bits; if all
// weights are small multiples of one number (equal rows that were merged), their products are counts, and exact.
//
// With z = A^-1 C Hc' D h, a new column h is a rank-one change:
//
//     p = P h = C s (hc - Hc z),   k = h'U / (1 + h'p),   U <- U - p k',   W <- (W - z k', k'),
//
// where P is S^-1 with the bias eliminated, S^-1 - S^-1 1 1' S^-1 / (1' S^-1 1), so that P1 = 0, and 1 + h'p is the
// squared pivot.
#pragma once

#include <cstddef>
#include <vector>

#include "column_store.hpp"
#include "gram_factor.hpp"
#include "large_vector.hpp"
#include "row_multiples.hpp"

namespace cgens {

struct LsReport {
    double primal, dual;  // of weights() and duals(weights()): primal >= dual up to rounding
    int n_refinements;
};

class GramLs {
   public:
    // target: n_rows x n_outputs, row-major; weights: C s_i > 0.
    GramLs(const double* target, std::vector<double> weights, std::size_t n_outputs, int n_threads);

    template <class T>
    void add_column(const T* column);

    // All that was computed from the columns: a fit that is resumed gets it back. Products and factor are the rows of
    // lower triangles without their diagonals.
    struct State {
        std::vector<double> products, with_target, with_itself, means;
        std::vector<double> factor, pivots, projected, weights, last_coefficients;
        double primal, primal_scale;
    };
    State state() const;
    // Appends a column without computing anything: it counts only after `set_state`, which must follow the last one.
    template <class T>
    void append_column(const T* column) {
        store_.append(column, store_.pack(column));
    }
    std::size_t n_appended() const { return store_.n_columns(); }
    void set_state(State state);

    // Solves with the factor, evaluates both objectives on the data, and refines the weights by the residual of W = H'U
    // as long as that narrows the gap: by half, once the relative gap is at most tol.
    LsReport solve(double tol);

    std::size_t n_rows() const { return scale_.size(); }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t n_columns() const { return products_.size(); }
    const std::vector<double>& weights() const { return weights_; }  // n_columns x n_outputs
    double primal() const { return primal_; }                       // of weights(), updated by add_column

    // b of the model with these weights (n x n_outputs) of the first n columns.
    std::vector<double> intercept(const std::vector<double>& weights) const;
    // U of the same model, n_rows x n_outputs; sums to 0 over the rows.
    LargeVector<double> duals(const std::vector<double>& weights) const;

    // The change by column k (counted from 0): z, the weights k' of the new column, 1 + h'p, and p.
    std::vector<double> coefficients(std::size_t k) const;
    std::vector<double> output(std::size_t k) const;
    double denominator(std::size_t k) const;
    LargeVector<double> direction(std::size_t k) const;
    // For each n in `stages` (ascending), the weights of the first n columns for C times `factor`: from the stored
    // products, without reading the rows.
    std::vector<std::vector<double>> resolve(double factor, const std::vector<std::size_t>& stages) const;
    // g'Pg of n columns g, `stride` apart, with P of the first n_columns columns.
    template <class T>
    std::vector<double> quadratic(const T* columns, std::size_t n, std::ptrdiff_t stride, std::size_t n_columns) const;

    // What smooth losses need, for which A is the majorizer of a Hessian: A^-1 right (n_columns x n_outputs), the
    // decisions Hc weights (n_rows x n_outputs), and the prices Hc' values of values n_rows x n_outputs.
    std::vector<double> solve_factor(const std::vector<double>& right) const;
    LargeVector<double> decisions(const std::vector<double>& weights) const;
    std::vector<double> prices(const double* values) const;
    // Hc of n rows, row-major.
    std::vector<double> centred_rows(const std::int64_t* rows, std::size_t n) const;

   private:
    template <class T>
    std::vector<GramProducts> multiply(const T* columns, std::size_t n, std::ptrdiff_t stride) const;
    GramProducts count(const std::vector<std::uint64_t>& packed) const;
    template <class Add>
    std::vector<double> sum_blocks(std::size_t block, std::size_t width, Add add) const;
    double product_work(std::size_t n) const;
    std::size_t large_block() const;
    void subtract_fit(const std::vector<double>& coefficients, double* out, std::size_t stride) const;
    double evaluate(std::vector<double>& residual, double& dual) const;

    std::size_t n_outputs_;
    int n_threads_;
    std::vector<double> scale_;        // C s_i
    double total_ = 0.0;               // their sum
    bool zero_target_ = true;
    RowMultiples multiples_;           // for products of columns of +-1
    std::vector<double> target_mean_;  // n_outputs
    LargeVector<double> target_;       // centred, n_rows x n_outputs; empty if it is 0
    ColumnStore store_;
    std::vector<GramProducts> products_;  // of each column, for other values of C
    GramFactor factor_;
    std::vector<double> weights_;            // n_columns x n_outputs
    std::vector<double> last_coefficients_;  // z of the newest column, used in every round
    double primal_ = 0.0, primal_scale_ = 0.0;
};

}  // namespace cgens
