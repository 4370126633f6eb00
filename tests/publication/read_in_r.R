# Reads a published CSV by base R, and Stata and SPSS by haven; writes what it found as CSV: values, labels, classes.
suppressMessages(library(haven))
folder <- commandArgs(trailingOnly = TRUE)[1]
plain <- function(column) {
  if (is.labelled(column)) as.character(as_factor(column)) else if (is.numeric(column)) as.numeric(column) else column
}
tell <- function(name, data) {
  classes <- sapply(data, function(column) if (is.labelled(column)) "labelled" else class(column)[1])
  labels <- sapply(data, function(column) { label <- attr(column, "label", exact = TRUE); if (is.null(label)) "" else label })
  data <- as.data.frame(lapply(data, plain), check.names = FALSE)
  write.csv(data, file.path(folder, paste0(name, ".values")), row.names = FALSE, na = "")
  columns <- data.frame(name = names(data), class = classes, label = labels)
  write.csv(columns, file.path(folder, paste0(name, ".columns")), row.names = FALSE)
}
tell("csv", read.csv(file.path(folder, "data.csv"), check.names = FALSE, encoding = "UTF-8"))
tell("dta", read_dta(file.path(folder, "data.dta")))
tell("sav", read_sav(file.path(folder, "data.sav")))
