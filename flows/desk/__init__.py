"""The desk: pages on which people read what waits for them, decide on it, and look at what is public.

Forms and links alone, no script. Each page and file has a rule who may read it (`permissions`), and each act goes the
way of the commands (`tasks.release.decisions.decisions_of_people`): nothing is decided here by rules of its own. A
decision that takes a signature is signed on the person's own machine; no private key comes here.
"""
