-- Why a wake in the queue is not taken before not_before.
ALTER TABLE wake_queue ADD COLUMN held TEXT NOT NULL DEFAULT '';   -- hours cooldown rest failures often sleep; empty: for nothing

-- Changes that had a token of a subscription and yet did not wake its agent: how often, by what kept them from it.
-- They stood among the cursors.
CREATE TABLE subscription_skips (
    subscription_n BIGINT NOT NULL REFERENCES agent_subscriptions (n),
    outcome TEXT NOT NULL,                         -- author own predicate scope failed
    count BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (subscription_n, outcome)
);
INSERT INTO subscription_skips (subscription_n, outcome, count, first_at, last_at)
    SELECT s.n, split_part(c.domain, ':', 3), c.n, c.txid, c.updated_at
    FROM wake_cursors c JOIN agent_subscriptions s ON s.n = split_part(c.domain, ':', 2)::bigint
    WHERE c.domain LIKE 'skip:%' AND s.deleted_at IS NULL;
DELETE FROM wake_cursors WHERE domain LIKE 'skip:%';
