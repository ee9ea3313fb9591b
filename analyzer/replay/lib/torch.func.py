def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, tie_weights=True, strict=False):
    """The module's own parameters stand aside while it is called."""
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        given = {name: value for part in given for name, value in part.items()}
    places, kept = [], []
    for name in given:
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        store = owner._parameters if last in owner._parameters else owner._buffers
        places.append((store, last))
        kept.append(store[last])
    try:
        for (store, last), value in zip(places, given.values()):
            store[last] = value
        return module(*(args if isinstance(args, tuple) else () if args is None else (args,)), **(kwargs or {}))
    finally:
        for (store, last), value in zip(places, kept):
            store[last] = value
