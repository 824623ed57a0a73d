// Families other than stumps: prices of drawn candidates, cosines, trees.
#include "bindings.hpp"
#include "grow_tree.hpp"
#include "price_candidates.hpp"
#include "respond_trees.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

template <class T>
NewArray<double> price(const CMatrix<T>& responses, const CMatrix<double>& duals, int n_threads) {
    const std::size_t n_rows = duals.shape(1);
    require(responses.shape(1) == padded(n_rows), "price_candidates: responses padded to whole lanes");
    auto out = new_array<double>(nullptr, responses.shape(0) * duals.shape(0));
    nb::gil_scoped_release released;
    price_candidates(responses.data(), responses.shape(0), responses.shape(1), duals.data(), duals.shape(0), n_rows,
                     out.data(), n_threads);
    return out;
}

NewArray<float> cosines(const CMatrix<double>& phases, int n_threads) {
    auto out = new_array<float>(nullptr, phases.size());
    nb::gil_scoped_release released;
    take_cosines(phases.data(), phases.size(), out.data(), n_threads);
    return out;
}

auto grow(TreeGrower& self, const Vector<double>& along, const Vector<std::uint8_t>& allowed, std::size_t max_leaves,
          double min_weight, bool real) {
    require(along.shape(0) == self.n_rows(), "grow: one number per row");
    require(allowed.shape(0) == self.n_features(), "grow: one flag per feature");
    require_finite(along.data(), along.shape(0), "grow: numbers must be finite");
    require(max_leaves >= 1, "grow: at least one leaf");
    require(min_weight >= 0 && std::isfinite(min_weight), "grow: min_weight >= 0");
    auto leaf_of = new_array<std::int32_t>(nullptr, self.n_rows());
    std::vector<TreeNode> tree;
    {
        nb::gil_scoped_release released;
        tree = self.grow(along.data(), allowed.data(), {max_leaves, min_weight, real}, leaf_of.data());
    }
    const std::size_t n = tree.size();
    auto features = new_array<std::int32_t>(nullptr, n), left = new_array<std::int32_t>(nullptr, n),
         right = new_array<std::int32_t>(nullptr, n);
    auto thresholds = new_array<double>(nullptr, n), sums = new_array<double>(nullptr, n),
         weights = new_array<double>(nullptr, n);
    for (std::size_t k = 0; k < n; ++k) {
        features.data()[k] = tree[k].feature;
        left.data()[k] = tree[k].left;
        right.data()[k] = tree[k].right;
        thresholds.data()[k] = tree[k].threshold;
        sums.data()[k] = tree[k].sum;
        weights.data()[k] = tree[k].weight;
    }
    return std::make_tuple(features, left, right, thresholds, sums, weights, leaf_of);
}

// Every child lies within its tree and after its parent, and has no other: a walk ends, and never leaves the arrays.
void require_trees(const Vector<std::int64_t>& begin, const Vector<std::int32_t>& features,
                   const Vector<std::int32_t>& left, const Vector<std::int32_t>& right) {
    require(begin.shape(0) >= 1 && begin(0) == 0, "TreeTables: begin");
    for (std::size_t j = 0; j + 1 < begin.shape(0); ++j) require(begin(j + 1) > begin(j), "TreeTables: an empty tree");
    require(static_cast<std::size_t>(begin(begin.shape(0) - 1)) == features.shape(0), "TreeTables: begin");
    for (std::size_t j = 0; j + 1 < begin.shape(0); ++j) {
        const std::int64_t size = begin(j + 1) - begin(j);
        std::vector<bool> has_parent(static_cast<std::size_t>(size), false);
        for (std::int64_t k = 0; k < size; ++k) {
            const auto at = static_cast<std::size_t>(begin(j) + k);
            if (features(at) < 0) continue;
            for (const std::int64_t child : {left(at), right(at)}) {
                require(child > k && child < size && !has_parent[static_cast<std::size_t>(child)],
                        "TreeTables: children");
                has_parent[static_cast<std::size_t>(child)] = true;
            }
        }
    }
}

