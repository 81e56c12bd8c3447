"""What kind of model a module is: whether it generates tokens, and whether a call of it is a step of a diffusion.

    generates   True: a model of transformers with a head for tokens, False: one without, as an encoder, None: any other module
    denoises    its call has a time step and a latent: forward(self, x, t), forward(self, sample, timestep, …)

A module is looked at once, at its first call. What is not known stays unknown.
"""

import re
import types
import weakref

_TOKEN_HEADS = re.compile(r"For(CausalLM|ConditionalGeneration|Seq2SeqLM|SpeechSeq2Seq|Vision2Seq|ImageTextToText)$|LMHead|EncoderDecoderModel$")
# Names that only a diffusion has for its time step, and names that others use as well.
_SURE_TIMES = re.compile(r"time_?steps?$|time_?step_.*|sigmas?$|sigma_.*|c_noise$|noise_(levels?|labels?|std|cond|variance|scale)$|log_?snr.*|diffusion_.*")
_TIMES = re.compile(r"(t|ts|tau|time|times|time_cond|t_.*|.*_t|noise_.*|step_t)$")
_VAR_KEYWORDS = 0x08  # as in inspect, which is slow to import
_MOST_MODELS = 1024
_PARTS = 3  # so many modules of one class, moved or loaded one by one, are parts of a model


def unwrapped(module):
    """torch.compile(module) has the module inside."""
    return getattr(module, "_orig_mod", module)


def generates(module):
    can = getattr(module, "can_generate", None)
    if not callable(can):
        return None
    if not can():
        return False
    config = getattr(module, "config", None)
    names = [cls.__name__ for cls in type(module).__mro__]
    if any(map(_TOKEN_HEADS.search, names)):
        return True
    listed = [name for name in getattr(config, "architectures", None) or () if isinstance(name, str)]
    return True if getattr(config, "is_encoder_decoder", False) is True or any(map(_TOKEN_HEADS.search, listed)) else None


def _parameters(module):
    """(names of forward's parameters, whether it takes any other name)"""
    function = getattr(module, "forward", None)
    for _ in range(16):  # decorators, accelerate's hooks, torch.compile
        inside = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None) or getattr(function, "func", None)
        if inside is None:
            break
        function = inside
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return (), True
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount], bool(code.co_flags & _VAR_KEYWORDS)


def _versions(*tensors):
    """How often they were written to; None: tensors of inference_mode do not count it."""
    try:
        return [tensor._version for tensor in tensors if hasattr(tensor, "shape")]
    except Exception:
        return None


class Times:
    """The parameters of a forward that may be a time step."""

    __slots__ = ("_places", "_named")

    def __init__(self, places, named):
        self._places, self._named = places, named

    def of_call(self, args, kwargs):
        """(time step, latent) of a step of a diffusion; None: it is not one. args begin with the module."""
        given = [(name, args[place] if place < len(args) else kwargs.get(name)) for place, name in self._places]
        if self._named:
            given += [(name, value) for name, value in kwargs.items() if _SURE_TIMES.match(name)]
        for name, value in given:
            found = self._judged(name, value, args, kwargs) if value is not None else None
            if found is not None:
                return found
        return None

    def _judged(self, name, time, args, kwargs):
        latent = next((value for value in (*args[1:], *kwargs.values()) if value is not time and hasattr(value, "dtype") and hasattr(value, "shape")), None)
        if latent is None or not getattr(latent.dtype, "is_floating_point", False) or not 3 <= len(latent.shape) <= 5:
            return None
        shape = getattr(time, "shape", None)
        if shape is None:
            # A plain number beside three dimensions may be the position of a token.
            number = isinstance(time, (int, float)) and not isinstance(time, bool)
            return (time, latent) if number and (len(latent.shape) > 3 or _SURE_TIMES.match(name)) else None
        scalar = len(shape) == 0 or (len(shape) == 1 or len(shape) == 2 and shape[1] == 1) and shape[0] in (1, latent.shape[0])
        return (time, latent) if scalar else None


