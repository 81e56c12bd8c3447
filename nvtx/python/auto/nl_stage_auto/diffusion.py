"""Hugging Face diffusers: `image` around a pipeline's call, `scheduler` around the step of a scheduler. calls.py has the steps of the model itself.

    images count=4      a mark before `image`, where the arguments say how many the caller gets

Pipelines and schedulers are classes of their own: each is wrapped when it is made. Written after diffusers' public sources and tried with stand-ins.
"""

import threading

from .compiling import is_compiling, never
from .patches import bracketed, closes_nothing


class _OfThread(threading.local):
    inside = in_scheduler = False


def images_of_call(args, kwargs):
    """0: not known. args begin with the pipeline."""
    prompt = kwargs.get("prompt", args[1] if len(args) > 1 and isinstance(args[1], (str, list, tuple)) else None)
    embeds = getattr(kwargs.get("prompt_embeds"), "shape", None)
    if prompt is None and not embeds:
        given = kwargs.get("batch_size")  # of pipelines that take no text
        return given if isinstance(given, int) and given > 0 else 0
    prompts = 1 if isinstance(prompt, str) else len(prompt) if prompt is not None else int(embeds[0])
    each = kwargs.get("num_images_per_prompt", kwargs.get("num_videos_per_prompt", 1))
    return prompts * each if isinstance(each, int) and each > 0 else prompts


class Diffusion:
    def __init__(self, process):
        self._process, self._faults, self._ranges, self._patches = process, process.faults, process.ranges, process.patches
        self._of_thread = _OfThread()

    def patch_pipelines(self, module):
        """module: diffusers.pipelines.pipeline_utils"""
        self._follow(module.DiffusionPipeline, "__call__", self._around_pipeline)

    def patch_schedulers(self, module):
        """module: diffusers.schedulers.scheduling_utils"""
        self._follow(module.SchedulerMixin, "step", self._around_scheduler)

    def forget(self):
        """In a child of fork."""
        self._of_thread.inside = self._of_thread.in_scheduler = False

    def _follow(self, base, method, make):
        """Wraps the method of each class below base, those of later too."""
        def wrap(cls):
            try:
                self._patches.wrap(cls, method, make)
            except Exception as error:
                self._faults.note("diffusers", error)

        def __init_subclass__(cls, **kwargs):
            super(base, cls).__init_subclass__(**kwargs)
            wrap(cls)

        waiting = base.__subclasses__()
        while waiting:
            cls = waiting.pop()
            wrap(cls)
            waiting += cls.__subclasses__()
        if "__init_subclass__" not in vars(base):
            base.__init_subclass__ = classmethod(__init_subclass__)

    def _around_pipeline(self, original):
        compiling, of_thread = is_compiling() or never, self._of_thread

        def begin(args, kwargs):
            if compiling() or of_thread.inside:  # a pipeline that calls another
                return None
            of_thread.inside = True
            return self._safely(self._begin_image, args, kwargs) or closes_nothing

        def end(close):
            of_thread.inside = False
            self._safely(self._process.end_loop)
            self._safely(close)

        return bracketed(original, begin, end)

    def _begin_image(self, args, kwargs):
        self._process.end_loop()
        count = images_of_call(args, kwargs)
        if count:
            self._ranges.mark(f"images count={count}")
        return self._ranges.open("image")

    def _around_scheduler(self, original):
        compiling, of_thread = is_compiling() or never, self._of_thread

        def begin(_args, _kwargs):
            if compiling() or of_thread.in_scheduler:  # one that calls its base's
                return None
            of_thread.in_scheduler = True
            self._safely(self._process.end_step)
            return self._safely(self._ranges.open, "scheduler") or closes_nothing

        def end(close):
            of_thread.in_scheduler = False
            self._safely(close)

        return bracketed(original, begin, end)

    def _safely(self, work, *args):
        return self._faults.safely("diffusers", work, *args)
