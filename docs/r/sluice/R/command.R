# The command and what it answers.

# Where the command lies: options(sluice.command = "/srv/sluice/.venv/bin/sluice"), else on the PATH.
sluice_options <- function(command = NULL) {
  if (!is.null(command)) options(sluice.command = command)
  getOption("sluice.command", "sluice")
}

# The answer of a command as a list, with `code`: 0 done, 2 blocked. What it refuses is an R error with its own words.
sluice_command <- function(arguments) {
  error <- tempfile()
  libraries <- Sys.getenv("LD_LIBRARY_PATH", unset = NA)
  on.exit({
    unlink(error)
    if (!is.na(libraries)) Sys.setenv(LD_LIBRARY_PATH = libraries)
  })
  Sys.unsetenv("LD_LIBRARY_PATH") # R's own would be looked through first by the Python of the command
  printed <- suppressWarnings(system2(
    sluice_options(), shQuote(c(arguments, "--json")),
    stdout = TRUE, stderr = error
  ))
  code <- attr(printed, "status")
  code <- if (is.null(code)) 0L else as.integer(code)
  said <- if (file.exists(error)) readLines(error, warn = FALSE) else character()
  text <- paste(printed, collapse = "\n")
  if (!nzchar(text)) stop(paste(c(said, paste("exit code", code)), collapse = "\n"), call. = FALSE)
  answer <- fromJSON(text, simplifyVector = TRUE, simplifyDataFrame = FALSE)
  answer$code <- code
  answer
}

# Codes stay as they are written: NA is a missing value, "NA" a code.
write_frame <- function(frame, file) {
  frame[] <- lapply(frame, function(column) {
    if (is.numeric(column)) ifelse(is.na(column), "", format(column, digits = 15, trim = TRUE, scientific = FALSE)) else {
      text <- enc2utf8(as.character(column))
      text[is.na(text)] <- ""
      text
    }
  })
  write.table(frame, file, sep = ",", dec = ".", row.names = FALSE, quote = TRUE, qmethod = "double",
              fileEncoding = "UTF-8")
  file
}

read_frame <- function(file) {
  read.csv(file, colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8")
}
