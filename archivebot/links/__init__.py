"""The importance of pages by their links: the graph, PageRank, IPageRank, HITS and ARC."""
