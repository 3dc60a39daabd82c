-- +goose Up

-- A confirmed refund can fail days later, and the notice that tells of it can be lost.
-- So each is asked about once more, some days after it was confirmed, when the outlet
-- has nothing else to do. What was confirmed before this is asked about too.
ALTER TABLE refund_operations
  ADD COLUMN late_looks        int NOT NULL DEFAULT 0 CHECK (late_looks BETWEEN 0 AND 20),
  -- The provider has answered it, or it is not asked about any more.
  ADD COLUMN late_look_over_at timestamptz;
CREATE INDEX refund_operations_late ON refund_operations (ended_at, id)
  WHERE status = 'confirmed' AND late_look_over_at IS NULL;
-- One is asked about at a time.
CREATE INDEX refund_operations_late_under_way ON refund_operations (call)
  WHERE status = 'confirmed' AND call IS NOT NULL;

ALTER TABLE refund_calls
  DROP CONSTRAINT refund_calls_kind_check,
  ADD CONSTRAINT refund_calls_kind_check CHECK (kind IN ('first', 'retry', 'look', 'manual', 'late')),
  ADD CHECK (kind <> 'late' OR verb = 'retrieve');

-- +goose Down
SELECT 'forward only';
