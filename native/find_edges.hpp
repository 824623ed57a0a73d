// The edges of a feature's bins and the bin of each of its entries.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "binned_feature.hpp"
#include "mix_bits.hpp"

namespace cgens {

constexpr std::size_t kMaxHashed = 1024;  // maximum number of distinct values to hash rather than sort

// A threshold t with exactly low <= t < high, even if the sum would overflow or the halves are rounded.
inline double midpoint(double low, double high) {
    const double middle = 0.5 * low + 0.5 * high;
    return middle >= low && middle < high ? middle : low;
}

// Bits that sort like the finite float or double, with 0.0 equal to -0.0.
template <class T>
std::uint64_t sort_key(T value) {
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits, sign = 1;
    sign <<= 8 * sizeof(T) - 1;
    value += 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

struct SortItem {
    std::uint64_t key;
    std::uint32_t entry;  // or kZero
};
constexpr std::uint32_t kZero = std::numeric_limits<std::uint32_t>::max();  // all rows without an entry

// Stable radix sort by key; digits that are the same in all keys need no pass.
inline void sort_items(std::vector<SortItem>& items, std::vector<SortItem>& scratch) {
    constexpr int kBits = 11, kDigits = 6;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    std::vector<std::array<std::uint32_t, kBuckets>> counts(kDigits);
    for (auto& count : counts) count.fill(0);
    for (const SortItem& item : items)
        for (int digit = 0; digit < kDigits; ++digit)
            ++counts[static_cast<std::size_t>(digit)][(item.key >> (kBits * digit)) % kBuckets];
    scratch.resize(items.size());
    for (int digit = 0; digit < kDigits; ++digit) {
        auto& count = counts[static_cast<std::size_t>(digit)];
        const int shift = kBits * digit;
        if (count[(items[0].key >> shift) % kBuckets] == items.size()) continue;
        std::uint32_t begin = 0;
        for (std::uint32_t& c : count) begin += std::exchange(c, begin);
        for (const SortItem& item : items) scratch[count[(item.key >> shift) % kBuckets]++] = item;
        items.swap(scratch);
    }
}

// The entries of a feature: one per row, or in compressed columns only those that are stored; the others are 0.
template <class T>
struct Entries {
    const T* values;
    const std::uint32_t* rows;  // canonical; null: entry i is row i
    std::size_t n, n_zeros;     // stored entries, and rows that have none
    std::size_t row(std::size_t k) const { return rows == nullptr ? k : rows[k]; }
};

// Bins one feature at a time, with scratch memory of its own.
template <class T>
class FeatureBinner {
   public:
    FeatureBinner(const double* weights, std::size_t n_rows, std::size_t max_bins, double min_level_weight)
        : weights_(weights), max_bins_(max_bins), min_level_weight_(min_level_weight) {
        for (std::size_t i = 0; i < n_rows; ++i) total_weight_ += weights[i];
    }

    // Finds the edges of a feature, and the bin of each entry.
    BinnedFeature bin(const Entries<T>& entries, bool is_category, std::uint32_t* bins) {
        BinnedFeature feature;
        feature.is_category = is_category;
        if (is_category) {
            bin_levels(entries, feature, bins);
        } else {
            if (max_bins_ > kMaxHashed || !separate_distinct(entries, feature, bins))
                separate_quantiles(entries, feature, bins);
            bin_gaps(entries, feature, bins);
        }
        find_common_bin(entries, feature, bins);
        return feature;
    }
    // The same for a number with at most max_bins distinct values; returns false if it has more.
    bool bin_few_values(const Entries<T>& entries, BinnedFeature& feature, std::uint32_t* bins) {
        feature = BinnedFeature();
        if (!separate_distinct(entries, feature, bins)) return false;
        bin_gaps(entries, feature, bins);
        find_common_bin(entries, feature, bins);
        return true;
    }
    // Whether the numbers that were binned last had more than max_bins distinct values.
    bool had_many_values() const { return n_distinct_ > max_bins_; }

   private:
    void find_common_bin(const Entries<T>& entries, BinnedFeature& feature, const std::uint32_t* bins) {
        counts_.assign(feature.n_bins(), 0);
        for (std::size_t k = 0; k < entries.n; ++k) ++counts_[bins[k]];
        if (entries.n_zeros > 0) counts_[feature.encode(0.0)] += static_cast<std::uint32_t>(entries.n_zeros);
        feature.common_bin =
            static_cast<std::uint32_t>(std::max_element(counts_.begin(), counts_.end()) - counts_.begin());
    }

    // Edges and bins together: whoever finds the edges, by hashing or sorting, knows the bins as well, which is several
    // times as fast as searching for them.
    void bin_gaps(const Entries<T>& entries, BinnedFeature& feature, std::uint32_t* bins) {
        if (!feature.has_gaps) return;
        // The threshold between all values, if there are any, and gaps.
        if (n_values_ > 0) feature.thresholds.push_back(std::numeric_limits<double>::infinity());
        const auto gap_bin = static_cast<std::uint32_t>(feature.gap_bin());
        for (std::size_t k = 0; k < entries.n; ++k)
            if (std::isnan(entries.values[k])) bins[k] = gap_bin;
    }

    // One bin per distinct value, found by hashing. Returns false if there are more than max_bins.
    bool separate_distinct(const Entries<T>& entries, BinnedFeature& feature, std::uint32_t* bins) {
        constexpr std::size_t kSlots = 4 * kMaxHashed;
        constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();
        slots_.assign(kSlots, kEmpty);
        distinct_.clear();
        if (entries.n_zeros > 0) distinct_.push_back(0), slots_[mix_bits(sort_key(T{0})) % kSlots] = 0;
        std::uint32_t last = 0;
        for (std::size_t k = 0; k < entries.n; ++k) {
            const T value = entries.values[k];
            if (distinct_.empty() || value != distinct_[last]) {
                if (std::isnan(value)) {
                    feature.has_gaps = true;
                    bins[k] = 0;  // for now
                    continue;
                }
                std::size_t slot = mix_bits(sort_key(value)) % kSlots;
                while (slots_[slot] != kEmpty && distinct_[slots_[slot]] != value) slot = (slot + 1) % kSlots;
                if (slots_[slot] == kEmpty) {
                    if (distinct_.size() == max_bins_) return false;
                    slots_[slot] = static_cast<std::uint32_t>(distinct_.size());
                    distinct_.push_back(value);
                }
                last = slots_[slot];
            }
            bins[k] = last;
        }
        n_values_ = n_distinct_ = distinct_.size();
        if (n_values_ == 0) return true;
        std::vector<std::uint32_t> order(n_values_), rank(n_values_);
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return distinct_[a] < distinct_[b]; });
        for (std::uint32_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
        for (std::size_t k = 1; k < order.size(); ++k)
            feature.thresholds.push_back(midpoint(distinct_[order[k - 1]], distinct_[order[k]]));
        for (std::size_t k = 0; k < entries.n; ++k) bins[k] = rank[bins[k]];
        return true;
    }

    // One bin per distinct value if there are at most max_bins. Otherwise bins of about equal weight: a bin ends with
    // the value that completes its share of the weight that was left when it began, so that heavy values do not deprive
    // the bins after them.
    void separate_quantiles(const Entries<T>& entries, BinnedFeature& feature, std::uint32_t* bins) {
        items_.clear();
        double left = 0.0, stored = 0.0;
        for (std::size_t k = 0; k < entries.n; ++k) {
            const T value = entries.values[k];
            const double weight = weights_[entries.row(k)];
            stored += weight;
            if (std::isnan(value)) {
                feature.has_gaps = true;
                continue;
            }
            items_.push_back({sort_key(value), static_cast<std::uint32_t>(k)});
            left += weight;
        }
        const double zero_weight = total_weight_ - stored;
        if (entries.n_zeros > 0) {
            items_.push_back({sort_key(T{0}), kZero});
            left += zero_weight;
        }
        n_values_ = n_distinct_ = items_.size();
        if (items_.empty()) return;
        sort_items(items_, scratch_);
        const auto value_of = [&](const SortItem& item) { return item.entry == kZero ? T{0} : entries.values[item.entry]; };
        std::size_t n_distinct = 1;
        for (std::size_t k = 1; k < items_.size(); ++k) n_distinct += items_[k].key != items_[k - 1].key;
        n_distinct_ = n_distinct;
        const bool every_value = n_distinct <= max_bins_;
        std::uint32_t bin = 0;
        double filled = 0.0;
        double share = left / static_cast<double>(max_bins_);
        for (std::size_t k = 0; k < items_.size(); ++k) {
            const std::uint32_t entry = items_[k].entry;
            if (entry != kZero) bins[entry] = bin;
            filled += entry == kZero ? zero_weight : weights_[entries.row(entry)];
            if (k + 1 == items_.size() || items_[k + 1].key == items_[k].key) continue;
            // Up to rounding: bins must not depend on the order in which equal weights were summed.
            const bool filling = filled < (1 - 1e-9) * share || bin + 1 == max_bins_;
            if (filling && !every_value) continue;
            feature.thresholds.push_back(midpoint(value_of(items_[k]), value_of(items_[k + 1])));
            ++bin;
            left -= filled;
            filled = 0.0;
            share = left / static_cast<double>(max_bins_ - bin);
        }
    }

    // One bin per level of sufficient weight.
    void bin_levels(const Entries<T>& entries, BinnedFeature& feature, std::uint32_t* bins) {
        level_weights_.clear();
        for (std::size_t k = 0; k < entries.n; ++k) {
            if (std::isnan(entries.values[k])) {
                feature.has_gaps = true;
                continue;
            }
            const auto level = static_cast<std::size_t>(entries.values[k]);
            if (level >= level_weights_.size()) level_weights_.resize(level + 1, 0.0);
            level_weights_[level] += weights_[entries.row(k)];
        }
        for (std::size_t level = 0; level < level_weights_.size(); ++level) {
            if (level_weights_[level] >= (1 - 1e-9) * min_level_weight_ && level_weights_[level] > 0) {
                feature.levels.push_back(static_cast<std::uint32_t>(level));
            } else {
                feature.has_others |= level_weights_[level] > 0;
            }
        }
        bin_of_level_.assign(level_weights_.size(), static_cast<std::uint32_t>(feature.others_bin()));
        for (std::size_t k = 0; k < feature.levels.size(); ++k)
            bin_of_level_[feature.levels[k]] = static_cast<std::uint32_t>(k);
        const auto gap_bin = static_cast<std::uint32_t>(feature.gap_bin());
        for (std::size_t k = 0; k < entries.n; ++k) {
            const T value = entries.values[k];
            bins[k] = std::isnan(value) ? gap_bin : bin_of_level_[static_cast<std::size_t>(value)];
        }
    }

    const double* weights_;
    std::size_t max_bins_;
    double min_level_weight_, total_weight_ = 0.0;
    std::size_t n_values_ = 0;    // 0 if all entries of the feature are gaps
    std::size_t n_distinct_ = 0;  // distinct values
    std::vector<std::uint32_t> slots_, counts_, bin_of_level_;
    std::vector<T> distinct_;
    std::vector<double> level_weights_;
    std::vector<SortItem> items_, scratch_;
};

}  // namespace cgens
