# Rscript rms.R: the figures of figures.csv, by rms::validate on the two tables beside this file.
library(rms)
set.seed(1)
out <- NULL
for (name in c("simulated", "breast")) {
  rows <- read.csv(paste0(name, ".csv"))
  fit <- lrm(y ~ ., data = rows, x = TRUE, y = TRUE)
  found <- validate(fit, B = 4000)[c("Dxy", "Slope", "B"), c("index.orig", "optimism", "index.corrected", "n")]
  out <- rbind(out, data.frame(data = name, measure = rownames(found), unclass(found)))
}
write.csv(out, "figures.csv", row.names = FALSE, quote = FALSE)
