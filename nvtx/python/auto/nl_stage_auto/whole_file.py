"""Files that are complete or absent."""

import os


def write_whole(folder, name, text):
    """<folder>/<name>-<pid>.json: into a file beside it, then renamed."""
    path = os.path.join(folder, f"{name}-{os.getpid()}.json")
    os.makedirs(folder, exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
