"""calibrant beside other libraries: bad input, speed, and what it costs to install and to import.

    python -m benchmarks.peers.bad_input
    python -m benchmarks.peers.speed
    python -m benchmarks.peers.footprint
    python -m benchmarks.peers.segments

Peers come with ``pip install --group arena``, and relplot and uncertainty-calibration by their names; one that is
missing is named and skipped. Calibrators for segments run in an environment of their own.
"""
