# Run by R CMD check, and by the tests of Sluice: the figures are added up here, by R.
library(sluice)

cells <- data.frame(
  ACT = rep(c("Total", "A", "A1", "A2", "B", "B1", "B2"), each = 3),
  SIZE = rep(c("Total", "small", "large"), 7),
  stringsAsFactors = FALSE
)
leaves <- expand.grid(ACT = c("A1", "A2", "B1", "B2"), SIZE = c("small", "large"), stringsAsFactors = FALSE)
leaves$TOT <- c(410, 36, 90, 220, 77, 640, 150, 95)
leaves$N <- c(9, 4, 5, 7, 2, 8, 6, 5)
within <- list(Total = c("A1", "A2", "B1", "B2"), A = c("A1", "A2"), B = c("B1", "B2"))
of <- function(column) mapply(function(act, size) {
  acts <- if (act %in% names(within)) within[[act]] else act
  sum(leaves[leaves$ACT %in% acts & (size == "Total" | leaves$SIZE == size), column])
}, cells$ACT, cells$SIZE)
cells$TOT <- of("TOT")
cells$N <- of("N")
cells$secret <- cells$N < 3

folder <- tempfile()
dir.create(folder)
hrc <- write_hrc(data.frame(group = c("A", "A", "B", "B"), leaf = c("A1", "A2", "B1", "B2")), file.path(folder, "act.hrc"))
stopifnot(identical(readLines(hrc), c("A", "@A1", "@A2", "B", "@B1", "@B2")))

masked <- tab_sluice(cells, c("ACT", "SIZE"), hrc = c(ACT = hrc), value = "TOT", freq = "N", secret_var = "secret")
stopifnot(nrow(masked) == nrow(cells), identical(masked$TOT, cells$TOT))
stopifnot(masked$Status[masked$ACT == "A1" & masked$SIZE == "large"] == "B", sum(masked$Status == "D") >= 3)
# no row and no column has a single suppressed cell: read here, from the letters alone
hidden <- masked[masked$Status != "V", ]
stopifnot(all(table(hidden$ACT) != 1), all(table(hidden$SIZE) != 1))

audited <- audit_sluice(masked, c("ACT", "SIZE"), hrc = c(ACT = hrc), value = "TOT")
stopifnot(audited$safe, length(audited$breaches) == 0)
masked$Status[masked$Status == "D"] <- "V"
careless <- audit_sluice(masked, c("ACT", "SIZE"), hrc = c(ACT = hrc), value = "TOT")
stopifnot(!careless$safe, length(careless$breaches) > 0)

ruled <- tab_sluice(cells, c("ACT", "SIZE"), hrc = c(ACT = hrc), value = "TOT", freq = "N", rules = "minimum_frequency=3")
stopifnot(identical(ruled$Status == "V", tab_sluice(cells, c("ACT", "SIZE"), hrc = c(ACT = hrc), value = "TOT",
                                                    freq = "N", rules = "minimum_frequency=3")$Status == "V"))

records <- leaves[rep(seq_len(nrow(leaves)), leaves$N), ]
records$firm <- seq_len(nrow(records))
records$v <- rep(leaves$TOT / leaves$N, leaves$N)
made <- micro_sluice(records, c("ACT", "SIZE"), hrc = c(ACT = hrc), value = "v", contributor = "firm",
                     rules = c("minimum_frequency=3", "p_percent=10"), settings = list(measure.decimals = 0))
stopifnot(all(is.na(made$value[made$status != "published"])))
all_of <- made$value[made$ACT == "Total" & made$SIZE == "Total"]
stopifnot(abs(all_of - sum(records$v)) < 1)

refused <- tryCatch(tab_sluice(cells, "ACT", value = "TOT", freq = "none", rules = "p_percent=10"),
                    error = conditionMessage)
stopifnot(grepl("none", refused))
refused <- tryCatch(micro_sluice(records, "ACT", value = "v", rules = "no_rule=3"), error = conditionMessage)
stopifnot(grepl("no_rule", refused))
cat("all of it holds\n")
