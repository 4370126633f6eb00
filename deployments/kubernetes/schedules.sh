#!/bin/sh
# What an office does by the clock, in one loop beside the worker: every five minutes the doctor and notices; once a day
# the ledger's verification and deletions that are due; once a month the publications again. The vault is one pod's, so
# that no CronJob could mount it. A command that fails says so in the log, and is called again the next time.
trap 'exit 0' TERM INT
day='' month=''
while :; do
    sluice doctor --repair
    sluice remind
    if [ "$(date -u +%F)" != "$day" ]; then
        sluice ledger verify
        sluice vault prune
        day=$(date -u +%F)
    fi
    if [ "$(date -u +%Y-%m)" != "$month" ]; then
        sluice reassess
        month=$(date -u +%Y-%m)
    fi
    sleep 300 &
    wait $!
done
