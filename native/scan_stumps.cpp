#include "scan_stumps.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

// Calls visit(code) for each stored entry of one row in a block.
template <class Visit>
inline void visit_row(const FeatureBlock& block, std::size_t row, Visit visit) {
    const std::uint32_t begin = block.row_begin[row], end = block.row_begin[row + 1];
    if (block.wide_codes.empty()) {
        for (std::uint32_t k = begin; k < end; ++k) visit(block.codes[k]);
    } else {
        for (std::uint32_t k = begin; k < end; ++k) visit(block.wide_codes[k]);
    }
}

// A 128-bit fingerprint of a set of rows: the sum of the rows' keys, so that it can be read off prefix sums.
struct Fingerprint {
    std::uint64_t a = 0, b = 0;
    Fingerprint& operator+=(const Fingerprint& other) {
        a += other.a;
        b += other.b;
        return *this;
    }
    friend Fingerprint operator-(Fingerprint x, const Fingerprint& y) { return {x.a - y.a, x.b - y.b}; }
    friend bool operator<(const Fingerprint& x, const Fingerprint& y) {
        return x.a != y.a ? x.a < y.a : x.b < y.b;
    }
    friend bool operator==(const Fingerprint& x, const Fingerprint& y) { return x.a == y.a && x.b == y.b; }
};

Fingerprint row_key(std::size_t row) { return {mix_bits(2 * row), mix_bits(2 * row + 1)}; }

// Open addressing: who was first with a fingerprint.
template <class Owner>
class FingerprintMap {
   public:
    explicit FingerprintMap(std::size_t most) {
        while (slots_.size() < 2 * most + 2) slots_.resize(std::max<std::size_t>(64, 2 * slots_.size()));
    }
    // The first owner, or null where that is the caller from now on.
    const Owner* find_or_insert(const Fingerprint& fingerprint, const Owner& owner) {
        std::size_t at = fingerprint.a % slots_.size();
        for (; slots_[at].used; at = (at + 1) % slots_.size())
            if (slots_[at].fingerprint == fingerprint) return &slots_[at].owner;
        slots_[at] = {true, fingerprint, owner};
        return nullptr;
    }

   private:
    struct Slot {
        bool used = false;
        Fingerprint fingerprint;
        Owner owner{};
    };
    std::vector<Slot> slots_;
};

}  // namespace

StumpScan::StumpScan(BinnedTable table, int n_threads) : table_(std::move(table)), n_threads_(n_threads) {
    std::size_t n_bins = 0;
    for (const BinnedFeature& feature : table_.features) {
        first_bin_.push_back(n_bins);
        n_bins += feature.n_bins();
    }
    for (const FeatureBlock& block : table_.blocks) {
        first_block_.push_back(first_bin_[block.first_feature]);
        n_entries_ += block.row_begin.back();
    }
    histogram_.assign(n_bins, 0);
    repeated_.resize(table_.features.size());
    taken_.resize(table_.features.size());
    rounded_.assign(table_.n_rows, 0);
    best_.resize(table_.features.size());
    mark_repeated();
}

// Gives each response, up to sign, to the first threshold that has it.
void StumpScan::mark_repeated() {
    std::vector<Fingerprint> in_bin(histogram_.size());
    const auto n_blocks = static_cast<std::ptrdiff_t>(table_.blocks.size());
#pragma omp parallel for schedule(dynamic) num_threads(usable_threads(n_threads_, static_cast<double>(n_entries_)))
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
        const FeatureBlock& block = table_.blocks[static_cast<std::size_t>(b)];
        Fingerprint* bins = in_bin.data() + first_block_[static_cast<std::size_t>(b)];
        for (std::size_t i = 0; i < table_.n_rows; ++i) {
            const Fingerprint key = row_key(i);
            visit_row(block, i, [&](std::size_t code) { bins[code] += key; });
        }
    }
    Fingerprint everything;
    for (std::size_t i = 0; i < table_.n_rows; ++i) everything += row_key(i);
    FingerprintMap<Threshold> seen(histogram_.size());
    for (std::size_t f = 0; f < n_features(); ++f) {
        const BinnedFeature& feature = table_.features[f];
        Fingerprint* bins = in_bin.data() + first_bin_[f];
        Fingerprint common = everything;
        for (std::size_t k = 0; k < feature.n_bins(); ++k)
            if (k != feature.common_bin) common = common - bins[k];
        bins[feature.common_bin] = common;
        Fingerprint below;
        for (std::size_t k = 0; k + 1 < feature.n_bins(); ++k) {
            below += bins[k];
            const Fingerprint above = everything - below;
            const Threshold own{static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(k)};
            if (const Threshold* first = seen.find_or_insert(std::min(below, above), own)) {
                repeated_[f].push_back({own.bin, *first});
            } else {
                ++n_candidates_;
            }
        }
    }
}

