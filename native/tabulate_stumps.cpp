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
constexpr std::size_t kValuesTogether = 16384;  // 128 KB: half a second-level cache at most

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

// Rounds vectors to fixed point, in groups of 8, 2 or 1; if `rough`, to 32 bits, in groups of 16 or pairs.
void StumpTable::round_lanes(std::vector<Lane> lanes, bool rough) {
    lanes_ = std::move(lanes);
    groups_.clear();
    const bool narrow = rough && lanes_.size() > 2, paired = rough && lanes_.size() == 2;
    std::size_t size = 0;
    for (std::size_t first = 0; first < lanes_.size();) {
        const std::size_t left = lanes_.size() - first, width = narrow ? 16 : left > 2 ? 8 : paired ? 1 : left;
        groups_.push_back({first, paired ? 2 : std::min(left, width), width, size});
        size += n_rows() * width;
        first += groups_.back().n_lanes;
    }
    for (Lane& own : lanes_) {
        const Extent extent = extent_of(own.values, n_rows(), own.stride, n_threads_);
        own.unit = narrow || paired ? FixedPoint::narrow(extent, n_rows()) : FixedPoint::holding(extent, n_rows());
    }
    constexpr std::size_t kBlock = 4096;
    std::vector<std::int64_t> totals((n_rows() + kBlock - 1) / kBlock * lanes_.size());
    const auto round = [&](auto& rounded) {
        using Value = typename std::remove_reference_t<decltype(rounded)>::value_type;
        rounded.resize(size);
        const double work = 2 * static_cast<double>(n_rows() * lanes_.size());
        for_blocks(n_rows(), kBlock, n_threads_, work, [&](std::size_t b, std::size_t first, std::size_t last) {
            for (const LaneGroup& group : groups_) {
                Value* to = rounded.data() + group.first_value;
                if (group.n_lanes < group.width || paired) std::fill(to + first * group.width, to + last * group.width, 0);
                for (std::size_t t = 0; t < group.n_lanes; ++t) {
                    const Lane& own = lanes_[group.first_lane + t];
                    const std::size_t lane = paired ? 0 : t;
                    const std::int64_t factor = paired && t == 1 ? std::int64_t{1} << 32 : 1;
                    std::int64_t total = 0;
                    for (std::size_t i = first; i < last; ++i) {
                        const std::int64_t units = own.unit.round(own.values[i * own.stride]);
                        Value& value = to[i * group.width + lane];
                        value = static_cast<Value>(paired ? value + units * factor : units);
                        total += units;
                    }
                    totals[b * lanes_.size() + group.first_lane + t] = total;
                }
            }
        });
    };
    narrow ? round(rounded_narrow_) : round(rounded_);
    for (std::size_t k = 0; k < totals.size(); ++k) lanes_[k % lanes_.size()].total += totals[k];
}

// The sums of a group's lanes over the first 1 ... n_entries entries, beginning with `begin`.
void StumpTable::run_group(const LaneGroup& group, std::size_t begin, std::size_t n_entries,
                           std::int64_t* running) const {
    const std::int64_t* rounded = rounded_.data() + group.first_value;
    const VectorOps& ops = vector_ops();
    with_rows([=](const auto& rows) {
        const auto* row = rows.data() + begin;
        if (group.width == 8) {
            ops.run(row, n_entries, rounded, running);
        } else if (group.width == 2) {
            std::int64_t first = 0, second = 0;
            for (std::size_t e = 0; e < n_entries; ++e) {
                const std::int64_t* own = rounded + 2 * static_cast<std::size_t>(row[e]);
                running[2 * e] = first += own[0];
                running[2 * e + 1] = second += own[1];
            }
        } else {
            std::int64_t sum = 0;
            for (std::size_t e = 0; e < n_entries; ++e) running[e] = sum += rounded[row[e]];
        }
        return 0;
    });
}

