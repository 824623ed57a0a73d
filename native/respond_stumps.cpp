#include "respond_stumps.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kCountedThresholds = 8;  // up to this many, counting is faster than a lookup

}  // namespace

bool StumpArrays::is_above(std::size_t j, double x) const {
    if (x != x) return gaps_above[j] != 0;
    if (!is_category(j)) return x > thresholds[j];
    const std::uint32_t *first = levels + level_begin[j], *last = levels + level_begin[j + 1];
    return std::binary_search(first, last, x, std::less<double>());  // x may be no code at all
}

template <class T>
void respond_stumps(const MatrixView<T>& X, const StumpArrays& stumps, std::int8_t* out, int n_threads) {
    const std::size_t n_stumps = stumps.n_stumps;
    const double work = static_cast<double>(X.n_rows * n_stumps);
    for_blocks(X.n_rows, 1, n_threads, work, [&](std::size_t i, std::size_t, std::size_t) {
        for (std::size_t j = 0; j < n_stumps; ++j) {
            const double x = static_cast<double>(X(i, static_cast<std::size_t>(stumps.features[j])));
            out[i * n_stumps + j] = stumps.is_above(j, x) ? 1 : -1;
        }
    });
}

StepTables::StepTables(const StumpArrays& stumps, const double* weights, std::size_t n_outputs)
    : n_outputs_(n_outputs) {
    std::vector<std::size_t> order(stumps.n_stumps);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (stumps.features[a] != stumps.features[b]) return stumps.features[a] < stumps.features[b];
        if (stumps.is_category(a) != stumps.is_category(b)) return stumps.is_category(b);
        return stumps.thresholds[a] < stumps.thresholds[b];  // false for categories
    });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        const std::int64_t feature = stumps.features[order[begin]];
        const bool is_category = stumps.is_category(order[begin]);
        while (end < order.size() && stumps.features[order[end]] == feature &&
               stumps.is_category(order[end]) == is_category)
            ++end;
        steps_.push_back({});
        steps_.back().feature = static_cast<std::size_t>(feature);
        steps_.back().first_value = values_.size() / n_outputs;
        n_inputs_ = std::max(n_inputs_, static_cast<std::size_t>(feature) + 1);
        const Group group{stumps, weights, order.data() + begin, order.data() + end};
        is_category ? append_category(group) : append_numbers(group);
        steps_.back().gap_value = values_.size() / n_outputs;
        append_values(group, [&](std::size_t j) { return stumps.gaps_above[j] != 0 ? 1.0 : -1.0; });
    }
}

template <class Sign>
void StepTables::append_values(const Group& group, Sign sign) {
    std::vector<double> value(n_outputs_, 0.0);
    for (const std::size_t* j = group.begin; j != group.end; ++j)
        for (std::size_t t = 0; t < n_outputs_; ++t) value[t] += sign(*j) * group.weights[*j * n_outputs_ + t];
    values_.insert(values_.end(), value.begin(), value.end());
}

void StepTables::append_numbers(const Group& group) {
    Step& step = steps_.back();
    step.first_threshold = thresholds_.size();
    // Below all thresholds every stump is -1; each threshold passed adds twice the weight of its stump.
    append_values(group, [](std::size_t) { return -1.0; });
    for (const std::size_t* j = group.begin; j != group.end; ++j) {
        if (std::isinf(group.stumps.thresholds[*j])) continue;  // only gaps are above it
        thresholds_.push_back(group.stumps.thresholds[*j]);
        for (std::size_t t = 0; t < n_outputs_; ++t)
            values_.push_back(values_[values_.size() - n_outputs_] + 2 * group.weights[*j * n_outputs_ + t]);
    }
    step.n_thresholds = thresholds_.size() - step.first_threshold;
    index_cells(step);
}

void StepTables::append_category(const Group& group) {
    Step& step = steps_.back();
    const StumpArrays& stumps = group.stumps;
    step.is_category = true;
    for (const std::size_t* j = group.begin; j != group.end; ++j)
        if (stumps.level_begin[*j + 1] > stumps.level_begin[*j])
            step.n_levels =
                std::max<std::size_t>(step.n_levels, stumps.levels[stumps.level_begin[*j + 1] - 1] + std::size_t{1});
    // Each stump is -1 for all levels but its own.
    append_values(group, [](std::size_t) { return -1.0; });
    const std::vector<double> rest(values_.end() - static_cast<std::ptrdiff_t>(n_outputs_), values_.end());
    for (std::size_t level = 0; level < step.n_levels; ++level) values_.insert(values_.end(), rest.begin(), rest.end());
    for (const std::size_t* j = group.begin; j != group.end; ++j)
        for (std::int64_t k = stumps.level_begin[*j]; k < stumps.level_begin[*j + 1]; ++k)
            for (std::size_t t = 0; t < n_outputs_; ++t)
                values_[(step.first_value + stumps.levels[k]) * n_outputs_ + t] += 2 * group.weights[*j * n_outputs_ + t];
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

inline std::size_t StepTables::value_of(const Step& step, double x) const {
    if (x != x) return step.gap_value;
    if (!step.is_category) return step.first_value + count_below(step, x);
    const bool known = x >= 0 && x < static_cast<double>(step.n_levels);
    return step.first_value + (known ? static_cast<std::size_t>(x) : step.n_levels);
}

template <class T>
void StepTables::add_decision(const MatrixView<T>& X, double* out, int n_threads) const {
    const double work = 3 * static_cast<double>(X.n_rows * steps_.size());
    for_blocks(X.n_rows, 256, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            double* row = out + i * n_outputs_;
            for (const Step& step : steps_) {
                const double* value = values_.data() + value_of(step, static_cast<double>(X(i, step.feature))) * n_outputs_;
                for (std::size_t t = 0; t < n_outputs_; ++t) row[t] += value[t];
            }
        }
    });
}

template void respond_stumps(const MatrixView<float>&, const StumpArrays&, std::int8_t*, int);
template void respond_stumps(const MatrixView<double>&, const StumpArrays&, std::int8_t*, int);
template void StepTables::add_decision(const MatrixView<float>&, double*, int) const;
template void StepTables::add_decision(const MatrixView<double>&, double*, int) const;

}  // namespace cgens