std::size_t StumpScan::bin_of(std::size_t feature, double threshold) const {
    const std::vector<double>& thresholds = table_.features.at(feature).thresholds;
    const auto found = std::lower_bound(thresholds.begin(), thresholds.end(), threshold);
    if (found == thresholds.end() || *found != threshold) return thresholds.size();
    return static_cast<std::size_t>(found - thresholds.begin());
}

bool StumpScan::take(std::size_t feature, double threshold) {
    const std::size_t bin = bin_of(feature, threshold);
    if (bin == table_.features[feature].thresholds.size()) return false;
    Threshold first{static_cast<std::uint32_t>(feature), static_cast<std::uint32_t>(bin)};
    for (const Repeated& repeated : repeated_[feature])
        if (repeated.bin == bin) first = repeated.first;
    std::vector<std::uint32_t>& taken = taken_[first.feature];
    if (std::find(taken.begin(), taken.end(), first.bin) != taken.end()) return false;
    taken.push_back(first.bin);
    return true;
}

void StumpScan::respond(std::size_t feature, double threshold, std::int8_t* out) const {
    const std::size_t bin = bin_of(feature, threshold);
    if (bin == table_.features[feature].thresholds.size())
        throw std::invalid_argument("respond: the threshold is not one of the table's");
    std::size_t b = 0;
    while (feature >= table_.blocks[b].first_feature + table_.blocks[b].n_features) ++b;
    const FeatureBlock& block = table_.blocks[b];
    const std::size_t begin = block.bin_offset[feature - block.first_feature];
    const std::size_t n_bins = table_.features[feature].n_bins();
    const std::int8_t common = table_.features[feature].common_bin > bin ? 1 : -1;
    for (std::size_t i = 0; i < table_.n_rows; ++i) {
        out[i] = common;
        visit_row(block, i, [&](std::size_t code) {
            if (code - begin < n_bins) out[i] = code - begin > bin ? 1 : -1;  // unsigned: also refuses code < begin
        });
    }
}

// Rounds the duals and lists what changed since the last call: everything, where the unit had to change.
void StumpScan::round_duals(const double* duals) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n_rows(); ++i) largest = std::max(largest, std::abs(duals[i]));
    // 2 n_rows |r| < 2^62 leaves room for twice any sum of duals.
    const int exponent =
        largest > 0 ? 60 - std::ilogb(largest) - 1 - std::ilogb(static_cast<double>(n_rows())) - 1 : exponent_;
    rebuild_ = exponent != exponent_;
    exponent_ = exponent;

    // A sum of 2^-1074 ... 2^1023 times 2^exponent: ldexp, because 2^exponent itself may overflow.
    const double unit = std::ldexp(1.0, std::min(exponent, 1000));
    const double rest = std::ldexp(1.0, exponent - std::min(exponent, 1000));
    std::size_t n_nonzero = 0;
    changes_.clear();
    total_ = 0;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const std::int64_t now = std::llrint(duals[i] * unit * rest);
        const std::int64_t by = now - rounded_[i];
        rounded_[i] = now;
        total_ += now;
        n_nonzero += now != 0;
        if (by != 0) changes_.push_back({static_cast<std::uint32_t>(i), by});
    }
    rebuild_ = rebuild_ || changes_.size() > n_nonzero;
    if (!rebuild_) return;
    changes_.clear();
    for (std::size_t i = 0; i < n_rows(); ++i)
        if (rounded_[i] != 0) changes_.push_back({static_cast<std::uint32_t>(i), rounded_[i]});
}

