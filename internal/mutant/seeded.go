package mutant

// Seeded are the defects that the suite has to catch: at least one against each
// promise that is kept by code of ours.
func Seeded() []Mutant {
	return append(append(seats(), line()...), money()...)
}

const (
	claims  = "internal/inventory/claim.go"
	ends    = "internal/inventory/end.go"
	explain = "internal/inventory/explain.go"
)

func seats() []Mutant {
	return []Mutant{
		{
			Name: "seat_guard", Promise: "P1", Says: "a seat that somebody holds is taken",
			File: claims, Edits: []Edit{
				{"WHERE s.event_id = a.event_id AND s.order_id IS NULL AND NOT s.held_back\n\t\t  ORDER BY s.id", "WHERE s.event_id = a.event_id AND NOT s.held_back\n\t\t  ORDER BY s.id"},
				{"FROM whole w WHERE s.id = w.id AND s.order_id IS NULL AND NOT s.held_back", "FROM whole w WHERE s.id = w.id AND NOT s.held_back"},
			},
			Pkg: "internal/inventory", Tests: "TestOneSeatThousandContenders|TestAllOrNothing",
		},
		{
			Name: "some_of_the_seats", Promise: "P2", Says: "an attempt gets those of its seats that are free",
			File: claims, Edits: []Edit{
				{"WHERE p.got = p.size", "WHERE p.got > 0"},
				{"SELECT i, 1 / (sum(n) = 0)::int", "SELECT i, 1"},
			},
			Pkg: "internal/inventory", Tests: "TestAllOrNothing",
		},
		{
			Name: "unknown_is_no", Promise: "P2", Says: "a claim whose answer was lost counts as not granted",
			File: "internal/inventory/fault.go", Edits: []Edit{{"case made[a.order]:", "case made[a.order] && false:"}},
			Pkg: "internal/inventory", Tests: "TestALostCommitIsResolved|TestAnUnknownClaimIsWhole",
		},
		{
			Name: "late_money_takes_seats", Promise: "P3", Says: "an order that has ended is paid without its seats",
			File: "internal/orders/pay.go", Edits: []Edit{
				{
					"SET status = 'paid', payment_id = $2, paid_at = now(), version = version + 1\n\t\tWHERE id = $1 AND status = 'pending'",
					"SET status = 'paid', payment_id = $2, paid_at = now(), ended_at = NULL, version = version + 1\n\t\tWHERE id = $1 AND status IN ('pending', 'expired')",
				},
			},
			Pkg: "internal/orders", Tests: "TestLateMoneyTakesNoSeat|TestSuccessAfterExpiryThreeTimes",
		},
		{
			Name: "paid_ends", Promise: "P4", Says: "an order that was paid expires all the same",
			File: ends, Edits: []Edit{
				{"SET status = $2, ended_at = now(), version = version + 1", "SET status = $2, ended_at = now(), payment_id = NULL, paid_at = NULL, version = version + 1"},
				{"WHERE id = ANY($1) AND status = 'pending' AND", "WHERE id = ANY($1) AND status IN ('pending', 'paid') AND"},
			},
			Pkg: "internal/inventory", Tests: "TestAPaidOrderDoesNotEnd",
		},
		{
			Name: "a_seat_is_forgotten", Promise: "P6", Says: "of the seats of an order that ends, one comes back",
			File: ends, Edits: []Edit{
				{"ORDER BY s.id FOR NO KEY UPDATE OF s\n\t\t), back AS", "ORDER BY s.id LIMIT 1 FOR NO KEY UPDATE OF s\n\t\t), back AS"},
				{"1 / (count(r.id) = e.seat_count)::int", "1"},
			},
			Pkg: "internal/inventory", Tests: "TestTwoExpirersReturnEachSeatOnce",
		},
		{
			Name: "returned_in_a_second_transaction", Promise: "P6", Says: "an order ends in one transaction, and its seats come back in another that is never made",
			File: ends, Edits: []Edit{
				{"FROM locked k WHERE s.id = k.id AND s.order_id = k.order_id", "FROM locked k WHERE s.id = k.id AND s.order_id = k.order_id AND false"},
				{"array_agg(r.guid ORDER BY r.id), 1 / (count(r.id) = e.seat_count)::int", "coalesce(array_agg(r.guid ORDER BY r.id) FILTER (WHERE r.id IS NOT NULL), '{}'), 1"},
			},
			Pkg: "internal/inventory", Tests: "TestTwoExpirersReturnEachSeatOnce",
		},
		{
			Name: "quota", Promise: "P9", Says: "a pass buys without end",
			File: claims, Edits: []Edit{{"AND NOT own.barred AND own.by_pass + a.size <= a.quota", "AND NOT own.barred"}},
			Pkg: "internal/inventory", Tests: "TestAPassKeepsItsQuota",
		},
		{
			Name: "another_body", Promise: "P13", Says: "a key that was used for another wish gets that one's answer",
			File: explain, Edits: []Edit{{"case s.prior != uuid.Nil && s.sameBody:", "case s.prior != uuid.Nil:"}},
			Pkg: "internal/inventory", Tests: "TestAnAttemptIsOneOrder",
		},
	}
}

