// The search for the stump of largest price, max |sum_i r_i h(x_i)| over all thresholds of all features (EQ:WL_SV).
//
// Duals are rounded once a call to 64-bit fixed point. Histogram sums are then exact: the same for every number of
// threads, and a histogram brought up to date for the rows whose dual changed equals one made afresh. So a call costs
// the changed rows' entries outside their features' most common bins, plus one pass over the histograms.
//
// The pool is the set of distinct responses up to sign: where two thresholds split the training rows alike (on two
// equal features, say) only the first is a candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bin_features.hpp"

namespace cgens {

struct StumpPrice {
    bool found;           // false where no free candidate has a price other than 0
    std::size_t feature;  // h(x) = 1 where x[feature] > threshold, else -1
    double threshold;
    double price;   // sum_i r_i h(x_i), signed
    double energy;  // sum over the whole pool, taken ones included, of price^2
};

class StumpScan {
   public:
    StumpScan(BinnedTable table, int n_threads);

    StumpPrice price(const double* duals);
    // Takes a response out of the search. False where (feature, threshold) is none of the table's, or its response was
    // taken before, be it on another feature.
    bool take(std::size_t feature, double threshold);
    // out[i] = h(x_i) of canonical row i, for a threshold of the table.
    void respond(std::size_t feature, double threshold, std::int8_t* out) const;

    std::size_t n_rows() const { return table_.n_rows; }
    std::size_t n_features() const { return table_.features.size(); }
    std::size_t n_candidates() const { return n_candidates_; }
    const BinnedFeature& feature(std::size_t f) const { return table_.features[f]; }

   private:
    struct FeatureBest {
        double price;  // of the best free threshold, signed, in units of 2^-exponent_; 0 where there is none
        std::size_t bin;
        double energy;
    };

    void mark_repeated();
    void round_duals(const double* duals);
    void prefetch_change(const FeatureBlock& block, std::size_t k) const;
    void update_histograms(const FeatureBlock& block);
    void scan_feature(std::size_t f, std::vector<double>& prices);
    std::size_t bin_of(std::size_t feature, double threshold) const;

    BinnedTable table_;
    int n_threads_;
    std::vector<std::size_t> first_bin_;    // of each feature, in the arrays over all bins
    std::vector<std::size_t> first_block_;  // the same of each block
    std::vector<std::int64_t> histogram_;   // over all bins; common bins stay 0
    struct Threshold {
        std::uint32_t feature, bin;  // above this bin
    };
    struct Repeated {
        std::uint32_t bin;
        Threshold first;  // the one that has this response in the pool
    };
    std::vector<std::vector<Repeated>> repeated_;    // of each feature
    std::vector<std::vector<std::uint32_t>> taken_;  // of each feature, by the bin below
    std::size_t n_candidates_ = 0;
    std::size_t n_entries_ = 0;  // stored in the table

    std::vector<std::int64_t> rounded_;  // duals in units of 2^-exponent_
    int exponent_ = 0;
    std::int64_t total_ = 0;
    struct Change {
        std::uint32_t row;
        std::int64_t by;
    };
    std::vector<Change> changes_;
    bool rebuild_ = true;
    std::vector<FeatureBest> best_;
};

}  // namespace cgens
