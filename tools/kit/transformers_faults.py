"""The faults of real runtimes, planted in transformers' stock classes."""
import copy
import functools

import torch
import transformers.models.olmo_hybrid.modeling_olmo_hybrid as olmo
import transformers.models.qwen3_next.modeling_qwen3_next as qwen
from transformers import cache_utils

from planted import swapped
from transformers_runtime import Runtime

CHUNK, RECURRENT = "torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule"
WRITE = cache_utils.LinearAttentionLayer.update_recurrent_state
WRITE_CONVOLUTION = cache_utils.LinearAttentionLayer.update_conv_state
LAYER = cache_utils.LinearAttentionLayer
COPY, AFTER_DRAFT = Runtime.copy_of, Runtime.after_draft
MASK = "create_recurrent_attention_mask"


def rules(name, faulty):
    """In both classes, `faulty(rule)` for the rule of that name: of prompts, or of single tokens."""
    return {(module, name): faulty(getattr(module, name)) for module in (olmo, qwen)}


def cut(at, change):
    """The prompt in two parts, the second from `change(state)`."""
    def faulty(rule):
        return lambda *args, **rest: in_two(rule, at, change, *args, **rest)
    return rules(CHUNK, faulty)


def in_two(rule, at, change, q, k, v, g, beta, initial_state=None, output_final_state=False, **rest):
    if q.shape[1] <= at:
        return rule(q, k, v, g=g, beta=beta, initial_state=initial_state, output_final_state=output_final_state, **rest)
    first, state = rule(q[:, :at], k[:, :at], v[:, :at], g=g[:, :at], beta=beta[:, :at], initial_state=initial_state,
                        output_final_state=True, **rest)
    second, state = rule(q[:, at:], k[:, at:], v[:, at:], g=g[:, at:], beta=beta[:, at:], initial_state=change(state),
                         output_final_state=output_final_state, **rest)
    return torch.cat([first, second], 1), state


def at_step(number, step):
    """Another step for one decoded token of every 20."""
    count = [0]

    def faulty(rule):
        def recurrent(q, k, v, g, beta, initial_state=None, **rest):
            count[0] += 1
            run = step if count[0] % 20 == number else (lambda rule, state, *args, **rest: rule(*args, initial_state=state, **rest))
            return run(rule, initial_state, q, k, v, g=g, beta=beta, **rest)
        return recurrent
    return rules(RECURRENT, faulty)


def twice(rule, state, *args, **rest):
    return rule(*args, initial_state=rule(*args, initial_state=state, **rest)[1], **rest)


def lost(rule, state, *args, **rest):
    kept = state.clone()
    return rule(*args, initial_state=state, **rest)[0], kept


def both(change, modules=(olmo, qwen)):
    """Of the arguments of both rules."""
    def faulty(rule):
        def run(q, k, v, g, beta, **rest):
            q, k, v, g, beta = change(q, k, v, g, beta)
            return rule(q, k, v, g=g, beta=beta, **rest)
        return run
    patches = {**rules(CHUNK, faulty), **rules(RECURRENT, faulty)}
    return {place: value for place, value in patches.items() if place[0] in modules}


def exchanged(rule):
    def run(q, k, v, g, beta, **rest):
        order = swapped(range(q.shape[1]))
        return rule(q, k[:, order], v[:, order], g=g[:, order], beta=beta[:, order], **rest)
    return run


def piece_forgets(rule):
    return lambda *args, initial_state=None, **rest: rule(*args, initial_state=None, **rest)


def summed(x, dim=-1, eps=1e-6):
    return x + torch.rsqrt((x * x).sum(dim, keepdim=True) + eps)


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


def neighbours(self, state, state_idx=0, **rest):
    """When the prompts of a batch are read, every row gets the state of the row before."""
    first = not self.is_recurrent_states_initialized[state_idx]
    return WRITE(self, state.roll(1, 0) if first and len(state) > 1 else state, state_idx, **rest)


