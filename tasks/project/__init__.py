"""A new project: the folder of documents that somebody starts from, complete and with data to try it on."""
