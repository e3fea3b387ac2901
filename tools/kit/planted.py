"""The kit's own test: the faults of real runtimes, planted in the stock classes one at a time. Each has to be found, and the
sound classes must show nothing."""
import contextlib
import time

import torch
import transformers.models.olmo_hybrid.modeling_olmo_hybrid as olmo
from transformers import cache_utils

import transformers_runtime

CHUNK, RECURRENT = olmo.torch_chunk_gated_delta_rule, olmo.torch_recurrent_gated_delta_rule
WRITE = cache_utils.LinearAttentionLayer.update_recurrent_state
WRITE_CONVOLUTION = cache_utils.LinearAttentionLayer.update_conv_state
LAYER = cache_utils.LinearAttentionLayer


def cut(at, change):
    """The prompt in two parts, the second from `change(state)`."""
    def chunk(q, k, v, g, beta, initial_state=None, output_final_state=False, **rest):
        if q.shape[1] <= at:
            return CHUNK(q, k, v, g=g, beta=beta, initial_state=initial_state, output_final_state=output_final_state, **rest)
        first, state = CHUNK(q[:, :at], k[:, :at], v[:, :at], g=g[:, :at], beta=beta[:, :at], initial_state=initial_state,
                             output_final_state=True, **rest)
        second, state = CHUNK(q[:, at:], k[:, at:], v[:, at:], g=g[:, at:], beta=beta[:, at:], initial_state=change(state),
                              output_final_state=output_final_state, **rest)
        return torch.cat([first, second], 1), state
    return {(olmo, "torch_chunk_gated_delta_rule"): chunk}


def at_step(number, step):
    """Another step for one decoded token of every 20."""
    count = [0]

    def recurrent(q, k, v, g, beta, initial_state=None, **rest):
        count[0] += 1
        if count[0] % 20 == number:
            return step(q, k, v, g, beta, initial_state, rest)
        return RECURRENT(q, k, v, g=g, beta=beta, initial_state=initial_state, **rest)
    return {(olmo, "torch_recurrent_gated_delta_rule"): recurrent}


def twice(q, k, v, g, beta, state, rest):
    _, state = RECURRENT(q, k, v, g=g, beta=beta, initial_state=state, **rest)
    return RECURRENT(q, k, v, g=g, beta=beta, initial_state=state, **rest)


def lost(q, k, v, g, beta, state, rest):
    kept = state.clone()
    out, _ = RECURRENT(q, k, v, g=g, beta=beta, initial_state=state, **rest)
    return out, kept


def both(change):
    """Of the arguments of both rules."""
    def patched(rule):
        def run(q, k, v, g, beta, **rest):
            q, k, v, g, beta = change(q, k, v, g, beta)
            return rule(q, k, v, g=g, beta=beta, **rest)
        return run
    return {(olmo, "torch_chunk_gated_delta_rule"): patched(CHUNK), (olmo, "torch_recurrent_gated_delta_rule"): patched(RECURRENT)}


def exchanged(q, k, v, g, beta, **rest):
    order = list(range(q.shape[1]))
    if len(order) > 65:
        order[63], order[64] = order[64], order[63]
    return CHUNK(q, k[:, order], v[:, order], g=g[:, order], beta=beta[:, order], **rest)


def unwritten(self, state, state_idx=0, **rest):
    if not self.is_recurrent_states_initialized[state_idx]:
        self.lazy_initialization(recurrent_states=state, state_idx=state_idx)
        return self.recurrent_states[state_idx]
    return WRITE(self, state, state_idx, **rest)


def convolution_unwritten(self, state, state_idx=0, **rest):
    first = not self.has_previous_state[state_idx]
    out = WRITE_CONVOLUTION(self, state, state_idx, **rest)
    if first:
        self.conv_states[state_idx].zero_()
    return out


def stored(change):
    return {(LAYER, "update_recurrent_state"): lambda self, state, state_idx=0, **rest: WRITE(self, change(state), state_idx, **rest)}


def piece_forgets(q, k, v, g, beta, initial_state=None, **rest):
    return CHUNK(q, k, v, g=g, beta=beta, initial_state=None, **rest)


def neighbours(self, state, state_idx=0, **rest):
    """When the prompts of a batch are read, every row gets the state of the row before."""
    first = not self.is_recurrent_states_initialized[state_idx]
    return WRITE(self, state.roll(1, 0) if first and len(state) > 1 else state, state_idx, **rest)


FAULTS = {
    "the prompt's state is never written": {(LAYER, "update_recurrent_state"): unwritten},
    "the state is reset at the border 128 of a prompt": cut(128, torch.zeros_like),
    "the state is lost between two pieces of a prompt": {(olmo, "torch_chunk_gated_delta_rule"): piece_forgets},
    "the update of a decoded token is applied twice": at_step(7, twice),
    "the update of a decoded token is lost": at_step(7, lost),
    "tokens 64 and 65 of a prompt are exchanged": {(olmo, "torch_chunk_gated_delta_rule"): exchanged},
    "a roll-back keeps the state of what was given up": {(transformers_runtime, "copy_of"): lambda cache: cache},
    "the decay is ignored": both(lambda q, k, v, g, beta: (q, k, v, torch.zeros_like(g), beta)),
    "beta is not doubled": both(lambda q, k, v, g, beta: (q, k, v, g, beta / 2)),
    "x + inv_norm for x * inv_norm": {
        (olmo, "l2norm"): lambda x, dim=-1, eps=1e-6: x + torch.rsqrt((x * x).sum(dim, keepdim=True) + eps)},
    "the state is kept in bf16": stored(lambda state: state.bfloat16().float()),
    "the state is kept in fp16": stored(lambda state: state.half().float()),
    "a row of a batch has its neighbour's state": {(LAYER, "update_recurrent_state"): neighbours},
    "the prompt's convolution state is never written": {(LAYER, "update_conv_state"): convolution_unwritten},
}


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


def run(runtime, texts, dtype, check, summary):
    """`texts`: trackers with their words. Returns the exit status: 0 when every fault is found, and nothing where there
    is none."""
    as_it_should = True
    for fault, patches in {"(none)": {}, **FAULTS}.items():
        started = time.monotonic()
        with planted(patches):
            wrong = [entry for tracker, words in texts for entry in check(runtime, tracker, dtype, words, False)]
        found = bool(wrong)
        as_it_should &= found == bool(patches)
        models = sorted({reading.model for reading, _, _ in wrong})
        print(f"{fault}: {'found by ' + ', '.join(models) if found else 'nothing found'} ({time.monotonic() - started:.0f} s)", flush=True)
        for model in models:
            reading, position, explanation = next(entry for entry in wrong if entry[0].model == model)
            print(f"    {model}, {reading.way}, {reading.word}, token {position + 1}: {explanation}", flush=True)
        if found:
            print("    " + summary(wrong, {tracker.name for tracker, _ in texts}).replace("\n", "\n    "), flush=True)
    print("every planted fault is found, and nothing without one" if as_it_should else "NOT as it should be")
    return 0 if as_it_should else 1
