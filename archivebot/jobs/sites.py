"""The sites of an archive, clustered by the topics of their pages."""

from __future__ import annotations

from collections import defaultdict

from archivebot.archive import ArchiveReader
from archivebot.jobs.examples import archived_example
from archivebot.text.terms import terms
from archivebot.topic.clusters import Cluster, SiteTerms, clusters
from archivebot.topic.vectors import damped, frequencies
from archivebot.urls import host_of

# Pages of a site that are read, in the order of their keys.
MOST_PAGES = 100


def site_clusters(archive: ArchiveReader, alike: float) -> list[Cluster]:
    """Return the clusters of the sites of an archive, by the terms of their pages."""
    sites: defaultdict[str, SiteTerms] = defaultdict(SiteTerms)
    for _, url in archive.pages():
        site = host_of(url)
        if sites[site].pages < MOST_PAGES and (page := archived_example(archive, url)):
            sites[site].add(damped(frequencies(terms(page.title), terms(page.text))))
    return clusters({name: site.vector() for name, site in sites.items() if site.pages}, alike)
