"""Sparse X gives the models of dense X, from its stored entries: without a dense copy."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cgens import CGEnsClassifier, CGEnsRegressor, FourierSelector
from cgens.baselines import KernelSVC, RandomFourierSVC
from cgens.inspection import check_certificate
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, Stump, Tree
from tests.models import FAMILIES, MODELS, VARIANTS, answer, make
from tests.tolerances import CLOSED_FORM, RESPONSE

NAN = np.nan
#: A learned metric needs dense rows, and so do scikit-learn's classifiers.
OF_SPARSE = [name for name in FAMILIES if name != "scikit-learn" and "metric" not in name]
every_family = pytest.mark.parametrize("family", OF_SPARSE)


def mostly_zeros(n_rows=100, gaps=0.0, seed=0):
    """Return rows with an empty column, a dense one and a constant one, in float32, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 7)).round(1) * (rng.random((n_rows, 7)) < [0.3, 0.2, 0.5, 0.1, 0.0, 1.0, 0.05])
    X = np.column_stack([X, np.full(n_rows, 0.1)])
    X[rng.random(X.shape) < gaps * (np.arange(8) % 4 == 0)] = NAN
    score = np.nan_to_num(X[:, 0], nan=1.0) + X[:, 1] + 0.5 * X[:, 5] + 0.3 * rng.normal(size=n_rows)
    return X.astype(np.float32), (score > np.median(score)).astype(int)


def as_coordinates(X):
    """Return every entry in two halves, and explicit zeros."""
    rows, columns = np.nonzero(X)
    halves = X[rows, columns] / 2
    zeros = np.argwhere(X == 0)[:20].T
    data = np.concatenate([halves, halves, np.zeros(zeros.shape[1], dtype=X.dtype)])
    return sparse.coo_array(
        (data, (np.concatenate([rows, rows, zeros[0]]), np.concatenate([columns, columns, zeros[1]]))), shape=X.shape
    )


def with_long_indices(X):
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def out_of_order(X):
    """Return compressed columns with their entries in the opposite order."""
    columns = sparse.csc_array(X)
    order = np.lexsort((-columns.indices, np.repeat(np.arange(X.shape[1]), np.diff(columns.indptr))))
    return sparse.csc_array((columns.data[order], columns.indices[order], columns.indptr), shape=X.shape)


FORMATS = {
    "CSR array": sparse.csr_array,
    "CSR matrix, double": lambda X: sparse.csr_matrix(X.astype(np.float64)),
    "CSC array, double": lambda X: sparse.csc_array(X.astype(np.float64)),
    "CSC matrix": sparse.csc_matrix,
    "coordinates with repetitions and zeros": as_coordinates,
    "indices of 64 bits": with_long_indices,
    "indices out of order": out_of_order,
    "sparse frame": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X), columns=list("abcdefgh")),
}
#: Families whose scaling does not depend on whether X is sparse: with gaps, automatic scaling does.
SCALED_ALIKE = [
    name
    for name in OF_SPARSE
    if getattr(FAMILIES[name], "standardize", True) != "auto" and name not in ("mixture", "list, learned")
]


def fit(family, X, y, kind=CGEnsClassifier, **options):
    return kind(FAMILIES[family], **{"n_estimators": 4, "random_state": 0, "n_jobs": 1, **options}).fit(X, y)


def assert_equal_answers(family, found, expected):
    if family.startswith(("stump", "tree", "box")):
        assert found.tobytes() == expected.tobytes()
    else:
        assert np.allclose(found, expected, rtol=0, atol=RESPONSE * np.abs(expected).max())
    assert np.ptp(expected) > 0


@pytest.mark.parametrize(
    ("family", "gaps"), [*((name, 0.0) for name in OF_SPARSE), *((name, 0.3) for name in SCALED_ALIKE)]
)
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_sparse_equals_dense(family, gaps, loss):
    X, y = mostly_zeros(gaps=gaps)
    kind = CGEnsRegressor if loss == "squared" else CGEnsClassifier
    dense = fit(family, X, y, kind, loss=loss)
    expected = answer(dense, X)
    turn = OF_SPARSE.index(family) + len(loss)
    for name in list(FORMATS)[turn % 2 : -1 : 2]:  # all but frames, in two turns
        rows = FORMATS[name](X)
        model = fit(family, rows, y, kind, loss=loss, n_jobs=2)
        assert_equal_answers(family, answer(model, rows), expected)
        assert_equal_answers(family, answer(model, X), expected)
        assert_equal_answers(family, answer(dense, rows), expected)
        assert check_certificate(model, rows, y).problems == (), name


