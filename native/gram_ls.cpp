#include "gram_ls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kBlock = 512;  // rows that are summed together, for any number of threads
constexpr int kMaxRefinements = 100;
constexpr double kClosed = 1e-12;  // a relative gap that is only rounding
constexpr std::size_t kTogether = 8;  // columns that are multiplied in one pass over the rows

}  // namespace

GramLs::GramLs(const double* target, std::vector<double> weights, std::size_t n_outputs, int n_threads)
    : n_outputs_(n_outputs),
      n_threads_(n_threads),
      scale_(std::move(weights)),
      multiples_(scale_),
      target_mean_(n_outputs, 0.0),
      target_(target, target + scale_.size() * n_outputs),
      store_(scale_.size()) {
    // Relative to the first row's target, a constant target is exactly 0, not the rounding error of its mean.
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
    for (const double value : target_) zero_target_ &= value == 0.0;
    if (zero_target_) LargeVector<double>().swap(target_);
}

// About how long a product of all rows and n columns takes: see `usable_threads`.
double GramLs::product_work(std::size_t n) const {
    return (store_.signs() == nullptr ? 0.25 : 0.08) * static_cast<double>(n_rows() * n);
}

// Blocks of rows for sums the size of all weights: at most 64, and whole words of signs.
std::size_t GramLs::large_block() const {
    return std::max(kBlock, ((n_rows() + 63) / 64 + kGroup - 1) / kGroup * kGroup);
}

// Returns `width` sums over all rows, in fixed blocks: add(first, last, sums) adds the rows first ... last - 1.
template <class Add>
std::vector<double> GramLs::sum_blocks(std::size_t block, std::size_t width, Add add) const {
    std::vector<double> parts((n_rows() + block - 1) / block * width, 0.0);
    const double work = product_work(width);
    for_blocks(n_rows(), block, n_threads_, work, [&](std::size_t b, std::size_t first, std::size_t last) {
        add(first, last, parts.data() + b * width);
    });
    for (std::size_t at = width; at < parts.size(); at += width)
        for (std::size_t k = 0; k < width; ++k) parts[k] += parts[at + k];
    return parts;
}

// The weighted sum of a centred column is 0 up to rounding: centring the others is a correction by that sum.
template <class T>
std::vector<GramProducts> GramLs::multiply(const T* columns, std::size_t n, std::ptrdiff_t stride) const {
    const std::size_t n_wide = store_.padded_columns(), n_own = n_outputs_ + 2;
    const auto column_of = [=](std::size_t g) { return columns + static_cast<std::ptrdiff_t>(g) * stride; };
    std::vector<double> means(n);
    for (std::size_t g = 0; g < n; ++g) {
        const T* column = column_of(g);
        double sum = 0.0;
        for (std::size_t i = 0; i < n_rows(); ++i) sum += scale_[i] * static_cast<double>(column[i]);
        means[g] = sum / total_;
    }
    const auto add = [&](std::size_t first, std::size_t last, double* sums) {
        std::vector<double> scaled((last - first) * n);
        for (std::size_t g = 0; g < n; ++g) {
            const T* column = column_of(g);
            const double mean = means[g];
            double* own = sums + n * n_wide + g * n_own;
            for (std::size_t i = first; i < last; ++i) {
                const double centred = static_cast<double>(column[i]) - mean, v = scale_[i] * centred;
                scaled[(i - first) * n + g] = v;
                for (std::size_t t = 0; t < n_outputs_ && !zero_target_; ++t) own[t] += v * target_[i * n_outputs_ + t];
                own[n_outputs_] += v * centred;
                own[n_outputs_ + 1] += v;
            }
        }
        store_.add_rows(first, last, scaled.data(), n, sums);
    };
    const std::vector<double> sums = sum_blocks(kBlock, n * (n_wide + n_own), add);
    std::vector<GramProducts> all;
    for (std::size_t g = 0; g < n; ++g) {
        const double *with_columns = sums.data() + g * n_wide, *own = sums.data() + n * n_wide + g * n_own;
        all.push_back({{with_columns, with_columns + n_columns()}, {own, own + n_outputs_}, own[n_outputs_], means[g]});
        for (std::size_t j = 0; j < n_columns(); ++j)
            all[g].with_columns[j] -= own[n_outputs_ + 1] * products_[j].mean;
    }
    return all;
}

