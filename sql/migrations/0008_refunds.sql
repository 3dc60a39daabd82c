-- +goose Up

-- Refunds carried out: what became of each operation, every call that was made
-- to the provider, the one outlet that makes them, and what a person is asked.
-- The states are those of docs/STATES.md; each CHECK and trigger below restates
-- one of its rules.

ALTER TABLE refund_operations
  -- Of its notices: refund.queued is its first.
  ADD COLUMN version         bigint NOT NULL DEFAULT 1,
  ADD COLUMN accepted_at     timestamptz NOT NULL DEFAULT now(),
  -- Without an end by then it is a person's.
  ADD COLUMN give_up_at      timestamptz NOT NULL DEFAULT now() + interval '15 minutes',
  ADD COLUMN next_at         timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN first_sent_at   timestamptz,
  ADD COLUMN sends           int NOT NULL DEFAULT 0,
  ADD COLUMN looks           int NOT NULL DEFAULT 0,
  -- How often a person pushed it again: each is one more send and one more look.
  ADD COLUMN pushes          int NOT NULL DEFAULT 0,
  ADD COLUMN pushed          boolean NOT NULL DEFAULT false,
  -- Some send may have had its effect, and nobody knows yet.
  ADD COLUMN doubt           boolean NOT NULL DEFAULT false,
  -- A look found nothing: the same key and bytes may be sent again.
  ADD COLUMN resend          boolean NOT NULL DEFAULT false,
  -- Where the next page of the look under way begins; '' is a new look.
  ADD COLUMN look_after      text NOT NULL DEFAULT '',
  -- Of the last call.
  ADD COLUMN outcome         text NOT NULL DEFAULT '',
  -- The call under way: nobody makes another until it is answered or given up.
  ADD COLUMN call            bigint,
  ADD COLUMN provider_refund_id text UNIQUE,
  ADD COLUMN ended_at        timestamptz,
  DROP CONSTRAINT refund_operations_status_check,
  ADD CHECK (status IN ('queued', 'submitted', 'unknown', 'pending', 'confirmed', 'rejected', 'manual', 'failed_later')),
  ADD CHECK ((status IN ('confirmed', 'rejected', 'failed_later')) = (ended_at IS NOT NULL)),
  ADD CHECK (status NOT IN ('pending', 'confirmed', 'failed_later') OR provider_refund_id IS NOT NULL),
  ADD CHECK (status NOT IN ('submitted', 'unknown') OR sends > 0),
  ADD CHECK (status <> 'submitted' OR call IS NOT NULL),
  ADD CHECK (status <> 'queued' OR NOT doubt),
  ADD CHECK (status <> 'unknown' OR doubt),
  ADD CHECK (NOT resend OR status = 'unknown'),
  ADD CHECK (NOT pushed OR pushes > 0),
  ADD CHECK ((sends = 0) = (first_sent_at IS NULL)),
  ADD CHECK (sends BETWEEN 0 AND 3 + pushes),
  ADD CHECK (looks BETWEEN 0 AND 6 + pushes),
  -- An operation has one key for ever; what follows it is another operation.
  ADD CHECK ((parent IS NULL) = (id !~ '#')),
  ADD CHECK (parent IS NULL OR split_part(parent, '#', 1) = split_part(id, '#', 1)),
  ADD UNIQUE (parent);

-- What waits from before there was an outlet is promised from now on.
UPDATE refund_operations SET accepted_at = created_at, next_at = created_at;

DROP INDEX refund_operations_open;
CREATE INDEX refund_operations_first ON refund_operations (accepted_at, id)
  WHERE status = 'queued' AND sends = 0 AND ended_at IS NULL;
CREATE INDEX refund_operations_rest ON refund_operations (accepted_at, id)
  WHERE status IN ('queued', 'submitted', 'unknown', 'pending') AND sends > 0 AND ended_at IS NULL;
