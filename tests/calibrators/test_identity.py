import numpy as np

from calibrant import Identity


def test_the_score_is_returned():
    scores = np.linspace(0.0, 1.0, 11)
    calibrator = Identity().fit([0.3, 0.9], [1, 0])
    np.testing.assert_array_equal(calibrator.predict(scores), scores)
    np.testing.assert_array_equal(calibrator.map_.inverse(scores), scores)


def test_the_answer_is_a_copy():
    scores = np.array([0.2, 0.4])
    Identity().fit(scores, [0, 1]).predict(scores)[:] = 0.0
    assert scores.tolist() == [0.2, 0.4]
