-- A rating counts for the moment of what it rates, not for when it was typed. Ratings that were given
-- a moment of their own keep it. 10:30 of UTC lies in that day nearly everywhere on earth; what zone
-- the journal's clocks have is not known here.
UPDATE ratings
    SET rated_at = extract(epoch FROM (substr(target_id, 9) || ' 10:30Z')::timestamptz)::bigint * 1000
    WHERE target_type = 'dayPlan' AND target_id ~ '^dayplan-[0-9]{4}-[0-9]{2}-[0-9]{2}$';
UPDATE ratings SET rated_at = (SELECT e.at FROM entries e WHERE e.id = target_id)
    WHERE target_type = 'entry' AND rated_at = created_at
    AND target_id IN (SELECT id FROM entries);
UPDATE ratings SET rated_at = (SELECT e.started_at FROM time_entries e WHERE e.id = target_id)
    WHERE target_type = 'timeEntry' AND rated_at = created_at
    AND target_id IN (SELECT id FROM time_entries);
UPDATE ratings SET rated_at = (SELECT t.closed_at FROM tasks t WHERE t.id = target_id)
    WHERE target_type = 'task' AND rated_at = created_at
    AND target_id IN (SELECT id FROM tasks t WHERE t.closed_at <= rated_at);
