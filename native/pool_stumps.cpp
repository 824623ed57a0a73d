#include "pool_stumps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kTileRows = 4096;  // whose keys stay in the cache

// A 128-bit fingerprint of a set of rows: the sum of the rows' keys, so that prefix sums give those of all thresholds.
__extension__ using Fingerprint = unsigned __int128;

Fingerprint row_key(std::size_t row) { return Fingerprint{mix_bits(2 * row)} << 64 | mix_bits(2 * row + 1); }

// The fingerprints of all cells of a table, up to sign.
class CellFingerprints {
   public:
    // in_bin: of the rows in each bin, over all bins; `everything` that of all rows.
    CellFingerprints(const BinnedTable& table, const std::vector<std::size_t>& first_bin, std::vector<Fingerprint> in_bin,
                     Fingerprint everything)
        : table_(table), first_bin_(first_bin), bins_(std::move(in_bin)), everything_(everything) {
        for (std::size_t f = 0; f < table.features.size(); ++f) {
            const BinnedFeature& feature = table.features[f];
            Fingerprint* bins = bins_.data() + first_bin[f];
            Fingerprint common = everything;
            for (std::size_t k = 0; k < feature.n_bins(); ++k)
                if (k != feature.common_bin) common -= bins[k];
            bins[feature.common_bin] = common;
            if (feature.is_category) continue;
            for (std::size_t k = 1; k < feature.n_bins(); ++k) bins[k] += bins[k - 1];  // of all bins up to each
        }
    }

    Fingerprint operator()(StumpPool::Cell own) const {
        const BinnedFeature& feature = table_.features[own.feature];
        const Fingerprint* bins = bins_.data() + first_bin_[own.feature];
        Fingerprint side;
        if (feature.is_category || own.cell < feature.n_upper_cells()) {
            side = bins[own.cell];
        } else {
            side = bins[own.cell - feature.n_upper_cells()] + (everything_ - bins[feature.gap_bin() - 1]);
        }
        return std::min(side, everything_ - side);
    }

   private:
    const BinnedTable& table_;
    const std::vector<std::size_t>& first_bin_;
    std::vector<Fingerprint> bins_;
    Fingerprint everything_;
};

// The first cell with each fingerprint, in a hash table with open addressing.
class FirstCells {
   public:
    FirstCells(std::size_t max_size, const CellFingerprints& fingerprints) : fingerprints_(fingerprints) {
        std::size_t size = 64;
        while (size < 2 * max_size + 2) size *= 2;
        slots_.assign(size, {kEmpty, 0});
    }
    // Returns the first cell with the fingerprint of this one, which is inserted if there is none.
    StumpPool::Cell find_or_insert(StumpPool::Cell own) {
        const Fingerprint fingerprint = fingerprints_(own);
        std::size_t at = static_cast<std::size_t>(fingerprint) % slots_.size();
        for (; slots_[at].feature != kEmpty; at = (at + 1) % slots_.size())
            if (fingerprints_(slots_[at]) == fingerprint) return slots_[at];
        return slots_[at] = own;
    }

   private:
    static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();
    const CellFingerprints& fingerprints_;
    std::vector<StumpPool::Cell> slots_;
};

}  // namespace

StumpPool::StumpPool(BinnedTable table, int n_threads) : table_(std::move(table)), first_cell_{0} {
    for (const BinnedFeature& feature : table_.features) {
        first_bin_.push_back(n_bins_);
        n_bins_ += feature.n_bins();
        first_cell_.push_back(first_cell_.back() + feature.n_cells());
    }
    for (const FeatureBlock& block : table_.blocks) n_entries_ += block.row_begin.back();
    if (is_dense()) n_entries_ = n_rows() * n_features();
    repeated_.resize(n_features());
    taken_.resize(n_features());
    mark_repeated(n_threads);
}

// Assigns each response, up to sign, to the first cell that has it.
void StumpPool::mark_repeated(int n_threads) {
    std::vector<Fingerprint> in_bin(n_bins_, 0);
    const std::vector<FeatureRange> ranges = is_dense() ? feature_ranges(n_features(), n_threads) : std::vector<FeatureRange>();
    for_tasks(ranges.size(), n_threads, static_cast<double>(n_entries_), [&](std::size_t r, std::size_t) {
        std::vector<Fingerprint> keys(kTileRows);
        for (std::size_t first = 0; first < n_rows(); first += kTileRows) {
            const std::size_t last = std::min(first + kTileRows, n_rows());
            for (std::size_t i = first; i < last; ++i) keys[i - first] = row_key(i);
            for (std::size_t f = ranges[r].first; f < ranges[r].last; ++f)
                column(f).visit([&, own = in_bin.data() + first_bin_[f]](const auto* bins) {
                    for (std::size_t i = first; i < last; ++i) own[bins[i]] += keys[i - first];
                });
        }
    });
    for_tasks(table_.blocks.size(), n_threads, static_cast<double>(n_entries_), [&](std::size_t b, std::size_t) {
        const FeatureBlock& block = table_.blocks[b];
        Fingerprint* bins = in_bin.data() + first_bin_[block.first_feature];
        for (std::size_t i = 0; i < table_.n_rows; ++i) {
            const Fingerprint key = row_key(i);
            visit_row(block, i, [&](std::size_t code) { bins[code] += key; });
        }
    });
    Fingerprint everything = 0;
    for (std::size_t i = 0; i < table_.n_rows; ++i) everything += row_key(i);
    const CellFingerprints fingerprints(table_, first_bin_, std::move(in_bin), everything);
    FirstCells seen(n_cells(), fingerprints);
    for (std::size_t f = 0; f < n_features(); ++f)
        for (std::size_t k = 0; k < table_.features[f].n_cells(); ++k) {
            const Cell own{static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(k)};
            const Cell first = seen.find_or_insert(own);
            if (first.feature == own.feature && first.cell == own.cell) {
                ++n_candidates_;
            } else {
                repeated_[f].push_back({own.cell, first});
            }
        }
}

