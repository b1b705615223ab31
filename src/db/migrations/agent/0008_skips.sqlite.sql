-- Why a wake in the queue is not taken before not_before.
ALTER TABLE wake_queue ADD COLUMN held TEXT NOT NULL DEFAULT '';   -- hours cooldown rest failures often sleep; empty: for nothing

-- Changes that had a token of a subscription and yet did not wake its agent: how often, by what kept them from it.
-- They stood among the cursors.
CREATE TABLE subscription_skips (
    subscription_n INTEGER NOT NULL REFERENCES agent_subscriptions (n),
    outcome TEXT NOT NULL,                         -- author own predicate scope failed
    count INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (subscription_n, outcome)
) STRICT, WITHOUT ROWID;
INSERT INTO subscription_skips (subscription_n, outcome, count, first_at, last_at)
    SELECT s.n, substr(c.domain, length('skip:' || s.n || ':') + 1), c.n, c.txid, c.updated_at
    FROM wake_cursors c JOIN agent_subscriptions s ON s.n = CAST(substr(c.domain, 6) AS INTEGER)
    WHERE c.domain LIKE 'skip:%' AND s.deleted_at IS NULL;
DELETE FROM wake_cursors WHERE domain LIKE 'skip:%';
