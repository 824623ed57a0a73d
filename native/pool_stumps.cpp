#include "pool_stumps.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

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

// Gives each response, up to sign, to the first threshold that has it.
void StumpPool::mark_repeated(int n_threads) {
    std::vector<Fingerprint> in_bin(n_bins_);
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
    Fingerprint everything;
    for (std::size_t i = 0; i < table_.n_rows; ++i) everything += row_key(i);
    FingerprintMap<Threshold> seen(n_bins_);
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

bool StumpPool::find_bin(std::size_t feature, double threshold, std::size_t& bin) const {
    const std::vector<double>& thresholds = table_.features.at(feature).thresholds;
    const auto found = std::lower_bound(thresholds.begin(), thresholds.end(), threshold);
    bin = static_cast<std::size_t>(found - thresholds.begin());
    return found != thresholds.end() && *found == threshold;
}

std::size_t StumpPool::bin_of(std::size_t feature, double threshold) const {
    std::size_t bin;
    if (!find_bin(feature, threshold, bin)) throw std::invalid_argument("the threshold is not one of the table's");
    return bin;
}

bool StumpPool::take(std::size_t feature, double threshold) {
    std::size_t bin;
    if (!find_bin(feature, threshold, bin)) return false;
    Threshold first{static_cast<std::uint32_t>(feature), static_cast<std::uint32_t>(bin)};
    for (const Repeated& repeated : repeated_[feature])
        if (repeated.bin == bin) first = repeated.first;
    std::vector<std::uint32_t>& taken = taken_[first.feature];
    if (std::find(taken.begin(), taken.end(), first.bin) != taken.end()) return false;
    taken.push_back(first.bin);
    return true;
}

void StumpPool::respond(std::size_t feature, double threshold, std::int8_t* out) const {
    const std::size_t bin = bin_of(feature, threshold);
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

}  // namespace cgens
