-- +goose Up

-- What the sale can bear: measured by the claimers and by those who open
-- payments, once a second, and what the organiser sets beside the rate.

ALTER TABLE claim_reports
  -- Attempts answered, granted or not: what the errors are a share of.
  ADD COLUMN answers_per_s double precision NOT NULL DEFAULT 0 CHECK (answers_per_s >= 0);

ALTER TABLE events
  -- People inside at once; NULL: as many as there are tickets for.
  ADD COLUMN max_inside bigint CHECK (max_inside > 0),
  -- Payments a second that may be opened at the provider for this event; NULL:
  -- no quota is known.
  ADD COLUMN payment_quota double precision CHECK (payment_quota > 0 AND payment_quota <= 10000);

-- Whether the payment provider answers, by each replica's own account. Kept
-- when a replica ends: one that is silent is known to be.
CREATE TABLE payment_reports (
  replica         text PRIMARY KEY,
  at              timestamptz NOT NULL,
  calls_per_s     double precision NOT NULL CHECK (calls_per_s >= 0),
  failures_per_s  double precision NOT NULL CHECK (failures_per_s >= 0),
  answered_at     timestamptz, -- its last answer
  failed_at       timestamptz, -- the last call without one
  failing_since   timestamptz, -- when the first call without one began, after the last answer
  CHECK (failing_since IS NULL OR failed_at IS NOT NULL)
);

-- +goose Down
SELECT 'forward only';