// The products of a column of +-1 with columns of +-1, if row i has the weight v k_i: with n = sum_i k_i and S_h =
// sum_i k_i h_i, hc'D gc = v (n (n - 2 sum_{i: h_i != g_i} k_i) - S_h S_g) / n, whose numerator is an exact integer.
GramProducts GramLs::count(const std::vector<std::uint64_t>& packed) const {
    const std::size_t n = n_columns();
    const auto n_units = static_cast<std::int64_t>(multiples_.total()), sum = 2 * multiples_.count(packed) - n_units;
    const auto total = static_cast<double>(n_units);
    const std::vector<std::uint64_t> differences = multiples_.count_differences(*store_.signs(), packed, n_threads_);
    GramProducts products{std::vector<double>(n), std::vector<double>(n_outputs_, 0.0), 0.0,
                          static_cast<double>(sum) / total};
    const auto centred = [&](std::int64_t same, std::int64_t other_sum) {
        const __int128 numerator = static_cast<__int128>(n_units) * same - static_cast<__int128>(sum) * other_sum;
        return multiples_.unit() * (static_cast<double>(numerator) / total);
    };
    for (std::size_t j = 0; j < n; ++j) {
        const std::int64_t same = n_units - 2 * static_cast<std::int64_t>(differences[j]);
        products.with_columns[j] = centred(same, std::llround(products_[j].mean * total));
    }
    products.with_itself = centred(n_units, sum);
    if (zero_target_) return products;
    const auto add = [&](std::size_t first, std::size_t last, double* sums) {
        for (std::size_t i = first; i < last; ++i) {
            const double sign = (packed[i / kGroup] >> (i % kGroup) & 1) != 0 ? 1.0 : -1.0;
            const double v = scale_[i] * (sign - products.mean);
            for (std::size_t t = 0; t < n_outputs_; ++t) sums[t] += v * target_[i * n_outputs_ + t];
        }
    };
    const std::vector<double> sums = sum_blocks(kBlock, n_outputs_, add);
    std::copy(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(n_outputs_), products.with_target.begin());
    return products;
}

template <class T>
void GramLs::add_column(const T* column) {
    const std::size_t n = n_columns();
    const std::vector<std::uint64_t> packed = store_.pack(column);
    GramProducts products = packed.empty() || !multiples_.exist() ? multiply(column, 1, 0)[0] : count(packed);
    store_.append(column, packed);  // before anything else changes: if there is no memory, the solver stays as it was
    products_.push_back(std::move(products));
    std::vector<double> z = factor_.append(products_.back(), total_);
    for (std::size_t t = 0; t < n_outputs_; ++t) {
        const double value = factor_.projected()[n * n_outputs_ + t];
        primal_ -= 0.5 * value * value;
    }

    factor_.solve_upper(z);
    const std::vector<double> own = output(n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t) weights_[j * n_outputs_ + t] -= z[j] * own[t];
    last_coefficients_ = std::move(z);
    weights_.insert(weights_.end(), own.begin(), own.end());
    // Once the fit is nearly perfect, the objective is a small difference of large numbers: evaluate it on the data.
    if (primal_ < 1e-6 * primal_scale_) {
        std::vector<double> residual;
        double dual;
        primal_ = primal_scale_ = evaluate(residual, dual);
    }
}

template void GramLs::add_column(const std::int8_t*);
template void GramLs::add_column(const float*);
template void GramLs::add_column(const double*);
template std::vector<double> GramLs::quadratic(const std::int8_t*, std::size_t, std::ptrdiff_t, std::size_t) const;
template std::vector<double> GramLs::quadratic(const float*, std::size_t, std::ptrdiff_t, std::size_t) const;
template std::vector<double> GramLs::quadratic(const double*, std::size_t, std::ptrdiff_t, std::size_t) const;

GramLs::State GramLs::state() const {
    State state{{}, {}, {}, {}, factor_.triangle(), factor_.pivots(), factor_.projected(), weights_,
                last_coefficients_, primal_, primal_scale_};
    for (const GramProducts& own : products_) {
        state.products.insert(state.products.end(), own.with_columns.begin(), own.with_columns.end());
        state.with_target.insert(state.with_target.end(), own.with_target.begin(), own.with_target.end());
        state.with_itself.push_back(own.with_itself);
        state.means.push_back(own.mean);
    }
    return state;
}

void GramLs::set_state(State state) {
    products_.clear();
    auto products = state.products.begin(), with_target = state.with_target.begin();
    for (std::size_t j = 0; j < n_appended(); ++j) {
        const auto own = products, target = with_target;
        products += static_cast<std::ptrdiff_t>(j);
        with_target += static_cast<std::ptrdiff_t>(n_outputs_);
        products_.push_back({{own, products}, {target, with_target}, state.with_itself[j], state.means[j]});
    }
    factor_ = GramFactor(state.factor, std::move(state.pivots), std::move(state.projected));
    weights_ = std::move(state.weights);
    last_coefficients_ = std::move(state.last_coefficients);
    primal_ = state.primal;
    primal_scale_ = state.primal_scale;
}

