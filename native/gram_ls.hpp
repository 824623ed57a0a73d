// Regularised least squares with a free bias over a growing set of columns (EQ:SLSVM1), for several outputs at once:
//
//     min_{W, b}  1/2 |W|^2 + C/2 sum_i s_i |L_i - W'h_i - b|^2,      duals  U_i = C s_i (L_i - W'h_i - b).
//
// Eliminating b centres the columns; what is left is A W = C Hc' S Lc with A = I + C Hc' S Hc, J x J. A new column
// borders A, and its Cholesky factor grows by one row: O(m J) for the new products, O(J^2) for the row. No m x m matrix
// (the paper keeps S^-1), and the responses stay as narrow as they came.
//
// With z = A^-1 C Hc' S h the new column h changes everything by rank one:
//
//     p = P h = C s (hc - Hc z),   k = h'U / (1 + h'p),   U <- U - p k',   W <- (W - z k', k'),
//
// where P is the inverse of the paper's S, projected on the complement of the weights, and 1 + h'p the squared pivot.
#pragma once

#include <cstddef>
#include <vector>

#include "response_store.hpp"

namespace cgens {

struct LsReport {
    double primal, dual;  // of weights() and duals(weights()): primal >= dual but for rounding
    int n_refinements;
};

class GramLs {
   public:
    // target: n_rows x n_outputs, row-major; weights: C s_i > 0.
    GramLs(const double* target, std::vector<double> weights, std::size_t n_outputs, int n_threads);

    template <class T>
    void add_column(const T* column);

    // Solves with the factor, evaluates both objectives on the data, and refines the weights by the residual of their
    // own equation for as long as that helps and the gap is above tol.
    LsReport solve(double tol);

    std::size_t n_rows() const { return scale_.size(); }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t n_columns() const { return store_.n_columns(); }
    const std::vector<double>& weights() const { return weights_; }  // n_columns x n_outputs
    double primal() const { return primal_; }                       // of the weights, kept up to date by add_column

    // b of the first weights.size() / n_outputs columns with these weights.
    std::vector<double> intercept(const std::vector<double>& weights) const;
    // U of the same model, n_rows x n_outputs; sums to 0 over rows.
    std::vector<double> duals(const std::vector<double>& weights) const;

    // The k-th column's change (k from 0): z, the weights k of the new column, 1 + h'p, and p itself.
    std::vector<double> coefficients(std::size_t k) const;
    std::vector<double> output(std::size_t k) const;
    double denominator(std::size_t k) const;
    std::vector<double> direction(std::size_t k) const;
    // The weights of the first n_columns columns for C times `factor`, for each entry of `stages`, ascending: from the
    // products kept, without a look at the rows.
    std::vector<std::vector<double>> resolve(double factor, const std::vector<std::size_t>& stages) const;
    // g'Pg of any column, P of the first so many columns.
    template <class T>
    double quadratic(const T* column, std::size_t n_columns) const;

   private:
    struct Products {
        std::vector<double> with_columns, with_target;
        double with_itself;
        double mean;
    };
    template <class T>
    Products multiply(const T* column) const;
    template <class Visit>
    void visit_blocks(std::size_t size, double work, Visit visit) const;
    // A lower triangular matrix that grows by rows, and what it makes of the target.
    struct Factor {
        std::vector<std::size_t> row_begin;  // rows are padded to whole lanes
        std::vector<double> rows;            // without the diagonal
        std::vector<double> pivots;          // the diagonal
        std::vector<double> projected;       // factor^-1 C Hc' S Lc, n_columns x n_outputs

        const double* row(std::size_t j) const { return rows.data() + row_begin[j]; }
        // Borders A by a column's products (`uncentred` is its own before centring); returns the new row.
        std::vector<double> append(std::vector<double> with_columns, const double* with_target, std::size_t n_outputs,
                                   double with_itself, double uncentred);
        // x <- factor^-1 x and factor^-T x, for as many rows as x has.
        void solve_lower(std::vector<double>& x) const;
        void solve_upper(std::vector<double>& x) const;
    };
    const double* products(std::size_t j) const { return products_.data() + j * (j - 1) / 2; }
    void subtract_fit(const std::vector<double>& coefficients, double* out, std::size_t stride) const;
    double evaluate(std::vector<double>& residual, double& dual) const;

    std::size_t n_outputs_;
    int n_threads_;
    std::vector<double> scale_;        // C s_i
    double total_ = 0.0;               // their sum
    std::vector<double> target_mean_;  // n_outputs
    std::vector<double> target_;       // centred, n_rows x n_outputs
    ResponseStore store_;
    std::vector<double> means_;  // of the columns
    Factor factor_;
    // C hc'S times the columns before (packed by rows), the target, and itself: for other values of C.
    std::vector<double> products_, target_products_, own_products_;
    std::vector<double> weights_;            // n_columns x n_outputs
    std::vector<double> last_coefficients_;  // z of the newest column, which every round asks for
    double primal_ = 0.0, primal_scale_ = 0.0;
};

}  // namespace cgens
