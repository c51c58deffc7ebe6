"""The promises of the library as figures: ``python -m benchmarks.reliability --help``."""
