"""The topic filter: judges pages, scores their links, and drops links that lead too far away."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from archivebot import models
from archivebot.config import WEIGHTS, FocusConfig
from archivebot.crawl.arguments import TopicArguments
from archivebot.crawl.middlewares.linkfilter import LinkFilter
from archivebot.crawl.middlewares.order import BestFirst, BreadthFirst, Linear, LinkOrder, Order, RankOrder
from archivebot.crawl.reading.convert import outcome_of_response
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import DISTANCE, ORDER, PARTS, READING, REQUISITE, SCORE
from archivebot.exceptions import UsageError
from archivebot.hypertext import Hypertext
from archivebot.models import Focus, Link, Outcome, Page
from archivebot.text.terms import terms
from archivebot.topic.judge import CrawlJudge
from archivebot.topic.linkscore import Judged, LinkScorer
from archivebot.topic.priority import Weights, weights_of
from archivebot.topic.profile import TopicProfile
from archivebot.topic.relevance import Relevance
from archivebot.topic.rings import read_rings
from archivebot.topic.training import profile_of, with_synonyms
from archivebot.topic.tunnel import beyond, distance

JUDGED = "archive_judged"  # meta key of the judgement of a page, while its output passes
MISSING = frozenset((Outcome.NOT_FOUND, Outcome.GONE))
SHOWN = 10  # terms kept to explain the relevance of a page


class TopicFilterMiddleware(LinkFilter):
    """Keeps a crawl on its topic.

    Soft focus only orders; hard focus drops links whose chance is below ``threshold``. After more than
    ``tunnel`` off-topic pages in a row, the links of the last page are dropped (None: never). In hard focus
    an off-topic page is recorded without its body, unless ``keeps`` is set.
    """

    counted = "topic/dropped"

    def __init__(
        self,
        crawler: Crawler,
        profile: TopicProfile,
        order: Order,
        *,
        hard: bool,
        tunnel: int | None,
        threshold: float,
        keeps: bool,
    ) -> None:
        super().__init__(crawler)
        dispatcher = Dispatcher.of(crawler)
        dispatcher.slack, dispatcher.refusal = order.slack, self._second_thought
        if order.learns:
            dispatcher.learn()
        self.judge = CrawlJudge(profile)
        self.order = order
        self.hard, self.tunnel, self.threshold, self.keeps = hard, tunnel, threshold, keeps

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TopicFilterMiddleware:
        arguments = getattr(crawler.spider, "arguments", None)
        if not isinstance(arguments, TopicArguments):
            raise NotConfigured
        config = FocusConfig.from_settings(crawler.settings)
        rings = read_rings(arguments.rings) if arguments.rings else []
        profile = with_synonyms(profile_of(arguments.topic, config.topics), rings)
        hard = arguments.focus == "hard"
        tunnel = config.tunnel_depth if hard else None
        # Most anchors hold no word of the topic: an order without other evidence drops them only on request.
        least = config.link_threshold if arguments.order == "best" else 0.0
        return cls(
            crawler,
            profile,
            order_of(arguments, profile, config),
            hard=hard,
            tunnel=tunnel if arguments.tunnel is None else arguments.tunnel,
            threshold=least if arguments.threshold is None else arguments.threshold,
            keeps=not hard or config.keep_off_topic,
        )

    def score(self, request: Request, response: Response, link: Link) -> str | None:
        page, score = self._judged(response)
        found = score(link)
        parts = {**found.parts, "text": link.anchor}
        request.meta.update({SCORE: found.rank, DISTANCE: page.distance, PARTS: parts})
        return self._refusal(found.value, page.distance)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Add the judgement of the filter to a page."""
        if not isinstance(item, Page) or response is None or item.origin == models.REQUISITE:
            return item
        page, _ = self._judged(response)
        request = response.request
        assert request is not None
        focus = Focus(
            relevance=page.relevance,
            relevant=page.relevant,
            score=request.meta.get(SCORE, 0.0),
            distance=request.meta.get(DISTANCE, 0),
            order=request.meta.get(ORDER, 0),
            why=response.meta[JUDGED][2],
        )
        item = replace(item, focus=focus)
        if not self._leaves_out(page) or item.outcome is not Outcome.FETCHED:
            return item
        return replace(item, outcome=Outcome.EXCLUDED, body=b"", reason=f"off topic: {page.relevance:.2f}")

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Judge a link as all filters do; drop the requisites of a page without its body."""
        if REQUISITE not in request.meta or response is None or REQUISITE in response.meta:
            return super().get_processed_request(request, response)
        return None if self._leaves_out(self._judged(response)[0]) else request

    def _leaves_out(self, page: Judged) -> bool:
        return not self.keeps and page.relevant is False

    def _second_thought(self, url: str) -> str | None:
        """Return why a queued URL is not fetched after all, by what the crawl has learnt since."""
        chance = self.order.chance(url)
        if chance is None or not self.hard or chance >= self.threshold:
            return None
        self.crawler.stats.inc_value(f"{self.counted}/link_score")
        return "link_score"

    def _refusal(self, chance: float, distance: int) -> str | None:
        if beyond(distance, self.tunnel):
            return "tunnel"
        return "link_score" if self.hard and chance < self.threshold else None

    def _judged(self, response: Response) -> tuple[Judged, LinkOrder]:
        """Judge the page of a response once, and note its links."""
        if JUDGED not in response.meta:
            response.meta[JUDGED] = self._judge(response)
        page, score, _ = response.meta[JUDGED]
        return page, score

    def _judge(self, response: Response) -> tuple[Judged, LinkOrder, str]:
        reading: Hypertext = response.meta.get(READING, Hypertext())
        has_text = reading.title or reading.text
        found = self.judge.judge(response.url, reading.title, reading.text) if has_text else None
        meta = response.meta
        relevant = found.relevant if found else None
        page = Judged(
            url=response.url,
            title=reading.title,
            relevance=round(found.value, 6) if found else None,
            relevant=relevant,
            missing=outcome_of_response(response) in MISSING,
            distance=distance(meta.get(DISTANCE, 0), relevant),
            depth=meta["depth"],
            order=meta.get(ORDER, 0),
        )
        self._count(page)
        score = self.order.page(page, reading.links)
        if moved := self.order.news():
            Dispatcher.of(self.crawler).reprioritise(moved)
        return page, score, why(found) if found else ""

    def _count(self, page: Judged) -> None:
        if page.relevant is not None:
            self.crawler.stats.inc_value("topic/judged")
            self.crawler.stats.inc_value("topic/relevant", int(page.relevant))


def order_of(arguments: TopicArguments, profile: TopicProfile, config: FocusConfig) -> Order:
    """Return the order that the arguments name. Raises UsageError for weights of unknown parts."""
    match arguments.order:
        case "bfs":
            return BreadthFirst()
        case "linear":
            return Linear(profile.vector, _weights(config))
        case "pagerank":
            return RankOrder(lambda _: 1.0, config.rank_every)
        case "ipagerank":
            topic, near = profile.similarity(), arguments.near
            return RankOrder(lambda link: topic.weight(terms(link.anchor), near), config.rank_every)
        case _:
            return BestFirst(LinkScorer.of(profile))


def _weights(config: FocusConfig) -> Weights:
    try:
        return weights_of(config.priority_weights)
    except UsageError as error:
        raise UsageError(f"{WEIGHTS}: {error}") from error


def why(found: Relevance) -> str:
    """Return the parts and the most important terms of a judgement as JSON."""
    parts = {name: round(value, 3) for name, value in found.parts.items()}
    weighted = [[term, round(weight, 3)] for term, weight in found.terms[:SHOWN]]
    return json.dumps({**parts, "terms": weighted}, ensure_ascii=False)