// The changed rows lie apart: ask for where a row's codes begin, then for the codes, before they are needed.
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
    std::int64_t* histogram = histogram_.data() + first_bin_[block.first_feature];
    if (rebuild_) std::fill(histogram, histogram + block.bin_offset.back(), 0);
    for (std::size_t k = 0; k < changes_.size(); ++k) {
        prefetch_change(block, k);
        const std::int64_t by = changes_[k].by;
        visit_row(block, changes_[k].row, [&](std::size_t code) { histogram[code] += by; });
    }
}

// With L_k the sum of duals in bins 0 ... k and T their total, the price of the threshold above bin k is T - 2 L_k.
// The common bin's own sum is never needed: thresholds below it are reached from the left, the others from the right.
// Sums are exact integers; a price becomes a double only once it is complete.
void StumpScan::scan_feature(std::size_t f, std::vector<double>& prices) {
    const BinnedFeature& feature = table_.features[f];
    const std::int64_t* histogram = histogram_.data() + first_bin_[f];
    const std::size_t n_thresholds = feature.n_bins() - 1;
    constexpr std::size_t kWide = 4;  // lanes, the same on every machine
    prices.assign((n_thresholds + kWide - 1) / kWide * kWide, 0.0);
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < feature.common_bin; ++k) {
        sum += histogram[k];
        prices[k] = static_cast<double>(total_ - 2 * sum);
    }
    sum = 0;
    for (std::size_t k = n_thresholds; k-- > feature.common_bin;) {
        sum += histogram[k + 1];
        prices[k] = static_cast<double>(2 * sum - total_);
    }
    for (const Repeated& repeated : repeated_[f]) prices[repeated.bin] = 0.0;
    double energy[kWide] = {};
    for (std::size_t k = 0; k < prices.size(); k += kWide)
        for (std::size_t l = 0; l < kWide; ++l) energy[l] += prices[k + l] * prices[k + l];
    for (const std::uint32_t k : taken_[f]) prices[k] = 0.0;
    double largest[kWide] = {};
    for (std::size_t k = 0; k < prices.size(); k += kWide)
        for (std::size_t l = 0; l < kWide; ++l) largest[l] = std::max(largest[l], std::abs(prices[k + l]));
    const double size = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
    const auto best = std::find_if(prices.begin(), prices.end(), [=](double price) { return std::abs(price) == size; });
    const bool any = size > 0;
    best_[f] = {any ? *best : 0.0, any ? static_cast<std::size_t>(best - prices.begin()) : 0,
                (energy[0] + energy[1]) + (energy[2] + energy[3])};
}

StumpPrice StumpScan::price(const double* duals) {
    round_duals(duals);
    const auto n_blocks = static_cast<std::ptrdiff_t>(table_.blocks.size());
    const auto entries_per_row = static_cast<double>(n_entries_) / static_cast<double>(n_rows());
    const double work = static_cast<double>(changes_.size()) * entries_per_row + static_cast<double>(histogram_.size());
#pragma omp parallel num_threads(usable_threads(n_threads_, work))
    {
        std::vector<double> prices;
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
            const FeatureBlock& block = table_.blocks[static_cast<std::size_t>(b)];
            update_histograms(block);
            for (std::size_t f = 0; f < block.n_features; ++f) scan_feature(block.first_feature + f, prices);
        }
    }
    StumpPrice result{false, 0, 0.0, 0.0, 0.0};
    for (std::size_t f = 0; f < n_features(); ++f) {  // in order: the first of equal prices wins
        result.energy += best_[f].energy;
        if (std::abs(best_[f].price) <= std::abs(result.price)) continue;
        result.found = true;
        result.feature = f;
        result.threshold = table_.features[f].thresholds[best_[f].bin];
        result.price = best_[f].price;
    }
    result.price = std::ldexp(result.price, -exponent_);
    result.energy = std::ldexp(std::ldexp(result.energy, -exponent_), -exponent_);
    return result;
}

}  // namespace cgens
