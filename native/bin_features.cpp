#include "bin_features.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kBlockFeatures = 32;  // 32 features of 256 bins: 64 KB of histograms
constexpr std::chrono::milliseconds kPollInterval{50};
constexpr std::size_t kMaxHashed = 1024;  // maximum number of distinct values to hash rather than sort

// A threshold t with exactly low <= t < high, even if the sum would overflow or the halves are rounded.
double midpoint(double low, double high) {
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
    std::uint32_t row;
};

// Stable radix sort by key; digits that are the same in all keys need no pass.
void sort_items(std::vector<SortItem>& items, std::vector<SortItem>& scratch) {
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

// Bins one feature at a time, with scratch memory of its own.
template <class T>
class FeatureBinner {
   public:
    FeatureBinner(const double* weights, std::size_t n_rows, std::size_t max_bins)
        : weights_(weights), n_rows_(n_rows), max_bins_(max_bins) {}

    // values[i] of canonical row i -> bins[i]
    BinnedFeature bin(const T* values, std::uint32_t* bins) {
        BinnedFeature feature;
        if (max_bins_ > kMaxHashed || !bin_distinct(values, bins, feature)) bin_sorted(values, bins, feature);
        counts_.assign(feature.n_bins(), 0);
        for (std::size_t i = 0; i < n_rows_; ++i) ++counts_[bins[i]];
        feature.common_bin =
            static_cast<std::uint32_t>(std::max_element(counts_.begin(), counts_.end()) - counts_.begin());
        return feature;
    }

   private:
    // One bin per distinct value, found by hashing. Returns false if there are more than max_bins.
    bool bin_distinct(const T* values, std::uint32_t* bins, BinnedFeature& feature) {
        constexpr std::size_t kSlots = 4 * kMaxHashed;
        constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();
        slots_.assign(kSlots, kEmpty);
        distinct_.clear();
        std::uint32_t last = 0;
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const T value = values[i];
            if (distinct_.empty() || value != distinct_[last]) {
                std::size_t slot = mix_bits(sort_key(value)) % kSlots;
                while (slots_[slot] != kEmpty && distinct_[slots_[slot]] != value) slot = (slot + 1) % kSlots;
                if (slots_[slot] == kEmpty) {
                    if (distinct_.size() == max_bins_) return false;
                    slots_[slot] = static_cast<std::uint32_t>(distinct_.size());
                    distinct_.push_back(value);
                }
                last = slots_[slot];
            }
            bins[i] = last;
        }
        std::vector<std::uint32_t> order(distinct_.size()), rank(distinct_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return distinct_[a] < distinct_[b]; });
        for (std::uint32_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
        for (std::size_t k = 1; k < order.size(); ++k)
            feature.thresholds.push_back(midpoint(distinct_[order[k - 1]], distinct_[order[k]]));
        for (std::size_t i = 0; i < n_rows_; ++i) bins[i] = rank[bins[i]];
        return true;
    }

    // One bin per distinct value if there are at most max_bins. Otherwise bins of about equal weight: a bin ends with
    // the value that completes its share of the weight that was left when it began, so that heavy values do not deprive
    // the bins after them.
    void bin_sorted(const T* values, std::uint32_t* bins, BinnedFeature& feature) {
        items_.resize(n_rows_);
        double left = 0.0;
        for (std::size_t i = 0; i < n_rows_; ++i) {
            items_[i] = {sort_key(values[i]), static_cast<std::uint32_t>(i)};
            left += weights_[i];
        }
        sort_items(items_, scratch_);
        std::size_t n_distinct = 1;
        for (std::size_t k = 1; k < n_rows_; ++k) n_distinct += items_[k].key != items_[k - 1].key;
        const bool every_value = n_distinct <= max_bins_;
        std::uint32_t bin = 0;
        double filled = 0.0;
        double share = left / static_cast<double>(max_bins_);
        for (std::size_t k = 0; k < n_rows_; ++k) {
            const std::uint32_t row = items_[k].row;
            bins[row] = bin;
            filled += weights_[row];
            if (k + 1 == n_rows_ || items_[k + 1].key == items_[k].key) continue;
            // Up to rounding: bins must not depend on the order in which equal weights were summed.
            const bool filling = filled < (1 - 1e-9) * share || bin + 1 == max_bins_;
            if (filling && !every_value) continue;
            feature.thresholds.push_back(midpoint(values[row], values[items_[k + 1].row]));
            ++bin;
            left -= filled;
            filled = 0.0;
            share = left / static_cast<double>(max_bins_ - bin);
        }
    }

    const double* weights_;
    std::size_t n_rows_, max_bins_;
    std::vector<std::uint32_t> slots_;
    std::vector<T> distinct_;
    std::vector<std::uint32_t> counts_;
    std::vector<SortItem> items_, scratch_;
};

