-- What the journal domain needs before anything else: facts about itself.
CREATE TABLE meta (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