StumpPool::Cell StumpPool::cell_of(std::size_t candidate) const {
    if (candidate >= n_cells()) throw std::invalid_argument("the pool has no such candidate");
    const auto after = std::upper_bound(first_cell_.begin(), first_cell_.end(), candidate);
    const auto feature = static_cast<std::size_t>(after - first_cell_.begin()) - 1;
    return {static_cast<std::uint32_t>(feature), static_cast<std::uint32_t>(candidate - first_cell_[feature])};
}

Split StumpPool::split(std::size_t candidate) const {
    const Cell own = cell_of(candidate);
    const BinnedFeature& feature = table_.features[own.feature];
    Split split;
    split.feature = own.feature;
    split.gaps_known = feature.has_gaps;
    split.gaps_above = feature.has_gaps && feature.is_above(own.cell, feature.gap_bin());
    if (!feature.is_category) {
        const std::size_t upper = feature.n_upper_cells();
        split.threshold = feature.thresholds[own.cell < upper ? own.cell : own.cell - upper];
        return split;
    }
    for (std::size_t k = 0; k < feature.levels.size(); ++k)
        if (feature.is_above(own.cell, k)) split.levels.push_back(feature.levels[k]);
    return split;
}

std::optional<std::size_t> StumpPool::find(const Split& split) const {
    const BinnedFeature& feature = table_.features.at(split.feature);
    const std::size_t first = first_cell_[split.feature], n_cells = feature.n_cells();
    if (feature.is_category != std::isnan(split.threshold)) return std::nullopt;
    if (feature.is_category) {
        // Only three cells can be meant: that of the single level, of gaps, or of all levels but the rare ones.
        const auto at = std::lower_bound(feature.levels.begin(), feature.levels.end(), split.levels.empty() ? 0 : split.levels[0]);
        for (const std::size_t k : {static_cast<std::size_t>(at - feature.levels.begin()), feature.others_bin(), n_cells - 1}) {
            if (k >= n_cells) continue;
            const Split own = StumpPool::split(first + k);
            if (own.levels == split.levels && (!own.gaps_known || own.gaps_above == split.gaps_above)) return first + k;
        }
        return std::nullopt;
    }
    const std::vector<double>& thresholds = feature.thresholds;
    const auto found = std::lower_bound(thresholds.begin(), thresholds.end(), split.threshold);
    if (found == thresholds.end() || *found != split.threshold) return std::nullopt;
    auto cell = static_cast<std::size_t>(found - thresholds.begin());
    if (feature.has_gaps && !split.gaps_above) cell += feature.n_upper_cells();
    if (cell >= n_cells) return std::nullopt;  // nothing is above
    return first + cell;
}

bool StumpPool::take(std::size_t candidate) {
    Cell first = cell_of(candidate);
    for (const Repeated& repeated : repeated_[first.feature])
        if (repeated.cell == first.cell) {
            first = repeated.first;
            break;
        }
    std::vector<std::uint32_t>& taken = taken_[first.feature];
    if (std::find(taken.begin(), taken.end(), first.cell) != taken.end()) return false;
    taken.push_back(first.cell);
    return true;
}

StumpPool::FeatureBins StumpPool::bins_of(std::size_t feature) const {
    const auto after = std::upper_bound(
        table_.blocks.begin(), table_.blocks.end(), feature,
        [](std::size_t number, const FeatureBlock& block) { return number < block.first_feature; });
    const FeatureBlock& block = *(after - 1);
    return {block, block.bin_offset[feature - block.first_feature], table_.features[feature].n_bins()};
}

void StumpPool::respond(std::size_t candidate, std::int8_t* out) const {
    const Cell own = cell_of(candidate);
    const BinnedFeature& feature = table_.features[own.feature];
    std::vector<std::int8_t> sign(feature.n_bins());
    for (std::size_t k = 0; k < sign.size(); ++k) sign[k] = feature.is_above(own.cell, k) ? 1 : -1;
    if (is_dense()) {
        column(own.feature).visit([&, signs = sign.data()](const auto* bins) {
            for (std::size_t i = 0; i < n_rows(); ++i) out[i] = signs[bins[i]];
        });
        return;
    }
    const FeatureBins bins = bins_of(own.feature);
    for (std::size_t i = 0; i < table_.n_rows; ++i) {
        out[i] = sign[feature.common_bin];
        bins.visit(i, [&](std::size_t bin) { out[i] = sign[bin]; });
    }
}

}  // namespace cgens
