-- A ledger of version 18 as a run of attache 1.0.0 can leave it: in the middle, with writes of
-- every state, undos, decisions of every state, redelivered edits, and each restriction.
BEGIN TRANSACTION;
CREATE TABLE carried (
  stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
  mark TEXT NOT NULL, edit_id INTEGER NOT NULL REFERENCES edit,
  last_modified_ms INTEGER NOT NULL, value TEXT NOT NULL, record_id TEXT, shown TEXT,
  words TEXT, edited TEXT,
  PRIMARY KEY (stamp_id, store, soup, entry_id, mark)) STRICT, WITHOUT ROWID;
INSERT INTO "carried" VALUES('stamp-2','user:default','accounts',7,'run-2',7,200,'v','001000000000007AAA','{"Name":"Org"}','Name: the org has Org','["Name"]');
CREATE TABLE creation (
  id INTEGER PRIMARY KEY, stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL,
  entry_id INTEGER NOT NULL, created_ms INTEGER NOT NULL, local_id TEXT NOT NULL,
  record_id TEXT, device_record_id TEXT, chosen_id TEXT,
  UNIQUE (stamp_id, store, soup, entry_id, created_ms, local_id)) STRICT;
INSERT INTO "creation" VALUES(1,'stamp-1','user:default','accounts',4,500,'local_4',NULL,NULL,NULL);
INSERT INTO "creation" VALUES(2,'stamp-1','user:default','accounts',5,500,'local_5','001000000000005AAA','001000000000055AAA','001000000000005AAA');
CREATE TABLE decision (
  id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
  kind TEXT NOT NULL
    CHECK (kind IN ('device', 'server', 'set', 'record', 'retry', 'discard', 'undo')),
  detail TEXT NOT NULL, verdict TEXT, shown TEXT NOT NULL, decided_by TEXT NOT NULL,
  decided_ms INTEGER NOT NULL, run_id TEXT REFERENCES run (id),
  state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'moved', 'withdrawn'))) STRICT;
INSERT INTO "decision" VALUES(1,11,'device','{"lifts":"none of the app''s syncs for it names the object type Case","fields":["Name"]}','exceeds user access','{"Name":"Zoe"}','ops',1767225602901,NULL,'pending');
INSERT INTO "decision" VALUES(2,12,'device','{"lifts":"the user was not issued the record in the soup where the device edited it","fields":["Name"]}','not permitted','{"Name":"Zoe"}','ops',1767225602902,'run-2','done');
INSERT INTO "decision" VALUES(3,13,'retry','{"lifts":"its external ID is that of a record that was not issued to the user\n001000000000099AAA","fields":["Name"],"other":"001000000000099AAA"}','exceeds user access','{"Name":"Zoe"}','ops',1767225602903,NULL,'pending');
INSERT INTO "decision" VALUES(4,14,'device','{"lifts":"ParentId refers to a record that was not issued to the user\n001000000000098AAA","fields":["ParentId"]}','exceeds user access','{"Name":"Zoe"}','ops',1767225602904,'run-2','withdrawn');
INSERT INTO "decision" VALUES(5,14,'device','{"lifts":"ParentId refers to a record that was not issued to the user\n001000000000098AAA","fields":["ParentId"]}','exceeds user access','{"Name":"Zoe"}','ops',1767225602905,NULL,'pending');
INSERT INTO "decision" VALUES(6,15,'device','{"lifts":"Owner refers to a record by something other than its ID\n{\"Key__c\":\"K 1\"}","fields":["Owner"]}','exceeds user access','{"Name":"Zoe"}','ops',1767225602906,'run-2','moved');
INSERT INTO "decision" VALUES(7,7,'set','{"values":{"Name":"Zoë","AnnualRevenue":1500.0},"fields":["Name"]}','conflict','{"Name":"Zoe"}','ops',1767225602907,NULL,'pending');
INSERT INTO "decision" VALUES(8,17,'undo','{}','device conflict','{"Name":"Zoe"}','ops',1767225602908,NULL,'pending');
INSERT INTO "decision" VALUES(9,16,'discard','{}','exceeds user access','{"Name":"Zoe"}','ops',1767225602909,'run-2','done');
CREATE TABLE edit (
  id INTEGER PRIMARY KEY, return_id INTEGER NOT NULL REFERENCES returned,
  lineage_id INTEGER NOT NULL REFERENCES lineage, store TEXT NOT NULL, soup TEXT NOT NULL,
  entry_id INTEGER NOT NULL, created_ms INTEGER NOT NULL, last_modified_ms INTEGER NOT NULL,
  operation TEXT NOT NULL
    CHECK (operation IN ('create', 'update', 'delete', 'dropped', 'synced')),
  sobject TEXT, record_id TEXT, local_id TEXT, creation_id INTEGER REFERENCES creation,
  modification_date TEXT, content TEXT NOT NULL, element BLOB NOT NULL, base TEXT,
  finding TEXT, unordered_with INTEGER REFERENCES edit, superseded_by INTEGER REFERENCES edit,
  retries INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('open', 'waiting', 'closed')),
  verdict TEXT, pruned TEXT,
  UNIQUE (return_id, store, soup, entry_id)) STRICT;
