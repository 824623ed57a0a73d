// The rows of a smooth loss of one output: decisions, duals and sums over them, in few passes.
//
// A row with the label y = +-1 and the weight c = C s has the scale y c. Its dual is -c l'(f) y; the sums are those that a
// solver needs after each step: the loss, the duals, their sizes, and the curvatures c l''(f). All passes are over fixed
// blocks of rows, so that the number of threads does not change a bit.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "large_vector.hpp"
#include "vector_ops.hpp"

namespace cgens {

enum class LossKind { kLogistic, kSmoothHinge };

struct LossSums {
    double loss, slack, duals, norm, curvature;
};

// sum_i c_i H(multiple |r_i| / c_i) with the entropy H of a probability and its complement: the dual value of logistic
// duals r, c = |scale|.
double sum_entropies(const double* duals, const double* scale, double multiple, std::size_t n_rows);

class LossRows {
   public:
    // scale: y c of each row. All decisions are 0.
    LossRows(LossKind kind, const double* scale, std::size_t n_rows, int n_threads);

    std::size_t n_rows() const { return n_rows_; }
    const double* decisions() const { return decisions_.data(); }
    const double* duals() const { return duals_.data(); }
    const LossSums& sums() const { return sums_; }

    // How far the hinge is smoothed; recomputes the duals.
    void set_width(double width);
    double width() const { return width_; }
    // f = decisions + shift.
    void set_decisions(const double* decisions, double shift);

    // sum_i r_i d_i at f + step d, with d = along + shift; `along` may be null.
    double slope(const double* along, double shift, double step) const;
    // f <- f + step d.
    void move(const double* along, double shift, double step);
    // sum_i r_i d_i and sum_i c l''(f_i) d_i^2 at f, with d = along.
    std::pair<double, double> slope_and_curvature(const double* along) const;
    // The duals of a smoothed hinge, with those of the sign that has the larger sum shrunk until all sum to 0: only those
    // between 0 and c if that suffices.
    LargeVector<double> balanced_duals() const;
    // The rows whose dual is neither 0 nor c, the only ones of a smoothed hinge with a curvature: at most `most` of them,
    // evenly among all; and how many there are.
    std::vector<std::int64_t> inside(std::size_t most, std::size_t& n_inside) const;

   private:
    std::size_t n_rows_;
    LossKind kind_;
    int n_threads_;
    double width_ = 1.0;
    LargeVector<double> scale_, decisions_, duals_;  // padded with zeros to whole lanes
    LossSums sums_{};
};

}  // namespace cgens
