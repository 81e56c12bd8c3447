"""Batch and tokens, from the arguments and results of generate() and of models. Tensors are only asked for their shape and type."""


def shape_of(tensor):
    """(batch, tokens) of a tensor with at least two dimensions."""
    shape = getattr(tensor, "shape", None)
    return (int(shape[0]), int(shape[1])) if shape is not None and len(shape) >= 2 else None


def _is_tokens(tensor):
    dtype = getattr(tensor, "dtype", None)
    return shape_of(tensor) is not None and len(tensor.shape) == 2 and not getattr(dtype, "is_floating_point", False)


def prompt_of_generate(model, args, kwargs):
    """(batch, tokens of a prompt, tokens of the result that were given); zeros where that is not known."""
    ids = args[0] if args else kwargs.get("inputs", kwargs.get("input_ids"))
    if ids is None:
        ids = kwargs.get("input_ids")
    given = shape_of(ids) if _is_tokens(ids) else None
    embeds = shape_of(kwargs.get("inputs_embeds"))
    batch, tokens = embeds or given or (0, 0)
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        start = shape_of(kwargs.get("decoder_input_ids"))
        return batch, tokens, start[1] if start else 1
    return batch, tokens, given[1] if given else 0


def prompt_of_first_forward(request, args, kwargs):
    """(batch, tokens) at the first prepare_inputs_for_generation: beams are in the batch by now."""
    shape = shape_of(kwargs.get("inputs_embeds")) or shape_of(args[0] if args else kwargs.get("input_ids"))
    if shape is None:
        return 0, 0
    batch, tokens = shape
    rest = kwargs.get("next_sequence_length")  # transformers 5, where a cache has the beginning already
    if isinstance(rest, int):
        return batch, rest
    return batch, max(tokens, request.prompt_tokens)  # the first of several chunks is shorter


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
    """(batch, tokens of a sequence): whole numbers of two dimensions, or embeddings."""
    shape = getattr(tensor, "shape", None)
    if shape is None:
        return None
    floating, dimensions = getattr(tensor.dtype, "is_floating_point", None), len(shape)
    return shape[:2] if dimensions == 2 and floating is False or dimensions == 3 and floating is True else None


def shape_of_call(args, kwargs):
    """(batch, tokens of a sequence) of what a model is called with. args begin with the model."""
    found = _sequences(args[1] if len(args) > 1 else kwargs.get("input_ids"))
    return found if found is not None else _shape_of_others(args, kwargs)


def _shape_of_others(args, kwargs):
    named = [kwargs.get("input_ids"), kwargs.get("inputs_embeds")]
    others = [value for name, value in kwargs.items() if "mask" not in name and "position" not in name]
    for value in (*named, *args[2:], *others):
        found = _sequences(value)
        if found is not None:
            return found
    return None
