#!/bin/sh
# Prefect's database, and the ledger's with its two roles: the keeper owns it, the worker reads and appends.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres \
    --set prefect="$PREFECT_PASSWORD" --set keeper="$KEEPER_PASSWORD" --set writer="$LEDGER_PASSWORD" <<'SQL'
CREATE ROLE prefect LOGIN PASSWORD :'prefect';
CREATE DATABASE prefect OWNER prefect;
CREATE ROLE ledger_keeper LOGIN PASSWORD :'keeper';
CREATE DATABASE ledger OWNER ledger_keeper;
CREATE ROLE sluice LOGIN PASSWORD :'writer';
SQL