// With L_k the sum over bins 0 ... k, M that over gaps and T the total, the price of the threshold above bin k is
// T - 2 L_k, and T - 2 (L_k + M) if gaps are below it; that of a level with the sum S is 2 S - T. The common bin's
// entries are not stored: thresholds below it are summed from the left, the others from the right.
template <class Integer, class SumOf, class SumUntil>
void StumpTable::sum_cells(const BinnedFeature& feature, Integer total, Integer stored, SumOf sum_of,
                           SumUntil sum_until, double unit, double* along) const {
    const std::size_t n_upper = feature.n_upper_cells();
    const std::size_t common_bin = pool_->is_dense() ? feature.n_bins() : feature.common_bin;
    const auto sum_in = [&](std::size_t bin) { return bin == common_bin ? total - stored : sum_of(bin); };
    if (feature.is_category) {
        for (std::size_t k = 0; k <= n_upper; ++k) {
            const Integer turned = feature.has_others && k == feature.others_bin() ? -1 : 1;
            along[k] = static_cast<double>(turned * (2 * sum_in(k) - total)) * unit;
        }
        return;
    }
    const std::size_t common = std::min(common_bin, n_upper);
    for (std::size_t k = 0; k < common; ++k) along[k] = static_cast<double>(total - 2 * sum_until(k)) * unit;
    for (std::size_t k = common; k < n_upper; ++k)
        along[k] = static_cast<double>(2 * (stored - sum_until(k)) - total) * unit;
    if (!feature.has_gaps) return;
    const Integer gaps = sum_in(feature.gap_bin());
    double* lower = along + n_upper;
    for (std::size_t k = 0; k + 1 < n_upper; ++k)
        lower[k] = static_cast<double>(k < common ? total - 2 * (sum_until(k) + gaps)
                                                  : 2 * (stored - sum_until(k) - gaps) - total) * unit;
}

// along[k] = sum_i r_i h(x_i) of cell k for a lane r, or 0 if that response is repeated, given the sums of its units up
// to each bin and over all stored entries.
template <class Integer, class Until>
void StumpTable::sum_lane(std::size_t f, const Lane& lane, Integer stored, Until until, double* along) const {
    const auto in = [&](std::size_t k) -> Integer { return until(k) - (k == 0 ? 0 : until(k - 1)); };
    const double unit = std::isnormal(lane.unit.value(1.0)) ? lane.unit.value(1.0) : 1.0;
    const BinnedFeature& feature = pool_->feature(f);
    sum_cells(feature, static_cast<Integer>(lane.total), stored, in, until, unit, along);
    if (unit == 1.0)
        for (std::size_t k = 0; k < feature.n_cells(); ++k) along[k] = lane.unit.value(along[k]);
    for (const StumpPool::Repeated& repeated : pool_->repeated(f)) along[repeated.cell] = 0.0;
}

// The same for the lanes of a group, given the sums in each bin of the feature.
template <class Integer>
void StumpTable::sum_dense(std::size_t f, const LaneGroup& group, const Integer* sums, double* along) const {
    for (std::size_t t = 0; t < group.n_lanes; ++t, along += width(f)) {
        const std::size_t lane = group.paired() ? 0 : t;
        const Lane& own = lanes_[group.first_lane + t];
        const auto until = [&](std::size_t k) { return group.part(sums[k * group.width + lane], t); };
        sum_lane(f, own, static_cast<Integer>(own.total), until, along);
    }
}

