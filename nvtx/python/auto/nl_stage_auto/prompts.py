"""Batch, beams and tokens, from the arguments and results of generate() and of models. Tensors are only asked for their shape and type."""

_INPUTS = ("inputs", "input_ids", "input_features", "input_values", "pixel_values")  # of generate()


def shape_of(tensor):
    """(batch, tokens) of a tensor with at least two dimensions."""
    shape = getattr(tensor, "shape", None)
    return (int(shape[0]), int(shape[1])) if shape is not None and len(shape) >= 2 else None


def _is_tokens(tensor):
    dtype = getattr(tensor, "dtype", None)
    return shape_of(tensor) is not None and len(tensor.shape) == 2 and not getattr(dtype, "is_floating_point", False)


class Prompt:
    """What one generate() is asked for: sequences that it returns, beams of each, tokens of a prompt, and of the result those that were given."""

    __slots__ = ("batch", "beams", "tokens", "given", "search")

    def __init__(self, batch=0, tokens=0, given=0, beams=1, search=""):
        self.batch, self.beams, self.tokens, self.given, self.search = batch, beams, tokens, given, search


def prompt_of_generate(model, args, kwargs):
    """Zeros where something is not known."""
    inputs = [args[0] if args else None, *map(kwargs.get, _INPUTS)]
    first = next((value for value in inputs if shape_of(value) is not None), None)
    given = shape_of(first) if _is_tokens(first) else None
    embeds = shape_of(kwargs.get("inputs_embeds"))
    batch, tokens = embeds or given or ((shape_of(first) or (0, 0))[0], 0)  # sound and images have no tokens yet
    returned, beams, search = _search(model, args, kwargs)
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        start = shape_of(kwargs.get("decoder_input_ids"))
        return Prompt(batch * returned, tokens, start[1] if start else 1, beams, search)
    return Prompt(batch * returned, tokens, given[1] if given else 0, beams, search)


def _search(model, args, kwargs):
    """(sequences returned for each input, beams of each of them, the kind of search)"""
    configs = (args[1] if len(args) > 1 else kwargs.get("generation_config"), getattr(model, "generation_config", None))

    def setting(name):
        values = (kwargs.get(name), *(getattr(config, name, None) for config in configs))
        return next((value for value in values if value is not None), None)

    def count(name):
        value = setting(name)
        return value if isinstance(value, int) and value > 0 else 1

    beams, returned = count("num_beams"), count("num_return_sequences")
    per_sequence = beams // returned if beams % returned == 0 else 1
    return returned, per_sequence, _kind_of_search(setting, beams, count("num_beam_groups"), kwargs)


def _kind_of_search(setting, beams, groups, kwargs):
    if kwargs.get("assistant_model") is not None or setting("prompt_lookup_num_tokens"):
        return "assisted"
    if setting("penalty_alpha"):
        return "contrastive"
    if beams > 1:
        return "group beams" if groups > 1 else "beams"
    return "sampling" if setting("do_sample") else "greedy"


def prompt_of_first_forward(request, args, kwargs):
    """(rows, tokens) at the first prepare_inputs_for_generation: beams are among the rows by now."""
    shape = shape_of(kwargs.get("inputs_embeds")) or shape_of(args[0] if args else kwargs.get("input_ids"))
    if shape is None:
        return 0, 0
    rows, tokens = shape
    rest = kwargs.get("next_sequence_length")  # transformers 5, where a cache has the beginning already
    if isinstance(rest, int):
        return rows, rest
    return rows, max(tokens, request.prompt_tokens)  # the first of several chunks is shorter


def tokens_of_inputs(inputs):
    """Tokens of a sequence in what prepare_inputs_for_generation returns."""
    for name in ("inputs_embeds", "input_ids", "decoder_input_ids"):
        shape = shape_of(inputs.get(name))
        if shape is not None and shape[1] > 0:
            return shape[1]
    return 0


def result_of_generate(request, result):
    """(batch, new tokens of a sequence)"""
    sequences = getattr(result, "sequences", result)
    if _is_tokens(sequences):
        batch, length = shape_of(sequences)
        return batch, max(length - request.given_tokens, 0)
    return request.batch, request.steps + 1 if request.phase else 0


def _sequences(tensor):
    """(batch, tokens of a sequence, whether they are embeddings): whole numbers of two dimensions, or embeddings."""
    shape = getattr(tensor, "shape", None)
    if shape is None:
        return None
    floating, dimensions = getattr(tensor.dtype, "is_floating_point", None), len(shape)
    if dimensions == 2 and floating is False:
        return shape[0], shape[1], False
    return (shape[0], shape[1], True) if dimensions == 3 and floating is True else None


def shape_of_call(args, kwargs):
    """(batch, tokens of a sequence, whether they are embeddings) of what a model is called with; tokens are 0 where it has none, as an image. args
    begin with the model. None: it is called with no tensor."""
    found = _sequences(args[1] if len(args) > 1 else kwargs.get("input_ids"))
    return found if found is not None else _shape_of_others(args, kwargs)


def _shape_of_others(args, kwargs):
    named = [kwargs.get("input_ids"), kwargs.get("inputs_embeds")]
    others = [value for name, value in kwargs.items() if "mask" not in name and "position" not in name]
    for value in (*named, *args[2:], *others):
        found = _sequences(value)
        if found is not None:
            return found
    batch = _batch_of((*args[1:], *others))
    return None if batch is None else (batch, 0, True)


def _batch_of(values, depth=0):
    """Of the first tensor that is more than a number, also inside lists and dictionaries."""
    for value in values:
        shape = getattr(value, "shape", None)
        if shape is not None and hasattr(value, "dtype"):
            if len(shape) > 0:
                return int(shape[0])
        elif depth < 2 and isinstance(value, (list, tuple, dict)):
            found = _batch_of(list(value.values() if isinstance(value, dict) else value)[:16], depth + 1)
            if found is not None:
                return found
    return None
