"""Exceptions of our own code: swallowed, counted, and too many of them end the marking."""

import threading

LIMIT = 20
_MOST_KINDS = 50


class Faults:
    def __init__(self, at_limit):
        self._at_limit = at_limit
        self.forget()

    def forget(self):
        self._lock = threading.RLock()
        self._counts = {}
        self.total = 0

    def note(self, place, error):
        """Keeps the place and the exception's type; its message may hold the user's data."""
        with self._lock:
            kind = f"{place} ({type(error).__name__})"
            if kind in self._counts or len(self._counts) < _MOST_KINDS:
                self._counts[kind] = self._counts.get(kind, 0) + 1
            self.total += 1
            ends = self.total == LIMIT
        if ends:
            try:
                self._at_limit()
            except Exception:
                pass

    def safely(self, place, work, *args):
        """What work returns; None where it raises."""
        try:
            return work(*args)
        except Exception as error:
            self.note(place, error)
            return None

    def counts(self):
        with self._lock:
            return dict(self._counts)
