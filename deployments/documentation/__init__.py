"""The documentation as a site: pages that are made from the code, and pictures of the tutorial."""
