"""Calibrated probabilities from the scores of any classifier, with honest uncertainty.

Names load when they are first used, so importing the package stays cheap.
"""

from typing import TYPE_CHECKING

from calibrant import _lazy

if TYPE_CHECKING:
    from calibrant import adjust as adjust
    from calibrant import comparison as comparison
    from calibrant import credit as credit
    from calibrant import decisions as decisions
    from calibrant import engines as engines
    from calibrant import errors as errors
    from calibrant import estimates as estimates
    from calibrant import export as export
    from calibrant import matrix_monitoring as matrix_monitoring
    from calibrant import metrics as metrics
    from calibrant import monitoring as monitoring
    from calibrant import reliability as reliability
    from calibrant import report as report
    from calibrant import simulate as simulate
    from calibrant import updating as updating
    from calibrant.calibrators.abb import ABB as ABB
    from calibrant.calibrators.acp import ACP as ACP
    from calibrant.calibrators.bayes_iso import BayesIso as BayesIso
    from calibrant.calibrators.bayes_temperature import BayesianTemperature as BayesianTemperature
    from calibrant.calibrators.bbq import BBQ as BBQ
    from calibrant.calibrators.beta import BetaCalibration as BetaCalibration
    from calibrant.calibrators.blend import Blend as Blend
    from calibrant.calibrators.bpm import BPM as BPM
    from calibrant.calibrators.dirichlet import DirichletCalibration as DirichletCalibration
    from calibrant.calibrators.enir import ENIR as ENIR
    from calibrant.calibrators.ensemble_temperature import EnsembleTemperatureScaling as EnsembleTemperatureScaling
    from calibrant.calibrators.histogram import HistogramBinning as HistogramBinning
    from calibrant.calibrators.identity import Identity as Identity
    from calibrant.calibrators.isotonic import IsotonicCalibration as IsotonicCalibration
    from calibrant.calibrators.matrix_blend import MatrixBlend as MatrixBlend
    from calibrant.calibrators.matrix_scaling import MatrixScaling as MatrixScaling
    from calibrant.calibrators.platt import PlattScaling as PlattScaling
    from calibrant.calibrators.registry import register as register
    from calibrant.calibrators.sbb import SBB as SBB
    from calibrant.calibrators.segmented import SegmentedCalibrator as SegmentedCalibrator
    from calibrant.calibrators.spline import SplineCalibration as SplineCalibration
    from calibrant.calibrators.temperature import TemperatureScaling as TemperatureScaling
    from calibrant.calibrators.vector_scaling import VectorScaling as VectorScaling
    from calibrant.calibrators.venn_abers import VennAbers as VennAbers
    from calibrant.classifier import CalibratedClassifier as CalibratedClassifier
    from calibrant.comparison.compare import compare as compare
    from calibrant.displays.calibration_map import CalibrationMapDisplay as CalibrationMapDisplay
    from calibrant.displays.class_reliability import ClassReliabilityDisplay as ClassReliabilityDisplay
    from calibrant.displays.decision_curve import DecisionCurveDisplay as DecisionCurveDisplay
    from calibrant.displays.murphy import MurphyDisplay as MurphyDisplay
    from calibrant.displays.reliability import ReliabilityDisplay as ReliabilityDisplay
    from calibrant.loading import load as load
    from calibrant.maps import CalibrationMap as CalibrationMap
    from calibrant.matrix_maps import MatrixMap as MatrixMap
    from calibrant.metrics.evaluation import evaluate as evaluate
    from calibrant.segmented_maps import SegmentedMap as SegmentedMap
    from calibrant.tally import Tally as Tally

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    {
        "": "adjust comparison credit decisions engines errors estimates export matrix_monitoring metrics monitoring "
        "reliability report simulate updating",
        "calibrators": "ABB ACP BBQ BPM ENIR SBB BayesIso BayesianTemperature BetaCalibration Blend "
        "EnsembleTemperatureScaling HistogramBinning Identity IsotonicCalibration PlattScaling SplineCalibration "
        "TemperatureScaling VennAbers DirichletCalibration MatrixBlend MatrixScaling VectorScaling",
        "calibrators.segmented": "SegmentedCalibrator",
        "displays": "DecisionCurveDisplay MurphyDisplay",
        "calibrators.registry": "register",
        "classifier": "CalibratedClassifier",
        "comparison.compare": "compare",
        "displays.calibration_map": "CalibrationMapDisplay",
        "displays.class_reliability": "ClassReliabilityDisplay",
        "displays.reliability": "ReliabilityDisplay",
        "loading": "load",
        "maps": "CalibrationMap",
        "matrix_maps": "MatrixMap",
        "metrics.evaluation": "evaluate",
        "segmented_maps": "SegmentedMap",
        "tally": "Tally",
    },
)
