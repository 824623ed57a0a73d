// The columns of a least-squares master: as bits while all are +-1, as numbers once one is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "response_store.hpp"
#include "sign_columns.hpp"

namespace cgens {

class ColumnStore {
   public:
    explicit ColumnStore(std::size_t n_rows) : n_rows_(n_rows), signs_(n_rows) {}

    // The column as bits; empty if it, or an earlier one, is not of +-1.
    template <class T>
    std::vector<std::uint64_t> pack(const T* column) const {
        return numbers_ ? std::vector<std::uint64_t>() : SignColumns::pack(column, n_rows_);
    }
    // Appends a column, given what `pack` returned for it.
    template <class T>
    void append(const T* column, const std::vector<std::uint64_t>& packed) {
        if (!packed.empty()) return signs_.append(packed);
        if (!numbers_) widen();
        numbers_->append(column);
    }

    std::size_t n_columns() const { return numbers_ ? numbers_->n_columns() : signs_.n_columns(); }
    std::size_t padded_columns() const { return padded(n_columns()); }
    // The columns as bits; null if one of them is not of +-1.
    const SignColumns* signs() const { return numbers_ ? nullptr : &signs_; }

    // As in ResponseStore; `first` is a multiple of kGroup.
    void dot_rows(std::size_t first, std::size_t last, const double* weights, std::size_t n, double* out) const {
        numbers_ ? numbers_->dot_rows(first, last, weights, n, out) : signs_.dot_rows(first, last, weights, n, out);
    }
    void add_rows(std::size_t first, std::size_t last, const double* steps, std::size_t n, double* weights) const {
        numbers_ ? numbers_->add_rows(first, last, steps, n, weights) : signs_.add_rows(first, last, steps, n, weights);
    }
    void copy_row(std::size_t row, double* out) const {
        numbers_ ? numbers_->copy_row(row, out) : signs_.copy_row(row, out);
    }

   private:
    void widen() {
        ResponseStore wider(n_rows_);
        std::vector<std::int8_t> column(n_rows_);
        for (std::size_t j = 0; j < signs_.n_columns(); ++j) {
            signs_.copy_column(j, column.data());
            wider.append(column.data());
        }
        numbers_.emplace(std::move(wider));
        signs_ = SignColumns(n_rows_);
    }

    std::size_t n_rows_;
    SignColumns signs_;
    std::optional<ResponseStore> numbers_;
};

}  // namespace cgens
