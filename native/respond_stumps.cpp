#include "respond_stumps.hpp"

#include <algorithm>
#include <numeric>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kCountedThresholds = 8;  // up to this many, counting is faster than a lookup

}  // namespace

template <class T>
void respond_stumps(const MatrixView<T>& X, const std::int64_t* features, const double* thresholds,
                    std::size_t n_stumps, std::int8_t* out, int n_threads) {
    const double work = static_cast<double>(X.n_rows * n_stumps);
    for_blocks(X.n_rows, 1, n_threads, work, [&](std::size_t i, std::size_t, std::size_t) {
        for (std::size_t j = 0; j < n_stumps; ++j) {
            const double x = static_cast<double>(X(i, static_cast<std::size_t>(features[j])));
            out[i * n_stumps + j] = x > thresholds[j] ? 1 : -1;
        }
    });
}

StepTables::StepTables(const std::int64_t* features, const double* thresholds, const double* weights,
                       std::size_t n_stumps, std::size_t n_outputs)
    : n_outputs_(n_outputs) {
    std::vector<std::size_t> order(n_stumps);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return features[a] != features[b] ? features[a] < features[b] : thresholds[a] < thresholds[b];
    });
    for (std::size_t begin = 0, end = 0; begin < n_stumps; begin = end) {
        const std::int64_t feature = features[order[begin]];
        while (end < n_stumps && features[order[end]] == feature) ++end;
        steps_.push_back({static_cast<std::size_t>(feature), thresholds_.size(), end - begin, 0, 0.0, 0.0});
        n_inputs_ = std::max(n_inputs_, static_cast<std::size_t>(feature) + 1);
        // Below all thresholds every stump is -1; each threshold passed adds twice the weight of its stump.
        std::vector<double> value(n_outputs, 0.0);
        for (std::size_t k = begin; k < end; ++k)
            for (std::size_t t = 0; t < n_outputs; ++t) value[t] -= weights[order[k] * n_outputs + t];
        values_.insert(values_.end(), value.begin(), value.end());
        for (std::size_t k = begin; k < end; ++k) {
            thresholds_.push_back(thresholds[order[k]]);
            for (std::size_t t = 0; t < n_outputs; ++t) value[t] += 2 * weights[order[k] * n_outputs + t];
            values_.insert(values_.end(), value.begin(), value.end());
        }
        index_cells(steps_.back());
    }
}

// Divides the range of the thresholds into as many cells of equal width as there are thresholds. A lookup of the cell
// then leaves one or two thresholds to compare with, or a binary search where thresholds are dense.
void StepTables::index_cells(Step& step) {
    if (step.n_thresholds <= kCountedThresholds) return;
    const double* thresholds = thresholds_.data() + step.first_threshold;
    step.first_cell = cells_.size();
    step.origin = thresholds[0];
    // Divided before the subtraction: the range of thresholds near +-1e308 would overflow.
    const double n = static_cast<double>(step.n_thresholds);
    const double cell_width = thresholds[step.n_thresholds - 1] / n - thresholds[0] / n;
    step.scale = cell_width > 0 ? std::min(1.0 / cell_width, 1e300) : 0.0;
    std::size_t k = 0;
    for (std::size_t cell = 0; cell < step.n_thresholds; ++cell) {
        while (k < step.n_thresholds && cell_of(step, thresholds[k]) < cell) ++k;
        cells_.push_back(static_cast<std::uint32_t>(k));
    }
    cells_.push_back(static_cast<std::uint32_t>(step.n_thresholds));
}

// Monotone in x, even with rounding: thresholds in earlier cells are below x, those in later cells are above.
std::size_t StepTables::cell_of(const Step& step, double x) {
    const double cell = (x - step.origin) * step.scale;
    if (!(cell > 0)) return 0;
    const double last = static_cast<double>(step.n_thresholds - 1);
    return static_cast<std::size_t>(std::min(cell, last));
}

std::size_t StepTables::count_below(const Step& step, double x) const {
    const double* thresholds = thresholds_.data() + step.first_threshold;
    if (step.n_thresholds <= kCountedThresholds) {
        std::size_t count = 0;
        for (std::size_t k = 0; k < step.n_thresholds; ++k) count += x > thresholds[k];
        return count;
    }
    const std::uint32_t* cell = cells_.data() + step.first_cell + cell_of(step, x);
    return static_cast<std::size_t>(std::lower_bound(thresholds + cell[0], thresholds + cell[1], x) - thresholds);
}

template <class T>
void StepTables::add_decision(const MatrixView<T>& X, double* out, int n_threads) const {
    const double work = 3 * static_cast<double>(X.n_rows * steps_.size());
    for_blocks(X.n_rows, 256, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            double* row = out + i * n_outputs_;
            for (std::size_t s = 0; s < steps_.size(); ++s) {
                const Step& step = steps_[s];
                const std::size_t below = count_below(step, static_cast<double>(X(i, step.feature)));
                const double* value = values_.data() + (step.first_threshold + s + below) * n_outputs_;
                for (std::size_t t = 0; t < n_outputs_; ++t) row[t] += value[t];
            }
        }
    });
}

template void respond_stumps(const MatrixView<float>&, const std::int64_t*, const double*, std::size_t, std::int8_t*,
                             int);
template void respond_stumps(const MatrixView<double>&, const std::int64_t*, const double*, std::size_t, std::int8_t*,
                             int);
template void StepTables::add_decision(const MatrixView<float>&, double*, int) const;
template void StepTables::add_decision(const MatrixView<double>&, double*, int) const;

}  // namespace cgens
