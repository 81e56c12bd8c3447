#!/bin/sh
# Two processes that generate at the same time on one GPU.
here=$(dirname "$0")
python3 "$here/generate.py" --family qwen3 --requests 6 &
python3 "$here/generate.py" --family llama --requests 6
wait
