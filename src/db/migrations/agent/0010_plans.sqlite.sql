-- What an agent is about to do, with its action_stable_id, stands in operations before it is done; nothing ever wrote or
-- read this.
DROP TABLE action_plans;
