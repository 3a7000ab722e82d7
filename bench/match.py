"""Many rules before mails, many subscriptions before events: the indexed engine beside `re`, RE2 sets and Sieve."""

from __future__ import annotations

import gc
import re
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

# The library has no types of its own.
import re2  # type: ignore[import-untyped]

from bench import policy, subscription
from bench.figure import OURS, Contest, Figure, Results, figure_of, percentile
from bench.peer import sieve
from bench.plan import Plan
from posthouse.matching.engine.indexed.change import Standing
from posthouse.matching.engine.indexed.plan import Plan as Compiled
from posthouse.matching.engine.indexed.plan import compile_plan
from posthouse.matching.engine.indexed.sweep import match
from posthouse.matching.engine.single.evaluate import evaluate_batch
from posthouse.matching.match import TRUE, Hits
from posthouse.matching.predicate.node import And, Predicate, Search, Texts, leaves
from posthouse.matching.value.record import Record

_MAILS: Final = {"quick": 60, "short": 600, "full": 6_000}
_RULES: Final = {"quick": (10, 100), "short": (10, 100, 1_000, 10_000), "full": (10, 100, 1_000, 10_000)}
_SUBSCRIPTIONS: Final = {
    "quick": (1_000,), "short": (1_000, 10_000, 100_000), "full": (1_000, 10_000, 100_000, 1_000_000),
}  # fmt: skip
_SHORT_NAMES: Final = {1_000: "1k", 10_000: "10k", 100_000: "100k", 1_000_000: "1m"}
_BATCH: Final = 64
_SAMPLE: Final = 20
"""Messages whose hits are compared with what the naive scan says."""


async def measure_rules(plan: Plan) -> Results:
    """Rules of the fixed mix before mails whose features are extracted; one core, processor time."""
    corpus = policy.read_corpus(plan.seed, _MAILS[plan.scale.name])
    results: list[Figure] = []
    mixes: tuple[tuple[policy.Mix, str], ...] = (("rare", "match_rules"), ("frequent", "match_rules_frequent"))
    for mix, name in mixes:
        for count in _RULES[plan.scale.name]:
            rules = policy.draw_rules(corpus, count, mix=mix, seed=plan.seed)
            started = time.process_time()
            compiled = compile_plan(rules)
            spent = time.process_time() - started
            _compare(compiled, dict(enumerate(rules)), corpus.records)
            rates, hits = _rates(compiled, corpus.records, _BATCH, plan.scale.rounds)
            note = f"{corpus.source}, {hits / len(corpus.records):.1f} hits a mail"
            results.append(figure_of(f"{name}_{count}_per_s", OURS, values=rates, note=note))
            if count == 1_000:
                results += _peers(name, rules, corpus.records)
            if count == 10_000 and mix == "rare":
                results += _slowest(compiled, corpus.records)
                results.append(figure_of("match_compile_10000_s", OURS, values=[spent], note="processor time"))
    return results


def _rates(compiled: Compiled, records: Sequence[Record], size: int, rounds: int) -> tuple[list[float], int]:
    """Give messages a second of processor time, round by round, and how many hits there were."""
    batches = [records[start : start + size] for start in range(0, len(records), size)]
    rates, hits = [], 0
    # What a plan holds lives long: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    for _ in range(rounds + 1):
        started = time.process_time()
        hits = sum(len(match(compiled, batch).row) for batch in batches)
        rates.append(len(records) / (time.process_time() - started))
    gc.unfreeze()
    return rates[1:], hits


