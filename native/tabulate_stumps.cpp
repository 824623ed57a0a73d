#include "tabulate_stumps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "four_lanes.hpp"
#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

// A vector as a function of the index.
auto indexed(const std::vector<double>& values) {
    return [data = values.data()](std::size_t k) { return data[k]; };
}

}  // namespace

StumpTable::StumpTable(std::shared_ptr<const StumpPool> pool, std::size_t n_outputs, int n_threads)
    : pool_(std::move(pool)), n_outputs_(n_outputs), n_threads_(n_threads) {
    first_cell_.assign(1, 0);
    for (std::size_t f = 0; f < pool_->n_features(); ++f)
        first_cell_.push_back(first_cell_.back() + padded(pool_->feature(f).n_cells()));
    prices_.assign(first_cell_.back() * n_outputs_, 0.0);
    best_.resize(pool_->n_features());
    sort_entries();
}

// Counting sort of each block's entries by their bin; within a bin, rows ascend.
void StumpTable::sort_entries() {
    if (pool_->is_dense()) return;
    bin_begin_.assign(pool_->n_bins() + 1, 0);
    const bool narrow = n_rows() <= 65536;
    narrow ? narrow_rows_.resize(pool_->n_entries()) : wide_rows_.resize(pool_->n_entries());
    std::size_t begin = 0;
    for (const FeatureBlock& block : pool_->blocks()) {
        std::size_t* counts = bin_begin_.data() + pool_->first_bin(block.first_feature);
        for (const std::uint16_t code : block.codes) ++counts[code];
        for (const std::uint32_t code : block.wide_codes) ++counts[code];
        for (std::size_t k = 0; k < block.bin_offset.back(); ++k) begin += std::exchange(counts[k], begin);
    }
    bin_begin_.back() = begin;
    const auto sort_block = [&](const FeatureBlock& block, auto* rows) {
        const std::size_t* first = bin_begin_.data() + pool_->first_bin(block.first_feature);
        std::vector<std::size_t> next(first, first + block.bin_offset.back());
        for (std::size_t i = 0; i < n_rows(); ++i)
            visit_row(block, i, [=, &next](std::size_t code) {
                rows[next[code]++] = static_cast<std::remove_pointer_t<decltype(rows)>>(i);
            });
    };
    for_tasks(pool_->blocks().size(), n_threads_, 3 * static_cast<double>(pool_->n_entries()),
              [&](std::size_t b, std::size_t) {
                  const FeatureBlock& block = pool_->blocks()[b];
                  narrow ? sort_block(block, narrow_rows_.data()) : sort_block(block, wide_rows_.data());
              });
}

// Calls visit(f, scratch) for all features; `with_sums` if it needs products with the lanes.
template <class Visit>
void StumpTable::visit_features(double work, bool with_sums, Visit visit) {
    const auto n_used = static_cast<std::size_t>(usable_threads(n_threads_, work));
    if (scratches_.size() < n_used) scratches_.resize(n_used);
    const std::vector<FeatureRange> ranges = feature_ranges(pool_->n_features(), n_threads_);
    for_tasks(ranges.size(), n_threads_, work, [&](std::size_t r, std::size_t thread) {
        if (with_sums && pool_->is_dense()) sum_bins(ranges[r], scratches_[thread]);
        for (std::size_t f = ranges[r].first; f < ranges[r].last; ++f) visit(f, scratches_[thread]);
    });
}

void StumpTable::set_state(std::vector<double> prices, std::vector<double> curvature, double drift) {
    prices_ = std::move(prices);
    has_curvature_ = !curvature.empty();
    curvature_ = std::move(curvature);
    drift_ = drift;
}

