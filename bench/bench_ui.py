#!/usr/bin/env python3
"""The page's figures: how much is loaded, and how soon something is seen. usage: bench/bench_ui.py BINARY"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.exit(subprocess.run(["node", os.path.join(HERE, "ui.mjs"), os.path.abspath(sys.argv[1])]).returncode)
