#include "binned_table.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kRangeFeatures = 8;

template <class Code>
void store_codes(const BinnedTable& table, const FeatureBlock& block, std::vector<Code>& codes) {
    std::vector<std::uint32_t> next(block.row_begin.begin(), block.row_begin.end() - 1);
    codes.resize(block.row_begin.back());
    for (std::size_t f = 0; f < block.n_features; ++f) {
        const std::uint32_t common = table.features[block.first_feature + f].common_bin;
        table.columns[block.first_feature + f].visit([&](const auto* bins) {
            for (std::size_t i = 0; i < table.n_rows; ++i)
                if (bins[i] != common) codes[next[i]++] = static_cast<Code>(block.bin_offset[f] + bins[i]);
        });
    }
}

FeatureBlock make_block(BinnedTable& table, std::size_t first, std::size_t n_features) {
    FeatureBlock block;
    block.first_feature = first;
    block.n_features = n_features;
    block.bin_offset.assign(1, 0);
    block.row_begin.assign(table.n_rows + 1, 0);
    for (std::size_t f = first; f < first + n_features; ++f) {
        const BinnedFeature& feature = table.features[f];
        block.bin_offset.push_back(block.bin_offset.back() + feature.n_bins());
        table.columns[f].visit([&](const auto* bins) {
            for (std::size_t i = 0; i < table.n_rows; ++i) block.row_begin[i + 1] += bins[i] != feature.common_bin;
        });
    }
    std::partial_sum(block.row_begin.begin(), block.row_begin.end(), block.row_begin.begin());
    if (block.bin_offset.back() <= 65536) {
        store_codes(table, block, block.codes);
    } else {
        store_codes(table, block, block.wide_codes);
    }
    for (std::size_t f = first; f < first + n_features; ++f) table.columns[f] = BinColumn();
    return block;
}

}  // namespace

std::vector<FeatureRange> feature_ranges(std::size_t n_features, int n_threads) {
    const std::size_t n_wanted = 4 * static_cast<std::size_t>(std::max(n_threads, 1));
    return split_features(n_features, std::clamp<std::size_t>(n_features / n_wanted, 1, kRangeFeatures));
}

std::vector<FeatureRange> split_features(std::size_t n_features, std::size_t size) {
    std::vector<FeatureRange> ranges;
    for (std::size_t first = 0; first < n_features; first += size)
        ranges.push_back({first, std::min(first + size, n_features)});
    return ranges;
}

BinnedTable without_common_bins(BinnedTable dense, int n_threads) {
    // With few features, blocks are smaller, so that there is work for several threads.
    const std::size_t n_features = dense.features.size(), width = std::min(kBlockFeatures, n_features / 4 + 1);
    dense.blocks.resize((n_features + width - 1) / width);
    const double work = 4 * static_cast<double>(dense.n_rows * n_features);
    for_tasks(dense.blocks.size(), n_threads, work, [&](std::size_t b, std::size_t) {
        dense.blocks[b] = make_block(dense, b * width, std::min(width, n_features - b * width));
    });
    dense.columns.clear();
    return dense;
}

}  // namespace cgens
