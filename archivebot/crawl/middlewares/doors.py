"""The search for query forms: which links are followed, which pages are read, what leads to forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from archivebot.config import FocusConfig
from archivebot.crawl.arguments import DeepWebArguments
from archivebot.crawl.extensions.sitebudget import SiteBudget
from archivebot.crawl.middlewares.linkfilter import LinkFilter
from archivebot.crawl.middlewares.order import SLACK
from archivebot.crawl.middlewares.topicfilter import why
from archivebot.crawl.reading.convert import outcome_of_response
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import ORDER, PARTS, READING, SCORE
from archivebot.forms.record import FormRecord
from archivebot.forms.stages import LEAST_RELEVANCE, feature_words, is_relevant
from archivebot.hypertext import Hypertext
from archivebot.models import REQUISITE, Focus, Link, Outcome, Page
from archivebot.text.terms import stem
from archivebot.text.urltokens import url_tokens
from archivebot.topic.linkmodel import LinkModel
from archivebot.topic.linkscore import Judged, LinkScore, LinkScorer
from archivebot.topic.profile import TopicProfile
from archivebot.topic.relevance import PageScorer, Relevance
from archivebot.topic.training import profile_of

DOORS = "archive_doors"  # meta key of the judgement of a page, while its output passes

# Score in nats of a link that promises a form: as much as a word of the topic in its anchor.
PROMISE = 2.0

# Initial weights of link terms, beside the promise of a form: pages for login, comments and purchases have
# other forms.
_TOWARDS = "search advanced catalog catalogue database find finder browse directory archive library".split()
_AWAY = """login logon signin signup sign register registration password account member contact feedback cart
    checkout subscribe unsubscribe newsletter privacy terms comment reply post""".split()
_TERMS = {stem(word): 1.0 for word in _TOWARDS} | {stem(word): -1.0 for word in _AWAY}

# Pages after which queued URLs are scored again with what was learnt: a site has a hundred pages, not the
# thousands of a crawl for a topic.
EVERY = 10


@dataclass(frozen=True, slots=True)
class _Looked:
    """A judged page: its relevance (None without a topic), and the scores of its links."""

    relevance: Relevance | None
    scores: Mapping[str, LinkScore]

    @property
    def passes(self) -> bool:
        """Whether the page is on topic (stage 2)."""
        return is_relevant(self.relevance.value if self.relevance else None)


class DoorMiddleware(LinkFilter):
    """Finds query forms within few pages, in the three stages of Xin, Cui and others (2011).

    A link is judged by its depth (which the guard knows), by words that promise a form, and by the topic.
    ``strict`` drops a link that lacks one of these; otherwise it only waits longer. The links and forms of an
    off-topic page are ignored, unless it is a seed. The crawl learns which links led to forms.
    """

    counted = "doors/dropped"

    def __init__(self, crawler: Crawler, topic: TopicProfile | None, *, strict: bool) -> None:
        super().__init__(crawler)
        Dispatcher.of(crawler).slack = SLACK
        self.topic = PageScorer(topic) if topic else None
        # The few words around a link seldom satisfy a query.
        self.link_topic = PageScorer(replace(topic, query=None)) if topic else None
        self.strict = strict
        self.promising: set[str] = set()
        self.scorer = LinkScorer(LinkModel.of_terms(_TERMS), every=EVERY)
        self.budget = SiteBudget.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DoorMiddleware:
        arguments = getattr(crawler.spider, "arguments", None)
        if not isinstance(arguments, DeepWebArguments):
            raise NotConfigured
        folder = FocusConfig.from_settings(crawler.settings).topics
        topic = profile_of(arguments.topic, folder) if arguments.topic else None
        return cls(crawler, topic, strict=arguments.links == "strict")

    def score(self, request: Request, response: Response, link: Link) -> str | None:
        looked = self._looked(response)
        words = feature_words(link.anchor, link.url)
        found = looked.scores[link.url]
        if words:
            self.promising.add(link.url)
        parts = {**found.parts, "promise": self._promise(link.url), "text": link.anchor}
        request.meta.update({SCORE: found.rank + self._promise(link.url), PARTS: parts})
        return self._refusal(response, looked, link, words)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Add the forms to a page, unless it is off topic."""
        if not isinstance(item, Page) or response is None or item.origin == REQUISITE:
            return item
        looked = self._looked(response)
        reading: Hypertext = response.meta.get(READING, Hypertext())
        if found := looked.relevance:
            score, order = response.meta.get(SCORE, 0.0), response.meta.get(ORDER, 0)
            focus = Focus(round(found.value, 6), looked.passes, score, 0, order, why(found))
            item = replace(item, focus=focus)
            if not looked.passes and reading.forms and not item.reason:
                left = f"forms left out: {len(reading.forms)}, because the page is off topic"
                score = f"relevance {found.value:.2f}, not above {LEAST_RELEVANCE}"
                item = replace(item, reason=f"{left} ({score})")
                self.crawler.stats.inc_value("doors/forms_left_out", len(reading.forms))
        if not looked.passes:
            return item
        self.budget.saw(item.url, reading.forms)
        return replace(item, forms=reading.forms)

    def _refusal(self, response: Response, looked: _Looked, link: Link, words: tuple[str, ...]) -> str | None:
        if not looked.passes and response.meta["depth"]:  # 0 is a seed, or the target of its redirect
            return "page_off_topic"
        if self.strict and not words:
            return "no_search_word"
        if self.strict and self.link_topic and not _on_topic(link, self.link_topic):
            return "link_off_topic"
        return None

    def _promise(self, url: str) -> float:
        return PROMISE if url in self.promising else 0.0

    def _looked(self, response: Response) -> _Looked:
        """Judge the page of a response once, and learn from it."""
        if DOORS not in response.meta:
            response.meta[DOORS] = self._look(response)
        looked: _Looked = response.meta[DOORS]
        return looked

    def _look(self, response: Response) -> _Looked:
        reading: Hypertext = response.meta.get(READING, Hypertext())
        relevance = None
        # The fields of a form show the topic as well as the text around it, which may be short.
        text = "\n".join((reading.text, *(FormRecord.read(form).text for form in reading.forms)))
        if self.topic and (reading.title or text):
            relevance = self.topic.score(reading.title, text)
        passes = _Looked(relevance, {}).passes
        page = Judged(
            url=response.url,
            title=reading.title,
            relevance=float(bool(reading.forms) and passes),
            missing=outcome_of_response(response) in (Outcome.NOT_FOUND, Outcome.GONE),
            depth=response.meta["depth"],
            order=response.meta.get(ORDER, 0),
        )
        scores = self.scorer.page(page, reading.links)
        if moved := self.scorer.news():
            ranks = {url: rank + self._promise(url) for url, rank in moved.items()}
            Dispatcher.of(self.crawler).reprioritise(ranks)
        return _Looked(relevance, scores)


def _on_topic(link: Link, topic: PageScorer) -> bool:
    text = " ".join((link.anchor, link.before, link.after, *url_tokens(link.url)))
    return is_relevant(topic.score(link.heading, text).value)
