#include "gram_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

}  // namespace

GramFactor::GramFactor(const std::vector<double>& triangle, std::vector<double> pivots, std::vector<double> projected)
    : pivots_(std::move(pivots)), projected_(std::move(projected)) {
    auto at = triangle.begin();
    for (std::size_t j = 0; j < n_columns(); ++j) {
        const auto first = at;
        at += static_cast<std::ptrdiff_t>(j);
        append_row({first, at});
    }
}

std::vector<double> GramFactor::triangle() const {
    std::vector<double> out;
    for (std::size_t j = 0; j < n_columns(); ++j) out.insert(out.end(), row(j), row(j) + j);
    return out;
}

void GramFactor::append_row(const std::vector<double>& row) {
    row_begin_.push_back(rows_.size());
    rows_.insert(rows_.end(), row.begin(), row.end());
    rows_.resize(row_begin_.back() + padded(row.size()), 0.0);
}

void GramFactor::solve_lower(std::vector<double>& x) const {
    const std::size_t n = x.size();
    std::vector<double> solved(padded(n), 0.0);
    for (std::size_t j = 0; j < n; ++j)
        solved[j] = (x[j] - vector_ops().dot_f64(row(j), solved.data(), padded(j))) / pivots_[j];
    solved.resize(n);
    x = std::move(solved);
}

void GramFactor::solve_upper(std::vector<double>& x) const {
    const std::size_t n = x.size();
    x.resize(padded(n), 0.0);
    for (std::size_t j = n; j-- > 0;) {
        x[j] /= pivots_[j];
        vector_ops().add_f64(-x[j], row(j), x.data(), padded(j));  // the row is 0 from j on
    }
    x.resize(n);
}

void GramFactor::add_solution(const std::vector<double>& right, std::size_t n_outputs, bool both,
                                  std::vector<double>& weights) const {
    std::vector<double> x(weights.size() / n_outputs);
    for (std::size_t t = 0; t < n_outputs; ++t) {
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = right[j * n_outputs + t];
        if (both) solve_lower(x);
        solve_upper(x);
        for (std::size_t j = 0; j < x.size(); ++j) weights[j * n_outputs + t] += x[j];
    }
}

std::vector<double> GramFactor::append(GramProducts products, double total) {
    const std::size_t n = pivots_.size(), n_outputs = products.with_target.size();
    std::vector<double> row = std::move(products.with_columns);
    solve_lower(row);
    const double square = 1.0 + products.with_itself - std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    // The squared pivot is at least 1 in exact arithmetic. If its rounding error, relative to the column before
    // centring, may be larger (a column spanned by the others, with a large C), that is used instead: a little more
    // regularization of a direction that does not exist.
    const double uncentred = products.with_itself + total * products.mean * products.mean;
    const double noise = 4 * kEps * static_cast<double>(n + 1) * (1.0 + uncentred);
    const double pivot = std::sqrt(std::max({square, 1.0, noise}));
    append_row(row);
    pivots_.push_back(pivot);
    projected_.insert(projected_.end(), products.with_target.begin(), products.with_target.end());
    double* own = projected_.data() + n * n_outputs;
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t t = 0; t < n_outputs; ++t) own[t] -= row[j] * projected_[j * n_outputs + t];
    for (std::size_t t = 0; t < n_outputs; ++t) own[t] /= pivot;
    return row;
}

}  // namespace cgens