func line() []Mutant {
	const pure, store, real = "internal/admission", "internal/admission/local", "internal/admission/dynamo"
	return []Mutant{
		{
			Name: "front_falls", Promise: "P7", Says: "a refill that lands late puts the front back",
			File: pure + "/door.go", Edits: []Edit{{"d.Front = max(d.Front, r.Front)", "d.Front = r.Front"}},
			Pkg: pure, Tests: "TestTheDoorNeverGoesBack",
		},
		{
			Name: "last_come_first", Promise: "P7", Says: "the highest number at the door goes first",
			File: pure + "/queue.go", Edits: []Edit{{"numbers[i] = q.held[i].number", "numbers[i] = q.held[len(q.held)-1-i].number"}},
			Pkg: pure, Tests: "TestLowestNumberFirst|TestQueueIsAList",
		},
		{
			Name: "no_credit", Promise: "P8", Says: "somebody is let in without a credit",
			File: pure + "/door.go", Edits: []Edit{{"d.Stopped || d.Credit < k*Milli || d.Budget < k", "d.Stopped || d.Budget < k"}},
			Pkg: store, Tests: "TestStore",
		},
		{
			Name: "catch_up", Promise: "P8", Says: "what a pause lost is made up for",
			File: pure + "/flow.go", Edits: []Edit{
				{"f.paid = later(f.paid, now.Add(-tau)) // time lost is lost: no catch-up", ""},
				{"max(0, min(now.Sub(f.paid), tau-grain-f.full.Sub(now)))", "max(0, now.Sub(f.paid))"},
			},
			Pkg: pure, Tests: "TestPaceIsNeverExceeded|TestPaceAfterAStall",
		},
		{
			Name: "banked", Promise: "P8", Says: "credit that nobody used lets a crowd in",
			File: pure + "/flow.go", Edits: []Edit{{"math.Floor(Milli*(1+rate*tau.Seconds()) - f.carry)", "math.Floor(Milli*(1+60*rate) - f.carry)"}},
			Pkg: pure, Tests: "TestPaceIsNeverExceeded|TestIdleCreditIsNotBanked",
		},
		{
			Name: "asked_at", Promise: "P8", Says: "a take is counted when a replica asked for it",
			File: pure + "/turnstile.go", Edits: []Edit{{"t.assign(ctx, chosen, door)", "door.At = now\n\t\t\tt.assign(ctx, chosen, door)"}},
			Pkg: pure, Tests: "TestThePaceIsKeptAsWrittenDownBySlowWays",
		},
		{
			Name: "inherited", Promise: "P8", Says: "a take-over keeps the credit of the one before",
			File: pure + "/door.go", Edits: []Edit{{"d.Term+1, d.Beat+1, 0\n", "d.Term+1, d.Beat+1, d.Credit\n"}},
			Pkg: store, Tests: "TestStore",
		},
		{
			Name: "increment_is_retried", Promise: "P8", Says: "a call that must be sent once is sent again when its answer is lost",
			File: real + "/store.go", Edits: []Edit{{"once:  client(conf, aws.NopRetryer{}),", "once:  client(conf, retry.NewStandard()),"}, {"\"github.com/aws/aws-sdk-go-v2/aws\"\n", "_ \"github.com/aws/aws-sdk-go-v2/aws\"\n\t\"github.com/aws/aws-sdk-go-v2/aws\"\n"}},
			Pkg: real, Tests: "TestOneCallIsOneSend|TestTakeWithALostReplyCountsOnce",
		},
		{
			Name: "two_places", Promise: "P9", Says: "who joins again gets a second place",
			File: store + "/place.go", Edits: []Edit{{"if found && old.Live(p.Epoch, now) {", "if found && old.Live(p.Epoch, now) && false {"}},
			Pkg: store, Tests: "TestStore",
		},
		{
			Name: "two_passes", Promise: "P9", Says: "a place that has a pass gets another",
			File: store + "/place.go", Edits: []Edit{{"case old.State == admission.Waiting:\n\t\t\tp.JoinedAt", "case old.State != admission.Left:\n\t\t\tp.JoinedAt"}},
			Pkg: store, Tests: "TestStore",
		},
		{
			Name: "open_on_doubt", Promise: "P10", Says: "people are let in while nobody knows the stock",
			File: pure + "/state.go", Edits: []Edit{{"case now.Sub(r.stock.At) > stockFresh:", "case now.Sub(r.stock.At) > 1000*stockFresh:"}},
			Pkg: pure, Tests: "TestKnowledgeGetsOld|TestDoubtAboutTheHouseCloses",
		},
		{
			Name: "open_on_a_store_error", Promise: "P10", Says: "a take that failed lets its people in",
			File: pure + "/turnstile.go", Edits: []Edit{{"if err != nil { // used by nobody, if at all\n\t\t\tt.fault(\"take\", err)\n\t\t\tbreak\n\t\t}", "if err != nil {\n\t\t\tdoor, _ = t.line.door.last()\n\t\t\tdoor.Taken += int64(len(chosen))\n\t\t\tok = true\n\t\t}"}},
			Pkg: pure, Tests: "TestUnknownPassKeepsItsTake",
		},
		{
			Name: "unset_is_unlimited", Promise: "P10", Says: "a rate that was never set lets people in",
			File: pure + "/state.go", Edits: []Edit{{"case !s.Open && !s.paced():", "case !s.Open && !s.paced() && s.Rate != 0:"}},
			Pkg: pure, Tests: "TestStateAndReason|TestDoubtAboutTheSettingsCloses",
		},
		{
			Name: "fraction_is_dropped", Promise: "P14", Says: "at 0.4 a second nobody is ever let in",
			File: pure + "/flow.go", Edits: []Edit{{"exact := rate*elapsed.Seconds()*Milli + f.carry", "exact := math.Floor(rate*elapsed.Seconds()) * Milli"}},
			Pkg: pure, Tests: "TestSlowPace",
		},
		{
			Name: "last_seats_are_kept", Promise: "P14", Says: "the budget is rounded down, and the last seats are never sold",
			File: pure + "/budget.go", Edits: []Edit{{"int64(math.Ceil(some/each-inside))", "int64(math.Floor(some/each-inside))"}},
			Pkg: pure, Tests: "TestBudget",
		},
	}
}

