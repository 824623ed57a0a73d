#include "pool_stumps.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

// A 128-bit fingerprint of a set of rows: the sum of the rows' keys, so that prefix sums give those of all thresholds.
__extension__ using Fingerprint = unsigned __int128;

Fingerprint row_key(std::size_t row) { return Fingerprint{mix_bits(2 * row)} << 64 | mix_bits(2 * row + 1); }

// The first threshold with each fingerprint, in a hash table with open addressing.
class FirstThresholds {
   public:
    explicit FirstThresholds(std::size_t max_size) {
        while (slots_.size() < 2 * max_size + 2) slots_.resize(std::max<std::size_t>(64, 2 * slots_.size()));
    }
    // Returns the first threshold with this fingerprint, or null if it is `own`, which is then inserted.
    const StumpPool::Threshold* find_or_insert(Fingerprint fingerprint, StumpPool::Threshold own) {
        std::size_t at = static_cast<std::size_t>(fingerprint) % slots_.size();
        for (; slots_[at].used; at = (at + 1) % slots_.size())
            if (slots_[at].fingerprint == fingerprint) return &slots_[at].first;
        slots_[at] = {fingerprint, own, true};
        return nullptr;
    }

   private:
    struct Slot {
        Fingerprint fingerprint = 0;
        StumpPool::Threshold first{};
        bool used = false;
    };
    std::vector<Slot> slots_;
};

}  // namespace

StumpPool::StumpPool(BinnedTable table, int n_threads) : table_(std::move(table)) {
    for (const BinnedFeature& feature : table_.features) {
        first_bin_.push_back(n_bins_);
        n_bins_ += feature.n_bins();
    }
    for (const FeatureBlock& block : table_.blocks) n_entries_ += block.row_begin.back();
    repeated_.resize(n_features());
    taken_.resize(n_features());
    mark_repeated(n_threads);
}

// Assigns each response, up to sign, to the first threshold that has it.
void StumpPool::mark_repeated(int n_threads) {
    std::vector<Fingerprint> in_bin(n_bins_, 0);
    const auto n_blocks = static_cast<std::ptrdiff_t>(table_.blocks.size());
#pragma omp parallel for schedule(dynamic) num_threads(usable_threads(n_threads, static_cast<double>(n_entries_)))
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
        const FeatureBlock& block = table_.blocks[static_cast<std::size_t>(b)];
        Fingerprint* bins = in_bin.data() + first_bin_[block.first_feature];
        for (std::size_t i = 0; i < table_.n_rows; ++i) {
            const Fingerprint key = row_key(i);
            visit_row(block, i, [&](std::size_t code) { bins[code] += key; });
        }
    }
    Fingerprint everything = 0;
    for (std::size_t i = 0; i < table_.n_rows; ++i) everything += row_key(i);
    FirstThresholds seen(n_bins_);
    for (std::size_t f = 0; f < n_features(); ++f) {
        const BinnedFeature& feature = table_.features[f];
        Fingerprint* bins = in_bin.data() + first_bin_[f];
        Fingerprint common = everything;
        for (std::size_t k = 0; k < feature.n_bins(); ++k)
            if (k != feature.common_bin) common -= bins[k];
        bins[feature.common_bin] = common;
        Fingerprint below = 0;
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

std::optional<std::size_t> StumpPool::find_bin(std::size_t feature, double threshold) const {
    const std::vector<double>& thresholds = table_.features.at(feature).thresholds;
    const auto found = std::lower_bound(thresholds.begin(), thresholds.end(), threshold);
    if (found == thresholds.end() || *found != threshold) return std::nullopt;
    return static_cast<std::size_t>(found - thresholds.begin());
}

std::size_t StumpPool::bin_of(std::size_t feature, double threshold) const {
    if (const auto bin = find_bin(feature, threshold)) return *bin;
    throw std::invalid_argument("the feature has no such threshold");
}

bool StumpPool::take(std::size_t feature, double threshold) {
    const auto bin = find_bin(feature, threshold);
    if (!bin) return false;
    Threshold first{static_cast<std::uint32_t>(feature), static_cast<std::uint32_t>(*bin)};
    for (const Repeated& repeated : repeated_[feature])
        if (repeated.bin == *bin) first = repeated.first;
    std::vector<std::uint32_t>& taken = taken_[first.feature];
    if (std::find(taken.begin(), taken.end(), first.bin) != taken.end()) return false;
    taken.push_back(first.bin);
    return true;
}

void StumpPool::respond(std::size_t feature, double threshold, std::int8_t* out) const {
    const Split stump = split(feature, bin_of(feature, threshold));
    for (std::size_t i = 0; i < table_.n_rows; ++i) {
        out[i] = stump.common_above ? 1 : -1;
        stump.visit(i, [&](bool above) { out[i] = above ? 1 : -1; });
    }
}

}  // namespace cgens
