"""What requests and answers pass on their way: rules, robots.txt, codings, the orders of a crawl."""
