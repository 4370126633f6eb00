"""What a release does, outside any release: on files, for commands, and on DataFrames, for notebooks.

A verb has one file. Those that `import sluice` offers on DataFrames bear the name of the function; `sluice` opens this
package when a function is first used, so that its own import stays light.
"""