CREATE INDEX refund_operations_ended ON refund_operations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX refund_operations_of_payment ON refund_operations (payment_id);
CREATE INDEX refund_operations_of_order ON refund_operations (order_id);

-- Every move of an operation, written by the database; and the moves that there are.
CREATE TABLE refund_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  operation       text NOT NULL,
  from_status     text,
  to_status       text NOT NULL,
  outcome         text NOT NULL,
  sends           int NOT NULL,
  looks           int NOT NULL,
  by              text NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  txid            xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX refund_changes_of ON refund_changes (operation, id);

-- +goose StatementBegin
CREATE FUNCTION said_by() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('waitroom.by', true), ''), '(' || current_setting('application_name') || ')')
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION move_refund() RETURNS trigger LANGUAGE plpgsql AS $$
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
      WHEN 'manual' THEN '{queued, unknown, pending, confirmed, rejected, failed_later}'
      ELSE '{}' END::text[]) THEN
      RAISE EXCEPTION 'refund operation % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  INSERT INTO refund_changes (operation, from_status, to_status, outcome, sends, looks, by)
  VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.outcome, NEW.sends, NEW.looks, said_by());
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER refund_operations_move AFTER INSERT OR UPDATE ON refund_operations
  FOR EACH ROW EXECUTE FUNCTION move_refund();

-- Every call of the outlet. The row is committed before a byte leaves, with
-- what will be sent; what became of it is written into it once. A call whose
-- process died is 'lost': nobody knows whether it left.
CREATE TABLE refund_calls (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  epoch           bigint NOT NULL CHECK (epoch > 0),
  operation       text NOT NULL REFERENCES refund_operations,
  kind            text NOT NULL CHECK (kind IN ('first', 'retry', 'look', 'manual')),
  verb            text NOT NULL CHECK (verb IN ('create', 'list', 'retrieve')),
  submitted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- As it was handed to the transport: by the database's clock, and by the
  -- process's monotonic one, in nanoseconds since its outlet began.
  started_at      timestamptz,
  started_ns      bigint CHECK (started_ns >= 0),
  in_flight       int CHECK (in_flight BETWEEN 1 AND 10),
  -- Requests that the transport wrote for it.
  wrote           int CHECK (wrote BETWEEN 0 AND 1),
  outcome         text,
  http_status     int,
  request_id      text,
  finished_at     timestamptz,
  CHECK (kind <> 'look' OR verb <> 'create'),
  CHECK (kind NOT IN ('first', 'retry') OR verb = 'create'),
  CHECK ((outcome IS NULL) = (finished_at IS NULL)),
  CHECK (started_at IS NULL OR finished_at IS NOT NULL),
  CHECK (num_nulls(started_at, started_ns, in_flight) IN (0, 3))
);
CREATE INDEX refund_calls_of ON refund_calls (operation, id);
CREATE INDEX refund_calls_unfinished ON refund_calls (epoch) WHERE finished_at IS NULL;
CREATE INDEX refund_calls_recent ON refund_calls (submitted_at);

-- +goose StatementBegin
CREATE FUNCTION finish_refund_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
     AND (OLD.id, OLD.epoch, OLD.operation, OLD.kind, OLD.verb, OLD.submitted_at)
       = (NEW.id, NEW.epoch, NEW.operation, NEW.kind, NEW.verb, NEW.submitted_at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a call is written down before it is made and finished once' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER refund_calls_finish BEFORE UPDATE ON refund_calls
  FOR EACH ROW EXECUTE FUNCTION finish_refund_call();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON refund_calls
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON refund_changes
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- The account's quota, and whose it is. One row: whoever takes the outlet raises
-- the epoch, and every start is reserved here under the epoch of who makes it.
CREATE TABLE outlet_quota (
  one             boolean PRIMARY KEY DEFAULT true CHECK (one),
  epoch           bigint NOT NULL DEFAULT 0,
  holder          text NOT NULL DEFAULT '',
  taken_at        timestamptz NOT NULL DEFAULT now(),
  next_start      timestamptz NOT NULL DEFAULT now()
);
INSERT INTO outlet_quota DEFAULT VALUES;

-- What the provider told of refunds: by answer, by notice or by look, of ours
-- and of those that somebody made by hand. One row for each refund it has.
CREATE TABLE provider_refunds (
  provider        text NOT NULL,
  id              text NOT NULL CHECK (length(id) BETWEEN 1 AND 255),
  payment_id      uuid NOT NULL REFERENCES payments,
  operation       text REFERENCES refund_operations, -- NULL: none of ours
  amount_minor    bigint NOT NULL CHECK (amount_minor >= 0),
  currency        text NOT NULL,
  status          text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
  told_at         timestamptz NOT NULL DEFAULT now(),
  changed_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, id)
);
CREATE INDEX provider_refunds_of ON provider_refunds (payment_id);

