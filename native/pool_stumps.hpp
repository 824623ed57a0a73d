// All stumps of a training table, and which of them are taken.
//
// The pool is the set of distinct responses up to sign: if two thresholds split the training rows in the same way (on
// two equal features, say), only the first is a candidate. All searches over a pool share the set of taken stumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bin_features.hpp"

namespace cgens {

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

class StumpPool {
   public:
    StumpPool(BinnedTable table, int n_threads);

    // Removes a response from the searches. Returns false if the table has no such threshold, or if its response is
    // taken already, possibly on another feature.
    bool take(std::size_t feature, double threshold);
    // out[i] = h(x_i) of canonical row i, for a threshold of the table.
    void respond(std::size_t feature, double threshold, std::int8_t* out) const;

    std::size_t n_rows() const { return table_.n_rows; }
    std::size_t n_features() const { return table_.features.size(); }
    std::size_t n_bins() const { return n_bins_; }
    std::size_t n_entries() const { return n_entries_; }  // stored in the table
    std::size_t n_candidates() const { return n_candidates_; }
    const BinnedFeature& feature(std::size_t f) const { return table_.features[f]; }
    const std::vector<FeatureBlock>& blocks() const { return table_.blocks; }
    std::size_t first_bin(std::size_t f) const { return first_bin_[f]; }  // in arrays over all bins

    struct Threshold {
        std::uint32_t feature, bin;  // the bin below it
    };
    struct Repeated {
        std::uint32_t bin;
        Threshold first;  // the candidate that has the same response
    };
    const std::vector<Repeated>& repeated(std::size_t f) const { return repeated_[f]; }
    const std::vector<std::uint32_t>& taken(std::size_t f) const { return taken_[f]; }  // the bins below

    // The bin below a threshold of the table; throws std::invalid_argument if there is no such threshold.
    std::size_t bin_of(std::size_t feature, double threshold) const;

    // The rows above a bin of a feature.
    struct Split {
        const FeatureBlock& block;
        std::size_t begin, n_bins, bin;  // the feature's first code, number of bins, and the bin
        bool common_above;
        // Calls visit(whether the row is above) unless the row is in the common bin.
        template <class Visit>
        void visit(std::size_t row, Visit visit) const {
            visit_row(block, row, [&](std::size_t code) {
                if (code - begin < n_bins) visit(code - begin > bin);  // unsigned: also rejects code < begin
            });
        }
    };
    Split split(std::size_t feature, std::size_t bin) const {
        const FeatureBlock* block = table_.blocks.data();
        while (feature >= block->first_feature + block->n_features) ++block;
        const BinnedFeature& binned = table_.features[feature];
        const std::size_t begin = block->bin_offset[feature - block->first_feature];
        return {*block, begin, binned.n_bins(), bin, binned.common_bin > bin};
    }

   private:
    void mark_repeated(int n_threads);
    std::optional<std::size_t> find_bin(std::size_t feature, double threshold) const;

    BinnedTable table_;
    std::vector<std::size_t> first_bin_;
    std::vector<std::vector<Repeated>> repeated_;
    std::vector<std::vector<std::uint32_t>> taken_;
    std::size_t n_bins_ = 0, n_entries_ = 0, n_candidates_ = 0;
};

}  // namespace cgens
