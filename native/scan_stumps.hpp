// The search for the stump with the largest |price| = |sum_i r_i h(x_i)|, over all splits of all features (EQ:WL_SV).
//
// Each call rounds the duals to 64-bit fixed point. Histogram sums are then exact: the same for any number of threads,
// and a histogram updated for the rows whose dual changed equals one computed from scratch. A call therefore costs the
// stored entries of the changed rows plus one pass over the histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixed_point.hpp"
#include "pool_stumps.hpp"

namespace cgens {

struct StumpPrice {
    bool found;  // false if all free candidates have price 0
    std::size_t candidate;
    double price;   // sum_i r_i h(x_i), signed
    double energy;  // sum of price^2 over the whole pool, including taken stumps
};

class StumpScan {
   public:
    StumpScan(std::shared_ptr<const StumpPool> pool, int n_threads);

    StumpPrice price(const double* duals);
    std::size_t n_rows() const { return pool_->n_rows(); }

   private:
    struct FeatureBest {
        double price;  // of the best free cell, signed, in fixed point; 0 if there is none
        std::size_t cell;
        double energy;
    };

    void round_duals(const double* duals);
    void prefetch_change(const FeatureBlock& block, std::size_t k) const;
    void update_histograms(const FeatureBlock& block);
    void update_histograms(FeatureRange range);
    void price_cells(const BinnedFeature& feature, const std::int64_t* histogram, double* prices) const;
    void scan_feature(std::size_t f, std::vector<double>& prices);

    std::shared_ptr<const StumpPool> pool_;
    int n_threads_;
    std::vector<std::int64_t> histogram_;  // over all bins; common bins of a sparse table stay 0
    std::vector<std::int64_t> rounded_;    // duals in fixed point
    FixedPoint unit_;
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