-- The greatest sum that the provider said it refunded of a payment. Sums and
-- single refunds arrive in any order: see provider_refunds.
ALTER TABLE payments ADD COLUMN told_refunded_minor bigint NOT NULL DEFAULT 0 CHECK (told_refunded_minor >= 0);

-- What a person has to look at, and its history, which nobody can forget to write.
ALTER TABLE human_list
  DROP CONSTRAINT human_list_kind_check,
  ADD CONSTRAINT human_list_kind_check CHECK (kind IN (
    'wrong_amount', 'wrong_currency', 'wrong_order', 'unknown_order', 'unreadable',
    'refund_manual', 'refund_rejected', 'refund_failed', 'refund_late', 'refund_by_hand', 'refund_differs',
    'outlet_stopped')),
  ADD COLUMN operation text REFERENCES refund_operations;
CREATE INDEX human_list_of_operation ON human_list (operation) WHERE operation IS NOT NULL;
CREATE INDEX human_list_open ON human_list (opened_at) WHERE resolved_at IS NULL;

CREATE TABLE human_notes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item            bigint NOT NULL REFERENCES human_list,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  by              text NOT NULL,
  did             text NOT NULL CHECK (did IN ('opened', 'reopened', 'owned', 'noted', 'pushed', 'decided', 'resolved')),
  note            text NOT NULL DEFAULT '' CHECK (length(note) <= 2000)
);
CREATE INDEX human_notes_of ON human_notes (item, id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON human_notes
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- +goose StatementBegin
CREATE FUNCTION record_human_list() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO human_notes (item, by, did, note) VALUES (NEW.id, said_by(), 'opened', left(NEW.detail, 2000));
    RETURN NULL;
  END IF;
  IF OLD.resolved_at IS NULL AND NEW.resolved_at IS NOT NULL THEN
    INSERT INTO human_notes (item, by, did) VALUES (NEW.id, said_by(), 'resolved');
  ELSIF OLD.resolved_at IS NOT NULL AND NEW.resolved_at IS NULL THEN
    INSERT INTO human_notes (item, by, did, note) VALUES (NEW.id, said_by(), 'reopened', left(NEW.detail, 2000));
  END IF;
  IF OLD.owner <> NEW.owner THEN
    INSERT INTO human_notes (item, by, did, note) VALUES (NEW.id, said_by(), 'owned', NEW.owner);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER human_list_history AFTER INSERT OR UPDATE ON human_list
  FOR EACH ROW EXECUTE FUNCTION record_human_list();
-- Who was on the list before there was a history.
INSERT INTO human_notes (item, at, by, did, note) SELECT id, opened_at, '(before)', 'opened', left(detail, 2000) FROM human_list;

ALTER TABLE notices
  DROP CONSTRAINT notices_kind_check,
  ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('order.paid', 'order.expired', 'order.cancelled', 'tickets.returned',
     'event.exhausted', 'event.reopened', 'event.paused',
     'refund.queued', 'refund.confirmed', 'refund.needs_attention'));

-- +goose Down
SELECT 'forward only';
