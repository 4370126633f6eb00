# Tables: protected from cells or records, and audited.

# The options that say what the dimensions are. hrc: files (.hrc or CSV of code,parent) by the name of the variable.
dimension_options <- function(explanatory_vars, hrc, totcode) {
  if (!length(explanatory_vars)) stop("explanatory_vars must name at least one column", call. = FALSE)
  strange <- setdiff(names(hrc), explanatory_vars)
  if (length(strange)) stop(sprintf("hrc: '%s' is not among explanatory_vars", strange[1]), call. = FALSE)
  if (is.null(names(totcode))) totcode <- setNames(rep_len(totcode, length(explanatory_vars)), explanatory_vars)
  unlist(lapply(explanatory_vars, function(name) {
    file <- if (name %in% names(hrc)) hrc[[name]] else NULL
    named <- is.null(file) || grepl("\\.hrc$", file, ignore.case = TRUE)
    c("--hierarchy", if (is.null(file)) name else paste0(name, "=", file),
      if (named && name %in% names(totcode)) c("--total", paste0(name, "=", totcode[[name]])))
  }))
}

rule_options <- function(rules) unlist(lapply(rules, function(rule) c("--rule", rule)))

setting_options <- function(settings) {
  unlist(lapply(names(settings), function(name) c("--set", paste0(name, "=", settings[[name]]))))
}

# Letters of tau-ARGUS: V published, B sensitive by secret_var, D suppressed for any other reason.
letters_of <- function(status, secret) ifelse(status == "published", "V", ifelse(secret, "B", "D"))

published <- function(made, output, frame, explanatory_vars, secret) {
  if (!file.exists(output)) {
    open <- vapply(made$findings, function(finding) finding$says, character(1))
    stop(paste(c("no safe pattern was found, so nothing may be published.", open), collapse = " "), call. = FALSE)
  }
  found <- read_frame(output)
  key <- function(table) do.call(paste, c(lapply(explanatory_vars, function(name) as.character(table[[name]])), sep = "\r"))
  status <- found$status[match(key(frame), key(found))]
  frame$Status <- ifelse(is.na(status), NA_character_, letters_of(status, secret))
  attr(frame, "sluice") <- made
  frame
}

# Protect a table of cells, totals included, as tab_rtauargus of rtauargus takes it: the same rows with the column
# Status. secret_var: a column that is TRUE where a cell is sensitive; rules: such as "p_percent=10" with maxscore.
tab_sluice <- function(tabular, explanatory_vars, hrc = NULL, totcode = "Total", value, freq, secret_var = NULL,
                       maxscore = NULL, rules = NULL, cost = "value", settings = list(), seed_file = NULL) {
  tabular <- as.data.frame(tabular, stringsAsFactors = FALSE)
  columns <- c(explanatory_vars, value, freq, secret_var, maxscore)
  absent <- setdiff(columns, names(tabular))
  if (length(absent)) stop(sprintf("tabular has no column '%s'", absent[1]), call. = FALSE)
  if (is.null(rules) && is.null(secret_var)) stop("give rules, or secret_var, or both", call. = FALSE)
  folder <- tempfile("sluice")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  data <- write_frame(tabular[setdiff(columns, secret_var)], file.path(folder, "cells.csv"))
  secret <- if (is.null(secret_var)) rep(FALSE, nrow(tabular)) else tabular[[secret_var]] %in% c(TRUE, 1)
  if (any(secret)) {
    asked <- cbind(tabular[secret, explanatory_vars, drop = FALSE], status = "sensitive")
    settings$protection.a_priori <- write_frame(asked, file.path(folder, "secret.csv"))
  } else if (is.null(rules)) {
    tabular$Status <- "V"
    return(tabular)
  }
  settings$protection.cost <- cost
  output <- file.path(folder, "published.csv")
  made <- sluice_command(c(
    "protect-table", data, dimension_options(explanatory_vars, hrc, totcode), "--value", value, "--frequency", freq,
    if (length(maxscore)) c("--largest", paste(maxscore, collapse = ",")), rule_options(rules),
    setting_options(settings), if (!is.null(seed_file)) c("--seed-file", seed_file), "--output", output
  ))
  published(made, output, tabular, explanatory_vars, secret)
}

# Protect the table of records: a data frame of all cells that may be published, with their status.
micro_sluice <- function(microdata, explanatory_vars, hrc = NULL, totcode = "Total", value = NULL, contributor = NULL,
                         rules, weight = NULL, holding = NULL, settings = list(), seed_file = NULL) {
  folder <- tempfile("sluice")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  data <- write_frame(as.data.frame(microdata, stringsAsFactors = FALSE), file.path(folder, "records.csv"))
  output <- file.path(folder, "published.csv")
  if (!is.null(holding)) settings$measure.holding <- holding
  if (!is.null(weight)) {
    settings$measure.weight.variable <- weight
    settings$measure.weight.rule <- "argus"
  }
  made <- sluice_command(c(
    "protect-table", data, dimension_options(explanatory_vars, hrc, totcode), if (!is.null(value)) c("--value", value),
    if (!is.null(contributor)) c("--contributor", contributor), rule_options(rules), setting_options(settings),
    if (!is.null(seed_file)) c("--seed-file", seed_file), "--output", output
  ))
  if (!file.exists(output)) return(published(made, output, NULL, explanatory_vars, FALSE))
  found <- read_frame(output)
  found$value <- suppressWarnings(as.numeric(found$value))
  attr(found, "sluice") <- made
  found
}

# What anybody can compute of a table with suppressed cells, whoever made it: a list with safe and breaches.
# status: the column with V, A, B, C, D or other words; values beside suppressed cells are not looked at.
audit_sluice <- function(tabular, explanatory_vars, hrc = NULL, totcode = "Total", value, status = "Status",
                         within = NULL, decimals = NULL) {
  folder <- tempfile("sluice")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  data <- write_frame(as.data.frame(tabular, stringsAsFactors = FALSE)[c(explanatory_vars, value, status)],
                      file.path(folder, "cells.csv"))
  found <- sluice_command(c(
    "audit-table", data, dimension_options(explanatory_vars, hrc, totcode), "--cells-value", value, "--cells-status",
    status, "--hide-values", if (!is.null(within)) c("--within", within),
    if (!is.null(decimals)) c("--decimals", decimals)
  ))
  found$safe <- found$code == 0L
  found
}

# Run a batch of tau-ARGUS; a list with the files that were written, and what was done otherwise, by line.
run_arb <- function(arb_filename, confidential = FALSE, seed_file = NULL) {
  sluice_command(c("argus", arb_filename, if (confidential) "--confidential",
                   if (!is.null(seed_file)) c("--seed-file", seed_file)))
}

# Write a .hrc file from columns of codes, the widest group first, as write_hrc2 of rtauargus does.
write_hrc <- function(correspondence, file, lead = "@") {
  table <- unique(as.data.frame(lapply(correspondence, as.character), stringsAsFactors = FALSE))
  table <- table[do.call(order, unname(as.list(table))), , drop = FALSE]
  lines <- character()
  last <- rep(NA_character_, ncol(table))
  for (row in seq_len(nrow(table))) {
    for (level in seq_len(ncol(table))) {
      code <- table[row, level]
      if (is.na(code) || (level > 1 && identical(code, table[row, level - 1]))) next
      if (!identical(code, last[level])) {
        lines <- c(lines, paste0(strrep(lead, level - 1), code))
        last[level:length(last)] <- NA_character_
        last[level] <- code
      }
    }
  }
  writeLines(enc2utf8(lines), file, useBytes = TRUE)
  file
}
