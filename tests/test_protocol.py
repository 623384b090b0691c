"""The plain protocol says of every method what scikit-learn's says, and the command loads nothing else."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from shoal import MDAV, Blocked, Refined
from shoal.estimator import METHODS
from shoal.protocol import Plain, base, unfitted

SAID = """
import json, sys
{before}
from shoal.methods import METHODS
from shoal import MDAV, Blocked, ProximalDistal, Refined

models = [kind() for kind in METHODS.values()]
models += [MDAV(k=7), Blocked(MDAV(k=3), max_size=99, sweeps=2), ProximalDistal(MDAV(k=4)), Refined(k=2, start="cbfs")]
models[-2].set_params(method=models[-1])
told = [[repr(each), list(map(repr, each.get_params().items())), list(map(repr, each.get_params(deep=False)))] for each in models]
print(json.dumps([told, "sklearn" in sys.modules]))
"""


def told(before):
    code = SAID.format(before=before)
    env = os.environ | {"COLUMNS": "500"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return json.loads(done.stdout)


def test_the_plain_protocol_says_what_scikit_learns_says():
    plain, loaded = told("from shoal.protocol import begin_command; begin_command()")
    theirs, loaded_too = told("from sklearn import set_config; set_config(print_changed_only=True)")
    assert (loaded, loaded_too) == (False, True)
    assert len(plain) == len(METHODS) + 4
    assert [[" ".join(each[0].split()), *each[1:]] for each in theirs] == plain


def test_a_program_gets_estimators_of_scikit_learn():
    assert isinstance(MDAV(), BaseEstimator)
    assert issubclass(base(), BaseEstimator)


def test_a_command_within_a_program_that_uses_scikit_learn_takes_that(monkeypatch):
    monkeypatch.setattr("shoal.protocol._command", True)
    assert issubclass(base(), BaseEstimator)


def test_a_parameter_that_is_not_there_is_an_error():
    class Toy(Plain):
        def __init__(self, a=1, b=None):
            self.a, self.b = a, b

    assert repr(Toy(b=Toy(2)).set_params(a=3)) == "Toy(a=3, b=Toy(a=2))"
    inner = Toy(2)
    assert list(Toy(b=inner).get_params().items()) == [("a", 1), ("b__a", 2), ("b__b", None), ("b", inner)]
    with pytest.raises(ValueError, match=r"Toy has no parameter 'c'; it has a, b"):
        Toy().set_params(c=1)


def test_an_unfitted_copy_is_a_clone_of_scikit_learn():
    start = np.repeat(np.arange(4), 5)
    model = Blocked(Refined(k=5, start=start)).fit(np.random.default_rng(0).normal(size=(20, 2)))
    copied, cloned = unfitted(model), clone(model)
    assert vars(copied).keys() == vars(cloned).keys()
    assert copied.method is not model.method
    assert np.array_equal(copied.method.start, start)
    assert copied.method.start is not start


def test_a_release_with_the_command_loads_no_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "in.csv").write_text("a,b\n" + "".join(f"{x:.3f},{y:.3f}\n" for x, y in rng.normal(size=(40, 2))))
    code = """
import os, sys
import shoal.entry

def leave(status):
    unwanted = 'sklearn', 'scipy.spatial', 'scipy.sparse', 'scipy.stats', 'matplotlib', 'jinja2'
    loaded = [m for m in unwanted if m in sys.modules]
    print(status, loaded, flush=True)
    os._exit(0)

shoal.entry.leave = leave
sys.argv = 'shoal anonymize in.csv -k 4 -q a,b -o out.csv --method mdav --quiet'.split()
shoal.entry.main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0 []\n", "")