func money() []Mutant {
	return []Mutant{
		{
			Name: "second_payment_stays", Promise: "P5", Says: "money that came too late is counted, and nobody owes it back",
			File: "internal/orders/pay.go", Edits: []Edit{{"case PaidTooLate:\n\t\treturn outcome, giveBack(ctx, tx, o, p, c, refunds.Late)", "case PaidTooLate:\n\t\treturn outcome, nil"}},
			Pkg: "internal/orders", Tests: "TestSuccessAfterExpiryThreeTimes",
		},
		{
			Name: "by_hand_without_a_return", Promise: "P6", Says: "seats of an order that was refunded by hand are free, and the line is told of one",
			File: "internal/inventory/giveback.go", Edits: []Edit{{"c.id FROM lines l JOIN changed c ON c.id = l.order_id\n", "c.id FROM lines l JOIN changed c ON c.id = l.order_id LIMIT 1\n"}},
			Pkg: "internal/refunds", Tests: "TestSeatsOfAnOrderRefundedByHandGoBackByAPersonsWord",
		},
		{
			Name: "late_look_first", Promise: "P11", Says: "a confirmed refund is looked at again though others wait for their turn",
			File: "internal/refunds/due.go", Edits: []Edit{{"		    AND NOT EXISTS (SELECT FROM first) AND NOT EXISTS (SELECT FROM rest)\n", ""}},
			Pkg: "internal/refunds", Tests: "TestALateLookGivesWayToAllElse",
		},
		{
			Name: "permits", Promise: "P11", Says: "calls to the provider start whenever there is a slot",
			File: "internal/outlet/start.go", Edits: []Edit{{"pause(ctx, time.Until(o.last.Add(o.limits.Apart)))", "pause(ctx, 0)"}},
			Pkg: "internal/outlet", Tests: "TestAMinuteThatIsLostIsNotMadeUpFor",
		},
		{
			Name: "rewound", Promise: "P11", Says: "a transport may send a refund again on its own",
			File: "internal/outlet/start.go", Edits: []Edit{{"req.GetBody = nil // req is our own copy", ""}},
			Pkg: "internal/outlet", Tests: "TestNoTransportCanSendAgain",
		},
		{
			Name: "marked_and_not_addressed", Promise: "P12", Says: "a notice is marked, and its deliveries are not written",
			File: "internal/notice/address.go", Edits: []Edit{{"WHERE p.deleted_at IS NULL AND (p.kinds", "WHERE false AND p.deleted_at IS NULL AND (p.kinds"}},
			Pkg: "internal/notice", Tests: "TestANoticeIsAddressedToItsOrganisersEndpoints",
		},
		{
			Name: "a_copy_is_news", Promise: "P13", Says: "a provider's notice is applied each time that it comes",
			File: "internal/orders/notices.go", Edits: []Edit{{"if !fresh {\n\t\t\toutcome, err = firstOutcome(ctx, tx, n)", "if !fresh && n.ID == \"\" {\n\t\t\toutcome, err = firstOutcome(ctx, tx, n)"}},
			Pkg: "internal/orders", Tests: "TestFiftyCopiesOfOneNotice",
		},
	}
}
