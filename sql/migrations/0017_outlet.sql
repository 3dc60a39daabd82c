-- +goose Up

-- The longest call that may be under way of whoever had the outlet: a successor
-- waits as long, also where its own calls are shorter.
ALTER TABLE outlet_quota
  ADD COLUMN call_limit interval NOT NULL DEFAULT '0' CHECK (call_limit >= '0');

-- What a person pushes before it was ever sent takes its turn with the rest.
DROP INDEX refund_operations_rest;
CREATE INDEX refund_operations_rest ON refund_operations (accepted_at, id)
  WHERE status IN ('queued', 'submitted', 'unknown', 'pending') AND (sends > 0 OR pushed) AND ended_at IS NULL;

-- A wrong "not refunded" can be put right: as a refund that the provider has told
-- of under the operation's own name, and as long as nothing follows it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION move_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (OLD.id, OLD.order_id, OLD.payment_id, OLD.seat_id, OLD.parent, OLD.reason, OLD.amount_minor, OLD.currency, OLD.request)
       IS DISTINCT FROM (NEW.id, NEW.order_id, NEW.payment_id, NEW.seat_id, NEW.parent, NEW.reason, NEW.amount_minor, NEW.currency, NEW.request) THEN
      RAISE EXCEPTION 'refund operation % is frozen: its request is what its key stands for', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.status = NEW.status THEN
      RETURN NULL;
    END IF;
    IF NEW.status <> ALL (CASE OLD.status
      WHEN 'queued' THEN '{submitted, pending, confirmed, failed_later, manual}'
      WHEN 'submitted' THEN '{queued, unknown, pending, confirmed, rejected, failed_later, manual}'
      WHEN 'unknown' THEN '{submitted, pending, confirmed, failed_later, manual}'
      WHEN 'pending' THEN '{confirmed, failed_later}'
      WHEN 'confirmed' THEN '{failed_later}'
      WHEN 'rejected' THEN '{confirmed}'
      WHEN 'manual' THEN '{queued, unknown, pending, confirmed, rejected, failed_later}'
      ELSE '{}' END::text[]) THEN
      RAISE EXCEPTION 'refund operation % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.status = 'rejected' AND (EXISTS (SELECT FROM refund_operations f WHERE f.parent = OLD.id)
      OR NOT EXISTS (SELECT FROM provider_refunds r WHERE r.id = NEW.provider_refund_id AND r.operation = OLD.id AND r.status = 'succeeded')) THEN
      RAISE EXCEPTION 'refund operation % was not refunded, as far as the provider has told', OLD.id USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  INSERT INTO refund_changes (operation, from_status, to_status, outcome, sends, looks, by)
  VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.outcome, NEW.sends, NEW.looks, said_by());
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'forward only';
