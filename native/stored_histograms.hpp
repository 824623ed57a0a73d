// Histograms that are kept for later, within a budget. Their memory is used again.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace cgens {

template <class Sums>
class StoredHistograms {
   public:
    explicit StoredHistograms(std::size_t max_bytes) : max_bytes_(max_bytes) {}
    StoredHistograms(const StoredHistograms&) = delete;  // what is taken points into this one

    // From now on, histograms have n_bins bins; none is in use.
    void begin(std::size_t n_bins) {
        if (n_bins > n_bins_) {
            all_.clear();
            n_bins_ = n_bins;
        }
        free_.clear();
        for (const auto& own : all_) free_.push_back(own.get());
    }
    // Returns a histogram with any content, or null if there is no room for another one.
    Sums* take() {
        if (free_.empty()) {
            if ((all_.size() + 1) * n_bins_ > max_bytes_ / sizeof(Sums)) return nullptr;
            all_.push_back(std::make_unique<Sums[]>(n_bins_));
            return all_.back().get();
        }
        Sums* const own = free_.back();
        free_.pop_back();
        return own;
    }
    void give_back(Sums* histogram) {
        if (histogram != nullptr) free_.push_back(histogram);
    }

   private:
    std::size_t max_bytes_, n_bins_ = 0;
    std::vector<std::unique_ptr<Sums[]>> all_;
    std::vector<Sums*> free_;
};

}  // namespace cgens
