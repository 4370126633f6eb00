BEGIN TRANSACTION;
CREATE TABLE sluice_ledger (
	seq BIGINT NOT NULL, 
	at TEXT NOT NULL, 
	release TEXT NOT NULL, 
	event TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	body TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (previous), 
	UNIQUE (hash)
);
INSERT INTO "sluice_ledger" VALUES(1,'2026-11-23T20:15:08.702452+00:00','fair-1','received','amara','{"step":0}','0000000000000000000000000000000000000000000000000000000000000000','d89eebaa3d87ad31eb9ca1986731d2614a495d753786f15cfc78561001fa6379');
INSERT INTO "sluice_ledger" VALUES(2,'2026-11-23T20:15:08.706373+00:00','fair-1','validated','amara','{"step":1}','d89eebaa3d87ad31eb9ca1986731d2614a495d753786f15cfc78561001fa6379','c3a49ebc7891cd487d4b7a42a670b706b0100724dc5070905e1c5ce61829f6a1');
INSERT INTO "sluice_ledger" VALUES(3,'2026-11-23T20:15:08.708647+00:00','fair-1','masked','amara','{"step":2}','c3a49ebc7891cd487d4b7a42a670b706b0100724dc5070905e1c5ce61829f6a1','452d07308189d265aabdf0dee5904aa8ae0d66ed96ae4f8e6419031ef223da8a');
INSERT INTO "sluice_ledger" VALUES(4,'2026-11-23T20:15:08.715100+00:00','fair-1','evaluated','amara','{"step":3}','452d07308189d265aabdf0dee5904aa8ae0d66ed96ae4f8e6419031ef223da8a','fa61d50776aa61de939423e47f6cbd90f0c9c7c74f0e2ea4549cefef12557500');
INSERT INTO "sluice_ledger" VALUES(5,'2026-11-23T20:15:08.717238+00:00','fair-1','pending_review','amara','{"step":4}','fa61d50776aa61de939423e47f6cbd90f0c9c7c74f0e2ea4549cefef12557500','ccfc2ac32049e07e8e0b42ad019b9ef2cc4415e2602b0fa7f031578298ed682d');
INSERT INTO "sluice_ledger" VALUES(6,'2026-11-23T20:15:08.719475+00:00','fair-1','approved','amara','{"step":5}','ccfc2ac32049e07e8e0b42ad019b9ef2cc4415e2602b0fa7f031578298ed682d','071b1b77f50f76bc5c39f1fa7a16dfd8beb59d25ca946b2f072ac46c4232f723');
INSERT INTO "sluice_ledger" VALUES(7,'2026-11-23T20:15:08.721526+00:00','fair-1','publishing','amara','{"step":6}','071b1b77f50f76bc5c39f1fa7a16dfd8beb59d25ca946b2f072ac46c4232f723','dfa0532aa547ebef2437988d0df6845759276ec2915a9519fad5804148b1aac5');
INSERT INTO "sluice_ledger" VALUES(8,'2026-11-23T20:15:08.727968+00:00','fair-1','published','amara','{"step":7}','dfa0532aa547ebef2437988d0df6845759276ec2915a9519fad5804148b1aac5','01fed74bff7b15b1c2d1c2eeb48354e9132c385abe6a63e0850e6088b0ad2966');
INSERT INTO "sluice_ledger" VALUES(9,'2026-11-23T20:15:08.730519+00:00','@office','founded','amara','{"kept":[]}','01fed74bff7b15b1c2d1c2eeb48354e9132c385abe6a63e0850e6088b0ad2966','8c679953fdab9b16fc26a566aab20949ee19df4def364453836e3a6681a24982');
CREATE INDEX ix_sluice_ledger_release ON sluice_ledger (release);
CREATE TRIGGER sluice_ledger_update BEFORE UPDATE ON sluice_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER sluice_ledger_delete BEFORE DELETE ON sluice_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER sluice_ledger_insert BEFORE INSERT ON sluice_ledger WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM sluice_ledger) BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
COMMIT;