def clamped(rule):
    return lambda q, k, v, g, beta, **rest: rule(q, k, v, g=g, beta=beta.clamp(max=1), **rest)


def decayed_late(rule):
    return lambda q, k, v, g, beta, **rest: rule(q, k, v, g=torch.cat([torch.zeros_like(g[:, :1]), g[:, :-1]], 1), beta=beta, **rest)


def with_layers_exchanged(self, cache):
    """A copy in which the recurrent states of the layers are in the opposite order."""
    copied = copy.deepcopy(cache)
    layers = [layer for layer in copied.layers if isinstance(layer, LAYER)]
    for layer, states in zip(layers, [layer.recurrent_states for layer in layers][::-1]):
        layer.recurrent_states = states
    return copied


def by_crop(self, cache, kept, accepted, rejected):
    """What `Cache.crop` does: it takes the convolution's state back, and leaves the recurrent one."""
    cache.crop(-rejected)
    return cache


def unmasked(when):
    """No padding is hidden from the layers, `when(rows, state)`."""
    def faulty(make):
        def mask(*args, attention_mask=None, cache=None, past_key_values=None, **rest):
            state = cache if cache is not None else past_key_values
            if attention_mask is not None and when(len(attention_mask), state):
                return None
            return make(*args, attention_mask=attention_mask, cache=state, **rest)
        return mask
    return {(module, MASK): faulty(getattr(module, MASK)) for module in (olmo, qwen)}


def with_ring(size=16, flush=None):
    """A state that is written every so many decoded tokens: until then their inputs are kept beside it. `flush` makes the new
    state, of those that were written before and a function that replays the inputs."""
    call = {}

    def chunk(rule):
        return lambda *args, **rest: (call.update(alone=None), rule(*args, **rest))[1]

    def recurrent(rule):
        def run(q, k, v, initial_state=None, **rest):
            call["alone"] = lambda state: rule(q, k, v, initial_state=state, **rest)[1]
            return rule(q, k, v, initial_state=initial_state, **rest)
        return run

    def write(self, state, state_idx=0, **rest):
        if call["alone"] is None:
            self.written, self.inputs = [state.clone()], []
        else:
            self.inputs.append(call["alone"])
            if len(self.inputs) == size:
                state = flush(self.written, lambda state: functools.reduce(lambda s, step: step(s), self.inputs, state), state)
                self.written, self.inputs = [*self.written[-1:], state.clone()], []
        return WRITE(self, state, state_idx, **rest)
    return {**rules(CHUNK, chunk), **rules(RECURRENT, recurrent), (LAYER, "update_recurrent_state"): write}


def without_ring(self, cache):
    """A copy of what was written, without the inputs that wait in the ring."""
    copied = COPY(self, cache)
    for layer in copied.layers:
        if isinstance(layer, LAYER):
            layer.recurrent_states = {index: layer.written[-1].clone() for index in layer.recurrent_states} if isinstance(
                layer.recurrent_states, dict) else [layer.written[-1].clone()]
            layer.inputs = []
    return copied


def flushed_with_draft(self, cache, kept, accepted, rejected):
    """Where a draft fills a ring of 16, all of it is written, and what is given up with it."""
    before = kept.get_seq_length()
    return cache if before // 16 != (before + len(accepted[0]) + rejected) // 16 else AFTER_DRAFT(self, cache, kept, accepted, rejected)


def narrow_beta(rule):
    return lambda q, k, v, g, beta, **rest: rule(q, k, v, g=g, beta=beta.bfloat16().to(beta.dtype), **rest)


def cut_decays(rule):
    """Decays below e^−2.5 are taken for it, but for those that empty the state."""
    return lambda q, k, v, g, beta, **rest: rule(q, k, v, g=torch.where(g > -5, g.clamp(min=-2.5), g), beta=beta, **rest)