void StumpTable::set_curvature(const double* diagonal) {
    has_curvature_ = true;
    curvature_.assign(first_cell_.back(), 0.0);
    round_lanes({{diagonal, 1, FixedPoint(), 0}});
    const double total = lanes_[0].unit.value(static_cast<double>(lanes_[0].total));
    visit_features(entry_work(), true, [&](std::size_t f, Scratch& scratch) {
        sum_feature(f, scratch);
        double* own = curvature_.data() + first_cell_[f];
        // g'diag(v)g = sum(v) for g of +-1. (T^2 - a^2) / T is computed as a product, which does not cancel.
        for (std::size_t k = 0; k < width(f); ++k)
            own[k] = (total - scratch.along[k]) * ((total + scratch.along[k]) / total);
    });
}

void StumpTable::change_curvature(const double* direction, double denominator) {
    round_lanes({{direction, 1, FixedPoint(), 0}});
    visit_features(entry_work(), true, [&](std::size_t f, Scratch& scratch) {
        sum_feature(f, scratch);
        lower_curvature(f, denominator, scratch.along.data());
    });
}

void StumpTable::lower_curvature(std::size_t f, double denominator, const double* along) {
    double* own = curvature_.data() + first_cell_[f];
    for (std::size_t k = 0; k < width(f); ++k) own[k] -= along[k] * (along[k] / denominator);
}

// Changes the prices of one feature along `scratch.along` (if there is a step), then finds its best free cell.
void StumpTable::scan_feature(std::size_t f, const double* step, PriceRule rule, Scratch& scratch) {
    scratch.squares.assign(width(f), 0.0);
    scratch.largest.assign(width(f), 0.0);
    const VectorOps& ops = vector_ops();
    for (std::size_t t = 0; t < n_outputs_; ++t)
        ops.step_prices(step == nullptr ? 0.0 : step[t], scratch.along.data(), prices_.data() + first_price(f, t),
                        scratch.squares.data(), scratch.largest.data(), width(f));
    FeatureBest& best = best_[f];
    best.energy = sum_lanes(width(f), indexed(scratch.squares));
    best.taken_price = 0.0;
    for (const std::uint32_t k : pool_->taken(f)) {
        best.taken_price = std::max(best.taken_price, scratch.largest[k]);
        scratch.largest[k] = scratch.squares[k] = 0.0;
    }
    const std::size_t by_price = first_largest(width(f), indexed(scratch.largest), best.max_price);
    if (rule == PriceRule::kMax) {
        best.score = best.max_price;
        best.cell = by_price;
    } else if (rule == PriceRule::kVotes) {
        std::vector<double>& sums = scratch.squares;
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t t = 0; t < n_outputs_; ++t)
            for (std::size_t k = 0; k < width(f); ++k) sums[k] += std::abs(prices_[first_price(f, t) + k]);
        for (const std::uint32_t k : pool_->taken(f)) sums[k] = 0.0;
        best.cell = first_largest(width(f), indexed(sums), best.score);
    } else {
        const double* curvature = curvature_.data() + first_cell_[f];
        for (std::size_t k = 0; k < width(f); ++k) scratch.squares[k] /= 1.0 + std::max(curvature[k], 0.0);
        best.cell = first_largest(width(f), indexed(scratch.squares), best.score);
    }
}

TablePrice StumpTable::collect() const {
    TablePrice result{false, 0, 0, 0.0, 0.0, 0.0, 0.0};
    const FeatureBest* best = nullptr;
    std::size_t feature = 0;
    for (std::size_t f = 0; f < best_.size(); ++f) {  // in order: ties go to the first feature
        result.energy += best_[f].energy;
        result.max_price = std::max(result.max_price, best_[f].max_price);
        if (best_[f].score <= (best == nullptr ? 0.0 : best->score)) continue;
        best = &best_[f];
        feature = f;
    }
    if (best == nullptr) return result;
    result.found = true;
    result.merit = best->score;
    result.candidate = pool_->first_cell(feature) + best->cell;
    for (std::size_t t = 0; t < n_outputs_; ++t) {
        const double price = prices_[first_price(feature, t) + best->cell];
        if (std::abs(price) <= std::abs(result.price)) continue;
        result.price = price;
        result.output = t;
    }
    return result;
}