@every_family
def test_a_dense_model_of_scaled_rows_predicts_sparse_ones(family):
    """Robust scaling centres dense rows; gaps in columns that had none are medians, here far from 0."""
    X, y = mostly_zeros()
    X = X * np.float32(50.0) ** (np.arange(8) % 3) + np.array([3, 0, 0, 0, 0, 7, 0, 0], dtype=np.float32)
    model = fit(family, X, y)
    rows = X[:30].copy()
    rows[::3, 0], rows[1::3, 5] = NAN, NAN
    for later in (X, rows):
        assert_equal_answers(family, answer(model, sparse.csr_array(later)), answer(model, later))


@pytest.mark.parametrize("name", [name for name in MODELS if name not in VARIANTS and "kernel" not in name])
def test_every_estimator(name):
    X, y = mostly_zeros(60)
    targets = {"multiclass": y + (X[:, 1] > 0), "multilabel": np.column_stack([y, 1 - y, X[:, 1] > 0]).astype(int)}
    targets |= {"multioutput": np.column_stack([X[:, 0] + y, 2.0 * y]), "binary": y}
    y = targets.get(MODELS[name][1], X[:, 0] + y + 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a constant outlier detector
        dense, model = (make(name).fit(rows, y) for rows in (X, sparse.csc_array(X)))
    atol = RESPONSE if name == "random Fourier" else CLOSED_FORM
    assert np.allclose(answer(model, sparse.csr_matrix(X)), answer(dense, X), rtol=0, atol=atol)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_wrappers_take_sparse_rows(gaps):
    X, y = mostly_zeros(gaps=gaps)
    for model in (RandomFourierSVC(50, random_state=0), KernelSVC("rbf")):
        expected = model.fit(X, y).decision_function(X)
        found = model.fit(sparse.csr_array(X), y).decision_function(sparse.csc_array(X))
        assert np.allclose(found, expected, rtol=0, atol=RESPONSE)
    for kernel in ("stump", "perceptron"):
        model = KernelSVC(kernel).fit(X, y)
        for act in (model.fit, lambda rows, _, model=model: model.predict(rows)):
            with pytest.raises(TypeError, match=rf"'{kernel}' does not accept sparse X.*toarray"):
                act(sparse.csr_array(X), y)


def test_wrappers_refuse_gaps_that_the_training_rows_lacked():
    X, y = mostly_zeros()
    for model in (RandomFourierSVC(50, random_state=0), KernelSVC("rbf"), KernelSVC()):
        with pytest.raises(ValueError, match=r"Column 1 .*missing values.*had none when"):
            model.fit(X, y).predict(np.where(np.arange(8) == 1, NAN, X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_selector_takes_sparse_rows(dtype):
    X, y = mostly_zeros()
    rows = sparse.csc_array(X.astype(dtype))
    features = FourierSelector(6, Fourier(n_candidates=50), random_state=0).fit(rows, y).transform(rows)
    expected = FourierSelector(6, Fourier(n_candidates=50), random_state=0).fit(X, y).transform(X)
    assert features.dtype == dtype
    assert np.allclose(features, expected, rtol=0, atol=RESPONSE)


def test_sparse_frames_keep_their_names():
    X, y = mostly_zeros()
    frame = FORMATS["sparse frame"](X)
    model = CGEnsClassifier("stump", n_estimators=4).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(model.schema_.names) == list("abcdefgh")
    expected = model.decision_function(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of names
        assert model.decision_function(frame[list("hgfedcba")]).tobytes() == expected.tobytes()
        assert model.decision_function(frame.sparse.to_dense()).tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"lacks the column 'h'"):
        model.predict(frame.drop(columns="h"))
    gaps = frame.assign(a=pd.arrays.SparseArray(np.where(X[:, 0] == 0, NAN, X[:, 0])))  # whose gaps are not stored
    dense = (
        CGEnsClassifier("stump", n_estimators=4)
        .fit(gaps.sparse.to_dense(), y)
        .decision_function(gaps.sparse.to_dense())
    )
    assert CGEnsClassifier("stump", n_estimators=4).fit(gaps, y).decision_function(gaps).tobytes() == dense.tobytes()


@every_family
@pytest.mark.parametrize(
    "name", ["coordinates with repetitions and zeros", "indices out of order", "indices of 64 bits"]
)
def test_the_input_is_not_changed(family, name):
    X, y = mostly_zeros(gaps=0.2)
    rows, untouched = FORMATS[name](X), FORMATS[name](X)
    fit(family, rows, y).predict(rows)
    for part in ("data", "row", "col") if name.startswith("coo") else ("data", "indices", "indptr"):
        found, expected = getattr(rows, part), getattr(untouched, part)
        assert np.array_equal(found, expected, equal_nan=True)
        assert found.dtype == expected.dtype


@every_family
def test_empty_rows_and_columns(family):
    """Nothing but zeros allows no model, and one entry allows one."""
    y = np.arange(60) % 2
    with pytest.warns(UserWarning, match=r"constant"):
        assert fit(family, sparse.csr_array((60, 3)), y).n_columns_ == 0
    rows = sparse.csc_array((np.ones(30), (np.arange(0, 60, 2), np.ones(30, dtype=int))), shape=(60, 3))
    model = fit(family, rows, y, C=10.0)
    assert model.score(rows, y) == 1.0 or family.startswith("fourier")
    assert np.isfinite(model.decision_function(sparse.csr_array((5, 3)))).all()


@pytest.mark.parametrize(
    ("rows", "pattern"),
    [
        (sparse.csr_array(np.array([[0.0, 1.0], [np.inf, 0.0]])), r"infinity.*row 1, column 0"),
        (sparse.csc_array(np.array([[0.0, -np.inf], [1.0, 0.0]])), r"infinity.*row 0, column 1"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0.0, np.inf], fill_value=0.0)}), r"infinity.*row 1, column 'a'"),
    ],
)
def test_infinity_is_refused(rows, pattern):
    with pytest.raises(ValueError, match=pattern):
        CGEnsClassifier().fit(rows, [0, 1])


