#include "gram_ls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr std::size_t kBlock = 512;  // rows that are added up together, whatever the number of threads
constexpr int kMostRefinements = 100;
constexpr double kClosed = 1e-12;  // a relative gap that is nothing but rounding

}  // namespace

GramLs::GramLs(const double* target, std::vector<double> weights, std::size_t n_outputs, int n_threads)
    : n_outputs_(n_outputs),
      n_threads_(n_threads),
      scale_(std::move(weights)),
      target_mean_(n_outputs, 0.0),
      target_(target, target + scale_.size() * n_outputs),
      store_(scale_.size()) {
    // Measured from the first row's target, a constant one is 0 everywhere, not the rounding of its mean.
    const std::vector<double> first(target_.begin(), target_.begin() + static_cast<std::ptrdiff_t>(n_outputs_));
    for (std::size_t i = 0; i < n_rows(); ++i) {
        total_ += scale_[i];
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            target_[i * n_outputs_ + t] -= first[t];
            target_mean_[t] += scale_[i] * target_[i * n_outputs_ + t];
        }
    }
    for (double& mean : target_mean_) mean /= total_;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            double& value = target_[i * n_outputs_ + t];
            value -= target_mean_[t];
            primal_ += 0.5 * scale_[i] * value * value;
        }
    }
    for (std::size_t t = 0; t < n_outputs_; ++t) target_mean_[t] += first[t];
    primal_scale_ = primal_;
}

// Calls visit(block, first, last) for fixed blocks of rows.
template <class Visit>
void GramLs::visit_blocks(std::size_t size, double work, Visit visit) const {
    const auto n_blocks = static_cast<std::ptrdiff_t>((n_rows() + size - 1) / size);
#pragma omp parallel for schedule(static) num_threads(usable_threads(n_threads_, work))
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
        const std::size_t block = static_cast<std::size_t>(b), first = block * size;
        visit(block, first, std::min(first + size, n_rows()));
    }
}

// C hc'S times the centred columns, the target and itself. The centred column has weighted sum 0 but for rounding:
// centring the others is a correction by that sum.
template <class T>
GramLs::Products GramLs::multiply(const T* column) const {
    const std::size_t n_wide = store_.padded_columns(), width = n_wide + n_outputs_ + 2;
    double sum = 0.0;
    for (std::size_t i = 0; i < n_rows(); ++i) sum += scale_[i] * static_cast<double>(column[i]);
    const double mean = sum / total_;
    std::vector<double> parts((n_rows() + kBlock - 1) / kBlock * width, 0.0);
    const double work = 0.3 * static_cast<double>(n_rows() * width);
    visit_blocks(kBlock, work, [&](std::size_t b, std::size_t first, std::size_t last) {
        double* own = parts.data() + b * width;
        for (std::size_t i = first; i < last; ++i) {
            const double centred = static_cast<double>(column[i]) - mean, v = scale_[i] * centred;
            if (n_wide > 0) store_.add(v, i, own);
            for (std::size_t t = 0; t < n_outputs_; ++t) own[n_wide + t] += v * target_[i * n_outputs_ + t];
            own[width - 2] += v * centred;
            own[width - 1] += v;
        }
    });
    for (std::size_t at = width; at < parts.size(); at += width)
        for (std::size_t k = 0; k < width; ++k) parts[k] += parts[at + k];
    for (std::size_t j = 0; j < n_columns(); ++j) parts[j] -= parts[width - 1] * means_[j];
    const auto begin = parts.begin(), columns_end = begin + static_cast<std::ptrdiff_t>(n_columns());
    const auto target_begin = begin + static_cast<std::ptrdiff_t>(n_wide);
    return {{begin, columns_end},
            {target_begin, target_begin + static_cast<std::ptrdiff_t>(n_outputs_)},
            parts[width - 2],
            mean};
}

void GramLs::Factor::solve_lower(std::vector<double>& x) const {
    const std::size_t n = x.size();
    std::vector<double> solved(padded(n), 0.0);
    for (std::size_t j = 0; j < n; ++j)
        solved[j] = (x[j] - vector_ops().dot_f64(row(j), solved.data(), padded(j))) / pivots[j];
    solved.resize(n);
    x = std::move(solved);
}

void GramLs::Factor::solve_upper(std::vector<double>& x) const {
    const std::size_t n = x.size();
    x.resize(padded(n), 0.0);
    for (std::size_t j = n; j-- > 0;) {
        x[j] /= pivots[j];
        const double value = x[j];
        vector_ops().add_f64(-value, row(j), x.data(), padded(j));  // entries from j on are 0 in the factor's row
    }
    x.resize(n);
}

