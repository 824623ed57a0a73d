#include "scan_stumps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "four_lanes.hpp"
#include "threads.hpp"

namespace cgens {

StumpScan::StumpScan(std::shared_ptr<const StumpPool> pool, int n_threads)
    : pool_(std::move(pool)),
      n_threads_(n_threads),
      histogram_(pool_->n_bins(), 0),
      rounded_(pool_->n_rows(), 0),
      best_(pool_->n_features()) {}

// Rounds the duals and lists those that changed since the last call, or all that are not 0 if these are fewer. Histograms
// are sums of integers: changes update them exactly, also those by another unit.
void StumpScan::round_duals(const double* duals) {
    const FixedPoint unit = unit_ = FixedPoint::holding(extent_of(duals, n_rows(), 1, n_threads_), n_rows());
    std::size_t n_nonzero = 0;
    std::int64_t total = 0;
    changes_.clear();
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const std::int64_t now = unit.round(duals[i]);
        const std::int64_t by = now - rounded_[i];
        rounded_[i] = now;
        total += now;
        n_nonzero += now != 0;
        if (by != 0) changes_.push_back({static_cast<std::uint32_t>(i), by});
    }
    total_ = total;
    rebuild_ = changes_.size() > n_nonzero;
    if (!rebuild_) return;
    changes_.clear();
    for (std::size_t i = 0; i < n_rows(); ++i)
        if (rounded_[i] != 0) changes_.push_back({static_cast<std::uint32_t>(i), rounded_[i]});
}

// The changed rows are scattered in memory: prefetch the beginning of a row's codes, then the codes.
inline void StumpScan::prefetch_change(const FeatureBlock& block, std::size_t k) const {
    constexpr std::size_t kFar = 16, kNear = 8;
    if (k + kFar >= changes_.size()) return;
    __builtin_prefetch(block.row_begin.data() + changes_[k + kFar].row);
    const std::uint32_t begin = block.row_begin[changes_[k + kNear].row];
    if (block.wide_codes.empty()) {
        __builtin_prefetch(block.codes.data() + begin);
    } else {
        __builtin_prefetch(block.wide_codes.data() + begin);
    }
}

void StumpScan::update_histograms(const FeatureBlock& block) {
    std::int64_t* histogram = histogram_.data() + pool_->first_bin(block.first_feature);
    if (rebuild_) std::fill(histogram, histogram + block.bin_offset.back(), 0);
    for (std::size_t k = 0; k < changes_.size(); ++k) {
        prefetch_change(block, k);
        const std::int64_t by = changes_[k].by;
        visit_row(block, changes_[k].row, [&](std::size_t code) { histogram[code] += by; });
    }
}

// The features take turns for a few changes at a time, which stay in the cache.
void StumpScan::update_histograms(FeatureRange range) {
    constexpr std::size_t kTogether = 2048;
    std::int64_t* first = histogram_.data() + pool_->first_bin(range.first);
    if (rebuild_) std::fill(first, histogram_.data() + pool_->first_bin(range.last - 1) + pool_->feature(range.last - 1).n_bins(), 0);
    for (std::size_t begin = 0; begin < changes_.size(); begin += kTogether) {
        const std::size_t end = std::min(begin + kTogether, changes_.size());
        for (std::size_t f = range.first; f < range.last; ++f)
            pool_->column(f).visit([&, histogram = histogram_.data() + pool_->first_bin(f)](const auto* bins) {
                for (std::size_t k = begin; k < end; ++k) histogram[bins[changes_[k].row]] += changes_[k].by;
            });
    }
}