template <class Code>
void store_codes(const BinnedTable& table, const std::vector<std::uint32_t>& bins, const FeatureBlock& block,
                 std::vector<Code>& codes) {
    codes.resize(block.row_begin.back());
    for (std::size_t i = 0; i < table.n_rows; ++i) {
        Code* out = codes.data() + block.row_begin[i];
        for (std::size_t f = 0; f < block.n_features; ++f) {
            const std::uint32_t bin = bins[f * table.n_rows + i];
            if (bin != table.features[block.first_feature + f].common_bin)
                *out++ = static_cast<Code>(block.bin_offset[f] + bin);
        }
    }
}

// Returns false if a value is NaN or infinite.
template <class T, class Stop>
bool bin_block(const MatrixView<T>& X, const std::int64_t* rows, FeatureBinner<T>& binner, BinnedTable& table,
               FeatureBlock& block, const Stop& stop) {
    const std::size_t n_rows = table.n_rows, n_features = block.n_features;
    std::vector<T> values(n_features * n_rows);
    constexpr std::size_t kAhead = 8;  // prefetched: canonical rows are scattered over X
    T zero_or_nan = 0;                 // NaN once a value is not finite
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (i + kAhead < n_rows) {
            const auto ahead = static_cast<std::size_t>(rows[i + kAhead]);
            __builtin_prefetch(&X(ahead, block.first_feature));
            __builtin_prefetch(&X(ahead, block.first_feature + n_features - 1));
        }
        for (std::size_t f = 0; f < n_features; ++f) {
            const T value = X(static_cast<std::size_t>(rows[i]), block.first_feature + f);
            zero_or_nan += 0 * value;
            values[f * n_rows + i] = value;
        }
    }
    if (zero_or_nan != 0) return false;

    std::vector<std::uint32_t> bins(n_features * n_rows);
    block.bin_offset.assign(1, 0);
    block.row_begin.assign(n_rows + 1, 0);
    for (std::size_t f = 0; f < n_features; ++f) {
        std::uint32_t* feature_bins = bins.data() + f * n_rows;
        if (stop()) return true;
        BinnedFeature& feature = table.features[block.first_feature + f];
        feature = binner.bin(values.data() + f * n_rows, feature_bins);
        block.bin_offset.push_back(block.bin_offset.back() + feature.n_bins());
        for (std::size_t i = 0; i < n_rows; ++i) block.row_begin[i + 1] += feature_bins[i] != feature.common_bin;
    }
    std::partial_sum(block.row_begin.begin(), block.row_begin.end(), block.row_begin.begin());
    if (block.bin_offset.back() <= 65536) {
        store_codes(table, bins, block, block.codes);
    } else {
        store_codes(table, bins, block, block.wide_codes);
    }
    return true;
}

}  // namespace

template <class T>
BinnedTable bin_features(const MatrixView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         std::size_t max_bins, int n_threads, const std::function<bool()>& interrupted) {
    if (n_rows > std::numeric_limits<std::uint32_t>::max() / kBlockFeatures)
        throw std::length_error("stumps and trees take at most 134217727 rows");
    BinnedTable table;
    table.n_rows = n_rows;
    table.features.resize(X.n_columns);
    // With few features, blocks are smaller, so that there is work for several threads.
    const std::size_t width = std::min(kBlockFeatures, X.n_columns / 4 + 1);
    for (std::size_t first = 0; first < X.n_columns; first += width) {
        FeatureBlock block;
        block.first_feature = first;
        block.n_features = std::min(width, X.n_columns - first);
        table.blocks.push_back(std::move(block));
    }
    const auto n_blocks = static_cast<std::ptrdiff_t>(table.blocks.size());
    std::atomic<bool> finite{true}, stopped{false};  // exceptions must not leave a parallel region
    std::exception_ptr thrown;
    const std::thread::id caller = std::this_thread::get_id();
    auto asked = std::chrono::steady_clock::now();
    const auto stop = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (interrupted && std::this_thread::get_id() == caller && now - asked > kPollInterval) {
            asked = now;
            try {
                if (interrupted()) stopped = true;
            } catch (...) {
                thrown = std::current_exception();
                stopped = true;
            }
        }
        return stopped.load();
    };
    const double work = 10 * static_cast<double>(n_rows * X.n_columns);
#pragma omp parallel num_threads(usable_threads(n_threads, work))
    {
        FeatureBinner<T> binner(weights, n_rows, max_bins);
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < n_blocks; ++b)
            if (!bin_block(X, rows, binner, table, table.blocks[static_cast<std::size_t>(b)], stop)) finite = false;
    }
    if (thrown) std::rethrow_exception(thrown);
    if (stopped) throw Interrupted();
    if (!finite) throw std::invalid_argument("stumps and trees need finite values: X has NaN or infinity");
    return table;
}

template BinnedTable bin_features(const MatrixView<float>&, const std::int64_t*, const double*, std::size_t,
                                  std::size_t, int, const std::function<bool()>&);
template BinnedTable bin_features(const MatrixView<double>&, const std::int64_t*, const double*, std::size_t,
                                  std::size_t, int, const std::function<bool()>&);

}  // namespace cgens
