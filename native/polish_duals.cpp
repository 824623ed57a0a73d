#include "polish_duals.hpp"

#include <cmath>
#include <numeric>

#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr double kRidge = 1e-9;  // times the mean diagonal

// Lower triangle of H H' + ridge, then its Cholesky factor in place; rows are padded for the vector kernels.
class Factor {
   public:
    explicit Factor(const InsideRows& rows)
        : n_(rows.size()), stride_((n_ + kLanes - 1) / kLanes * kLanes), lower_(n_ * stride_, 0.0) {
        const VectorOps& ops = vector_ops();
        const double* H = rows.responses.data();
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                at(i, j) = ops.dot_f64(H + i * rows.stride, H + j * rows.stride, rows.stride);
        double trace = 0.0;
        for (std::size_t i = 0; i < n_; ++i) trace += at(i, i);
        for (std::size_t i = 0; i < n_; ++i) at(i, i) += kRidge * trace / static_cast<double>(n_);
    }

    bool factorise() {
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = 0; j < i; ++j) at(i, j) = (at(i, j) - dot_rows(i, j, j)) / at(j, j);
            const double pivot = at(i, i) - dot_rows(i, i, i);
            if (!(pivot > 0)) return false;
            at(i, i) = std::sqrt(pivot);
        }
        return true;
    }

    std::vector<double> solve(std::vector<double> x) const {
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = 0; j < i; ++j) x[i] -= at(i, j) * x[j];
            x[i] /= at(i, i);
        }
        for (std::size_t i = n_; i-- > 0;) {
            x[i] /= at(i, i);
            for (std::size_t j = 0; j < i; ++j) x[j] -= at(i, j) * x[i];
        }
        return x;
    }

   private:
    double& at(std::size_t i, std::size_t j) { return lower_[i * stride_ + j]; }
    double at(std::size_t i, std::size_t j) const { return lower_[i * stride_ + j]; }

    // sum over k < n of L(i, k) L(j, k)
    double dot_rows(std::size_t i, std::size_t j, std::size_t n) const {
        const double* a = lower_.data() + i * stride_;
        const double* b = lower_.data() + j * stride_;
        const std::size_t whole = n / kLanes * kLanes;
        double sum = vector_ops().dot_f64(a, b, whole);
        for (std::size_t k = whole; k < n; ++k) sum += a[k] * b[k];
        return sum;
    }

    std::size_t n_, stride_;
    std::vector<double> lower_;
};

}  // namespace

std::vector<double> newton_step(const InsideRows& rows, const std::vector<double>& gradient) {
    Factor factor(rows);
    if (!factor.factorise()) return {};
    std::vector<double> negative(gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) negative[i] = -gradient[i];
    std::vector<double> step = factor.solve(std::move(negative));
    const std::vector<double> ones = factor.solve(std::vector<double>(gradient.size(), 1.0));
    const double shift = std::accumulate(step.begin(), step.end(), 0.0) / std::accumulate(ones.begin(), ones.end(), 0.0);
    for (std::size_t i = 0; i < step.size(); ++i) step[i] -= shift * ones[i];
    return step;
}

}  // namespace cgens
