"""News of boxes in which something may be taken now."""

from __future__ import annotations

from posthouse.message.changes import Filter, Redrive, Resend, Setup
from posthouse.message.trace import Step
from posthouse.testing.build import entry
from tests.contract.store.desk import Act, Desk, News, scenario

LAST = "#last"


async def boxes_told(desk: Desk, news: News) -> frozenset[str]:
    """Give what was told so far: news come in the order of the commits, so the last one waits for all others."""
    await desk.change(posts=(desk.post(10_000, entry(LAST)),))
    await news.of(LAST)
    return news.boxes - {LAST}


@scenario
async def test_an_arrival_is_news_of_each_of_its_boxes(desk: Desk) -> None:
    news = News(desk.store)
    await desk.put(1, entry("#inbox"), entry("london", work="deliver"))
    assert await boxes_told(desk, news) == {"#inbox", "london"}


@scenario
async def test_every_listener_hears_the_news(desk: Desk) -> None:
    first, second = News(desk.store), News(desk.store)
    await desk.put(1)
    await first.of("#inbox")
    await second.of("#inbox")


@scenario
async def test_a_held_entry_is_no_news_until_it_wakes(desk: Desk) -> None:
    news = News(desk.store)
    await desk.put(1, entry(not_before=desk.later(10)))
    assert await boxes_told(desk, news) == set()
    desk.wait(10)
    await desk.settle(await desk.only(), "wake")
    await news.of("#inbox")


@scenario
async def test_a_refused_change_and_a_message_set_aside_are_no_news(desk: Desk) -> None:
    await desk.put(1)
    news = News(desk.store)
    await desk.change(posts=(desk.post(2, entry("#other")), desk.post(1)))
    await desk.change(posts=(desk.post(3, aside="a bug"),))
    assert await boxes_told(desk, news) == set()


@scenario
async def test_taking_and_renewing_are_no_news(desk: Desk) -> None:
    await desk.put(1)
    news = News(desk.store)
    await desk.settle(await desk.take_one(), "renew", at=desk.later(60))
    assert await boxes_told(desk, news) == set()


@scenario
async def test_settling_is_news_as_it_frees_the_lane(desk: Desk) -> None:
    acts: tuple[Act, ...] = ("done", "back", "bury", "retry")
    for number in range(1, 1 + 2 * len(acts)):
        await desk.put(number)
    news = News(desk.store)
    for act in acts:
        leased = await desk.take_one()
        news.forget()
        await desk.settle(leased, act, at=desk.now)
        await news.of("#inbox")


@scenario
async def test_the_end_of_a_pause_is_news_when_the_timekeeper_says_so(desk: Desk) -> None:
    await desk.put(1)
    await desk.settle(await desk.take_one(), "retry", at=desk.later(10))
    desk.wait(10)
    news = News(desk.store)
    await desk.settle(await desk.only(), "wake")
    await news.of("#inbox")


@scenario
async def test_a_redriven_letter_is_news_and_a_dropped_one_is_none(desk: Desk) -> None:
    for number, box in ((1, "#inbox"), (2, "#other")):
        await desk.put(number, entry(box))
        await desk.settle(await desk.take_one(box), "bury")
    first, second = await desk.store.dead_letters.dead(None, Filter())
    await boxes_told(desk, News(desk.store))
    news = News(desk.store)
    await desk.change(redrives=(Redrive(second.number, desk.now, drop=True),))
    await desk.change(redrives=(Redrive(first.number, desk.now),))
    await news.of("#inbox")
    assert "#other" not in news.boxes


@scenario
async def test_a_message_sent_on_again_is_news(desk: Desk) -> None:
    await desk.change(posts=(desk.post(1, aside="a bug"),))
    (aside,) = await desk.store.dead_letters.asides()
    news = News(desk.store)
    await desk.change(resends=(Resend(aside.number, (entry("#other"),), Step(desk.now, "resent")),))
    await news.of("#other")


@scenario
async def test_a_mailbox_opened_again_is_news(desk: Desk) -> None:
    await desk.put(1, entry("#inbox"), entry("#other"))
    await desk.set_up(Setup(mailbox="inbox", closed=True))
    await desk.set_up(Setup(mailbox="other", closed=True))
    news = News(desk.store)
    await desk.set_up(Setup(mailbox="inbox"))
    await news.of("#inbox")
    await desk.set_up(Setup(mailbox="other", removed=True))
    await news.of("#other")