FAULTS = {
    "the prompt's state is never written": {(LAYER, "update_recurrent_state"): unwritten},
    "the state is reset at the border 128 of a prompt": cut(128, torch.zeros_like),
    "the state is lost between two pieces of a prompt": rules(CHUNK, piece_forgets),
    "the update of a decoded token is applied twice": at_step(7, twice),
    "the update of a decoded token is lost": at_step(7, lost),
    "tokens 64 and 65 of a prompt are exchanged": rules(CHUNK, exchanged),
    "a roll-back keeps the state of what was given up": {(Runtime, "copy_of"): lambda self, cache: cache},
    "a draft is taken back by Cache.crop": {
        (Runtime, "before_draft"): lambda self, cache: cache.activate_past_recording(),
        (Runtime, "after_draft"): by_crop},
    "a ring of 16 inputs is emptied, and never written": with_ring(16, lambda written, replay, state: written[-1]),
    "a ring of 64 inputs is written twice": with_ring(64, lambda written, replay, state: replay(state)),
    "a ring of 32 inputs is written to the state of the flush before": with_ring(
        32, lambda written, replay, state: replay(written[0])),
    "a copy is made without the inputs that wait in the ring": {
        **with_ring(16, lambda written, replay, state: state), (Runtime, "copy_of"): without_ring},
    "a ring is written with the draft that is given up": {(Runtime, "after_draft"): flushed_with_draft},
    "a turn begins with the state of the turn before": {(Runtime, "of_turn"): lambda self, kept: self.copy_of(kept[-2])},
    "padding is read in all calls but the first": unmasked(lambda rows, state: state is not None and state.get_seq_length() > 0),
    "padding is read in batches of one": unmasked(lambda rows, state: rows == 1),
    "beta goes through bf16 where tokens are read one by one": rules(RECURRENT, narrow_beta),
    "beta goes through bf16 in a prompt": rules(CHUNK, narrow_beta),
    "decays below e^-2.5 are cut off in a prompt": rules(CHUNK, cut_decays),
    "rows are reordered without their states": {(LAYER, "reorder_cache"): lambda self, order: None},
    "the decay is ignored": both(lambda q, k, v, g, beta: (q, k, v, torch.zeros_like(g), beta)),
    "beta is clamped to 1 where tokens are read one by one": rules(RECURRENT, clamped),
    "a decay comes one token late in a prompt": rules(CHUNK, decayed_late),
    "a copied cache has its layers' states exchanged": {(Runtime, "copy_of"): with_layers_exchanged},
    "beta is not doubled": both(lambda q, k, v, g, beta: (q, k, v, g, beta / 2), [olmo]),
    "x + inv_norm for x * inv_norm": {(module, "l2norm"): summed for module in (olmo, qwen)},
    "the state is kept in bf16": stored(lambda state: state.bfloat16().float()),
    "the state is kept in fp16": stored(lambda state: state.half().float()),
    "a row of a batch has its neighbour's state": {(LAYER, "update_recurrent_state"): neighbours},
    "the prompt's convolution state is never written": {(LAYER, "update_conv_state"): convolution_unwritten},
}
ONLY_IN = {"a copied cache has its layers' states exchanged": "z4"}
"""Faults that one model alone can show."""
NAMED = {
    "a draft is taken back by Cache.crop": "tokens of drafts that were given up, read as text",
    "a ring of 16 inputs is emptied, and never written": "a ring of inputs whose flush is lost",
    "a ring of 64 inputs is written twice": "a ring of inputs whose flush is made twice",
    "a ring of 32 inputs is written to the state of the flush before": "a ring of inputs whose flush is added to an older state",
    "a copy is made without the inputs that wait in the ring": "a ring of inputs that is not copied with the state",
    "a ring is written with the draft that is given up": "tokens of drafts that were given up, read as text",
    "a turn begins with the state of the turn before": "a turn that begins with the state of the turn before",
    "padding is read in all calls but the first": "padding, read as text",
    "padding is read in batches of one": "padding, read as text",
    "beta goes through bf16 where tokens are read one by one": "whose β bf16 does not have",
    "beta goes through bf16 in a prompt": "whose β bf16 does not have",
    "decays below e^-2.5 are cut off in a prompt": "a decay is cut off",
}
"""A part of what is said of the fault."""
