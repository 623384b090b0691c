"""scikit-learn's way: points in, centroids out, in a pipeline with any scaler."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shoal import MDAV

rng = np.random.default_rng(0)
X = rng.lognormal(size=(1000, 4))

for k in (2, 5, 10, 50):
    model = MDAV(k=k).fit(StandardScaler().fit_transform(X))
    print(f"k = {k:2}: {model.n_groups_:3} groups, {model.information_loss_:5.2f} % lost")

released = make_pipeline(StandardScaler(), MDAV(k=5)).fit_transform(X)
print(f"{len(np.unique(released, axis=0))} different records are left of {len(X)}")
