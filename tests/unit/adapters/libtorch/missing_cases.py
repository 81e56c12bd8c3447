#!/usr/bin/env python3
"""Counts the test cases that a build without LibTorch leaves out, as skipped.

    missing_cases.py TEST.cpp...
"""
import pathlib
import re
import sys

cases = sum(len(re.findall(r'^TEST_CASE\(', pathlib.Path(file).read_text(encoding='utf-8'), re.MULTILINE)) for file in sys.argv[1:])
print('SKIPPED: built without LibTorch')
print(f'nl-tests: 0 passed, 0 failed, {cases} skipped')
sys.exit(0 if cases else 1)