def test_categories_cannot_be_sparse():
    X, y = mostly_zeros()
    with pytest.raises(ValueError, match=r"sparse.*categorical_features"):
        CGEnsClassifier(categorical_features=[0]).fit(sparse.csr_array(X), y)
    model = CGEnsClassifier("stump", n_estimators=2).fit(X.astype(str).astype(object), y)
    with pytest.raises(ValueError, match=r"sparse.*fitted with categories"):
        model.predict(sparse.csr_array(X))


# --- memory


def peak_of(act):
    """Return the largest number of bytes that NumPy and Python held at once."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


#: Families, and their peak as a share of a dense copy of the sparse rows: candidates have a response for each row.
OF_WIDE = {
    "stump": (Stump(), 0.05),
    "tree": (Tree(4), 0.05),
    "box": (Box(n_candidates=50), 0.2),
    "linear": (Linear(), 0.2),
    "perceptron": (Perceptron(50, learn=False), 0.2),
    "fourier": (Fourier(n_candidates=50, learn=False), 0.2),
    "fourier, few inputs": (Fourier(n_candidates=50, n_inputs=2), 0.2),
    "fourier, learned": (Fourier(learn=True), 0.7),  # 256 components of the rows
    "mixture": ([Stump(), Linear(), Tree(4)], 0.2),
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("family", OF_WIDE)
def test_sparse_rows_have_no_dense_copy(family, gaps):
    X = sparse.random_array((3000, 1200), density=0.01, format="csr", rng=np.random.default_rng(0))
    score = np.asarray(X[:, :60].sum(axis=1))
    y = (score > np.median(score)).astype(int)
    if gaps:
        X.data[::100] = NAN
    own, share = OF_WIDE[family]
    model = CGEnsClassifier(own, loss="hinge", n_estimators=2, random_state=0, n_jobs=1)
    dense = 8 * X.shape[0] * X.shape[1]
    assert peak_of(lambda: model.fit(X, y)) < share * dense
    assert peak_of(lambda: model.predict(X)) < 0.15 * dense
    assert len(model.ensemble_) == 2


#: Families, and their peak as a multiple of the rows in single precision. Those of functions copy the rows in order.
OF_TALL = {
    "stump": (Stump(), 1.0),
    "tree": (Tree(4), 1.0),
    "linear": (Linear(), 3.0),
    "perceptron": (Perceptron(20, learn=False), 2.5),
    "fourier": (Fourier(n_candidates=20, learn=False), 2.5),
}


@pytest.mark.parametrize("layout", ["rows", "columns", "frame"])
@pytest.mark.parametrize("family", OF_TALL)
def test_single_precision_has_no_double_copy(family, layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 40)).astype(np.float32)
    X = np.asfortranarray(X) if layout == "columns" else X
    X = pd.DataFrame(X, columns=[f"x{k}" for k in range(40)]) if layout == "frame" else X
    own, share = OF_TALL[family]
    model = CGEnsClassifier(own, loss="hinge", n_estimators=2, random_state=0, n_jobs=1)
    y = rng.integers(0, 2, 20_000)
    size = 4 * X.shape[0] * X.shape[1]
    assert peak_of(lambda: model.fit(X, y)) < share * size
    assert peak_of(lambda: model.predict(X)) < 0.5 * size