def times_of(module):
    names, more = _parameters(module)
    sure = [(place, name) for place, name in enumerate(names) if place and _SURE_TIMES.match(name)]
    others = [(place, name) for place, name in enumerate(names) if place and _TIMES.match(name) and (place, name) not in sure]
    return Times([*sure, *others], more) if sure or others or more else None


class Kind:
    """Of one module."""

    __slots__ = ("generates", "decoded", "times", "skipped", "trains", "denoises", "training_calls", "eval_calls", "place", "last_step", "_times_of_image")

    def __init__(self, module):
        self.generates = generates(module)
        self.times = None if self.generates else times_of(module)
        self.skipped = self.trains = self.denoises = False
        self.decoded = False  # one token after the other, in an earlier request
        self.training_calls = self.eval_calls = 0
        self.place = None  # among the facts
        self._times_of_image = None  # [first time step, last one, whether they grow or shrink]
        self.last_step = None  # of a diffusion: (time step or reference to it, reference to the latent, versions, ids of what else it got)

    def step_of_diffusion(self, args, kwargs):
        return self.times.of_call(args, kwargs) if self.times is not None else None

    def repeats(self, step, args, kwargs):
        """Whether this call has the time step and the latent of the call before: guidance calls the model twice for one step."""
        time, latent = step
        number = not hasattr(time, "shape")
        others = tuple(id(value) for value in (*args, *kwargs.values()) if value is not time and value is not latent)
        before = self.last_step
        self.last_step = (time if number else weakref.ref(time), weakref.ref(latent), _versions(time, latent), others)
        if before is None or before[1]() is not latent:
            return False
        same_time = before[0] == time if number else isinstance(before[0], weakref.ref) and before[0]() is time
        if not same_time or before[2] != self.last_step[2]:
            return False
        # Where writes are not counted, buffers that a loop fills again are told from guidance by what else the call gets.
        return self.last_step[2] is not None or before[3] != others

    def begins_image(self, time):
        """Whether the time steps start anew, from where they began or from farther. Tensors are not read, which would wait for the GPU."""
        if isinstance(time, bool) or not isinstance(time, (int, float)):
            return False
        if self._times_of_image is None:
            self._times_of_image = [time, time, 0]
            return False
        first, before, direction = self._times_of_image
        moved = (time > before) - (time < before)
        anew = moved * direction < 0 and (time - first) * direction <= 0
        self._times_of_image = [time, time, 0] if anew else [first, time, direction or moved]
        return anew

    def as_json(self, module_class, listed):
        """listed: the architectures of the configuration."""
        names = [module_class, *[name for name in listed or () if isinstance(name, str) and name != module_class]]
        return {"generates": True if self.decoded else self.generates, "denoises": self.denoises, "trains": self.trains, "architecture": names[:8],
                "training_calls": self.training_calls, "eval_calls": self.eval_calls}


class Kinds:
    def __init__(self, process):
        self._towers = process.vision
        self._known = {}  # by id: (reference, kind)
        self._found = {}  # by class: those that the workload moved, loaded or evaluated by themselves

    def forget(self):
        """In a child of fork, which has facts of its own."""
        self._known = {}

    def found(self, module):
        try:
            instances = self._found.setdefault(type(module), weakref.WeakSet())
            if len(instances) < 2 * _PARTS:
                instances.add(module)
        except TypeError:  # a class of its own idea of equality
            pass

    def of(self, module):
        reference, kind = self._known.get(id(module), (None, None))
        if reference is not None and reference() is module:  # else another one had its address
            return kind
        inside = unwrapped(module)
        if inside is not module:
            kind = self.of(inside)
        else:
            kind = Kind(module)
            kind.skipped = self._is_part(module, kind)
        if len(self._known) >= _MOST_MODELS:
            self._known = {key: known for key, known in self._known.items() if known[0]() is not None}
        self._known[id(module)] = (weakref.ref(module), kind)
        return kind

    def _is_part(self, module, kind):
        """Layers that a loop calls one after the other are not models, and vision.py marks towers."""
        if self._towers.is_tower(module):
            return True
        return not kind.generates and len(self._found.get(type(module), ())) >= _PARTS
