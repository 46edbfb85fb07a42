"""The scikit-learn meta-estimator: a classifier and the calibration of its scores as one."""
