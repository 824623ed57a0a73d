#include "polish_duals.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr double kRidge = 1e-9;  // relative to the mean diagonal

// The lower triangle of H H' + ridge, overwritten by its Cholesky factor; rows are padded for the vector kernels.
class Factor {
   public:
    Factor(const std::vector<double>& H, std::size_t n) : n_(n), stride_(padded(n)), lower_(n * stride_, 0.0) {
        const std::size_t width = H.size() / n;
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                at(i, j) = vector_ops().dot(H.data() + i * width, H.data() + j * width, width);
        double trace = 0.0;
        for (std::size_t i = 0; i < n_; ++i) trace += at(i, i);
        for (std::size_t i = 0; i < n_; ++i) at(i, i) += kRidge * trace / static_cast<double>(n_);
    }

    bool factorize() {
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
        double sum = vector_ops().dot(a, b, whole);
        for (std::size_t k = whole; k < n; ++k) sum += a[k] * b[k];
        return sum;
    }

    std::size_t n_, stride_;
    std::vector<double> lower_;
};

}  // namespace

std::vector<double> newton_step(const std::vector<double>& H, std::vector<double> gradient) {
    Factor factor(H, gradient.size());
    if (!factor.factorize()) return {};
    for (double& value : gradient) value = -value;
    const std::vector<double> ones = factor.solve(std::vector<double>(gradient.size(), 1.0));
    std::vector<double> step = factor.solve(std::move(gradient));
    const double sum = std::accumulate(step.begin(), step.end(), 0.0);
    const double shift = sum / std::accumulate(ones.begin(), ones.end(), 0.0);
    for (std::size_t i = 0; i < step.size(); ++i) step[i] -= shift * ones[i];
    return step;
}

}  // namespace cgens