std::vector<double> GramLs::Factor::append(std::vector<double> with_columns, const double* with_target,
                                           std::size_t n_outputs, double with_itself, double uncentred) {
    const std::size_t n = pivots.size();
    std::vector<double> row = std::move(with_columns);
    solve_lower(row);
    double square = 0.0;
    for (const double value : row) square += value * value;
    // At least 1 in exact arithmetic. Where rounding hides that (a column that the others span, with a large C) the
    // rounding itself is the pivot: that is a little more regularisation for a direction that is not there. Rounding is
    // relative to the column before it was centred.
    const double noise = 4 * kEps * static_cast<double>(n + 1) * (1.0 + uncentred);
    const double pivot = std::sqrt(std::max({1.0 + with_itself - square, 1.0, noise}));
    row_begin.push_back(rows.size());
    rows.resize(rows.size() + padded(n), 0.0);
    std::copy(row.begin(), row.end(), rows.begin() + static_cast<std::ptrdiff_t>(row_begin.back()));
    pivots.push_back(pivot);
    projected.resize((n + 1) * n_outputs);
    double* own = projected.data() + n * n_outputs;
    std::copy(with_target, with_target + n_outputs, own);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t t = 0; t < n_outputs; ++t) own[t] -= row[j] * projected[j * n_outputs + t];
    for (std::size_t t = 0; t < n_outputs; ++t) own[t] /= pivot;
    return row;
}

template <class T>
void GramLs::add_column(const T* column) {
    const std::size_t n = n_columns();
    const Products products = multiply(column);
    std::vector<double> z =
        factor_.append(products.with_columns, products.with_target.data(), n_outputs_, products.with_itself,
                       products.with_itself + total_ * products.mean * products.mean);
    means_.push_back(products.mean);
    products_.insert(products_.end(), products.with_columns.begin(), products.with_columns.end());
    target_products_.insert(target_products_.end(), products.with_target.begin(), products.with_target.end());
    own_products_.push_back(products.with_itself);
    store_.append(column);
    for (std::size_t t = 0; t < n_outputs_; ++t) {
        const double value = factor_.projected[n * n_outputs_ + t];
        primal_ -= 0.5 * value * value;
    }

    factor_.solve_upper(z);
    const std::vector<double> own = output(n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t) weights_[j * n_outputs_ + t] -= z[j] * own[t];
    last_coefficients_ = std::move(z);
    weights_.insert(weights_.end(), own.begin(), own.end());
    // What is left of the objective is a difference of large numbers once the fit is nearly perfect: then measure it.
    if (primal_ < 1e-6 * primal_scale_) {
        std::vector<double> residual;
        double dual;
        primal_ = primal_scale_ = evaluate(residual, dual);
    }
}

template void GramLs::add_column(const std::int8_t*);
template void GramLs::add_column(const float*);
template void GramLs::add_column(const double*);
template double GramLs::quadratic(const std::int8_t*, std::size_t) const;
template double GramLs::quadratic(const float*, std::size_t) const;
template double GramLs::quadratic(const double*, std::size_t) const;

std::vector<double> GramLs::coefficients(std::size_t k) const {
    if (k + 1 == n_columns()) return last_coefficients_;
    std::vector<double> z(factor_.row(k), factor_.row(k) + k);
    factor_.solve_upper(z);
    return z;
}

std::vector<double> GramLs::output(std::size_t k) const {
    std::vector<double> own(n_outputs_);
    for (std::size_t t = 0; t < n_outputs_; ++t) own[t] = factor_.projected[k * n_outputs_ + t] / factor_.pivots[k];
    return own;
}

double GramLs::denominator(std::size_t k) const { return factor_.pivots[k] * factor_.pivots[k]; }

// out[i] <- C s_i (out[i] - Hc_i . coefficients), for every stride-th entry of out.
void GramLs::subtract_fit(const std::vector<double>& coefficients, double* out, std::size_t stride) const {
    double shift = 0.0;
    for (std::size_t j = 0; j < n_columns(); ++j) shift += means_[j] * coefficients[j];
    const double work = 0.25 * static_cast<double>(n_rows() * coefficients.size());
    visit_blocks(kBlock, work, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const double fit = coefficients.empty() ? 0.0 : store_.dot(i, coefficients.data()) - shift;
            out[i * stride] = scale_[i] * (out[i * stride] - fit);
        }
    });
}

std::vector<double> GramLs::direction(std::size_t k) const {
    std::vector<double> q = coefficients(k);
    q.resize(store_.padded_columns(), 0.0);
    q[k] = -1.0;
    std::vector<double> p(n_rows(), 0.0);
    subtract_fit(q, p.data(), 1);
    return p;
}

std::vector<double> GramLs::intercept(const std::vector<double>& weights) const {
    std::vector<double> b = target_mean_;
    for (std::size_t j = 0; j * n_outputs_ < weights.size(); ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t) b[t] -= means_[j] * weights[j * n_outputs_ + t];
    return b;
}

std::vector<double> GramLs::duals(const std::vector<double>& weights) const {
    std::vector<double> u = target_;
    std::vector<double> own(store_.padded_columns());
    for (std::size_t t = 0; t < n_outputs_; ++t) {
        std::fill(own.begin(), own.end(), 0.0);
        for (std::size_t j = 0; j * n_outputs_ < weights.size(); ++j) own[j] = weights[j * n_outputs_ + t];
        subtract_fit(own, u.data() + t, n_outputs_);
        double sum = 0.0;
        for (std::size_t i = 0; i < n_rows(); ++i) sum += u[i * n_outputs_ + t];
        for (std::size_t i = 0; i < n_rows(); ++i) u[i * n_outputs_ + t] -= scale_[i] / total_ * sum;
    }
    return u;
}