std::vector<double> GramLs::coefficients(std::size_t k) const {
    if (k + 1 == n_columns()) return last_coefficients_;
    std::vector<double> z(factor_.row(k), factor_.row(k) + k);
    factor_.solve_upper(z);
    return z;
}

std::vector<double> GramLs::output(std::size_t k) const {
    std::vector<double> own(n_outputs_);
    for (std::size_t t = 0; t < n_outputs_; ++t) own[t] = factor_.projected()[k * n_outputs_ + t] / factor_.pivots()[k];
    return own;
}

double GramLs::denominator(std::size_t k) const { return factor_.pivots()[k] * factor_.pivots()[k]; }

// out[i] <- C s_i (out[i] - Hc_i . coefficients), for every stride-th entry of out.
void GramLs::subtract_fit(const std::vector<double>& coefficients, double* out, std::size_t stride) const {
    double shift = 0.0;
    for (std::size_t j = 0; j < n_columns(); ++j) shift += products_[j].mean * coefficients[j];
    const double work = product_work(coefficients.size());
    for_blocks(n_rows(), kBlock, n_threads_, work, [&](std::size_t, std::size_t first, std::size_t last) {
        double fits[kBlock] = {};
        if (!coefficients.empty()) store_.dot_rows(first, last, coefficients.data(), 1, fits);
        for (std::size_t i = first; i < last; ++i)
            out[i * stride] = scale_[i] * (out[i * stride] - (fits[i - first] - shift));
    });
}

LargeVector<double> GramLs::direction(std::size_t k) const {
    std::vector<double> q = coefficients(k);
    q.resize(store_.padded_columns(), 0.0);
    q[k] = -1.0;
    LargeVector<double> p(n_rows(), 0.0);
    subtract_fit(q, p.data(), 1);
    return p;
}

std::vector<double> GramLs::intercept(const std::vector<double>& weights) const {
    std::vector<double> b = target_mean_;
    for (std::size_t j = 0; j * n_outputs_ < weights.size(); ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t) b[t] -= products_[j].mean * weights[j * n_outputs_ + t];
    return b;
}

LargeVector<double> GramLs::duals(const std::vector<double>& weights) const {
    LargeVector<double> u = zero_target_ ? LargeVector<double>(n_rows() * n_outputs_, 0.0) : target_;
    for (std::size_t t = 0; t < n_outputs_; ++t) {
        std::vector<double> own(store_.padded_columns(), 0.0);
        for (std::size_t j = 0; j * n_outputs_ < weights.size(); ++j) own[j] = weights[j * n_outputs_ + t];
        subtract_fit(own, u.data() + t, n_outputs_);
        double sum = 0.0;
        for (std::size_t i = 0; i < n_rows(); ++i) sum += u[i * n_outputs_ + t];
        for (std::size_t i = 0; i < n_rows(); ++i) u[i * n_outputs_ + t] -= scale_[i] / total_ * sum;
    }
    return u;
}

std::vector<std::vector<double>> GramLs::resolve(double factor, const std::vector<std::size_t>& stages) const {
    GramFactor scaled;
    std::vector<std::vector<double>> solutions;
    for (const std::size_t stage : stages) {
        for (std::size_t j = scaled.n_columns(); j < stage; ++j) {
            GramProducts products = products_[j];
            for (double& value : products.with_columns) value *= factor;
            for (double& value : products.with_target) value *= factor;
            products.with_itself *= factor;
            scaled.append(std::move(products), factor * total_);
        }
        solutions.emplace_back(stage * n_outputs_, 0.0);
        scaled.add_solution(scaled.projected(), n_outputs_, false, solutions.back());
    }
    return solutions;
}

template <class T>
std::vector<double> GramLs::quadratic(const T* columns, std::size_t n, std::ptrdiff_t stride,
                                      std::size_t n_columns) const {
    std::vector<double> out;
    for (std::size_t g = 0; g < n; g += kTogether) {
        const T* first = columns + static_cast<std::ptrdiff_t>(g) * stride;
        for (GramProducts& products : multiply(first, std::min(kTogether, n - g), stride)) {
            std::vector<double>& row = products.with_columns;
            row.resize(n_columns);
            factor_.solve_lower(row);
            const double explained = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
            out.push_back(std::max(products.with_itself - explained, 0.0));
        }
    }
    return out;
}