// The same from running sums over the entries, which are in the order of their bins: they need no branch, and the sum
// of a bin is the difference of two of them.
template <class Integer>
void StumpTable::sum_sparse(std::size_t f, const LaneGroup& group, std::vector<Integer>& running, double* along) const {
    const std::size_t* bins = bin_begin_.data() + pool_->first_bin(f);
    const std::size_t begin = bins[0], n_entries = bins[pool_->feature(f).n_bins()] - begin, W = group.width;
    if (running.size() < (n_entries + 1) * W) running.resize((n_entries + 1) * W);
    std::fill(running.begin(), running.begin() + static_cast<std::ptrdiff_t>(W), 0);
    Integer* sums = running.data() + W;
    if constexpr (std::is_same_v<Integer, std::int32_t>) {
        with_rows([&, rounded = rounded_narrow_.data() + group.first_value](const auto& rows) {
            vector_ops().run(rows.data() + begin, n_entries, rounded, sums);
        });
    } else {
        run_group(group, begin, n_entries, sums);
    }
    for (std::size_t t = 0; t < group.n_lanes; ++t, along += width(f)) {
        const std::size_t lane = group.paired() ? 0 : t;
        const auto before = [&](std::size_t entry) { return group.part(running[(entry - begin) * W + lane], t); };
        const auto until = [&](std::size_t k) { return before(bins[k + 1]); };
        sum_lane(f, lanes_[group.first_lane + t], before(begin + n_entries), until, along);
    }
}

void StumpTable::sum_feature(std::size_t f, Scratch& scratch) const {
    scratch.along.assign(width(f) * lanes_.size(), 0.0);
    if (pool_->feature(f).n_cells() == 0) return;
    const auto sum = [&](const LaneGroup& group, auto& sums) {
        double* along = scratch.along.data() + group.first_lane * width(f);
        if (!pool_->is_dense()) return sum_sparse(f, group, sums, along);
        const std::size_t in_range = pool_->first_bin(f) - pool_->first_bin(scratch.range.first);
        const std::size_t before = group.first_value / n_rows() * n_bins(scratch.range);
        sum_dense(f, group, sums.data() + before + in_range * group.width, along);
    };
    for (const LaneGroup& group : groups_) group.narrow() ? sum(group, scratch.narrow_sums) : sum(group, scratch.sums);
}

// Sums the lanes of all groups over the rows of each bin of some features, and of the bins before it.
void StumpTable::sum_bins(FeatureRange range, Scratch& scratch) const {
    scratch.range = range;
    const auto sum = [&](const auto& rounded, auto& sums) {
        sums.assign(rounded.size() / n_rows() * n_bins(range), 0);
        for (const LaneGroup& group : groups_)
            sum_bins_of_group(range, group, rounded.data() + group.first_value,
                              sums.data() + group.first_value / n_rows() * n_bins(range));
    };
    groups_[0].narrow() ? sum(rounded_narrow_, scratch.narrow_sums) : sum(rounded_, scratch.sums);
}

// The features take turns for some rows at a time, whose values stay in the cache.
template <class Integer>
void StumpTable::sum_bins_of_group(FeatureRange range, const LaneGroup& group, const Integer* rounded,
                                   Integer* sums) const {
    const std::size_t W = group.width, n_together = kValuesTogether / W;
    for (std::size_t begin = 0; begin < n_rows(); begin += n_together) {
        const std::size_t n = std::min(n_together, n_rows() - begin);
        const Integer* values = rounded + begin * W;
        for (std::size_t f = range.first; f < range.last; ++f)
            pool_->column(f).visit([&](const auto* bins) {
                Integer* own = sums + (pool_->first_bin(f) - pool_->first_bin(range.first)) * W;
                if (W == 1) {
                    for (std::size_t i = 0; i < n; ++i) own[bins[begin + i]] += values[i];
                } else if (W == 2) {
                    for (std::size_t i = 0; i < n; ++i) {
                        own[2 * bins[begin + i]] += values[2 * i];
                        own[2 * bins[begin + i] + 1] += values[2 * i + 1];
                    }
                } else {
                    vector_ops().sum_bins(bins + begin, n, values, own);
                }
            });
    }
    for (std::size_t f = range.first; f < range.last; ++f) {
        Integer* own = sums + (pool_->first_bin(f) - pool_->first_bin(range.first)) * W;
        for (std::size_t k = W; k < pool_->feature(f).n_bins() * W; ++k) own[k] += own[k - W];
    }
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
