"""Regular expressions beside Python's `re`, RE2 and an Aho-Corasick automaton.

    python3 tools/bench/peer_regex.py agree [expressions] [seed]      (krohn's package importable)
    python3 tools/bench/peer_regex.py words KROHN LIST      (pip: google-re2, pyahocorasick)

`agree` asks Python and krohn which short words random expressions with anchors match; `words` times what a list of
keywords costs to search for. The expressions are those that both read alike: `$` is the very end for krohn
(Python's \\Z), \\z is spelt \\Z, `.` is any character, \\w is ASCII.
"""

import itertools
import random
import re
import subprocess
import sys
import time

from peers import processor_seconds

LETTERS = ["a", "-", "\n"]
ATOMS = ["a", "-", "\\n", "^", "$", "\\b", "\\B", "\\A", "\\z", ".", "\\w", "[^a]"]


def in_python(atom, multiline):
    return "\\Z" if atom == "\\z" or (atom == "$" and not multiline) else atom


def expression(dice, depth, multiline=False):
    """The same expression as krohn and as Python read it."""
    def both(form, *parts):
        return form.format(*(part[0] for part in parts)), form.format(*(part[1] for part in parts))

    def inner(multiline=multiline):
        return expression(dice, depth - 1, multiline)

    if depth == 0:
        atom = dice.choice(ATOMS + ["a", "-", "^", "$"])
        return atom, in_python(atom, multiline)
    kind = dice.random()
    if kind < 0.3:
        return both("(?:{}|{})", inner(), inner())
    if kind < 0.45:
        times = dice.choice(["*", "?", "+", "{{2}}", "{{,2}}", "{{0,2}}", "{{2,3}}", "*?"])
        return both("(?:{})" + times, inner())
    if kind < 0.55:
        return both("(?m:{})", inner(True))
    if kind < 0.6:
        return both("(?-m:{})", inner(False))
    return both("{}{}", inner(), inner())


def rows(seed, count, longest):
    """(kind, expression, [(word, whether Python matches it)])."""
    dice = random.Random(seed)
    words = ["".join(w) for n in range(longest + 1) for w in itertools.product(LETTERS, repeat=n)]
    for _ in range(count):
        kind = dice.choice(["search", "search", "regex"])
        ours, theirs = expression(dice, dice.randint(1, 4))
        if dice.random() < 0.3:
            other = expression(dice, dice.randint(0, 2))
            ours, theirs = ours + "|" + other[0], theirs + "|" + other[1]
        compiled = re.compile(theirs, re.DOTALL | re.ASCII)
        match = compiled.search if kind == "search" else compiled.fullmatch
        # Before 3.14 \B does not hold in the empty word, against its own documentation.
        odd = "\\B" in theirs and sys.version_info < (3, 14)
        yield kind, ours, [(word, match(word) is not None) for word in words if word or not odd]


def differences(count, seed, longest):
    """The pairs on which krohn and Python differ, (kind, expression, word, whether Python matches it), and how many words
    were asked about and matched."""
    import krohn
    pairs = matches = 0
    differing = []
    for kind, ours, words in rows(seed, count, longest):
        automaton = krohn.Automaton(f"{kind}:{ours}", alphabet="a\\-\\n")
        column = {"\n" if name == "\\n" else name: i for i, name in enumerate(automaton.letters)}
        for word, matched in words:
            pairs, matches = pairs + 1, matches + matched
            if automaton.accepts([column[letter] for letter in word]) != matched:
                differing.append((kind, ours, word, matched))
    return differing, pairs, matches


def agree(count=1000, seed=1):
    differing, pairs, matches = differences(int(count), int(seed), 5)
    for kind, ours, word, matched in differing:
        print("differs:", kind, repr(ours), repr(word), "Python says", matched)
    print(f"{count} expressions, {pairs} pairs, {matches} matched, {len(differing)} differences")


def words(krohn, path):
    with open(path, encoding="utf-8") as file:
        listed = file.read().split()
    alternatives = "|".join(map(re.escape, listed))

    def of_command(text):
        return processor_seconds(lambda: subprocess.run([krohn, "info", text], capture_output=True, check=True))[0]

    def of_call(call):
        start = time.process_time()
        call()
        return time.process_time() - start

    def aho_corasick():
        import ahocorasick
        automaton = ahocorasick.Automaton()
        for word in listed:
            automaton.add_word(word, word)
        automaton.make_automaton()

    def re2():
        import re2
        options = re2.Options()
        options.max_mem = 1 << 30
        re2.compile(alternatives, options).search("-")

    def python_re():
        re.compile(alternatives)

    print(f"{len(listed)} words, seconds of processor time")
    for name, text in [("search:…", f"search:{alternatives}"), ("search:(…)", f"search:({alternatives})"),
                       ("search:(?i)…", f"search:(?i){alternatives}"), ("search:^(…)$", f"search:^({alternatives})$"),
                       ("search:\\b(…)\\b", f"search:\\b({alternatives})\\b"), ("regex:…", f"regex:{alternatives}")]:
        print(f"  krohn info {name:18} {min(of_command(text) for _ in range(3)):.3f}")
    for rival in (aho_corasick, re2, python_re):
        try:
            print(f"  {rival.__name__:29} {of_call(rival):.3f}")
        except ImportError as missing:
            print(f"  {rival.__name__}: {missing}")


if __name__ == "__main__":
    {"agree": agree, "words": words}[sys.argv[1]](*sys.argv[2:])
