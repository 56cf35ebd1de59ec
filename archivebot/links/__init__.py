"""Which pages matter by the links between them: the graph, PageRank, IPageRank, HITS and ARC."""
