// The bins of one feature: where they begin (its edges), which bin a value is in (encode), and how they can be split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cgens {

// A split of a feature in two: a row is above if its value exceeds the threshold (numbers) or is one of the levels
// (categories). Gaps are above or below.
struct Split {
    std::size_t feature = 0;
    double threshold = std::numeric_limits<double>::quiet_NaN();  // NaN for categories
    std::vector<std::uint32_t> levels;                            // ascending
    bool gaps_above = false;
    bool gaps_known = true;  // false if no training row has a gap: any side will do
};

struct BinnedFeature {
    bool is_category = false;
    bool has_gaps = false;           // the last bin holds the rows without a value
    bool has_others = false;         // categories: the last bin, before that of gaps, holds the rows of rare levels
    std::uint32_t common_bin = 0;    // the most common bin, whose entries are not stored
    std::vector<double> thresholds;  // numbers: ascending; x <= thresholds[k] is in bins 0 ... k; infinite below the gaps
    std::vector<std::uint32_t> levels;  // categories: the level of each bin, ascending

    std::size_t n_bins() const {
        return is_category ? levels.size() + has_others + has_gaps : thresholds.size() + 1;
    }
    std::size_t gap_bin() const { return n_bins() - 1; }          // if has_gaps
    std::size_t others_bin() const { return levels.size(); }      // if has_others

    // The bin of a number, given the edges: the number of thresholds below it.
    std::uint32_t encode(double x) const {
        return static_cast<std::uint32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), x) -
                                          thresholds.begin());
    }

    // The splits of a feature are its cells. Numbers: cell k is above bin k; with gaps, these are above too, and as many
    // cells but one follow in which gaps are below. Categories: cell k is level k against the rest.
    std::size_t n_upper_cells() const { return n_bins() - 1; }
    std::size_t n_cells() const {
        if (n_bins() < 2) return 0;
        return is_category ? n_bins() : n_upper_cells() + (has_gaps ? n_upper_cells() - 1 : 0);
    }
    bool is_above(std::size_t cell, std::size_t bin) const {
        // Rare levels are below, as levels that no training row has will be; so their own cell is turned round.
        if (is_category) return (bin == cell) != (has_others && cell == others_bin());
        return cell < n_upper_cells() ? bin > cell : bin > cell - n_upper_cells() && bin != gap_bin();
    }
};

}  // namespace cgens
