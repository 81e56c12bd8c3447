"""The parts of tests/manual/cupti_runs."""