def _compare(compiled: Compiled, predicates: dict[int, Predicate], records: Sequence[Record]) -> None:
    """Hold the hits of a sample against the naive scan."""
    sample = tuple(records[:: max(len(records) // _SAMPLE, 1)][:_SAMPLE])
    wanted = evaluate_batch(tuple(predicates.values()), sample)
    if compiled.only_true:
        rows = zip(wanted.row, wanted.predicate, wanted.truth, wanted.recipients, strict=True)
        there = [row for row in rows if row[2] is TRUE]
        wanted = Hits(*zip(*there, strict=True)) if there else Hits()
    assert match(compiled, sample) == wanted, "the engines differ"


def _slowest(compiled: Compiled, records: Sequence[Record]) -> list[Figure]:
    spent, waited = [], []
    for record in records:
        busy, started = time.process_time(), time.perf_counter()
        match(compiled, (record,))
        spent.append((time.process_time() - busy) * 1_000)
        waited.append((time.perf_counter() - started) * 1_000)
    note = f"one mail at a time, processor time; by the clock {percentile(waited, 0.99):.2f}"
    return [figure_of("match_rules_10000_p99_ms", OURS, values=[percentile(spent, 0.99)], note=note)]


# --- peers ------------------------------------------------------------------------------------------------------------


def _peers(name: str, rules: Sequence[Predicate], records: Sequence[Record]) -> list[Figure]:
    """Search the same texts for what the text leaves of the rules say, and for nothing else."""
    patterns = list(dict.fromkeys(_pattern(leaf) for rule in rules for _, leaf in leaves(rule) if _is_text(leaf)))
    texts = [record.mail.text for record in records[:60] if record.mail is not None and record.mail.text is not None]
    each = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = 1 << 30
    together = re2.Set.SearchSet(options)
    for pattern in patterns:
        together.Add(pattern)
    together.Compile()
    note = f"{len(patterns)} text leaves of 1,000 rules and nothing else"
    slow, fast = _speed(texts[:10], partial(_search_each, each)), _speed(texts, together.Match)
    return [
        figure_of(f"{name}_1000_re_per_s", "re in a loop", values=[slow], note=note),
        figure_of(f"{name}_1000_re2_set_per_s", "RE2 set", values=[fast], note=note),
    ]


def _search_each(patterns: Sequence[re.Pattern[str]], text: str) -> int:
    return sum(pattern.search(text) is not None for pattern in patterns)


# `Any`: what a search gives is thrown away.
def _speed(texts: Sequence[str], search: Callable[[str], Any]) -> float:
    for text in texts[:5]:
        search(text)
    started = time.process_time()
    for text in texts:
        search(text)
    return len(texts) / (time.process_time() - started)


def _is_text(leaf: object) -> bool:
    return isinstance(leaf, Search) and leaf.term.name == "message.text"  # type: ignore[union-attr]  # rules search parts


def _pattern(leaf: object) -> str:
    assert isinstance(leaf, Search)
    assert isinstance(leaf.texts, Texts)
    text = leaf.texts.values[0]
    return text if leaf.sign == "matches" else rf"\b{text}\b" if leaf.sign == "word" else text


async def measure_sieve(plan: Plan) -> Results:
    """Those of 1,000 rules that Sieve can say, beside the program that tries Sieve scripts."""
    corpus = policy.read_corpus(plan.seed, _MAILS[plan.scale.name])
    drawn = policy.draw_rules(corpus, 100 if plan.scale.name == "quick" else 1_000, mix="frequent", seed=plan.seed)
    tests = {rule: test for rule in dict.fromkeys(map(_as_contains, drawn)) if (test := sieve.said_in_sieve(rule))}
    compiled = compile_plan(tuple(tests))
    _compare(compiled, dict(enumerate(tests)), corpus.records)
    rates, hits = _rates(compiled, corpus.records, _BATCH, plan.scale.rounds)
    note = f"{len(tests)} rules that Sieve can say, {hits / len(corpus.records):.2f} a mail true or unknown"
    ours = figure_of("match_sieve_per_s", OURS, values=rates, note=note)
    sample = [record for record in corpus.records if record.mail is not None][: 3 if plan.scale.name == "quick" else 60]
    return [ours, sieve.MISSING if sieve.is_missing() else _ask_sieve(compiled, tuple(tests.values()), sample)]


def _ask_sieve(compiled: Compiled, tests: Sequence[str], records: Sequence[Record]) -> Figure:
    """Ask mail by mail; what it takes to start the process and to read the script is told beside it."""
    mails = [sieve.as_mail(record.mail) for record in records if record.mail is not None]
    found = match(compiled, records)
    ours = {hit[:2] for hit in zip(found.row, found.predicate, found.truth, strict=True) if hit[2] is TRUE}
    with sieve.sieve_test(("false",)) as empty, sieve.sieve_test(tests) as script:
        script.hits(mails[0])
        _, starting = _time_children(empty, mails)
        hits, spent = _time_children(script, mails)
    theirs = {(place, number) for place, numbers in enumerate(hits) for number in numbers}
    note = (
        f"a process for each mail, which alone takes {starting / len(mails) * 1_000:.1f} ms of "
        f"{spent / len(mails) * 1_000:.1f}; reads the mail too; "
        f"of {len(ours)} hits of ours {len(ours & theirs)} are its {len(theirs)}"
    )
    return figure_of("match_sieve_peer_per_s", sieve.WHO, values=[len(mails) / spent], note=note)


def _time_children(script: sieve.SieveTest, mails: Sequence[bytes]) -> tuple[list[list[int]], float]:
    started = sieve.time_of_children()
    hits = [script.hits(mail) for mail in mails]
    return hits, sieve.time_of_children() - started


def _as_contains(rule: Predicate) -> Predicate:
    """Ask for words as Sieve does, wherever they stand."""
    if isinstance(rule, And):
        return And(tuple(map(_as_contains, rule.parts)))
    return msgspec.structs.replace(rule, sign="contains") if isinstance(rule, Search) and rule.sign == "word" else rule


# --- subscriptions ----------------------------------------------------------------------------------------------------


async def measure_subscriptions(plan: Plan) -> Results:
    """Subscriptions before events in batches of 256, and what one of them weighs."""
    events = subscription.draw_events(plan.seed, subscription.BATCH * (2 if plan.scale.name == "quick" else 20))
    results = []
    for count in _SUBSCRIPTIONS[plan.scale.name]:
        mix = subscription.FEW_OF_A_MILLION if count == 1_000_000 else subscription.FEW
        results.append(_measure_set(plan, events, count, mix))
        if count == 100_000:
            many = _measure_set(plan, events, count, subscription.MANY)
            results.append(many._replace(name="match_subscriptions_100k_many_per_s"))
    return results


def _measure_set(plan: Plan, events: Sequence[Record], count: int, mix: subscription.Mix) -> Figure:
    predicates = dict(enumerate(subscription.draw_subscriptions(plan.seed, count, mix)))
    compiled = compile_plan(predicates, only_true=True)
    if count <= 10_000:
        _compare(compiled, predicates, events)
    del predicates
    rates, hits = _rates(compiled, events, subscription.BATCH, plan.scale.rounds)
    name = f"match_subscriptions_{_SHORT_NAMES[count]}_per_s"
    return figure_of(name, OURS, values=rates, note=f"batches of 256, {hits / len(events):.1f} hits an event")


async def measure_weight(plan: Plan) -> Results:
    """Weigh a subscription, without the databases of the search library."""
    count = {"quick": 1_000, "short": 100_000, "full": 300_000}[plan.scale.name]
    tracemalloc.start()
    drawn = subscription.draw_subscriptions(plan.seed, count, subscription.FEW_OF_A_MILLION)
    compiled = compile_plan(dict(enumerate(drawn)), only_true=True)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(compiled) == count
    note = f"what {count:,} hold, their nodes included; a larger set shares more"
    return [figure_of("match_subscription_bytes", OURS, values=[held / count], note=note)]


async def measure_change(plan: Plan) -> Results:
    """Add and remove one predicate of many."""
    count = 1_000 if plan.scale.name == "quick" else 100_000
    drawn = list(subscription.draw_subscriptions(plan.seed, count + 500, subscription.FEW))
    standing = Standing(compile_plan(dict(enumerate(drawn[:count])), only_true=True))
    spent = []
    for number, predicate in enumerate(drawn[count:]):
        started = time.perf_counter()
        standing.add(count + number, predicate)
        standing.remove(number)
        spent.append((time.perf_counter() - started) * 500)
    note = f"one change among {count:,}, the slowest of a hundred; mean {sum(spent) / len(spent):.3f}"
    return [figure_of("match_change_ms", OURS, values=[percentile(spent, 0.99)], note=note)]


CONTESTS: Final = (
    Contest(
        (
            *(f"match_rules_{count}_per_s" for count in _RULES["full"]),
            *(f"match_rules_frequent_{count}_per_s" for count in _RULES["full"]),
            "match_rules_10000_p99_ms",
            "match_compile_10000_s",
        ),
        measure_rules,
    ),
    Contest(("match_sieve_per_s",), measure_sieve),
    Contest(tuple(f"match_subscriptions_{name}_per_s" for name in _SHORT_NAMES.values()), measure_subscriptions),
    Contest(("match_subscription_bytes",), measure_weight),
    Contest(("match_change_ms",), measure_change),
)
