"""Models that were made, for workloads of which nothing else is seen."""

import weakref

from . import model_facts

_MOST = 16


def _is_part_of(config, whole):
    return config is whole or any(config is value for value in vars(whole).values())


class Created:
    """Keeps configurations, not models: a configuration is small, and a model that was dropped shall be freed."""

    def __init__(self, faults, patches):
        self._faults, self._patches = faults, patches
        self._models = []  # (class name, reference, configuration), outer models first

    def patch(self, module):
        """module: transformers.modeling_utils"""
        self._patches.wrap(module.PreTrainedModel, "__init__", self._around_init)

    def _around_init(self, original):
        def __init__(model, /, *args, **kwargs):
            original(model, *args, **kwargs)
            try:
                self._add(model, args[0] if args else kwargs.get("config"))
            except Exception as error:
                self._faults.note("model's __init__", error)

        return __init__

    def _add(self, model, config):
        if not hasattr(config, "to_dict"):
            return
        # Parts of a model are made with its configuration or a part of it.
        if len(self._models) < _MOST and not any(_is_part_of(config, whole) for _, _, whole in self._models):
            self._models.append((type(model).__name__, weakref.ref(model), config))

    def describe(self):
        described = []
        for name, reference, config in self._models:
            facts = model_facts.describe(reference(), config, self._faults)
            described.append({**facts, "class": name, "requests": 0, "new_tokens": 0})
        return described
