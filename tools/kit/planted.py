"""The kit's own test: faults of real runtimes, planted one at a time. Each has to be found, and the sound runtime must show
nothing."""
import contextlib
import time


def swapped(row):
    """A prompt whose tokens 64 and 65 are exchanged, if it has so many."""
    row = list(row)
    if len(row) > 65:
        row[63], row[64] = row[64], row[63]
    return row


@contextlib.contextmanager
def planted(patches):
    kept = {place: getattr(*place) for place in patches}
    try:
        for (owner, name), value in patches.items():
            setattr(owner, name, value)
        yield
    finally:
        for (owner, name), value in kept.items():
            setattr(owner, name, value)


def run(runtime, faults, texts, dtype, check, summary, only_in, named):
    """`faults`: name -> patches, a dictionary of (owner, name) -> value. `texts`: trackers with their words. `only_in`: name ->
    the model that alone can show it. `named`: name -> a part of what has to be said of it. Returns the exit status: 0 when every
    fault is found, and nothing where there is none."""
    as_it_should = True
    for fault, patches in {"(none)": {}, **faults}.items():
        started = time.monotonic()
        if only_in.get(fault, texts[0][0].name) not in {tracker.name for tracker, _ in texts}:
            print(f"{fault}: not planted, for {only_in[fault]} alone can show it")
            continue
        with planted(patches):
            wrong = [entry for tracker, words in texts for entry in check(runtime, tracker, dtype, words, set())]
        as_it_should &= bool(wrong) == bool(patches)
        models = sorted({reading.model for reading, _, _ in wrong})
        print(f"{fault}: {'found by ' + ', '.join(models) if wrong else 'nothing found'} ({time.monotonic() - started:.0f} s)", flush=True)
        for model in models:
            reading, position, explanation = next(entry for entry in wrong if entry[0].model == model)
            print(f"    {model}, {reading.way}, {reading.word}, token {position + 1}: {explanation}", flush=True)
        if wrong:
            said = summary(wrong, {tracker.name for tracker, _ in texts})
            print("    " + said.replace("\n", "\n    "), flush=True)
            if named.get(fault, "") not in said:
                as_it_should = False
                print(f"    NOT named: {named[fault]}", flush=True)
    print("every planted fault is found, and nothing without one" if as_it_should else "NOT as it should be")
    return 0 if as_it_should else 1
