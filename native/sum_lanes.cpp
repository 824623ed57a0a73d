// The products of vectors over the rows with all stumps of a table: sums over the rows of each bin.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "tabulate_stumps.hpp"
#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr std::size_t kValuesTogether = 16384;  // 128 KB: half a second-level cache at most

}  // namespace

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

}  // namespace cgens