INSERT INTO "edit" VALUES(1,1,1,'user:default','accounts',1,10,101,'update','Account','001000000000001AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c1',X'7B224964223A22303031303030303030303030303031414141222C224E616D65223A225A6FC3AB2031222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','undone',NULL);
INSERT INTO "edit" VALUES(2,1,1,'user:default','accounts',2,10,102,'update','Account','001000000000002AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c2',X'7B224964223A22303031303030303030303030303032414141222C224E616D65223A225A6FC3AB2032222C22416E6E75616C526576656E7565223A313530302E302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','partly undone',NULL);
INSERT INTO "edit" VALUES(3,1,1,'user:default','accounts',3,10,103,'update','Account','001000000000003AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c3',X'7B224964223A22303031303030303030303030303033414141222C224E616D65223A225A6FC3AB2033222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','updated',NULL);
INSERT INTO "edit" VALUES(4,1,1,'user:default','accounts',4,10,104,'create','Account',NULL,'local_4',1,'2026-01-01T00:00:00.000+0000','c4',X'7B224964223A226C6F63616C5F34222C224E616D65223A225A6FC3AB2034222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'waiting','unconfirmed',NULL);
INSERT INTO "edit" VALUES(5,1,1,'user:default','accounts',5,10,105,'create','Account',NULL,'local_5',2,'2026-01-01T00:00:00.000+0000','c5',X'7B224964223A226C6F63616C5F35222C224E616D65223A225A6FC3AB2035222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'open',NULL,NULL);
INSERT INTO "edit" VALUES(6,1,1,'user:default','accounts',6,10,106,'delete','Account','001000000000006AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c6',X'7B224964223A22303031303030303030303030303036414141222C224E616D65223A225A6FC3AB2036222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'waiting','unconfirmed',NULL);
INSERT INTO "edit" VALUES(7,1,1,'user:default','accounts',7,10,107,'update','Account','001000000000007AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c7',X'7B224964223A22303031303030303030303030303037414141222C224E616D65223A225A6FC3AB2037222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','conflict',NULL);
INSERT INTO "edit" VALUES(8,1,1,'user:default','accounts',8,10,108,'update','Account','001000000000008AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c8',X'7B224964223A22303031303030303030303030303038414141222C224E616D65223A225A6FC3AB2038222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}','its flags contradict each other',NULL,NULL,0,'closed','failed',NULL);
INSERT INTO "edit" VALUES(9,1,1,'user:default','accounts',9,10,109,'update','Account','001000000000009AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c9',X'7B224964223A22303031303030303030303030303039414141222C224E616D65223A225A6FC3AB2039222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','conflict',NULL);
INSERT INTO "edit" VALUES(10,1,1,'user:default','accounts',10,10,110,'update','Account','001000000000010AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c10',X'7B224964223A22303031303030303030303030303130414141222C224E616D65223A225A6FC3AB203130222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'waiting','not attempted',NULL);
INSERT INTO "edit" VALUES(11,1,1,'user:default','accounts',11,10,111,'update','Account','001000000000011AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c11',X'7B224964223A22303031303030303030303030303131414141222C224E616D65223A225A6FC3AB203131222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','exceeds user access',NULL);
INSERT INTO "edit" VALUES(12,1,1,'user:default','accounts',12,10,112,'dropped','Account','001000000000012AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c12',X'7B224964223A22303031303030303030303030303132414141222C224E616D65223A225A6FC3AB203132222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','not permitted',NULL);
INSERT INTO "edit" VALUES(13,1,1,'user:default','accounts',13,10,113,'update','Account','001000000000013AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c13',X'7B224964223A22303031303030303030303030303133414141222C224E616D65223A225A6FC3AB203133222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,1,'open','exceeds user access',NULL);
INSERT INTO "edit" VALUES(14,1,1,'user:default','accounts',14,10,114,'update','Account','001000000000014AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c14',X'7B224964223A22303031303030303030303030303134414141222C224E616D65223A225A6FC3AB203134222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,1,'open','exceeds user access',NULL);
INSERT INTO "edit" VALUES(15,1,1,'user:default','accounts',15,10,115,'update','Account','001000000000015AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c15',X'7B224964223A22303031303030303030303030303135414141222C224E616D65223A225A6FC3AB203135222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','exceeds user access',NULL);
INSERT INTO "edit" VALUES(16,1,1,'user:default','accounts',16,10,116,'update','Account','001000000000016AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c16',X'7B224964223A22303031303030303030303030303136414141222C224E616D65223A225A6FC3AB203136222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','exceeds user access',NULL);
INSERT INTO "edit" VALUES(17,1,1,'user:default','accounts',17,10,117,'update','Account','001000000000017AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c17',X'7B224964223A22303031303030303030303030303137414141222C224E616D65223A225A6FC3AB203137222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,9,NULL,0,'closed','device conflict',NULL);
INSERT INTO "edit" VALUES(18,2,2,'user:default','accounts',18,10,118,'update','Account','001000000000018AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c18',X'7B224964223A22303031303030303030303030303138414141222C224E616D65223A225A6FC3AB203138222C22416E6E75616C526576656E7565223A31302C225F5F6C6F63616C5F5F223A747275657D','{"Name":"Zoe"}',NULL,NULL,7,0,'closed','superseded',NULL);
INSERT INTO "edit" VALUES(19,2,2,'user:default','accounts',19,10,119,'synced','Account','001000000000019AAA',NULL,NULL,'2026-01-01T00:00:00.000+0000','c19',X'','{"Name":"Zoe"}',NULL,NULL,NULL,0,'closed','unchanged','p');
CREATE TABLE finding (
  id INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (id), kind TEXT NOT NULL,
  subject TEXT NOT NULL, detail TEXT NOT NULL, settled_by TEXT REFERENCES run (id),
  reported_by TEXT REFERENCES run (id), UNIQUE (run_id, kind, subject)) STRICT;
INSERT INTO "finding" VALUES(1,'run-2','user','005000000000001AAA','a warning',NULL,NULL);
CREATE TABLE lineage (
  id INTEGER PRIMARY KEY, stamp_id TEXT NOT NULL, install TEXT,
  trunk INTEGER REFERENCES lineage, fork_handback INTEGER) STRICT;
INSERT INTO "lineage" VALUES(1,'stamp-1','phone-1',NULL,NULL);
INSERT INTO "lineage" VALUES(2,'stamp-1','phone-1',1,3);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('epoch','1');
INSERT INTO "meta" VALUES('organization','00D000000000001EAA');
INSERT INTO "meta" VALUES('pipelineFile','/etc/attache/field.json');
INSERT INTO "meta" VALUES('primed by 005000000000001AAA','1');
INSERT INTO "meta" VALUES('runNumber','3');
CREATE TABLE operation (
  id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
  run_id TEXT NOT NULL REFERENCES run (id), batch INTEGER,
  action TEXT NOT NULL
    CHECK (action = 'create' OR action = 'update' OR action = 'upsert' OR action = 'delete' OR action = 'undelete'),
  sender TEXT NOT NULL, sobject TEXT NOT NULL, record_id TEXT, external_field TEXT,
  external_value TEXT, payload TEXT NOT NULL, expected TEXT NOT NULL,
  level INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
  sent_ms INTEGER, result_id TEXT, code TEXT, message TEXT, server_date TEXT, left_values TEXT,
  state TEXT NOT NULL CHECK (state = 'planned' OR state = 'sent' OR state = 'doubt' OR state = 'done' OR state = 'rejected' OR state = 'conflict' OR state = 'dropped'),
  sender_id TEXT, seen TEXT, is_doubted INTEGER NOT NULL DEFAULT 0, job_id TEXT,
  since_ms INTEGER, last_ms INTEGER) STRICT;
INSERT INTO "operation" VALUES(1,1,'run-1',0,'update','ada@field.example','Account','001000000000001AAA',NULL,NULL,'{"Name":"Zoë 1","AnnualRevenue":1500.0}','{"verdict":"updated","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000001AAA"}}',0,1,1767225602000,'001000000000001AAA',NULL,NULL,'2026-01-01T00:00:02.000+0000','{"Name":"Zoë 1"}','done','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(2,1,'run-2',0,'update','ada@field.example','Account','001000000000001AAA',NULL,NULL,'{"Name":"Zoë 1","AnnualRevenue":1500.0}','{"verdict":"undone","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000001AAA"}}',0,1,1767225602000,'001000000000001AAA',NULL,NULL,'2026-01-01T00:00:03.000+0000','{"Name":"Zoe"}','done','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(3,2,'run-1',0,'update','ada@field.example','Account','001000000000002AAA',NULL,NULL,'{"Name":"Zoë 2","AnnualRevenue":1500.0}','{"verdict":"updated","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000002AAA"}}',0,1,1767225602000,'001000000000002AAA',NULL,NULL,NULL,NULL,'done','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(4,2,'run-2',0,'update','ada@field.example','Account','001000000000002AAA',NULL,NULL,'{"Name":"Zoë 2","AnnualRevenue":1500.0}','{"verdict":"partly undone","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000002AAA"}}',0,1,1767225602000,'001000000000002AAA',NULL,NULL,NULL,'{"Name":"Zoe"}','done','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(5,3,'run-1',0,'undelete','ada@field.example','Account','001000000000003AAA',NULL,NULL,'{}','{"verdict":"undone","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000003AAA"}}',0,1,1767225602000,'001000000000003AAA',NULL,NULL,NULL,NULL,'done','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(6,4,'run-3',0,'create','ada@field.example','Account',NULL,NULL,NULL,'{"Name":"Zoë 4","AnnualRevenue":1500.0}','{"verdict":"created","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000004AAA"}}',0,1,1767225602000,NULL,NULL,NULL,NULL,NULL,'sent','005000000000001AAA',NULL,0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(7,5,'run-3',0,'upsert','ada@field.example','Account','001000000000005AAA','Key__c','K-5','{"Name":"Zoë 5","AnnualRevenue":1500.0}','{"verdict":"created","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000005AAA"}}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,'planned','005000000000001AAA','null',0,NULL,NULL,NULL);
INSERT INTO "operation" VALUES(8,6,'run-2',0,'delete','ada@field.example','Account','001000000000006AAA',NULL,NULL,'{}','{"verdict":"deleted","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000006AAA"}}',0,1,1767225602000,NULL,NULL,NULL,NULL,NULL,'doubt','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',1,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(9,7,'run-1',0,'update','ada@field.example','Account','001000000000007AAA',NULL,NULL,'{"Name":"Zoë 7","AnnualRevenue":1500.0}','{"verdict":"updated","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000007AAA"}}',0,1,1767225602000,NULL,NULL,NULL,NULL,'{"001000000000007AAA":{"Name":"Org"}}','dropped','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',1,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(10,8,'run-1',0,'update','ada@field.example','Account','001000000000008AAA',NULL,NULL,'{"Name":"Zoë 8","AnnualRevenue":1500.0}','{"verdict":"updated","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000008AAA"}}',0,1,1767225602000,NULL,'FIELD_CUSTOM_VALIDATION_EXCEPTION','Name isn''t valid',NULL,NULL,'rejected','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,'750000000000001AAA',NULL,1767225602500);
INSERT INTO "operation" VALUES(11,9,'run-1',0,'update','ada@field.example','Account','001000000000009AAA',NULL,NULL,'{"Name":"Zoë 9","AnnualRevenue":1500.0}','{"verdict":"updated","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000009AAA"}}',0,1,1767225602000,NULL,NULL,NULL,NULL,NULL,'conflict','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(12,17,'run-3',0,'update','ada@field.example','Account','001000000000017AAA',NULL,NULL,'{"Name":"Zoë 17","AnnualRevenue":1500.0}','{"verdict":"partly undone","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000017AAA"}}',0,1,1767225603000,NULL,NULL,NULL,NULL,NULL,'sent','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',0,NULL,NULL,1767225602500);
INSERT INTO "operation" VALUES(13,10,'run-2',0,'create','ada@field.example','Account',NULL,NULL,NULL,'{"Name":"Zoë 10","AnnualRevenue":1500.0}','{"verdict":"created","detail":{"fields":[{"name":"Name","device":"Zoë"}],"recordID":"001000000000010AAA"}}',0,1,1767225602000,NULL,NULL,NULL,NULL,NULL,'dropped','005000000000001AAA','{"Name":"Zoe",".date":"2026-01-01T00:00:00.000+0000"}',1,NULL,1767220000000,1767225602500);
CREATE TABLE outcome (
  run_id TEXT NOT NULL REFERENCES run (id), edit_id INTEGER NOT NULL REFERENCES edit,
  verdict TEXT NOT NULL, detail TEXT NOT NULL, reported_by TEXT REFERENCES run (id),
  PRIMARY KEY (run_id, edit_id))
  STRICT, WITHOUT ROWID;
INSERT INTO "outcome" VALUES('run-2',1,'undone','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',2,'partly undone','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',3,'updated','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',4,'unconfirmed','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',6,'unconfirmed','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',7,'conflict','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',8,'failed','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}','run-2');
INSERT INTO "outcome" VALUES('run-2',9,'conflict','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}',NULL);
INSERT INTO "outcome" VALUES('run-2',10,'not attempted','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}',NULL);
INSERT INTO "outcome" VALUES('run-2',11,'exceeds user access','{"recordID":"001000000000011AAA","message":"none of the app''s syncs for it names the object type Case"}','run-2');
INSERT INTO "outcome" VALUES('run-2',12,'not permitted','{"recordID":"001000000000012AAA","message":"the user was not issued the record in the soup where the device edited it"}','run-2');
INSERT INTO "outcome" VALUES('run-2',13,'exceeds user access','{"recordID":"001000000000013AAA","otherID":"001000000000099AAA","message":"its external ID is that of a record that was not issued to the user"}','run-2');
INSERT INTO "outcome" VALUES('run-2',14,'exceeds user access','{"recordID":"001000000000014AAA","otherID":"001000000000098AAA","message":"ParentId refers to a record that was not issued to the user"}','run-2');
INSERT INTO "outcome" VALUES('run-2',15,'exceeds user access','{"recordID":"001000000000015AAA","otherID":"{\"Key__c\":\"K 1\"}","message":"Owner refers to a record by something other than its ID"}','run-2');
INSERT INTO "outcome" VALUES('run-2',16,'exceeds user access','{"recordID":"001000000000016AAA","message":"its external ID is that of a record that was not issued to the user"}','run-2');
INSERT INTO "outcome" VALUES('run-2',17,'device conflict','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}',NULL);
INSERT INTO "outcome" VALUES('run-2',18,'superseded','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}',NULL);
INSERT INTO "outcome" VALUES('run-2',19,'unchanged','{"message":"Zoë","fields":[{"name":"AnnualRevenue","device":1500.0}]}',NULL);
CREATE TABLE recovered_snapshot (
  epoch INTEGER NOT NULL REFERENCES recovery, snapshot_id TEXT NOT NULL,
  generation INTEGER NOT NULL, PRIMARY KEY (epoch, snapshot_id)) STRICT, WITHOUT ROWID;
INSERT INTO "recovered_snapshot" VALUES(1,'005000000000001AAA',1);
CREATE TABLE recovery (
  epoch INTEGER PRIMARY KEY, before INTEGER NOT NULL, organization TEXT,
  known_ms INTEGER NOT NULL, after_run INTEGER NOT NULL, recovered_ms INTEGER NOT NULL,
  until_ms INTEGER, recovered_by TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
INSERT INTO "recovery" VALUES(1,1,'00D000000000001EAA',1,1,2,3,'ops','{}');
CREATE TABLE returned (
  id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, source_name TEXT NOT NULL,
  stamp_id TEXT NOT NULL, snapshot_id TEXT NOT NULL, generation INTEGER NOT NULL,
  platform TEXT NOT NULL, install TEXT, handback INTEGER, arrived_ms INTEGER NOT NULL,
  issued_ms INTEGER, lineage_id INTEGER NOT NULL REFERENCES lineage,
  part_of INTEGER REFERENCES returned, epoch INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "returned" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','ada.zip','stamp-1','005000000000001AAA',1,'ios','phone-1',3,1767225601000,1767225600000,1,NULL,0);
INSERT INTO "returned" VALUES(2,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','ada-2.zip','stamp-1','005000000000001AAA',1,'ios','phone-1',4,1767225603000,1767225600000,2,NULL,1);
CREATE TABLE returned_mark (
  return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, mark TEXT NOT NULL,
  PRIMARY KEY (return_id, store)) STRICT, WITHOUT ROWID;
INSERT INTO "returned_mark" VALUES(2,'user:default','run-2');
CREATE TABLE returned_soup (
  return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, soup TEXT NOT NULL,
  total INTEGER NOT NULL, PRIMARY KEY (return_id, store, soup)) STRICT, WITHOUT ROWID;
INSERT INTO "returned_soup" VALUES(1,'user:default','accounts',100);
CREATE TABLE run (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pipeline TEXT NOT NULL,
  now_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER,
  config_hash TEXT NOT NULL, host TEXT NOT NULL, exit_status INTEGER, summary TEXT,
  wanted TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '',
  report TEXT CHECK (report IN ('begun', 'written'))) STRICT;
INSERT INTO "run" VALUES(1,'run-1','field',1767225601000,1767225601000,2000,'c','host',0,'{"edits":16}','ingest,reconcile,prime,pack','ingest,reconcile,prime,pack','written');
INSERT INTO "run" VALUES(2,'run-2','field',1767225602000,1767225602000,3000,'c','host',0,'{"edits":16}','ingest,reconcile,prime,pack','ingest,reconcile,prime,pack','written');
INSERT INTO "run" VALUES(3,'run-3','field',1767225603000,1767225603000,NULL,'c','host',NULL,NULL,'ingest,reconcile,prime,pack','',NULL);
CREATE TABLE sighting (
  return_id INTEGER NOT NULL REFERENCES returned, edit_id INTEGER NOT NULL REFERENCES edit,
  store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
  last_modified_ms INTEGER NOT NULL, content TEXT NOT NULL,
  PRIMARY KEY (return_id, store, soup, entry_id)) STRICT, WITHOUT ROWID;
INSERT INTO "sighting" VALUES(2,7,'user:default','accounts',7,107,'c7');
CREATE TABLE snapshot (
  id TEXT PRIMARY KEY, user_id TEXT, username TEXT, generation INTEGER NOT NULL,
  cursors TEXT NOT NULL, ghost_runs TEXT NOT NULL, definitions_hash TEXT NOT NULL,
  included TEXT NOT NULL)
  STRICT, WITHOUT ROWID;
INSERT INTO "snapshot" VALUES('005000000000001AAA','005000000000001AAA','ada@field.example',2,'{"accounts":1767225600000}','{}','d','[]');
CREATE TABLE witness (
  return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, soup TEXT NOT NULL,
  entry_id INTEGER NOT NULL, last_modified_ms INTEGER NOT NULL,
  created_ms INTEGER, server_id TEXT,
  PRIMARY KEY (return_id, store, soup, entry_id)) STRICT, WITHOUT ROWID;
INSERT INTO "witness" VALUES(1,'user:default','accounts',90,5,4,'001000000000090AAA');
CREATE INDEX finding_of_report ON finding (reported_by);
CREATE INDEX finding_open ON finding (kind) WHERE settled_by IS NULL;
CREATE INDEX lineage_of_stamp ON lineage (stamp_id);
CREATE INDEX returned_of_stamp ON returned (stamp_id);
CREATE INDEX returned_part ON returned (part_of) WHERE part_of IS NOT NULL;
CREATE INDEX returned_of_snapshot ON returned (snapshot_id);
CREATE INDEX returned_of_lineage ON returned (lineage_id, handback);
CREATE INDEX returned_handed ON returned (coalesce(part_of, id));
CREATE INDEX creation_by_local_id ON creation (stamp_id, local_id);
CREATE INDEX creation_by_record ON creation (record_id);
CREATE INDEX creation_by_device_record ON creation (device_record_id)
  WHERE device_record_id IS NOT NULL;
CREATE INDEX edit_by_record ON edit (record_id, soup);
CREATE INDEX edit_by_creation ON edit (creation_id);
CREATE INDEX edit_by_local_id ON edit (local_id) WHERE local_id IS NOT NULL;
CREATE INDEX edit_unread ON edit (store, soup, entry_id)
  WHERE finding IS NOT NULL AND record_id IS NULL AND creation_id IS NULL;
CREATE INDEX edit_unpruned ON edit (return_id) WHERE pruned IS NULL;
CREATE INDEX edit_unsettled ON edit (return_id)
  WHERE state <> 'closed' OR (verdict <> 'created' AND verdict <> 'updated' AND verdict <> 'deleted' AND verdict <> 'unchanged' AND verdict <> 'already in org' AND verdict <> 'not in field list' AND verdict <> 'superseded' AND verdict <> 'discarded' AND verdict <> 'undone' AND verdict <> 'partly undone' AND verdict <> 'not undone');
CREATE INDEX sighting_of_edit ON sighting (edit_id);
CREATE VIEW seen AS
SELECT return_id, id AS edit_id, store, soup, entry_id, last_modified_ms, content FROM edit
UNION ALL
SELECT return_id, edit_id, store, soup, entry_id, last_modified_ms, content FROM sighting;
CREATE INDEX carried_edit ON carried (edit_id);
CREATE VIEW carried_in AS
SELECT m.return_id, c.store, c.soup, c.entry_id, c.edit_id, c.last_modified_ms, c.record_id
FROM returned_mark m JOIN returned r ON r.id = m.return_id
  JOIN carried c ON c.stamp_id = r.stamp_id AND c.store = m.store AND c.mark = m.mark;
CREATE UNIQUE INDEX operation_live ON operation (edit_id) WHERE (state = 'planned' OR state = 'sent' OR state = 'doubt');
CREATE INDEX operation_by_record ON operation (result_id) WHERE state = 'done';
CREATE INDEX operation_by_edit ON operation (edit_id);
CREATE INDEX operation_doubted ON operation (sent_ms) WHERE is_doubted = 1;
CREATE INDEX operation_unread ON operation (sent_ms)
  WHERE state = 'done' AND left_values IS NULL;
CREATE INDEX outcome_of_report ON outcome (reported_by);
CREATE INDEX outcome_by_edit ON outcome (edit_id);
CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE (verdict <> 'created' AND verdict <> 'updated' AND verdict <> 'deleted' AND verdict <> 'unchanged' AND verdict <> 'already in org' AND verdict <> 'not in field list' AND verdict <> 'superseded' AND verdict <> 'discarded' AND verdict <> 'undone' AND verdict <> 'partly undone' AND verdict <> 'not undone');
CREATE UNIQUE INDEX decision_pending ON decision (edit_id) WHERE state = 'pending';
CREATE INDEX decision_of_edit ON decision (edit_id);
CREATE TRIGGER creation_keeps BEFORE UPDATE OF record_id ON creation
WHEN OLD.record_id IS NOT NULL AND NEW.record_id IS NOT OLD.record_id
BEGIN SELECT RAISE(ABORT, 'a created record keeps its id'); END;
CREATE TRIGGER edit_moves BEFORE UPDATE OF state ON edit
WHEN OLD.state = 'closed' AND NEW.state <> 'closed' AND NEW.retries <= OLD.retries
BEGIN SELECT RAISE(ABORT, 'a closed edit is opened by a retry only'); END;
CREATE TRIGGER edit_closes BEFORE UPDATE OF state ON edit
WHEN NEW.state <> 'open' AND NEW.verdict IS NULL
BEGIN SELECT RAISE(ABORT, 'an edit is left with a verdict only'); END;
CREATE TRIGGER operation_moves BEFORE UPDATE OF state ON operation
WHEN NEW.state <> OLD.state AND NOT (
  OLD.state = 'planned' AND (NEW.state = 'sent' OR NEW.state = 'dropped')
  OR OLD.state = 'sent'
    AND (NEW.state = 'done' OR NEW.state = 'rejected' OR NEW.state = 'conflict' OR NEW.state = 'doubt' OR NEW.state = 'planned')
  OR OLD.state = 'doubt' AND (NEW.state = 'done' OR NEW.state = 'planned' OR NEW.state = 'dropped')
  OR OLD.state = 'dropped' AND NEW.state = 'done' AND OLD.is_doubted = 1)
BEGIN SELECT RAISE(ABORT, 'the ledger does not let an operation take this step'); END;
CREATE TRIGGER operation_starts BEFORE INSERT ON operation WHEN NEW.state <> 'planned'
BEGIN SELECT RAISE(ABORT, 'an operation begins as planned'); END;
CREATE TRIGGER operation_stays BEFORE DELETE ON operation
  WHEN (OLD.state = 'planned' OR OLD.state = 'sent' OR OLD.state = 'doubt')
BEGIN SELECT RAISE(ABORT, 'an operation that is under way stays in the ledger'); END;
CREATE TRIGGER decision_moves BEFORE UPDATE OF state ON decision WHEN OLD.state <> 'pending'
BEGIN SELECT RAISE(ABORT, 'an applied decision cannot change'); END;
PRAGMA user_version = 18;
COMMIT;
