-- +goose Up

-- Asking for refunds: what an organiser lets be asked without a person's word,
-- and each word that a person gave.

ALTER TABLE events
  -- Minor units of what may be asked to go back of one order before a person
  -- is asked. NULL: what the process was told.
  ADD COLUMN refund_limit_minor bigint CHECK (refund_limit_minor >= 0);

-- A refund that a person has to approve before it is one: no operation exists
-- until then, so nothing of it can be sent. It is bound to all that was asked;
-- whatever is not the same any more is asked anew.
CREATE TABLE refund_approvals (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The name that the operation will have.
  operation       text NOT NULL,
  order_id        uuid NOT NULL,
  seat_id         bigint NOT NULL,
  payment_id      uuid NOT NULL REFERENCES payments,
  install         text NOT NULL,
  amount_minor    bigint NOT NULL CHECK (amount_minor > 0),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- Why a person is asked, and what the limit was then.
  cause           text NOT NULL CHECK (cause IN ('over_limit', 'refunded_by_hand')),
  limit_minor     bigint NOT NULL CHECK (limit_minor >= 0),
  asked_by        text NOT NULL CHECK (asked_by <> ''),
  asked_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- changed: it was not what had been asked any more.
  decision        text CHECK (decision IN ('approved', 'refused', 'changed')),
  decided_by      text,
  decided_at      timestamptz,
  note            text NOT NULL DEFAULT '' CHECK (length(note) <= 2000),
  FOREIGN KEY (order_id, seat_id) REFERENCES order_lines (order_id, seat_id),
  CHECK (num_nulls(decision, decided_by, decided_at) IN (0, 3)),
  -- Nobody approves what they asked for.
  CHECK (decision IS DISTINCT FROM 'approved' OR decided_by <> asked_by)
);
CREATE UNIQUE INDEX refund_approvals_waiting ON refund_approvals (operation) WHERE decision IS NULL;
CREATE INDEX refund_approvals_of ON refund_approvals (operation, id);

-- What was asked and who decided stand for ever: a row is decided once, and is
-- otherwise as it was asked.
-- +goose StatementBegin
CREATE FUNCTION decide_refund_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.decision IS NULL AND NEW.decision IS NOT NULL
     AND (OLD.id, OLD.operation, OLD.order_id, OLD.seat_id, OLD.payment_id, OLD.install, OLD.amount_minor, OLD.currency,
          OLD.cause, OLD.limit_minor, OLD.asked_by, OLD.asked_at)
       = (NEW.id, NEW.operation, NEW.order_id, NEW.seat_id, NEW.payment_id, NEW.install, NEW.amount_minor, NEW.currency,
          NEW.cause, NEW.limit_minor, NEW.asked_by, NEW.asked_at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'an approval is decided once, and is what was asked' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER refund_approvals_decide BEFORE UPDATE ON refund_approvals
  FOR EACH ROW EXECUTE FUNCTION decide_refund_approval();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON refund_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- +goose Down
SELECT 'forward only';