void construct_trees(TreeTables* self, const Vector<std::int64_t>& begin, const Vector<std::int32_t>& features,
                     const Vector<std::int32_t>& left, const Vector<std::int32_t>& right,
                     const Vector<double>& thresholds, const Vector<float>& values) {
    const std::size_t n = features.shape(0);
    require(left.shape(0) == n && right.shape(0) == n && thresholds.shape(0) == n && values.shape(0) == n,
            "TreeTables: lengths differ");
    require_trees(begin, features, left, right);
    new (self) TreeTables({begin.data(), begin.shape(0) - 1, features.data(), left.data(), right.data(),
                           thresholds.data(), values.data()});
}

template <class T>
NewArray<float> respond(const TreeTables& self, const Matrix<T>& X, int n_threads) {
    require(X.shape(1) >= self.n_inputs(), "TreeTables: X has too few columns");
    auto out = new_array<float>(nullptr, X.shape(0) * self.n_trees());
    nb::gil_scoped_release released;
    self.respond(view<T>(X), out.data(), n_threads);
    return out;
}

template <class T>
NewArray<double> decide(const TreeTables& self, const Matrix<T>& X, const CMatrix<double>& weights, int n_threads) {
    require(X.shape(1) >= self.n_inputs(), "TreeTables: X has too few columns");
    require(weights.shape(0) == self.n_trees(), "TreeTables: one row of weights per tree");
    auto out = new_array<double>(nullptr, X.shape(0) * weights.shape(1));
    nb::gil_scoped_release released;
    self.add_decision(view<T>(X), weights.data(), weights.shape(1), out.data(), n_threads);
    return out;
}

}  // namespace

void bind_families(nb::module_& m) {
    const char* about_prices = "responses duals', flat, one row a candidate; both have one column a training row.";
    m.def("price_candidates", &price<float>, "responses"_a.noconvert(), "duals"_a.noconvert(), "n_threads"_a,
          about_prices);
    m.def("price_candidates", &price<std::int8_t>, "responses"_a.noconvert(), "duals"_a.noconvert(), "n_threads"_a);
    m.def("padded_length", &padded, "n"_a, "How long a row of responses must be: n rounded up to whole lanes.");
    m.def("take_cosines", &cosines, "phases"_a.noconvert(), "n_threads"_a, "sqrt(2) cos(phases), flat.");

    nb::class_<TreeGrower>(m, "TreeGrower", "Grows small trees on a vector of prices over a pool's bins.")
        .def(
            "__init__",
            [](TreeGrower* self, std::shared_ptr<StumpPool> pool, const Vector<double>& weights, int n_threads) {
                require(weights.shape(0) == pool->n_rows(), "TreeGrower: one weight per row");
                for (std::size_t i = 0; i < weights.shape(0); ++i)
                    require(weights(i) > 0 && std::isfinite(weights(i)), "TreeGrower: finite weights > 0");
                new (self) TreeGrower(std::move(pool), to_vector(weights), n_threads);
            },
            "pool"_a, "weights"_a.noconvert(), "n_threads"_a)
        .def("grow", &grow, "along"_a.noconvert(), "allowed"_a.noconvert(), "max_leaves"_a, "min_weight"_a, "real"_a,
             "Returns (features, left, right, thresholds, sums, weights) of the nodes, and the leaf of every row.");

    nb::class_<TreeTables>(m, "TreeTables", "Many trees, laid out for prediction.")
        .def("__init__", &construct_trees, "begin"_a.noconvert(), "features"_a.noconvert(), "left"_a.noconvert(),
             "right"_a.noconvert(), "thresholds"_a.noconvert(), "values"_a.noconvert())
        .def("respond", &respond<float>, "X"_a.noconvert(), "n_threads"_a,
             "Responses of the trees on new rows, flat, row by row.")
        .def("respond", &respond<double>, "X"_a.noconvert(), "n_threads"_a)
        .def("decide", &decide<float>, "X"_a.noconvert(), "weights"_a.noconvert(), "n_threads"_a,
             "sum_j w_j h_j(x) of every row, flat, row by row.")
        .def("decide", &decide<double>, "X"_a.noconvert(), "weights"_a.noconvert(), "n_threads"_a);
}

}  // namespace cgens
