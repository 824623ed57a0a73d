// Box-constrained dual coordinate descent with a free bias: the solver of masters whose dual is a box.
//
// Given rows h_i of responses, a linear term q, a box lo <= 0 <= hi and a total e >= 0, it finds the signed duals r that
// solve
//
//     max_r  D(r) = q'r - 1/2 |sum_i r_i h_i|^2      s.t.  lo_i <= r_i <= hi_i,  sum_i r_i = e,          (dual)
//
// whose primal, with w = sum_i r_i h_i (EQ:KKT1) and f_i = w.h_i, is
//
//     min_{w, b}  1/2 |w|^2 + e b + sum_i max(lo_i (q_i - f_i - b), hi_i (q_i - f_i - b)).               (primal)
//
// For the hinge loss (EQ:SVM1, EQ:SVM_D1) q_i = y_i, e = 0 and the box is [0, C_i] if y_i = 1 and [-C_i, 0] if
// y_i = -1, so that r_i = y_i alpha_i. Any other loss whose dual has this form only needs another q, box and total. A
// loss with several kinks has several duals per row, which share its responses: dual i belongs to row i modulo n_rows.
//
// The equality constraint is handled by the method of multipliers (Hestenes 1969; Powell 1969): every coordinate step
// uses b = centre + rho * (sum(r) - e), and the centre moves to b after each sweep, which drives sum(r) to e. What
// remains is repaired before anything is reported: reported duals are feasible, and primal - dual is a true duality gap.
//
// Coordinate steps follow Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008.
// Every solve starts from the last one: a new column leaves the duals feasible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "response_store.hpp"

namespace cgens {

enum class SolveStatus { kConverged, kMaxSweeps, kInterrupted };

struct SolveReport {
    double primal;  // at the best bias for the current weights
    double dual;    // at feasible duals, hence dual <= optimum <= primal
    std::int64_t n_sweeps;
    SolveStatus status;
};

class DualCd {
   public:
    // `linear`, `lower` and `upper` hold the values of all rows, then those of their second duals, and so on. Solvers
    // that share a `store` are siblings: problems over the same columns. Each column must be added to all of them; the
    // first to receive it appends it to the store.
    DualCd(std::vector<double> linear, std::vector<double> lower, std::vector<double> upper, int n_threads,
           std::shared_ptr<ResponseStore> store = nullptr, std::size_t n_duals_per_row = 1, double total = 0.0);

    // Adds a column of n_rows responses (int8, float or double), with weight sum_i r_i h_i.
    template <class T>
    void add_column(const T* column);

    // What a solve continues from: a fit that is resumed gets it back.
    struct State {
        std::vector<double> duals, fits, weights;  // weights: n_columns
        double bias, bias_radius, centre;
        bool unsolved;
        std::int64_t steps_since_refresh;
        std::uint64_t random_state;
    };
    State state() const;
    // Continues from a state of the same problem, whose columns have been added.
    void set_state(const State& state);

    // Multiplies lo, hi, e and the duals by a factor > 0: a warm start for another C.
    void scale_box(double factor);

    // Descends until primal - dual <= tol * |primal|. Calls `interrupted` after a sweep if 50 ms have passed; if it
    // returns true, the duals are made feasible and reported as they are.
    SolveReport solve(double tol, std::int64_t max_sweeps, const std::function<bool()>& interrupted);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_duals() const { return linear_.size(); }
    std::size_t n_columns() const { return n_columns_; }
    std::shared_ptr<ResponseStore> store() const { return store_; }
    const std::vector<double>& duals() const { return duals_; }
    const double* weights() const { return weights_.data(); }  // of length n_columns
    double bias() const { return bias_; }

   private:
    std::size_t row_of(std::size_t dual) const { return dual < n_rows_ ? dual : dual % n_rows_; }
    void start_duals();
    void set_dual(std::size_t i, double value);
    void cancel_opposites();
    void balance_duals();
    void balance_to_total();
    void clear_vanishing_weights();
    void refresh_weights();
    void refresh_fits();
    void choose_bias();
    bool choose_bias_within(double radius);
    void evaluate(SolveReport& report) const;
    void select_active();
    double sweep_active(double rho, double& sum, bool may_shrink);
    void descend(SolveReport& report, const std::function<void()>& poll);
    bool polish();
    bool move_inside(std::vector<std::size_t>& inside, const std::vector<double>& step);
    double newton_cost(std::size_t n_inside) const;
    void shuffle_active();

    std::vector<double> linear_, lower_, upper_;  // q, lo, hi
    std::size_t n_rows_;
    double total_;  // e
    int n_threads_;
    std::shared_ptr<ResponseStore> store_;
    std::size_t n_columns_ = 0;
    std::vector<double> duals_;          // r
    std::vector<double> fits_;           // f_i = w.h_i of each dual, without the bias
    std::vector<double> squared_norms_;  // |h_i|^2 of each dual
    std::vector<double> weights_;        // w, padded with zeros to whole lanes
    double bias_ = 0.0;                  // b, the best one for the current weights
    double bias_radius_ = 1.0;           // of the window in which the next one is searched for; q is of size 1
    double centre_ = 0.0;                // of the method of multipliers
    bool unsolved_ = false;              // whether a column was added, or the box scaled, since the last sweep
    double work_ = 0.0;                  // multiplications since the last Newton step
    double total_width_ = 0.0;           // sum of hi - lo
    std::vector<std::uint32_t> active_;
    std::size_t n_inside_ = 0;  // duals strictly inside their box when the active rows were selected
    struct Breakpoint {
        double at, rise;
    };
    std::vector<Breakpoint> breakpoints_;
    std::uint64_t random_state_ = 0x9E3779B97F4A7C15u;
    std::int64_t steps_since_refresh_ = 0;
};

}  // namespace cgens