std::vector<std::vector<double>> GramLs::resolve(double factor, const std::vector<std::size_t>& stages) const {
    Factor scaled;
    std::vector<std::vector<double>> solutions;
    std::vector<double> target(n_outputs_);
    for (const std::size_t stage : stages) {
        for (std::size_t j = scaled.pivots.size(); j < stage; ++j) {
            std::vector<double> row(products(j), products(j) + j);
            for (double& value : row) value *= factor;
            for (std::size_t t = 0; t < n_outputs_; ++t) target[t] = factor * target_products_[j * n_outputs_ + t];
            const double own = factor * own_products_[j];
            scaled.append(std::move(row), target.data(), n_outputs_, own, own + factor * total_ * means_[j] * means_[j]);
        }
        std::vector<double> weights(stage * n_outputs_), right(stage);
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            for (std::size_t j = 0; j < stage; ++j) right[j] = scaled.projected[j * n_outputs_ + t];
            scaled.solve_upper(right);
            for (std::size_t j = 0; j < stage; ++j) weights[j * n_outputs_ + t] = right[j];
        }
        solutions.push_back(std::move(weights));
    }
    return solutions;
}

template <class T>
double GramLs::quadratic(const T* column, std::size_t n_columns) const {
    Products products = multiply(column);
    products.with_columns.resize(n_columns);
    factor_.solve_lower(products.with_columns);
    double square = 0.0;
    for (const double value : products.with_columns) square += value * value;
    return std::max(products.with_itself - square, 0.0);
}

// The objective of weights_, that of its duals, and the residual H'U - W of the weights' own equation (EQ:KKT2).
double GramLs::evaluate(std::vector<double>& residual, double& dual) const {
    const std::vector<double> u = duals(weights_);
    const std::size_t n_wide = store_.padded_columns(), width = n_outputs_ * n_wide;
    // At most 64 blocks, for each has sums as large as all weights.
    const std::size_t size = std::max(kBlock, (n_rows() + 63) / 64);
    std::vector<double> parts((n_rows() + size - 1) / size * (width + 2), 0.0);
    const double work = 0.3 * static_cast<double>(n_rows() * width);
    visit_blocks(size, work, [&](std::size_t b, std::size_t first, std::size_t last) {
        double* own = parts.data() + b * (width + 2);
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t t = 0; t < n_outputs_; ++t) {
                const double value = u[i * n_outputs_ + t];
                if (n_wide > 0) store_.add(value, i, own + t * n_wide);
                own[width] += value * (value / scale_[i]);
                own[width + 1] += value * target_[i * n_outputs_ + t];
            }
        }
    });
    for (std::size_t at = width + 2; at < parts.size(); at += width + 2)
        for (std::size_t k = 0; k < width + 2; ++k) parts[k] += parts[at + k];
    double square = 0.0, dual_square = 0.0;
    residual.resize(weights_.size());
    for (std::size_t j = 0; j < n_columns(); ++j) {
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            const double weight = weights_[j * n_outputs_ + t], priced = parts[t * n_wide + j];
            residual[j * n_outputs_ + t] = priced - weight;
            square += weight * weight;
            dual_square += priced * priced;
        }
    }
    dual = parts[width + 1] - 0.5 * (dual_square + parts[width]);
    return 0.5 * (square + parts[width]);
}

LsReport GramLs::solve(double tol) {
    std::vector<double> right(n_columns());
    const auto add_solution = [&](const std::vector<double>& rows, bool lower) {
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            for (std::size_t j = 0; j < n_columns(); ++j) right[j] = rows[j * n_outputs_ + t];
            if (lower) factor_.solve_lower(right);
            factor_.solve_upper(right);
            for (std::size_t j = 0; j < n_columns(); ++j) weights_[j * n_outputs_ + t] += right[j];
        }
    };
    std::fill(weights_.begin(), weights_.end(), 0.0);
    add_solution(factor_.projected, false);
    std::vector<double> residual;
    LsReport report{0.0, 0.0, 0};
    report.primal = evaluate(residual, report.dual);
    for (bool helps = true; helps && report.n_refinements < kMostRefinements;) {
        const double gap = report.primal - report.dual;
        if (gap <= kClosed * report.primal) break;
        const std::vector<double> before = weights_;
        add_solution(residual, true);
        LsReport refined{0.0, 0.0, report.n_refinements + 1};
        refined.primal = evaluate(residual, refined.dual);
        const double refined_gap = refined.primal - refined.dual;
        helps = refined_gap < (gap > tol * report.primal ? 0.99 : 0.5) * gap;
        if (refined_gap < gap) {
            report = refined;
        } else {
            weights_ = before;
        }
    }
    primal_ = primal_scale_ = report.primal;
    return report;
}

}  // namespace cgens
