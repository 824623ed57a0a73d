// The best split of a node by one feature, given the sums of the bins that its rows are in.
//
// Numbers are split at thresholds, with gaps on the better side. Levels of a category are put in the order of their means
// and split there. Because that order is chosen for the same rows, the means are shrunk to that of the node first, by as
// much as their scatter suggests (see level_shrinkage): many levels without an effect then gain nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_bins.hpp"

namespace cgens {

struct NodeSums {
    Sums total;
    double squares;        // sum of r_i^2 / w_i over the rows, in units
    std::size_t position;  // in the tree
};

struct NodeSplit {
    double gain = 0.0;  // in the criterion, in units
    std::size_t feature = 0;
    std::size_t bin = 0;  // numbers: the last one that goes left
    bool gaps_right = true;
    std::vector<std::uint32_t> right_bins;  // categories
    Sums left;
};

struct SplitScan {
    bool real = true;    // whether leaves are means; else signs
    bool random = false;  // whether a feature offers one random split to each node
    std::uint64_t seed = 0;
    std::int64_t least_weight = 1;                  // of a leaf, in units, at least 1
    double weight_of_unit = 1.0;
    double weight_of_row = 1.0;  // 1 if weights are numbers of copies, less if they are shares

    // Whether a node can have a split that leaves both sides heavy enough.
    bool may_split(const NodeSums& node) const { return node.total.weight - least_weight >= least_weight; }
    // Replaces `best` if the best split by feature f, with n > 0 occupied bins, gains more.
    void scan(std::size_t f, const BinnedFeature& feature, const OccupiedBin* bins, std::size_t n, const NodeSums& node,
              NodeSplit& best) const {
        feature.is_category ? scan_levels(f, feature, bins, n, node, best)
                            : scan_thresholds(f, feature, bins, n, node, best);
    }

   private:
    double gain(const Sums& left, const Sums& right) const;
    double gain_of(double left, std::int64_t left_weight, double right, std::int64_t right_weight) const;
    void scan_thresholds(std::size_t f, const BinnedFeature& feature, const OccupiedBin* bins, std::size_t n,
                         const NodeSums& node, NodeSplit& best) const;
    void scan_levels(std::size_t f, const BinnedFeature& feature, const OccupiedBin* bins, std::size_t n,
                     const NodeSums& node, NodeSplit& best) const;
    // Which of n_splits a feature offers to a node.
    std::size_t random_split(const NodeSums& node, std::size_t f, std::size_t n_splits) const;
    // How much weight, in units, a level must have for its mean to count by half against the mean of the node.
    double level_shrinkage(const OccupiedBin* bins, std::size_t n, const NodeSums& node) const;
};

}  // namespace cgens