// Returns the objective of weights_, the dual objective of its duals U, and the residual H'U - W (EQ:KKT2).
double GramLs::evaluate(std::vector<double>& residual, double& dual) const {
    const LargeVector<double> u = duals(weights_);
    const std::size_t n_wide = store_.padded_columns(), width = n_outputs_ * n_wide;
    const auto add = [&](std::size_t first, std::size_t last, double* own) {
        store_.add_rows(first, last, u.data() + first * n_outputs_, n_outputs_, own);
        for (std::size_t k = first * n_outputs_; k < last * n_outputs_; ++k) {
            own[width] += u[k] * (u[k] / scale_[k / n_outputs_]);
            if (!zero_target_) own[width + 1] += u[k] * target_[k];
        }
    };
    const std::vector<double> sums = sum_blocks(large_block(), width + 2, add);
    double square = 0.0, dual_square = 0.0;
    residual.resize(weights_.size());
    for (std::size_t j = 0; j < n_columns(); ++j) {
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            const double weight = weights_[j * n_outputs_ + t], priced = sums[t * n_wide + j];
            residual[j * n_outputs_ + t] = priced - weight;
            square += weight * weight;
            dual_square += priced * priced;
        }
    }
    dual = sums[width + 1] - 0.5 * (dual_square + sums[width]);
    return 0.5 * (square + sums[width]);
}

LsReport GramLs::solve(double tol) {
    std::fill(weights_.begin(), weights_.end(), 0.0);
    factor_.add_solution(factor_.projected(), n_outputs_, false, weights_);
    std::vector<double> residual;
    LsReport report{0.0, 0.0, 0};
    report.primal = evaluate(residual, report.dual);
    for (bool helps = true; helps && report.n_refinements < kMaxRefinements;) {
        const double gap = report.primal - report.dual;
        if (gap <= kClosed * report.primal) break;
        const std::vector<double> before = weights_;
        factor_.add_solution(residual, n_outputs_, true, weights_);
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

std::vector<double> GramLs::solve_factor(const std::vector<double>& right) const {
    std::vector<double> solution(right.size(), 0.0);
    factor_.add_solution(right, n_outputs_, true, solution);
    return solution;
}

LargeVector<double> GramLs::decisions(const std::vector<double>& weights) const {
    const std::size_t n_wide = store_.padded_columns();
    std::vector<double> by_output(n_outputs_ * n_wide, 0.0), shift(n_outputs_, 0.0);
    if (n_wide == 0) return LargeVector<double>(n_rows() * n_outputs_, 0.0);
    LargeVector<double> out(n_rows() * n_outputs_);
    for (std::size_t j = 0; j * n_outputs_ < weights.size(); ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            by_output[t * n_wide + j] = weights[j * n_outputs_ + t];
            shift[t] += products_[j].mean * weights[j * n_outputs_ + t];
        }
    const double work = product_work(by_output.size());
    for_blocks(n_rows(), kBlock, n_threads_, work, [&](std::size_t, std::size_t first, std::size_t last) {
        double* own = out.data() + first * n_outputs_;
        store_.dot_rows(first, last, by_output.data(), n_outputs_, own);
        for (std::size_t k = 0; k < (last - first) * n_outputs_; ++k) own[k] -= shift[k % n_outputs_];
    });
    return out;
}

std::vector<double> GramLs::centred_rows(const std::int64_t* rows, std::size_t n) const {
    std::vector<double> out(n * n_columns()), row(store_.padded_columns());
    for (std::size_t i = 0; i < n; ++i) {
        store_.copy_row(static_cast<std::size_t>(rows[i]), row.data());
        double* own = out.data() + i * n_columns();
        for (std::size_t j = 0; j < n_columns(); ++j) own[j] = row[j] - products_[j].mean;
    }
    return out;
}

std::vector<double> GramLs::prices(const double* values) const {
    const std::size_t n_wide = store_.padded_columns(), width = n_outputs_ * (n_wide + 1);
    const auto add = [&](std::size_t first, std::size_t last, double* own) {
        const double* value = values + first * n_outputs_;
        store_.add_rows(first, last, value, n_outputs_, own);
        double* totals = own + n_outputs_ * n_wide;
        for (std::size_t k = 0; k < (last - first) * n_outputs_; ++k) totals[k % n_outputs_] += value[k];
    };
    const std::vector<double> sums = sum_blocks(large_block(), width, add);
    std::vector<double> out(n_columns() * n_outputs_);
    for (std::size_t j = 0; j < n_columns(); ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t)
            out[j * n_outputs_ + t] = sums[t * n_wide + j] - products_[j].mean * sums[n_outputs_ * n_wide + t];
    return out;
}

}  // namespace cgens
