// All stumps of a training table, and which of them are still to be had.
//
// The pool is the set of distinct responses up to sign: where two thresholds split the training rows alike (on two
// equal features, say) only the first is a candidate. Searches over one pool share what was taken out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bin_features.hpp"

namespace cgens {

class StumpPool {
   public:
    StumpPool(BinnedTable table, int n_threads);

    // Takes a response out of the search. False where (feature, threshold) is none of the table's, or its response was
    // taken before, be it on another feature.
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
        std::uint32_t feature, bin;  // above this bin
    };
    struct Repeated {
        std::uint32_t bin;
        Threshold first;  // the one that has this response in the pool
    };
    const std::vector<Repeated>& repeated(std::size_t f) const { return repeated_[f]; }
    const std::vector<std::uint32_t>& taken(std::size_t f) const { return taken_[f]; }  // by the bin below

    // The bin below a threshold of the table; throws where it is none.
    std::size_t bin_of(std::size_t feature, double threshold) const;

   private:
    void mark_repeated(int n_threads);
    bool find_bin(std::size_t feature, double threshold, std::size_t& bin) const;

    BinnedTable table_;
    std::vector<std::size_t> first_bin_;
    std::vector<std::vector<Repeated>> repeated_;
    std::vector<std::vector<std::uint32_t>> taken_;
    std::size_t n_bins_ = 0, n_entries_ = 0, n_candidates_ = 0;
};

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

}  // namespace cgens
