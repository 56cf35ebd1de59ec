"""Folders of sites with topics, read as a web, and a random one with hubs, localities and tunnels."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import quote

from webserver import Stored

from archivebot.urls import canonical_url

SEED = 20261120
TOPICAL, OTHER = 20, 60  # as in the experiment of SkyReach (Li, Zhao, Yu, about 2002)
LEAST_PAGES, MOST_PAGES = 180, 400  # of one site: 23,000 pages in all
CLUSTER = 5  # topical sites; between clusters lead only tunnels through other sites
STRAY = 0.15  # share of the pages of a topical site that are about something else
GENERIC = 0.2  # share of the anchors that say nothing
HUB = 40  # pages of a site for each list of links

TOPIC_WORDS = (
    "tourism travel hotel beach island tour guide flight holiday resort museum castle ticket cruise hiking"
    " mountain souvenir visa luggage itinerary sightseeing excursion hostel airport landmark ferry temple"
    " festival cuisine postcard"
).split()
OTHER_WORDS = [
    line.split()
    for line in (
        "software compiler kernel driver download patch version server protocol memory database cache",
        "bank loan interest market stock share bond trader profit budget deficit investor",
        "football goal league coach match referee penalty season stadium transfer keeper striker",
        "patient clinic surgeon vaccine dose therapy symptom nurse diagnosis virus trial ward",
        "court judge lawyer statute appeal verdict contract clause tribunal witness evidence plaintiff",
        "engine brake clutch tyre gearbox sedan torque diesel mileage chassis wheel garage",
    )
]
COMMON_WORDS = (
    "time year people way day thing world life hand part place case week company system program question"
    " work number night point home water room area money story fact month lot right study book eye job word"
    " business issue side kind head house service friend father power hour game line end member law car city"
    " community name president team minute idea body information back parent face others level office door"
    " health person art war history party result change morning reason research girl guy moment air teacher"
).split()
EMPTY_ANCHORS = ("click here", "more", "next", "read on", "link")


def read_sites(folder: Path) -> Iterator[Stored]:
    """Yield the pages of FOLDER/topic/host/path; a file index.html is the page of its folder."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        topic, host, *parts = path.relative_to(folder).parts
        if parts:
            place = (
                "/".join(parts).removesuffix("index.html") if parts[-1] == "index.html" else "/".join(parts)
            )
            kind = guess_type(path.name)[0] or "text/html"
            yield Stored(canonical_url(f"http://{host}/{quote(place)}"), topic, kind, path.read_bytes())


@dataclass(slots=True, eq=False)
class _Page:
    host: str
    path: str
    words: list[str]  # what it is about
    topical: bool
    title: str = ""
    targets: list[_Page] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}/{self.path.removesuffix('index.html')}"


def make(folder: Path, topic: str = "tourism") -> int:
    """Write 20 topical and 60 other sites, the same ones every time; return the number of pages.

    Pages link inside their site as a tree, to neighbours, and now and then abroad: mostly to their own
    topic (linkage locality), or to a few popular other sites. Lists of links are hubs. Topical sites
    form clusters; from one cluster to the next leads only a tunnel through pages of other sites.
    """
    chance = random.Random(SEED)
    sites = [_site(chance, number) for number in range(TOPICAL + OTHER)]
    topical, other = sites[:TOPICAL], sites[TOPICAL:]
    clusters = [topical[start : start + CLUSTER] for start in range(0, TOPICAL, CLUSTER)]
    for site in sites:
        _link_inside(chance, site)
    for number, cluster in enumerate(clusters):
        _link_abroad(chance, cluster, other)
        _tunnel(chance, cluster, clusters[(number + 1) % len(clusters)], other)
    for theme in OTHER_WORDS:
        _link_abroad(chance, [site for site in other if site[0].words is theme], other)
    for page in (page for site in sites for page in site):
        path = folder / (topic if page.topical else "other") / page.host / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_markup(chance, page), "utf-8")
    return sum(map(len, sites))


def _site(chance: random.Random, number: int) -> list[_Page]:
    topical = number < TOPICAL
    words = TOPIC_WORDS if topical else OTHER_WORDS[number % len(OTHER_WORDS)]
    pages = []
    for position in range(chance.randint(LEAST_PAGES, MOST_PAGES)):
        stray = topical and position > 0 and chance.random() < STRAY
        about = chance.choice(OTHER_WORDS) if stray else words
        title = " ".join(chance.sample(about, 3) if position else ["welcome", about[0], chance.choice(about)])
        name = chance.choice(title.split()) if chance.random() < 0.5 else "page"
        path = f"s{position % 9}/{name}{position}.html" if position else "index.html"
        pages.append(_Page(f"site{number:02}.example", path, about, topical and not stray, title))
    return pages


def _link_inside(chance: random.Random, site: list[_Page]) -> None:
    for number, page in enumerate(site):
        tree = [site[(number - 1) // 5], *site[5 * number + 1 : 5 * number + 6]]
        kin = [each for each in chance.sample(site, 12) if each.topical == page.topical]
        page.targets += [site[0], *tree, *kin[:4]]


def _link_abroad(chance: random.Random, same: list[list[_Page]], other: list[list[_Page]]) -> None:
    for site in same:
        for number, page in enumerate(site):
            if number % HUB == HUB - 1:
                page.targets += [chance.choice(chance.choice(same)[:30]) for _ in range(20)]
            elif chance.random() < 0.3:
                page.targets.append(chance.choice(chance.choice(same)))
            page.targets += [other[chance.randrange(4)][0]] if chance.random() < 0.5 else []
            page.targets += [chance.choice(chance.choice(other))] if chance.random() < 0.1 else []


def _tunnel(
    chance: random.Random, start: list[list[_Page]], end: list[list[_Page]], other: list[list[_Page]]
) -> None:
    """Join two clusters by six paths of one to three pages of other sites."""
    for length in (1, 2, 3) * 2:
        steps = [chance.choice(chance.choice(other)) for _ in range(length)]
        path = [chance.choice(chance.choice(start)), *steps, chance.choice(end)[0]]
        for page, target in pairwise(path):
            page.targets.append(target)


def _markup(chance: random.Random, page: _Page) -> str:
    links = [_anchor(chance, target) for target in dict.fromkeys(page.targets) if target is not page]
    paragraphs = "\n".join(f"<p>{_text(chance, page)} {link} {_text(chance, page)}.</p>" for link in links)
    return (
        f"<!DOCTYPE html>\n<html><head><meta charset=utf-8><title>{page.title}</title></head>\n"
        f"<body><h1>{page.title}</h1>\n{paragraphs}\n</body></html>\n"
    )


def _anchor(chance: random.Random, target: _Page) -> str:
    words = target.title.split()
    shown = (
        chance.choice(EMPTY_ANCHORS) if chance.random() < GENERIC else " ".join(words[: chance.randint(1, 3)])
    )
    return f'<a href="{target.url}">{shown}</a>'


def _text(chance: random.Random, page: _Page) -> str:
    about = chance.choices(page.words, k=2)
    return " ".join(chance.sample([*about, *chance.choices(COMMON_WORDS, k=8)], 10))
