// Package refunds owns the ledger of operations: each refund that we owe or
// were asked for is one row, written in the transaction of the fact that causes
// it. The row's id names what it refunds, its bytes never change, and its id is
// the provider's idempotency key: asked any number of times, by anybody, after
// whatever was lost, the money goes back once.
//
// An operation is marked, and the mark committed, before a byte of it leaves:
// what has no mark was never sent, and what has one may have had its effect,
// whatever was or was not answered. In doubt it is looked up, and sent again
// only with the same key and bytes while the provider still knows the key.
//
// What follows from an answer is decided purely (case.go, after.go, pick.go);
// one goroutine makes all calls (dispatch.go), through internal/outlet, while
// the database's lock is ours (reign.go, submit.go).
package refunds