// With L_k the sum of the duals in bins 0 ... k, M that of gaps and T the total, the price of the threshold above bin k is
// T - 2 L_k, and T - 2 (L_k + M) if gaps are below it; that of a level with the sum S is 2 S - T. The sum of the common
// bin of numbers without gaps is never needed: thresholds below it are summed from the left, the others from the right.
// Sums are exact integers; only the finished price is converted to double.
void StumpScan::price_cells(const BinnedFeature& feature, const std::int64_t* histogram, double* prices) const {
    const std::size_t n_bins = feature.n_bins();
    // Of a dense table, no bin is left out.
    const std::size_t common_bin = pool_->is_dense() ? n_bins : feature.common_bin;
    std::int64_t common = total_;
    if (feature.is_category || feature.has_gaps)
        for (std::size_t k = 0; k < n_bins; ++k) common -= histogram[k];  // its own entry is 0
    const auto sum_of = [&](std::size_t bin) { return bin == common_bin ? common : histogram[bin]; };
    if (feature.is_category) {
        for (std::size_t k = 0; k < n_bins; ++k) prices[k] = static_cast<double>(2 * sum_of(k) - total_);
        if (feature.has_others) prices[feature.others_bin()] *= -1;
        return;
    }
    const std::size_t n_upper = feature.n_upper_cells();
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < common_bin && k < n_upper; ++k) {
        sum += histogram[k];
        prices[k] = static_cast<double>(total_ - 2 * sum);
    }
    sum = 0;
    for (std::size_t k = n_upper; k-- > common_bin;) {
        sum += histogram[k + 1];
        prices[k] = static_cast<double>(2 * sum - total_);
    }
    if (!feature.has_gaps) return;
    double* lower = prices + n_upper;
    sum = sum_of(feature.gap_bin());
    for (std::size_t k = 0; k + 1 < n_upper; ++k) {
        sum += sum_of(k);
        lower[k] = static_cast<double>(total_ - 2 * sum);
    }
}

void StumpScan::scan_feature(std::size_t f, std::vector<double>& prices) {
    const BinnedFeature& feature = pool_->feature(f);
    prices.assign((feature.n_cells() + kFourLanes - 1) / kFourLanes * kFourLanes, 0.0);
    if (feature.n_cells() > 0) price_cells(feature, histogram_.data() + pool_->first_bin(f), prices.data());
    for (const StumpPool::Repeated& repeated : pool_->repeated(f)) prices[repeated.cell] = 0.0;
    FeatureBest& best = best_[f];
    best.energy = sum_lanes(prices.size(), [data = prices.data()](std::size_t k) { return data[k] * data[k]; });
    for (const std::uint32_t k : pool_->taken(f)) prices[k] = 0.0;
    double size;
    best.cell = first_largest(prices.size(), [data = prices.data()](std::size_t k) { return std::abs(data[k]); }, size);
    best.price = size > 0 ? prices[best.cell] : 0.0;
}

StumpPrice StumpScan::price(const double* duals) {
    round_duals(duals);
    const auto entries_per_row = static_cast<double>(pool_->n_entries()) / static_cast<double>(n_rows());
    const double work = static_cast<double>(changes_.size()) * entries_per_row + static_cast<double>(histogram_.size());
    const auto scan = [&](std::size_t first, std::size_t last) {
        std::vector<double> prices;
        for (std::size_t f = first; f < last; ++f) scan_feature(f, prices);
    };
    if (pool_->is_dense()) {
        const std::vector<FeatureRange> ranges = feature_ranges(pool_->n_features(), n_threads_);
        for_tasks(ranges.size(), n_threads_, work, [&](std::size_t r, std::size_t) {
            update_histograms(ranges[r]);
            scan(ranges[r].first, ranges[r].last);
        });
    } else {
        for_tasks(pool_->blocks().size(), n_threads_, work, [&](std::size_t b, std::size_t) {
            const FeatureBlock& block = pool_->blocks()[b];
            update_histograms(block);
            scan(block.first_feature, block.first_feature + block.n_features);
        });
    }
    StumpPrice result{false, 0, 0.0, 0.0};
    for (std::size_t f = 0; f < pool_->n_features(); ++f) {  // in order: ties go to the first feature
        result.energy += best_[f].energy;
        if (std::abs(best_[f].price) <= std::abs(result.price)) continue;
        result.found = true;
        result.candidate = pool_->first_cell(f) + best_[f].cell;
        result.price = best_[f].price;
    }
    result.price = unit_.value(result.price);
    result.energy = unit_.value(unit_.value(result.energy));
    return result;
}

}  // namespace cgens
