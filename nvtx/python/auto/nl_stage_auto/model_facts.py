"""What a model says about itself: class, configuration, types, and its weights as loaded."""

_MOST_ITEMS = 1000  # of one list or dictionary; a classifier's labels can be many
_MOST_TEXT = 1000
_MOST_DEPTH = 8


def plain(value, depth=0):
    """The value as JSON can hold it, bounded; what JSON has no word for becomes its type's name."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, str):
        return value[:_MOST_TEXT]
    if depth < _MOST_DEPTH and isinstance(value, dict):
        return {str(key)[:_MOST_TEXT]: plain(item, depth + 1) for key, item in list(value.items())[:_MOST_ITEMS]}
    if depth < _MOST_DEPTH and isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth + 1) for item in list(value)[:_MOST_ITEMS]]
    return _type_name(value)


def _type_name(value):
    name = type(value).__name__
    return str(value).rpartition(".")[2] if name == "dtype" else name  # torch.bfloat16; a tensor's text would be its values


def _quantisation(config):
    described = getattr(config, "quantization_config", None)
    if described is None:
        return None
    described = described if isinstance(described, dict) else described.to_dict()
    method = described.get("quant_method")
    return {"method": str(getattr(method, "value", method)), "bits": _bits(described), "type": plain(described.get("bnb_4bit_quant_type"))}


def _bits(described):
    for bits in (4, 8):  # as bitsandbytes says it
        if described.get(f"load_in_{bits}bit") or described.get(f"_load_in_{bits}bit"):
            return bits
    return plain(described.get("bits"))


def _dominant(found):
    """The type of most bytes."""
    types = (found or {}).get("bytes_by_dtype") or {}
    return max(types, key=types.get) if types else None


def precision(facts):
    """One word for what the weights are: bfloat16, fp8, "int4 (gptq)"."""
    loaded, quantised = _dominant(facts.get("parameters")) or facts.get("dtype"), facts.get("quantization")
    word = "fp8" if (loaded or "").startswith("float8") else loaded
    if not quantised:
        return word
    method, bits, kind = quantised["method"], quantised["bits"], quantised["type"]
    if "fp" in method:  # fp8, fbgemm_fp8, mxfp4
        return "fp8" if "fp8" in method else method
    if bits:
        word = kind if kind and bits == 4 else f"int{bits}"  # nf4
    return f"{word} ({method})" if word else method


def _attention(config):
    return plain(getattr(config, "_attn_implementation", None))


def _dtype(model, config):
    dtype = getattr(model, "dtype", None) or getattr(config, "dtype", None)
    return None if dtype is None else _type_name(dtype)


def _storage(tensor):
    """(what tells it from others, its bytes). Tied and sliced tensors share one."""
    tensor = getattr(tensor, "_local_tensor", tensor)  # of a model that is spread over processes
    try:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
    except Exception:
        address, size = 0, tensor.numel() * tensor.element_size()
    return (str(tensor.device), address) if address else id(tensor), size


def weights(model):
    """Count and bytes of the parameters, bytes of the buffers (where quantised weights may be), each storage once."""
    seen, found = set(), {"count": 0, "bytes": 0, "buffer_bytes": 0, "bytes_by_dtype": {}}
    for tensors, total in ((model.parameters(), "bytes"), (model.buffers(), "buffer_bytes")):
        for tensor in tensors:
            if total == "bytes":
                found["count"] += tensor.numel()
            key, size = _storage(tensor)
            if key in seen:
                continue
            seen.add(key)
            found[total] += size
            dtype = _type_name(tensor.dtype)
            found["bytes_by_dtype"][dtype] = found["bytes_by_dtype"].get(dtype, 0) + size
    return found


def describe(model, config, faults):
    """Each part by itself: a configuration that cannot be read takes nothing else along. model: None where it is gone."""
    parts = {
        "config": lambda: plain(config.to_dict()) if config is not None else None,
        "dtype": lambda: _dtype(model, config),
        "quantization": lambda: _quantisation(config),
        "attention": lambda: _attention(config),
        "gradient_checkpointing": lambda: True if getattr(model, "is_gradient_checkpointing", False) is True else None,
        "parameters": lambda: weights(model) if model is not None else None,
    }
    facts = {"class": type(model).__name__}
    parts["precision"] = lambda: precision(facts)  # from what the others found
    for name, read in parts.items():
        try:
            value = read()
        except Exception as error:
            faults.note(f"facts of the model: {name}", error)
            continue
        if value is not None:
            facts[name] = value
    if "dtype" not in facts and _dominant(facts.get("parameters")) is not None:  # a plain module
        facts["dtype"] = _dominant(facts["parameters"])
    return facts