double StumpTable::largest_price() const {
    double largest = 0.0;
    for (const FeatureBest& best : best_) largest = std::max({largest, best.max_price, best.taken_price});
    return largest;
}

TablePrice StumpTable::find_best(PriceRule rule) {
    visit_features(static_cast<double>(prices_.size()), false, [&](std::size_t f, Scratch& scratch) {
        scratch.along.assign(width(f), 0.0);
        scan_feature(f, nullptr, rule, scratch);
    });
    return collect();
}

TablePrice StumpTable::reprice(const double* duals, PriceRule rule, const double* direction, double denominator,
                               bool rough) {
    std::vector<Lane> lanes;
    for (std::size_t t = 0; t < n_outputs_; ++t) lanes.push_back({duals + t, n_outputs_, FixedPoint(), 0});
    if (direction != nullptr) lanes.push_back({direction, 1, FixedPoint(), 0});
    round_lanes(std::move(lanes), rough);
    drift_ = 0.0;
    for (std::size_t t = 0; t < n_outputs_; ++t)
        drift_ = std::max(drift_, lanes_[t].unit.value(static_cast<double>(n_rows())));
    visit_features(entry_work() + static_cast<double>(prices_.size()), true, [&](std::size_t f, Scratch& scratch) {
        sum_feature(f, scratch);
        std::copy_n(scratch.along.begin(), width(f) * n_outputs_, prices_.begin() + first_price(f, 0));
        if (direction != nullptr) lower_curvature(f, denominator, scratch.lane(n_outputs_, width(f)));
        scan_feature(f, nullptr, rule, scratch);
    });
    drift_ += kEps * largest_price();  // exact sums are rounded to doubles
    return collect();
}

TablePrice StumpTable::change(const double* direction, const double* step, double denominator, PriceRule rule) {
    round_lanes({{direction, 1, FixedPoint(), 0}});
    visit_features(entry_work() + static_cast<double>(prices_.size()), true, [&](std::size_t f, Scratch& scratch) {
        sum_feature(f, scratch);
        if (has_curvature_) lower_curvature(f, denominator, scratch.along.data());
        scan_feature(f, step, rule, scratch);
    });
    double largest = 0.0, size = 0.0;
    for (std::size_t i = 0; i < n_rows(); ++i) size += std::abs(direction[i]);
    for (std::size_t t = 0; t < n_outputs_; ++t) largest = std::max(largest, std::abs(step[t]));
    // The rounding errors of each product, of the direction in fixed point, and of the new prices.
    drift_ += (kEps * size + lanes_[0].unit.value(static_cast<double>(n_rows()))) * largest + kEps * largest_price();
    return collect();
}

void StumpTable::respond(std::size_t candidate, std::int8_t* out) const {
    if (pool_->is_dense()) return pool_->respond(candidate, out);
    const StumpPool::Cell own = pool_->cell_of(candidate);
    const BinnedFeature& feature = pool_->feature(own.feature);
    const bool common = feature.is_above(own.cell, feature.common_bin);
    std::fill(out, out + n_rows(), static_cast<std::int8_t>(common ? 1 : -1));
    // Only the rows on the other side differ.
    const std::size_t* bins = bin_begin_.data() + pool_->first_bin(own.feature);
    const auto other = static_cast<std::int8_t>(common ? -1 : 1);
    with_rows([&](const auto& rows) {
        for (std::size_t k = 0; k < feature.n_bins(); ++k) {
            if (feature.is_above(own.cell, k) == common) continue;
            for (std::size_t e = bins[k]; e < bins[k + 1]; ++e) out[rows[e]] = other;
        }
    });
}

std::vector<double> StumpTable::entries(std::size_t candidate) const {
    const StumpPool::Cell own = pool_->cell_of(candidate);
    std::vector<double> result;
    for (std::size_t t = 0; t < n_outputs_; ++t) result.push_back(prices_[first_price(own.feature, t) + own.cell]);
    result.push_back(has_curvature_ ? curvature_[first_cell_[own.feature] + own.cell] : 0.0);
    return result;
}

}  // namespace cgens
